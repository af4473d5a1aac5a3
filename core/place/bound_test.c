/* bound_test.c - what a domain can hold at most, by its sums */
#include "core/place/bound.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* Of the last job: the most pods that domain 0, and the cluster, may hold; 99: any number. */
static const struct {
    const char *why, *script;
    uint32_t dropped, domain, cluster;
} row[] = {
    {"whole devices, host by host", "hosts 2 gpus=3 l0=0; hosts 1 gpus=8; ask gpus=2", 0, 2, 6},
    {"what is in use is not there",
     "hosts 2 gpus=4 l0=0; ask gpus=3; seat 0 host=0 on=012; seated 0; ask gpus=2", 0, 2, 2},
    {"without what runs: devices taken together",
     "hosts 2 gpus=3 l0=0; ask gpus=3; seat 0 host=0 on=012; seated 0; ask gpus=2", LIMIT(BUSY), 3,
     3},
    {"a model that will not do",
     "hosts 1 gpus=4 l0=0 model=1; hosts 1 gpus=4 l0=0; ask class=1 "
     "gpus=1",
     0, 4, 4},
    {"models left out", "hosts 1 gpus=4 l0=0 model=1; hosts 1 gpus=4 l0=0; ask class=1 gpus=1",
     LIMIT(MODEL), 8, 8},
    {"a drained host", "hosts 2 gpus=4 l0=0; state 1 drain; ask gpus=2", 0, 2, 2},
    {"drained hosts left out: all of them may be free",
     "hosts 2 gpus=4 l0=0; state 1 drain; ask gpus=2", LIMIT(HEALTH), 4, 4},
    {"a failed device", "hosts 1 gpus=4 l0=0; device 0 1 down; ask gpus=1", 0, 3, 3},
    {"shares by what is free in all",
     "hosts 1 gpus=2 l0=0; ask gpus=1 milli=500; seat 0 host=0 on=0; seated 0; ask gpus=1 "
     "milli=400",
     0, 3, 3},
    {"shares without what runs", "hosts 1 gpus=2 l0=0; ask gpus=1 milli=400", LIMIT(BUSY), 4, 4},
    {"memory shares: nobody counted them", "hosts 1 gpus=2 l0=0 gpumem=8; ask gpus=1 mib=4", 0, 99,
     99},
    {"no devices: nothing to count", "hosts 1 gpus=0 l0=0; ask cpu=1", 0, 99, 99},
    {"seats of unknown place hold devices",
     "hosts 1 gpus=4 l0=0; ask gpus=3; seat 0 host=0 on=-; seated 0; ask gpus=1", 0, 1, 1},
    {"unless that is left out: then nobody knows",
     "hosts 1 gpus=4 l0=0; ask gpus=3; seat 0 host=0 on=-; seated 0; ask gpus=1", LIMIT(UNKNOWN),
     99, 99},
    {"every host is to be looked at", "config scan; hosts 1 gpus=4 l0=0; ask gpus=1", 0, 99, 99},
};

static uint32_t most(const struct bound *b, uint32_t domain)
{
    uint32_t pods = 0;

    while (pods < 99 && bound_allows(b, domain, pods + 1))
        pods++;
    return pods;
}

static void test_rows(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct bound b;
        struct view v;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        b = bound_of(&v, world_podset(&w, w.keys - 1, 0));
        CHECK_INT(row[n].why, most(&b, 0), row[n].domain);
        CHECK_INT(row[n].why, most(&b, ROW_NONE), row[n].cluster);
        world_close(&w);
    }
}

/* A level allows what its largest domain allows, before and after a change. */
static void test_level(void **state)
{
    const struct podset *p;
    struct bound b;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=4 l0=0 l1=9; hosts 3 gpus=4 l0=1 l1=9; state 4 drain; ask gpus=4");
    v = world_view(&w, 0);
    p = world_podset(&w, 0, 0);
    b = bound_of(&v, p);
    assert_true(bound_allows_level(&b, 0, 2));
    assert_false(bound_allows_level(&b, 0, 3));
    assert_true(bound_allows_level(&b, 1, 4));
    assert_false(bound_allows_level(&b, 1, 5));
    v.dropped = LIMIT(HEALTH);
    b = bound_of(&v, p);
    assert_true(bound_allows_level(&b, 0, 3));
    assert_false(bound_allows_level(&b, 0, 4));
    v.dropped = LIMIT(BUSY);
    b = bound_of(&v, p);
    assert_true(bound_allows_level(&b, 0, 3));
    world_say(&w, "state 4 up; state 0 down; state 3 down");
    v.dropped = 0;
    b = bound_of(&v, p);
    assert_true(bound_allows_level(&b, 0, 2));
    assert_false(bound_allows_level(&b, 1, 4));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_level),
    };

    return cmocka_run_group_tests_name("bound", tests, NULL, NULL);
}
