/* Numbers, ranges and masks from outside: exact, or refused. */
#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void numbers_are_whole(void **state)
{
    static const struct {
        const char *why, *text;
        int64_t limit;
        bool fine;
        int64_t value;
    } row[] = {
        {"zero", "0", 9, true, 0},
        {"the limit", "9", 9, true, 9},
        {"one more", "10", 9, false, 0},
        {"nothing", "", 9, false, 0},
        {"a sign", "-1", 9, false, 0},
        {"a blank", "1 ", 9, false, 0},
        {"nineteen digits", "1000000000000000000", INT64_MAX, false, 0},
        {"eighteen", "999999999999999999", INT64_MAX, true, 999999999999999999},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        int64_t value = 0;
        bool fine = topo_number(row[i].text, strlen(row[i].text), row[i].limit, &value);

        if (fine != row[i].fine || (fine && value != row[i].value))
            fail_msg("%s: %lld", row[i].why, (long long)value);
    }
}

static void ranges_are_lists_of_numbers(void **state)
{
    static const struct {
        const char *why, *text;
        bool fine;
    } row[] = {
        {"one", "0", true},          {"a range", "0-3", true},   {"both", "0-3,8,10-11", true},
        {"equal ends", "3-3", true}, {"nothing", "", false},     {"backward", "3-0", false},
        {"no end", "3-", false},     {"a comma", "3,", false},   {"N/A", "N/A", false},
        {"a blank", "0, 1", false},  {"too large", "99", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        if (topo_is_ranges(row[i].text, 64) != row[i].fine)
            fail_msg("%s", row[i].why);
}

static void masks_are_ranges(void **state)
{
    static const struct {
        const char *why, *mask, *ranges; /* NULL: none */
    } row[] = {
        {"one word", "000000ff", "0-7"},
        {"the highest word stands first", "00000001,00000000", "32"},
        {"a run across words", "00000003,c0000000", "30-33"},
        {"with 0x, as hwloc writes it", "0x0000000f,0xf0000000", "28-35"},
        {"empty words are zero", "0x1,,0x0", "64"},
        {"short words", "3,f", "0-3,32-33"},
        {"no CPU at all", "0x0", ""},
        {"capitals", "0000ABCD", "0,2-3,6-9,11,13,15"},
        {"a word of nine digits", "0ffffffff", NULL},
        {"letters", "all", NULL},
        {"nothing", "", NULL},
    };
    struct topo *t = memory_zeroed(sizeof(*t));

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        const char *ranges = topo_mask_ranges(t, row[i].mask);

        if ((ranges == NULL) != (row[i].ranges == NULL) ||
            (ranges && strcmp(ranges, row[i].ranges) != 0))
            fail_msg("%s: %s", row[i].why, ranges ? ranges : "none");
    }
    topo_close(t);
}

static void names_are_found_again(void **state)
{
    struct topo_names n = {0};
    char key[2000][8];
    uint32_t value;
    bool is_new;

    (void)state;
    assert_false(topo_names_find(&n, "n0", &value));
    for (uint32_t i = 0; i < 2000; i++) {
        (void)snprintf(key[i], sizeof(key[i]), "n%u", i);
        assert_int_equal(topo_names_put(&n, key[i], i, &is_new), i);
        assert_true(is_new);
    }
    for (uint32_t i = 0; i < 2000; i++) {
        assert_true(topo_names_find(&n, key[i], &value));
        assert_int_equal(value, i);
        assert_int_equal(topo_names_put(&n, key[i], 7777, &is_new), i);
        assert_false(is_new);
    }
    assert_false(topo_names_find(&n, "m", &value));
    topo_names_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_whole),
        cmocka_unit_test(ranges_are_lists_of_numbers),
        cmocka_unit_test(masks_are_ranges),
        cmocka_unit_test(names_are_found_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
