#include "edge/sim/scenario_parts.h"

#include <string.h>

#define PASSES_MAX 1000000

/* A step has one of these keys, and beside it only what that key knows. */
static const char *const actions[] = {"submit", "node",       "set",      "finish",      "fail",
                                      "cancel", "delete_pod", "recreate", "terminate_s", "restart",
                                      "watch",  "outside",    "reject",   "bind_s",      "expect",
                                      "settle", NULL};
static const char *const state_words[] = {"up", "down", "drain", "leave", "notready", "sick", NULL};

enum { STATE_NOTREADY = 4, STATE_SICK = 5 };

/* --- the jobs --------------------------------------------------------------------------------- */

static bool step_time(struct reader *r, const struct tree *t, int64_t *at_ns)
{
    if (!reader_is(r, t, TREE_MAP, "a step, such as {at: 0, submit: {...}}"))
        return false;

    int64_t now_ns = reader_time(r, t, "at", (struct span){0, READ_NS_MAX, READ_REQUIRED});
    if (r->code)
        return false;
    if (now_ns < *at_ns)
        return reader_wrong(r, tree_find(t, "at"), "no time before the step above");
    *at_ns = now_ns;
    return true;
}

bool scene_timeline_jobs(struct scene *c, const struct tree *list)
{
    int64_t at_ns = 0;

    for (const struct tree *t = list->child; t; t = t->next) {
        if (!step_time(&c->r, t, &at_ns))
            return false;

        const struct tree *submit = reader_get(t, "submit"), *outside = reader_get(t, "outside");
        if (submit && read_job(&c->r, submit, at_ns, NULL) == WORLD_NONE)
            return false;
        if (outside && read_job(&c->r, outside, at_ns, scene_running_keys) == WORLD_NONE)
            return false;
    }
    return true;
}

/* --- one action each -------------------------------------------------------------------------- */

static bool take_submit(struct scene *c, const struct tree *t, struct step *step)
{
    step->kind = STEP_SUBMIT;
    step->job = scene_job(c, tree_find(reader_get(t, "submit"), "job"));
    return !c->r.code;
}

static bool take_state(struct scene *c, const struct tree *t, struct step *step)
{
    struct reader *r = &c->r;
    const struct tree *gpu = reader_get(t, "gpu");

    step->kind = STEP_STATE;
    step->node = scene_node(c, reader_get(t, "node"));
    step->state = (uint8_t)reader_choice(r, t, "state", state_words, READ_REQUIRED);
    if (r->code)
        return false;
    if (gpu) {
        int64_t gpus = r->w->node[step->node].gpus;

        if (gpus == 0)
            return reader_wrong(r, gpu, "no device of a node without GPUs");
        step->gpu_given = true;
        step->gpu = (uint8_t)reader_int(r, t, "gpu", (struct span){0, gpus - 1, 0});
    }
    if (gpu && (step->state == STATE_LEAVE || step->state == STATE_NOTREADY))
        return reader_wrong(r, tree_find(t, "state"), "up, down, drain or sick for one device");
    if (!gpu && step->state == STATE_SICK)
        return reader_absent(r, t, "gpu", "the device that is sick");
    if (step->state == STATE_LEAVE)
        step->length_ns =
            reader_time(r, t, "leave_at", (struct span){step->at_ns, READ_NS_MAX, READ_REQUIRED});
    else if (reader_get(t, "leave_at"))
        return reader_wrong(r, tree_find(t, "leave_at"), "it beside state: leave only");
    if (step->state >= STATE_NOTREADY)
        scene_further(c, t->line, state_words[step->state]);
    return !r->code;
}

static bool set_node(struct scene *c, const struct tree *map, struct step *step)
{
    static const char *const keys[] = {"node",    "gpus", "model", "gpu_mem_mib", "cpu_milli",
                                       "mem_mib", "pods", "shape", "domains",     NULL};
    struct world_node node;

    step->kind = STEP_SET_NODE;
    step->node = scene_node(c, reader_get(map, "node"));
    if (c->r.code || !reader_keys(&c->r, map, keys, NULL))
        return false;
    /* Tried on a copy: a node may lose GPUs without a word about its shape. */
    node = c->r.w->node[step->node];
    node.shape = WORLD_NONE;
    return read_node_fields(&c->r, map, &node);
}

static bool set_job(struct scene *c, const struct tree *map, struct step *step)
{
    static const char *const keys[] = {"job",         "pods",  "min_pods", "priority",
                                       "last_ckpt_s", "est_s", NULL};
    struct reader *r = &c->r;

    step->kind = STEP_SET_JOB;
    step->job = scene_job(c, reader_get(map, "job"));
    if (r->code || !reader_keys(r, map, keys, NULL))
        return false;

    const struct world_podset *p = &r->w->job[step->job].podset[0];
    int64_t pods = reader_int(r, map, "pods", (struct span){1, READ_COUNT_MAX, p->pods});
    int64_t limit = reader_get(map, "pods") ? pods : READ_COUNT_MAX;
    (void)reader_int(r, map, "min_pods", (struct span){1, limit, limit});
    (void)reader_int(r, map, "priority", (struct span){INT32_MIN, INT32_MAX, 0});
    (void)reader_time(r, map, "last_ckpt_s", (struct span){-READ_NS_MAX, READ_NS_MAX, 0});
    (void)reader_time(r, map, "est_s", (struct span){0, READ_NS_MAX, 0});
    return !r->code;
}

static bool set_team(struct scene *c, const struct tree *map, struct step *step)
{
    static const char *const keys[] = {"team",      "weight",   "limit_gpus",
                                       "guarantee", "priority", NULL};
    struct reader *r = &c->r;
    const struct tree *name = reader_get(map, "team"), *list = reader_list(r, map, "guarantee");
    struct world_guarantee *guarantee;

    step->kind = STEP_SET_TEAM;
    if (!reader_name_fine(r, name) || !reader_keys(r, map, keys, NULL))
        return false;
    step->team = world_team_find(r->w, name->text);
    if (step->team == WORLD_NONE)
        return reader_wrong(r, name, "a team of this scenario");
    (void)reader_decimal(r, map, "weight", 6, (struct span){0, READ_AMOUNT_MAX, 0});
    (void)reader_decimal(r, map, "limit_gpus", 3, (struct span){0, READ_AMOUNT_MAX, 0});
    (void)reader_int(r, map, "priority", (struct span){INT32_MIN, INT32_MAX, 0});
    if (reader_get(map, "priority"))
        scene_further(c, map->line, "team priority");
    if (list)
        (void)read_guarantees(r, list, &guarantee);
    return !r->code;
}

static bool take_set(struct scene *c, const struct tree *t, struct step *step)
{
    struct reader *r = &c->r;
    const struct tree *map = reader_map(r, t, "set");

    if (!map)
        return false;

    bool node = reader_get(map, "node"), job = reader_get(map, "job");
    bool team = reader_get(map, "team");
    if (node + job + team != 1)
        return reader_wrong(r, map, "one of node, job and team with its changes");
    if (map->count < 2)
        return reader_wrong(r, map, "at least one change beside the name");
    step->change = map;
    if (node)
        return set_node(c, map, step);
    return job ? set_job(c, map, step) : set_team(c, map, step);
}

/* A job by name alone, or {job: J, pod: 0, ...}; keys as in the map's form. */
static bool job_and_pod(struct scene *c, const struct tree *value, struct step *step,
                        const char *const *keys)
{
    struct reader *r = &c->r;

    if (value->kind != TREE_MAP) {
        step->job = scene_job(c, value);
        return !r->code;
    }
    const struct tree *job = reader_get(value, "job"), *pod = reader_get(value, "pod");
    if (!reader_keys(r, value, keys, NULL))
        return false;
    if (!job)
        return reader_absent(r, value, "job", "the job");
    step->job = scene_job(c, job);
    if (pod) {
        step->pod_given = true;
        step->pod = (uint32_t)reader_int(r, value, "pod", (struct span){0, READ_COUNT_MAX - 1, 0});
    }
    return !r->code;
}

static bool take_end(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const both[] = {"job", "pod", NULL}, *const alone[] = {"job", NULL};
    static const struct {
        const char *key;
        enum step_kind kind;
        bool of_pod;
        const char *further;
    } ends[] = {{"finish", STEP_FINISH, true, "finish of one pod"},
                {"fail", STEP_FAIL, true, "fail of one pod"},
                {"cancel", STEP_CANCEL, false, NULL},
                {"recreate", STEP_RECREATE, false, NULL}};

    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++) {
        const struct tree *value = reader_get(t, ends[e].key);

        if (!value)
            continue;
        step->kind = (uint8_t)ends[e].kind;
        if (!job_and_pod(c, value, step, ends[e].of_pod ? both : alone))
            return false;
        if (step->pod_given)
            scene_further(c, value->line, ends[e].further);
    }
    return true;
}

static bool take_delete_pod(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const keys[] = {"job", "pod", "back_s", "force", NULL};
    struct reader *r = &c->r;
    const struct tree *map = reader_map(r, t, "delete_pod");

    if (!map || !job_and_pod(c, map, step, keys))
        return false;
    step->kind = STEP_DELETE_POD;
    if (!step->pod_given)
        return reader_absent(r, map, "pod", "the number of the pod");
    step->length_ns = reader_time(r, map, "back_s", (struct span){0, READ_NS_MAX, -1});
    step->force = reader_bool(r, map, "force", false);
    if (reader_get(map, "back_s"))
        scene_further(c, map->line, "back_s");
    if (step->force)
        scene_further(c, map->line, "force");
    return !r->code;
}

static bool take_terminate(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const keys[] = {"job", "s", NULL};
    const struct tree *map = reader_map(&c->r, t, "terminate_s");

    step->kind = STEP_TERMINATE;
    if (!map || !job_and_pod(c, map, step, keys))
        return false;
    step->length_ns = reader_time(&c->r, map, "s", (struct span){0, READ_NS_MAX, READ_REQUIRED});
    return !c->r.code;
}

static bool take_restart(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const words[] = {"scheduler", "empty", NULL};

    step->kind = STEP_RESTART;
    step->empty = reader_choice(&c->r, t, "restart", words, READ_REQUIRED) == 1;
    return !c->r.code;
}

static bool take_watch(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const keys[] = {"delay_s", "double", "reorder", "drop", NULL};
    struct reader *r = &c->r;
    const struct tree *map = reader_map(r, t, "watch");

    step->kind = STEP_WATCH;
    if (!map || !reader_keys(r, map, keys, NULL))
        return false;
    step->length_ns = reader_time(r, map, "delay_s", (struct span){0, READ_NS_MAX, 0});
    step->twice = reader_bool(r, map, "double", false);
    step->reorder_seed = (uint64_t)reader_int(r, map, "reorder", (struct span){0, INT64_MAX, 0});
    step->times = (uint32_t)reader_int(r, map, "drop", (struct span){0, READ_COUNT_MAX, 0});
    return !r->code;
}

static bool take_outside(struct scene *c, const struct tree *t, struct step *step)
{
    const struct tree *map = reader_get(t, "outside");

    step->kind = STEP_OUTSIDE;
    step->job = scene_job(c, tree_find(map, "job"));
    step->outside = world_alloc(c->r.w, sizeof(*step->outside));
    scene_further(c, map->line, "outside");
    return !c->r.code && scene_running(c, map, step->job, step->outside);
}

static bool take_reject(struct scene *c, const struct tree *t, struct step *step)
{
    static const char *const keys[] = {"node", "job", "times", NULL};
    struct reader *r = &c->r;
    const struct tree *map = reader_map(r, t, "reject");

    step->kind = STEP_REJECT;
    if (!map || !reader_keys(r, map, keys, NULL))
        return false;

    const struct tree *node = reader_get(map, "node"), *job = reader_get(map, "job");
    if (!node == !job)
        return reader_wrong(r, map, "one of node and job");
    if (node)
        step->node = scene_node(c, node);
    else
        step->job = scene_job(c, job);
    step->times = (uint32_t)reader_int(r, map, "times", (struct span){1, READ_COUNT_MAX, 1});
    scene_further(c, map->line, "reject");
    return !r->code;
}

static bool take_bind(struct scene *c, const struct tree *t, struct step *step)
{
    step->kind = STEP_BIND;
    step->length_ns = reader_time(&c->r, t, "bind_s", (struct span){0, READ_NS_MAX, 0});
    scene_further(c, t->line, "bind_s");
    return !c->r.code;
}

static bool take_expect(struct scene *c, const struct tree *t, struct step *step)
{
    step->kind = STEP_EXPECT;
    step->settle = (uint32_t)reader_int(&c->r, t, "settle", (struct span){1, PASSES_MAX, 0});
    step->expect = reader_map(&c->r, t, "expect");
    return !c->r.code && (!step->expect || scene_expect(c, step->expect, false));
}

/* --- the steps -------------------------------------------------------------------------------- */

static bool take(struct scene *c, const struct tree *t, const char *action, struct step *step)
{
    static const struct {
        const char *action;
        bool (*take)(struct scene *, const struct tree *, struct step *);
    } table[] = {
        {"submit", take_submit},   {"node", take_state},
        {"set", take_set},         {"finish", take_end},
        {"fail", take_end},        {"cancel", take_end},
        {"recreate", take_end},    {"delete_pod", take_delete_pod},
        {"restart", take_restart}, {"terminate_s", take_terminate},
        {"watch", take_watch},     {"outside", take_outside},
        {"reject", take_reject},   {"bind_s", take_bind},
        {"expect", take_expect},   {"settle", take_expect},
    };

    for (size_t a = 0; a < sizeof(table) / sizeof(table[0]); a++)
        if (strcmp(table[a].action, action) == 0)
            return table[a].take(c, t, step);
    return false;
}

/* Finds the one action of a step and looks at the keys beside it. */
static const char *action_of(struct reader *r, const struct tree *t)
{
    static const char *const state[] = {"at", "node", "state", "gpu", "leave_at", NULL};
    static const char *const expect[] = {"at", "expect", "settle", NULL};
    const char *found = NULL;

    for (const char *const *a = actions; *a; a++) {
        if (!reader_get(t, *a))
            continue;
        if (found && strcmp(*a, "settle") != 0) {
            (void)reader_say(r, t->line, "found %s beside %s, expected one action in a step", *a,
                             found);
            return NULL;
        }
        found = found ? found : *a;
    }
    if (!found) {
        const char *const at[] = {"at", "state", "gpu", "leave_at", NULL};

        if (reader_keys(r, t, actions, at))
            (void)reader_say(r, t->line,
                             "found a step that does nothing, expected one of submit "
                             "node set finish fail cancel delete_pod recreate "
                             "terminate_s restart watch outside reject bind_s expect");
        return NULL;
    }

    const char *const alone[] = {"at", found, NULL};
    const char *const *keys = alone;
    if (strcmp(found, "node") == 0)
        keys = state;
    if (strcmp(found, "expect") == 0 || strcmp(found, "settle") == 0)
        keys = expect;
    return reader_keys(r, t, keys, NULL) ? found : NULL;
}

bool scene_timeline_steps(struct scene *c, const struct tree *list)
{
    struct scenario *s = c->s;
    int64_t at_ns = 0;

    for (const struct tree *t = list->child; t; t = t->next) {
        const char *action = step_time(&c->r, t, &at_ns) ? action_of(&c->r, t) : NULL;
        struct step step = {.at_ns = at_ns,
                            .line = t->line,
                            .job = WORLD_NONE,
                            .node = WORLD_NONE,
                            .team = WORLD_NONE,
                            .pod = WORLD_NONE};

        if (!action || !take(c, t, action, &step))
            return false;
        *(struct step *)world_row(&s->world, &s->step, &s->step_count, sizeof(step)) = step;
    }
    return true;
}
