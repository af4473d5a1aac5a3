/* apply_test.c - facts onto the model, and facts that make no sense
 *
 * The world, in the language of tests/kit/world.h: two hosts of four GPUs in pairs; job 0 runs on
 * device 0 of host 0, job 1 asks for two pods of two GPUs, job 2 for a share, job 3 for a MIG
 * slice, job 4 has two podsets.
 */
#include "core/engine/apply.h"

#include "core/base/hash.h"
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

static void open_world(void)
{
    world_open(&w, NULL);
    world_say(
        &w,
        "mig 3 model=0 starts=11 slots=4 of=8; team 0; team 1 parent=0; level 0 0 0; domain 0 0 "
        "4294967295; level 1 0 1; domain 1 1 4294967295; hosts 2 gpus=4 cpu=100 gpumem=1000 "
        "shape=pairs l0=0; ask gpus=1; step; ask pods=2 gpus=2; ask pods=2 gpus=1 milli=600; "
        "ask pods=3 gpus=1 mig=3; ask pods=2 gpus=1 + pods=1 gpus=2");
    assert_string_equal(w.said, "+0 0:0");
}

/* All rows but the counters of config. */
static uint64_t facts(void)
{
    uint64_t sum = 0;

    for (unsigned t = 1; t < TABLE_COUNT; t++)
        for (uint32_t id = 0; id < model_count(w.s.m, (enum table)t); id++)
            sum += hash_words(model_row(w.s.m, (enum table)t, id), w.s.m->store[t].row_bytes / 8,
                              (uint64_t)t << 32 | id);
    return sum;
}

/* Text whose last command makes no sense in that world, whatever stands before it. */
static const struct {
    const char *why, *before, *bad;
} text_row[] = {
    {"a host with more devices than a mask has bits", "", "host 2 gpus=17"},
    {"a model beyond the set of models", "", "host 2 gpus=1 model=64"},
    {"less than no CPU", "", "host 2 gpus=1 cpu=-1"},
    {"less than no memory", "", "host 2 gpus=1 mem=-1"},
    {"less than no pods", "", "host 2 gpus=1 pods=-1"},
    {"less than nothing of another resource", "", "host 2 gpus=1 extra=-1"},
    {"device memory below zero", "", "host 2 gpus=1 gpumem=-1"},
    {"device memory beyond 31 bits", "", "host 2 gpus=1 gpumem=3000000000"},
    {"a host number out of all bounds", "", "host 4000000000 gpus=1"},
    {"fewer devices than what runs there sits on", "ask gpus=1; seat 5 host=1 on=3; seated 5; ",
     "host 1 gpus=3"},
    {"another model under a MIG slice", "seat 3 host=1 on=0; seated 3; ", "host 1 gpus=4 model=1"},
    {"a host that was never told of is gone", "", "gone 9"},
    {"a host with seats is gone", "", "gone 0"},
    {"a host that is gone is gone again", "gone 1; ", "gone 1"},
    {"the state of a host that is not there", "", "state 9 up"},
    {"absent is no state to be told", "", "state 0 absent"},
    {"a state that is none", "", "state 0 odd"},
    {"the departure of a host that is not there", "", "leave 9 5"},
    {"a device of a host that is not there", "", "device 9 0 down"},
    {"a device that the host lacks", "", "device 0 4 down"},
    {"a device state that is none", "", "device 0 0 odd"},
    {"an identity on a host that is not there", "", "uuid 9 0 1"},
    {"an identity of a device that is not there", "", "uuid 0 4 1"},
    {"a thirteenth level", "", "level 12 0 0"},
    {"a domain of a level beyond the last", "", "domain 2 12 4294967295"},
    {"a domain number out of all bounds", "", "domain 4000000000 0 4294967295"},
    {"a parent out of all bounds", "", "domain 2 0 4000000000"},
    {"a profile told twice", "", "mig 3 model=0 starts=1 slots=1 of=8"},
    {"a profile without slots", "", "mig 4 model=0 starts=1 slots=0 of=8"},
    {"a profile longer than the device", "", "mig 4 model=0 starts=1 slots=9 of=8"},
    {"a device of more slots than a word has bits", "", "mig 4 model=0 starts=1 slots=1 of=33"},
    {"a profile of a model that cannot be", "", "mig 4 model=64 starts=1 slots=1 of=8"},
    {"a class out of all bounds", "", "class 4000000000 models=1"},
    {"a row of the mix beyond its rows", "", "mix 3 of=3 gpus=1"},
    {"a row of an empty mix", "", "mix 0 of=0 gpus=1"},
    {"more rows of the mix than any mix has", "", "mix 0 of=4000000000 gpus=1"},
    {"a mix that asks more than a device", "", "mix 0 of=1 gpus=1 milli=1001"},
    {"a mix that asks more devices than a host has", "", "mix 0 of=1 gpus=17"},
    {"a mix too popular to be counted", "", "mix 0 of=1 gpus=1 count=16777217"},
    {"a mix that asks less than no CPU", "", "mix 0 of=1 gpus=1 cpu=-1"},
    {"the price of a model that cannot be", "", "price 64 1"},
    {"a price out of all bounds", "", "price 0 4611686018427387904"},
    {"a limit below zero", "", "team 2 limit=-1"},
    {"a parent that nobody told of", "", "team 2 parent=7"},
    {"a team that is its own parent", "", "team 1 parent=1"},
    {"teams in a ring", "", "team 0 parent=1"},
    {"a team out of all bounds", "", "team 4000000000"},
    {"a job of a team that nobody told of", "", "ask gpus=1 team=7"},
    {"an estimate below none", "", "ask gpus=1 est=-2"},
    {"submitted before time began", "", "ask gpus=1 submit=-1"},
    {"no pods", "", "ask pods=0 gpus=1"},
    {"a minimum above the pods", "", "ask pods=2 min=3 gpus=1"},
    {"a million and one pods", "", "ask pods=1048577"},
    {"more devices than any host has", "", "ask gpus=17"},
    {"a class that nobody told of", "", "ask gpus=1 class=9"},
    {"asks less than no CPU", "", "ask cpu=-1"},
    {"asks less than no memory", "", "ask mem=-1"},
    {"asks less than nothing of another resource", "", "ask extra1=-1"},
    {"asks more CPU than a sum can hold", "", "ask cpu=4611686018427387904"},
    {"slices larger than the set", "", "ask pods=2 gpus=1 slice=3@host"},
    {"a share of nothing", "", "ask gpus=1 milli=0"},
    {"a share of more than a device", "", "ask gpus=1 milli=1001"},
    {"a way without a set before it", "", "ask way gpus=1"},
    {"a way for pods in slices", "", "ask pods=2 gpus=1 slice=2@host + way gpus=2"},
    {"a pod that the job lacks is done", "", "done 1 7"},
    {"a pod that waits is lost", "", "lose 1 0"},
    {"the only pod is done", "ask gpus=1; ", "done 5 0"},
    {"all pods are done one by one", "done 1 0; ", "done 1 1"},
    {"a share of no device", "", "ask gpus=0 milli=500"},
    {"a share in two ways", "", "ask gpus=1 milli=500 mib=5"},
    {"a share in two other ways", "", "ask gpus=1 mib=5 mig=3"},
    {"a memory share of no device", "", "ask gpus=0 mib=5"},
    {"a profile of two devices", "", "ask gpus=2 mig=3"},
    {"more memory than a device can have", "", "ask gpus=1 mib=3000000000"},
    {"the second podset is the bad one", "", "ask gpus=1 + gpus=17"},
    {"changes of a job that nobody knows", "", "set 99 prio=1"},
    {"an estimate changed to below none", "", "set 1 est=-2"},
    {"a seat of a job that nobody knows", "", "seat 99 host=0 on=1"},
    {"a seat of a job that runs", "", "seat 0 host=0 on=1"},
    {"a seat on a host that is not there", "", "seat 1 host=9 on=01"},
    {"a pod that the job lacks", "", "seat 1 pod=2 host=1 on=01"},
    {"a podset that the job lacks", "", "seat 1 podset=1 host=1 on=01"},
    {"a pod of another podset", "", "seat 4 podset=1 pod=0 host=1 on=01"},
    {"a pod that is seated already", "seat 1 pod=0 host=1 on=01; ", "seat 1 pod=0 host=1 on=23"},
    {"fewer devices than asked", "", "seat 1 host=1 on=0"},
    {"more devices than asked", "", "seat 1 host=1 on=012"},
    {"a device that the host lacks", "", "seat 1 host=1 on=34"},
    {"a device that somebody holds", "", "seat 1 host=0 on=01"},
    {"a share on a device that somebody holds whole", "", "seat 2 host=0 on=0"},
    {"a whole device on which a share sits", "seat 2 host=1 on=0; ", "seat 1 host=1 on=01"},
    {"shares beyond the device", "seat 2 host=1 on=0; ", "seat 2 pod=1 host=1 on=0"},
    {"a slice on a shared device", "seat 2 host=1 on=0; ", "seat 3 host=1 on=0"},
    {"a share on a cut device", "seat 3 host=1 on=0; ", "seat 2 host=1 on=0"},
    {"a whole cut device", "seat 3 host=1 on=0; ", "seat 1 host=1 on=01"},
    {"a slice on slots in use", "seat 3 host=1 on=0; ", "seat 3 pod=1 host=1 on=0 slot=3"},
    {"a slice beyond the last slot", "", "seat 3 host=1 on=0 slot=5"},
    {"a slice of a model that cannot be cut so", "hosts 1 gpus=1 model=1; ", "seat 3 host=2 on=0"},
    {"a share of unknown place", "", "seat 2 host=1 on=-"},
    {"more unknown than the host has", "seat 1 pod=0 host=1 on=-; seat 1 pod=1 host=1 on=-; ",
     "seat 4 podset=1 pod=2 host=1 on=-"},
    {"all seats told of a job that nobody knows", "", "seated 99"},
    {"all seats told of a job that runs", "", "seated 0"},
    {"all seats told, and there is none", "", "seated 1"},
    {"confirmed: a job that nobody knows", "", "confirm 99 pod=0 on=0"},
    {"confirmed: a pod that is not seated", "", "confirm 0 pod=1 on=0"},
    {"confirmed: on a device that the host lacks", "", "confirm 0 pod=0 on=7"},
    {"confirmed: on more devices than asked", "", "confirm 0 pod=0 on=12"},
    {"confirmed: on a device of somebody else", "ask gpus=1; seat 5 host=0 on=1; seated 5; ",
     "confirm 0 pod=0 on=1"},
    {"confirmed: nowhere", "seat 1 pod=0 host=1 on=-; seat 1 pod=1 host=1 on=01; seated 1; ",
     "confirm 1 pod=0 on=-"},
    {"a stop of a job that nobody knows", "", "stop 99"},
    {"a stop of a job that waits", "", "stop 1"},
    {"an end of a job that nobody knows", "", "end 99"},
    {"an end told twice", "end 0; ", "end 0"},
    {"a podset without a job", "", "bare"},
};

/* A test per row. Seats may be told in several batches, so that nothing is settled in between. */
static void test_text(void **state)
{
    unsigned n = (unsigned)(uintptr_t)*state;
    uint64_t before, ignored;
    struct wire_in in;
    struct limits l;
    struct event e;

    open_world();
    ignored = config_row(w.s.m)->ignored_count;
    world_run_text(&w, text_row[n].before);
    while (sched_short(&w.s, w.bytes, w.out.size, &l))
        world_grow(&w, &l);
    in = (struct wire_in){.byte = w.bytes, .end = w.bytes + w.out.size};
    while (event_get(&in, &e))
        apply_event(w.s.m, &e, &in);
    w.out.size = 0;
    CHECK_INT(text_row[n].why, config_row(w.s.m)->ignored_count, ignored);
    before = facts();
    world_run_text(&w, text_row[n].bad);
    while (sched_short(&w.s, w.bytes, w.out.size, &l))
        world_grow(&w, &l);
    in = (struct wire_in){.byte = w.bytes, .end = w.bytes + w.out.size};
    while (event_get(&in, &e))
        if (e.kind != EVENT_LEVEL && e.kind != EVENT_DOMAIN)
            CHECK_INT(text_row[n].why, apply_event(w.s.m, &e, &in), false);
        else
            apply_event(w.s.m, &e, &in);
    w.out.size = 0;
    CHECK_INT(text_row[n].why, config_row(w.s.m)->ignored_count > ignored, true);
    CHECK_INT(text_row[n].why, facts() == before, true);
    world_close(&w);
}

/* What the language cannot say. */
static const struct {
    const char *why;
    struct event event;
} raw_row[] = {
    {"an order that is none", {.kind = EVENT_CONFIG, .config = {.order = ORDER_COUNT}}},
    {"a scorer that is none", {.kind = EVENT_CONFIG, .config = {.scorer = 99}}},
    {"neither yes nor no", {.kind = EVENT_CONFIG, .config = {.drop_never = 2}}},
    {"neither yes nor no, again", {.kind = EVENT_CONFIG, .config = {.scan_all = 2}}},
    {"a shape of too many devices", {.kind = EVENT_SHAPE, .shape = {.shape = 5, .gpus = 17}}},
    {"a shape out of all bounds", {.kind = EVENT_SHAPE, .shape = {.shape = 4000000000u}}},
    {"a shape whose matrix is not symmetric",
     {.kind = EVENT_SHAPE, .shape = {.shape = 5, .gpus = 2, .link = {0, 1}}}},
    {"a host in a domain that nobody told of",
     {.kind = EVENT_HOST, .host = {.shape = ROW_NONE, .domain = {7}}}},
    {"a host of a shape that nobody told of",
     {.kind = EVENT_HOST, .host = {.host = 2, .shape = 7}}},
    {"a job of a key that lives",
     {.kind = EVENT_JOB, .job = {.key = 1, .team = ROW_NONE, .podset_count = 0}}},
    {"a job without podsets",
     {.kind = EVENT_JOB, .job = {.key = 77, .team = ROW_NONE, .podset_count = 0}}},
    {"a job whose podsets do not follow",
     {.kind = EVENT_JOB, .job = {.key = 77, .team = ROW_NONE, .podset_count = 2}}},
    {"a scope beyond the last",
     {.kind = EVENT_JOB,
      .job = {.key = 77, .team = ROW_NONE, .required = UINT64_C(1) << SCOPE_COUNT}}},
    {"five wishes",
     {.kind = EVENT_JOB, .job = {.key = 77, .team = ROW_NONE, .preferred_count = 5}}},
    {"losses beyond the table", {.kind = EVENT_LOSS, .loss = {.row = 1000}}},
    {"a loss out of all bounds", {.kind = EVENT_LOSS, .loss = {.waste_micro = {INT64_MAX}}}},
    {"no event", {.kind = EVENT_COUNT}},
};

static void test_raw(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(raw_row); n++) {
        struct wire_in none = {.byte = w.bytes, .end = w.bytes};
        uint64_t before, ignored;

        open_world();
        before = facts();
        ignored = config_row(w.s.m)->ignored_count;
        CHECK_INT(raw_row[n].why, apply_event(w.s.m, &raw_row[n].event, &none), false);
        CHECK_INT(raw_row[n].why, config_row(w.s.m)->ignored_count, ignored + 1);
        CHECK_INT(raw_row[n].why, facts() == before, true);
        world_close(&w);
    }
}

/* A job and its podsets, the nth of them spoilt. */
static bool tell_job(struct event_job job, unsigned podsets, unsigned spoilt,
                     struct event_podset bad)
{
    uint8_t bytes[4096];
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    struct event_podset good = {.pods = 1, .pods_min = 1, .milli = MILLI_FULL, .profile = ROW_NONE};
    struct event e = {.kind = EVENT_JOB};
    struct wire_in in;
    bool done;

    e.job = job;
    for (unsigned n = 0; n < podsets; n++) {
        struct event set = {.kind = EVENT_PODSET};

        set.podset = n == spoilt ? bad : good;
        event_put(&out, &set);
    }
    in = (struct wire_in){.byte = bytes, .end = bytes + out.size};
    done = apply_event(w.s.m, &e, &in);
    assert_true(in.byte == in.end || podsets > PODSETS_MAX);
    return done;
}

static const struct {
    const char *why;
    struct event_job job;
    unsigned podsets, spoilt;
    struct event_podset bad;
    bool good;
} job_row_[] = {
    {"sixteen podsets are all there may be", {.podset_count = 16}, 16, 99, {0}, true},
    {"seventeen are too many", {.podset_count = 17}, 17, 99, {0}, false},
    {"the last of sixteen is bad", {.podset_count = 16}, 16, 15, {.milli = 1, .pods = 1}, false},
    {"together more than a million pods",
     {.podset_count = 2},
     2,
     0,
     {.pods = 1u << 20, .pods_min = 1, .milli = 1000, .profile = ROW_NONE},
     false},
    {"a wish that is no scope",
     {.podset_count = 1, .preferred_count = 1, .preferred = {SCOPE_COUNT}},
     1,
     99,
     {0},
     false},
    {"a fourth wish counts", {.podset_count = 1, .preferred_count = 4}, 1, 99, {0}, true},
    {"a slice scope that is none",
     {.podset_count = 1},
     1,
     0,
     {.pods = 1, .milli = 1000, .profile = ROW_NONE, .slice_scope = SCOPE_COUNT},
     false},
    {"a required scope beyond the last",
     {.podset_count = 1},
     1,
     0,
     {.pods = 1, .milli = 1000, .profile = ROW_NONE, .required = UINT64_C(1) << SCOPE_COUNT},
     false},
};

static void test_jobs(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(job_row_); n++) {
        struct event_job job = job_row_[n].job;
        struct limits l = sched_limits_small();

        l.rows[TABLE_PODSET] = l.rows[TABLE_CLASS] = 32;
        limits_fix(&l);
        job.team = ROW_NONE;
        world_open(&w, &l);
        CHECK_INT(job_row_[n].why,
                  tell_job(job, job_row_[n].podsets, job_row_[n].spoilt, job_row_[n].bad),
                  job_row_[n].good);
        assert_true(world_valid(&w));
        world_close(&w);
    }
}

/* A job whose podsets are missing takes no other event with it. */
static void test_missing_podset(void **state)
{
    uint64_t ignored;

    (void)state;
    open_world();
    ignored = config_row(w.s.m)->ignored_count;
    world_tell(&w, &(struct event){.kind = EVENT_JOB,
                                   .job = {.key = 50, .team = ROW_NONE, .podset_count = 1}});
    world_say(&w, "end 0");
    assert_int_equal(index_job_find(w.s.m, 0), ROW_NONE);
    assert_int_equal(config_row(w.s.m)->ignored_count, ignored + 1);
    world_close(&w);
}

/* What facts do. */
static void test_facts(void **state)
{
    const struct model *m;

    (void)state;
    open_world();
    world_say(
        &w,
        "config order=priority scorer=best-fit drop scan budget=77 seed=5; uuid 0 3 42; price 1 "
        "-9; level 2 1 4; domain 9 2 0; team 1 parent=0 limit=5; mix 0 of=2 gpus=1 count=3; mix "
        "1 of=2 gpus=1 count=4; mix 0 of=2 gpus=2 count=1; leave 1 500; set 1 prio=-3 est=7");
    m = w.s.m;
    assert_int_equal(config_row(m)->order, ORDER_PRIORITY);
    assert_string_equal(scorer_get(config_row(m)->scorer)->name, "best-fit");
    assert_int_equal(config_row(m)->drop_never, 1);
    assert_int_equal(config_row(m)->scan_all, 1);
    assert_int_equal(config_row(m)->budget_steps, 77);
    assert_int_equal(config_row(m)->seed, 5);
    assert_int_equal(board_row(m, 0)->uuid[3], 42);
    assert_true(price_row(m, 1)->scarce_micro == -9);
    assert_int_equal(level_row(m, 2)->chain, 1);
    assert_int_equal(level_row(m, 2)->rank, 4);
    assert_int_equal(domain_row(m, 9)->level, 2);
    assert_int_equal(domain_row(m, 9)->parent, 0);
    assert_int_equal(domain_row(m, 5)->used, 0);
    assert_int_equal(team_row(m, 1)->limit_milli, 5);
    assert_int_equal(mix_row(m, 0)->gpus, 2);
    assert_int_equal(config_row(m)->mix_total, 5);
    assert_int_equal(host_row(m, 1)->leave_at_ns, 500);
    assert_true(job_row(m, index_job_find(m, 1))->priority == -3);
    assert_int_equal(job_row(m, index_job_find(m, 1))->est_ns, 7);
    assert_int_equal(config_row(m)->ignored_count, 0);
    world_close(&w);
}

/* Losses and the balance of CPU and GPUs arrive whole. */
static void test_mix_tables(void **state)
{
    static const int64_t small[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    struct event e = {.kind = EVENT_LOSS, .loss = {.row = 2 * EVENT_LOSS_ROWS}};

    (void)state;
    open_world();
    e.loss.waste_micro[3] = 12;
    e.loss.broken_micro[EVENT_LOSS_ROWS - 1] = -5;
    world_tell(&w, &e);
    e = (struct event){.kind = EVENT_BALANCE};
    memcpy(&e.balance, small, sizeof(e.balance));
    world_tell(&w, &e);
    world_settle(&w);
    assert_true(model_count(w.s.m, TABLE_LOSS) > MILLI_FULL);
    assert_int_equal(loss_row(w.s.m, 2 * EVENT_LOSS_ROWS + 3)->waste_micro, 12);
    assert_int_equal(loss_row(w.s.m, 3 * EVENT_LOSS_ROWS - 1)->broken_micro, -5);
    assert_int_equal(model_count(w.s.m, TABLE_BALANCE), 1);
    assert_memory_equal(balance_row(w.s.m, 0), small, sizeof(e.balance));
    assert_int_equal(config_row(w.s.m)->ignored_count, 0);
    memset(&e.balance, 0xFF, sizeof(e.balance)); /* below zero */
    world_tell(&w, &e);
    world_settle(&w);
    assert_memory_equal(balance_row(w.s.m, 0), small, sizeof(e.balance));
    assert_int_equal(config_row(w.s.m)->ignored_count, 1);
    world_close(&w);
}

/* Time never falls. */
static void test_time(void **state)
{
    static const struct {
        int64_t at_ns, now_ns;
    } row[] = {{5, 5}, {3, 5}, {-9, 5}, {6, 6}, {6, 6}};
    struct wire_in none = {.byte = w.bytes, .end = w.bytes};

    (void)state;
    open_world();
    for (unsigned n = 0; n < ROWS(row); n++) {
        apply_event(w.s.m, &(struct event){.at_ns = row[n].at_ns, .kind = EVENT_UUID}, &none);
        assert_int_equal(config_row(w.s.m)->now_ns, row[n].now_ns);
    }
    world_close(&w);
}

/* Seats told from outside are held as if the scheduler had chosen them. */
static const struct {
    const char *why, *script;
    uint32_t host;
    unsigned whole, unknown, milli0, grade;
} seat_row_[] = {
    {"whole devices", "seat 1 pod=0 host=1 on=03; seat 1 pod=1 host=1 on=12; seated 1", 1, 0x0, 0,
     0, GRADE_KNOWN},
    {"of unknown place", "seat 1 pod=0 host=1 on=-; seat 1 pod=1 host=1 on=-; seated 1", 1, 0xF, 4,
     1000, GRADE_UNKNOWN},
    {"then confirmed",
     "seat 1 pod=0 host=1 on=-; seat 1 pod=1 host=1 on=-; seated 1; confirm 1 pod=1 on=12; confirm "
     "1 pod=0 "
     "on=03",
     1, 0x0, 0, 0, GRADE_KNOWN},
    {"confirmed where they were planned", "step; confirm 0 pod=0 on=0; end 1; end 2; end 3; end 4",
     0, 0xE, 0, 0, GRADE_KNOWN},
    {"confirmed elsewhere", "confirm 0 pod=0 on=2", 0, 0xB, 0, 1000, GRADE_KNOWN},
    {"confirmed on devices that overlap the plan",
     "seat 1 pod=0 host=1 on=01; seat 1 pod=1 host=0 on=23; seated 1; confirm 1 pod=0 on=12", 1,
     0x9, 0, 1000, GRADE_KNOWN},
    {"shares", "seat 2 pod=0 host=1 on=0; seat 2 pod=1 host=1 on=1; seated 2", 1, 0xC, 0, 400,
     GRADE_KNOWN},
    {"slices",
     "seat 3 pod=0 host=1 on=0 slot=4; seat 3 pod=1 host=1 on=0; seat 3 pod=2 host=1 on=1; seated "
     "3",
     1, 0xC, 0, 0, GRADE_KNOWN},
    {"given back at the end",
     "seat 1 pod=0 host=1 on=01; seat 1 pod=1 host=1 on=23; seated 1; end 1", 1, 0xF, 0, 1000,
     GRADE_UNKNOWN + 1},
    {"given back at a stop",
     "seat 1 pod=0 host=1 on=01; seat 1 pod=1 host=1 on=-; seated 1; stop 1", 1, 0xF, 0, 1000,
     GRADE_UNKNOWN + 1},
};

static void test_seats(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(seat_row_); n++) {
        const struct host *h;

        open_world();
        world_say(&w, seat_row_[n].script);
        h = host_row(w.s.m, seat_row_[n].host);
        if (h->whole != seat_row_[n].whole || h->unknown_gpus != seat_row_[n].unknown ||
            h->free_milli[0] != seat_row_[n].milli0 ||
            (h->seat_head != ROW_NONE &&
             seat_row(w.s.m, h->seat_head)->grade != seat_row_[n].grade)) {
            print_error("row: %s: whole %x unknown %u milli %u\n", seat_row_[n].why, h->whole,
                        h->unknown_gpus, h->free_milli[0]);
            bad++;
        }
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    static struct CMUnitTest tests[ROWS(text_row) + 7] = {
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_missing_podset),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_mix_tables),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_seats),
    };

    for (unsigned n = 0; n < ROWS(text_row); n++)
        tests[n + 7] = (struct CMUnitTest){
            .name = text_row[n].why, .test_func = test_text, .initial_state = (void *)(uintptr_t)n};
    return cmocka_run_group_tests_name("apply", tests, NULL, NULL);
}
