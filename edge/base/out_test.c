/* What leaves the program: numbers to the digit, strings that no reader trips over, and files that
 * either are there in full or are complained about by name. */
#include "edge/base/out.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void decimals_are_exact(void **state)
{
    static const struct {
        const char *why;
        int64_t value;
        unsigned decimals;
        const char *text;
    } row[] = {
        {"zero has no point", 0, 6, "0"},
        {"whole numbers lose their zeros", 12000000, 6, "12"},
        {"zeros between the digits stay", 12050000, 6, "12.05"},
        {"small numbers get their zeros back", 1, 6, "0.000001"},
        {"a number shorter than its decimals", 120, 6, "0.00012"},
        {"the sign stands before the zero", -500000, 6, "-0.5"},
        {"the largest", INT64_MAX, 0, "9223372036854775807"},
        {"the smallest has no positive twin", INT64_MIN, 3, "-9223372036854775.808"},
        {"eighteen decimals", 1, 18, "0.000000000000000001"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out t = {0};

        out_decimal(&t, row[i].value, row[i].decimals);
        assert_string_equal(t.bytes, row[i].text);
        out_free(&t);
    }
}

static void seconds_are_rounded_to_microseconds(void **state)
{
    static const struct {
        const char *why;
        int64_t ns;
        const char *text;
    } row[] = {
        {"whole", 3000000000, "3"},
        {"milliseconds", 38247000000, "38.247"},
        {"half a microsecond goes up", 1500, "0.000002"},
        {"less goes down", 1499, "0.000001"},
        {"below zero half goes away from zero, too", -1500, "-0.000002"},
        {"nearly a second becomes one", 999999600, "1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out t = {0};

        out_seconds(&t, row[i].ns);
        assert_string_equal(t.bytes, row[i].text);
        out_free(&t);
    }
}

static void reals_are_cut(void **state)
{
    struct out t = {0};

    (void)state;
    out_real(&t, 92.123456789, 6);
    out_char(&t, ' ');
    out_real(&t, -0.00000001, 6);
    out_char(&t, ' ');
    out_real(&t, 1e20, 3);
    out_char(&t, ' ');
    out_real(&t, (double)NAN, 3);
    assert_string_equal(t.bytes, "92.123457 0 100000000000000000000 null");
    out_free(&t);
}

static void strings_are_safe(void **state)
{
    static const struct {
        const char *why, *text, *json, *html;
    } row[] = {
        {"plain", "gpu-0", "\"gpu-0\"", "gpu-0"},
        {"quotes and backslashes", "a\"b\\c", "\"a\\\"b\\\\c\"", "a&quot;b\\c"},
        {"control characters", "a\n\x01", "\"a\\n\\u0001\"", "a\n\xEF\xBF\xBD"},
        {"other scripts pass", "\xE4\xB8\xAD\xC3\xA9", "\"\xE4\xB8\xAD\xC3\xA9\"",
         "\xE4\xB8\xAD\xC3\xA9"},
        {"four bytes pass", "\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\"", "\xF0\x9F\x98\x80"},
        {"a cut sequence is replaced", "a\xE4\xB8", "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"",
         "a\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"a long form is replaced", "\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"",
         "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"half a pair is replaced", "\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"",
         "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"beyond the last plane", "\xF4\x90\x80\x80",
         "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"",
         "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"markup is text", "<b>&'", "\"<b>&'\"", "&lt;b&gt;&amp;&#39;"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out t = {0};

        out_json(&t, row[i].text);
        assert_string_equal(t.bytes, row[i].json);
        out_clear(&t);
        out_html(&t, row[i].text);
        assert_string_equal(t.bytes, row[i].html);
        out_free(&t);
    }
    assert_int_equal(out_columns("\xE4\xB8\xAD x"), 3);
}

static void buffers_grow(void **state)
{
    struct out t = {0};
    size_t limit = 0;
    uint64_t *table = NULL;

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        out_format(&t, "%u,", i);
    assert_int_equal(t.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(t.bytes), t.length);
    out_free(&t);
    for (size_t i = 0; i < 100; i++) {
        table = out_grow(table, i, &limit, sizeof(*table));
        assert_int_equal(table[i], 0);
        table[i] = i;
    }
    assert_int_equal(table[99], 99);
    free(table);
}

static void path_in(char *path, size_t room, const char *name)
{
    static char folder[] = P_tmpdir "/out_test_XXXXXX";
    static bool made;

    if (!made)
        assert_non_null(mkdtemp(folder));
    made = true;
    snprintf(path, room, "%s/%s", folder, name);
}

static void whole_files_appear_at_once(void **state)
{
    char path[128], hidden[160], line[16] = "";
    struct out_file f;
    struct err err;
    FILE *in;

    (void)state;
    path_in(path, sizeof(path), "whole");
    snprintf(hidden, sizeof(hidden), "%s.%ld.tmp", path, (long)getpid());
    assert_int_equal(out_file_open(&f, path, true, &err), ERR_NONE);
    assert_int_equal(access(hidden, F_OK), 0);
    assert_int_equal(out_file_write(&f, "all\n", 4), ERR_NONE);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(out_file_close(&f, &err), ERR_NONE);
    assert_int_not_equal(access(hidden, F_OK), 0);
    in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof(line), in));
    assert_string_equal(line, "all\n");
    fclose(in);
}

static void one_writer_at_a_time(void **state)
{
    char path[128];
    struct out_file first, second;
    struct err err;
    struct stat s;

    (void)state;
    path_in(path, sizeof(path), "shared");
    assert_int_equal(out_file_open(&first, path, false, &err), ERR_NONE);
    assert_int_equal(out_file_write(&first, "mine\n", 5), ERR_NONE);
    assert_int_equal(out_file_open(&second, path, false, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "another run writes it"));
    assert_int_equal(out_file_close(&first, &err), ERR_NONE);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_size, 5);
    /* the next one begins anew */
    assert_int_equal(out_file_open(&second, path, false, &err), ERR_NONE);
    assert_int_equal(out_file_close(&second, &err), ERR_NONE);
    assert_int_equal(stat(path, &s), 0);
    assert_int_equal(s.st_size, 0);
}

static void trouble_is_named(void **state)
{
    struct out t = {0};
    struct out_file f;
    struct err err = {0};
    char path[128];
    int ends[2];

    (void)state;
    path_in(path, sizeof(path), "no/such/folder");
    assert_int_equal(out_save(&t, path, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "no/such/folder"));

    /* a disk that is full */
    assert_int_equal(out_file_open(&f, "/dev/full", false, &err), ERR_NONE);
    assert_int_equal(out_file_write(&f, "x", 1), ERR_TROUBLE);
    assert_int_equal(out_file_write(&f, "x", 1), ERR_TROUBLE);
    assert_int_equal(out_file_close(&f, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "/dev/full: No space left"));

    /* a pipe that nobody reads */
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    assert_int_equal(out_file_open(&f, "-", false, &err), ERR_NONE);
    f.fd = ends[1];
    assert_int_equal(out_file_write(&f, "x", 1), ERR_TROUBLE);
    assert_int_equal(out_file_close(&f, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "standard output: Broken pipe"));
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_exact),
        cmocka_unit_test(seconds_are_rounded_to_microseconds),
        cmocka_unit_test(reals_are_cut),
        cmocka_unit_test(strings_are_safe),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(whole_files_appear_at_once),
        cmocka_unit_test(one_writer_at_a_time),
        cmocka_unit_test(trouble_is_named),
    };

    return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
