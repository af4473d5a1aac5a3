/* event_test.c - each kind of event to bytes and back, and bytes that are no event */
#include "core/engine/event.h"

#include "core/base/must.h"
#include "core/base/prng.h"
#include "tests/kit/check.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static uint8_t bytes[1u << 16];

/* Fills every field of the event's kind, so that nothing but the fields is compared later. */
struct filler {
    struct prng prng;
    unsigned mode; /* 0: zeros, 1: all ones, 2: by lot, few bits, 3: by lot, all bits */
};

static uint64_t fill(struct filler *f)
{
    uint64_t lot = prng_next(&f->prng);

    return f->mode == 0 ? 0 : f->mode == 1 ? UINT64_MAX : f->mode == 2 ? lot >> (lot & 63) : lot;
}

#define FILL_FIELD(type, name) x->name = (event_##type)fill(f);
#define FILL_ARRAY(type, name, count)                                                              \
    for (unsigned i = 0; i < (count); i++)                                                         \
        x->name[i] = (event_##type)fill(f);
#define SAME_FIELD(type, name) same &= a->name == b->name;
#define SAME_ARRAY(type, name, count)                                                              \
    for (unsigned i = 0; i < (count); i++)                                                         \
        same &= a->name[i] == b->name[i];
#define EVENT_TOOLS(KIND, name, what)                                                              \
    static void fill_##name(struct filler *f, struct event_##name *x)                              \
    {                                                                                              \
        EVENT_##KIND##_FIELDS(FILL_FIELD, FILL_ARRAY)                                              \
    }                                                                                              \
    static bool same_##name(const struct event_##name *a, const struct event_##name *b)            \
    {                                                                                              \
        bool same = true;                                                                          \
                                                                                                   \
        EVENT_##KIND##_FIELDS(SAME_FIELD, SAME_ARRAY) return same;                                 \
    }
EVENT_MAP(EVENT_TOOLS)

static struct event event_of(enum event_kind kind, struct filler *f)
{
    struct event e = {.at_ns = (int64_t)fill(f), .kind = kind};

    switch (kind) {
#define FILL_CASE(KIND, name, what)                                                                \
    case EVENT_##KIND:                                                                             \
        fill_##name(f, &e.name);                                                                   \
        break;
        EVENT_MAP(FILL_CASE)
    case EVENT_COUNT:
        break;
    }
    return e;
}

static bool same(const struct event *a, const struct event *b)
{
    if (a->kind != b->kind || a->at_ns != b->at_ns)
        return false;
    switch (a->kind) {
#define SAME_CASE(KIND, name, what)                                                                \
    case EVENT_##KIND:                                                                             \
        return same_##name(&a->name, &b->name);
        EVENT_MAP(SAME_CASE)
    case EVENT_COUNT:
        break;
    }
    return false;
}

static void test_round_trip(void **state)
{
    struct filler f = {.mode = 0};

    (void)state;
    prng_init(&f.prng, 1);
    for (f.mode = 0; f.mode < 4; f.mode++)
        for (unsigned kind = 0; kind < EVENT_COUNT; kind++)
            for (unsigned turn = 0; turn < 8; turn++) {
                struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
                struct event in = event_of((enum event_kind)kind, &f), back;
                struct wire_in r;

                event_put(&out, &in);
                assert_false(out.full);
                r = (struct wire_in){.byte = bytes, .end = bytes + out.size};
                assert_true(event_get(&r, &back));
                CHECK_INT(event_name(in.kind), same(&in, &back), true);
                assert_ptr_equal(r.byte, r.end);
                assert_false(event_get(&r, &back));
                assert_false(r.bad);
            }
}

/* Events in a row come back in a row. */
static void test_row(void **state)
{
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    struct filler f = {.mode = 2}, again;
    struct wire_in r;
    struct event back;

    (void)state;
    prng_init(&f.prng, 2);
    again = f;
    for (unsigned kind = 0; kind < EVENT_COUNT; kind++) {
        struct event e = event_of((enum event_kind)kind, &f);

        event_put(&out, &e);
    }
    r = (struct wire_in){.byte = bytes, .end = bytes + out.size};
    for (unsigned kind = 0; kind < EVENT_COUNT; kind++) {
        struct event e = event_of((enum event_kind)kind, &again);

        assert_true(event_get(&r, &back));
        assert_true(same(&e, &back));
    }
    assert_ptr_equal(r.byte, r.end);
}

/* Every prefix of an event is bad, and none reads beyond its end. */
static void test_cut(void **state)
{
    struct filler f = {.mode = 3};

    (void)state;
    prng_init(&f.prng, 3);
    for (unsigned kind = 0; kind < EVENT_COUNT; kind++) {
        struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
        struct event e = event_of((enum event_kind)kind, &f), back;

        event_put(&out, &e);
        for (size_t size = 1; size < out.size; size++) {
            struct wire_in r = {.byte = bytes, .end = bytes + size};

            assert_false(event_get(&r, &back));
            assert_true(r.bad);
            assert_false(event_get(&r, &back));
        }
    }
}

/* A writer that is full at any place says so. */
static void test_full(void **state)
{
    struct filler f = {.mode = 2};

    (void)state;
    prng_init(&f.prng, 4);
    for (unsigned kind = 0; kind < EVENT_COUNT; kind++) {
        struct event e = event_of((enum event_kind)kind, &f);
        struct wire_out whole = {.byte = bytes, .limit = sizeof(bytes)};

        event_put(&whole, &e);
        for (size_t limit = 0; limit < whole.size; limit++) {
            struct wire_out out = {.byte = bytes, .limit = limit};

            event_put(&out, &e);
            assert_true(out.full);
            assert_true(out.size <= limit);
        }
    }
}

static const struct {
    const char *why;
    uint64_t number[8];
    unsigned numbers;
} bad_row[] = {
    {"a kind that does not exist", {EVENT_COUNT, 0}, 2},
    {"a kind far out", {UINT64_MAX, 0}, 2},
    {"a level beyond a byte", {EVENT_LEVEL, 0, 256, 0, 0}, 5},
    {"a state beyond a byte", {EVENT_HOST_STATE, 0, 1, 300}, 4},
    {"devices beyond sixteen bits", {EVENT_CONFIRM, 0, 1, 0, 65536}, 5},
    {"a host beyond 32 bits", {EVENT_HOST_GONE, 0, UINT64_C(1) << 32}, 3},
    {"a priority beyond 31 bits", {EVENT_JOB_SET, 0, 1, UINT64_C(1) << 32, 0}, 5},
    {"a priority below them", {EVENT_JOB_SET, 0, 1, (UINT64_C(1) << 32) + 1, 0}, 5},
};

static void test_bad(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(bad_row); n++) {
        struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
        struct event back;
        struct wire_in r;

        for (unsigned i = 0; i < bad_row[n].numbers; i++)
            wire_put(&out, bad_row[n].number[i]);
        r = (struct wire_in){.byte = bytes, .end = bytes + out.size};
        CHECK_INT(bad_row[n].why, event_get(&r, &back), false);
        CHECK_INT(bad_row[n].why, r.bad, true);
    }
}

/* "None" is one byte, and so are the numbers that most events name. */
static void test_size(void **state)
{
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};
    struct event e = {.kind = EVENT_HOST, .host = {.gpus = 8, .shape = ROW_NONE}};

    (void)state;
    memset(e.host.domain, 0xFF, sizeof(e.host.domain));
    event_put(&out, &e);
    assert_true(out.size < 30);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(event_name(EVENT_CONFIG), "config");
    assert_string_equal(event_name(EVENT_HOST_STATE), "host_state");
    assert_string_equal(event_name(EVENT_END), "end");
    assert_string_equal(event_name(EVENT_COUNT), "none");
    for (unsigned a = 0; a < EVENT_COUNT; a++)
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(event_name((enum event_kind)a), event_name((enum event_kind)b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_row), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_full),       cmocka_unit_test(test_bad), cmocka_unit_test(test_size),
        cmocka_unit_test(test_names),
    };

    return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
