/* Where a job sits, as a scenario says it. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"
#include "edge/base/memory.h"

#define BY_SLACK 2000 /* 2 ms, as times are compared */

static uint16_t device_mask(const struct tree *list)
{
    uint16_t mask = 0;
    int64_t device;

    for (const struct tree *t = list->child; t; t = t->next)
        if (tree_decimal(t, 0, &device) && device >= 0 && device < WORLD_GPUS_MAX)
            mask = (uint16_t)(mask | 1u << device);
    return mask;
}

/* Without an outer list the numbers are those of the only pod. */
static bool is_flat(const struct tree *devices)
{
    return devices->child && devices->child->kind != TREE_LIST;
}

static const struct tree *nth(const struct tree *list, uint32_t n)
{
    const struct tree *t = list->child;

    while (t && n-- > 0)
        t = t->next;
    return t;
}

/* A pod as it is asked: the node, the devices, or both. */
struct asked_pod {
    uint32_t node; /* WORLD_NONE: any */
    bool devices_given;
    uint16_t devices;
};

static struct asked_pod asked_pod(const struct play *p, const struct tree *node,
                                  const struct tree *devices, uint32_t n, uint32_t count)
{
    struct asked_pod a = {.node = WORLD_NONE};
    const struct tree *name = node, *list = devices;

    if (node && node->kind == TREE_LIST)
        name = node->count == count ? nth(node, n) : node->count == 1 ? node->child : NULL;
    if (name)
        a.node = world_node_find(p->w, name->text);
    if (devices && !is_flat(devices))
        list = nth(devices, n);
    if (list) {
        a.devices_given = true;
        a.devices = device_mask(list);
    }
    return a;
}

/* Equal pods may have been numbered otherwise: each asked one is found among the rest. */
static bool pods_match(const struct play *p, const struct live *l, const struct tree *node,
                       const struct tree *devices)
{
    bool *used = memory_zeroed(l->pod_count + 1u), fine = true;

    if (devices && !is_flat(devices) && devices->count != l->pod_count)
        fine = false;
    if (devices && is_flat(devices) && l->pod_count != 1)
        fine = false;
    for (uint32_t n = 0; n < l->pod_count && fine; n++) {
        struct asked_pod a = asked_pod(p, node, devices, n, l->pod_count);
        uint32_t at = 0;

        while (at < l->pod_count &&
               (used[at] || (a.node != WORLD_NONE && l->pod[at].node != a.node) ||
                (a.devices_given && l->pod[at].devices != a.devices)))
            at++;
        fine = at < l->pod_count;
        if (fine)
            used[at] = true;
    }
    free(used);
    return fine;
}

/* Exactly these nodes, whoever sits on which. */
static bool nodes_match(const struct play *p, const struct live *l, const struct tree *node)
{
    for (uint32_t n = 0; n < l->pod_count; n++) {
        bool listed = false;

        for (const struct tree *t = node->child; t; t = t->next)
            listed |= world_node_find(p->w, t->text) == l->pod[n].node;
        if (!listed)
            return false;
    }
    for (const struct tree *t = node->child; t; t = t->next)
        if (!live_sits_on(l, world_node_find(p->w, t->text), 0))
            return false;
    return true;
}

static bool all_differ(const struct play *p, const struct live *l, struct world_where where)
{
    for (uint32_t a = 0; a < l->pod_count; a++)
        for (uint32_t b = a + 1; b < l->pod_count; b++) {
            int64_t domain = fit_domain(p->w, where, &l->pod[a]);

            if (domain >= 0 && domain == fit_domain(p->w, where, &l->pod[b]))
                return false;
        }
    return true;
}

static uint32_t nodes_spanned(const struct live *l)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < l->pod_count; n++) {
        bool first = true;

        for (uint32_t before = 0; before < n; before++)
            first &= l->pod[before].node != l->pod[n].node;
        count += first;
    }
    return count;
}

/* Each pod's devices lie in one island; a single device always does. */
static bool is_linked(const struct play *p, uint32_t job, const struct live *l)
{
    const struct world_where island = {.scope = SCOPE_ISLAND};

    for (uint32_t n = 0; n < l->pod_count; n++)
        if (play_is_unknown(p, job, &l->pod[n]) ||
            (__builtin_popcount(l->pod[n].devices) > 1 && fit_domain(p->w, island, &l->pod[n]) < 0))
            return false;
    return true;
}

static bool place_is(struct play *p, uint32_t job, const struct live *l, const struct tree *t)
{
    const struct tree *node = reader_get(t, "node"), *devices = reader_get(t, "devices");
    const struct tree *same = reader_get(t, "same"), *differ = reader_get(t, "differ");
    const struct tree *nodes = reader_get(t, "nodes"), *linked = reader_get(t, "linked");

    if ((node || devices) && !pods_match(p, l, node, devices))
        return false;
    if (node && node->kind == TREE_LIST && node->count != l->pod_count && !nodes_match(p, l, node))
        return false;
    if (same && play_together(p->w, play_where(p, same), l->pod, l->pod_count) < 0)
        return false;
    if (differ && !all_differ(p, l, play_where(p, differ)))
        return false;
    if (nodes && !play_amount(nodes, (int64_t)nodes_spanned(l) * 1000000, 0))
        return false;
    return !linked || is_linked(p, job, l) == linked->truth;
}

static bool place_one(struct play *p, const struct tree *t)
{
    const struct tree *any = reader_get(t, "any");
    uint32_t job = play_job_of(p, t);
    const struct live *l = &p->job[job].live;
    bool fine = l->state == LIVE_RUNNING && place_is(p, job, l, t), found = !any;

    for (const struct tree *a = any ? any->child : NULL; a && fine; a = a->next)
        found |= place_is(p, job, l, a);
    if (fine && found)
        return true;
    out_clear(&p->found);
    play_describe(p, job, &p->found);
    return play_missed_in(p, "place", t);
}

/* ---- room that is kept ---- */

/* The places kept for the job as if it ran there, in memory that the caller frees. */
static struct live kept_of(const struct play *p, uint32_t job)
{
    const struct model *m = p->driver.sched.m;
    uint32_t key = p->job[job].key, id = key == WORLD_NONE ? ROW_NONE : index_job_find(m, key);
    struct live l = {.state = LIVE_RUNNING, .pod = memory_grow(NULL, sizeof(*l.pod))};
    uint32_t hold = id == ROW_NONE ? ROW_NONE : job_row(m, id)->hold_head;

    for (; hold != ROW_NONE; hold = hold_row(m, hold)->next) {
        const struct hold *x = hold_row(m, hold);
        uint32_t node = p->node_of[x->host];

        l.pod = memory_grow(l.pod, (l.pod_count + 1) * sizeof(*l.pod));
        l.pod[l.pod_count++] =
            (struct record_pod){.pod = x->pod,
                                .podset = play_podset_of(&p->w->job[job], x->pod),
                                .node = node,
                                .devices = play_devices_of(p, node, x->devices),
                                .mig_slot = x->slot};
    }
    return l;
}

static bool promised_one(struct play *p, const struct tree *t)
{
    uint32_t job = play_job_of(p, t);
    int64_t by_ns = p->job[job].promised_ns;
    const struct tree *by = t->kind == TREE_MAP ? reader_get(t, "by") : NULL;
    struct live l = kept_of(p, job);
    bool fine = by_ns != INT64_MAX && p->job[job].live.state == LIVE_WAITING &&
                (!by || play_amount(by, by_ns / 1000, BY_SLACK)) &&
                (t->kind != TREE_MAP || (l.pod_count > 0 && place_is(p, job, &l, t)));

    out_clear(&p->found);
    if (!fine && by_ns == INT64_MAX) {
        out_add(&p->found, "no promise");
    } else if (!fine) {
        out_add(&p->found, "by ");
        out_seconds(&p->found, by_ns);
        out_add(&p->found, " s on");
        for (uint32_t n = 0; n < l.pod_count; n++)
            out_format(&p->found, "%s %s", n ? "," : "", p->w->node[l.pod[n].node].name);
    }
    free(l.pod);
    return fine || play_missed_in(p, "promised", t);
}

bool play_expect_promised(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next)
        fine &= promised_one(p, t);
    return fine;
}

bool play_expect_place(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next)
        fine &= place_one(p, t);
    return fine;
}
