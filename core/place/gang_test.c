/* gang_test.c - where gangs go, all or none, and which seats they get
 *
 * The language is that of tests/kit/world.h.
 */
#include "core/place/gang.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

struct row {
    const char *why, *script, *want;
};

static int check(const struct row *r)
{
    return check_text(r->why, world_once(r->script), r->want);
}

static const struct row equal_row[] = {
    {"one host holds all: the one with the least room over",
     "hosts 1 gpus=8; hosts 1 gpus=4; ask pods=2 gpus=2; step", "+0 1:01 1:23"},
    {"the smaller host is too small", "hosts 2 gpus=4; hosts 1 gpus=8; ask pods=4 gpus=2; step",
     "+0 2:01 2:23 2:45 2:67"},
    {"equal hosts: the lowest id", "hosts 3 gpus=4; ask pods=2 gpus=2; step", "+0 0:01 0:23"},
    {"no host holds all: the tightest domain of the first level",
     "hosts 3 gpus=4 l0=0; hosts 2 gpus=4 l0=1; ask pods=2 gpus=4; step", "+0 3:0123 4:0123"},
    {"no domain of the first level: the next level, and in it the fewest hosts",
     "hosts 2 gpus=2 l0=0 l1=5; hosts 1 gpus=2 l0=1 l1=5; hosts 1 gpus=6 l0=2 l1=6; hosts 1 gpus=2 "
     "l0=3 "
     "l1=6; hosts 2 gpus=2; ask pods=4 gpus=2; step",
     "+0 3:01 3:23 3:45 4:01"},
    {"no domain at all: across, with the fewest hosts",
     "hosts 2 gpus=2 l0=0; hosts 1 gpus=4 l0=1; ask pods=3 gpus=2; step", "+0 0:01 2:01 2:23"},
    {"pods are numbered along the hosts in id order",
     "hosts 1 gpus=1; hosts 1 gpus=2; ask pods=3 gpus=1; step", "+0 0:0 1:0 1:1"},
    {"Kueue: hosts fit 3, 3, 2 and 1, seven are asked: 3 + 3 + 1",
     "hosts 2 gpus=3; hosts 1 gpus=2; hosts 1 gpus=1; ask pods=7 gpus=1; step",
     "+0 0:0 0:1 0:2 1:0 1:1 1:2 3:0"},
    {"Kueue: two domains of ten, twelve asked: 10 + 2", "hosts 2 gpus=10; ask pods=12 gpus=1; step",
     "+0 0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7 0:8 0:9 1:0 1:1"},
    {"KAI: zones of five and six, three pods, zone required and rack preferred: 2 + 1 in the first",
     "hosts 1 gpus=2 l0=0 l1=8; hosts 1 gpus=2 l0=1 l1=8; hosts 1 gpus=1 l0=2 l1=8; hosts 1 gpus=2 "
     "l0=3 "
     "l1=9; hosts 1 gpus=2 l0=4 l1=9; hosts 1 gpus=2 l0=5 l1=9; ask pods=3 gpus=1 need=l1 "
     "prefer=l0; "
     "step",
     "+0 0:0 0:1 2:0"},
    {"preferred before the ladder: one leaf though a host would do",
     "hosts 1 gpus=8 l0=0; hosts 1 gpus=2 l0=1; hosts 1 gpus=2 l0=1; ask pods=2 gpus=2 prefer=l0; "
     "step",
     "+0 1:01 2:01"},
    {"several wishes together, then the strongest alone",
     "hosts 1 gpus=2 l0=0 l1=5; hosts 1 gpus=2 l0=0 l1=6; ask pods=2 gpus=2 prefer=l0,l1; step",
     "+0 0:01 1:01"},
    {"a wish that nobody can fulfil is no condition",
     "hosts 2 gpus=2; ask pods=2 gpus=2 prefer=host; step", "+0 0:01 1:01"},
    {"a required host", "hosts 1 gpus=1; hosts 1 gpus=3; ask pods=3 gpus=1 need=host; step",
     "+0 1:0 1:1 1:2"},
    {"a required host that is too small, at a time when two together would do",
     "hosts 2 gpus=2; ask pods=3 gpus=1 need=host; step", "-0 never_topology(topology)"},
    {"a required island",
     "hosts 1 gpus=8 shape=quads; ask gpus=1; ask pods=2 gpus=2 need=island; step",
     "+0 0:0 +1 0:45 0:67"},
    {"required levels of two chains: only where they meet",
     "hosts 2 gpus=1 l0=0 l1=5; hosts 2 gpus=1 l0=0 l1=6; hosts 3 gpus=1 l0=1 l1=5; ask pods=3 "
     "gpus=1 "
     "need=l0,l1; step",
     "+0 4:0 5:0 6:0"},
    {"they nowhere meet often enough",
     "hosts 2 gpus=1 l0=0 l1=5; hosts 2 gpus=1 l0=0 l1=6; hosts 2 gpus=1 l0=1 l1=5; ask pods=3 "
     "gpus=1 "
     "need=l0,l1; step",
     "-0 never_topology(topology)"},
    {"a host without a label is in no domain of the level",
     "hosts 1 gpus=4; hosts 1 gpus=2 l0=0; ask pods=2 gpus=1 need=l0; step", "+0 1:0 1:1"},
    {"the whole cluster is a level too", "hosts 2 gpus=1; ask pods=2 gpus=1 need=cluster; step",
     "+0 0:0 1:0"},
    {"a pod without GPUs that must be in an island: nothing to be in it with",
     "hosts 1 gpus=4 cpu=9 shape=quads; ask pods=2 cpu=3 need=host; step", "+0 0:- 0:-"},
    {"all or none: one too few takes nothing from the next",
     "hosts 1 gpus=4; ask pods=5 gpus=1; ask pods=4 gpus=1; step",
     "-0 never_size +1 0:0 0:1 0:2 0:3"},
    {"another policy asks no ladder: first fit takes what comes",
     "config scorer=first-fit; hosts 1 gpus=1; hosts 1 gpus=2; ask pods=2 gpus=1; step",
     "+0 1:0 1:1"},
    {"CPU counts per pod", "hosts 2 gpus=4 cpu=10; ask pods=3 gpus=1 cpu=5; step",
     "+0 0:0 0:1 1:0"},
    {"memory, pods and extras do as well",
     "hosts 2 gpus=4 mem=10; hosts 1 gpus=4 pods=1; hosts 1 gpus=4 extra=4 extra1=9; ask pods=4 "
     "gpus=1 "
     "mem=10 extra=4; step",
     "+0 0:0 1:0 2:0 3:0"},
    {"links choose the devices inside the host",
     "hosts 1 gpus=8 shape=pairs; ask gpus=1; ask pods=2 gpus=2; step", "+0 0:0 +1 0:23 0:45"},
};

static const struct row elastic_row[] = {
    {"all, if all fit", "hosts 1 gpus=4; ask pods=4 min=1 gpus=1; step", "+0 0:0 0:1 0:2 0:3"},
    {"else as many as fit", "hosts 1 gpus=3; ask pods=8 min=2 gpus=1; step", "+0 0:0 0:1 0:2"},
    {"but never below the minimum", "hosts 1 gpus=3; ask gpus=2; ask pods=8 min=2 gpus=1; step",
     "+0 0:01 -1 shortage(busy)"},
    {"as many as the largest domain holds",
     "hosts 2 gpus=1 l0=0; hosts 3 gpus=1 l0=1; ask pods=8 min=2 gpus=1 need=l0; step",
     "+0 2:0 3:0 4:0"},
    {"the minimum in one domain, though the cluster has more",
     "hosts 2 gpus=1 l0=0; hosts 2 gpus=1 l0=1; ask pods=4 min=3 gpus=1 need=l0; step",
     "-0 never_topology(topology)"},
    {"a minimum of none still asks for one pod",
     "hosts 1 gpus=1; ask gpus=1; ask pods=2 min=0 gpus=1; step", "+0 0:0 -1 shortage(busy)"},
    {"a minimum of none takes what there is", "hosts 1 gpus=1; ask pods=2 min=0 gpus=1; step",
     "+0 0:0"},
};

static const struct row slice_row[] = {
    {"slices of two per host: a third place on a host is no use",
     "hosts 3 gpus=3; ask pods=4 gpus=1 slice=2@host; step", "+0 0:0 0:1 1:0 1:1"},
    {"too few whole slices now",
     "hosts 2 gpus=3; ask gpus=2 need=host; ask pods=4 gpus=1 slice=2@host; step",
     "+0 0:01 -1 scattered(busy topology)"},
    {"too few even when empty", "hosts 3 gpus=1; ask pods=2 gpus=1 slice=2@host; step",
     "-0 never_topology(topology)"},
    {"slices per leaf: whole ones, leaf by leaf",
     "hosts 3 gpus=1 l0=0; hosts 2 gpus=1 l0=1; ask pods=4 gpus=1 slice=2@l0; step",
     "+0 0:0 1:0 3:0 4:0"},
    {"the leaf that holds the rest with the least room over",
     "hosts 4 gpus=1 l0=0; hosts 2 gpus=1 l0=1; ask pods=2 gpus=1 slice=2@l0; step", "+0 4:0 5:0"},
    {"hosts without the label hold no slice",
     "hosts 4 gpus=1; hosts 2 gpus=1 l0=1; ask pods=4 min=2 gpus=1 slice=2@l0; step", "+0 4:0 5:0"},
    {"slices per leaf inside one spine",
     "hosts 2 gpus=1 l0=0 l1=8; hosts 1 gpus=1 l0=1 l1=8; hosts 2 gpus=1 l0=2 l1=9; hosts 2 gpus=1 "
     "l0=3 "
     "l1=9; ask pods=4 gpus=1 need=l1 slice=2@l0; step",
     "+0 3:0 4:0 5:0 6:0"},
    {"slices per island: half an island in use holds none",
     "hosts 1 gpus=8 shape=quads; ask gpus=1; ask pods=4 min=2 gpus=2 slice=2@island; step",
     "+0 0:0 +1 0:45 0:67"},
    {"slices per island: all of the host",
     "hosts 1 gpus=8 shape=quads; ask pods=4 gpus=2 slice=2@island; step",
     "+0 0:01 0:23 0:45 0:67"},
    {"slices per island: CPU for one slice only",
     "hosts 1 gpus=8 cpu=3 shape=quads; ask pods=4 min=2 gpus=2 cpu=1 slice=2@island; step",
     "+0 0:01 0:23"},
    {"an unknown inside has no islands",
     "hosts 1 gpus=8; hosts 1 gpus=8 shape=void; ask pods=2 gpus=2 slice=2@island; step",
     "-0 never_topology(topology)"},
    {"slices of the cluster: a multiple of the size",
     "hosts 5 gpus=1; ask pods=6 min=2 gpus=1 slice=2@cluster; step", "+0 0:0 1:0 2:0 3:0"},
    {"only whole slices run: of five pods four",
     "hosts 1 gpus=8; ask pods=5 min=4 gpus=1 slice=2@host; step", "+0 0:0 0:1 0:2 0:3"},
    {"a minimum is rounded up to whole slices",
     "hosts 1 gpus=3; ask pods=4 min=3 gpus=1 slice=2@host; step", "-0 never_topology(topology)"},
    {"a minimum beyond the whole slices asked can never be met",
     "hosts 1 gpus=8; ask pods=3 gpus=1 slice=2@host; step", "-0 never_topology(topology)"},
    {"a slice of one pod keeps the pod inside its part",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; ask gpus=2 slice=1@island; ask gpus=1; step",
     "+0 0:0 +1 0:23 +2 0:1"},
};

static const struct row share_row[] = {
    {"pods of a gang may share a card", "hosts 1 gpus=2; ask pods=2 gpus=1 milli=300; step",
     "+0 0:0 0:0"},
    {"unless they must not", "hosts 1 gpus=2; ask pods=2 gpus=1 milli=300 apart; step",
     "+0 0:0 0:1"},
    {"apart on too few cards: topology", "hosts 1 gpus=2; ask pods=3 gpus=1 milli=300 apart; step",
     "-0 never_topology(topology)"},
    {"apart on two hosts", "hosts 2 gpus=2; ask pods=3 gpus=1 milli=300 apart; step",
     "+0 0:0 0:1 1:0"},
    {"apart, beside the shares of others",
     "hosts 1 gpus=2; ask gpus=1 milli=500; ask pods=2 gpus=1 milli=500 apart; step",
     "+0 0:0 +1 0:0 0:1"},
    {"three of 400 need two cards", "hosts 1 gpus=2; ask pods=3 gpus=1 milli=400; step",
     "+0 0:0 0:0 0:1"},
    {"memory shares add up exactly: three thirds",
     "hosts 1 gpus=1 gpumem=3000; ask pods=3 gpus=1 mib=1000; step", "+0 0:0 0:0 0:0"},
    {"and one MiB more does not fit",
     "hosts 1 gpus=1 gpumem=3000; ask pods=2 gpus=1 mib=1000; ask gpus=1 mib=1001; step",
     "+0 0:0 0:0 -1 shortage(busy)"},
    {"compute and memory shares add up on one card",
     "hosts 1 gpus=1 gpumem=1000; ask gpus=1 milli=500; ask gpus=1 mib=501; ask gpus=1 mib=500; "
     "step",
     "+0 0:0 -1 shortage(busy) +2 0:0"},
    {"no memory size known: no memory shares", "hosts 1 gpus=1; ask gpus=1 mib=1; step",
     "-0 never_size"},
    {"a card with shares is no whole card", "hosts 1 gpus=1; ask gpus=1 milli=1; ask gpus=1; step",
     "+0 0:0 -1 shortage(busy)"},
    {"MIG: legal slots of one card, then the next",
     "hosts 1 gpus=2; mig 3 model=0 starts=11 slots=4 of=8; ask pods=3 gpus=1 mig=3; step",
     "+0 0:0/0 0:0/4 0:1/0"},
    {"MIG: seven of one slot",
     "hosts 1 gpus=1; mig 1 model=0 starts=7f slots=1 of=8; ask pods=7 gpus=1 "
     "mig=1; ask gpus=1 mig=1; step",
     "+0 0:0/0 0:0/1 0:0/2 0:0/3 0:0/4 0:0/5 0:0/6 -1 shortage(busy)"},
    {"MIG: two profiles on one card",
     "hosts 1 gpus=1; mig 1 model=0 starts=7f slots=1 of=8; mig 3 model=0 starts=11 slots=4 of=8; "
     "ask "
     "gpus=1 mig=1; ask gpus=1 mig=3; ask gpus=1 mig=3; step",
     "+0 0:0/0 +1 0:0/4 -2 shortage(busy)"},
    {"a cut card holds nothing else, a shared one is not cut",
     "hosts 1 gpus=2; mig 3 model=0 starts=11 slots=4 of=8; ask gpus=1 mig=3; ask gpus=1 "
     "milli=100; ask "
     "gpus=1; ask gpus=1 mig=3; step",
     "+0 0:0/0 +1 0:1 -2 shortage(busy) +3 0:0/4"},
    {"a model that cannot be cut so",
     "hosts 1 gpus=1 model=1; mig 3 model=0 starts=11 slots=4 of=8; ask gpus=1 mig=3; step",
     "-0 never_size"},
    {"MIG apart",
     "hosts 1 gpus=2; mig 3 model=0 starts=11 slots=4 of=8; ask pods=2 gpus=1 mig=3 apart; "
     "step",
     "+0 0:0/0 0:1/0"},
    {"a failed card takes no share",
     "hosts 1 gpus=2; device 0 0 down; ask pods=2 gpus=1 milli=500; step", "+0 0:1 0:1"},
};

static void test_equal(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(equal_row); n++)
        bad += check(&equal_row[n]);
    assert_int_equal(bad, 0);
}

static void test_elastic(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(elastic_row); n++)
        bad += check(&elastic_row[n]);
    assert_int_equal(bad, 0);
}

static void test_slices(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(slice_row); n++)
        bad += check(&slice_row[n]);
    assert_int_equal(bad, 0);
}

static void test_shares(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(share_row); n++)
        bad += check(&share_row[n]);
    assert_int_equal(bad, 0);
}

static struct world w;

/* The smallest scope of the ladder that contains the gang stands in the plan. */
static void test_scope(void **state)
{
    static const struct {
        const char *why, *script;
        unsigned scope, pods;
    } row[] = {
        {"one pod: its host", "hosts 1 gpus=1; ask gpus=1; step", SCOPE_OF_HOST, 1},
        {"one host", "hosts 1 gpus=2; ask pods=2 gpus=1; step", SCOPE_OF_HOST, 2},
        {"one leaf", "hosts 2 gpus=1 l0=0; ask pods=2 gpus=1; step", SCOPE_OF_LEVEL, 2},
        {"one spine", "hosts 1 gpus=1 l0=0 l3=9; hosts 1 gpus=1 l0=1 l3=9; ask pods=2 gpus=1; step",
         SCOPE_OF_LEVEL + 3, 2},
        {"the cluster", "hosts 2 gpus=1; ask pods=2 gpus=1; step", SCOPE_OF_CLUSTER, 2},
        {"unlike pods on one host", "hosts 1 gpus=3; ask gpus=1 + gpus=2; step", SCOPE_OF_HOST, 2},
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, w.s.decision_count, 1);
        CHECK_INT(row[n].why, w.s.decision[0].plan.scope, row[n].scope);
        CHECK_INT(row[n].why, w.s.decision[0].plan.pods, row[n].pods);
        world_close(&w);
    }
}

/* The plan of one pod names the best host and the best other one; a gang's names none. */
static void test_second(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "config scorer=first-fit; hosts 3 gpus=1; ask gpus=1; step");
    assert_int_equal(w.s.decision[0].plan.best.host, 0);
    assert_int_equal(w.s.decision[0].plan.second.host, 1);
    assert_int_equal(w.s.decision[0].plan.best.term_count, 1);
    assert_int_equal(w.s.decision[0].plan.second.term_count, 1);
    world_say(&w, "ask pods=2 gpus=1; step");
    assert_int_equal(w.s.decision[0].plan.best.host, ROW_NONE);
    assert_int_equal(w.s.decision[0].plan.second.host, ROW_NONE);
    world_say(&w, "end 0; ask gpus=1; step");
    assert_int_equal(w.s.decision[0].plan.best.host, 0);
    assert_int_equal(w.s.decision[0].plan.second.host, ROW_NONE);
    world_close(&w);
}

/* A plan that is rolled back leaves no trace. */
static void test_rollback(void **state)
{
    static const char *const ask[] = {
        "ask gpus=1",
        "ask pods=3 gpus=2",
        "ask pods=4 gpus=1 milli=500",
        "ask gpus=4 + pods=2 gpus=1",
        "ask pods=3 gpus=1 mig=3",
        "ask pods=9 gpus=8",
        "ask cpu=3 + gpus=1 milli=300",
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(ask); n++) {
        struct plan plan;
        struct view v;
        uint64_t digest;

        world_open(&w, NULL);
        world_say(
            &w,
            "mig 3 model=0 starts=11 slots=4 of=8; hosts 3 gpus=4 shape=pairs l0=0; ask gpus=1; "
            "step");
        world_say(&w, ask[n]);
        digest = sched_digest(&w.s);
        v = world_view(&w, 1);
        model_begin(w.s.m);
        assert_int_equal(gang_plan(w.s.m, &v, &plan) == VERDICT_FITS, n != 5);
        model_rollback(w.s.m);
        assert_true(sched_digest(&w.s) == digest);
        assert_true(world_valid(&w));
        v = world_view(&w, 1);
        assert_int_equal(gang_fits(&v) == VERDICT_FITS, n != 5);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),    cmocka_unit_test(test_elastic),
        cmocka_unit_test(test_slices),   cmocka_unit_test(test_shares),
        cmocka_unit_test(test_scope),    cmocka_unit_test(test_second),
        cmocka_unit_test(test_rollback),
    };

    return cmocka_run_group_tests_name("gang", tests, NULL, NULL);
}
