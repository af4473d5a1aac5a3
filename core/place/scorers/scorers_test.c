/* scorers_test.c - each scorer's formula on hosts small enough to compute by hand */
#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/index.h"
#include "core/place/score.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* Job 0 has a seat per pod that the script tells; the last job is the one that is scored on host 0.
 */
static const struct {
    const char *why, *scorer, *script;
    int64_t cost;
    unsigned devices;
} row[] = {
    /* int(100 (1 - (C - c) / 128000 / 2 - (F - g) / 8000 / 2)), the higher the better */
    {"88 cores and 7 GPUs left: 21.875", "best-fit",
     "hosts 1 gpus=8 cpu=96000; ask gpus=1 cpu=8000", -21, 1},
    {"nothing left", "best-fit", "hosts 1 gpus=8 cpu=128000; ask gpus=8 cpu=128000", -100, 0xFF},
    {"all left", "best-fit", "hosts 1 gpus=8 cpu=128000; ask", 0, 0},
    {"twice the cores of the reference host", "best-fit", "hosts 1 gpus=8 cpu=256000; ask", 50, 0},
    {"a share: 470 of 1000 left on the only GPU: 97.06", "best-fit",
     "hosts 1 gpus=1 cpu=0; ask gpus=1 milli=530", -97, 1},

    /* int(100 (1 - (C c / 128000^2 + F g / 8000^2) / 2)) */
    {"91.40625", "dot-product", "hosts 1 gpus=8 cpu=96000; ask gpus=1 cpu=8000", -91, 1},
    {"as like as can be", "dot-product", "hosts 1 gpus=8 cpu=128000; ask gpus=8 cpu=128000", 0,
     0xFF},
    {"nothing asked", "dot-product", "hosts 1 gpus=8 cpu=128000; ask", -100, 0},

    /* 25 (8000 - F) / 8000, and 75, 50, 25 or 0 by whom the host holds */
    {"an empty host", "gpu-clustering", "hosts 1 gpus=8; ask gpus=1", -25, 1},
    {"pods of one GPU only: 3 + 75", "gpu-clustering",
     "hosts 1 gpus=8; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=1", -78, 2},
    {"pods of one GPU among others: 9 + 50", "gpu-clustering",
     "hosts 1 gpus=8; ask gpus=1 + gpus=2; seat 0 host=0 on=0; seat 0 podset=1 pod=1 host=0 on=12; "
     "seated 0; "
     "ask gpus=1",
     -59, 8},
    {"others only: 6 + 0", "gpu-clustering",
     "hosts 1 gpus=8; ask gpus=2; seat 0 host=0 on=01; seated 0; ask gpus=1", -6, 4},
    {"shares only: 1 + 75", "gpu-clustering",
     "hosts 1 gpus=8; ask gpus=1 milli=500; seat 0 host=0 on=0; seated 0; ask gpus=1 milli=400",
     -76, 1},
    {"a share is another kind than a whole GPU: 1 + 0", "gpu-clustering",
     "hosts 1 gpus=8; ask gpus=1 milli=500; seat 0 host=0 on=0; seated 0; ask gpus=1", -1, 2},
    {"pods without GPUs are no kind", "gpu-clustering",
     "hosts 1 gpus=8; ask cpu=1; seat 0 host=0 on=-; seated 0; ask gpus=1", -25, 1},
    {"a pod without GPUs", "gpu-clustering", "hosts 1 gpus=8; ask cpu=1", 0, 0},

    /* all free: max(33 - n, n); free devices used: max(50 - used, 33); else by what they have left
     */
    {"eight free of eight: 33 - 8", "gpu-packing", "hosts 1 gpus=8; ask gpus=1", -25, 1},
    {"two free of two: 33 - 2", "gpu-packing", "hosts 1 gpus=2; ask gpus=1", -31, 1},
    {"two of seven free devices: 50 - 2", "gpu-packing",
     "hosts 1 gpus=8; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=2", -48, 6},
    {"sixteen used of many: 50 - 16 is still above 33", "gpu-packing",
     "hosts 1 gpus=16; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=15", -35, 0xFFFE},
    {"a share on a broken device, 60 percent free: 100 - 6", "gpu-packing",
     "hosts 1 gpus=2; ask gpus=1 milli=400; seat 0 host=0 on=1; seated 0; ask gpus=1 milli=100",
     -94, 2},
    {"a share that no broken device holds: 50 - 1", "gpu-packing",
     "hosts 1 gpus=2; ask gpus=1 milli=600; seat 0 host=0 on=0; seated 0; ask gpus=1 milli=500",
     -49, 2},
    {"a pod without GPUs", "gpu-packing", "hosts 1 gpus=8; ask cpu=1", 0, 0},

    {"host 0", "first-fit", "hosts 1 gpus=8; ask gpus=1", 0, 1},

    /* percent of the GPUs that are then allocated */
    {"one of eight: 12.5", "kube-binpack", "hosts 1 gpus=8; ask gpus=1", -12, 1},
    {"four of eight", "kube-binpack",
     "hosts 1 gpus=8; ask gpus=3; seat 0 host=0 on=012; seated 0; ask gpus=1", -50, 8},
    {"a host without GPUs", "kube-binpack", "hosts 1 gpus=0; ask cpu=1", 0, 0},

    /* least allocated over CPU and memory, and balance: 100 points each */
    {"half of the CPU: 75 + 75", "kube-default",
     "hosts 1 gpus=1 cpu=100 mem=100; ask gpus=1 cpu=50", -150, 1},
    {"half of both: 50 + 100", "kube-default",
     "hosts 1 gpus=1 cpu=100 mem=100; ask gpus=1 cpu=50 mem=50", -150, 1},
    {"all of the memory: 50 + 50", "kube-default",
     "hosts 1 gpus=1 cpu=100 mem=100; ask gpus=1 mem=100", -100, 1},
    {"no limits known: 100 + 100", "kube-default", "hosts 1 gpus=1; ask gpus=1 cpu=7", -200, 1},

    /* floor(100 x sigmoid(-growth)) of the mean over the mix */
    {"no mix: no growth", "fgd", "hosts 1 gpus=2; ask gpus=1 milli=500", -50, 1},
    {"half a device: the pair is lost, 0.75 GPU more: 32.08", "fgd",
     "mix 0 of=2 gpus=1 milli=500 count=1; mix 1 of=2 gpus=2 count=1; hosts 1 gpus=2; ask gpus=1 "
     "milli=500",
     -32, 1},
    {"the other half: 0.25 GPU less: 56.2", "fgd",
     "mix 0 of=2 gpus=1 milli=500 count=1; mix 1 of=2 gpus=2 count=1; hosts 1 gpus=2; ask gpus=1 "
     "milli=500; seat "
     "0 host=0 on=1; seated 0; ask gpus=1 milli=500",
     -56, 2},
    {"all of it: nothing to fragment", "fgd",
     "mix 0 of=1 gpus=2 count=1; hosts 1 gpus=2; ask gpus=2", -50, 3},
    {"seven GPUs more: 0.09", "fgd", "mix 0 of=1 gpus=8 count=1; hosts 1 gpus=8; ask gpus=1", 0, 1},
    {"one GPU less: 73.1", "fgd",
     "mix 0 of=1 gpus=8 count=1; hosts 1 gpus=8; ask gpus=7; seat 0 host=0 on=1234567; seated 0; "
     "ask gpus=1",
     -73, 1},
    {"seven GPUs less: 99.9", "fgd",
     "mix 0 of=1 gpus=8 count=1; hosts 1 gpus=8; ask gpus=1; seat 0 host=0 on=0; seated 0; ask "
     "gpus=7",
     -99, 0xFE},
    {"a class without GPUs counts all that is free: half of one GPU less: 62.2", "fgd",
     "mix 0 of=1 gpus=0 count=1; hosts 1 gpus=1; ask gpus=1 milli=500", -62, 1},
    {"the device whose rest serves the mix: 700 would leave 100 for nobody", "fgd",
     "mix 0 of=1 gpus=1 milli=400 count=1; hosts 1 gpus=2; ask gpus=1 milli=300 + gpus=1 "
     "milli=200; seat 0 "
     "host=0 on=0; seat 0 podset=1 pod=1 host=0 on=1; seated 0; ask gpus=1 milli=400",
     -50, 2},

    {"links choose the devices", "dovetail",
     "hosts 1 gpus=8 shape=pairs; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=2", INT64_MAX,
     0xC},
    {"a single takes the broken pair", "dovetail",
     "hosts 1 gpus=8 shape=pairs; ask gpus=1; seat 0 host=0 on=2; seated 0; ask gpus=1", INT64_MAX,
     8},
};

static bool score(const char *name, uint32_t host, uint16_t within, enum score_detail detail,
                  struct spot *ret)
{
    struct view v = world_view(&w, w.keys - 1);
    unsigned id = 0;

    while (strcmp(scorer_get(id)->name, name) != 0)
        id++;
    model_begin(w.s.m);
    config_edit(w.s.m)->scorer = (uint8_t)id;
    model_commit(w.s.m);
    return score_host(&v, world_podset(&w, w.keys - 1, 0), host, within, ret, detail);
}

static void test_formulas(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct spot s = {0};

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        CHECK_INT(row[n].why, score(row[n].scorer, 0, UINT16_MAX, SCORE_FULL, &s), true);
        if ((row[n].cost != INT64_MAX && s.cost != row[n].cost) || s.devices != row[n].devices) {
            print_error("row: %s, %s: cost %lld devices %x\n", row[n].scorer, row[n].why,
                        (long long)s.cost, s.devices);
            bad++;
        }
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

static const char *const ask[] = {
    "ask cpu=1",        "ask gpus=1",       "ask gpus=3",           "ask gpus=1 milli=300",
    "ask gpus=1 mib=7", "ask gpus=1 mig=3", "ask gpus=1 milli=900",
};

/* Of every scorer: as many devices as asked, free, within what is allowed; terms with names and
 * units; the same answer twice; a text for the documentation. */
static void test_all(void **state)
{
    (void)state;
    for (unsigned id = 0; id < SCORER_COUNT; id++)
        for (unsigned n = 0; n < ROWS(ask); n++)
            for (uint16_t within = 1; within != 0; within = (uint16_t)(within * 3)) {
                const struct scorer *s = scorer_get(id);
                struct spot one = {0}, two = {0};
                const struct host *h;
                const struct podset *p;

                if (within > 0xFF)
                    break;
                world_open(&w, NULL);
                world_say(&w, "mig 3 model=0 starts=11 slots=4 of=8; mix 0 of=1 gpus=2 count=1; "
                              "hosts 1 gpus=8 "
                              "cpu=9000 gpumem=10 shape=quads; ask gpus=1 + gpus=1 milli=200; seat "
                              "0 host=0 on=0; "
                              "seat 0 podset=1 pod=1 host=0 on=1; seated 0; device 0 7 down");
                world_say(&w, ask[n]);
                assert_int_equal(config_row(w.s.m)->ignored_count, 0);
                h = host_row(w.s.m, 0);
                p = world_podset(&w, 1, 0);
                if (score(s->name, 0, within, SCORE_FULL, &one)) {
                    assert_true(score(s->name, 0, within, SCORE_COST, &two));
                    assert_int_equal(bits_count16(one.devices), p->gpus);
                    assert_int_equal(one.devices & ~(unsigned)within, 0);
                    assert_int_equal(one.devices & ~(unsigned)h->healthy, 0);
                    assert_true(podset_is_share(p) || !(one.devices & ~(unsigned)h->whole));
                    assert_true(one.cost == two.cost && one.tie == two.tie);
                    assert_in_range(one.term_count, 1, TERMS_MAX);
                    for (unsigned t = 0; t < one.term_count; t++)
                        assert_true(one.term[t].name[0] && one.term[t].unit[0]);
                    assert_int_equal(two.term_count, 0);
                } else {
                    assert_true(bits_count16(within & h->whole) < p->gpus || podset_is_share(p));
                }
                world_close(&w);
            }
}

static void test_texts(void **state)
{
    (void)state;
    assert_string_equal(scorer_get(0)->name, "dovetail");
    for (unsigned a = 0; a < SCORER_COUNT; a++) {
        const struct scorer *s = scorer_get(a);

        assert_true(s->name[0] && s->idea[0] && s->helps_when[0] && s->hurts_when[0]);
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(s->name, scorer_get(b)->name);
    }
    expect_assert_failure(scorer_get(SCORER_COUNT));
}

/* First fit costs what the host's id is; a lot is drawn per job, host and seed. */
static void test_lots(void **state)
{
    struct spot a, b;
    unsigned seen = 0;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 3 gpus=8; ask gpus=1");
    assert_true(score("first-fit", 2, UINT16_MAX, SCORE_FULL, &a));
    assert_true(a.cost == 2);
    assert_true(score("random", 0, UINT16_MAX, SCORE_FULL, &a));
    assert_true(score("random", 1, UINT16_MAX, SCORE_FULL, &b));
    assert_true(a.cost >= 0 && a.cost != b.cost);
    for (unsigned n = 0; n < 64; n++) {
        world_say(&w, "ask gpus=1");
        assert_true(score("random", 0, UINT16_MAX, SCORE_FULL, &b));
        seen |= b.devices;
    }
    assert_int_equal(seen, 0xFF);
    world_say(&w, "config seed=1");
    assert_true(score("random", 0, UINT16_MAX, SCORE_FULL, &a));
    world_say(&w, "config seed=2");
    assert_true(score("random", 0, UINT16_MAX, SCORE_FULL, &b));
    assert_true(a.cost != b.cost);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_lots),
    };

    return cmocka_run_group_tests_name("scorers", tests, NULL, NULL);
}
