/* mixed_test.c - gangs of unlike pods, the published cases among them
 *
 * The language is that of tests/kit/world.h. Feasibility may not depend on the order in which the
 * podsets are written: every row runs forwards and backwards.
 */
#include "core/place/mixed.h"

#include <stdio.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* hosts; the gang's own words; its podsets; what is decided, and what with the podsets reversed. */
static const struct {
    const char *why, *hosts, *job;
    const char *set[4];
    const char *want, *reversed;
} row[] = {
    {"a leader without GPUs beside its workers",
     "hosts 1 gpus=4 cpu=9",
     "",
     {"cpu=1", "pods=2 gpus=2 cpu=4"},
     "+0 0:- 0:01 0:23",
     "+0 0:01 0:23 0:-"},
    {"Kueue #13766: one of 1 CPU, four of 2 CPU on hosts of 2, 4 and 3: the leader on the third",
     "hosts 1 gpus=0 cpu=2 l0=0; hosts 1 gpus=0 cpu=4 l0=0; hosts 1 gpus=0 cpu=3 l0=0",
     "need=l0",
     {"cpu=1", "pods=4 cpu=2"},
     "+0 2:- 0:- 1:- 1:- 2:-",
     "+0 0:- 1:- 1:- 2:- 2:-"},
    {"the same with GPUs for CPUs",
     "hosts 1 gpus=2 l0=0; hosts 1 gpus=4 l0=0; hosts 1 gpus=3 l0=0",
     "need=l0",
     {"gpus=1", "pods=4 gpus=2"},
     "+0 2:2 0:01 1:01 1:23 2:01",
     "+0 0:01 1:01 1:23 2:01 2:2"},
    {"one CPU less than that rack needs",
     "hosts 1 gpus=0 cpu=2 l0=0; hosts 2 gpus=0 cpu=3 l0=0",
     "need=l0",
     {"cpu=1", "pods=4 cpu=2"},
     "-0 never_size(cpu)",
     "-0 never_size(cpu)"},
    {"KEP-6012: racks of 3 and 5 in one block, of 5 and 5 in the other; two rack gangs of five",
     "hosts 1 gpus=3 l0=0 l1=8; hosts 1 gpus=5 l0=1 l1=8; hosts 1 gpus=5 l0=2 l1=9; hosts 1 gpus=5 "
     "l0=3 "
     "l1=9",
     "need=l1",
     {"pods=5 gpus=1 in=l0", "pods=5 gpus=1 in=l0"},
     "+0 2:0 2:1 2:2 2:3 2:4 3:0 3:1 3:2 3:3 3:4",
     "+0 2:0 2:1 2:2 2:3 2:4 3:0 3:1 3:2 3:3 3:4"},
    {"KEP-6012: the elastic sibling leaves the places that the minimum of the other needs",
     "hosts 1 gpus=4",
     "",
     {"pods=4 min=1 gpus=1", "pods=3 gpus=1"},
     "+0 0:0 0:1 0:2 0:3",
     "+0 0:0 0:1 0:2 0:3"},
    {"KEP-6012: and both minima exceed what there is",
     "hosts 1 gpus=4",
     "",
     {"pods=4 min=2 gpus=1", "pods=3 gpus=1"},
     "-0 never_size",
     "-0 never_size"},
    {"KubeRay: a sibling that may stand anywhere leaves the only rack that holds the other",
     "hosts 1 gpus=4 l0=0; hosts 1 gpus=2 l0=1",
     "",
     {"pods=2 gpus=1", "pods=4 gpus=1 in=l0"},
     "+0 1:0 1:1 0:0 0:1 0:2 0:3",
     "+0 0:0 0:1 0:2 0:3 1:0 1:1"},
    {"a set that needs a whole host, beside small ones that would fit there too",
     "hosts 1 gpus=4; hosts 1 gpus=2",
     "",
     {"pods=2 gpus=1", "gpus=4"},
     "+0 1:0 1:1 0:0123",
     "+0 0:0123 1:0 1:1"},
    {"shares fill the rest",
     "hosts 1 gpus=2",
     "",
     {"gpus=1", "pods=2 gpus=1 milli=500"},
     "+0 0:0 0:1 0:1",
     "+0 0:1 0:1 0:0"},
    {"shares of a gang that keeps its pods apart",
     "hosts 1 gpus=3",
     "apart",
     {"gpus=1 milli=200", "gpus=1", "gpus=1 milli=300"},
     "+0 0:1 0:0 0:2",
     "+0 0:1 0:0 0:2"},
    {"apart, with one card too few",
     "hosts 1 gpus=2",
     "apart",
     {"gpus=1 milli=200", "gpus=1", "gpus=1 milli=300"},
     "-0 never_topology(topology)",
     "-0 never_topology(topology)"},
    {"memory shares and compute shares on one card",
     "hosts 1 gpus=1 gpumem=1000",
     "",
     {"gpus=1 mib=500", "gpus=1 milli=500"},
     "+0 0:0 0:0",
     "+0 0:0 0:0"},
    {"and a little too much of both",
     "hosts 1 gpus=1 gpumem=1000",
     "",
     {"gpus=1 mib=501", "gpus=1 milli=500"},
     "-0 never_size",
     "-0 never_size"},
    {"profiles of two sizes: the legal slots",
     "mig 1 model=0 starts=7f slots=1 of=8; mig 3 model=0 "
     "starts=11 slots=4 of=8; hosts 1 gpus=1",
     "",
     {"gpus=1 mig=3", "pods=3 gpus=1 mig=1"},
     "+0 0:0/0 0:0/4 0:0/5 0:0/6",
     "+0 0:0/0 0:0/1 0:0/2 0:0/4"},
    {"an island for one set, the other island for the other",
     "hosts 1 gpus=8 shape=quads",
     "",
     {"pods=2 gpus=2 in=island", "gpus=4 in=island"},
     "+0 0:45 0:67 0:0123",
     "+0 0:0123 0:45 0:67"},
    {"the whole gang in one island",
     "hosts 1 gpus=8 shape=quads",
     "need=island",
     {"gpus=1", "gpus=2"},
     "+0 0:2 0:01",
     "+0 0:01 0:2"},
    {"the whole gang in one island that is too small",
     "hosts 1 gpus=8 shape=quads",
     "need=island",
     {"gpus=1", "pods=2 gpus=2"},
     "-0 never_topology(topology)",
     "-0 never_topology(topology)"},
    {"the whole gang on one host",
     "hosts 2 gpus=2; hosts 1 gpus=3",
     "need=host",
     {"gpus=1", "gpus=2"},
     "+0 2:2 2:01",
     "+0 2:01 2:2"},
    {"slices of one set, none of the other",
     "hosts 3 gpus=3",
     "",
     {"pods=4 gpus=1 slice=2@host", "gpus=3"},
     "+0 1:0 1:1 2:0 2:1 0:012",
     "+0 0:012 1:0 1:1 2:0 2:1"},
    {"slices by leaf beside a set that needs a leaf",
     "hosts 2 gpus=2 l0=0; hosts 2 gpus=1 l0=1",
     "",
     {"pods=2 gpus=1 slice=2@l0", "pods=2 gpus=2 in=l0"},
     "+0 2:0 3:0 0:01 1:01",
     "+0 0:01 1:01 2:0 3:0"},
    {"slices by island",
     "hosts 1 gpus=8 shape=quads",
     "",
     {"pods=2 gpus=2 slice=2@island", "pods=4 gpus=1 slice=4@island"},
     "+0 0:01 0:23 0:4 0:5 0:6 0:7",
     "+0 0:4 0:5 0:6 0:7 0:01 0:23"},
    {"a host without the label is no leaf, for a set that needs one",
     "hosts 2 gpus=2; hosts 1 gpus=1 l0=0",
     "",
     {"gpus=1 in=l0", "gpus=2"},
     "+0 2:0 0:01",
     "+0 0:01 2:0"},
    {"two models, one for each set",
     "hosts 1 gpus=1; hosts 1 gpus=1 model=1",
     "",
     {"gpus=1 class=2", "gpus=1 class=1"},
     "+0 1:0 0:0",
     "+0 0:0 1:0"},
    {"a model that nobody has",
     "hosts 1 gpus=2",
     "",
     {"gpus=1 class=2", "gpus=1"},
     "-0 never_model(model)",
     "-0 never_model(model)"},
    {"CPU is what lacks",
     "hosts 1 gpus=4 cpu=4; ask cpu=2; step",
     "",
     {"gpus=1 cpu=2", "gpus=2 cpu=1"},
     "+0 0:-|-1 cpu(busy cpu)",
     "+0 0:-|-1 cpu(busy cpu)"},
    {"in use",
     "hosts 1 gpus=4; ask gpus=3; step",
     "",
     {"gpus=1", "gpus=2"},
     "+0 0:012|-1 shortage(busy)",
     "+0 0:012|-1 shortage(busy)"},
    {"a preferred leaf though the emptier one comes first",
     "hosts 1 gpus=2 l0=0; hosts 1 gpus=1 l0=0; hosts 1 gpus=3 l0=1",
     "prefer=host,l0",
     {"gpus=1", "gpus=2"},
     "+0 2:2 2:01",
     "+0 2:01 2:2"},
    {"a host that holds more CPU than it was told later: pods that ask none still fit",
     "hosts 1 gpus=4 cpu=9; ask gpus=1 cpu=8; step; host 0 gpus=4 cpu=3",
     "",
     {"gpus=1", "gpus=2"},
     "+0 0:0|+1 0:3 0:12",
     "+0 0:0|+1 0:12 0:3"},
    {"no budget: nothing is proven",
     "config budget=1; hosts 2 gpus=3; hosts 2 gpus=2",
     "",
     {"pods=2 gpus=1", "pods=4 gpus=2"},
     "-0 unproven(?)",
     "-0 unproven(?)"},
    {"four sets",
     "hosts 1 gpus=8",
     "",
     {"gpus=1", "gpus=2", "gpus=1 milli=500", "gpus=4"},
     "+0 0:6 0:45 0:7 0:0123",
     "+0 0:0123 0:7 0:45 0:6"},
};

static void write_ask(char *ret, size_t size, unsigned n, bool reversed)
{
    unsigned sets = 0, length;

    while (sets < 4 && row[n].set[sets])
        sets++;
    length = (unsigned)snprintf(ret, size, "%s; ask %s", row[n].hosts, row[n].job);
    for (unsigned i = 0; i < sets; i++)
        length += (unsigned)snprintf(ret + length, size - length, "%s %s", i ? " +" : "",
                                     row[n].set[reversed ? sets - 1 - i : i]);
    snprintf(ret + length, size - length, "; step");
}

static void test_both_ways(void **state)
{
    char text[512];
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        write_ask(text, sizeof(text), n, false);
        bad += check_text(row[n].why, world_once(text), row[n].want);
        write_ask(text, sizeof(text), n, true);
        bad += check_text(row[n].why, world_once(text), row[n].reversed);
    }
    assert_int_equal(bad, 0);
}

static struct world w;

/* The search itself, on everything: what it found, and what it says of devices. */
static void test_search(void **state)
{
    static const struct {
        const char *why, *script;
        enum verdict verdict;
        unsigned full, pods, exact;
    } ask[] = {
        {"all pods", "hosts 1 gpus=4; ask pods=2 min=1 gpus=1 + gpus=1", VERDICT_FITS, 1, 3, 0},
        {"the minimum", "hosts 1 gpus=4; ask pods=2 min=1 gpus=1 + gpus=1", VERDICT_FITS, 0, 2, 0},
        {"shares make devices matter", "hosts 1 gpus=4; ask gpus=1 milli=5 + gpus=1", VERDICT_FITS,
         1, 2, 1},
        {"islands do too", "hosts 1 gpus=4 shape=pairs; ask gpus=2 in=island + gpus=1",
         VERDICT_FITS, 1, 2, 1},
        {"all pods are too many, which proves nothing of the minimum",
         "hosts 1 gpus=2; ask pods=3 min=1 gpus=1 + gpus=1", VERDICT_NO, 1, 0, 0},
        {"each alone fits, and both do not", "hosts 1 gpus=2; ask gpus=2 + gpus=1", VERDICT_NO, 0,
         0, 0},
        {"a minimum beyond the whole slices asked",
         "hosts 1 gpus=8; ask pods=3 gpus=1 slice=2@host + gpus=1", VERDICT_NO, 0, 0, 0},
        {"no host at all", "ask gpus=1 + gpus=2", VERDICT_NO, 0, 0, 0},
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(ask); n++) {
        struct mixed found = {0};
        struct region r;
        struct view v;
        enum verdict verdict;

        world_open(&w, NULL);
        world_say(&w, ask[n].script);
        v = world_view(&w, 0);
        region_start(&r, 0);
        assert_true(region_next(&v, &r));
        verdict = mixed_search(&v, &r, ask[n].full, &found);
        CHECK_INT(ask[n].why, verdict, ask[n].verdict);
        CHECK_INT(ask[n].why, found.pod_count, ask[n].pods);
        CHECK_INT(ask[n].why, found.exact_devices, ask[n].exact);
        world_close(&w);
    }
}

/* The claim "no" of a small budget is never made where a larger one finds a place. */
static void test_budget(void **state)
{
    bool fits = false;

    (void)state;
    for (unsigned budget = 0; budget < 120; budget++) {
        char text[256];
        const char *said;

        snprintf(
            text, sizeof(text),
            "config budget=%u; hosts 1 gpus=2 l0=0; hosts 1 gpus=4 l0=0; hosts 1 gpus=3 l0=0; ask "
            "need=l0 gpus=1 + pods=4 gpus=2; step",
            budget);
        said = world_once(text);
        if (said[0] == '+')
            fits = true;
        else
            assert_string_equal(said, fits ? "+0" : "-0 unproven(?)");
    }
    assert_true(fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_budget),
    };

    return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}
