/* equal_test.c - counting pods of an equal gang: on hosts, in regions, in whole slices */
#include "core/place/equal.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* Most pods that one of the regions holds, up to the pods asked. */
static uint32_t most_of_all(struct view *v, const struct podset *p)
{
    uint64_t most = 0;
    struct region r;

    region_start(&r, view_required(v, p));
    while (region_next(v, &r)) {
        uint64_t pods = equal_in_region(v, &r, p, p->pods);

        most = pods > most ? pods : most;
    }
    return most < p->pods ? (uint32_t)most : p->pods;
}

/* Of the last job: on host 0; most pods of one region; whether its minimum fits there. */
static const struct {
    const char *why, *script;
    uint32_t dropped, on_host, most;
    bool fits;
} row[] = {
    {"one host", "hosts 1 gpus=8; ask pods=4 gpus=2", 0, 4, 4, true},
    {"one too few", "hosts 1 gpus=8; ask pods=5 gpus=2", 0, 4, 4, false},
    {"over hosts", "hosts 2 gpus=8; ask pods=5 gpus=2", 0, 4, 5, true},
    {"most is cut to what is asked", "hosts 9 gpus=8; ask pods=5 gpus=2", 0, 4, 5, true},
    {"elastic", "hosts 1 gpus=4; ask pods=5 min=2 gpus=2", 0, 2, 2, true},
    {"over leaves: not together",
     "hosts 1 gpus=2 l0=0; hosts 1 gpus=3 l0=1; ask pods=4 gpus=1 need=l0", 0, 2, 3, false},
    {"over leaves, left out", "hosts 1 gpus=2 l0=0; hosts 1 gpus=3 l0=1; ask pods=4 gpus=1 need=l0",
     LIMIT(TOPOLOGY), 2, 4, true},
    {"in one leaf", "hosts 1 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask pods=4 gpus=1 need=l0", 0, 2, 4,
     true},
    {"on one host", "hosts 1 gpus=2; hosts 1 gpus=3; ask pods=3 gpus=1 need=host", 0, 2, 3, true},
    {"in one island", "hosts 1 gpus=8 shape=quads; ask pods=3 gpus=2 need=island", 0, 3, 2, false},
    {"slices of a host", "hosts 1 gpus=5; hosts 1 gpus=2; ask pods=6 gpus=1 slice=2@host", 0, 4, 6,
     true},
    {"slices of a host: odd ones are lost", "hosts 2 gpus=5; ask pods=10 min=9 gpus=1 slice=2@host",
     0, 4, 8, false},
    {"slices of an island", "hosts 1 gpus=8 shape=quads; ask pods=4 gpus=2 slice=2@island", 0, 4, 4,
     true},
    {"slices of an island in use",
     "hosts 1 gpus=8 shape=quads; ask gpus=1; seat 0 host=0 on=0; seated 0; ask pods=4 min=2 "
     "gpus=2 slice=2@island",
     0, 2, 2, true},
    {"slices of an island, CPU for three pods",
     "hosts 1 gpus=8 cpu=3 shape=quads; ask pods=4 min=2 gpus=2 cpu=1 slice=2@island", 0, 2, 2,
     true},
    {"slices of a leaf",
     "hosts 3 gpus=1 l0=0; hosts 1 gpus=1 l0=1; ask pods=4 min=2 gpus=1 slice=2@l0", 0, 1, 2, true},
    {"slices of a leaf inside a spine",
     "hosts 2 gpus=1 l0=0 l1=8; hosts 2 gpus=1 l0=1 l1=9; ask pods=4 gpus=1 slice=2@l0 need=l1", 0,
     1, 2, false},
    {"a leaf over two spines: each spine's part alone",
     "hosts 1 gpus=1 l0=0 l1=8; hosts 1 gpus=1 l0=0 l1=9; ask pods=2 gpus=1 slice=2@l0 need=l1", 0,
     1, 0, false},
    {"slices of the cluster", "hosts 5 gpus=1; ask pods=6 min=4 gpus=1 slice=2@cluster", 0, 1, 4,
     true},
    {"slices left out", "hosts 1 gpus=5; ask pods=5 gpus=1 slice=2@host", LIMIT(TOPOLOGY), 5, 5,
     true},
    {"a minimum beyond whole slices", "hosts 1 gpus=8; ask pods=3 gpus=1 slice=2@host", 0, 8, 3,
     false},
    {"another model", "hosts 1 gpus=8 model=1; hosts 1 gpus=1; ask pods=2 gpus=1 class=1", 0, 0, 1,
     false},
    {"another model left out", "hosts 1 gpus=8 model=1; hosts 1 gpus=1; ask pods=2 gpus=1 class=1",
     LIMIT(MODEL), 2, 2, true},
    {"a drained host", "hosts 2 gpus=1; state 0 drain; ask pods=2 gpus=1", 0, 0, 1, false},
    {"a drained host left out", "hosts 2 gpus=1; state 0 drain; ask pods=2 gpus=1", LIMIT(HEALTH),
     1, 2, true},
    {"in use", "hosts 1 gpus=2; ask gpus=1; step; ask pods=2 gpus=1", 0, 1, 1, false},
    {"in use left out", "hosts 1 gpus=2; ask gpus=1; step; ask pods=2 gpus=1", LIMIT(BUSY), 2, 2,
     true},
    {"shares", "hosts 2 gpus=1; ask pods=5 gpus=1 milli=400", 0, 2, 4, false},
    {"shares of 333 add up to 999", "hosts 2 gpus=1; ask pods=6 gpus=1 milli=333", 0, 3, 6, true},
    {"memory shares are exact", "hosts 1 gpus=1 gpumem=3; ask pods=3 gpus=1 mib=1", 0, 3, 3, true},
    {"slices of devices",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2; ask pods=4 gpus=1 mig=3", 0, 4, 4,
     true},
    {"no GPUs: CPU only", "hosts 2 gpus=0 cpu=3; ask pods=3 cpu=2", 0, 1, 2, false},
};

static void test_counts(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        const struct podset *p;
        uint32_t on_host, most;
        struct view v;
        bool fits;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        p = world_podset(&w, w.keys - 1, 0);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        on_host = equal_on_host(&v, 0, p, UINT16_MAX);
        on_host = on_host < p->pods || p->slice_pods ? on_host : p->pods;
        most = most_of_all(&v, p);
        fits = podset_least(&v, p) <= podset_most(&v, p) && most >= podset_least(&v, p);
        if (on_host != row[n].on_host || most != row[n].most || fits != row[n].fits) {
            print_error("row: %s: on host %u, most %u, fits %d\n", row[n].why, on_host, most, fits);
            bad++;
        }
        assert_true(v.steps > 0);
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

/* Counting stops at enough, and not before. */
static void test_enough(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "hosts 10 gpus=4 l0=0; ask pods=100 min=1 gpus=1; ask pods=100 min=1 gpus=1 slice=2@l0");
    for (uint32_t key = 0; key < 2; key++)
        for (uint64_t enough = 1; enough <= 40; enough++) {
            struct view v = world_view(&w, key);
            struct region r;
            uint64_t got;

            region_start(&r, key ? SCOPE_BIT(SCOPE_OF_LEVEL) : 0);
            assert_true(region_next(&v, &r));
            got = equal_in_region(&v, &r, world_podset(&w, key, 0), enough);
            assert_in_range(got, enough, 40);
            assert_true(key || got < enough + 4);
        }
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_enough),
    };

    return cmocka_run_group_tests_name("equal", tests, NULL, NULL);
}
