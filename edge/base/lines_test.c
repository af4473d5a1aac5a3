/* Files as they come: plain, gzipped, cut, with the marks of other systems, or not files at all. */
#include "edge/base/lines.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static unsigned char zipped[1 << 20];

static size_t zip(const char *text, size_t length)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)text,
                  .avail_in = (uInt)length,
                  .next_out = zipped,
                  .avail_out = sizeof(zipped)};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    return sizeof(zipped) - z.avail_out;
}

/* All lines, each followed by a bar; the code of the end. */
static int all_lines(const char *path, char *out, size_t room, struct err *err)
{
    struct lines *l = NULL;
    char *text;
    size_t length, used = 0;
    uint32_t number, expected = 0;
    int more = -lines_open(&l, path, err);

    out[0] = '\0';
    while (more >= 0 && (more = lines_next(l, &text, &length, &number, err)) > 0) {
        assert_int_equal(number, ++expected);
        assert_int_equal(strlen(text), length);
        used += (size_t)snprintf(out + used, room - used, "%s|", text);
    }
    lines_close(l);
    return -more;
}

static void lines_are_cut(void **state)
{
    static const struct {
        const char *why, *text;
        size_t length;
        const char *lines;
    } row[] = {
        {"an empty file", "", 0, ""},
        {"one line", "a\n", 2, "a|"},
        {"no end of line at the end", "a\nb", 3, "a|b|"},
        {"empty lines are lines", "\n\na\n\n", 5, "||a||"},
        {"ends of another system", "a\r\nb\r\n", 6, "a|b|"},
        {"a lone return stays", "a\rb\n", 4, "a\rb|"},
        {"an order mark", "\xEF\xBB\xBFm\nx\n", 7, "m|x|"},
        {"only an order mark", "\xEF\xBB\xBF", 3, "|"},
        {"an order mark elsewhere is text", "a\n\xEF\xBB\xBFm\n", 7, "a|\xEF\xBB\xBFm|"},
    };
    struct memfile f;
    struct err err;
    char out[100];

    (void)state;
    memfile_open(&f);
    for (size_t i = 0; i < COUNT(row); i++) {
        for (int pass = 0; pass < 2; pass++) {
            if (pass)
                memfile_set(&f, zipped, zip(row[i].text, row[i].length));
            else
                memfile_set(&f, row[i].text, row[i].length);
            if (all_lines(f.path, out, sizeof(out), &err) || strcmp(out, row[i].lines) != 0)
                fail_msg("%s: %s", row[i].why, out);
        }
    }
    memfile_close(&f);
}

static void trouble_is_named(void **state)
{
    struct memfile f;
    struct err err = {""};
    char out[100];
    size_t length = zip("first\nsecond\nthird\n", 19);

    (void)state;
    memfile_open(&f);
    memfile_set(&f, zipped, length - 9);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "cut"));
    memfile_set(&f, zipped, length - 4);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    zipped[length - 8] ^= 1;
    memfile_set(&f, zipped, length);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "broken gzip"));
    zipped[length - 8] ^= 1;
    zipped[length] = 'x';
    memfile_set(&f, zipped, length + 1);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    memcpy(zipped + length, zipped, length);
    memfile_set(&f, zipped, 2 * length);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), 0);
    assert_string_equal(out, "first|second|third|first|second|third|");
    zipped[length] ^= 1;
    memfile_set(&f, zipped, 2 * length);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "broken gzip"));
    memfile_set(&f, zipped, 1);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), 0);
    memfile_set(&f, "a\nb\0c\n", 6);
    assert_int_equal(all_lines(f.path, out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ":2: found a NUL"));
    assert_int_equal(all_lines("/", out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "found a directory"));
    assert_int_equal(all_lines("no/such/file", out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "check the path"));
    memfile_close(&f);
}

/* A line of 16 MiB is read, one more byte is refused; the file is mostly air. */
static void long_lines_have_a_limit(void **state)
{
    struct memfile f;
    struct err err = {""};
    struct lines *l;
    char *text;
    size_t length;
    uint32_t number;
    char *line = malloc(LINES_BYTES_MAX + 2);

    (void)state;
    memset(line, 'x', LINES_BYTES_MAX + 1);
    memfile_open(&f);
    for (size_t more = 0; more < 2; more++) {
        line[LINES_BYTES_MAX + more] = '\n';
        memfile_set(&f, line, LINES_BYTES_MAX + more + 1);
        line[LINES_BYTES_MAX + more] = 'x';
        assert_int_equal(lines_open(&l, f.path, &err), 0);
        assert_int_equal(lines_next(l, &text, &length, &number, &err), more ? -ERR_INPUT : 1);
        lines_close(l);
    }
    assert_non_null(strstr(err.text, ":1: found a line longer than 16 MiB"));
    free(line);
    memfile_close(&f);
}

/* Lines on both sides of every border of the buffer. */
static void borders_do_not_show(void **state)
{
    struct memfile f;
    struct err err;
    struct lines *l;
    char *text, *all = malloc(400000);
    size_t length, used = 0, at = 0;
    uint32_t number;

    (void)state;
    for (unsigned i = 0; used < 300000; i++) {
        for (unsigned j = 0; j < i % 700; j++)
            all[used++] = (char)('a' + (i + j) % 26);
        all[used++] = '\n';
    }
    memfile_open(&f);
    memfile_set(&f, all, used);
    assert_int_equal(lines_open(&l, f.path, &err), 0);
    while (lines_next(l, &text, &length, &number, &err) > 0) {
        assert_memory_equal(all + at, text, length);
        at += length + 1;
        assert_int_equal(all[at - 1], '\n');
    }
    assert_int_equal(at, used);
    lines_close(l);
    lines_close(NULL);
    free(all);
    memfile_close(&f);
}

/* The commonest slip: the other end of the name. */
static void the_neighbour_is_named(void **state)
{
    const char *base = getenv("TMPDIR");
    char folder[200], path[300], other[300], out[10];
    struct err err = {""};

    (void)state;
    (void)snprintf(folder, sizeof(folder), "%s/lines-XXXXXX", base && *base ? base : P_tmpdir);
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/a.csv", folder);
    (void)snprintf(other, sizeof(other), "%s/a.csv.gz", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(all_lines(other, out, sizeof(out), &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "there is "));
    (void)unlink(path);
    (void)rmdir(folder);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_cut),           cmocka_unit_test(trouble_is_named),
        cmocka_unit_test(long_lines_have_a_limit), cmocka_unit_test(borders_do_not_show),
        cmocka_unit_test(the_neighbour_is_named),
    };

    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
