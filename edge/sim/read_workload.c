#include "edge/sim/read.h"

#include "edge/base/memory.h"
#include "edge/sim/read_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT     "dovetail-workload/2"
#define MICRO      1000000
#define WEIGHT_MAX ((int64_t)1000000 * MICRO)

static bool header(struct reader *r, const struct tree *o, const char *kind)
{
    const char *format = reader_name(r, o, "format", true);
    const char *name = reader_name(r, o, "name", true);
    int64_t seed = reader_int(r, o, "seed", (struct span){0, INT64_MAX, -1});

    if (strcmp(kind, "workload") != 0)
        return reader_say(r, o->line,
                          "found kind \"%s\", expected the header of a workload: kind \"workload\" "
                          "and format \"" FORMAT "\"",
                          kind);
    if (r->code)
        return false;
    if (strcmp(format, FORMAT) != 0)
        return reader_wrong(r, tree_find(o, "format"), "\"" FORMAT "\"");
    if (strchr(name, '/'))
        return reader_wrong(r, tree_find(o, "name"), "a name without a slash: files are named so");
    r->w->workload_name = world_string(r->w, name, strlen(name));
    r->w->seed = seed;
    r->stage = STAGE_HEAD;
    return true;
}

static bool guarantee(struct reader *r, const struct tree *map, struct world_guarantee *g)
{
    static const char *const keys[] = {"gpus", "level", "count", "model", NULL};
    static const char *const more[] = {"cpu_milli", "mem_mib", NULL};
    const struct tree *level = reader_get(map, "level");
    const char *model = reader_name(r, map, "model", false);

    if (!reader_keys(r, map, keys, more))
        return false;
    g->gpus = reader_int(r, map, "gpus", (struct span){0, READ_COUNT_MAX, READ_REQUIRED});
    g->count = (uint32_t)reader_int(r, map, "count", (struct span){1, READ_COUNT_MAX, 1});
    g->level = level ? reader_where(r, level) : (struct world_where){SCOPE_CLUSTER, 0};
    g->model = model ? world_model(r->w, model) : WORLD_NONE;
    for (const char *const *key = more; r->strict && *key; key++) {
        const struct tree *t = reader_get(map, *key);

        (void)reader_int(r, map, *key, (struct span){0, READ_AMOUNT_MAX, 0});
        if (t && r->further)
            r->further(r->context, t->line,
                       strcmp(*key, "mem_mib") == 0 ? "guarantee mem_mib" : "guarantee cpu_milli");
    }
    return !r->code;
}

uint32_t read_guarantees(struct reader *r, const struct tree *list,
                         struct world_guarantee **ret_guarantee)
{
    uint32_t count = 0;

    if (!reader_is(r, list, TREE_LIST, "a list of pieces such as [{\"gpus\":8}]"))
        return 0;
    *ret_guarantee = NULL;
    for (const struct tree *t = list->child; t; t = t->next) {
        if (!reader_is(r, t, TREE_MAP, "a map such as {\"gpus\":8}"))
            return 0;

        struct world_guarantee *g = world_row(r->w, ret_guarantee, &count, sizeof(*g));
        if (!guarantee(r, t, g))
            return 0;
    }
    return count;
}

bool read_team(struct reader *r, const struct tree *map)
{
    static const char *const keys[] = {"kind",       "team",      "parent",   "weight",
                                       "limit_gpus", "guarantee", "priority", NULL};
    struct world *w = r->w;

    if (!reader_is(r, map, TREE_MAP, "a team") || !reader_keys(r, map, keys, NULL))
        return false;

    const char *name = reader_name(r, map, "team", true);
    const char *parent = reader_name(r, map, "parent", false);
    const struct tree *list = reader_list(r, map, "guarantee");
    if (r->code)
        return false;
    if (world_team_find(w, name) != WORLD_NONE)
        return reader_wrong(r, tree_find(map, "team"), "a team name that is used once");

    uint32_t row = w->team_count;
    struct world_team *team = world_row(w, &w->team, &w->team_count, sizeof(*team));
    team->name = world_string(w, name, strlen(name));
    team->parent = WORLD_NONE;
    team->weight_micro = reader_decimal(r, map, "weight", 6, (struct span){0, WEIGHT_MAX, MICRO});
    team->limit_gpu_milli =
        reader_decimal(r, map, "limit_gpus", 3, (struct span){0, READ_AMOUNT_MAX, WORLD_UNLIMITED});
    if (list)
        team->guarantee_count = read_guarantees(r, list, &team->guarantee);
    if (parent)
        *(struct reader_later *)world_row(w, &r->parent, &r->parent_count, sizeof(*r->parent)) =
            (struct reader_later){world_string(w, parent, strlen(parent)), row, map->line};
    if (r->strict && reader_get(map, "priority")) {
        (void)reader_int(r, map, "priority", (struct span){INT32_MIN, INT32_MAX, 0});
        if (r->further)
            r->further(r->context, map->line, "team priority");
    }
    return !r->code;
}

/* Parents may stand below their children in the file, so they are looked up at its end. */
bool read_teams_end(struct reader *r)
{
    const struct world *w = r->w;

    for (uint32_t p = 0; p < r->parent_count; p++) {
        const struct reader_later *later = &r->parent[p];
        uint32_t parent = world_team_find(w, later->name);

        if (parent == WORLD_NONE)
            return reader_say(r, later->line, "found parent \"%s\" of team \"%s\", expected a team",
                              later->name, w->team[later->row].name);
        r->w->team[later->row].parent = parent;
    }
    for (uint32_t p = 0; p < r->parent_count; p++) {
        uint32_t up = r->parent[p].row, steps = 0;

        while (up != WORLD_NONE && steps++ <= w->team_count)
            up = w->team[up].parent;
        if (up != WORLD_NONE)
            return reader_say(r, r->parent[p].line,
                              "found team \"%s\" above itself, expected parents without a circle",
                              w->team[r->parent[p].row].name);
    }
    return !r->code;
}

static bool job(struct reader *r, const struct tree *o)
{
    int64_t submit_ns = reader_time(r, o, "submit_s", (struct span){0, READ_NS_MAX, READ_REQUIRED});

    if (r->code)
        return false;
    if (submit_ns < r->submit_ns)
        return reader_wrong(r, tree_find(o, "submit_s"),
                            "no time before the job above: jobs are sorted by submit_s");
    r->submit_ns = submit_ns;
    return read_job(r, o, submit_ns, NULL) != WORLD_NONE;
}

/* --- events ---------------------------------------------------------------------------------- */

/* The members of an object as JSON, without two of them: the log repeats an event with all that the
 * file says of it, known or not. */
static void write_text(FILE *out, const char *text)
{
    (void)fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            (void)fputc('\\', out);
        if ((unsigned char)*c < 0x20)
            (void)fprintf(out, "\\u%04x", (unsigned)*c);
        else
            (void)fputc(*c, out);
    }
    (void)fputc('"', out);
}

static void write_value(FILE *out, const struct tree *t)
{
    const char *between = "";

    switch (t->kind) {
    case TREE_NULL:
        (void)fputs("null", out);
        break;
    case TREE_BOOL:
        (void)fputs(t->truth ? "true" : "false", out);
        break;
    case TREE_NUMBER:
        (void)fputs(t->text, out);
        break;
    case TREE_STRING:
        write_text(out, t->text);
        break;
    case TREE_LIST:
    case TREE_MAP:
        (void)fputc(t->kind == TREE_LIST ? '[' : '{', out);
        for (const struct tree *c = t->child; c; c = c->next) {
            (void)fputs(between, out);
            if (t->kind == TREE_MAP) {
                write_text(out, c->key);
                (void)fputc(':', out);
            }
            write_value(out, c);
            between = ",";
        }
        (void)fputc(t->kind == TREE_LIST ? ']' : '}', out);
        break;
    }
}

static const char *raw_members(struct world *w, const struct tree *o)
{
    char *text = NULL;
    size_t length = 0;
    const char *between = "", *kept;
    FILE *out = open_memstream(&text, &length);

    if (!out)
        return memory_grow(NULL, SIZE_MAX); /* says so and ends the program */
    for (const struct tree *c = o->child; c; c = c->next) {
        if (strcmp(c->key, "kind") == 0 || strcmp(c->key, "t_s") == 0)
            continue;
        (void)fputs(between, out);
        write_text(out, c->key);
        (void)fputc(':', out);
        write_value(out, c);
        between = ",";
    }
    (void)fclose(out);
    kept = world_string(w, text, length);
    free(text);
    return kept;
}

static bool node_event(struct reader *r, const struct tree *o, struct world_event *e)
{
    static const char *const states[] = {"up", "down", "drain", "leave", NULL};
    const char *name = reader_name(r, o, "node", true);
    const struct tree *gpu = reader_get(o, "gpu");

    if (!name)
        return false;
    e->target = world_node_find(r->w, name);
    if (e->target == WORLD_NONE)
        return reader_wrong(r, tree_find(o, "node"), "a node of the cluster");
    e->state = (uint8_t)reader_choice(r, o, "state", states, READ_REQUIRED);
    if (gpu) {
        int64_t gpus = r->w->node[e->target].gpus;

        if (gpus == 0)
            return reader_wrong(r, gpu, "no device of a node without GPUs");
        e->kind = WEV_GPU;
        e->gpu = (uint8_t)reader_int(r, o, "gpu", (struct span){0, gpus - 1, 0});
    }
    if (r->code || e->state != STATE_LEAVE)
        return !r->code;
    if (gpu)
        return reader_wrong(r, tree_find(o, "state"), "up, down or drain for one device");
    e->leave_at_ns =
        reader_time(r, o, "leave_at", (struct span){e->at_ns, READ_NS_MAX, READ_REQUIRED});
    return !r->code;
}

static bool team_event(struct reader *r, const struct tree *o, struct world_event *e)
{
    const char *name = reader_name(r, o, "team", true);
    const struct tree *list = reader_list(r, o, "guarantee");

    if (!name)
        return false;
    e->kind = WEV_TEAM;
    e->target = world_team_find(r->w, name);
    if (e->target == WORLD_NONE)
        return reader_wrong(r, tree_find(o, "team"), "a team of this file");
    e->sets_weight = reader_get(o, "weight") != NULL;
    e->sets_limit = tree_find(o, "limit_gpus") != NULL; /* null takes the limit away */
    e->sets_guarantee = list != NULL;
    e->weight_micro = reader_decimal(r, o, "weight", 6, (struct span){0, WEIGHT_MAX, MICRO});
    e->limit_gpu_milli =
        reader_decimal(r, o, "limit_gpus", 3, (struct span){0, READ_AMOUNT_MAX, WORLD_UNLIMITED});
    if (list)
        e->guarantee_count = read_guarantees(r, list, &e->guarantee);
    if (!r->code && !e->sets_weight && !e->sets_limit && !e->sets_guarantee)
        return reader_absent(r, o, "weight", "weight, limit_gpus or guarantee with its new value");
    return !r->code;
}

static bool job_event(struct reader *r, const struct tree *o, struct world_event *e, uint32_t row)
{
    static const char *const states[] = {"cancel", NULL};
    const char *name = reader_name(r, o, "job", true);

    (void)reader_choice(r, o, "state", states, READ_REQUIRED);
    if (!name || r->code)
        return false;
    e->kind = WEV_CANCEL;
    e->target = world_job_find(r->w, name);
    if (e->target == WORLD_NONE)
        *(struct reader_later *)world_row(r->w, &r->cancel, &r->cancel_count, sizeof(*r->cancel)) =
            (struct reader_later){world_string(r->w, name, strlen(name)), row, o->line};
    return true;
}

static bool event(struct reader *r, const struct tree *o)
{
    struct world *w = r->w;
    int64_t at_ns = reader_time(r, o, "t_s", (struct span){0, READ_NS_MAX, READ_REQUIRED});
    bool node = reader_get(o, "node") != NULL, team = reader_get(o, "team") != NULL;
    bool cancel = reader_get(o, "job") != NULL;

    if (r->code)
        return false;
    if (at_ns < r->event_ns)
        return reader_wrong(r, tree_find(o, "t_s"),
                            "no time before the event above: events are sorted by t_s");
    r->event_ns = at_ns;
    if (node + team + cancel != 1)
        return reader_say(r, o->line, "found an event of %s, expected one of node, team, job",
                          node || team || cancel ? "several things" : "nothing");

    uint32_t row = w->event_count;
    struct world_event *e = world_row(w, &w->event, &w->event_count, sizeof(*e));
    e->at_ns = at_ns;
    e->raw = raw_members(w, o);
    if (node)
        return node_event(r, o, e);
    return team ? team_event(r, o, e) : job_event(r, o, e, row);
}

bool read_workload_object(struct reader *r, const struct tree *o)
{
    if (!reader_is(r, o, TREE_MAP, "an object with a kind"))
        return false;
    const char *kind = reader_name(r, o, "kind", true);

    if (!kind)
        return false;
    if (r->stage == STAGE_HEADER)
        return header(r, o, kind);
    if (strcmp(kind, "team") == 0) {
        if (r->stage == STAGE_BODY)
            return reader_wrong(r, tree_find(o, "kind"), "teams before jobs and events");
        return read_team(r, o);
    }
    r->stage = STAGE_BODY;
    if (strcmp(kind, "job") == 0)
        return job(r, o);
    if (strcmp(kind, "event") == 0)
        return event(r, o);
    return reader_wrong(r, tree_find(o, "kind"),
                        strcmp(kind, "workload") == 0 ? "one header, in the first line"
                                                      : "one of team job event");
}

bool read_workload_end(struct reader *r)
{
    if (r->code)
        return false;
    if (r->stage == STAGE_HEADER)
        return reader_say(r, 0, "found no line, expected a workload in the format " FORMAT);
    for (uint32_t c = 0; c < r->cancel_count; c++) {
        uint32_t target = world_job_find(r->w, r->cancel[c].name);

        if (target == WORLD_NONE)
            return reader_say(r, r->cancel[c].line,
                              "found \"job\": \"%s\", expected a job of this "
                              "file",
                              r->cancel[c].name);
        r->w->event[r->cancel[c].row].target = target;
    }
    return read_teams_end(r);
}

int read_workload(struct world *w, const char *path, struct err *err)
{
    struct reader r = {.w = w, .path = path, .err = err};

    if (read_json_lines(&r, read_workload_object, read_workload_end)) {
        world_free(w);
        world_init(w);
    }
    return r.code;
}
