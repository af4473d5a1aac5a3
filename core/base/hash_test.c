#include "core/base/hash.h"

#include "core/base/must.h"
#include "tests/kit/check.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Digests in journals of years past rest on these: they may never change. */
static void test_fixed(void **state)
{
    static const struct {
        const char *why;
        uint64_t word[6];
        size_t words;
        uint64_t seed, want;
    } row[] = {
        {"nothing", {0}, 0, 0, UINT64_C(0x1d9ca60e79b11599)},
        {"one zero word", {0}, 1, 0, UINT64_C(0x9ded677b2231538d)},
        {"another seed", {0}, 1, 1, UINT64_C(0x75208e7c251def6c)},
        {"four words: the lanes", {1, 2, 3, 4}, 4, 7, UINT64_C(0x1f53b29c0c312c90)},
        {"six words: the lanes and a rest", {1, 2, 3, 4, 5, 6}, 6, 7, UINT64_C(0x2757405bce9b8e2d)},
    };

    (void)state;
    assert_true(hash_mix(0) == 0);
    assert_true(hash_mix(1) == UINT64_C(0xb456bcfc34c2cb2c));
    for (unsigned n = 0; n < ROWS(row); n++) {
        uint64_t got = hash_words(row[n].word, row[n].words, row[n].seed);

        if (got != row[n].want)
            print_error("row: %s: 0x%016llx\n", row[n].why, (unsigned long long)got);
        assert_true(got == row[n].want);
    }
}

/* Each bit of each word, the length and the seed change about half of the hash. */
static void test_bits(void **state)
{
    uint64_t word[9] = {3, 1, 4, 1, 5, 9, 2, 6, 5}, base = hash_words(word, 9, 1);
    unsigned least = 64, most = 0;

    (void)state;
    for (unsigned w = 0; w < 9; w++)
        for (unsigned b = 0; b < 64; b++) {
            unsigned changed;

            word[w] ^= (uint64_t)1 << b;
            changed = (unsigned)__builtin_popcountll(hash_words(word, 9, 1) ^ base);
            word[w] ^= (uint64_t)1 << b;
            least = changed < least ? changed : least;
            most = changed > most ? changed : most;
        }
    assert_in_range(least, 12, 32);
    assert_in_range(most, 32, 52);
    for (size_t words = 0; words < 9; words++)
        assert_true(hash_words(word, words, 1) != base);
    assert_true(hash_words(word, 9, 2) != base);
}

/* Words that change places are another text, also between lanes. */
static void test_order(void **state)
{
    uint64_t a[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    (void)state;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < i; j++) {
            uint64_t b[8];

            memcpy(b, a, sizeof(b));
            b[i] = a[j];
            b[j] = a[i];
            assert_true(hash_words(a, 8, 0) != hash_words(b, 8, 0));
        }
}

/* Zero words in front or behind are counted. */
static void test_zeros(void **state)
{
    uint64_t zero[32] = {0}, seen[32];

    (void)state;
    for (size_t n = 0; n < 32; n++) {
        seen[n] = hash_words(zero, n, 0);
        for (size_t e = 0; e < n; e++)
            assert_true(seen[e] != seen[n]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_zeros),
    };

    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
