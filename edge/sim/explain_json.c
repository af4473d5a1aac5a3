/* The story as one JSON object, with the log's own lines inside. */
#include "edge/sim/explain_parts.h"

#include <string.h>
#include <yajl/yajl_gen.h>

static void string(yajl_gen g, const char *text)
{
    yajl_gen_string(g, (const unsigned char *)text, strlen(text));
}

static void scalar(yajl_gen g, const struct tree *t)
{
    if (t->kind == TREE_STRING)
        string(g, t->text);
    else if (t->kind == TREE_NUMBER)
        yajl_gen_number(g, t->text, strlen(t->text));
    else if (t->kind == TREE_BOOL)
        yajl_gen_bool(g, t->truth);
    else
        yajl_gen_null(g);
}

#define DEPTH_MAX 66 /* the reader stops at 64 */

/* Walks the tree without recursion: the way down is kept in a small stack. */
static void value(yajl_gen g, const struct tree *root)
{
    const struct tree *open[DEPTH_MAX], *next[DEPTH_MAX];
    unsigned depth = 0;
    const struct tree *t = root;

    for (;;) {
        bool inside = (t->kind == TREE_LIST || t->kind == TREE_MAP) && depth < DEPTH_MAX;

        if (inside) {
            if (t->kind == TREE_MAP)
                yajl_gen_map_open(g);
            else
                yajl_gen_array_open(g);
            open[depth] = t;
            next[depth++] = t->child;
        } else {
            scalar(g, t);
        }
        while (depth > 0 && !next[depth - 1]) {
            if (open[--depth]->kind == TREE_MAP)
                yajl_gen_map_close(g);
            else
                yajl_gen_array_close(g);
        }
        if (depth == 0)
            return;
        t = next[depth - 1];
        next[depth - 1] = t->next;
        if (open[depth - 1]->kind == TREE_MAP)
            string(g, t->key);
    }
}

static void seconds(yajl_gen g, const char *key, int64_t ns)
{
    struct out text = {0};

    string(g, key);
    out_seconds(&text, ns);
    yajl_gen_number(g, text.bytes, text.length);
    out_free(&text);
}

static void head(yajl_gen g, const struct story *s)
{
    static const char *const state[] = {"waiting", "running", "finished", "dropped", "cancelled"};
    struct story_sum sum = story_sum(s);

    string(g, "log");
    string(g, s->path);
    string(g, "job");
    string(g, s->job);
    string(g, "state");
    string(g, state[sum.state]);
    string(g, "cut");
    yajl_gen_bool(g, s->cut);
    string(g, "starts");
    yajl_gen_integer(g, sum.starts);
    if (!s->arrivals && sum.first_start_ns >= 0 && sum.submit_ns >= 0)
        seconds(g, "wait_s", sum.first_start_ns - sum.submit_ns);
    string(g, "header");
    value(g, s->header);
}

void story_write_json(const struct story *s, struct out *out)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    const unsigned char *bytes = NULL;
    size_t length = 0;

    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_indent_string, "  ");
    yajl_gen_map_open(g);
    head(g, s);
    string(g, "story");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < s->count; i++) {
        yajl_gen_map_open(g);
        string(g, "line");
        yajl_gen_integer(g, s->line[i].number);
        string(g, "entry");
        value(g, s->line[i].line);
        yajl_gen_map_close(g);
    }
    yajl_gen_array_close(g);
    yajl_gen_map_close(g);
    yajl_gen_get_buf(g, &bytes, &length);
    out_bytes(out, bytes, length);
    yajl_gen_free(g);
}
