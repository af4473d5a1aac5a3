/* bits_test.c - counts, walks and subsets against the obvious loop */
#include "core/base/bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static jmp_buf stopped;

void must_fail(const char *expr, const char *file, int line)
{
    (void)expr;
    (void)file;
    (void)line;
    longjmp(stopped, 1);
}

static unsigned count_slowly(uint64_t set)
{
    unsigned count = 0;

    for (unsigned i = 0; i < 64; i++)
        count += (unsigned)(set >> i) & 1u;
    return count;
}

/* Every 16-bit set, and each of them at every byte of a wider word. */
static void test_count(void **state)
{
    (void)state;
    for (uint32_t set = 0; set <= UINT16_MAX; set++) {
        assert_int_equal(bits_count16((uint16_t)set), count_slowly(set));
        for (unsigned shift = 0; shift <= 48; shift += 8)
            assert_int_equal(bits_count64((uint64_t)set << shift),
                             count_slowly((uint64_t)set << shift));
        assert_int_equal(bits_count32(set << 16 | set), 2 * count_slowly(set));
    }
    assert_int_equal(bits_count64(UINT64_MAX), 64);
    assert_int_equal(bits_count32(UINT32_MAX), 32);
}

static void test_walk(void **state)
{
    uint64_t set = 0x8000000100008005u;
    static const unsigned want[] = {0, 2, 15, 32, 63};
    unsigned n = 0;

    (void)state;
    for (uint64_t m = set; m != 0; m = bits_drop_low(m))
        assert_int_equal(bits_low(m), want[n++]);
    assert_int_equal(n, 5);
    for (unsigned i = 0, at = 0; i < 64; i++) {
        assert_int_equal(bits_has(set, i), at < 5 && want[at] == i);
        at += at < 5 && want[at] == i;
    }
    assert_int_equal(bits_drop_low(0), 0);
    assert_true(bits_first(0) == 0);
    assert_true(bits_first(3) == 7);
    assert_true(bits_first(64) == UINT64_MAX);
}

static void test_subsets(void **state)
{
    (void)state;
    for (unsigned k = 1; k <= 16; k++) {
        uint32_t seen = 0, last = 0;

        for (uint32_t m = (uint32_t)bits_first(k); m <= UINT16_MAX; m = bits_next_subset(m)) {
            assert_true(m > last);
            assert_int_equal(count_slowly(m), k);
            last = m;
            seen++;
        }
        uint32_t want = 1;
        for (unsigned i = 1; i <= k; i++)
            want = want * (16 - k + i) / i;
        assert_int_equal(seen, want);
    }
}

#define STOPS(call)                                                                                \
    do {                                                                                           \
        if (setjmp(stopped) == 0) {                                                                \
            (void)(call);                                                                          \
            fail();                                                                                \
        }                                                                                          \
    } while (0)

static void test_misuse(void **state)
{
    (void)state;
    STOPS(bits_low(0));
    STOPS(bits_first(65));
    STOPS(bits_next_subset(0));
    STOPS(bits_next_subset(0x80000000u)); /* nothing larger has one bit */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_walk),
        cmocka_unit_test(test_subsets),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
