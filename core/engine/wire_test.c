#include "core/engine/wire.h"

#include "core/base/must.h"
#include "tests/kit/check.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static const struct {
    const char *why;
    uint64_t value;
    uint8_t byte[10];
    size_t bytes;
} row[] = {
    {"nothing is one byte", 0, {0}, 1},
    {"the largest of one byte", 127, {0x7F}, 1},
    {"the least of two", 128, {0x80, 1}, 2},
    {"seven bits each, the lowest first", 300, {0xAC, 2}, 2},
    {"all ones of 32 bits", UINT32_MAX, {0xFF, 0xFF, 0xFF, 0xFF, 0x0F}, 5},
    {"the top bit of 64",
     UINT64_C(1) << 63,
     {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
     10},
    {"all ones of 64 bits",
     UINT64_MAX,
     {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1},
     10},
};

static void test_put_get(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        uint8_t byte[10] = {0};
        struct wire_out out = {.byte = byte, .limit = sizeof(byte)};
        struct wire_in in = {.byte = row[n].byte, .end = row[n].byte + row[n].bytes};

        wire_put(&out, row[n].value);
        CHECK_INT(row[n].why, out.size, row[n].bytes);
        CHECK_INT(row[n].why, out.full, false);
        assert_memory_equal(byte, row[n].byte, row[n].bytes);
        assert_true(wire_get(&in) == row[n].value);
        CHECK_INT(row[n].why, in.bad, false);
        assert_ptr_equal(in.byte, in.end);
    }
}

static const struct {
    const char *why;
    int64_t value;
    uint64_t folded;
} signed_row[] = {
    {"zero", 0, 0},
    {"minus one is next to it", -1, 1},
    {"one", 1, 2},
    {"minus two", -2, 3},
    {"the largest", INT64_MAX, UINT64_MAX - 1},
    {"the least", INT64_MIN, UINT64_MAX},
};

static void test_signed(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(signed_row); n++) {
        uint8_t byte[10];
        struct wire_out out = {.byte = byte, .limit = sizeof(byte)};
        struct wire_in raw, in;

        wire_put_signed(&out, signed_row[n].value);
        raw = in = (struct wire_in){.byte = byte, .end = byte + out.size};
        assert_true(wire_get(&raw) == signed_row[n].folded);
        assert_true(wire_get_signed(&in) == signed_row[n].value);
        assert_false(in.bad);
    }
}

static const struct {
    const char *why;
    uint8_t byte[11];
    size_t bytes;
} bad_row[] = {
    {"no byte at all", {0}, 0},
    {"cut after the first", {0x80}, 1},
    {"cut in the middle", {0xFF, 0xFF, 0xFF}, 3},
    {"a bit beyond 64", {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}, 10},
    {"eleven bytes", {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}, 11},
};

/* A reader that turned bad gives zeros and reads no further. */
static void test_bad(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(bad_row); n++) {
        struct wire_in in = {.byte = bad_row[n].byte, .end = bad_row[n].byte + bad_row[n].bytes};
        const uint8_t *stop;

        CHECK_INT(bad_row[n].why, wire_get(&in), 0);
        CHECK_INT(bad_row[n].why, in.bad, true);
        stop = in.byte;
        in.end = bad_row[n].byte + sizeof(bad_row[n].byte);
        CHECK_INT(bad_row[n].why, wire_get(&in), 0);
        CHECK_INT(bad_row[n].why, wire_get_signed(&in), 0);
        CHECK_INT(bad_row[n].why, wire_get_bits(&in, 64), 0);
        CHECK_INT(bad_row[n].why, in.bad, true);
        assert_ptr_equal(in.byte, stop);
    }
}

static const struct {
    const char *why;
    uint64_t value;
    unsigned bits;
    bool fits;
} bits_row[] = {
    {"the largest of 8 bits", 255, 8, true},     {"one more", 256, 8, false},
    {"the largest of 16", 65535, 16, true},      {"one more", 65536, 16, false},
    {"the largest of 32", UINT32_MAX, 32, true}, {"one more", UINT64_C(1) << 32, 32, false},
    {"of 64 everything", UINT64_MAX, 64, true},
};

static void test_bits(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(bits_row); n++) {
        uint8_t byte[10];
        struct wire_out out = {.byte = byte, .limit = sizeof(byte)};
        struct wire_in in = {.byte = byte};

        wire_put(&out, bits_row[n].value);
        in.end = byte + out.size;
        assert_true(wire_get_bits(&in, bits_row[n].bits) ==
                    (bits_row[n].fits ? bits_row[n].value : 0));
        CHECK_INT(bits_row[n].why, in.bad, !bits_row[n].fits);
    }
}

/* A writer without room turns full and writes not beyond; what fits later does not make it good. */
static void test_full(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 10; limit++) {
        uint8_t byte[12];
        struct wire_out out = {.byte = byte, .limit = limit};

        memset(byte, 0xEE, sizeof(byte));
        wire_put(&out, UINT64_MAX);
        assert_true(out.full);
        assert_true(out.size <= limit);
        assert_int_equal(byte[limit], 0xEE);
        wire_put(&out, 1);
        wire_put_signed(&out, -1);
        assert_true(out.full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_get), cmocka_unit_test(test_signed), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_bits),    cmocka_unit_test(test_full),
    };

    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
