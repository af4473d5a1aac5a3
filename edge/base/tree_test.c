/* Both formats become the same tree; numbers are exact or refused; broken texts say where. */
#include "edge/base/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void numbers_are_exact(void **state)
{
    static const struct {
        const char *why, *text;
        unsigned decimals;
        bool fine;
        int64_t value;
    } row[] = {
        {"a whole number", "42", 0, true, 42},
        {"zero", "0", 0, true, 0},
        {"minus zero", "-0", 6, true, 0},
        {"six decimals of a second", "394.419", 6, true, 394419000},
        {"as many decimals as allowed", "0.000001", 6, true, 1},
        {"one too many", "0.0000001", 6, false, 0},
        {"zeros behind do not count", "1800.0", 0, true, 1800},
        {"many zeros behind", "0.50000000000000000000000000000", 1, true, 5},
        {"a half is not whole", "0.5", 0, false, 0},
        {"an exponent that is exact", "1e3", 0, true, 1000},
        {"a small exponent", "1e-05", 6, true, 10},
        {"a smaller one", "1e-7", 6, false, 0},
        {"a capital with a plus", "12E+2", 0, true, 1200},
        {"the exponent takes decimals away", "1.25e2", 0, true, 125},
        {"zero with any exponent", "0e999999999999", 0, true, 0},
        {"far out of range", "1e999999999999999999999", 0, false, 0},
        {"far below", "1e-999999999999999999999", 6, false, 0},
        {"the largest", "9223372036854775807", 0, true, INT64_MAX},
        {"one more", "9223372036854775808", 0, false, 0},
        {"the least", "-9223372036854775808", 0, true, INT64_MIN},
        {"one less", "-9223372036854775809", 0, false, 0},
        {"twenty digits", "18446744073709551616", 0, false, 0},
        {"in range until the unit", "9223372036855", 6, false, 0},
        {"many zeros, out of range", "100000000000000000000", 0, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        const struct tree t = {.kind = TREE_NUMBER, .text = row[i].text};
        int64_t value = 0;

        if (tree_decimal(&t, row[i].decimals, &value) != row[i].fine || value != row[i].value)
            fail_msg("%s: %lld", row[i].why, (long long)value);
    }

    const struct tree text = {.kind = TREE_STRING, .text = "42"};
    int64_t value;
    assert_false(tree_decimal(&text, 0, &value));
    assert_false(tree_decimal(NULL, 0, &value));
}

/* A tree in one line, to compare: maps as {k:v}, lists as [v], texts quoted, lines behind @. */
static void draw(FILE *out, const struct tree *t)
{
    static const char *const open = "[{", *const close = "]}";

    if (t->key)
        (void)fprintf(out, "%s:", t->key);
    switch (t->kind) {
    case TREE_NULL:
        (void)fprintf(out, "null");
        break;
    case TREE_BOOL:
        (void)fprintf(out, "%s", t->truth ? "true" : "false");
        break;
    case TREE_NUMBER:
        (void)fprintf(out, "%s", t->text);
        break;
    case TREE_STRING:
        (void)fprintf(out, "'%s'", t->text);
        break;
    case TREE_LIST:
    case TREE_MAP:
        (void)fprintf(out, "%c", open[t->kind == TREE_MAP]);
        for (const struct tree *c = t->child; c; c = c->next) {
            draw(out, c);
            if (c->next)
                (void)fprintf(out, ",");
        }
        (void)fprintf(out, "%c", close[t->kind == TREE_MAP]);
        break;
    }
    (void)fprintf(out, "@%u", t->line);
}

static int read_either(struct tree_memory *m, bool yaml, const char *text, struct tree **tree,
                       struct err *err)
{
    tree_memory_reset(m);
    if (yaml)
        return tree_from_yaml(m, "F", text, strlen(text), tree, err);
    return tree_from_json(m, "F", 1, text, strlen(text), tree, err);
}

struct good {
    const char *why, *text, *drawn;
};

static void check_good(bool yaml, const struct good *row, size_t count)
{
    struct tree_memory *m = tree_memory_open();

    for (size_t i = 0; i < count; i++) {
        struct tree *tree = NULL;
        struct err err = {""};
        char *text = NULL;
        size_t length;

        if (read_either(m, yaml, row[i].text, &tree, &err))
            fail_msg("%s: %s", row[i].why, err.text);
        FILE *out = open_memstream(&text, &length);
        draw(out, tree);
        (void)fclose(out);
        if (strcmp(text, row[i].drawn) != 0)
            fail_msg("%s: %s", row[i].why, text);
        free(text);
    }
    tree_memory_close(m);
}

static void json_becomes_a_tree(void **state)
{
    static const struct good row[] = {
        {"every kind", "{\"a\":null,\"b\":true,\"c\":-1.50,\"d\":\"x\",\"e\":[false]}",
         "{a:null@1,b:true@1,c:-1.50@1,d:'x'@1,e:[false@1]@1}@1"},
        {"lines are counted", "{\n\"a\":\n1,\n\n\"b\":[2,\n3]}", "{a:1@3,b:[2@5,3@6]@5}@1"},
        {"empty things", "{\"\":\"\",\"a\":{},\"b\":[]}", "{:''@1,a:{}@1,b:[]@1}@1"},
        {"escapes", "\"\\u20ac\\n\\\\\\ud83d\\ude00\"", "'\xE2\x82\xAC\n\\\xF0\x9F\x98\x80'@1"},
        {"equal keys in different maps", "[{\"a\":1},{\"a\":1}]", "[{a:1@1}@1,{a:1@1}@1]@1"},
        {"spaces around", " 7 ", "7@1"},
    };

    (void)state;
    check_good(false, row, COUNT(row));
}

static void yaml_becomes_a_tree(void **state)
{
    static const struct good row[] = {
        {"every kind", "a: null\nb: true\nc: -1.50\nd: x\ne: [false, ~]\nf:\n",
         "{a:null@1,b:true@2,c:-1.50@3,d:'x'@4,e:[false@5,null@5]@5,f:null@6}@1"},
        {"quotes make texts", "['1', \"true\", !!str 2, '']", "['1'@1,'true'@1,'2'@1,''@1]@1"},
        {"what is no JSON number is text", "[007, 0x1F, 1_0, 1., .5, +1, 1e, -, 1g.10gb, 12:30]",
         "['007'@1,'0x1F'@1,'1_0'@1,'1.'@1,'.5'@1,'+1'@1,'1e'@1,'-'@1,'1g.10gb'@1,'12:30'@1]@1"},
        {"numbers", "[0, -0, 1e3, 1.5E-2]", "[0@1,-0@1,1e3@1,1.5E-2@1]@1"},
        {"keys are texts", "{1: a, true: b}", "{1:'a'@1,true:'b'@1}@1"},
        {"an alias repeats", "a: &x {k: [1]}\nb: *x\nc: &x 2\nd: *x\n",
         "{a:{k:[1@1]@1}@1,b:{k:[1@1]@1}@1,c:2@3,d:2@3}@1"},
        {"one document with marks", "---\na: 1\n...\n", "{a:1@2}@2"},
        {"a folded text", "a: >-\n  x\n  y\n", "{a:'x y'@1}@1"},
        {"comments and an order mark", "\xEF\xBB\xBF# hello\na: 1 # one\n", "{a:1@2}@2"},
    };

    (void)state;
    check_good(true, row, COUNT(row));
}

struct bad {
    const char *why, *text, *said;
};

static void check_bad(bool yaml, const struct bad *row, size_t count)
{
    struct tree_memory *m = tree_memory_open();

    for (size_t i = 0; i < count; i++) {
        struct tree *tree = NULL;
        struct err err = {""};

        assert_int_equal(read_either(m, yaml, row[i].text, &tree, &err), ERR_INPUT);
        assert_null(tree);
        if (!strstr(err.text, row[i].said) || !strstr(err.text, "expected"))
            fail_msg("%s: %s", row[i].why, err.text);
    }
    tree_memory_close(m);
}

static void broken_json_is_named(void **state)
{
    static const struct bad row[] = {
        {"nothing", "", "F:1: found broken JSON"},
        {"cut in a map", "{\"a\":1,", "F:1: found broken JSON at byte 8"},
        {"cut in a text", "{\"a\":\"xy", "F:1: found broken JSON"},
        {"a stray letter in line 3", "{\n\n\"a\":x}", "F:3: found broken JSON"},
        {"two values", "{} {}", "F:1: found broken JSON"},
        {"a comma too many", "[1,]", "F:1: found broken JSON"},
        {"a leading zero", "[01]", "F:1: found broken JSON"},
        {"a plus", "[+1]", "F:1: found broken JSON"},
        {"not a number", "[NaN]", "F:1: found broken JSON"},
        {"a comment", "/* x */ 1", "F:1: found broken JSON"},
        {"a key twice", "{\"a\":1,\n\"a\":2}", "F:2: found the key \"a\" a second time"},
        {"an empty key twice", "{\"\":1,\"\":2}", "found the key \"\" a second time"},
        {"a NUL", "[\"a\\u0000b\"]", "F:1: found a NUL"},
        {"a NUL in a key", "{\"a\\u0000\":1}", "F:1: found a NUL"},
        {"bytes that are not UTF-8", "[\"\xFF\"]", "F:1: found broken JSON"},
        {"a lone low surrogate", "[\"\\udc00\"]", "not UTF-8"},
    };

    (void)state;
    check_bad(false, row, COUNT(row));
}

static void broken_yaml_is_named(void **state)
{
    static const struct bad row[] = {
        {"nothing", "", "F:1: found nothing"},
        {"only a comment", "# x\n", "F:1: found nothing"},
        {"cut in a list", "a:\n- [1,\n", "found broken YAML"},
        {"a tab", "a:\n\t- 1\n", "F:2: found broken YAML"},
        {"a key twice", "a: 1\nb: 2\na: 3\n", "F:3: found the key \"a\" a second time"},
        {"an unknown alias", "a: 1\nb: *x\n", "F:2: found the alias \"x\""},
        {"an alias to itself", "a: &x [*x]\n", "F:1: found the alias \"x\""},
        {"an unknown tag", "a: !!binary aGk=\n", "F:1: found the tag"},
        {"a tag of a map", "a: !thing {}\n", "F:1: found the tag \"!thing\""},
        {"a list as a key", "? [a]\n: 1\n", "F:1: found a list or a map as a key"},
        {"an alias as a key", "a: &x [1]\n? *x\n: 1\n", "as a key"},
        {"two documents", "a: 1\n---\nb: 2\n", "F:2: found a second document"},
        {"bytes that are not UTF-8", "a: 1\nb: \xFF\n", "F:2: found broken YAML"},
        {"a NUL", "a: \"x\\0y\"\n", "F:1: found a NUL"},
        {"a control character", "a: 1\nb: \x01\n", "F:2: found broken YAML"},
    };

    (void)state;
    check_bad(true, row, COUNT(row));
}

static void depth_has_a_limit(void **state)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *tree;
    struct err err;
    char text[400];

    (void)state;
    for (int yaml = 0; yaml < 2; yaml++) {
        memset(text, '[', 64);
        memset(text + 64, ']', 64);
        text[128] = '\0';
        assert_int_equal(read_either(m, yaml, text, &tree, &err), 0);
        memset(text, '[', 65);
        memset(text + 65, ']', 65);
        text[130] = '\0';
        assert_int_equal(read_either(m, yaml, text, &tree, &err), ERR_INPUT);
        assert_non_null(strstr(err.text, "deeper than 64"));
    }
    tree_memory_close(m);
}

/* Nine levels of ten aliases each would be a billion values. */
static void aliases_have_a_budget(void **state)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *tree;
    struct err err;
    char text[2000] = "a0: &a0 [x]\n";

    (void)state;
    for (int i = 1; i < 10; i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof(text) - used,
                       "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
                       i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    }
    assert_int_equal(read_either(m, true, text, &tree, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "more than 10000 values"));
    tree_memory_close(m);
}

/* Large maps find a second key too, and the arena serves one text after the other. */
static void large_maps_are_checked(void **state)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *tree;
    struct err err;
    char *text = malloc(400000);
    size_t used = 0;

    (void)state;
    for (int round = 0; round < 3; round++) {
        used = 0;
        for (int i = 0; i < 20000; i++)
            used += (size_t)snprintf(text + used, 32, "%c\"k%d\":%d", i ? ',' : '{', i, i);
        (void)snprintf(text + used, 32, "%s", round < 2 ? "}" : ",\"k777\":1}");
        assert_int_equal(read_either(m, false, text, &tree, &err), round < 2 ? 0 : ERR_INPUT);
    }
    assert_non_null(strstr(err.text, "k777"));
    free(text);
    tree_memory_close(m);
}

static void members_are_found(void **state)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *tree;
    struct err err;

    (void)state;
    assert_int_equal(read_either(m, false, "{\"a\":1,\"b\":2}", &tree, &err), 0);
    assert_string_equal(tree_find(tree, "b")->text, "2");
    assert_null(tree_find(tree, "c"));
    assert_null(tree_find(tree->child, "a"));
    assert_null(tree_find(NULL, "a"));
    tree_memory_close(m);
    tree_memory_close(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_exact),     cmocka_unit_test(json_becomes_a_tree),
        cmocka_unit_test(yaml_becomes_a_tree),   cmocka_unit_test(broken_json_is_named),
        cmocka_unit_test(broken_yaml_is_named),  cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(aliases_have_a_budget), cmocka_unit_test(large_maps_are_checked),
        cmocka_unit_test(members_are_found),
    };

    return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
