/* index_test.c - bins, cells, members and the queue, against a count by hand and a random history
 */
#include "core/model/index.h"

#include <stdio.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/model/host.h"
#include "core/model/job.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* ---- by hand ---- */

static void test_cells(void **state)
{
    const struct cell *c;
    uint32_t cell;

    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "hosts 2 gpus=4 l0=0 l1=2; hosts 1 gpus=8 l0=1 l1=2; hosts 1 gpus=4 model=1 l0=0; hosts 1 "
        "gpus=4 "
        "l0=0; state 4 drain; ask gpus=1 milli=300; seat 0 host=0 on=1; seated 0; device 2 7 down");
    cell = index_cell_first(w.s.m, 0);
    c = index_cell(w.s.m, cell);
    if (c->model != 0) /* the order within a domain is nobody's business */
        c = index_cell(w.s.m, c->next);
    assert_int_equal(c->domain, 0);
    assert_int_equal(c->hosts, 2);
    assert_int_equal(c->by_whole[4], 1);
    assert_int_equal(c->by_whole[3], 1);
    assert_int_equal(c->free_milli, 7700);
    c = index_cell(w.s.m, index_cell_first(w.s.m, 1));
    assert_int_equal(c->hosts, 1);
    assert_int_equal(c->by_whole[7], 1);
    assert_int_equal(c->free_milli, 7000);
    assert_int_equal(c->next, ROW_NONE);
    c = index_cell(w.s.m, index_cell_first(w.s.m, 2));
    assert_int_equal(c->hosts, 3);
    assert_int_equal(c->free_milli, 14700);
    /* The cluster: two models, five domains' worth of pairs in all. */
    assert_int_equal(index_cells(w.s.m), 2 + 1 + 1 + 2);
    world_close(&w);
}

static void check_sum(uint32_t domain, uint32_t whole, uint32_t devices, uint32_t ailing)
{
    const struct domain_sum *sum = index_sum(w.s.m, domain);

    assert_int_equal(sum->whole, whole);
    assert_int_equal(sum->devices, devices);
    assert_int_equal(sum->ailing, ailing);
}

static void test_sums(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=4 l0=0 l1=2; hosts 1 gpus=8 l0=1 l1=2; hosts 1 gpus=2; state 1 "
                  "drain; device 2 7 down; ask gpus=1; seat 0 host=0 on=1; seated 0");
    index_settle(w.s.m);
    check_sum(0, 3, 8, 4);
    check_sum(1, 7, 8, 8);
    check_sum(2, 10, 16, 12);
    check_sum(ROW_NONE, 12, 18, 12);
    assert_int_equal(index_level_most(w.s.m, 0)->whole, 7);
    assert_int_equal(index_level_most(w.s.m, 0)->devices, 8);
    assert_int_equal(index_level_most(w.s.m, 0)->whole_ailing, 15);
    assert_int_equal(index_level_most(w.s.m, 1)->whole, 10);
    world_say(&w, "state 1 up; device 2 7 up; state 2 down");
    check_sum(0, 7, 8, 0);
    check_sum(1, 0, 8, 8);
    check_sum(2, 7, 16, 8);
    assert_int_equal(index_level_most(w.s.m, 0)->whole, 7);
    assert_int_equal(index_level_most(w.s.m, 0)->whole_ailing, 8);
    assert_int_equal(index_level_most(w.s.m, 5)->devices, 0);
    world_close(&w);
}

static void test_members(void **state)
{
    const uint32_t *host;
    uint32_t count;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=1 l0=2; hosts 1 gpus=1 l0=0; hosts 2 gpus=1 l0=2; hosts 1 gpus=1; "
                  "state 3 down");
    host = index_members(w.s.m, 2, &count);
    assert_int_equal(count, 3); /* down, but there */
    assert_int_equal(host[0], 0);
    assert_int_equal(host[1], 2);
    assert_int_equal(host[2], 3);
    host = index_members(w.s.m, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(host[0], 1);
    index_members(w.s.m, 1, &count);
    assert_int_equal(count, 0);
    world_say(&w, "gone 2; host 1 gpus=1 l0=2");
    host = index_members(w.s.m, 2, &count);
    assert_int_equal(count, 3);
    assert_int_equal(host[1], 1);
    index_members(w.s.m, 0, &count);
    assert_int_equal(count, 0);
    world_close(&w);
}

static const struct {
    const char *why, *script;
    uint32_t whole, share_step;
} bin_row[] = {
    {"all free", "hosts 1 gpus=8", 8, 0},
    {"some in use", "hosts 1 gpus=8; ask gpus=3; step", 5, 0},
    {"a broken device, 700 left: the fifth step", "hosts 1 gpus=8; ask gpus=1 milli=300; step", 7,
     5},
    {"a broken device, little left", "hosts 1 gpus=8; ask gpus=1 milli=875; step", 7, 1},
    {"a broken device, one milli left: not none", "hosts 1 gpus=8; ask gpus=1 milli=999; step", 7,
     1},
    {"a broken device, nothing left",
     "hosts 1 gpus=8; ask gpus=1 milli=600; ask gpus=1 milli=400; step", 7, 0},
    {"of unknown place", "hosts 1 gpus=8; ask gpus=3; seat 0 host=0 on=-; seated 0", 5, 0},
    {"failed", "hosts 1 gpus=8; device 0 3 down", 7, 0},
    {"no devices", "hosts 1 gpus=0", 0, 0},
};

static void test_bins(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(bin_row); n++) {
        uint32_t bin;

        world_open(&w, NULL);
        world_say(&w, bin_row[n].script);
        bin = index_bin(w.s.m, host_row(w.s.m, 0));
        CHECK_INT(bin_row[n].why, bin / BIN_CPU_STEPS,
                  index_bin_of(bin_row[n].whole, bin_row[n].share_step, 0) / BIN_CPU_STEPS);
        CHECK_INT(bin_row[n].why, index_bin_next(w.s.m, 0, bin, 0), 0);
        CHECK_INT(bin_row[n].why, index_bin_next(w.s.m, 0, bin, 1), ROW_NONE);
        CHECK_INT(bin_row[n].why, index_slot_host(w.s.m, 0, 0), 0);
        world_close(&w);
    }
}

/* Hosts of one bin come in id order, over more than one word. */
static void test_bin_walk(void **state)
{
    uint32_t slot = 0, bin, seen = 0;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 70 gpus=2; hosts 70 gpus=2 mem=5; state 100 down; state 3 drain; gone 7");
    bin = index_bin(w.s.m, host_row(w.s.m, 0));
    assert_int_equal(index_breeds(w.s.m), 1); /* memory makes no other breed */
    for (uint32_t h = 0; h < 140; h++) {
        if (h == 100 || h == 3 || h == 7)
            continue;
        slot = index_bin_next(w.s.m, 0, bin, slot);
        assert_int_not_equal(slot, ROW_NONE);
        assert_int_equal(index_slot_host(w.s.m, 0, slot), h);
        slot++;
        seen++;
    }
    assert_int_equal(index_bin_next(w.s.m, 0, bin, slot), ROW_NONE);
    assert_int_equal(seen, 137);
    world_close(&w);
}

/* The waiting jobs by key, as one word. */
static void check_queue(const char *why, const char *want)
{
    char text[64];
    uint32_t count;
    const uint32_t *job = index_waiting(w.s.m, &count);

    for (uint32_t n = 0; n < count; n++)
        text[n] = (char)('0' + job_row(w.s.m, job[n])->key);
    text[count] = 0;
    assert_int_equal(check_text(why, text, want), 0);
    for (uint32_t n = 1; n < count; n++)
        assert_true(index_job_before(w.s.m, job[n - 1], job[n]) &&
                    !index_job_before(w.s.m, job[n], job[n - 1]));
}

static const struct {
    const char *why, *script, *want;
} queue_row[] = {
    {"nobody", "", ""},
    {"in the order of the ask", "ask; ask; ask", "012"},
    {"by submit time", "ask submit=3; ask submit=1; ask submit=2", "120"},
    {"priorities are not looked at", "ask; ask prio=5", "01"},
    {"unless so configured",
     "config order=priority; ask; ask prio=5; ask prio=-2; ask prio=5 submit=0", "1302"},
    {"the order changes", "ask; ask prio=5; config order=priority", "10"},
    {"and back", "config order=priority; ask; ask prio=5; config order=fifo", "01"},
    {"a priority changes", "config order=priority; ask; ask; ask; set 2 prio=1; set 0 prio=-1",
     "210"},
    {"one ends", "ask; ask; ask; end 1", "02"},
    {"its row is used again", "ask; ask; ask; end 0; ask", "123"},
    {"one runs", "hosts 1 gpus=1; ask gpus=1; ask gpus=1; step", "1"},
    {"and waits again", "hosts 1 gpus=1; ask gpus=1; ask gpus=1; step; stop 0", "01"},
};

static void test_queue(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(queue_row); n++) {
        world_open(&w, NULL);
        world_say(&w, queue_row[n].script);
        check_queue(queue_row[n].why, queue_row[n].want);
        world_close(&w);
    }
}

/* Keys that meet in the map, cut in every order: nobody is lost behind a grave. */
static void test_find(void **state)
{
    struct prng p;
    bool lives[400] = {false};

    (void)state;
    prng_init(&p, 7);
    world_open(&w, NULL);
    for (uint32_t n = 0; n < 400; n++) {
        char text[32];

        world_say(&w, "ask");
        lives[n] = true;
        for (unsigned e = 0; e < 2 && n > 60; e++) {
            uint32_t key = (uint32_t)prng_below(&p, n);

            snprintf(text, sizeof(text), "end %u", key);
            world_say(&w, text);
            lives[key] = false;
        }
        for (uint32_t key = 0; key <= n; key++) {
            uint32_t job = index_job_find(w.s.m, key);

            assert_int_equal(job != ROW_NONE, lives[key]);
            if (job != ROW_NONE)
                assert_int_equal(job_row(w.s.m, job)->key, key);
        }
    }
    assert_int_equal(index_job_find(w.s.m, 4000000000u), ROW_NONE);
    world_close(&w);
}

/* Jobs whose first letters agree ask the same, and no others do. */
static void test_asks(void **state)
{
    static const char *const ask[] = {
        "ask gpus=1 prio=3",       "ask gpus=1 team=0 est=5 prefer=l0",
        "ask gpus=1 cpu=1",        "ask gpus=1 + gpus=1",
        "ask gpus=1 + gpus=1",     "ask gpus=1 + gpus=2",
        "ask gpus=1 need=l0",      "ask gpus=1 apart",
        "ask pods=2 min=1 gpus=1", "ask pods=2 gpus=1",
    };
    static const char same[] = "AABCCDEFGH";
    uint64_t number[ROWS(ask)];
    struct ask_note *note;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "team 0");
    for (unsigned n = 0; n < ROWS(ask); n++)
        world_say(&w, ask[n]);
    for (unsigned n = ROWS(ask); n-- > 0;)
        number[n] = index_job_ask(w.s.m, index_job_find(w.s.m, n));
    for (unsigned a = 0; a < ROWS(ask); a++)
        for (unsigned b = 0; b < ROWS(ask); b++) {
            CHECK_INT(ask[a], number[a] == number[b], same[a] == same[b]);
            CHECK_INT(ask[b],
                      index_asks_alike(w.s.m, index_job_find(w.s.m, a), index_job_find(w.s.m, b)),
                      same[a] == same[b]);
        }
    /* Whose note it is stays the same for as long as the tables do; no pass is like another. */
    note = index_ask_note(w.s.m, number[0]);
    assert_true(note->pass == 0);
    note->pass = index_pass_next(w.s.m);
    assert_true(index_ask_note(w.s.m, number[1]) == note);
    assert_true(index_pass_next(w.s.m) > note->pass);
    world_close(&w);
}

/* ---- a random history ---- */

/* Each count made anew from the rows. */
static void check_all(void)
{
    const struct model *m = w.s.m;
    uint32_t waiting = 0, count;

    for (uint32_t d = 0; d <= model_count(m, TABLE_DOMAIN); d++) {
        uint32_t domain = d == model_count(m, TABLE_DOMAIN) ? ROW_NONE : d, members = 0;
        const uint32_t *list = domain == ROW_NONE ? NULL : index_members(m, domain, &count);
        struct cell sum[2] = {{0}};

        for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
            const struct host *host = host_row(m, h);
            struct cell *c;

            if (host->state == HOST_ABSENT ||
                (domain != ROW_NONE && board_row(m, h)->domain[0] != domain &&
                 board_row(m, h)->domain[1] != domain))
                continue;
            if (list)
                assert_int_equal(list[members], h);
            members++;
            if (host->state != HOST_UP)
                continue;
            c = &sum[kind_row(m, host->kind)->model];
            c->hosts++;
            c->by_whole[bits_count16(host->whole) > host->unknown_gpus
                            ? bits_count16(host->whole) - host->unknown_gpus
                            : 0]++;
            for (unsigned g = 0; g < host->gpus; g++)
                c->free_milli += host->free_milli[g];
        }
        if (list)
            assert_int_equal(count, members);
        for (uint32_t n = index_cell_first(m, domain); n != ROW_NONE; n = index_cell(m, n)->next) {
            const struct cell *c = index_cell(m, n);

            assert_int_equal(c->hosts, sum[c->model].hosts);
            assert_true(c->free_milli == sum[c->model].free_milli);
            assert_memory_equal(c->by_whole, sum[c->model].by_whole, sizeof(c->by_whole));
            sum[c->model].hosts = 0;
        }
        assert_int_equal(sum[0].hosts + sum[1].hosts, 0); /* no cell is missing */
    }
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        waiting += job_row(m, j)->state == JOB_WAITING;
    index_waiting(m, &count);
    assert_int_equal(count, waiting);
    assert_true(index_valid(m));
}

/* A command by lot; A and B stand for numbers. */
static void say_something(struct prng *p, char *ret, size_t size)
{
    static const struct {
        const char *text;
        unsigned limit_a; /* 0: any key */
        unsigned first_b;
    } row[] = {
        {"host A gpus=4 cpu=8 l0=B", 12, 0},
        {"host A gpus=2 cpu=8 model=1 l1=B", 12, 4},
        {"host A gpus=4 cpu=8", 12, 0},
        {"gone A", 12, 0},
        {"state A drain", 12, 0},
        {"state A up", 12, 0},
        {"state A down", 12, 0},
        {"device A 1 down", 12, 0},
        {"device A 1 up", 12, 0},
        {"ask gpus=A cpu=1", 4, 0},
        {"ask pods=2 min=1 gpus=1 milli=300", 1, 0},
        {"ask pods=3 gpus=A", 4, 0},
        {"end A", 0, 0},
        {"stop A", 0, 0},
        {"step", 1, 0},
        {"config order=priority; set A prio=B", 0, 0},
    };
    unsigned n = (unsigned)prng_below(p, ROWS(row));
    unsigned a = (unsigned)prng_below(p, row[n].limit_a ? row[n].limit_a : w.keys + 1u);
    unsigned b = row[n].first_b + (unsigned)prng_below(p, 3);
    size_t at = 0;

    for (const char *c = row[n].text; *c; c++)
        if (*c == 'A' || *c == 'B')
            at += (size_t)snprintf(ret + at, size - at, "%u", *c == 'A' ? a : b);
        else
            at += (size_t)snprintf(ret + at, size - at, "%c", *c);
}

static void test_history(void **state)
{
    struct prng p;
    char text[96];

    (void)state;
    prng_init(&p, 11);
    for (unsigned round = 0; round < 6; round++) {
        world_open(&w, NULL);
        for (unsigned n = 0; n < 250; n++) {
            say_something(&p, text, sizeof(text));
            world_say(&w, text);
            w.said_length = 0;
            check_all();
        }
        world_close(&w);
    }
}

/* A rollback takes hosts and jobs of the index back too. */
static void test_rollback(void **state)
{
    uint32_t job;

    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "hosts 3 gpus=4 l0=0; hosts 1 gpus=4 model=1 l1=1; ask gpus=2; ask; ask gpus=1 milli=300");
    check_all();
    job = index_job_find(w.s.m, 0);
    model_begin(w.s.m);
    host_take(w.s.m, 1, job, job_row(w.s.m, job)->podset_head, 0, 3, 0, GRADE_PLANNED);
    job_run(w.s.m, job);
    check_all();
    model_begin(w.s.m);
    host_set_device(w.s.m, 2, 3, DEVICE_DOWN);
    host_set_state(w.s.m, 0, HOST_DOWN);
    job_remove(w.s.m, index_job_find(w.s.m, 1));
    check_all();
    model_rollback(w.s.m);
    check_all();
    check_queue("the ended one is back, the running one is not", "12");
    model_rollback(w.s.m);
    check_all();
    check_queue("all are back", "012");
    world_close(&w);
}

/* A row that changes behind the index's back is noticed. */
static void test_valid(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=4 l0=0; ask gpus=8; ask gpus=8");
    assert_true(index_valid(w.s.m));
#define SPOILT(table, id, change)                                                                  \
    do {                                                                                           \
        model_begin(w.s.m);                                                                        \
        void *row = model_edit(w.s.m, table, id);                                                  \
        struct host *h = row;                                                                      \
        struct job *j = row;                                                                       \
                                                                                                   \
        (void)h;                                                                                   \
        (void)j;                                                                                   \
        change;                                                                                    \
        assert_false(index_valid(w.s.m));                                                          \
        model_rollback(w.s.m);                                                                     \
        assert_true(index_valid(w.s.m));                                                           \
    } while (0)
    SPOILT(TABLE_HOST, 1, h->whole = 1);
    SPOILT(TABLE_HOST, 1, h->free_milli[2] = 7);
    SPOILT(TABLE_HOST, 1, h->state = HOST_DOWN);
    SPOILT(TABLE_JOB, 0, j->state = JOB_RUNNING);
    SPOILT(TABLE_JOB, 1, j->submit_ns = -5);
#undef SPOILT
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),   cmocka_unit_test(test_members),
        cmocka_unit_test(test_sums),    cmocka_unit_test(test_asks),
        cmocka_unit_test(test_bins),    cmocka_unit_test(test_bin_walk),
        cmocka_unit_test(test_queue),   cmocka_unit_test(test_find),
        cmocka_unit_test(test_history), cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_valid),
    };

    return cmocka_run_group_tests_name("index", tests, NULL, NULL);
}
