/* check.h - what a unit test of the core begins with
 *
 * cmocka and the headers it leans on, and a comparison that names the row it fails in.
 *
 * Misuse  Only for files with a main() of their own.
 */
#ifndef TESTS_KIT_CHECK_H
#define TESTS_KIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* 1 if the texts differ, and says so: a test adds up its rows and ends in assert_int_equal(sum, 0).
 */
static inline int check_text(const char *why, const char *found, const char *want)
{
    if (strcmp(found, want) == 0)
        return 0;
    print_error("row: %s\n    found    %s\n    expected %s\n", why, found, want);
    return 1;
}

/* Stops at the row whose sentence is why. */
#define CHECK_INT(why, found, want)                                                                \
    do {                                                                                           \
        long long check_found = (long long)(found), check_want = (long long)(want);                \
                                                                                                   \
        if (check_found != check_want)                                                             \
            print_error("row: %s\n", (why));                                                       \
        assert_int_equal(check_found, check_want);                                                 \
    } while (0)

#endif
