/* job_test.c - jobs, podsets and teams: what they ask, hold and are owed */
#include "core/model/job.h"

#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

static const struct job *job_of(uint32_t key)
{
    return job_row(w.s.m, index_job_find(w.s.m, key));
}

#define KINDS                                                                                      \
    "mig 1 model=0 starts=7f slots=1 of=8; mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=8 "  \
    "gpumem=1000; hosts 1 gpus=8 model=1; hosts 1 gpus=8 model=2 gpumem=3; "

/* GPUs in milli: of one pod on each of three kinds, of the gang and of its minimum. */
static const struct {
    const char *why, *ask;
    int64_t pod[3], gang, least;
} milli_row[] = {
    {"no GPUs", "ask cpu=1", {0, 0, 0}, 0, 0},
    {"one", "ask gpus=1", {1000, 1000, 1000}, 1000, 1000},
    {"eight, three pods", "ask pods=3 gpus=8", {8000, 8000, 8000}, 24000, 24000},
    {"elastic", "ask pods=3 min=1 gpus=2", {2000, 2000, 2000}, 6000, 2000},
    {"a share", "ask pods=3 gpus=1 milli=470", {470, 470, 470}, 1410, 1410},
    {"a memory share: of the first kind that has memory",
     "ask gpus=1 mib=250",
     {250, 0, 83333},
     250,
     250},
    {"a memory share of an allowed model only: none",
     "ask gpus=1 mib=250 class=2",
     {250, 0, 83333},
     0,
     0},
    {"a profile: of the first kind that can be cut so",
     "ask pods=2 gpus=1 mig=3",
     {500, 0, 0},
     1000,
     1000},
    {"a profile that nobody has", "ask gpus=1 mig=9", {0, 0, 0}, 0, 0},
    {"an eighth", "ask gpus=1 mig=1", {125, 0, 0}, 125, 125},
    {"all podsets together",
     "ask gpus=1 + pods=2 min=1 gpus=4 + pods=5 cpu=1",
     {1000, 1000, 1000},
     9000,
     5000},
};

static void test_milli(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(milli_row); n++) {
        world_open(&w, NULL);
        world_say(&w, KINDS);
        world_say(&w, milli_row[n].ask);
        for (uint32_t k = 0; k < 3; k++)
            CHECK_INT(milli_row[n].why, podset_milli(w.s.m, world_podset(&w, 0, 0), k),
                      milli_row[n].pod[k]);
        CHECK_INT(milli_row[n].why, job_of(0)->gang_milli, milli_row[n].gang);
        CHECK_INT(milli_row[n].why, job_least_milli(w.s.m, index_job_find(w.s.m, 0)),
                  milli_row[n].least);
        world_close(&w);
    }
}

/* Counters for the rows that a batch may need, and for claims about free GPUs. */
static const struct {
    const char *why, *script;
    uint32_t waiting_pods, gang_pods_max, inexact;
} count_row[] = {
    {"nobody", "hosts 1 gpus=8", 0, 0, 0},
    {"pods of all podsets wait", "ask pods=3 gpus=1 + pods=4 cpu=1", 7, 7, 0},
    {"they started", "hosts 1 gpus=8; ask pods=3 gpus=1; step", 0, 3, 0},
    {"they stopped", "hosts 1 gpus=8; ask pods=3 gpus=1; step; stop 0", 3, 3, 0},
    {"they ended", "hosts 1 gpus=8; ask pods=3 gpus=1; step; end 0", 0, 3, 0},
    {"cancelled while waiting", "ask pods=3 gpus=1; end 0", 0, 3, 0},
    {"the largest gang so far counts", "ask pods=3 gpus=1; ask pods=2 gpus=1; end 0", 2, 3, 0},
    {"memory shares and slices are inexact", "ask gpus=1 mib=1 + gpus=1 mig=1 + gpus=1 milli=5", 3,
     3, 2},
    {"until they are gone", "ask gpus=1 mib=1 + gpus=1 mig=1; end 0", 0, 2, 0},
    {"dropped for good", "config drop; hosts 1 gpus=1; ask pods=2 gpus=1; step", 0, 2, 0},
};

static void test_counters(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(count_row); n++) {
        world_open(&w, NULL);
        world_say(&w, count_row[n].script);
        CHECK_INT(count_row[n].why, config_row(w.s.m)->waiting_pods, count_row[n].waiting_pods);
        CHECK_INT(count_row[n].why, config_row(w.s.m)->gang_pods_max, count_row[n].gang_pods_max);
        CHECK_INT(count_row[n].why, config_row(w.s.m)->inexact_podsets, count_row[n].inexact);
        world_close(&w);
    }
}

/* What teams 0, 1 and 2 hold; 1 and 2 stand below 0. */
static const struct {
    const char *why, *script;
    int64_t held[3];
} held_row[] = {
    {"nothing", "ask gpus=2 team=1", {0, 0, 0}},
    {"a run counts up to the top", "ask gpus=2 team=1; step", {2000, 2000, 0}},
    {"two teams", "ask gpus=2 team=1; ask gpus=1 milli=300 team=2; step", {2300, 2000, 300}},
    {"an elastic gang holds what it got", "ask pods=20 min=1 gpus=1 team=2; step", {8000, 0, 8000}},
    {"the parent's own", "ask gpus=3 team=0; step", {3000, 0, 0}},
    {"given back", "ask gpus=2 team=1; step; end 0", {0, 0, 0}},
    {"stopped", "ask gpus=2 team=1; step; stop 0", {0, 0, 0}},
    {"limits that change keep what is held",
     "ask gpus=2 team=1; step; team 1 parent=0 limit=1",
     {2000, 2000, 0}},
    {"a team that moves takes what it holds with it",
     "ask gpus=2 team=1; ask gpus=1 team=2; step; team 1 parent=2",
     {3000, 2000, 3000}},
    {"a team that leaves its parent", "ask gpus=2 team=1; step; team 1", {0, 2000, 0}},
    {"a team that moves, and its job ends",
     "ask gpus=2 team=1; step; team 1 parent=2; end 0",
     {0, 0, 0}},
};

static void test_held(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(held_row); n++) {
        world_open(&w, NULL);
        world_say(&w, "team 0; team 1 parent=0; team 2 parent=0; hosts 1 gpus=8");
        world_say(&w, held_row[n].script);
        for (uint32_t t = 0; t < 3; t++)
            CHECK_INT(held_row[n].why, team_row(w.s.m, t)->held_milli, held_row[n].held[t]);
        world_close(&w);
    }
}

static const struct {
    const char *why;
    uint32_t team;
    int64_t milli;
    bool allows;
    uint32_t stopper;
} allow_row[] = {
    {"no team: no limit", ROW_NONE, 1000000, true, 9},
    {"exactly", 2, 2000, true, 9},
    {"its own limit", 2, 2001, false, 2},
    {"the parent's", 1, 7001, false, 0},
    {"the parent's, exactly", 1, 7000, true, 9},
    {"nothing asked", 2, 0, true, 9},
};

static void test_allows(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "team 0 limit=8000; team 1 parent=0 limit=20000; team 2 parent=1 limit=3000; "
                  "hosts 1 gpus=8; "
                  "ask gpus=1 team=2; step");
    for (unsigned n = 0; n < ROWS(allow_row); n++) {
        uint32_t stopper = 9;

        CHECK_INT(allow_row[n].why,
                  team_allows(w.s.m, allow_row[n].team, allow_row[n].milli, &stopper),
                  allow_row[n].allows);
        CHECK_INT(allow_row[n].why, stopper, allow_row[n].stopper);
    }
    world_close(&w);
}

/* Rows of jobs and podsets are used again; keys are not mistaken for them. */
static void test_reuse(void **state)
{
    uint32_t job, podset;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "ask gpus=1 + gpus=2; ask gpus=3");
    job = index_job_find(w.s.m, 0);
    podset = job_of(0)->podset_head;
    world_say(&w, "end 0; ask gpus=4 + gpus=5 + gpus=6");
    assert_int_equal(index_job_find(w.s.m, 0), ROW_NONE);
    assert_int_equal(index_job_find(w.s.m, 2), job);
    assert_int_equal(world_podset(&w, 2, 0)->gpus, 4);
    assert_int_equal(world_podset(&w, 2, 2)->gpus, 6);
    assert_int_equal(world_podset(&w, 2, 2)->next, ROW_NONE);
    assert_true(job_of(2)->podset_head <= podset + 1);
    assert_int_equal(world_podset(&w, 1, 0)->gpus, 3);
    assert_int_equal(model_head(w.s.m, TABLE_JOB)->live, 2);
    assert_int_equal(model_head(w.s.m, TABLE_PODSET)->live, 4);
    world_close(&w);
}

/* All that the ask says stands in the rows. */
static void test_add(void **state)
{
    const struct podset *p;
    const struct job *j;

    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "team 0; at 40; ask submit=30 est=70 prio=-5 team=0 need=host,l1 prefer=l0,island apart "
        "pods=6 min=2 gpus=1 milli=250 cpu=3 mem=4 extra=5 extra1=6 class=1 in=l2 slice=2@numa");
    j = job_of(0);
    p = world_podset(&w, 0, 0);
    assert_int_equal(j->submit_ns, 30);
    assert_int_equal(j->est_ns, 70);
    assert_true(j->priority == -5);
    assert_int_equal(j->team, 0);
    assert_true(j->required == (SCOPE_BIT(SCOPE_OF_HOST) | SCOPE_BIT(SCOPE_OF_LEVEL + 1)));
    assert_int_equal(j->preferred_count, 2);
    assert_int_equal(j->preferred[0], SCOPE_OF_LEVEL);
    assert_int_equal(j->preferred[1], SHAPE_ISLAND);
    assert_int_equal(j->flags, 0);
    assert_int_equal(j->pods, 6);
    assert_int_equal(j->state, JOB_WAITING);
    assert_int_equal(p->pods_min, 2);
    assert_int_equal(p->milli, 250);
    assert_int_equal(p->cpu_milli, 3);
    assert_int_equal(p->mem_mib, 4);
    assert_int_equal(p->extra[0], 5);
    assert_int_equal(p->extra[1], 6);
    assert_int_equal(p->class_id, 1);
    assert_true(p->required == SCOPE_BIT(SCOPE_OF_LEVEL + 2));
    assert_int_equal(p->slice_pods, 2);
    assert_int_equal(p->slice_scope, SHAPE_NUMA);
    world_close(&w);
}

static void test_tell(void **state)
{
    static const struct told told = {.code = 3, .binding = 5, .known = 1};
    uint32_t job;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=1; ask gpus=1");
    job = index_job_find(w.s.m, 0);
    model_begin(w.s.m);
    job_tell(w.s.m, job, &told);
    assert_memory_equal(&job_of(0)->told, &told, sizeof(told));
    host_take(w.s.m, 0, job, job_of(0)->podset_head, 0, 1, 0, GRADE_PLANNED);
    job_run(w.s.m, job);
    assert_int_equal(job_of(0)->told.known, 0);
    assert_int_equal(job_of(0)->state, JOB_RUNNING);
    expect_assert_failure(job_run(w.s.m, job));
    world_close(&w);
}

static void test_valid(void **state)
{
    uint32_t job;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=4; ask gpus=1 + gpus=1; step; ask gpus=1; step");
    job = index_job_find(w.s.m, 0);
    assert_true(job_valid(w.s.m, job));
#define SPOILT(change)                                                                             \
    do {                                                                                           \
        model_begin(w.s.m);                                                                        \
        struct job *j = model_edit(w.s.m, TABLE_JOB, job);                                         \
                                                                                                   \
        (void)j;                                                                                   \
        change;                                                                                    \
        assert_false(job_valid(w.s.m, job));                                                       \
        model_rollback(w.s.m);                                                                     \
        assert_true(job_valid(w.s.m, job));                                                        \
    } while (0)
    SPOILT(j->podsets = 1);
    SPOILT(j->pods = 1);
    SPOILT(((struct seat *)model_edit(w.s.m, TABLE_SEAT, j->seat_head))->job = job + 1);
    SPOILT(j->key = 99);
#undef SPOILT
    world_close(&w);
}

static void test_misuse(void **state)
{
    static struct job_spec spec;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "team 0");
    model_begin(w.s.m);
    expect_assert_failure(team_put(w.s.m, 0, 0, 0, 0));
    expect_assert_failure(job_add(w.s.m, &spec)); /* no podsets */
    spec.podset_count = PODSETS_MAX + 1;
    expect_assert_failure(job_add(w.s.m, &spec));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_milli),  cmocka_unit_test(test_counters),
        cmocka_unit_test(test_held),   cmocka_unit_test(test_allows),
        cmocka_unit_test(test_reuse),  cmocka_unit_test(test_add),
        cmocka_unit_test(test_tell),   cmocka_unit_test(test_valid),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("job", tests, NULL, NULL);
}
