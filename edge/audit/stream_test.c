/* What comes out of a dump, object by object, and what is said of things that are none. */
#include "edge/audit/stream.h"

#include "edge/base/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "Kind name;" per object. */
static void note(void *context, const char *kind, const struct tree *object)
{
    const struct tree *meta = tree_find(object, "metadata"),
                      *name = meta && meta->kind == TREE_MAP ? tree_find(meta, "name") : NULL;

    out_format(context, "%s %s;", kind ? kind : "-", name && name->text ? name->text : "-");
}

static int read_text(const char *text, struct out *seen, struct err *err)
{
    struct stream s = {.object = note, .context = seen};

    out_clear(seen);
    out_add(seen, "");
    return stream_bytes(&s, "dump", text, strlen(text), err);
}

#define POD  "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}"
#define NODE "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}}"

static void objects_come_one_by_one(void **state)
{
    static const struct {
        const char *why, *text, *seen;
    } row[] = {
        {"a list as kubectl writes it: items before the kind",
         "{\"apiVersion\":\"v1\",\"items\":[" NODE "," POD "],\"kind\":\"List\"}", "Node n;Pod a;"},
        {"an object alone", POD, "Pod a;"},
        {"several, one after the other", POD "\n" NODE "\n", "Pod a;Node n;"},
        {"an array of objects", "[" POD "," NODE "]", "Pod a;Node n;"},
        {"an array of lists",
         "[{\"kind\":\"List\",\"items\":[" POD "]},{\"items\":[" NODE "],\"kind\":\"List\"}]",
         "Pod a;Node n;"},
        {"items of a typed list say no kind themselves",
         "{\"kind\":\"NodeList\",\"items\":[{\"metadata\":{\"name\":\"x\"}}]}", "Node x;"},
        {"a list without items", "{\"kind\":\"List\",\"items\":[]}", ""},
        {"a list whose items are null", "{\"kind\":\"PodList\",\"items\":null}", ""},
        {"null among the items", "{\"items\":[null," POD "],\"kind\":\"List\"}", "Pod a;"},
        {"items deeper inside are no objects",
         "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},\"data\":{\"items\":[" POD "]}}",
         "ConfigMap c;"},
        {"what is not wanted may hold anything",
         "{\"kind\":\"Pod\",\"status\":{\"images\":[[{\"a\":[1,2,{\"b\":null}]}],true,1e9]},"
         "\"metadata\":{\"managedFields\":[{\"f:x\":{}}],\"name\":\"a\"}}",
         "Pod a;"},
        {"a mark of byte order", "\xEF\xBB\xBF" POD, "Pod a;"},
        {"YAML, several documents",
         "---\nkind: Pod\nmetadata:\n  name: a\n---\n# nothing\n---\nkind: Node\nmetadata: {name: "
         "n}\n",
         "Pod a;Node n;"},
        {"a list in YAML",
         "kind: List\nitems:\n- kind: Pod\n  metadata: {name: a}\n- kind: Node\n  metadata: {name: "
         "n}\n",
         "Pod a;Node n;"},
        {"a typed list in YAML", "kind: PodList\nitems:\n- metadata: {name: a}\n", "Pod a;"},
    };
    struct out seen = {NULL, 0, 0};
    struct err err;

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        int code = read_text(row[n].text, &seen, &err);

        if (code != 0 || strcmp(seen.bytes, row[n].seen) != 0)
            fail_msg("%s: %d %s, %s", row[n].why, code, seen.bytes, code ? err.text : "");
    }
    out_free(&seen);
}

static void other_things_are_told_apart(void **state)
{
    static const struct {
        const char *why, *text, *seen, *words;
    } row[] = {
        {"cut inside the third object",
         "{\"items\":[" NODE "," POD ",{\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"namesp",
         "Node n;Pod a;", "inside object 3 (Pod b); the 2 objects before it are complete"},
        {"cut between objects", "{\"items\":[" NODE ",", "Node n;",
         "the 1 objects before it are complete"},
        {"cut after all items", "{\"items\":[" NODE "]", "Node n;", "Is the file cut off?"},
        {"an array that is cut", "[" POD, "Pod a;", "Is the file cut off?"},
        {"broken in the middle", "{\"items\":[" NODE ",{\"kind\":\"Pod\",,}]}", "Node n;",
         "broken JSON in object 2 (Pod)"},
        {"a page of a proxy", "<!DOCTYPE html><html>", "", "HTML or XML page"},
        {"a table", "NAME    STATUS   ROLES\nn1      Ready    <none>\n", "",
         "kubectl get nodes,pods -A -o json"},
        {"a table of all namespaces", "NAMESPACE     NAME    READY\n", "", "a table of kubectl"},
        {"columns of one's own", "Node            Available(GPUs)  Used(GPUs)\n", "",
         "a table of kubectl"},
        {"kubectl describe", "Name:               n1\nRoles: <none>\n", "", "kubectl describe"},
        {"kubectl failed", "Error from server (Forbidden): nodes is forbidden\n", "",
         "kubectl itself failed: Error from server (Forbidden)"},
        {"nothing", " \n", "", "it is empty"},
        {"plain values", "[1,2]", "", "a plain value where an object should stand"},
        {"plain text", "hello\n", "", "plain text"},
        {"a key twice, where it matters",
         "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"name\":\"b\"}}", "", "a second time"},
        {"bytes that are no text", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"\xFF\"}}", "",
         "not UTF-8"},
        {"YAML that is broken", "kind: Pod\n  metadata: x\n", "", "broken YAML"},
    };
    struct out seen = {NULL, 0, 0};
    struct err err;

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        int code = read_text(row[n].text, &seen, &err);

        if (code != ERR_INPUT || strcmp(seen.bytes, row[n].seen) != 0 ||
            !strstr(err.text, row[n].words))
            fail_msg("%s: %d, saw \"%s\", said \"%s\"", row[n].why, code, seen.bytes, err.text);
    }
    out_free(&seen);
}

/* Files as they lie in a folder; only those that are dumps are read. */
static void gzip_and_folders(void **state)
{
    char folder[] = "/tmp/stream_test.XXXXXX", path[4][80];
    struct out seen = {NULL, 0, 0};
    struct stream s = {.object = note, .context = &seen};
    struct err err;
    gzFile zipped;
    FILE *file;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path[0], sizeof(path[0]), "%s/b.json.gz", folder);
    (void)snprintf(path[1], sizeof(path[1]), "%s/a.yaml", folder);
    (void)snprintf(path[2], sizeof(path[2]), "%s/log.txt", folder);
    (void)snprintf(path[3], sizeof(path[3]), "%s/cut.gz", folder);
    zipped = gzopen(path[0], "wb");
    assert_non_null(zipped);
    assert_true(gzputs(zipped, "{\"items\":[" NODE "]}") > 0);
    assert_int_equal(gzclose(zipped), Z_OK);
    file = fopen(path[1], "w");
    assert_non_null(file);
    assert_true(fputs("kind: Pod\nmetadata: {name: a}\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    file = fopen(path[2], "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);

    assert_int_equal(stream_read(&s, folder, &err), 0);
    assert_string_equal(seen.bytes, "Pod a;Node n;");
    assert_int_equal(s.files, 2);
    assert_int_equal(s.files_passed_over, 1);

    file = fopen(path[3], "w"); /* a header of gzip and nothing after it */
    assert_non_null(file);
    assert_int_equal(fwrite("\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56", 1, 12, file), 12);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(stream_read(&s, path[3], &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "cut or damaged"));
    assert_int_equal(stream_read(&s, "/nowhere/at/all", &err), ERR_TROUBLE);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(unlink(path[n]), 0);
    assert_int_equal(rmdir(folder), 0);
    out_free(&seen);
}

/* An object far larger than a piece, with a value far larger than a piece in it. */
static void large_values_pass(void **state)
{
    struct out text = {NULL, 0, 0}, seen = {NULL, 0, 0};
    struct err err;

    (void)state;
    out_add(&text, "{\"items\":[{\"metadata\":{\"annotations\":{\"big\":\"");
    for (unsigned n = 0; n < 3000000; n++)
        out_char(&text, 'x');
    out_add(&text, "\"},\"name\":\"a\"},\"kind\":\"Pod\"}]}");
    assert_int_equal(read_text(text.bytes, &seen, &err), 0);
    assert_string_equal(seen.bytes, "Pod a;");
    out_free(&text);
    out_free(&seen);
}

/* Lists inside each other, as deep as anybody likes, in what is not wanted; and where it is. */
static void nesting_is_bounded(void **state)
{
    static const char *const key[] = {"junk", "labels"};
    struct err err;

    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        struct out text = {NULL, 0, 0}, seen = {NULL, 0, 0};
        int code;

        out_format(&text, "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"%s\":", key[n]);
        for (unsigned d = 0; d < 5000; d++)
            out_char(&text, '[');
        for (unsigned d = 0; d < 5000; d++)
            out_char(&text, ']');
        out_add(&text, "}}");
        code = read_text(text.bytes, &seen, &err);
        assert_int_equal(code, n == 0 ? 0 : ERR_INPUT);
        if (code)
            assert_non_null(strstr(err.text, "deeper than 64"));
        out_free(&text);
        out_free(&seen);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_come_one_by_one), cmocka_unit_test(other_things_are_told_apart),
        cmocka_unit_test(gzip_and_folders),        cmocka_unit_test(large_values_pass),
        cmocka_unit_test(nesting_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
