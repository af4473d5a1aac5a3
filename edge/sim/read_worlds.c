#include "edge/sim/read.h"

#include "edge/base/lines.h"
#include "edge/sim/read_parts.h"

#include <string.h>

static bool objects(struct reader *r, const struct tree *world, const char *key,
                    bool (*object)(struct reader *, const struct tree *))
{
    const struct tree *list = reader_list(r, world, key);

    if (!list)
        return r->code ? false : reader_absent(r, world, key, "a list of its lines");
    for (const struct tree *t = list->child; t; t = t->next)
        if (!object(r, t))
            return false;
    return true;
}

static bool one_world(struct reader *r, const struct tree *o, uint32_t *ret_number)
{
    if (!reader_is(r, o, TREE_MAP, "an object with world, cluster and workload"))
        return false;
    *ret_number = (uint32_t)reader_int(r, o, "world", (struct span){0, INT32_MAX, READ_REQUIRED});
    if (r->code || !objects(r, o, "cluster", read_cluster_object) || !read_cluster_end(r))
        return false;
    r->stage = STAGE_HEADER;
    return objects(r, o, "workload", read_workload_object) && read_workload_end(r);
}

struct worlds {
    const char *path;
    struct tree_memory *m;
    struct lines *lines;
    uint32_t count;
};

/* The next world goes to each(); *more is false at the end. */
static int next_world(struct worlds *s,
                      int (*each)(void *context, uint32_t number, struct world *w), void *context,
                      bool *more, struct err *err)
{
    char *text;
    size_t length;
    uint32_t line, number = 0;
    struct tree *o;
    struct world w;
    int code = lines_next(s->lines, &text, &length, &line, err);

    *more = code > 0;
    if (code <= 0)
        return -code;
    tree_memory_reset(s->m);
    code = tree_from_json(s->m, s->path, line, text, length, &o, err);
    if (code)
        return code;
    world_init(&w);

    struct reader r = {.w = &w, .path = s->path, .err = err};
    if (one_world(&r, o, &number)) {
        s->count++;
        r.code = each(context, number, &w);
    }
    world_free(&w);
    return r.code;
}

int read_worlds(const char *path, int (*each)(void *context, uint32_t number, struct world *w),
                void *context, struct err *err)
{
    struct worlds s = {.path = path};
    bool more = true;
    int code = lines_open(&s.lines, path, err);

    if (code)
        return code;
    s.m = tree_memory_open();
    while (more && !code)
        code = next_world(&s, each, context, &more, err);
    if (!code && s.count == 0)
        code = err_set(err, ERR_INPUT, "%s: found no line, expected one world per line", path);
    lines_close(s.lines);
    tree_memory_close(s.m);
    return code;
}
