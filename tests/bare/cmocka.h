/* cmocka.h - the part of cmocka that tests of the core use, in one file
 *
 * The cross compiler brings a C library and no cmocka, and adding a second architecture to
 * somebody's package manager in order to run tests is too much to ask. MODE=bare finds this file
 * before the real one; the tests stay the same, and so does the text at the end of a group.
 *
 * Left out: mocks, leak checks and group set-ups, which tests of a core without malloc do not need.
 * Misuse  an assertion outside of a running test ends the program.
 */
#ifndef BARE_CMOCKA_H
#define BARE_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func, teardown_func;
    void *initial_state;
};

#define cmocka_unit_test_setup_teardown(f, up, down)                                               \
    {                                                                                              \
        .name = #f, .test_func = f, .setup_func = up, .teardown_func = down                        \
    }
#define cmocka_unit_test(f)                cmocka_unit_test_setup_teardown(f, NULL, NULL)
#define cmocka_unit_test_setup(f, up)      cmocka_unit_test_setup_teardown(f, up, NULL)
#define cmocka_unit_test_teardown(f, down) cmocka_unit_test_setup_teardown(f, NULL, down)

static jmp_buf bare_out;                             /* of the running test */
static __attribute__((unused)) jmp_buf bare_refused; /* of expect_assert_failure() */
static __attribute__((unused)) int bare_expecting;
static int bare_skipped;

static inline _Noreturn void bare_fail(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    longjmp(bare_out, 1);
}

static inline void bare_int(long long found, long long want, int equal, const char *text,
                            const char *file, int line)
{
    char what[256];

    if ((found == want) == equal)
        return;
    snprintf(what, sizeof(what), "%s: found %lld (0x%llx), %s %lld (0x%llx)", text, found,
             (unsigned long long)found, equal ? "expected" : "unwanted", want,
             (unsigned long long)want);
    bare_fail(file, line, what);
}

static inline void bare_text(const char *found, const char *want, int equal, const char *file,
                             int line)
{
    char what[512];

    if ((strcmp(found, want) == 0) == equal)
        return;
    snprintf(what, sizeof(what), "found \"%.200s\", %s \"%.200s\"", found,
             equal ? "expected" : "unwanted", want);
    bare_fail(file, line, what);
}

/* A function: compilers warn of what an unsigned value always is. */
static inline int bare_between(unsigned long long v, unsigned long long low,
                               unsigned long long high)
{
    return v >= low && v <= high;
}

#define BARE_CHECK(good, text) ((good) ? (void)0 : bare_fail(__FILE__, __LINE__, text))
#define BARE_INT(a, b, equal)                                                                      \
    bare_int((long long)(a), (long long)(b), equal, #a, __FILE__, __LINE__)

#define assert_true(c)     BARE_CHECK((c), "expected true: " #c)
#define assert_false(c)    BARE_CHECK(!(c), "expected false: " #c)
#define assert_null(p)     BARE_CHECK((p) == NULL, "expected NULL: " #p)
#define assert_non_null(p) BARE_CHECK((p) != NULL, "unwanted NULL: " #p)
#define assert_ptr_equal(a, b)                                                                     \
    BARE_CHECK((const void *)(a) == (const void *)(b), "expected equal: " #a ", " #b)
#define assert_ptr_not_equal(a, b)                                                                 \
    BARE_CHECK((const void *)(a) != (const void *)(b), "expected different: " #a ", " #b)
#define assert_int_equal(a, b)     BARE_INT(a, b, 1)
#define assert_int_not_equal(a, b) BARE_INT(a, b, 0)
#define assert_in_range(v, low, high)                                                              \
    BARE_CHECK(bare_between((unsigned long long)(v), (unsigned long long)(low),                    \
                            (unsigned long long)(high)),                                           \
               "out of range: " #v)
#define assert_string_equal(a, b)     bare_text((a), (b), 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) bare_text((a), (b), 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size)                                                            \
    BARE_CHECK(memcmp((a), (b), (size)) == 0, "expected equal bytes: " #a ", " #b)
#define assert_memory_not_equal(a, b, size)                                                        \
    BARE_CHECK(memcmp((a), (b), (size)) != 0, "expected different bytes: " #a ", " #b)
#define print_message(...) fprintf(stdout, __VA_ARGS__)
#define print_error(...)   fprintf(stderr, __VA_ARGS__)
#define fail()             bare_fail(__FILE__, __LINE__, "fail()")
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, __VA_ARGS__);                                                              \
        bare_fail(__FILE__, __LINE__, "");                                                         \
    } while (0)
#define skip()                                                                                     \
    do {                                                                                           \
        bare_skipped = 1;                                                                          \
        longjmp(bare_out, 1);                                                                      \
    } while (0)

/* A must_fail() of the test calls mock_assert(0, ...), which lands behind the expression. */
#define mock_assert(result, expression, file, line)                                                \
    do {                                                                                           \
        if (!(result)) {                                                                           \
            if (bare_expecting)                                                                    \
                longjmp(bare_refused, 1);                                                          \
            bare_fail((file), (line), (expression));                                               \
        }                                                                                          \
    } while (0)
#define expect_assert_failure(call)                                                                \
    do {                                                                                           \
        bare_expecting = 1;                                                                        \
        if (setjmp(bare_refused) == 0) {                                                           \
            call;                                                                                  \
            bare_expecting = 0;                                                                    \
            bare_fail(__FILE__, __LINE__, "expected an assertion: " #call);                        \
        }                                                                                          \
        bare_expecting = 0;                                                                        \
    } while (0)

static inline int bare_run(const struct CMUnitTest *test)
{
    void *state = test->initial_state;

    bare_skipped = 0;
    if (setjmp(bare_out) != 0)
        return bare_skipped ? 0 : 1;
    if (test->setup_func != NULL && test->setup_func(&state) != 0)
        return 1;
    test->test_func(&state);
    if (test->teardown_func != NULL && test->teardown_func(&state) != 0)
        return 1;
    return 0;
}

static inline int bare_group(const char *name, const struct CMUnitTest *tests, size_t count)
{
    static size_t passed, skipped; /* static: a setjmp below may not lose them */
    static int failed;

    passed = skipped = 0;
    failed = 0;
    for (size_t i = 0; i < count; i++) {
        int broken = bare_run(&tests[i]);

        if (broken) {
            fprintf(stderr, "[  FAILED  ] %s: %s\n", name, tests[i].name);
            failed++;
        } else if (bare_skipped) {
            skipped++;
        } else {
            passed++;
        }
    }
    fprintf(stderr, "[  PASSED  ] %zu test(s).\n", passed);
    if (skipped > 0)
        fprintf(stderr, "[  SKIPPED ] %zu test(s).\n", skipped);
    if (failed > 0)
        fprintf(stderr, "[  FAILED  ] %d test(s).\n", failed);
    return failed;
}

#define cmocka_run_group_tests_name(name, tests, up, down)                                         \
    bare_group(name, tests, sizeof(tests) / sizeof((tests)[0]))
#define cmocka_run_group_tests(tests, up, down)                                                    \
    bare_group(#tests, tests, sizeof(tests) / sizeof((tests)[0]))

#endif
