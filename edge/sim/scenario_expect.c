#include "edge/sim/scenario_parts.h"

#include <string.h>

#define MICRO_MAX ((int64_t)READ_AMOUNT_MAX * 1000000)

/* A number, or {min: a, max: b} with either of them. */
static bool amount(struct scene *c, const struct tree *value)
{
    static const char *const keys[] = {"min", "max", NULL};
    const struct span any = {-MICRO_MAX, MICRO_MAX, 0};
    struct reader *r = &c->r;
    int64_t number;

    if (value->kind == TREE_NUMBER)
        return reader_number(r, value, 6, any, &number);
    if (value->kind != TREE_MAP)
        return reader_wrong(r, value, "a number or {min: a, max: b}");
    if (!reader_keys(r, value, keys, NULL))
        return false;

    int64_t low = reader_decimal(r, value, "min", 6, any);
    int64_t high = reader_decimal(r, value, "max", 6, any);
    if (!reader_get(value, "min") && !reader_get(value, "max"))
        return reader_wrong(r, value, "min, max or both");
    if (!r->code && reader_get(value, "min") && reader_get(value, "max") && low > high)
        return reader_wrong(r, value, "a min that is not above the max");
    return !r->code;
}

static bool amount_at(struct scene *c, const struct tree *map, const char *key)
{
    const struct tree *t = reader_get(map, key);

    return !t || amount(c, t);
}

/* J, [J, K] or {only: [J, K]}. */
static bool jobs(struct scene *c, const struct tree *value)
{
    static const char *const keys[] = {"only", NULL};

    if (value->kind == TREE_MAP) {
        const struct tree *only = reader_get(value, "only");

        if (!reader_keys(&c->r, value, keys, NULL))
            return false;
        if (!only)
            return reader_wrong(&c->r, value, "a list of jobs, or {only: [...]}");
        value = only;
    }
    if (value->kind != TREE_LIST)
        return scene_job(c, value) != WORLD_NONE;
    for (const struct tree *t = value->child; t; t = t->next)
        if (scene_job(c, t) == WORLD_NONE)
            return false;
    return true;
}

/* A map from jobs to something: the key is a job of the scenario. */
static bool job_key(struct scene *c, const struct tree *t)
{
    const struct tree name = {.kind = TREE_STRING, .line = t->line, .text = t->key};

    return scene_job(c, &name) != WORLD_NONE;
}

static bool each_job(struct scene *c, const struct tree *map,
                     bool (*one)(struct scene *, const struct tree *))
{
    if (!reader_is(&c->r, map, TREE_MAP, "a map from jobs"))
        return false;
    for (const struct tree *t = map->child; t; t = t->next)
        if (!job_key(c, t) || !one(c, t))
            return false;
    return true;
}

static bool level(struct scene *c, const struct tree *map, const char *key)
{
    const struct tree *t = reader_get(map, key);

    return !t || reader_where(&c->r, t).scope != SCOPE_NONE;
}

static bool words(struct scene *c, const struct tree *list, const char *const *allowed,
                  const char *expected)
{
    for (const struct tree *t = list->child; t; t = t->next) {
        const char *const *word = allowed;

        while (*word && (t->kind != TREE_STRING || strcmp(*word, t->text) != 0))
            word++;
        if (!*word)
            return reader_wrong(&c->r, t, expected);
    }
    return true;
}

static bool waiting_one(struct scene *c, const struct tree *t)
{
    static const char *const keys[] = {"fits",      "code",      "binding", "text",
                                       "free_gpus", "best_pods", NULL};
    static const char *const bindings[] = {"busy", "health", "cpu",      "mem",
                                           "pods", "model",  "topology", NULL};
    struct reader *r = &c->r;

    if (t->kind == TREE_NULL)
        return true;
    if (!reader_is(r, t, TREE_MAP, "a map such as {fits: false}") || !reader_keys(r, t, keys, NULL))
        return false;

    const struct tree *fits = tree_find(t, "fits"), *text = reader_get(t, "text");
    const struct tree *binding = reader_list(r, t, "binding");
    if (fits && fits->kind != TREE_BOOL && fits->kind != TREE_NULL)
        return reader_wrong(r, fits, "true, false or null");
    (void)reader_name(r, t, "code", false);
    if (text)
        (void)reader_is(r, text, TREE_STRING, "a part of the sentence");
    if (reader_get(t, "free_gpus"))
        scene_further(c, t->line, "expect waiting free_gpus");
    if (reader_get(t, "best_pods"))
        scene_further(c, t->line, "expect waiting best_pods");
    return !r->code && amount_at(c, t, "free_gpus") && amount_at(c, t, "best_pods") &&
           (!binding ||
            words(c, binding, bindings, "one of busy health cpu mem pods model topology"));
}

static bool waiting(struct scene *c, const struct tree *t)
{
    if (t->kind != TREE_MAP || (t->count == 1 && strcmp(t->child->key, "only") == 0))
        return jobs(c, t);
    return each_job(c, t, waiting_one);
}

/* devices: one list of numbers per pod; a job of one pod may drop the outer list. */
static bool device_lists(struct scene *c, const struct tree *list)
{
    const struct span device = {0, WORLD_GPUS_MAX - 1, 0};
    int64_t number;

    for (const struct tree *t = list->child; t; t = t->next) {
        if (t->kind != TREE_LIST) {
            if (!reader_number(&c->r, t, 0, device, &number))
                return false;
            continue;
        }
        for (const struct tree *d = t->child; d; d = d->next)
            if (!reader_number(&c->r, d, 0, device, &number))
                return false;
    }
    return true;
}

static bool node_list(struct scene *c, const struct tree *t)
{
    if (t->kind != TREE_LIST)
        return scene_node(c, t) != WORLD_NONE;
    for (const struct tree *name = t->child; name; name = name->next)
        if (scene_node(c, name) == WORLD_NONE)
            return false;
    return true;
}

static bool place_fields(struct scene *c, const struct tree *t, bool inside_any)
{
    static const char *const keys[] = {"node",  "devices", "same", "differ",
                                       "nodes", "linked",  NULL};
    static const char *const more[] = {"any", NULL};
    struct reader *r = &c->r;

    if (!reader_is(r, t, TREE_MAP, "a place, such as {node: [n1]}") ||
        !reader_keys(r, t, keys, inside_any ? NULL : more))
        return false;

    const struct tree *node = reader_get(t, "node"), *devices = reader_list(r, t, "devices");
    (void)reader_bool(r, t, "linked", false);
    return !r->code && (!node || node_list(c, node)) && (!devices || device_lists(c, devices)) &&
           level(c, t, "same") && level(c, t, "differ") && amount_at(c, t, "nodes");
}

static bool place_one(struct scene *c, const struct tree *t)
{
    if (!place_fields(c, t, false))
        return false;

    const struct tree *any = reader_list(&c->r, t, "any");
    for (const struct tree *a = any ? any->child : NULL; a; a = a->next)
        if (!place_fields(c, a, true))
            return false;
    return !c->r.code;
}

static bool place(struct scene *c, const struct tree *t)
{
    return each_job(c, t, place_one);
}

static bool stopped(struct scene *c, const struct tree *t)
{
    static const char *const keys[] = {"count", "pods", "only", NULL};

    if (t->kind != TREE_MAP)
        return jobs(c, t);

    const struct tree *only = reader_get(t, "only");
    return reader_keys(&c->r, t, keys, NULL) && amount_at(c, t, "count") &&
           amount_at(c, t, "pods") && (!only || jobs(c, only));
}

static bool promised_one(struct scene *c, const struct tree *t)
{
    static const char *const keys[] = {"by", "same", "differ", "node", "nodes", NULL};

    if (t->kind == TREE_NULL)
        return true;
    if (!reader_is(&c->r, t, TREE_MAP, "a map such as {by: 600}") ||
        !reader_keys(&c->r, t, keys, NULL))
        return false;

    const struct tree *node = reader_get(t, "node");
    return amount_at(c, t, "by") && level(c, t, "same") && level(c, t, "differ") &&
           (!node || node_list(c, node)) && amount_at(c, t, "nodes");
}

static bool promised(struct scene *c, const struct tree *t)
{
    return each_job(c, t, promised_one);
}

/* shape: how many jobs of so many GPUs could start, {8: 1}. */
static bool free_shape(struct scene *c, const struct tree *map)
{
    for (const struct tree *t = map->child; t; t = t->next) {
        const struct tree gpus = {.kind = TREE_NUMBER, .line = t->line, .text = t->key};
        int64_t number;

        if (!reader_number(&c->r, &gpus, 0, (struct span){1, WORLD_GPUS_MAX, 0}, &number) ||
            !amount(c, t))
            return false;
    }
    return true;
}

static bool free_one(struct scene *c, const struct tree *t)
{
    static const char *const keys[] = {"gpus", "shape", "level", "count", NULL};
    struct reader *r = &c->r;

    if (!reader_is(r, t, TREE_MAP, "a map such as {gpus: 8}") || !reader_keys(r, t, keys, NULL))
        return false;

    const struct tree *shape = reader_map(r, t, "shape");
    if (r->code || (shape && !free_shape(c, shape)))
        return false;
    if (reader_get(t, "level") && !reader_get(t, "gpus"))
        return reader_absent(r, t, "gpus", "how many GPUs one job asks in the level");
    if (reader_get(t, "level") && !reader_get(t, "count"))
        return reader_absent(r, t, "count", "how many such jobs could start");
    return level(c, t, "level") && amount_at(c, t, "gpus") && amount_at(c, t, "count");
}

static bool free_room(struct scene *c, const struct tree *t)
{
    if (t->kind != TREE_LIST)
        return free_one(c, t);
    for (const struct tree *one = t->child; one; one = one->next)
        if (!free_one(c, one))
            return false;
    return true;
}

static bool amounts_by_job(struct scene *c, const struct tree *t)
{
    return each_job(c, t, amount);
}

static bool grade_one(struct scene *c, const struct tree *t)
{
    static const char *const grades[] = {"known", "planned", "unknown", NULL};
    const struct tree list = {.kind = TREE_LIST, .line = t->line, .count = 1};
    struct tree one = *t, all = list;

    one.next = NULL;
    all.child = &one;
    return words(c, &all, grades, "one of known planned unknown");
}

static bool grade(struct scene *c, const struct tree *t)
{
    return each_job(c, t, grade_one);
}

static bool metrics(struct scene *c, const struct tree *t)
{
    if (!reader_is(&c->r, t, TREE_MAP, "a map from names of metrics"))
        return false;
    for (const struct tree *m = t->child; m; m = m->next)
        if (!amount(c, m))
            return false;
    return true;
}

static bool never(struct scene *c, const struct tree *t)
{
    if (t->kind != TREE_LIST)
        return scene_expect(c, t, true);
    for (const struct tree *one = t->child; one; one = one->next)
        if (!scene_expect(c, one, true))
            return false;
    return true;
}

static bool repaired(struct scene *c, const struct tree *t)
{
    static const char *const keys[] = {"count", "jobs", "gpus", NULL};

    if (!reader_is(&c->r, t, TREE_MAP, "a map such as {count: 1}") ||
        !reader_keys(&c->r, t, keys, NULL))
        return false;

    const struct tree *names = reader_get(t, "jobs");
    return amount_at(c, t, "count") && amount_at(c, t, "gpus") && (!names || jobs(c, names));
}

/* {G: {a: 2}}: of the alternatives of G's pods, so many got a. */
static bool granted_one(struct scene *c, const struct tree *t)
{
    if (!reader_is(&c->r, t, TREE_MAP, "a map from alternatives to counts"))
        return false;
    for (const struct tree *a = t->child; a; a = a->next)
        if (!amount(c, a))
            return false;
    return true;
}

static bool granted(struct scene *c, const struct tree *t)
{
    return each_job(c, t, granted_one);
}

static const struct {
    const char *key;
    bool (*fine)(struct scene *, const struct tree *);
    const char *further; /* NULL: every build has it */
} expectations[] = {
    {"running", jobs, NULL},
    {"waiting", waiting, NULL},
    {"place", place, NULL},
    {"evicted", stopped, NULL},
    {"moved", stopped, NULL},
    {"promised", promised, NULL},
    {"free", free_room, NULL},
    {"wait_s", amounts_by_job, NULL},
    {"grade", grade, NULL},
    {"metrics", metrics, NULL},
    {"never", never, NULL},
    {"broken", amounts_by_job, "expect broken"},
    {"sick", jobs, "expect sick"},
    {"rejected", amount, "expect rejected"},
    {"repaired", repaired, "expect repaired"},
    {"granted", granted, "expect granted"},
    {"decide_ms", amount, "expect decide_ms"},
};

bool scene_expect(struct scene *c, const struct tree *expect, bool inside_never)
{
    enum { COUNT = sizeof(expectations) / sizeof(expectations[0]) };
    const char *keys[COUNT + 1];
    size_t count = 0;

    for (size_t e = 0; e < COUNT; e++)
        if (!inside_never || expectations[e].fine != never)
            keys[count++] = expectations[e].key;
    keys[count] = NULL;
    if (!reader_is(&c->r, expect, TREE_MAP, "a map of expectations") ||
        !reader_keys(&c->r, expect, keys, NULL))
        return false;
    for (size_t e = 0; e < COUNT; e++) {
        const struct tree *t = reader_get(expect, expectations[e].key);

        if (!t)
            continue;
        if (!expectations[e].fine(c, t))
            return false;
        if (expectations[e].further)
            scene_further(c, t->line, expectations[e].further);
    }
    return true;
}
