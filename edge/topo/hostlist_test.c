/* Slurm's lists of names: every name in order, broken ones refused, none without bound. */
#include "edge/topo/topo_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct got {
    struct out names;
    unsigned count;
};

static bool add(void *data, const char *name, size_t length)
{
    struct got *got = data;

    if (got->names.length)
        out_char(&got->names, ' ');
    out_bytes(&got->names, name, length);
    return ++got->count < 1000;
}

static void lists_are_written_out(void **state)
{
    static const struct {
        const char *why, *list, *names, *error;
    } row[] = {
        {"one name", "a", "a", NULL},
        {"several", "a,b,c", "a b c", NULL},
        {"a range", "n[1-3]", "n1 n2 n3", NULL},
        {"numbers keep their width", "n[08-11]", "n08 n09 n10 n11", NULL},
        {"a width that grows", "n[9-10]", "n9 n10", NULL},
        {"ranges and numbers", "n[1,3-4,9]", "n1 n3 n4 n9", NULL},
        {"a name with a tail", "n[1-2]-ib", "n1-ib n2-ib", NULL},
        {"brackets multiply, the last runs fastest", "r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2", NULL},
        {"numbers only", "[1101-1102]", "1101 1102", NULL},
        {"names behind a bracket", "n[1-2],m", "n1 n2 m", NULL},
        {"empty elements are nothing", "a,,b,", "a b", NULL},
        {"nothing", "", "", NULL},
        {"large numbers", "n[4294967296-4294967297]", "n4294967296 n4294967297", NULL},
        {"open", "n[1", "", "a bracket that is not closed"},
        {"backward", "n[2-1]", "", "a range that is not like [1-3,7]"},
        {"empty", "n[]", "", "a range that is not like [1-3,7]"},
        {"letters", "n[a-c]", "", "a range that is not like [1-3,7]"},
        {"a comma too many", "n[1,]", "", "a range that is not like [1-3,7]"},
        {"a step", "n[1-9:2]", "", "a range that is not like [1-3,7]"},
        {"five brackets", "a[1]b[1]c[1]d[1]e[1]", "", "more than 4 brackets in a name"},
        {"a number of 20 digits", "n[18446744073709551616]", "",
         "a range that is not like [1-3,7]"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct got got = {0};
        const char *why = NULL;
        bool fine = hostlist_each(row[i].list, strlen(row[i].list), add, &got, &why);
        const char *names = got.names.bytes ? got.names.bytes : "";

        if (fine != (row[i].error == NULL) || strcmp(names, row[i].names) != 0)
            fail_msg("%s: \"%s\"", row[i].why, names);
        if (!fine && strcmp(why, row[i].error) != 0)
            fail_msg("%s: %s", row[i].why, why);
        out_free(&got.names);
    }
}

static void who_takes_the_names_may_stop(void **state)
{
    struct got got = {0};
    const char *why = NULL;
    static const char list[] = "n[1-999999999999]";

    (void)state;
    assert_false(hostlist_each(list, strlen(list), add, &got, &why));
    assert_int_equal(got.count, 1000);
    assert_string_equal(why, "more names than this program holds");
    out_free(&got.names);
}

static void a_name_has_a_length(void **state)
{
    char list[600];
    struct got got = {0};
    const char *why = NULL;

    (void)state;
    memset(list, 'a', sizeof(list));
    assert_false(hostlist_each(list, 254, add, &got, &why));
    assert_string_equal(why, "a name longer than 253 bytes");
    assert_true(hostlist_each(list, 253, add, &got, &why));
    memcpy(list + 240, "[1-2]", 5);
    assert_false(hostlist_each(list, 300, add, &got, &why));
    out_free(&got.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_written_out),
        cmocka_unit_test(who_takes_the_names_may_stop),
        cmocka_unit_test(a_name_has_a_length),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
