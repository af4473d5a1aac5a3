#include "edge/sim/scenario.h"

#include "edge/base/lines.h"
#include "edge/base/memory.h"
#include "edge/sim/read.h"
#include "edge/sim/scenario_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)16 << 20)
#define RANGE_MAX      1000000
#define INHERIT_NS     60000000000 /* defaults of the configuration */
#define BREACH_NS      30000000000

void scene_further(void *scene, uint32_t line, const char *key)
{
    struct scene *c = scene;
    struct scenario *s = c->s;

    for (uint32_t f = 0; f < s->further_count; f++)
        if (strcmp(s->further[f].key, key) == 0)
            return;
    *(struct scenario_further *)world_row(&s->world, &s->further, &s->further_count,
                                          sizeof(*s->further)) =
        (struct scenario_further){key, line};
}

uint32_t scene_job(struct scene *c, const struct tree *name)
{
    uint32_t job = reader_name_fine(&c->r, name) ? world_job_find(c->r.w, name->text) : WORLD_NONE;

    if (job == WORLD_NONE)
        (void)reader_wrong(&c->r, name, "a job that this scenario submits or that runs already");
    return job;
}

uint32_t scene_node(struct scene *c, const struct tree *name)
{
    uint32_t node =
        reader_name_fine(&c->r, name) ? world_node_find(c->r.w, name->text) : WORLD_NONE;

    if (node == WORLD_NONE)
        (void)reader_wrong(&c->r, name, "a node of the cluster");
    return node;
}

/* --- the cluster ----------------------------------------------------------------------------- */

/* "n[2-5]" and "n[02-16]": a stretch of numbers inside a name. */
struct range {
    const char *name;
    int before, width, first, last;
    const char *after;
};

/* Up to seven digits, or -1. */
static int digits(const char **at)
{
    int value = 0, count = 0;

    for (; **at >= '0' && **at <= '9' && count < 8; (*at)++, count++)
        value = value * 10 + (**at - '0');
    return count > 0 && count < 8 ? value : -1;
}

static bool range_of(struct reader *r, const struct tree *names, struct range *g)
{
    static const char expected[] = "a name with one range, such as n[2-5]";

    if (!reader_name_fine(r, names))
        return false;

    const char *open = strchr(names->text, '['), *at = open ? open + 1 : "";
    g->first = digits(&at);
    at += *at == '-';
    g->last = digits(&at);
    if (!open || g->first < 0 || g->last < 0 || *at != ']' || strpbrk(at + 1, "[]") ||
        strlen(names->text) > 200)
        return reader_wrong(r, names, expected);
    if (g->first > g->last || g->last - g->first >= RANGE_MAX)
        return reader_wrong(r, names, "a range that rises, of at most 1000000 names");
    g->name = names->text;
    g->before = (int)(open - names->text);
    g->after = at + 1;
    g->width = open[1] == '0' ? (int)strspn(open + 1, "0123456789") : 1;
    return true;
}

static bool node_line(struct reader *r, const struct tree *t)
{
    static const char *const keys[] = {"node",        "nodes",     "gpus",    "model",
                                       "gpu_mem_mib", "cpu_milli", "mem_mib", "pods",
                                       "shape",       "domains",   "devices", NULL};
    const struct tree *range;
    struct range g = {0};
    char name[256];

    if (!reader_is(r, t, TREE_MAP, "a node, such as {node: n1, gpus: 8}") ||
        !reader_keys(r, t, keys, NULL))
        return false;
    range = reader_get(t, "nodes");
    if (!range) {
        const char *one = reader_name(r, t, "node", true);

        return one && read_node(r, t, one);
    }
    if (reader_get(t, "node"))
        return reader_wrong(r, range, "node or nodes, not both");
    if (!range_of(r, range, &g))
        return false;
    for (int n = g.first; n <= g.last; n++) {
        (void)snprintf(name, sizeof(name), "%.*s%0*d%s", g.before, g.name, g.width, n, g.after);
        if (!read_node(r, t, name))
            return false;
    }
    return true;
}

/* The path of a file that a scenario names, from the scenario's own folder. */
static const char *beside(struct scene *c, const char *file)
{
    const char *slash = strrchr(c->s->path, '/');
    size_t folder = slash && file[0] != '/' ? (size_t)(slash - c->s->path) + 1 : 0;
    size_t bytes = strlen(file) + 1;
    char *path = world_alloc(c->r.w, folder + bytes);

    memcpy(path, c->s->path, folder);
    memcpy(path + folder, file, bytes);
    return path;
}

static bool cluster_file(struct scene *c, const char *file)
{
    struct reader r = {.w = c->r.w, .path = beside(c, file), .err = c->r.err};

    c->r.code = read_json_lines(&r, read_cluster_object, read_cluster_end);
    return !c->r.code;
}

static bool cluster_tables(struct reader *r, const struct tree *map)
{
    const struct tree *chains = reader_map(r, map, "chains"),
                      *shapes = reader_map(r, map, "shapes");
    const struct tree *nodes = reader_list(r, map, "nodes");

    if (r->code || (chains && !read_chains(r, chains)))
        return false;
    for (const struct tree *t = shapes ? shapes->child : NULL; t; t = t->next)
        if (!reader_is(r, t, TREE_MAP, "a shape, such as {gpus: 8}") || !read_shape(r, t, t))
            return false;
    if (!nodes || nodes->count == 0)
        return reader_absent(r, map, "nodes", "at least one node (or synthetic, or file)");
    for (const struct tree *t = nodes->child; t; t = t->next)
        if (!node_line(r, t))
            return false;
    return true;
}

static bool cluster(struct scene *c, const struct tree *root)
{
    static const char *const keys[] = {"synthetic", "file", "chains", "shapes", "nodes", NULL};
    struct reader *r = &c->r;
    const struct tree *map = reader_map(r, root, "cluster");

    if (!map)
        return r->code ? false : reader_absent(r, root, "cluster", "the cluster");
    if (!reader_keys(r, map, keys, NULL))
        return false;

    const char *text = reader_name(r, map, "synthetic", false);
    const char *file = reader_name(r, map, "file", false);
    bool tables =
        reader_get(map, "chains") || reader_get(map, "shapes") || reader_get(map, "nodes");
    if (r->code)
        return false;
    if ((text != NULL) + (file != NULL) + tables > 1)
        return reader_say(r, map->line,
                          "found more than one of synthetic, file and tables, expected one");
    c->r.w->cluster_name = c->s->name;
    if (file)
        return cluster_file(c, file);
    if (text)
        return read_synthetic_text(r, tree_find(map, "synthetic")->line, text);
    return cluster_tables(r, map);
}

static bool tables(struct scene *c, const struct tree *root)
{
    struct reader *r = &c->r;
    const struct tree *migs = reader_list(r, root, "migs"), *teams = reader_list(r, root, "teams");

    for (const struct tree *t = migs ? migs->child : NULL; t; t = t->next)
        if (!reader_is(r, t, TREE_MAP, "a mig, such as {model: A100, slots: 8, profiles: {}}") ||
            !read_mig(r, t))
            return false;
    for (const struct tree *t = teams ? teams->child : NULL; t; t = t->next)
        if (!read_team(r, t))
            return false;
    return read_teams_end(r);
}

/* --- what runs already ----------------------------------------------------------------------- */

const char *const scene_running_keys[] = {"node", "devices", "at", "last_ckpt_s", NULL};

static const struct world_podset *podset_of(const struct world_job *job, uint32_t pod)
{
    uint32_t p = 0;

    for (; p + 1 < job->podset_count && pod >= job->podset[p].pods; p++)
        pod -= job->podset[p].pods;
    return &job->podset[p];
}

static bool seat(struct scene *c, const struct tree *map, const struct world_podset *p,
                 struct scenario_seat *seat)
{
    struct reader *r = &c->r;
    const struct tree *name = reader_get(map, "node"), *devices = reader_list(r, map, "devices");

    if (!name)
        return reader_absent(r, map, "node", "the node it runs on");
    seat->node = scene_node(c, name);
    if (r->code)
        return false;

    int64_t gpus = r->w->node[seat->node].gpus, device;
    seat->devices_known = devices || p->gpus == 0;
    if (!devices)
        return true;
    if (devices->count != p->gpus)
        return reader_say(r, devices->line, "found %u devices, expected %u as the pod asks",
                          devices->count, p->gpus);
    for (const struct tree *t = devices->child; t; t = t->next) {
        if (gpus == 0)
            return reader_wrong(r, t, "no device of a node without GPUs");
        if (!reader_number(r, t, 0, (struct span){0, gpus - 1, 0}, &device))
            return false;
        if (seat->devices >> device & 1)
            return reader_wrong(r, t, "every device once");
        seat->devices |= (uint16_t)(1u << device);
    }
    return true;
}

static bool seats_at(struct scene *c, const struct tree *at, const struct world_job *job,
                     struct scenario_running *running)
{
    static const char *const keys[] = {"node", "devices", NULL};
    struct reader *r = &c->r;
    uint32_t pod = 0;

    running->seat = world_alloc(r->w, at->count * sizeof(*running->seat));
    for (const struct tree *t = at->child; t; t = t->next, pod++)
        if (!reader_is(r, t, TREE_MAP, "a place, such as {node: n1}") ||
            !reader_keys(r, t, keys, NULL) ||
            !seat(c, t, podset_of(job, pod), &running->seat[running->seat_count++]))
            return false;
    return true;
}

bool scene_running(struct scene *c, const struct tree *map, uint32_t id,
                   struct scenario_running *running)
{
    struct reader *r = &c->r;
    const struct world_job *job = &r->w->job[id];
    const struct tree *at = reader_list(r, map, "at");
    uint32_t pods = 0, pods_min = 0;

    for (uint32_t p = 0; p < job->podset_count; p++) {
        pods += job->podset[p].pods;
        pods_min += job->podset[p].pods_min;
    }
    running->job = id;
    running->last_ckpt_ns =
        reader_time(r, map, "last_ckpt_s", (struct span){-READ_NS_MAX, READ_NS_MAX, INT64_MIN + 1});
    if (running->last_ckpt_ns == INT64_MIN + 1)
        running->last_ckpt_ns = INT64_MIN;
    if (r->code)
        return false;
    if (at) {
        if (reader_get(map, "node") || reader_get(map, "devices"))
            return reader_wrong(r, at, "at, or node with devices, not both");
        if (at->count < pods_min || at->count > pods || at->count == 0)
            return reader_say(r, at->line, "found %u places, expected %u to %u, one per pod",
                              at->count, pods_min, pods);
        return seats_at(c, at, job, running);
    }
    if (pods > 1 && reader_get(map, "devices"))
        return reader_say(r, map->line,
                          "found devices of %u pods, expected a list `at` with one "
                          "place per pod",
                          pods);
    running->seat = world_alloc(r->w, pods * sizeof(*running->seat));
    for (; running->seat_count < pods && !r->code; running->seat_count++)
        (void)seat(c, map, podset_of(job, running->seat_count),
                   &running->seat[running->seat_count]);
    return !r->code;
}

/* Devices in use so far, by node: wholly, and at all. */
struct used {
    uint16_t whole, any;
};

/* No device is given twice, but for shares of one. */
static bool devices_free(struct scene *c, const struct tree *t, const struct scenario_running *row,
                         struct used *used)
{
    for (uint32_t i = 0; i < row->seat_count; i++) {
        const struct scenario_seat *seat = &row->seat[i];
        const struct world_podset *p = podset_of(&c->r.w->job[row->job], i);
        bool whole = p->milli == 1000 && p->mem_share_mib == 0 && p->mig == WORLD_NONE;
        struct used *u = &used[seat->node];

        if (seat->devices & (whole ? u->any : u->whole))
            return reader_say(&c->r, t->line,
                              "found a device of node \"%s\" in use already, expected a free one",
                              c->r.w->node[seat->node].name);
        u->any |= seat->devices;
        u->whole |= whole ? seat->devices : 0;
    }
    return true;
}

static bool running(struct scene *c, const struct tree *root)
{
    struct scenario *s = c->s;
    const struct tree *list = reader_list(&c->r, root, "running");
    struct used *used = list ? world_alloc(c->r.w, c->r.w->node_count * sizeof(*used)) : NULL;

    for (const struct tree *t = list ? list->child : NULL; t; t = t->next) {
        uint32_t job = read_job(&c->r, t, 0, scene_running_keys);

        if (job == WORLD_NONE)
            return false;

        struct scenario_running *row =
            world_row(&s->world, &s->running, &s->running_count, sizeof(*row));
        if (!scene_running(c, t, job, row) || !devices_free(c, t, row, used))
            return false;
    }
    return !c->r.code;
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool head(struct scene *c, const struct tree *root)
{
    static const char *const keys[] = {"scenario", "from",    "why",    "config",
                                       "cluster",  "migs",    "teams",  "running",
                                       "timeline", "shuffle", "bind_s", NULL};
    static const char *const config_keys[] = {"policy",    "order",    "patience_s",
                                              "inherit_s", "breach_s", NULL};
    static const char *const orders[] = {"fifo", "priority", "easy", "conservative", NULL};
    struct reader *r = &c->r;
    struct scenario *s = c->s;

    if (!reader_is(r, root, TREE_MAP, "a scenario, beginning with scenario: NAME") ||
        !reader_keys(r, root, keys, NULL))
        return false;
    s->name = reader_name(r, root, "scenario", true);
    s->from = reader_name(r, root, "from", false);
    const struct tree *why = reader_get(root, "why");
    if (why && reader_is(r, why, TREE_STRING, "a sentence"))
        s->why = why->text;
    s->shuffle = (uint32_t)reader_int(r, root, "shuffle", (struct span){0, 10000, 0});

    const struct tree *config = reader_map(r, root, "config"), none = {.kind = TREE_MAP};
    if (!config)
        config = &none;
    if (reader_keys(r, config, config_keys, NULL)) {
        s->policy = reader_name(r, config, "policy", false);
        int64_t order = reader_choice(r, config, "order", orders, -1);
        s->order = order < 0 || r->code ? NULL : orders[order];
    }
    s->patience_ns = reader_time(r, config, "patience_s", (struct span){0, READ_NS_MAX, 0});
    s->inherit_ns = reader_time(r, config, "inherit_s", (struct span){0, READ_NS_MAX, INHERIT_NS});
    s->breach_ns = reader_time(r, config, "breach_s", (struct span){0, READ_NS_MAX, BREACH_NS});
    r->w->workload_name = s->name;
    return !r->code;
}

static bool read_root(struct scene *c, const struct tree *root)
{
    struct reader *r = &c->r;
    struct scenario *s = c->s;

    if (!head(c, root) || !cluster(c, root) || !tables(c, root) || !running(c, root))
        return false;

    const struct tree *timeline = reader_list(r, root, "timeline"),
                      *bind = reader_get(root, "bind_s");
    if (!timeline)
        return r->code ? false : reader_absent(r, root, "timeline", "a list of steps");
    if (bind) {
        struct step *step = world_row(&s->world, &s->step, &s->step_count, sizeof(*step));

        *step = (struct step){.kind = STEP_BIND,
                              .line = bind->line,
                              .job = WORLD_NONE,
                              .node = WORLD_NONE,
                              .team = WORLD_NONE,
                              .pod = WORLD_NONE};
        step->length_ns = reader_time(r, root, "bind_s", (struct span){0, READ_NS_MAX, 0});
        scene_further(c, bind->line, "bind_s");
    }
    return scene_timeline_jobs(c, timeline) && scene_timeline_steps(c, timeline);
}

/* The whole file with LF at the ends of its lines. */
static int whole_text(const char *path, char **ret_text, size_t *ret_length, struct err *err)
{
    struct lines *l = NULL;
    char *text = memory_grow(NULL, 1), *line;
    size_t length, used = 0, room = 0;
    uint32_t number;
    int more = 0, code = lines_open(&l, path, err);

    while (!code && (more = lines_next(l, &line, &length, &number, err)) > 0) {
        if (used + length + 2 > TEXT_BYTES_MAX) {
            code = err_set(err, ERR_INPUT, "%s:%u: found more than 16 MiB, expected less", path,
                           number);
            break;
        }
        if (used + length + 2 > room) {
            room = (used + length + 2) * 2;
            text = memory_grow(text, room);
        }
        memcpy(text + used, line, length);
        used += length;
        text[used++] = '\n';
    }
    lines_close(l);
    *ret_text = text;
    *ret_length = used;
    return code ? code : -more;
}

int scenario_read(struct scenario *s, const char *path, struct err *err)
{
    char *text = NULL;
    size_t length = 0;
    struct tree *root = NULL;
    struct scene c = {.r = {.w = &s->world, .err = err, .strict = true, .further = scene_further},
                      .s = s};

    c.r.context = &c;
    *s = (struct scenario){0};
    world_init(&s->world);
    s->memory = tree_memory_open();
    s->path = world_string(&s->world, path, strlen(path));
    c.r.path = s->path;
    c.r.code = whole_text(path, &text, &length, err);
    if (!c.r.code)
        c.r.code = tree_from_yaml(s->memory, s->path, text, length, &root, err);
    if (!c.r.code)
        (void)read_root(&c, root);
    free(text);
    if (c.r.code)
        scenario_free(s);
    return c.r.code;
}

void scenario_free(struct scenario *s)
{
    world_free(&s->world);
    tree_memory_close(s->memory);
    *s = (struct scenario){0};
}
