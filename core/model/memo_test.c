/* memo_test.c - what is remembered, what a change takes away, and who makes room */
#include "core/model/memo.h"

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

static struct memo_key key_of(uint64_t number)
{
    return (struct memo_key){.word = {number}};
}

static struct memo open_memo(uint64_t number)
{
    struct memo_key key = key_of(number);

    return memo_open(w.s.m, &key);
}

/* Says of each host and then of each domain whether it is known: k or -. */
static void check_known(const char *why, const struct memo *memo, const char *want)
{
    uint32_t hosts = model_count(w.s.m, TABLE_HOST), domains = model_count(w.s.m, TABLE_DOMAIN);
    char text[64] = "";
    size_t at = 0;

    for (uint32_t h = 0; h < hosts; h++)
        text[at++] = memo->host[h] == MEMO_HOST_UNKNOWN ? '-' : 'k';
    text[at++] = ' ';
    for (uint32_t d = 0; d < domains; d++)
        text[at++] = memo->domain[d] == MEMO_DOMAIN_UNKNOWN ? '-' : 'k';
    text[at] = 0;
    assert_int_equal(check_text(why, text, want), 0);
}

static void fill(struct memo *memo, uint16_t value)
{
    for (uint32_t h = 0; h < model_count(w.s.m, TABLE_HOST); h++)
        memo->host[h] = value;
    for (uint32_t d = 0; d < model_count(w.s.m, TABLE_DOMAIN); d++)
        memo->domain[d] = value;
}

/* With room for all that will happen: tables that move forget. */
static void open_world(void)
{
    struct limits l = {.undo_rows = 1000, .cells = 32, .seats_out = 32, .depth = 32};

    for (unsigned t = 0; t < TABLE_COUNT; t++)
        l.rows[t] = 32;
    limits_fix(&l);
    world_open(&w, &l);
    world_say(&w, "hosts 2 gpus=2 l0=0 l1=2; hosts 1 gpus=2 l0=1 l1=2; hosts 1 gpus=2");
}

static void test_changes(void **state)
{
    static const struct {
        const char *why, *script, *want;
    } row[] = {
        {"nothing happened", "", "kkkk kkk"},
        {"a pod takes its host and the host's domains", "ask gpus=1; seat 0 host=1 on=0; seated 0",
         "k-kk -k-"},
        {"a host without domains", "state 3 drain", "kkk- kkk"},
        {"a device failed", "device 2 0 down", "kk-k k--"},
        {"an ask alone changes no host", "ask gpus=1", "kkkk kkk"},
        {"a new host: nothing is known any more", "hosts 1 gpus=1", "----- ---"},
        {"a host moved: nothing either", "host 3 gpus=2 l0=1", "---- ---"},
        {"a host went", "gone 3", "---- ---"},
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct memo memo;

        open_world();
        memo = open_memo(1);
        check_known("an empty one", &memo, "---- ---");
        fill(&memo, 7);
        world_say(&w, row[n].script);
        index_settle(w.s.m);
        memo = open_memo(1);
        check_known(row[n].why, &memo, row[n].want);
        world_close(&w);
    }
}

/* What a transaction did and took back is looked at again: nothing says that it came to nothing. */
static void test_rollback(void **state)
{
    struct memo memo;

    (void)state;
    open_world();
    memo = open_memo(1);
    fill(&memo, 7);
    model_begin(w.s.m);
    host_set_state(w.s.m, 0, HOST_DRAIN);
    memo = open_memo(1);
    check_known("within", &memo, "-kkk -k-");
    memo.host[0] = 0;
    memo.domain[0] = 7;
    model_rollback(w.s.m);
    memo = open_memo(1);
    check_known("after", &memo, "-kkk -k-");
    world_close(&w);
}

/* Each ask has a memo of its own; the one that was opened longest ago makes room. */
static void test_slots(void **state)
{
    struct memo memo;

    (void)state;
    open_world();
    for (unsigned n = 0; n < MEMO_SLOTS; n++) {
        memo = open_memo(n);
        check_known("a new one", &memo, "---- ---");
        fill(&memo, (uint16_t)n);
    }
    for (unsigned n = 0; n < MEMO_SLOTS; n++) {
        memo = open_memo(n);
        assert_int_equal(memo.host[3], n);
        assert_int_equal(memo.domain[2], n);
    }
    (void)open_memo(0);
    memo = open_memo(1000);
    check_known("a new one", &memo, "---- ---");
    memo = open_memo(0);
    check_known("just opened", &memo, "kkkk kkk");
    memo = open_memo(1);
    check_known("it made room", &memo, "---- ---");
    world_close(&w);
}

/* A log that went round says nothing of what it lost. */
static void test_log(void **state)
{
    struct memo memo;

    (void)state;
    for (unsigned changes = MEMO_LOG - 1; changes <= MEMO_LOG + 1; changes++) {
        open_world();
        memo = open_memo(1);
        fill(&memo, 7);
        for (unsigned n = 0; n < changes; n++)
            memo_changed(index_memo(w.s.m), n == 0 ? 0 : 3);
        memo = open_memo(1);
        check_known("the oldest change counts", &memo,
                    changes <= MEMO_LOG ? "-kk- -k-" : "---- ---");
        world_close(&w);
    }
}

static void test_facts(void **state)
{
    struct memo_key one = key_of(1), two = key_of(2);
    bool yes;

    (void)state;
    open_world();
    assert_false(memo_recall(w.s.m, &one, &yes));
    memo_note(w.s.m, &one, true);
    memo_note(w.s.m, &two, false);
    world_say(&w, "state 3 drain; ask gpus=2; step");
    assert_true(memo_recall(w.s.m, &two, &yes));
    assert_false(yes);
    assert_true(memo_recall(w.s.m, &one, &yes));
    assert_true(yes);
    world_say(&w, "hosts 1 gpus=1; step");
    assert_false(memo_recall(w.s.m, &one, &yes));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_changes), cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_slots),   cmocka_unit_test(test_log),
        cmocka_unit_test(test_facts),
    };

    return cmocka_run_group_tests_name("memo", tests, NULL, NULL);
}
