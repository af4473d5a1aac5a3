/* sched_test.c - histories of one line, and the decisions they lead to
 *
 * The language is that of tests/kit/world.h: facts, `step`, and decisions joined by "|". Every row
 * runs twice, from the smallest tables that grow as the scheduler asks and from ample ones, and
 * must give the same decisions and the same digest.
 */
#include "core/engine/sched.h"

#include <stdio.h>

#include "core/base/must.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* So many rows that nothing ever grows. */
static struct limits ample(void)
{
    struct limits l = {
        .undo_rows = 20000, .cells = 2000, .seats_out = 4000, .decisions = 4000, .depth = 8000};

    for (unsigned t = 0; t < TABLE_COUNT; t++)
        l.rows[t] = t == TABLE_SHAPE ? 40 : 4000;
    l.rows[TABLE_KIND] = 400;
    l.rows[TABLE_PRICE] = MODELS_MAX;
    l.rows[TABLE_BALANCE] = 4;
    limits_fix(&l);
    return l;
}

struct row {
    const char *why, *script, *want;
};

static const struct row queue_row[] = {
    {"nothing happens: nothing is said", "hosts 1 gpus=8; step; step", ""},
    {"a pod takes what is there, and what is not is refused once",
     "hosts 1 gpus=2; ask gpus=2; ask gpus=1; step; step; step", "+0 0:01 -1 shortage(busy)||"},
    {"an end makes room in the same step",
     "hosts 1 gpus=2; ask gpus=2; step; ask gpus=2; end 0; step", "+0 0:01|+1 0:01"},
    {"first come, first served; what does not fit is passed over",
     "hosts 1 gpus=4; ask gpus=3; ask gpus=2; ask gpus=1; step",
     "+0 0:012 -1 shortage(busy) +2 0:3"},
    {"the earlier submit comes first, whoever was heard first",
     "hosts 1 gpus=1; ask gpus=1 submit=9; ask gpus=1 submit=3; step", "+1 0:0 -0 shortage(busy)"},
    {"a pod that is done frees its device; after a stop the others start without it",
     "hosts 3 gpus=1; ask pods=3 gpus=1; step; done 0 1; step; stop 0; ask gpus=1; step",
     "+0 0:0 1:0 2:0||+0 0:0 1:0 +1 2:0"},
    {"unlike pods, one of them done",
     "hosts 3 gpus=1; ask gpus=1 + pods=2 gpus=1 cpu=1; step; done 0 1; stop 0; ask gpus=1; step",
     "+0 2:0 0:0 1:0|+0 1:0 0:0 +1 2:0"},
    {"a pod that is away is placed when it is back",
     "config breach=9; hosts 2 gpus=1; ask pods=2 gpus=1; step; away 0 1; step; lose 0 1; step",
     "+0 0:0 1:0|-0 member(?)|^0 1:0"},
    {"a list tells of a gang without one of its pods",
     "config breach=9; hosts 2 gpus=1; ask pods=2 gpus=1; seat 0 pod=1 host=1 on=0; seated 0; step",
     "^0 0:0"},
    {"a list tells of a gang of which one pod is done",
     "hosts 2 gpus=1; ask pods=2 gpus=1; done 0 0; seat 0 pod=1 host=1 on=0; seated 0; ask gpus=1; "
     "step",
     "+1 0:0"},
    {"halves of two devices each", "hosts 1 gpus=3; ask pods=3 gpus=2 milli=500; step",
     "+0 0:01 0:02 0:12"},
    {"a pod alone takes what is broken already",
     "hosts 1 gpus=4; ask gpus=1 milli=500; step; ask gpus=2 milli=500; step", "+0 0:0|+1 0:01"},
    {"equal submit: the one heard first",
     "hosts 1 gpus=1; ask gpus=1 submit=3; ask gpus=1 submit=3; step", "+0 0:0 -1 shortage(busy)"},
    {"first come: priorities are not looked at",
     "hosts 1 gpus=1; ask gpus=1; ask gpus=1 prio=9; step", "+0 0:0 -1 shortage(busy)"},
    {"by priority, the larger first",
     "config order=priority; hosts 1 gpus=1; ask gpus=1 prio=-1; ask gpus=1; ask gpus=1 prio=9; "
     "step",
     "+2 0:0 -1 shortage(busy) -0 shortage(busy)"},
    {"a priority that changes while the job waits",
     "config order=priority; hosts 1 gpus=1; ask gpus=1; step; ask gpus=1; ask gpus=1; set 2 "
     "prio=1; "
     "end 0; step",
     "+0 0:0|+2 0:0 -1 shortage(busy)"},
    {"the order itself changes while jobs wait",
     "hosts 1 gpus=1; ask gpus=1; step; ask gpus=1; ask gpus=1 prio=1; step; end 0; config "
     "order=priority; step",
     "+0 0:0|-1 shortage(busy) -2 shortage(busy)|+2 0:0"},
    {"a reason that changes is told again",
     "hosts 2 gpus=2; ask pods=2 gpus=1; ask gpus=2; ask gpus=2; ask gpus=2; step; end 1; state 1 "
     "drain; step",
     "+0 0:0 0:1 +1 1:01 -2 shortage(busy) -3 shortage(busy)|-2 health(busy health) -3 health(busy "
     "health)"},
    {"a stopped run waits at its old place and starts again",
     "hosts 1 gpus=1; ask gpus=1; step; ask gpus=1; stop 0; step",
     "+0 0:0|+0 0:0 -1 shortage(busy)"},
    {"a job that nobody could ever hold is kept by default",
     "hosts 1 gpus=4; ask gpus=8; step; hosts 1 gpus=8; step", "-0 never_size|+0 1:01234567"},
    {"and dropped if so configured: a larger host comes too late",
     "config drop; hosts 1 gpus=4; ask gpus=8; ask gpus=8; step; hosts 1 gpus=8; step",
     "-0 never_size! -1 never_size!|"},
    {"dropping takes the job out of the middle of the queue",
     "config drop; hosts 1 gpus=2; ask gpus=1; ask gpus=3; ask gpus=1; step",
     "+0 0:0 -1 never_size! +2 0:1"},
    {"what cannot fit now is not dropped",
     "config drop; hosts 1 gpus=1; ask gpus=1; ask gpus=1; step", "+0 0:0 -1 shortage(busy)"},
    {"no hosts at all", "ask gpus=1; step; ask; step", "-0 never_size|-1 never_size"},
    {"a job without GPUs needs a host only", "hosts 1 gpus=0 cpu=4; ask cpu=3; ask cpu=2; step",
     "+0 0:- -1 cpu(busy cpu)"},
    {"a device that comes back wakes who waits",
     "hosts 1 gpus=1; device 0 0 down; ask gpus=1; step; device 0 0 up; step",
     "-0 health(health)|+0 0:0"},
    {"a key may come again once its job is over",
     "hosts 1 gpus=1; ask gpus=1; step; end 0; ask gpus=1; step; end 1; ask gpus=1; step",
     "+0 0:0|+1 0:0|+2 0:0"},
};

static const struct row quota_row[] = {
    {"within the limit, exactly", "team 0 limit=4000; hosts 1 gpus=8; ask gpus=4 team=0; step",
     "+0 0:0123"},
    {"room, but the team holds all it may",
     "team 0 limit=4000; hosts 1 gpus=8; ask gpus=4 team=0; ask gpus=1 team=0; ask gpus=1; step",
     "+0 0:0123 -1 quota +2 0:4"},
    {"no room either: then that is the reason",
     "team 0 limit=4000; hosts 1 gpus=4; ask gpus=4 team=0; ask gpus=1 team=0; step",
     "+0 0:0123 -1 shortage(busy)"},
    {"what the team gives back it may hold again",
     "team 0 limit=4000; hosts 1 gpus=8; ask gpus=4 team=0; ask gpus=4 team=0; step; end 0; step",
     "+0 0:0123 -1 quota|+1 0:0123"},
    {"a stop gives back too, to the earlier job",
     "team 0 limit=1000; hosts 1 gpus=2; ask gpus=1 team=0; ask gpus=1 team=0; step; stop 0; step",
     "+0 0:0 -1 quota|+0 0:0"},
    {"a limit that rises wakes who waits",
     "team 0 limit=1000; hosts 1 gpus=4; ask gpus=1 team=0; ask gpus=2 team=0; step; team 0 "
     "limit=3000; step",
     "+0 0:0 -1 never_quota|+1 0:12"},
    {"more than the team may ever hold",
     "team 0 limit=4000; hosts 1 gpus=8; ask gpus=5 team=0; step", "-0 never_quota"},
    {"that is dropped if so configured",
     "config drop; team 0 limit=4000; hosts 1 gpus=8; ask gpus=5 team=0; ask gpus=5 team=0; ask "
     "gpus=4 "
     "team=0; step",
     "-0 never_quota! -1 never_quota! +2 0:0123"},
    {"a quota that is full now is no reason to drop",
     "config drop; team 0 limit=4000; hosts 1 gpus=8; ask gpus=4 team=0; ask gpus=4 team=0; step",
     "+0 0:0123 -1 quota"},
    {"the parent's limit counts the children together",
     "team 0 limit=3000; team 1 parent=0; team 2 parent=0; hosts 1 gpus=8; ask gpus=2 team=1; ask "
     "gpus=2 team=2; ask gpus=1 team=2; step",
     "+0 0:01 -1 quota +2 0:2"},
    {"more than the parent may ever hold",
     "team 0 limit=3000; team 1 parent=0 limit=9000; hosts 1 gpus=8; ask gpus=4 team=1; step",
     "-0 never_quota"},
    {"the minimum passes the child's limit and can never pass the parent's",
     "team 0 limit=500; team 1 parent=0 limit=4000; hosts 1 gpus=8; ask pods=8 min=1 gpus=1 "
     "team=1; "
     "step",
     "-0 never_quota"},
    {"a minimum counts in whole slices: four pods, not three",
     "team 0 limit=3000; hosts 1 gpus=8; ask pods=4 min=3 gpus=1 slice=2@host team=0; step",
     "-0 never_quota"},
    {"an elastic gang starts with the minimum and grows up to the limit",
     "team 0 limit=3000; hosts 1 gpus=8; ask pods=4 min=2 gpus=1 team=0; step",
     "+0 0:0 0:1 ^0 0:2"},
    {"a share counts by its milli",
     "team 0 limit=700; hosts 1 gpus=2; ask gpus=1 milli=400 team=0; ask gpus=1 milli=400 team=0; "
     "ask "
     "gpus=1 milli=300 team=0; step",
     "+0 0:0 -1 quota +2 0:0"},
    {"a memory share counts as its part of the device",
     "team 0 limit=500; hosts 1 gpus=1 gpumem=1000; ask gpus=1 mib=500 team=0; ask gpus=1 mib=1 "
     "team=0; "
     "step",
     "+0 0:0 -1 quota"},
    {"a MIG profile counts as its slots",
     "team 0 limit=500; hosts 1 gpus=1; mig 7 model=0 starts=ff slots=4 of=8; mig 1 model=0 "
     "starts=ff "
     "slots=1 of=8; ask gpus=1 mig=7 team=0; ask gpus=1 mig=1 team=0; step",
     "+0 0:0/0 -1 quota"},
    {"no GPUs asked: no quota", "team 0 limit=0; hosts 1 gpus=1 cpu=9; ask cpu=9 team=0; step",
     "+0 0:-"},
    {"seats told from outside are held as well",
     "team 0 limit=2000; hosts 1 gpus=4; ask gpus=2 team=0; seat 0 host=0 on=23; seated 0; ask "
     "gpus=1 "
     "team=0; step; end 0; step",
     "-1 quota|+1 0:0"},
};

static const struct row world_row[] = {
    {"a host that leaves serves who is gone by then",
     "hosts 1 gpus=2; leave 0 100; ask gpus=1 est=100; ask gpus=1 est=101; ask gpus=1; step",
     "+0 0:0 -1 health(health) -2 health(health)"},
    {"time passes: the same job is too long now",
     "hosts 1 gpus=2; leave 0 100; at 60; ask gpus=1 est=50; ask gpus=1 est=40; step",
     "-0 health(health) +1 0:0"},
    {"the departure is called off",
     "hosts 1 gpus=1; leave 0 100; ask gpus=1; step; leave 0 9223372036854775807; step",
     "-0 health(health)|+0 0:0"},
    {"an estimate that shrinks",
     "hosts 1 gpus=1; leave 0 100; ask gpus=1 est=200; step; set 0 est=90; step",
     "-0 health(health)|+0 0:0"},
    {"what runs on a drained host may stay, nothing new comes",
     "hosts 1 gpus=2; ask gpus=1; step; state 0 drain; ask gpus=1; step; state 0 up; step",
     "+0 0:0|-1 health(health)|+1 0:1"},
    {"a host that is down", "hosts 2 gpus=1; state 0 down; ask gpus=1; ask gpus=1; step",
     "+0 1:0 -1 health(busy health)"},
    {"a host that is gone, and one of its number that comes",
     "hosts 1 gpus=1; gone 0; ask gpus=1; step; host 0 gpus=2; step", "-0 never_size|+0 0:0"},
    {"a host with seats cannot go",
     "hosts 1 gpus=1; ask gpus=1; step; gone 0; ask gpus=1; step; end 0; step",
     "+0 0:0|-1 shortage(busy)|+1 0:0"},
    {"a host that grows",
     "hosts 1 gpus=1 cpu=1; ask gpus=1 cpu=1; step; host 0 gpus=3 cpu=4; ask gpus=2 cpu=3; step",
     "+0 0:0|+1 0:12"},
    {"of unknown place: nobody is promised what they may hold",
     "hosts 1 gpus=4; ask gpus=2; seat 0 host=0 on=-; seated 0; ask gpus=2; ask gpus=1; step",
     "+1 0:01 -2 shortage(busy)"},
    {"of unknown place: only one pair can be in use, and nobody knows which",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=2 in=island; "
     "step",
     "-1 unknown(?)"},
    {"once the place is known the other pair is free",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=2 in=island; "
     "step; "
     "confirm 0 pod=0 on=1; step",
     "-1 unknown(?)|+1 0:23"},
    {"seats told, and more to come: the job is not placed a second time",
     "hosts 1 gpus=4; ask pods=2 gpus=1; seat 0 pod=0 host=0 on=0; step; seat 0 pod=1 host=0 on=1; "
     "seated 0; ask gpus=2; step",
     "+1 0:23"},
    {"seats told, and then they are given up",
     "hosts 1 gpus=4; ask pods=2 gpus=1; seat 0 pod=0 host=0 on=3; step; stop 0; step",
     "+0 0:0 0:1"},
    {"found elsewhere than planned: the books follow",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; step; confirm 0 pod=0 on=3; ask gpus=2 in=island; "
     "step",
     "+0 0:0|+1 0:01"},
    {"a relabelled host makes a domain large enough",
     "hosts 1 gpus=2 l0=0; hosts 1 gpus=2 l0=1; ask pods=2 gpus=2 need=l0; step; host 1 gpus=2 "
     "l0=0; "
     "step",
     "-0 never_topology(topology)|+0 0:01 1:01"},
};

static int run_both(const struct row *r)
{
    struct limits l = ample();
    struct world *small = calloc(1, sizeof(*small)), *large = calloc(1, sizeof(*large));
    int bad;

    world_open(small, NULL);
    world_open(large, &l);
    bad = check_text(r->why, world_say(small, r->script), r->want);
    bad += check_text(r->why, world_say(large, r->script), small->said);
    CHECK_INT(r->why, large->moves, 0);
    if (sched_digest(&small->s) != sched_digest(&large->s))
        fail_msg("row: %s: digests differ\n", r->why);
    world_close(small);
    world_close(large);
    free(small);
    free(large);
    return bad;
}

static void test_queue(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(queue_row); n++)
        bad += run_both(&queue_row[n]);
    assert_int_equal(bad, 0);
}

static void test_quota(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(quota_row); n++)
        bad += run_both(&quota_row[n]);
    assert_int_equal(bad, 0);
}

static void test_world(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(world_row); n++)
        bad += run_both(&world_row[n]);
    assert_int_equal(bad, 0);
}

static struct world w;

/* The team whose limit it is stands in the decision. */
static void test_quota_team(void **state)
{
    static const struct {
        const char *why, *script;
        uint32_t team;
    } row[] = {
        {"its own", "hosts 1 gpus=8; team 0 limit=1000; ask gpus=2 team=0; step", 0},
        {"its parent's",
         "hosts 1 gpus=8; team 0 limit=1000; team 1 parent=0; ask gpus=2 team=1; step", 0},
        {"the child's limit comes first",
         "hosts 1 gpus=8; team 0 limit=1000; team 1 parent=0 limit=1000; ask gpus=2 team=1; step",
         1},
        {"of an elastic gang the one that its minimum does not pass",
         "hosts 1 gpus=8; team 0 limit=500; team 1 parent=0 limit=4000; ask pods=8 min=1 gpus=1 "
         "team=1; "
         "step",
         0},
        {"no room either: never wins over not now",
         "hosts 1 gpus=1; team 0 limit=1000; ask gpus=2 team=0; step", 0},
        {"no room: no team", "hosts 1 gpus=1; team 0 limit=9000; ask gpus=2 team=0; step",
         ROW_NONE},
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, w.s.decision_count, 1);
        CHECK_INT(row[n].why, w.s.decision[0].kind, DECISION_REFUSE);
        CHECK_INT(row[n].why, w.s.decision[0].team, row[n].team);
        world_close(&w);
    }
}

/* More decisions than the table holds: steps without events bring the rest, and nobody is asked
 * twice. */
static void test_full_table(void **state)
{
    uint32_t started = 0, refused = 0, steps = 0;
    bool more = true;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 20 gpus=8");
    for (unsigned n = 0; n < 200; n++)
        world_say(&w, "ask gpus=1");
    assert_int_equal(w.s.m->limits.decisions, 64);
    while (more) {
        more = world_step(&w);
        assert_true(w.s.decision_count <= 64);
        assert_true(w.s.decision_count > 64 / 4 || !more);
        for (uint32_t n = 0; n < w.s.decision_count; n++) {
            assert_int_equal(w.s.decision[n].key, started + refused);
            started += w.s.decision[n].kind == DECISION_START;
            refused += w.s.decision[n].kind == DECISION_REFUSE;
        }
        steps++;
    }
    assert_int_equal(started, 160);
    assert_int_equal(refused, 40);
    assert_true(steps > 2);
    assert_false(world_step(&w));
    assert_int_equal(w.s.decision_count, 0);
    world_close(&w);
}

/* Seats fill before decisions do. */
static void test_full_seats(void **state)
{
    uint32_t started = 0;
    bool more = true;

    (void)state;
    world_open(&w, NULL);
    world_say(&w,
              "hosts 30 gpus=8; ask pods=40 gpus=1; ask pods=40 gpus=1; ask pods=40 gpus=1; ask "
              "pods=40 gpus=1");
    while (more) {
        uint32_t seats = 0;

        more = world_step(&w);
        for (uint32_t n = 0; n < w.s.decision_count; n++)
            seats += w.s.decision[n].seat_count;
        assert_int_equal(seats, w.s.seat_count);
        assert_true(seats <= w.s.m->limits.seats_out);
        started += w.s.decision_count;
    }
    assert_int_equal(started, 4);
    world_close(&w);
}

/* A batch that comes while the queue is not yet gone through starts it anew: nobody is lost. */
static void test_events_in_between(void **state)
{
    uint32_t started = 0;
    bool more;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 20 gpus=8");
    for (unsigned n = 0; n < 100; n++)
        world_say(&w, "ask gpus=1");
    assert_true(world_step(&w));
    started += w.s.decision_count;
    world_tell(&w, &(struct event){.kind = EVENT_UUID, .uuid = {0, 0, 7}});
    do {
        more = world_step(&w);
        started += w.s.decision_count;
    } while (more);
    assert_int_equal(started, 100);
    world_close(&w);
}

/* Tables that grow one row at a time, dozens of times, against ample ones. */
static void test_growth(void **state)
{
    struct limits l = ample();
    struct world *large = calloc(1, sizeof(*large));
    char text[256];

    (void)state;
    world_open(&w, NULL);
    world_open(large, &l);
    for (int n = 0; n < 150; n++) {
        snprintf(
            text, sizeof(text),
            "hosts 1 gpus=%d cpu=%d l0=%d l1=%d shape=pairs; team %d; ask pods=%d gpus=1 prefer=l0 "
            "team=%d cpu=2; ask pods=1 gpus=%d + pods=2 gpus=1; step; end %d",
            2 + 2 * (n % 4), 10 + n % 7, n / 4, 100 + n / 16, n, 1 + n % 9, n, 1 + n % 3,
            n % 3 ? 2 * n - 6 : 7);
        world_say(&w, text);
        world_say(large, text);
        assert_string_equal(w.said, large->said);
        assert_true(sched_digest(&w.s) == sched_digest(&large->s));
        w.said_length = large->said_length = 0;
    }
    assert_true(w.moves >= 12);
    assert_int_equal(large->moves, 0);
    world_close(&w);
    world_close(large);
    free(large);
}

/* The same events in one batch or one by one: facts are equal. Bytes that are cut short or bad end
 * the batch; what stood before them counts. */
static void test_bad_bytes(void **state)
{
    uint8_t bytes[256];
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    uint32_t host_bytes;

    (void)state;
    world_open(&w, NULL);
    event_put(&out, &(struct event){.kind = EVENT_TEAM, .team = {0, ROW_NONE, 0, 5}});
    host_bytes = (uint32_t)out.size;
    event_put(&out, &(struct event){.kind = EVENT_TEAM, .team = {1, 0, 0, 70000}});
    for (size_t size = 0; size < out.size; size++) {
        assert_false(sched_step(&w.s, bytes, size));
        assert_int_equal(model_count(w.s.m, TABLE_TEAM), size >= host_bytes);
        assert_true(world_valid(&w));
    }
    assert_false(sched_step(&w.s, bytes, out.size));
    assert_int_equal(model_count(w.s.m, TABLE_TEAM), 2);
    world_close(&w);
}

static void test_put_decisions(void **state)
{
    uint8_t bytes[64], again[64];
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    struct wire_out cut = {.byte = again, .limit = 3};
    struct wire_in in;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "config scorer=first-fit; hosts 2 gpus=2; ask pods=2 gpus=2; ask gpus=2; step");
    assert_string_equal(w.said, "+0 0:01 1:01 -1 shortage(busy)");
    sched_put_decisions(&w.s, &out);
    assert_false(out.full);
    in = (struct wire_in){.byte = bytes, .end = bytes + out.size};
    static const uint64_t want[] = {2, /* decisions */
                                    DECISION_START,
                                    0,
                                    2,
                                    0,
                                    0,
                                    3,
                                    0,
                                    1,
                                    1,
                                    3,
                                    0,
                                    0,
                                    DECISION_REFUSE,
                                    1,
                                    WHY_SHORTAGE,
                                    VERDICT_NO,
                                    0,
                                    LIMIT(BUSY) + 1};

    for (unsigned n = 0; n < ROWS(want); n++)
        assert_int_equal(wire_get(&in), want[n]);
    assert_int_equal(wire_get_signed(&in), 0); /* free milli */
    assert_int_equal(wire_get(&in), 0);        /* most pods of one domain */
    assert_false(in.bad);
    assert_ptr_equal(in.byte, in.end);
    sched_put_decisions(&w.s, &cut);
    assert_true(cut.full);
    world_close(&w);
}

/* A block that is given a batch without asking sched_short() first is a bug of the edge. */
static void test_misuse(void **state)
{
    uint8_t bytes[4096];
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    struct event e = {.kind = EVENT_JOB,
                      .job = {.team = ROW_NONE, .est_ns = -1, .podset_count = 1}};
    struct event set = {.kind = EVENT_PODSET,
                        .podset = {.pods = 1, .pods_min = 1, .milli = 1000, .profile = ROW_NONE}};
    struct limits l;

    (void)state;
    world_open(&w, NULL);
    world_settle(&w);
    for (uint32_t n = 0; n < 9; n++) {
        e.job.key = n;
        event_put(&out, &e);
        event_put(&out, &set);
    }
    assert_true(sched_short(&w.s, bytes, out.size, &l));
    expect_assert_failure(sched_step(&w.s, bytes, out.size));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_quota),
        cmocka_unit_test(test_world),
        cmocka_unit_test(test_quota_team),
        cmocka_unit_test(test_full_table),
        cmocka_unit_test(test_full_seats),
        cmocka_unit_test(test_events_in_between),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_bad_bytes),
        cmocka_unit_test(test_put_decisions),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("sched", tests, NULL, NULL);
}
