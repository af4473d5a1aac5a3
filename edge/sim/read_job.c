#include "edge/sim/read_parts.h"

#include <string.h>

#define MICRO       1000000
#define PODSETS_MAX 1024u
#define MODELS_MAX  256u
#define WAYS_MAX    8u
#define FACTOR_MAX  ((int64_t)1000 * MICRO)

static const char *const podset_keys[] = {"pods",    "min_pods",   "gpus",        "cpu_milli",
                                          "mem_mib", "models",     "milli",       "mem_share_mib",
                                          "mig",     "slice_pods", "slice_level", "required",
                                          "or",      "containers", "overhead",    NULL};

static const char *const job_keys[] = {
    "job",        "team",  "run_s",      "est_s",     "preferred", "ckpt_s",      "restart_s",
    "podsets",    "slow",  "profile",    "priority",  "end",       "preemptible", "signal_save",
    "share_card", "claim", "patience_s", "exclusive", NULL};

/* Keys of scenarios whose effect is not in the world; the reader of scenarios passes them on. */
static void tell_further(struct reader *r, const struct tree *map, const char *const *keys)
{
    for (; r->further && *keys; keys++) {
        const struct tree *t = reader_get(map, *keys);

        if (t)
            r->further(r->context, t->line, *keys);
    }
}

static void models(struct reader *r, const struct tree *map, struct world_podset *p)
{
    const struct tree *list = reader_list(r, map, "models");

    if (!list || list->count == 0)
        return;
    if (list->count > MODELS_MAX) {
        (void)reader_wrong(r, list, "at most 256 models");
        return;
    }
    p->model = world_alloc(r->w, list->count * sizeof(*p->model));
    for (const struct tree *t = list->child; t; t = t->next) {
        uint32_t model, i = 0;

        if (!reader_is(r, t, TREE_STRING, "the name of a model"))
            return;
        model = world_model(r->w, t->text);
        while (i < p->model_count && p->model[i] != model)
            i++;
        if (i == p->model_count)
            p->model[p->model_count++] = model;
    }
}

/* A share speaks of one device; scenarios may ask for a share on each of several. */
static bool share_stands_alone(struct reader *r, const struct tree *share,
                               const struct world_podset *p)
{
    if (p->gpus == 1)
        return true;
    if (r->strict && p->gpus > 1) {
        if (r->further)
            r->further(r->context, share->line, "gpus with a share");
        return true;
    }
    return reader_say(r, share->line, "found \"%s\" with gpus %u, expected gpus 1", share->key,
                      p->gpus);
}

static bool shares(struct reader *r, const struct tree *map, struct world_podset *p)
{
    const struct tree *milli = reader_get(map, "milli"), *mem = reader_get(map, "mem_share_mib");
    const struct tree *mig = reader_get(map, "mig");

    p->milli = (uint32_t)reader_int(r, map, "milli", (struct span){1, 1000, 1000});
    p->mem_share_mib = reader_int(r, map, "mem_share_mib", (struct span){1, READ_DEVICE_MAX, 0});
    p->mig = WORLD_NONE;
    if (r->code)
        return false;
    if (milli && p->milli < 1000 && !share_stands_alone(r, milli, p))
        return false;
    if (mem && !share_stands_alone(r, mem, p))
        return false;
    if (mem && milli)
        return reader_say(r, mem->line, "found \"mem_share_mib\" beside \"milli\", expected one");
    if (!mig)
        return true;
    if (!reader_name_fine(r, mig))
        return false;
    if (mem || milli)
        return reader_say(r, mig->line, "found \"mig\" beside another share, expected one");
    if (p->gpus != 1)
        return reader_say(r, mig->line, "found \"mig\" with gpus %u, expected gpus 1", p->gpus);
    p->mig = world_mig_name(r->w, mig->text);
    return true;
}

static bool slices(struct reader *r, const struct tree *map, struct world_podset *p)
{
    const struct tree *level = reader_get(map, "slice_level");

    p->slice_pods = (uint32_t)reader_int(r, map, "slice_pods", (struct span){0, p->pods, 0});
    if (r->code)
        return false;
    if (p->slice_pods == 0)
        return !level || reader_say(r, level->line,
                                    "found \"slice_level\" without \"slice_pods\", expected both");
    if (!level)
        return reader_absent(r, map, "slice_level", "the level that contains each slice");
    p->slice_level = reader_where(r, level);

    uint8_t scope = p->slice_level.scope;
    if (p->gpus == 0 && (scope == SCOPE_ISLAND || scope == SCOPE_NUMA || scope == SCOPE_PCIE))
        return reader_wrong(r, level, "the node or a level above it for pods without GPUs");
    return !r->code;
}

/* What a way is called: the value that it names first. */
static const char *wish_of(struct reader *r, const struct tree *way)
{
    const struct tree *t = way->child;

    while (t && t->kind == TREE_LIST)
        t = t->child;
    return t && t->text ? world_string(r->w, t->text, strlen(t->text)) : "";
}

static bool one_way(struct reader *r, const struct tree *map, struct world_podset *p)
{
    static const char *const keys[] = {"mig", "milli", "mem_share_mib", "gpus", "models", NULL};
    bool share;

    if (!reader_is(r, map, TREE_MAP, "a map such as {mig: 1g.10gb}") ||
        !reader_keys(r, map, keys, NULL))
        return false;
    share = reader_get(map, "mig") || reader_get(map, "milli") || reader_get(map, "mem_share_mib");
    p->gpus = (uint8_t)reader_int(
        r, map, "gpus", (struct span){0, WORLD_GPUS_MAX, share && !p->gpus ? 1 : p->gpus});
    if (reader_get(map, "models"))
        p->model_count = 0;
    models(r, map, p);
    p->wish = wish_of(r, map);
    return shares(r, map, p);
}

/* A scenario's podset whose pods may run in several ways: a podset for each. */
static bool ways(struct reader *r, const struct tree *map, struct world_job *job)
{
    const struct tree *list = r->strict ? reader_list(r, map, "or") : NULL;
    const struct world_podset all = job->podset[job->podset_count - 1];
    bool first = true;

    if (!list)
        return !r->code;
    if (list->count == 0 || list->count > WAYS_MAX)
        return reader_wrong(r, list, "one to eight ways, best first");
    if (all.slice_pods)
        return reader_wrong(r, list, "it without slice_pods");
    if (all.milli < 1000 || all.mem_share_mib || all.mig != WORLD_NONE)
        return reader_wrong(r, list, "the share inside each way");
    for (const struct tree *t = list->child; t; t = t->next, first = false) {
        struct world_podset *p =
            first ? &job->podset[job->podset_count - 1]
                  : world_row(r->w, &job->podset, &job->podset_count, sizeof(*p));

        *p = all;
        p->way = !first;
        if (!first)
            p->pods = p->pods_min = 0;
        if (!one_way(r, t, p))
            return false;
    }
    return true;
}

static bool container_fine(struct reader *r, const struct tree *t, bool overhead)
{
    static const char *const kinds[] = {"init", "sidecar", "main", NULL};
    static const char *const keys[] = {"cpu_milli", "mem_mib", NULL};
    static const char *const more[] = {"kind", "gpus", "name", NULL};

    if (!reader_is(r, t, TREE_MAP, "a map with cpu_milli and mem_mib") ||
        !reader_keys(r, t, keys, overhead ? NULL : more))
        return false;
    (void)reader_int(r, t, "cpu_milli", (struct span){0, READ_AMOUNT_MAX, 0});
    (void)reader_int(r, t, "mem_mib", (struct span){0, READ_AMOUNT_MAX, 0});
    if (!overhead) {
        (void)reader_choice(r, t, "kind", kinds, READ_REQUIRED);
        (void)reader_int(r, t, "gpus", (struct span){0, WORLD_GPUS_MAX, 0});
    }
    return !r->code;
}

static bool containers(struct reader *r, const struct tree *map)
{
    const struct tree *list = r->strict ? reader_list(r, map, "containers") : NULL;
    const struct tree *overhead = r->strict ? reader_get(map, "overhead") : NULL;

    for (const struct tree *t = list ? list->child : NULL; t; t = t->next)
        if (!container_fine(r, t, false))
            return false;
    return !r->code && (!overhead || container_fine(r, overhead, true));
}

/* One podset from its own map, or from the job's in the short form. */
static bool podset(struct reader *r, const struct tree *map, struct world_podset *p, uint32_t pods)
{
    static const char *const further[] = {"or", "containers", "overhead", NULL};

    p->name = "";
    p->pods = (uint32_t)reader_int(r, map, "pods", (struct span){1, READ_COUNT_MAX, pods});
    p->pods_min = (uint32_t)reader_int(r, map, "min_pods", (struct span){0, p->pods, p->pods});
    p->gpus = (uint8_t)reader_int(r, map, "gpus", (struct span){0, WORLD_GPUS_MAX, 0});
    p->cpu_milli = reader_int(r, map, "cpu_milli", (struct span){0, READ_AMOUNT_MAX, 0});
    p->mem_mib = reader_int(r, map, "mem_mib", (struct span){0, READ_AMOUNT_MAX, 0});
    models(r, map, p);
    if (!shares(r, map, p) || !slices(r, map, p) || !containers(r, map))
        return false;
    tell_further(r, map, further);
    return !r->code;
}

static bool podset_own(struct reader *r, const struct tree *map, struct world_job *job)
{
    static const char *const more[] = {"name", NULL};
    const struct tree *name = reader_get(map, "name");

    if (!reader_is(r, map, TREE_MAP, "a podset") || !reader_keys(r, map, podset_keys, more))
        return false;

    struct world_podset *p = world_row(r->w, &job->podset, &job->podset_count, sizeof(*p));
    if (!podset(r, map, p, 1))
        return false;
    p->required_count = reader_wheres(r, map, "required", p->required);
    if (name && reader_is(r, name, TREE_STRING, "a name"))
        p->name = world_string(r->w, name->text, strlen(name->text));
    for (uint32_t other = 0; other + 1 < job->podset_count; other++)
        if (p->name[0] && strcmp(job->podset[other].name, p->name) == 0)
            return reader_wrong(r, name, "a podset name that is used once");
    return !r->code && ways(r, map, job);
}

/* Counts of the gang as a whole. */
static bool gang_fine(struct reader *r, const struct tree *map, const struct world_job *job)
{
    uint64_t pods = 0, pods_min = 0;

    for (uint32_t p = 0; p < job->podset_count; p++) {
        pods += job->podset[p].pods;
        pods_min += job->podset[p].pods_min;
    }
    if (pods > READ_COUNT_MAX)
        return reader_say(r, map->line, "found %llu pods in one job, expected at most 1000000",
                          (unsigned long long)pods);
    if (pods_min == 0)
        return reader_say(r, map->line,
                          "found min_pods 0 in every podset, expected at least one "
                          "pod that runs");
    return true;
}

static bool podsets(struct reader *r, const struct tree *map, struct world_job *job, uint32_t pods)
{
    const struct tree *list = reader_list(r, map, "podsets");

    if (r->code)
        return false;
    if (!list)
        return podset(r, map,
                      world_row(r->w, &job->podset, &job->podset_count, sizeof(*job->podset)),
                      pods) &&
               ways(r, map, job);
    for (const char *const *key = podset_keys; *key; key++) {
        const struct tree *t = strcmp(*key, "required") == 0 ? NULL : reader_get(map, *key);

        if (t)
            return reader_say(r, t->line, "found \"%s\" beside \"podsets\", expected it inside one",
                              *key);
    }
    if (list->count == 0)
        return reader_wrong(r, list, "at least one podset");
    if (list->count > PODSETS_MAX)
        return reader_wrong(r, list, "at most 1024 podsets");
    for (const struct tree *t = list->child; t; t = t->next)
        if (!podset_own(r, t, job))
            return false;
    return true;
}

static bool slow(struct reader *r, const struct tree *map, struct world_job *job)
{
    const struct tree *factors = reader_map(r, map, "slow");

    for (const struct tree *t = factors ? factors->child : NULL; t && !r->code; t = t->next) {
        const struct tree level = {.kind = TREE_STRING, .line = t->line, .text = t->key};
        struct world_slow *s = &job->slow[job->slow_count];

        if (job->slow_count == WORLD_SLOW_MAX)
            return reader_wrong(r, factors, "at most 8 levels");
        s->level = reader_where(r, &level);
        if (reader_number(r, t, 6, (struct span){MICRO, FACTOR_MAX, 0}, &s->factor_micro))
            job->slow_count++;
    }
    return !r->code;
}

static void times(struct reader *r, const struct tree *map, struct world_job *job)
{
    job->run_ns = reader_time(r, map, "run_s", (struct span){1, READ_NS_MAX, READ_REQUIRED});
    job->est_ns = reader_time(r, map, "est_s", (struct span){0, READ_NS_MAX, -1});
    job->ckpt_ns = reader_time(r, map, "ckpt_s", (struct span){0, READ_NS_MAX, -1});
    job->restart_ns = reader_time(r, map, "restart_s", (struct span){0, READ_NS_MAX, 0});
    job->patience_ns = reader_time(r, map, "patience_s", (struct span){0, READ_NS_MAX, -1});
}

static void manners(struct reader *r, const struct tree *map, struct world_job *job)
{
    static const char *const ends[] = {"ok", "fail", "cancel", NULL};
    static const char *const profiles[] = {"none", "allreduce", "pipeline", "expert", NULL};

    job->priority = (int32_t)reader_int(r, map, "priority", (struct span){INT32_MIN, INT32_MAX, 0});
    job->preemptible = reader_bool(r, map, "preemptible", true);
    job->signal_save = reader_bool(r, map, "signal_save", false);
    job->share_card = reader_bool(r, map, "share_card", true);
    job->end = (uint8_t)reader_choice(r, map, "end", ends, END_OK);
    job->profile = (uint8_t)reader_choice(r, map, "profile", profiles, COMM_NONE);
}

/* The level of which the job wants whole domains for itself: the host or one above it. */
static void exclusive(struct reader *r, const struct tree *map, struct world_job *job)
{
    const struct tree *level = reader_get(map, "exclusive");

    if (!level)
        return;
    job->exclusive = reader_where(r, level);
    if (!r->code && job->exclusive.scope != SCOPE_NODE && job->exclusive.scope != SCOPE_LEVEL)
        (void)reader_wrong(r, level, "node or a level of a chain");
}

static bool team_of(struct reader *r, const struct tree *map, struct world_job *job)
{
    const char *team = reader_name(r, map, "team", false);

    job->team = WORLD_NONE;
    if (!team || r->code)
        return !r->code;
    job->team = world_team_find(r->w, team);
    return job->team != WORLD_NONE ||
           reader_wrong(r, tree_find(map, "team"), "a team that is described before its jobs");
}

/* The pods that a running job of a scenario has by the places it names. */
static uint32_t pods_at(const struct tree *map, const char *const *more)
{
    const struct tree *at = more ? tree_find(map, "at") : NULL;

    return at && at->kind == TREE_LIST && at->count ? at->count : 1;
}

uint32_t read_job(struct reader *r, const struct tree *map, int64_t submit_ns,
                  const char *const *more)
{
    static const char *const further[] = {"claim", NULL};
    const char *all[64];
    size_t count = 0;

    if (!reader_is(r, map, TREE_MAP, "a job"))
        return WORLD_NONE;
    for (const char *const *key = podset_keys; *key; key++)
        all[count++] = *key;
    for (const char *const *key = more; key && *key; key++)
        all[count++] = *key;
    all[count] = NULL;

    const char *name = reader_name(r, map, "job", true);
    if (!name || !reader_keys(r, map, job_keys, all))
        return WORLD_NONE;
    if (world_job_find(r->w, name) != WORLD_NONE) {
        (void)reader_wrong(r, tree_find(map, "job"), "a job name that is used once");
        return WORLD_NONE;
    }

    uint32_t id = r->w->job_count;
    struct world_job *job = world_row(r->w, &r->w->job, &r->w->job_count, sizeof(*job));
    job->name = world_string(r->w, name, strlen(name));
    job->submit_ns = submit_ns;
    times(r, map, job);
    manners(r, map, job);
    exclusive(r, map, job);
    job->required_count = reader_wheres(r, map, "required", job->required);
    job->preferred_count = reader_wheres(r, map, "preferred", job->preferred);
    if (r->code || !team_of(r, map, job) || !slow(r, map, job) ||
        !podsets(r, map, job, pods_at(map, more)) || !gang_fine(r, map, job))
        return WORLD_NONE;
    if (r->strict)
        tell_further(r, map, further);
    return id;
}
