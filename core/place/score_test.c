/* score_test.c - device choices that scorers share, and spots on one host */
#include "core/place/score.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

static struct score_ask ask_of(const struct view *v, uint16_t within)
{
    return (struct score_ask){
        .view = v, .podset = world_podset(&w, w.keys - 1, 0), .within = within, .milli = 1000};
}

/* On host 0 for the last job: lowest, linked, the baselines' choice; for shares also all that fit.
 */
static const struct {
    const char *why, *script;
    uint16_t within, lowest, linked, plain, fits;
} row[] = {
    {"whole ones, nothing in use", "hosts 1 gpus=8 shape=quads; ask gpus=2", 0xFFFF, 0x03, 0x03,
     0x03, 0},
    {"the lowest are not the linked",
     "hosts 1 gpus=8 shape=pairs; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=2", 0xFFFF,
     0x06, 0x0C, 0x06, 0},
    {"no shape known: the lowest",
     "hosts 1 gpus=8; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=2", 0xFFFF, 0x06, 0x06,
     0x06, 0},
    {"all that are left",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=3", 0xFFFF,
     0xE, 0xE, 0xE, 0},
    {"within some", "hosts 1 gpus=8 shape=quads; ask gpus=2", 0x59, 0x09, 0x09, 0x09, 0},
    {"too few within", "hosts 1 gpus=8 shape=quads; ask gpus=2", 0x10, 0, 0, 0, 0},
    {"too few beside those of unknown place",
     "hosts 1 gpus=4 shape=pairs; ask gpus=2; seat 0 host=0 on=-; seated 0; ask gpus=3", 0xFFFF, 0,
     0, 0, 0},
    {"enough beside those of unknown place",
     "hosts 1 gpus=4 shape=pairs; ask gpus=2; seat 0 host=0 on=-; seated 0; ask gpus=2", 0xFFFF, 3,
     3, 3, 0},
    {"no devices asked", "hosts 1 gpus=4; ask cpu=1", 0xFFFF, 0, 0, 0, 0},
    {"a share: any of the free ones, the lowest", "hosts 1 gpus=3; ask gpus=1 milli=300", 0xFFFF, 1,
     1, 1, 7},
    {"a share: the least sufficient",
     "hosts 1 gpus=4; ask gpus=1 milli=400 + gpus=1 milli=600 + gpus=1 milli=800; seat 0 host=0 "
     "on=0; seat 0 podset=1 "
     "pod=1 host=0 on=1; seat 0 podset=2 pod=2 host=0 on=2; seated 0; ask gpus=1 milli=300",
     0xFFFF, 8, 8, 2, 0xB},
    {"a share within some", "hosts 1 gpus=3; ask gpus=1 milli=300", 6, 2, 2, 2, 6},
    {"a share beside those of unknown place",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1 milli=5", 0xFFFF, 1, 1,
     2, 2},
    {"a slice: a device that is cut already",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=3; ask gpus=1 mig=3; seat 0 host=0 on=1; "
     "seated 0; ask gpus=1 mig=3",
     0xFFFF, 1, 1, 2, 7},
    {"a slice: not on a shared device",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2 gpumem=9; ask gpus=1 mib=1; seat 0 "
     "host=0 on=0; seated 0; ask "
     "gpus=1 mig=3",
     0xFFFF, 2, 2, 2, 2},
    {"a slice: not on a failed device",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2; device 0 0 down; ask gpus=1 mig=3",
     0xFFFF, 2, 2, 2, 2},
};

static void test_devices(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct score_ask a;
        struct view v;
        unsigned lowest, linked, plain, fits;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        v = world_view(&w, w.keys - 1);
        a = ask_of(&v, row[n].within);
        lowest = score_whole_lowest(&a);
        linked = score_whole_linked(&a);
        plain = score_devices_plain(&a);
        fits = podset_is_share(a.podset) ? score_share_devices(&a) : 0;
        if (lowest != row[n].lowest || linked != row[n].linked || plain != row[n].plain ||
            fits != row[n].fits) {
            print_error("row: %s: lowest %x linked %x plain %x fits %x\n", row[n].why, lowest,
                        linked, plain, fits);
            bad++;
        }
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

static void test_slot(void **state)
{
    struct score_ask a;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w,
              "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2; ask pods=3 gpus=1 mig=3; seat "
              "0 host=0 on=0; seat "
              "0 pod=1 host=0 on=0 slot=4; seat 0 pod=2 host=0 on=1; seated 0; ask gpus=1 mig=3; ");
    v = world_view(&w, 1);
    a = ask_of(&v, 0xFFFF);
    assert_int_equal(score_slot(&a, 2), 4);
    assert_int_equal(score_slot(&a, 0), 0);
    expect_assert_failure(score_slot(&a, 1)); /* both slots are in use */
    world_say(&w, "ask gpus=1 milli=1");
    v = world_view(&w, 2);
    a = ask_of(&v, 0xFFFF);
    assert_int_equal(score_slot(&a, 2), 0);
    world_close(&w);
}

static void test_free_milli(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=4 gpumem=3; device 0 3 down; ask gpus=1 mib=1; step");
    assert_int_equal(score_free_milli(host_row(w.s.m, 0)), 2666);
    world_close(&w);
}

/* A spot inside one part: the cheapest, the first of equal ones. */
static const struct {
    const char *why, *script;
    uint64_t scopes;
    uint16_t devices;
    bool found;
} confined_row[] = {
    {"any island", "hosts 1 gpus=8 shape=quads; ask gpus=2", SCOPE_BIT(SHAPE_ISLAND), 0x03, true},
    {"the island with room",
     "hosts 1 gpus=8 shape=quads; ask gpus=3; seat 0 host=0 on=012; seated 0; ask gpus=2",
     SCOPE_BIT(SHAPE_ISLAND), 0x30, true},
    {"no island has room",
     "hosts 1 gpus=4 shape=pairs; ask pods=2 gpus=1; seat 0 host=0 on=0; seat 0 pod=1 host=0 on=2; "
     "seated 0; ask gpus=2",
     SCOPE_BIT(SHAPE_ISLAND), 0, false},
    {"the host has",
     "hosts 1 gpus=4 shape=pairs; ask pods=2 gpus=1; seat 0 host=0 on=0; seat 0 pod=1 host=0 on=2; "
     "seated 0; ask gpus=2",
     0, 0x0A, true},
    {"no CPU", "hosts 1 gpus=4 cpu=1; ask gpus=2 cpu=2", 0, 0, false},
    {"no islands known", "hosts 1 gpus=4; ask gpus=1", SCOPE_BIT(SHAPE_ISLAND), 0, false},
};

static void test_confined(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(confined_row); n++) {
        struct spot s = {0};
        struct view v;
        bool found;

        world_open(&w, NULL);
        world_say(&w, confined_row[n].script);
        v = world_view(&w, w.keys - 1);
        found = score_confined(&v, world_podset(&w, w.keys - 1, 0), 0, confined_row[n].scopes, &s,
                               SCORE_FULL);
        CHECK_INT(confined_row[n].why, found, confined_row[n].found);
        CHECK_INT(confined_row[n].why, found ? s.devices : 0, confined_row[n].devices);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_slot),
        cmocka_unit_test(test_free_milli),
        cmocka_unit_test(test_confined),
    };

    return cmocka_run_group_tests_name("score", tests, NULL, NULL);
}
