/* search_test.c - the best host for one pod, by looking at all and by the index's proposals */
#include "core/place/score.h"

#include <stdio.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/model/index.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"the lowest id of equal hosts", "hosts 3 gpus=2; ask gpus=1; step", "+0 0:0"},
    {"told no mix, all hosts cost the same: the lowest id",
     "hosts 2 gpus=2; ask gpus=1; seat 0 host=1 on=0; seated 0; ask gpus=1; step", "+1 0:0"},
    {"whole hosts stay whole for those who need them",
     "hosts 2 gpus=2; ask gpus=1; ask gpus=1; ask gpus=2; step", "+0 0:0 +1 0:1 +2 1:01"},
    {"a host without room is no host", "hosts 1 gpus=2; hosts 1 gpus=4; ask gpus=3; step",
     "+0 1:012"},
    {"nor one of another model", "hosts 1 gpus=2; hosts 1 gpus=2 model=1; ask gpus=1 class=2; step",
     "+0 1:0"},
    {"nor one of another class",
     "class 3 models=1 nodes=2; hosts 1 gpus=1; hosts 1 gpus=1 class=1; ask gpus=1 class=3; step",
     "+0 1:0"},
    {"nor one without CPU", "hosts 1 gpus=2 cpu=3; hosts 1 gpus=2 cpu=4; ask gpus=1 cpu=4; step",
     "+0 1:0"},
    {"nor one without memory", "hosts 1 gpus=2 mem=3; hosts 1 gpus=2 mem=4; ask gpus=1 mem=4; step",
     "+0 1:0"},
    {"nor one that leaves", "hosts 2 gpus=2; leave 0 5; ask gpus=1; step", "+0 1:0"},
    {"nor one that is drained", "hosts 2 gpus=2; state 0 drain; ask gpus=1; step", "+0 1:0"},
    {"nor one in no leaf", "hosts 1 gpus=2; hosts 1 gpus=2 l0=0; ask gpus=1 need=l0; step",
     "+0 1:0"},
    {"an island that holds it",
     "hosts 1 gpus=4 shape=pairs; hosts 1 gpus=4 shape=quads; ask gpus=4 need=island; step",
     "+0 1:0123"},
    {"a preferred island on another host",
     "hosts 1 gpus=3 shape=lone; hosts 1 gpus=8 shape=quads; ask gpus=3 prefer=island; step",
     "+0 1:012"},
    {"a preferred island that nobody has",
     "hosts 1 gpus=3 shape=lone; ask gpus=3 prefer=island; step", "+0 0:012"},
    {"told no mix: the lowest id for shares too",
     "hosts 2 gpus=2; ask gpus=1 milli=500; seat 0 host=1 on=1; seated 0; ask gpus=1 milli=500; "
     "step",
     "+1 0:0"},
    {"a memory share larger than the devices of the first hosts",
     "hosts 1 gpus=1 gpumem=1; hosts 1 gpus=1 gpumem=80; ask gpus=1 mib=5; step", "+0 1:0"},
    {"first fit",
     "config scorer=first-fit; hosts 2 gpus=2; ask gpus=1; seat 0 host=1 on=1; seated 0; ask "
     "gpus=1; step",
     "+1 0:0"},
    {"most allocated",
     "config scorer=kube-binpack; hosts 2 gpus=2; ask gpus=1; seat 0 host=1 on=1; seated 0; ask "
     "gpus=1; step",
     "+1 1:0"},
    {"no GPUs: any host with CPU", "hosts 2 gpus=0 cpu=2; ask cpu=2; ask cpu=2; ask cpu=2; step",
     "+0 0:- +1 1:- -2 cpu(busy cpu)"},
};

/* By proposals and by looking at all: these worlds are small enough for one answer. */
static void test_rows(void **state)
{
    char text[400];
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        bad += check_text(row[n].why, world_once(row[n].script), row[n].want);
        snprintf(text, sizeof(text), "config scan; %s", row[n].script);
        bad += check_text(row[n].why, world_once(text), row[n].want);
    }
    assert_int_equal(bad, 0);
}

static struct world w;

static void random_world(struct prng *p)
{
    char text[200];
    unsigned hosts = 3 + (unsigned)prng_below(p, 30);

    world_open(&w, NULL);
    world_say(&w, "mig 3 model=0 starts=11 slots=4 of=8; mix 0 of=2 gpus=1 milli=500 count=3; mix "
                  "1 of=2 gpus=4 count=1");
    for (unsigned h = 0; h < hosts; h++) {
        snprintf(text, sizeof(text), "hosts 1 gpus=%u cpu=%u mem=%u model=%u gpumem=%u class=%u",
                 1 + (unsigned)prng_below(p, 8), 4 * (1 + (unsigned)prng_below(p, 4)),
                 8 + (unsigned)prng_below(p, 2) * 8, (unsigned)prng_below(p, 2),
                 (unsigned)prng_below(p, 2) * 10, (unsigned)prng_below(p, 2));
        world_say(&w, text);
    }
    for (unsigned n = 0; n < hosts; n++) {
        static const char *const fill[] = {"gpus=1 milli=300 cpu=1",
                                           "gpus=1 milli=700",
                                           "gpus=1 cpu=2 mem=3",
                                           "gpus=2 cpu=3",
                                           "gpus=1 mib=4",
                                           "gpus=1 mig=3",
                                           "cpu=3"};

        snprintf(text, sizeof(text), "config scorer=random seed=%u; ask %s; step", n,
                 fill[prng_below(p, ROWS(fill))]);
        world_say(&w, text);
    }
    snprintf(text, sizeof(text), "config scorer=dovetail; state %u drain; device %u 0 down",
             (unsigned)prng_below(p, hosts), (unsigned)prng_below(p, hosts));
    world_say(&w, text);
}

/* A yes where there is one, a no where there is none, and a place that is really free; about as
 * cheap as the cheapest. */
static void test_against_scan(void **state)
{
    static const char *const ask[] = {
        "gpus=1",
        "gpus=2 cpu=4",
        "gpus=4",
        "gpus=7",
        "gpus=1 milli=200",
        "gpus=1 milli=650",
        "gpus=1 milli=950 cpu=3",
        "gpus=1 mib=5",
        "gpus=1 mig=3",
        "cpu=9",
        "cpu=1",
        "gpus=1 cpu=13",
        "gpus=1 mem=12",
        "gpus=1 class=1",
        "gpus=3 class=2 cpu=5",
        "gpus=1 class=3",
    };
    struct prng p;

    (void)state;
    prng_init(&p, 99);
    for (unsigned round = 0; round < 25; round++) {
        random_world(&p);
        world_say(&w, "class 3 models=3 nodes=2");
        for (unsigned n = 0; n < ROWS(ask); n++) {
            struct spot best, second, scanned, scanned_second;
            const struct podset *set;
            enum verdict verdict;
            char text[64];
            struct view v;

            snprintf(text, sizeof(text), "ask %s", ask[n]);
            world_say(&w, text);
            assert_int_equal(config_row(w.s.m)->scan_all, 0);
            v = world_view(&w, w.keys - 1);
            set = world_podset(&w, w.keys - 1, 0);
            verdict = score_search(&v, set, 0, &best, &second);
            model_begin(w.s.m);
            config_edit(w.s.m)->scan_all = 1;
            CHECK_INT(ask[n], score_search(&v, set, 0, &scanned, &scanned_second), verdict);
            model_rollback(w.s.m);
            CHECK_INT(ask[n], best.host == ROW_NONE, verdict == VERDICT_NO);
            if (verdict != VERDICT_FITS)
                continue;
            CHECK_INT(ask[n],
                      view_open(&v, best.host, set) &&
                          view_pods(&v, best.host, set, UINT16_MAX) > 0,
                      true);
            assert_true(best.cost >= scanned.cost);
            assert_true(second.host == ROW_NONE ||
                        (second.host != best.host && second.cost >= best.cost));
            assert_int_equal(scanned_second.host == ROW_NONE, second.host == ROW_NONE);
        }
        world_close(&w);
    }
}

/* Scorers that break ties by the seed do so over all equal hosts. */
static void test_ties(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        char text[96];

        snprintf(text, sizeof(text),
                 "config scorer=kube-binpack seed=%u; hosts 8 gpus=1; ask gpus=1; step", seed);
        seen |= 1u << (world_once(text)[3] - '0');
        assert_string_equal(world_once(text), world_once(text));
    }
    assert_int_equal(seen, 0xFF);
}

/* A limit that is left out is no question of a search that places. */
static void test_misuse(void **state)
{
    struct spot best, second;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=1; ask gpus=1");
    v = world_view(&w, 0);
    v.dropped = LIMIT(CPU);
    expect_assert_failure(score_search(&v, world_podset(&w, 0, 0), 0, &best, &second));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_against_scan),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
