/* prng_test.c - the published sequence, even ranges, and the same numbers from the same seed */
#include "core/base/prng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* splitmix64 from 0: the values of its authors' reference. */
static void test_mix(void **state)
{
    uint64_t counter = 0;

    (void)state;
    assert_true(prng_mix(&counter) == 0xE220A8397B1DCDAFu);
    assert_true(prng_mix(&counter) == 0x6E789E6AA1B965F4u);
    assert_true(prng_mix(&counter) == 0x06C45D188009454Fu);
}

/* xoshiro256** from the state 1, 2, 3, 4, whose first steps can be followed by hand. */
static void test_next(void **state)
{
    struct prng p = {{1, 2, 3, 4}};

    (void)state;
    assert_true(prng_next(&p) == 11520);
    assert_true(prng_next(&p) == 0);
    assert_true(prng_next(&p) == 1509978240);
    assert_true(prng_next(&p) == 1215971899390074240u);
}

static void test_seeds(void **state)
{
    struct prng a, b, c;
    unsigned equal = 0;

    (void)state;
    prng_init(&a, 0);
    prng_init(&b, 0);
    prng_init(&c, 1);
    assert_true((a.word[0] | a.word[1] | a.word[2] | a.word[3]) != 0);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t x = prng_next(&a);

        assert_true(x == prng_next(&b));
        equal += x == prng_next(&c);
    }
    assert_int_equal(equal, 0);
}

/* 70,000 draws of 7 values: each within five standard deviations (93) of 10,000. */
static void test_below(void **state)
{
    unsigned seen[7] = {0};
    struct prng p;

    (void)state;
    prng_init(&p, 42);
    for (unsigned i = 0; i < 70000; i++)
        seen[prng_below(&p, 7)]++;
    for (unsigned i = 0; i < 7; i++)
        assert_in_range(seen[i], 9535, 10465);
    assert_true(prng_below(&p, 1) == 0);
}

/* With count just over half of all numbers, a remainder would favour the low half two to one. */
static void test_no_bias(void **state)
{
    uint64_t count = (UINT64_C(1) << 63) + (UINT64_C(1) << 62), low = 0;
    struct prng p;

    (void)state;
    prng_init(&p, 7);
    for (unsigned i = 0; i < 30000; i++)
        low += prng_below(&p, count) < UINT64_C(1) << 62;
    assert_in_range(low, 9600, 10400); /* a third; a bare remainder gives half */
}

static void test_range(void **state)
{
    unsigned seen = 0;
    struct prng p;

    (void)state;
    prng_init(&p, 3);
    for (unsigned i = 0; i < 200; i++) {
        uint64_t x = prng_range(&p, 10, 13);

        assert_in_range(x, 10, 13);
        seen |= 1u << (x - 10);
    }
    assert_int_equal(seen, 15);
    assert_true(prng_range(&p, 5, 5) == 5);
    assert_true(prng_range(&p, 0, UINT64_MAX) != prng_range(&p, 0, UINT64_MAX));
}

static void test_misuse(void **state)
{
    struct prng p;

    (void)state;
    prng_init(&p, 1);
    expect_assert_failure(prng_below(&p, 0));
    expect_assert_failure(prng_range(&p, 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mix),    cmocka_unit_test(test_next),    cmocka_unit_test(test_seeds),
        cmocka_unit_test(test_below),  cmocka_unit_test(test_no_bias), cmocka_unit_test(test_range),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("prng", tests, NULL, NULL);
}
