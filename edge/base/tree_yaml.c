#include "edge/base/tree.h"

#include "edge/base/text.h"
#include "edge/base/tree_build.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#define ANCHORS_MAX     256u
#define ALIAS_NODES_MAX 10000u

struct anchor {
    const char *name;
    const struct tree *value;
};

struct yaml {
    struct tree_build b;
    bool key_next[TREE_DEPTH_MAX]; /* an open map waits for a key */
    const char *anchor_of[TREE_DEPTH_MAX];
    uint32_t anchor_count, copied, documents;
    struct anchor anchor[ANCHORS_MAX];
};

static uint32_t line_of(const yaml_event_t *e)
{
    return (uint32_t)e->start_mark.line + 1;
}

/* found: a text that names what, as in `the alias "*x"`. */
static bool bad_name(struct yaml *y, uint32_t line, const char *what, const char *name,
                     const char *expected)
{
    char shown[80], found[120];

    (void)text_shown(shown, sizeof(shown), name, strlen(name));
    (void)snprintf(found, sizeof(found), "%s \"%s\"", what, shown);
    return tree_build_bad(&y->b, line, found, expected);
}

static bool map_waits_for_key(const struct yaml *y)
{
    return y->b.depth > 0 && y->key_next[y->b.depth - 1];
}

/* Called before every value that is not a key. */
static bool value_may_stand(struct yaml *y, uint32_t line)
{
    if (map_waits_for_key(y))
        return tree_build_bad(&y->b, line, "a list or a map as a key", "a plain text as a key");
    return true;
}

static void value_is_done(struct yaml *y)
{
    if (y->b.depth > 0 && y->b.open[y->b.depth - 1]->kind == TREE_MAP)
        y->key_next[y->b.depth - 1] = true;
}

/* A later anchor of the same name hides the earlier one, as YAML wants it. */
static bool anchor_set(struct yaml *y, const char *name, const struct tree *value)
{
    if (!name)
        return true;
    if (y->anchor_count == ANCHORS_MAX)
        return tree_build_bad(&y->b, value->line, "more than 256 anchors", "fewer of them");
    y->anchor[y->anchor_count++] = (struct anchor){name, value};
    return true;
}

static const struct tree *anchor_find(const struct yaml *y, const char *name)
{
    for (uint32_t a = y->anchor_count; a > 0; a--)
        if (strcmp(y->anchor[a - 1].name, name) == 0)
            return y->anchor[a - 1].value;
    return NULL;
}

static const char *anchor_name(struct yaml *y, const yaml_char_t *anchor)
{
    const char *name = (const char *)anchor;

    return name ? tree_memory_text(y->b.m, name, strlen(name)) : NULL;
}

/* Copies what an anchor holds into the open container. The depth is bounded by the builder's. */
static bool copy_value(struct yaml *y, const struct tree *from)
{
    if (++y->copied > ALIAS_NODES_MAX)
        return tree_build_bad(&y->b, from->line, "aliases that repeat more than 10000 values",
                              "fewer of them");
    if (from->kind != TREE_LIST && from->kind != TREE_MAP) {
        struct tree *t = tree_build_add(&y->b, from->kind, from->line, from->text,
                                        from->text ? strlen(from->text) : 0);
        if (t)
            t->truth = from->truth;
        return t != NULL;
    }
    if (!tree_build_open(&y->b, from->kind, from->line))
        return false;
    for (const struct tree *t = from->child; t; t = t->next) {
        if (t->key && !tree_build_key(&y->b, t->line, t->key, strlen(t->key)))
            return false;
        if (!copy_value(y, t))
            return false;
    }
    return tree_build_close(&y->b);
}

static bool take_alias(struct yaml *y, const yaml_event_t *e)
{
    const char *name = (const char *)e->data.alias.anchor;
    const struct tree *value = anchor_find(y, name);

    if (!value)
        return bad_name(y, line_of(e), "the alias", name, "an anchor that ended before it");
    if (!value_may_stand(y, line_of(e)) || !copy_value(y, value))
        return false;
    value_is_done(y);
    return true;
}

static bool is_one_of(const char *text, const char *const *word)
{
    for (; *word; word++)
        if (strcmp(text, *word) == 0)
            return true;
    return false;
}

static const char *after_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* A number as JSON writes it; 007, 0x1F and 1_000 stay text. */
static bool is_number(const char *at)
{
    const char *digits;

    at += *at == '-';
    digits = at;
    at = after_digits(at);
    if (at == digits || (*digits == '0' && at - digits > 1))
        return false;
    if (*at == '.') {
        digits = ++at;
        at = after_digits(at);
        if (at == digits)
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        digits = at;
        at = after_digits(at);
        if (at == digits)
            return false;
    }
    return *at == '\0';
}

static enum tree_kind plain_kind(const char *text, bool *ret_truth)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};

    *ret_truth = is_one_of(text, yes);
    if (is_one_of(text, nulls))
        return TREE_NULL;
    if (*ret_truth || is_one_of(text, no))
        return TREE_BOOL;
    return is_number(text) ? TREE_NUMBER : TREE_STRING;
}

/* Only the tags that change nothing, or make a text a text, are known. */
static bool tag_is(const yaml_char_t *tag, const char *known)
{
    return tag && (strcmp((const char *)tag, known) == 0 || strcmp((const char *)tag, "!") == 0);
}

static bool take_scalar(struct yaml *y, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    size_t length = e->data.scalar.length;
    const yaml_char_t *tag = e->data.scalar.tag;
    bool truth = false, is_text = tag_is(tag, YAML_STR_TAG);
    uint32_t line = line_of(e);

    if (tag && !is_text)
        return bad_name(y, line, "the tag", (const char *)tag, "no tag");
    if (map_waits_for_key(y)) {
        y->key_next[y->b.depth - 1] = false;
        return tree_build_key(&y->b, line, text, length);
    }

    enum tree_kind kind = TREE_STRING;
    if (!is_text && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !memchr(text, 0, length))
        kind = plain_kind(text, &truth);

    bool has_text = kind == TREE_STRING || kind == TREE_NUMBER;
    struct tree *t = tree_build_add(&y->b, kind, line, has_text ? text : NULL, length);
    if (!t)
        return false;
    t->truth = truth;
    value_is_done(y);
    return anchor_set(y, anchor_name(y, e->data.scalar.anchor), t);
}

static bool take_open(struct yaml *y, const yaml_event_t *e)
{
    bool map = e->type == YAML_MAPPING_START_EVENT;
    const yaml_char_t *tag = map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    const yaml_char_t *anchor = map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;

    if (tag && !tag_is(tag, map ? YAML_MAP_TAG : YAML_SEQ_TAG))
        return bad_name(y, line_of(e), "the tag", (const char *)tag, "no tag");
    if (!value_may_stand(y, line_of(e)) ||
        !tree_build_open(&y->b, map ? TREE_MAP : TREE_LIST, line_of(e)))
        return false;
    y->key_next[y->b.depth - 1] = map;
    y->anchor_of[y->b.depth - 1] = anchor_name(y, anchor);
    return true;
}

static bool take_close(struct yaml *y)
{
    const struct tree *t = y->b.open[y->b.depth - 1];
    const char *name = y->anchor_of[y->b.depth - 1];

    if (!tree_build_close(&y->b))
        return false;
    value_is_done(y);
    return anchor_set(y, name, t);
}

static bool take_event(struct yaml *y, const yaml_event_t *e)
{
    if (e->type == YAML_DOCUMENT_START_EVENT && ++y->documents > 1)
        return tree_build_bad(&y->b, line_of(e), "a second document", "one document");
    if (e->type == YAML_ALIAS_EVENT)
        return take_alias(y, e);
    if (e->type == YAML_SCALAR_EVENT)
        return take_scalar(y, e);
    if (e->type == YAML_SEQUENCE_START_EVENT || e->type == YAML_MAPPING_START_EVENT)
        return take_open(y, e);
    if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
        return take_close(y);
    return true;
}

/* The reader of libyaml speaks of bytes, its scanner and parser of lines. */
static bool say_broken(struct yaml *y, const yaml_parser_t *p, const char *text, size_t length)
{
    const char *problem = p->problem ? p->problem : "parse error";
    uint32_t line = (uint32_t)p->problem_mark.line + 1;
    char found[160];

    if (p->error == YAML_READER_ERROR) {
        size_t until = p->problem_offset < length ? p->problem_offset : length;

        line = 1;
        for (size_t i = 0; i < until; i++)
            line += text[i] == '\n';
    }
    (void)snprintf(found, sizeof(found), "broken YAML (%s)", problem);
    return tree_build_bad(&y->b, line, found, "one YAML document");
}

static void read_events(struct yaml *y, yaml_parser_t *p, const char *text, size_t length)
{
    bool more = true;

    while (more) {
        yaml_event_t e;

        if (!yaml_parser_parse(p, &e)) {
            (void)say_broken(y, p, text, length);
            return;
        }
        more = take_event(y, &e) && e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
}

int tree_from_yaml(struct tree_memory *m, const char *name, const char *text, size_t length,
                   struct tree **ret_tree, struct err *err)
{
    struct yaml y = {.b = {.m = m, .name = name, .err = err}};
    yaml_parser_t parser;

    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_TROUBLE, "%s: no memory to read YAML", name);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    read_events(&y, &parser, text, length);
    yaml_parser_delete(&parser);
    if (!y.b.code && !y.b.root)
        (void)tree_build_bad(&y.b, 1, "nothing", "one YAML document");
    if (!y.b.code)
        *ret_tree = y.b.root;
    return y.b.code;
}
