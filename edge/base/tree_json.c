#include "edge/base/tree.h"

#include "edge/base/text.h"
#include "edge/base/tree_build.h"

#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/* yajl calls back in the order of the text; where it stands tells the line. */
struct json {
    struct tree_build b;
    yajl_handle handle;
    const char *text;
    size_t seen; /* bytes whose ends of line are counted in `line` */
    uint32_t line;
};

static uint32_t line_now(struct json *j, size_t until)
{
    for (; j->seen < until; j->seen++)
        if (j->text[j->seen] == '\n')
            j->line++;
    return j->line;
}

static uint32_t line_here(struct json *j)
{
    return line_now(j, yajl_get_bytes_consumed(j->handle));
}

static int take_null(void *context)
{
    struct json *j = context;

    return tree_build_add(&j->b, TREE_NULL, line_here(j), NULL, 0) != NULL;
}

static int take_bool(void *context, int value)
{
    struct json *j = context;
    struct tree *t = tree_build_add(&j->b, TREE_BOOL, line_here(j), NULL, 0);

    if (t)
        t->truth = value != 0;
    return t != NULL;
}

static int take_number(void *context, const char *text, size_t length)
{
    struct json *j = context;

    return tree_build_add(&j->b, TREE_NUMBER, line_here(j), text, length) != NULL;
}

static int take_string(void *context, const unsigned char *text, size_t length)
{
    struct json *j = context;

    /* yajl hands out NULL for an empty string. */
    return tree_build_add(&j->b, TREE_STRING, line_here(j), length ? (const char *)text : "",
                          length) != NULL;
}

static int take_key(void *context, const unsigned char *text, size_t length)
{
    struct json *j = context;

    return tree_build_key(&j->b, line_here(j), length ? (const char *)text : "", length);
}

static int open_map(void *context)
{
    struct json *j = context;

    return tree_build_open(&j->b, TREE_MAP, line_here(j));
}

static int open_list(void *context)
{
    struct json *j = context;

    return tree_build_open(&j->b, TREE_LIST, line_here(j));
}

static int close_either(void *context)
{
    struct json *j = context;

    return tree_build_close(&j->b);
}

static const yajl_callbacks callbacks = {
    .yajl_null = take_null,
    .yajl_boolean = take_bool,
    .yajl_number = take_number,
    .yajl_string = take_string,
    .yajl_start_map = open_map,
    .yajl_map_key = take_key,
    .yajl_end_map = close_either,
    .yajl_start_array = open_list,
    .yajl_end_array = close_either,
};

/* yajl's own words, without its line end, with the byte where it stopped. */
static void say_broken(struct json *j, size_t at, size_t length)
{
    size_t start;
    unsigned char *said = yajl_get_error(j->handle, 0, (const unsigned char *)j->text, length);
    const char *words = said ? (const char *)said : "parse error";
    char shown[120], found[200];

    if (at > length)
        at = length;
    for (start = at; start > 0 && j->text[start - 1] != '\n'; start--)
        ;
    (void)text_shown(shown, sizeof(shown), words, strcspn(words, "\n"));
    (void)snprintf(found, sizeof(found), "broken JSON at byte %zu of the line (%s)", at - start + 1,
                   shown);
    (void)tree_build_bad(&j->b, line_now(j, at), found, "one complete JSON value");
    if (said)
        yajl_free_error(j->handle, said);
}

int tree_from_json(struct tree_memory *m, const char *name, uint32_t first_line, const char *text,
                   size_t length, struct tree **ret_tree, struct err *err)
{
    struct json j = {.b = {.m = m, .name = name, .err = err}, .text = text, .line = first_line};

    j.handle = yajl_alloc(&callbacks, NULL, &j);
    if (!j.handle)
        return err_set(err, ERR_TROUBLE, "%s: no memory to read JSON", name);

    yajl_status status = yajl_parse(j.handle, (const unsigned char *)text, length);
    size_t at = yajl_get_bytes_consumed(j.handle);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(j.handle);
    if (status != yajl_status_ok && !j.b.code)
        say_broken(&j, at, length);
    if (!j.b.code && !j.b.root)
        (void)tree_build_bad(&j.b, first_line, "no value", "one complete JSON value");
    yajl_free(j.handle);
    if (!j.b.code)
        *ret_tree = j.b.root;
    return j.b.code;
}
