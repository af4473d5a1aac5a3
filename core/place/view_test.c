/* view_test.c - how many pods a host holds, with every limit minded or left out */
#include "core/place/view.h"

#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* The last job's first podset on host 0, within all devices. */
static const struct {
    const char *why, *script;
    uint32_t dropped, pods;
    bool open;
} row[] = {
    {"whole devices", "hosts 1 gpus=8; ask gpus=3", 0, 2, true},
    {"more than there are", "hosts 1 gpus=8; ask gpus=9", 0, 0, false},
    {"CPU", "hosts 1 gpus=8 cpu=5; ask gpus=1 cpu=2", 0, 2, true},
    {"CPU left out", "hosts 1 gpus=8 cpu=5; ask gpus=1 cpu=2", LIMIT(CPU), 8, true},
    {"memory", "hosts 1 gpus=8 mem=5; ask gpus=1 mem=5", 0, 1, true},
    {"memory left out", "hosts 1 gpus=8 mem=5; ask gpus=1 mem=5", LIMIT(MEM), 8, true},
    {"the pod limit", "hosts 1 gpus=8 pods=3; ask gpus=1", 0, 3, true},
    {"the pod limit left out", "hosts 1 gpus=8 pods=3; ask gpus=1", LIMIT(PODS), 8, true},
    {"another resource", "hosts 1 gpus=8 extra1=9; ask gpus=1 extra1=4", 0, 2, true},
    {"another resource left out", "hosts 1 gpus=8 extra1=9; ask gpus=1 extra1=4", LIMIT(EXTRA), 8,
     true},
    {"nothing but CPU asked", "hosts 1 gpus=8 cpu=5; ask cpu=2", 0, 2, true},
    {"a half of each of two devices", "hosts 1 gpus=3; ask gpus=2 milli=500", 0, 3, true},
    {"a share of each of two devices, where one has room for one only",
     "hosts 1 gpus=2; ask gpus=1 milli=900; step; ask gpus=2 milli=100", 0, 1, true},
    {"memory of each of two devices", "hosts 1 gpus=3 gpumem=16; ask gpus=2 mib=6", 0, 3, true},
    {"never two of the gang on one card, on two cards each",
     "hosts 1 gpus=5; ask pods=3 gpus=2 milli=100 apart", 0, 2, true},
    {"and with that left out", "hosts 1 gpus=5; ask pods=3 gpus=2 milli=100 apart", LIMIT(TOPOLOGY),
     25, true},
    {"what runs", "hosts 1 gpus=8; ask gpus=3; step; ask gpus=2", 0, 2, true},
    {"what runs left out", "hosts 1 gpus=8; ask gpus=3; step; ask gpus=2", LIMIT(BUSY), 4, true},
    {"what runs left out, CPU as well",
     "hosts 1 gpus=8 cpu=8; ask gpus=3 cpu=8; step; ask gpus=2 cpu=4", LIMIT(BUSY), 2, true},
    {"a failed device", "hosts 1 gpus=4; device 0 1 down; ask gpus=2", 0, 1, true},
    {"a failed device left out", "hosts 1 gpus=4; device 0 1 down; ask gpus=2", LIMIT(HEALTH), 2,
     true},
    {"a failed device that is held counts for nobody",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=1; seated 0; device 0 1 down; ask gpus=1",
     LIMIT(HEALTH), 1, true},
    {"both left out",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=1; seated 0; device 0 1 down; ask gpus=1",
     LIMIT(HEALTH) | LIMIT(BUSY), 2, true},
    {"a drained host", "hosts 1 gpus=2; state 0 drain; ask gpus=1", 0, 2, false},
    {"a host that is down, left out", "hosts 1 gpus=2; state 0 down; ask gpus=1", LIMIT(HEALTH), 2,
     true},
    {"a host that leaves", "hosts 1 gpus=2; leave 0 9; ask gpus=1", 0, 2, false},
    {"a host that leaves later", "hosts 1 gpus=2; leave 0 9; ask gpus=1 est=9", 0, 2, true},
    {"another model", "hosts 1 gpus=2; ask gpus=1 class=2", 0, 2, false},
    {"another model left out", "hosts 1 gpus=2; ask gpus=1 class=2", LIMIT(MODEL), 2, true},
    {"another class of nodes",
     "class 3 models=1 nodes=4; hosts 1 gpus=2 class=1; ask gpus=1 class=3", 0, 2, false},
    {"another class left out",
     "class 3 models=1 nodes=4; hosts 1 gpus=2 class=1; ask gpus=1 class=3", LIMIT(CLASS), 2, true},
    {"the right class", "class 3 models=1 nodes=4; hosts 1 gpus=2 class=2; ask gpus=1 class=3", 0,
     2, true},
    {"no label of the required level", "hosts 1 gpus=2; ask gpus=1 need=l1", 0, 2, false},
    {"no label left out", "hosts 1 gpus=2; ask gpus=1 need=l1", LIMIT(TOPOLOGY), 2, true},
    {"the podset's own level", "hosts 1 gpus=2; ask gpus=1 in=l1", 0, 2, false},
    {"the level of its slices", "hosts 1 gpus=2; ask pods=2 gpus=1 slice=2@l1", 0, 2, false},
    {"a label of it", "hosts 1 gpus=2 l1=0; ask pods=2 gpus=1 slice=2@l1 need=l1", 0, 2, true},
    {"shares", "hosts 1 gpus=2; ask gpus=1 milli=300", 0, 6, true},
    {"shares beside others", "hosts 1 gpus=2; ask gpus=1 milli=500; step; ask gpus=1 milli=300", 0,
     4, true},
    {"shares apart", "hosts 1 gpus=2; ask gpus=1 milli=300 apart", 0, 2, true},
    {"shares apart, left out", "hosts 1 gpus=2; ask gpus=1 milli=300 apart", LIMIT(TOPOLOGY), 6,
     true},
    {"shares and CPU", "hosts 1 gpus=2 cpu=5; ask gpus=1 milli=300 cpu=1", 0, 5, true},
    {"shares on healthy devices", "hosts 1 gpus=2; device 0 0 down; ask gpus=1 milli=300", 0, 3,
     true},
    {"memory shares", "hosts 1 gpus=2 gpumem=10; ask gpus=1 mib=3", 0, 6, true},
    {"memory shares beside compute shares",
     "hosts 1 gpus=1 gpumem=10; ask gpus=1 milli=450; step; ask gpus=1 mib=3", 0, 1, true},
    {"compute shares beside memory shares",
     "hosts 1 gpus=1 gpumem=3; ask gpus=1 mib=1; step; ask gpus=1 milli=333", 0, 2, true},
    {"memory shares of an unknown device", "hosts 1 gpus=1; ask gpus=1 mib=1", 0, 0, true},
    {"slices of a device", "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2; ask gpus=1 mig=3",
     0, 4, true},
    {"slices of a device in use",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=1; ask gpus=1 mig=3; step; ask gpus=1 "
     "mig=3",
     0, 1, true},
    {"slices, what runs left out",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=1; ask gpus=1 mig=3; step; ask gpus=1 "
     "mig=3",
     LIMIT(BUSY), 2, true},
    {"slices of a shared device",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=1; ask gpus=1 milli=1; step; ask gpus=1 "
     "mig=3",
     0, 0, true},
    {"shares of a cut device",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=1; ask gpus=1 mig=3; step; ask gpus=1 "
     "milli=1",
     0, 0, true},
    {"slices of a model that cannot be cut", "hosts 1 gpus=1; ask gpus=1 mig=3", 0, 0, true},
    {"of unknown place", "hosts 1 gpus=4; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1", 0,
     3, true},
    {"of unknown place, left out: it still holds one of the host's",
     "hosts 1 gpus=4; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1", LIMIT(UNKNOWN), 3,
     true},
    {"of unknown place, shares",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1 milli=500", 0, 2, true},
    {"of unknown place, what runs left out",
     "hosts 1 gpus=4; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1", LIMIT(BUSY), 4, true},
};

static void test_pods(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        const struct podset *p;
        struct view v;
        uint32_t pods;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        p = world_podset(&w, w.keys - 1, 0);
        pods = view_pods(&v, 0, p, UINT16_MAX);
        if (pods != row[n].pods || view_open(&v, 0, p) != row[n].open) {
            print_error("row: %s: %u pods, open %d\n", row[n].why, pods, view_open(&v, 0, p));
            bad++;
        }
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

static const struct {
    const char *why, *ask;
    uint16_t within;
    uint32_t pods;
} within_row[] = {
    {"two of the allowed", "ask gpus=1", 0x0C, 2},
    {"one of the allowed is in use", "ask gpus=1", 0x03, 1},
    {"a pair of them", "ask gpus=2", 0x0D, 1},
    {"shares of the allowed", "ask gpus=1 milli=500", 0x07, 4},
    {"nothing allowed", "ask gpus=1", 0, 0},
};

static void test_within(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=4; ask gpus=1; step");
    for (unsigned n = 0; n < ROWS(within_row); n++) {
        struct view v;

        world_say(&w, within_row[n].ask);
        v = world_view(&w, w.keys - 1);
        CHECK_INT(within_row[n].why,
                  view_pods(&v, 0, world_podset(&w, w.keys - 1, 0), within_row[n].within),
                  within_row[n].pods);
    }
    world_close(&w);
}

/* The least and the most pods that a set runs. */
static const struct {
    const char *why, *ask;
    uint32_t dropped;
    bool least_only;
    uint32_t least, most;
} range_row[] = {
    {"all", "ask pods=5 gpus=1", 0, false, 5, 5},
    {"elastic", "ask pods=5 min=2 gpus=1", 0, false, 2, 5},
    {"elastic, the minimum only", "ask pods=5 min=2 gpus=1", 0, true, 2, 2},
    {"whole slices", "ask pods=7 min=3 gpus=1 slice=2@host", 0, false, 4, 6},
    {"whole slices, the minimum only", "ask pods=7 min=3 gpus=1 slice=2@host", 0, true, 4, 4},
    {"slices left out", "ask pods=7 min=3 gpus=1 slice=2@host", LIMIT(TOPOLOGY), false, 3, 7},
    {"no whole number of slices can do", "ask pods=3 gpus=1 slice=2@host", 0, false, 4, 2},
    {"without those that are done", "ask pods=5 gpus=1; done 0 1; done 0 4", 0, false, 3, 3},
    {"the minimum is done: one of the rest at least", "ask pods=5 min=2 gpus=1; done 0 1; done 0 4",
     0, false, 1, 3},
};

static void test_range(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(range_row); n++) {
        struct view v;

        world_open(&w, NULL);
        world_say(&w, range_row[n].ask);
        v = world_view(&w, 0);
        v.dropped = range_row[n].dropped;
        v.least_only = range_row[n].least_only;
        CHECK_INT(range_row[n].why, podset_least(&v, world_podset(&w, 0, 0)), range_row[n].least);
        CHECK_INT(range_row[n].why, podset_most(&v, world_podset(&w, 0, 0)), range_row[n].most);
        world_close(&w);
    }
}

static const struct {
    const char *why, *host;
    uint64_t scopes;
    unsigned count;
    uint16_t mask[4];
} mask_row[] = {
    {"nothing named: all", "gpus=8 shape=quads", 0, 1, {0xFF}},
    {"levels above say nothing",
     "gpus=8 shape=quads",
     SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_HOST),
     1,
     {0xFF}},
    {"islands", "gpus=8 shape=quads", SCOPE_BIT(SHAPE_ISLAND), 2, {0x0F, 0xF0}},
    {"switches", "gpus=8 shape=quads", SCOPE_BIT(SHAPE_PCIE), 4, {0x03, 0x0C, 0x30, 0xC0}},
    {"a switch within a node within an island",
     "gpus=8 shape=quads",
     SCOPE_PARTS,
     4,
     {0x03, 0x0C, 0x30, 0xC0}},
    {"islands across nodes: where they meet",
     "gpus=6 shape=pairs",
     SCOPE_BIT(SHAPE_ISLAND) | SCOPE_BIT(SHAPE_NUMA),
     4,
     {0x03, 0x04, 0x08, 0x30}},
    {"devices alone", "gpus=2 shape=lone", SCOPE_BIT(SHAPE_ISLAND), 2, {1, 2}},
    {"a layout that is not known has no parts",
     "gpus=4 shape=void",
     SCOPE_BIT(SHAPE_ISLAND),
     0,
     {0}},
    {"no shape at all", "gpus=4", SCOPE_BIT(SHAPE_NUMA), 0, {0}},
};

static void test_masks(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(mask_row); n++) {
        uint16_t masks[GPUS_MAX] = {0};
        char text[64] = "ask gpus=1; hosts 1 ";
        struct view v;

        world_open(&w, NULL);
        strncat(text, mask_row[n].host, 40);
        world_say(&w, text);
        v = world_view(&w, 0);
        CHECK_INT(mask_row[n].why, view_masks(&v, 0, mask_row[n].scopes, masks), mask_row[n].count);
        for (unsigned i = 0; i < mask_row[n].count; i++)
            CHECK_INT(mask_row[n].why, masks[i], mask_row[n].mask[i]);
        world_close(&w);
    }
}

static void test_required(void **state)
{
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "ask need=l0 gpus=1 in=island + gpus=2");
    v = world_view(&w, 0);
    assert_true(view_required(&v, world_podset(&w, 0, 0)) ==
                (SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SHAPE_ISLAND)));
    assert_true(view_required(&v, world_podset(&w, 0, 1)) == SCOPE_BIT(SCOPE_OF_LEVEL));
    v.dropped = LIMIT(TOPOLOGY);
    assert_true(view_required(&v, world_podset(&w, 0, 0)) == 0);
    assert_int_equal(v.steps_max, 20000);
    world_close(&w);
}

/* A host that is not there, between others. */
static void test_absent(void **state)
{
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=1; gone 0; ask gpus=1; ask");
    v = world_view(&w, 0);
    assert_false(view_open(&v, 0, world_podset(&w, 0, 0)));
    assert_true(view_open(&v, 1, world_podset(&w, 0, 0)));
    v = world_view(&w, 1);
    v.dropped = UINT32_MAX;
    assert_false(view_open(&v, 0, world_podset(&w, 1, 0)));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pods),     cmocka_unit_test(test_within),
        cmocka_unit_test(test_range),    cmocka_unit_test(test_masks),
        cmocka_unit_test(test_required), cmocka_unit_test(test_absent),
    };

    return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
