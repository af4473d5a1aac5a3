/* model_test.c - the one door: transactions, rollback, the digest, and the move into a larger block
 */
#include "core/model/model.h"

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/model/index.h"
#include "tests/kit/check.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct model *m;

static struct model *open_limits(const struct limits *l)
{
    void *block = aligned_alloc(64, (model_bytes(l) + 63) / 64 * 64);

    memset(block, 0x5A, model_bytes(l));
    return model_init(block, l);
}

static int set_up(void **state)
{
    struct limits l = {.rows = {0}};

    (void)state;
    limits_fix(&l);
    l.rows[TABLE_TEAM] = 16;
    m = open_limits(&l);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(m);
    return 0;
}

static struct team *team_edit(uint32_t id)
{
    return model_edit(m, TABLE_TEAM, id);
}

static int64_t weight(uint32_t id)
{
    return team_row(m, id)->weight_micro;
}

/* A picture of all rows, to compare byte by byte. */
static size_t picture(unsigned char *ret, size_t limit)
{
    size_t size = 0;

    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        uint32_t count = t == TABLE_HEAD ? TABLE_COUNT : model_count(m, (enum table)t);
        size_t bytes = (size_t)count * m->store[t].row_bytes;

        assert_true(size + bytes <= limit);
        memcpy(ret + size, model_row(m, (enum table)t, 0), bytes);
        size += bytes;
    }
    return size;
}

static void test_empty(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        assert_int_equal(model_count(m, (enum table)t), t == TABLE_CONFIG ? 1
                                                        : t == TABLE_HEAD ? TABLE_COUNT
                                                                          : 0);
    assert_int_equal(config_row(m)->budget_steps, 20000);
    assert_true(model_digest(m) == model_digest_anew(m));
    assert_int_equal(m->depth, 0);
}

static void test_limits(void **state)
{
    struct limits l = {.rows = {0}}, again;

    (void)state;
    limits_fix(&l);
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        assert_true(l.rows[t] >= 1);
    assert_int_equal(l.rows[TABLE_BOARD], l.rows[TABLE_HOST]);
    again = l;
    limits_fix(&again);
    assert_memory_equal(&l, &again, sizeof(l));
    l.rows[TABLE_HOST] = 1000;
    limits_fix(&l);
    assert_int_equal(l.rows[TABLE_BOARD], 1000);
    assert_true(model_bytes(&l) > model_bytes(&again));
}

/* Dropped rows come back last in, first out; what was never used comes after them. */
static void test_ids(void **state)
{
    (void)state;
    model_begin(m);
    for (uint32_t n = 0; n < 5; n++)
        assert_int_equal(model_add(m, TABLE_TEAM), n);
    team_edit(3)->weight_micro = 7;
    model_drop(m, TABLE_TEAM, 1);
    model_drop(m, TABLE_TEAM, 3);
    assert_int_equal(model_head(m, TABLE_TEAM)->live, 3);
    assert_int_equal(model_count(m, TABLE_TEAM), 5);
    assert_int_equal(model_add(m, TABLE_TEAM), 3);
    assert_int_equal(weight(3), 0);
    assert_int_equal(model_add(m, TABLE_TEAM), 1);
    assert_int_equal(model_add(m, TABLE_TEAM), 5);
    assert_int_equal(model_head(m, TABLE_TEAM)->live, 6);
    model_commit(m);
    assert_true(model_digest(m) == model_digest_anew(m));
}

static void test_reach(void **state)
{
    (void)state;
    model_begin(m);
    model_reach(m, TABLE_TEAM, 4);
    assert_int_equal(model_count(m, TABLE_TEAM), 5);
    assert_int_equal(model_head(m, TABLE_TEAM)->live, 5);
    model_reach(m, TABLE_TEAM, 2);
    assert_int_equal(model_count(m, TABLE_TEAM), 5);
    model_commit(m);
}

static void test_rollback(void **state)
{
    uint64_t digest;

    (void)state;
    model_begin(m);
    model_reach(m, TABLE_TEAM, 2);
    team_edit(1)->weight_micro = 5;
    model_commit(m);
    digest = model_digest(m);

    model_begin(m);
    team_edit(1)->weight_micro = 6;
    team_edit(1)->weight_micro = 7;
    model_reach(m, TABLE_TEAM, 6);
    model_drop(m, TABLE_TEAM, 0);
    config_edit(m)->seed = 9;
    model_rollback(m);
    assert_int_equal(weight(1), 5);
    assert_int_equal(model_count(m, TABLE_TEAM), 3);
    assert_int_equal(config_row(m)->seed, 0);
    assert_true(model_digest(m) == digest);
    assert_true(model_digest_anew(m) == digest);

    /* The same again, and kept: not as if something were remembered of the first time. */
    model_begin(m);
    team_edit(1)->weight_micro = 6;
    model_commit(m);
    assert_int_equal(weight(1), 6);
    assert_true(model_digest(m) != digest);
    assert_true(model_digest(m) == model_digest_anew(m));
}

/* Steps of nested transactions: b begin, c commit, r roll back, a digit sets the weight of team 0.
 */
static const struct {
    const char *why, *steps;
    int64_t weight;
} nested_row[] = {
    {"one that is kept", "b1c", 1},
    {"one that is not", "b1r", 0},
    {"an inner one is undone, the outer one stays", "b1b2rc", 1},
    {"both are kept", "b1b2cc", 2},
    {"an inner one that committed goes with the outer one", "b1b2cr", 0},
    {"written only inside", "bb2cr", 0},
    {"written only inside, and undone there", "bb2rc", 0},
    {"written after an inner one was undone", "b1b2r3c", 3},
    {"written after an inner one was undone, all undone", "b1b2r3r", 0},
    {"written after an inner one committed, all undone", "b1b2c3r", 0},
    {"two inner ones, the first undone", "b1b2rb3cc", 3},
    {"two inner ones, the second undone", "b1b2cb3rc", 2},
    {"two inner ones, all undone", "b1b2cb3cr", 0},
    {"three deep, the middle one undone", "b1b2b3crc", 1},
    {"three deep, the innermost undone", "b1b2b3rcc", 2},
    {"three deep, all kept", "b1b2b3ccc", 3},
    {"eight deep, undone from the inside", "b1b2b3b4b5b6b7b8rrrrrrrr", 0},
    {"eight deep, undone from the middle", "b1b2b3b4b5b6b7b8ccccrrrr", 0},
    {"eight deep, the inner four undone", "b1b2b3b4b5b6b7b8rrrrcccc", 4},
    {"one after the other", "b1cb2rb3c", 3},
};

static void test_nested(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(nested_row); n++) {
        model_begin(m);
        model_reach(m, TABLE_TEAM, 0);
        team_edit(0)->weight_micro = 0;
        model_commit(m);
        for (const char *s = nested_row[n].steps; *s; s++) {
            if (*s == 'b')
                model_begin(m);
            else if (*s == 'c')
                model_commit(m);
            else if (*s == 'r')
                model_rollback(m);
            else
                team_edit(0)->weight_micro = *s - '0';
        }
        CHECK_INT(nested_row[n].why, weight(0), nested_row[n].weight);
        CHECK_INT(nested_row[n].why, m->depth, 0);
        CHECK_INT(nested_row[n].why, model_digest(m) == model_digest_anew(m), true);
    }
}

/* What a digest asked inside a transaction hashed is hashed again after the rollback. */
static void test_digest_inside(void **state)
{
    uint64_t digest;

    (void)state;
    model_begin(m);
    model_reach(m, TABLE_TEAM, 1);
    model_commit(m);
    digest = model_digest(m);
    model_begin(m);
    team_edit(1)->weight_micro = 6;
    assert_true(model_digest(m) != digest);
    model_rollback(m);
    assert_true(model_digest(m) == digest);
    assert_true(model_digest(m) == model_digest_anew(m));
}

/* The digest is a sum over rows: it does not know in which order they were written, but it does
 * know which row holds what. */
static void test_digest(void **state)
{
    uint64_t one, other, swapped;

    (void)state;
    model_begin(m);
    model_reach(m, TABLE_TEAM, 1);
    team_edit(0)->weight_micro = 1;
    team_edit(1)->weight_micro = 2;
    model_commit(m);
    one = model_digest(m);
    model_begin(m);
    team_edit(1)->weight_micro = 1;
    team_edit(0)->weight_micro = 2;
    model_commit(m);
    swapped = model_digest(m);
    model_begin(m);
    team_edit(1)->weight_micro = 2;
    model_commit(m);
    model_begin(m);
    team_edit(0)->weight_micro = 1;
    model_commit(m);
    other = model_digest(m);
    assert_true(one == other);
    assert_true(one != swapped);
}

/* Random writes, commits and rollbacks against pictures of the rows. */
static void test_storm(void **state)
{
    static unsigned char before[8][1u << 16], now[1u << 16];
    size_t size[8];
    unsigned depth = 0;
    struct prng p;

    (void)state;
    prng_init(&p, 42);
    for (unsigned n = 0; n < 20000; n++) {
        uint64_t lot = prng_below(&p, 10);

        if (lot == 0 && depth < 8) {
            size[depth] = picture(before[depth], sizeof(before[0]));
            model_begin(m);
            depth++;
        } else if (lot == 1 && depth > 0) {
            model_commit(m);
            depth--;
        } else if (lot == 2 && depth > 0) {
            depth--;
            model_rollback(m);
            assert_int_equal(picture(now, sizeof(now)), size[depth]);
            assert_memory_equal(now, before[depth], size[depth]);
        } else if (depth > 0) {
            const struct head *h = model_head(m, TABLE_TEAM);
            uint32_t id = (uint32_t)prng_below(&p, 16);

            if (lot < 5 && h->count < 16)
                id = model_add(m, TABLE_TEAM);
            if (id < h->count && m->undo_count < 200)
                team_edit(id)->limit_milli = (int64_t)prng_next(&p);
        }
        if (depth == 0)
            assert_true(model_digest(m) == model_digest_anew(m));
    }
}

/* Into a block of larger limits: same rows, same digest, dirty rows remembered. */
static void test_move(void **state)
{
    struct limits l = m->limits;
    struct model *to;
    uint64_t digest;
    void *block;

    (void)state;
    model_begin(m);
    model_reach(m, TABLE_TEAM, 3);
    team_edit(2)->weight_micro = 5;
    model_commit(m);
    model_digest(m);
    model_begin(m);
    team_edit(3)->weight_micro = 8; /* dirty when it moves */
    model_commit(m);
    l.rows[TABLE_TEAM] = 99;
    l.rows[TABLE_HOST] = 500;
    limits_fix(&l);
    block = aligned_alloc(64, (model_bytes(&l) + 63) / 64 * 64);
    memset(block, 0x5A, model_bytes(&l));
    to = model_move(m, block, &l);
    digest = model_digest_anew(m);
    assert_true(model_digest(to) == digest);
    assert_true(model_digest_anew(to) == digest);
    assert_true(model_digest(m) == digest); /* the old one is untouched */
    free(m);
    m = to;
    assert_int_equal(weight(2), 5);
    model_begin(m);
    model_reach(m, TABLE_TEAM, 98);
    team_edit(98)->weight_micro = 1;
    model_commit(m);
    assert_true(model_digest(m) == model_digest_anew(m));
}

static void test_misuse(void **state)
{
    struct limits l = m->limits;
    char odd[256];

    (void)state;
    expect_assert_failure(model_edit(m, TABLE_TEAM, 0)); /* outside a transaction */
    expect_assert_failure(model_commit(m));
    expect_assert_failure(model_rollback(m));
    expect_assert_failure(model_init(odd + (64 - ((uintptr_t)odd & 63)) + 8, &l)); /* not aligned */
    model_begin(m);
    expect_assert_failure(model_edit(m, TABLE_TEAM, 16));
    expect_assert_failure(model_reach(m, TABLE_TEAM, 16));
    expect_assert_failure(model_move(m, m, &l));         /* a transaction is open */
    expect_assert_failure(model_drop(m, TABLE_TEAM, 3)); /* not in use */
    model_rollback(m);
    model_begin(m);
    model_reach(m, TABLE_TEAM, 15);
    expect_assert_failure(model_add(m, TABLE_TEAM)); /* full */
    for (unsigned n = 1; n < 8; n++)
        model_begin(m);
    expect_assert_failure(model_begin(m)); /* a ninth */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_empty),    TEST(test_limits), TEST(test_ids),           TEST(test_reach),
        TEST(test_rollback), TEST(test_nested), TEST(test_digest_inside), TEST(test_digest),
        TEST(test_storm),    TEST(test_move),   TEST(test_misuse),
    };

    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
