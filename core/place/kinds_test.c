/* kinds_test.c - what a look at the kinds of hosts rules out
 *
 * The pod is the first podset of the last job of the text; the language is that of
 * tests/kit/world.h. True is no promise, so the rows that matter are those that say no, and those
 * that must not.
 */
#include "core/place/kinds.h"

#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static const struct {
    const char *why, *script;
    uint32_t dropped;
    bool serves;
} row[] = {
    {"an idle host", "hosts 1 gpus=4; ask gpus=4", 0, true},
    {"more devices than any host has", "hosts 9 gpus=4; ask gpus=5", 0, false},
    {"that is so whatever is left out", "hosts 9 gpus=4; ask gpus=5", LIMIT(BUSY) | LIMIT(HEALTH),
     false},
    {"devices in use", "hosts 1 gpus=4; ask gpus=1; step; ask gpus=4", 0, false},
    {"what runs left out", "hosts 1 gpus=4; ask gpus=1; step; ask gpus=4", LIMIT(BUSY), true},
    {"another model", "hosts 1 gpus=4 model=1; ask gpus=1 class=1", 0, false},
    {"the model left out", "hosts 1 gpus=4 model=1; ask gpus=1 class=1", LIMIT(MODEL), true},
    {"more CPU than any host has", "hosts 1 gpus=4 cpu=9; ask gpus=1 cpu=10", 0, false},
    {"CPU left out", "hosts 1 gpus=4 cpu=9; ask gpus=1 cpu=10", LIMIT(CPU), true},
    {"more memory than any host has", "hosts 1 gpus=4 mem=9; ask gpus=1 mem=10", 0, false},
    {"memory left out", "hosts 1 gpus=4 mem=9; ask gpus=1 mem=10", LIMIT(MEM), true},
    {"no pod at all", "hosts 1 gpus=4 pods=0; ask gpus=1", 0, false},
    {"the pod limit left out", "hosts 1 gpus=4 pods=0; ask gpus=1", LIMIT(PODS), true},
    {"another countable resource", "hosts 1 gpus=4 extra=1; ask gpus=1 extra=2", 0, false},
    {"CPU in use is no matter of kinds: the hosts are asked",
     "hosts 1 gpus=4 cpu=9; ask gpus=1 cpu=9; step; ask gpus=1 cpu=9", 0, true},
    {"a drained host does not serve", "hosts 1 gpus=4; state 0 drain; ask gpus=1", 0, false},
    {"a share on a broken device",
     "hosts 1 gpus=1; ask gpus=1 milli=600; step; ask gpus=1 milli=400", 0, true},
    {"a share that is more than all that is free",
     "hosts 1 gpus=1; ask gpus=1 milli=600; step; ask gpus=1 milli=401", 0, false},
    {"a pod without devices", "hosts 1 gpus=0; ask cpu=1", 0, true},
};

static void test_kinds(void **state)
{
    static struct world w;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct view v;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        CHECK_INT(row[n].why, kinds_serve(&v, world_podset(&w, w.keys - 1, 0), NULL),
                  row[n].serves);
        world_close(&w);
    }
}

/* A breed names model, devices and CPU: the others are not asked. */
static void test_breed(void **state)
{
    static struct world w;
    const struct podset *p;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=4 cpu=8; hosts 1 gpus=4 cpu=16; ask gpus=1 cpu=12");
    v = world_view(&w, 0);
    p = world_podset(&w, 0, 0);
    assert_true(kinds_serve(&v, p, NULL));
    assert_false(kinds_serve(&v, p, kind_row(w.s.m, host_row(w.s.m, 0)->kind)));
    assert_true(kinds_serve(&v, p, kind_row(w.s.m, host_row(w.s.m, 1)->kind)));
    world_close(&w);
}

/* Of the last job: pods of its set that one host holds at most. */
static void test_most(void **state)
{
    static const struct {
        const char *why, *script;
        uint32_t dropped, most;
    } most_row[] = {
        {"by devices", "hosts 1 gpus=8; hosts 1 gpus=4; ask pods=9 gpus=2", 0, 4},
        {"by devices that some host of the kind has free",
         "hosts 1 gpus=8; ask gpus=3; step; ask pods=9 gpus=1", 0, 5},
        {"by all devices, without what runs", "hosts 1 gpus=8; ask gpus=3; step; ask pods=9 gpus=1",
         LIMIT(BUSY), 8},
        {"failed ones left out", "hosts 1 gpus=8; device 0 1 down; ask pods=9 gpus=1",
         LIMIT(HEALTH), 8},
        {"by CPU", "hosts 1 gpus=8 cpu=9; ask pods=9 gpus=1 cpu=2", 0, 4},
        {"CPU left out", "hosts 1 gpus=8 cpu=9; ask pods=9 gpus=1 cpu=2", LIMIT(CPU), 8},
        {"by memory, pods and another resource",
         "hosts 1 gpus=8 mem=9 pods=5 extra=6; ask pods=9 gpus=1 mem=2 extra=2", 0, 3},
        {"by shares of each device", "hosts 1 gpus=2; ask pods=9 gpus=1 milli=300", 0, 6},
        {"a model that will not do",
         "hosts 1 gpus=8 model=1; hosts 1 gpus=2; ask pods=9 class=1 "
         "gpus=1",
         0, 2},
        {"no host at all", "ask pods=9 gpus=1", 0, 0},
    };
    static struct world w;

    (void)state;
    for (unsigned n = 0; n < ROWS(most_row); n++) {
        struct view v;

        world_open(&w, NULL);
        world_say(&w, most_row[n].script);
        index_settle(w.s.m);
        v = world_view(&w, w.keys - 1);
        v.dropped = most_row[n].dropped;
        CHECK_INT(most_row[n].why, kinds_most(&v, world_podset(&w, w.keys - 1, 0)),
                  most_row[n].most);
        world_close(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_breed), cmocka_unit_test(test_most)};

    return cmocka_run_group_tests_name("kinds", tests, NULL, NULL);
}
