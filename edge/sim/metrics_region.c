/* Questions of an empty cluster: the fewest nodes, the smallest domain that holds a gang.
 *
 * A gang that must lie in one domain of each of several levels lies in the domains of any one of
 * its hosts: so every host is tried as that anchor, and the hosts that share all its domains are
 * the region. A gang of equal pods is counted exactly. Gangs of unlike podsets are packed greedily,
 * the largest pods first and then once more with the most CPU first; a gang that only a cleverer
 * packing fits counts as too large. Fewest hosts and groups leave slices above the host aside. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_fit.h"

#include <stdlib.h>

#define LEVELS_MAX (2 * WORLD_LEVELS_MAX + 1)

struct asked {
    const struct world *world;
    const struct world_job *job;
    unsigned level_count;
    struct world_where level[LEVELS_MAX];
    bool below_host;
    int64_t *held; /* pods of a gang of one podset, by host */
};

struct region {
    uint32_t anchor;
    uint16_t devices;
};

/* The fewest of the counts, largest first, that reach want; 0: all together do not. */
static uint32_t fewest(int64_t *held, uint32_t count, int64_t want)
{
    uint32_t used = 0;

    while (want > 0) {
        uint32_t best = 0;

        for (uint32_t i = 1; i < count; i++)
            if (held[i] > held[best])
                best = i;
        if (count == 0 || held[best] <= 0)
            return 0;
        want -= held[best];
        held[best] = 0;
        used++;
    }
    return used;
}

static uint32_t pods_held(const struct asked *a, uint32_t node, uint16_t devices)
{
    const struct world_podset *set = &a->job->podset[0];
    struct fit_room r = fit_room(a->world, node, devices);
    uint32_t most = fit_pack(a->world, a->job, 0, node, &r, set->pods), whole = 0;
    const uint8_t *part;

    if (set->slice_pods == 0 || set->slice_level.scope > SCOPE_NODE)
        return most;
    if (set->slice_level.scope == SCOPE_NODE)
        return most / set->slice_pods * set->slice_pods;
    part = fit_parts(a->world, set->slice_level.scope, node);
    for (unsigned d = 0; part && d < a->world->node[node].gpus; d++) {
        uint16_t mask = fit_part(part, d);

        if (mask == 0 || (mask & ((1u << d) - 1))) /* counted with its first device */
            continue;
        r = fit_room(a->world, node, mask & devices);
        whole += fit_pack(a->world, a->job, 0, node, &r, set->pods) / set->slice_pods;
    }
    whole *= set->slice_pods;
    return whole < most ? whole : most / set->slice_pods * set->slice_pods;
}

static void add_level(struct asked *a, struct world_where level)
{
    if (level.scope == SCOPE_NONE || level.scope == SCOPE_CLUSTER || a->level_count == LEVELS_MAX)
        return;
    a->level[a->level_count++] = level;
    a->below_host |= level.scope < SCOPE_NODE;
}

static struct asked ask(const struct world *w, const struct world_job *job,
                        struct world_where level)
{
    struct asked a = {.world = w, .job = job};

    add_level(&a, level);
    for (unsigned i = 0; i < job->required_count; i++)
        add_level(&a, job->required[i]);
    for (unsigned i = 0; job->podset_count == 1 && i < job->podset[0].required_count; i++)
        add_level(&a, job->podset[0].required[i]);
    if (job->podset_count == 1 && !a.below_host) {
        a.held = memory_zeroed(sizeof(*a.held) * (w->node_count + 1));
        for (uint32_t n = 0; n < w->node_count; n++)
            a.held[n] = pods_held(&a, n, UINT16_MAX);
    }
    return a;
}

static bool inside(const struct asked *a, const struct region *at, uint32_t node)
{
    for (unsigned i = 0; i < a->level_count; i++) {
        uint8_t l = a->level[i].level;

        if (a->level[i].scope != SCOPE_LEVEL
                ? node != at->anchor
                : a->world->node[node].domain[l] != a->world->node[at->anchor].domain[l])
            return false;
    }
    return true;
}

/* False: the anchor lies outside some level, or an earlier one has the same region. */
static bool region_at(const struct asked *a, uint32_t anchor, unsigned device, struct region *ret)
{
    struct region at = {.anchor = anchor, .devices = UINT16_MAX};

    for (unsigned i = 0; i < a->level_count; i++) {
        struct world_where level = a->level[i];
        const uint8_t *part;

        if (level.scope == SCOPE_LEVEL && a->world->node[anchor].domain[level.level] == WORLD_NONE)
            return false;
        if (level.scope >= SCOPE_NODE)
            continue;
        part = fit_parts(a->world, level.scope, anchor);
        if (!part)
            return false;
        at.devices &= fit_part(part, device);
    }
    for (uint32_t n = 0; n < anchor && !a->below_host; n++)
        if (inside(a, &at, n))
            return false;
    *ret = at;
    return at.devices != 0;
}

static int64_t held_in(const struct asked *a, const struct region *at, uint32_t node)
{
    if (!inside(a, at, node))
        return 0;
    return a->held ? a->held[node] : pods_held(a, node, at->devices);
}

/* By domain of the level, or all in one; hosts in no domain are left out. */
static uint32_t sums(const struct asked *a, const struct region *at, struct world_where level,
                     int64_t *sum)
{
    uint32_t count = level.scope == SCOPE_LEVEL  ? a->world->level[level.level].domain_count
                     : level.scope == SCOPE_NODE ? a->world->node_count
                                                 : 1;

    for (uint32_t i = 0; i < count; i++)
        sum[i] = 0;
    for (uint32_t n = 0; n < a->world->node_count; n++) {
        uint32_t domain = level.scope == SCOPE_LEVEL  ? a->world->node[n].domain[level.level]
                          : level.scope == SCOPE_NODE ? n
                                                      : 0;

        if (domain != WORLD_NONE)
            sum[domain] += held_in(a, at, n);
    }
    return count;
}

static int64_t *sums_open(const struct asked *a)
{
    size_t count = a->world->node_count;

    for (uint32_t l = 0; l < a->world->level_count; l++)
        if (a->world->level[l].domain_count > count)
            count = a->world->level[l].domain_count;
    return memory_zeroed(sizeof(int64_t) * (count + 1));
}

/* Unlike podsets: by_cpu chooses which pods go first. */
static uint32_t next_podset(const struct world_job *job, uint64_t done, bool by_cpu)
{
    uint32_t best = WORLD_NONE;

    for (uint32_t i = 0; i < job->podset_count && i < 64; i++) {
        const struct world_podset *s = &job->podset[i], *b;

        if (done >> i & 1u)
            continue;
        if (best == WORLD_NONE) {
            best = i;
            continue;
        }
        b = &job->podset[best];
        if (by_cpu ? s->cpu_milli > b->cpu_milli
                   : s->gpus > b->gpus || (s->gpus == b->gpus && s->milli > b->milli))
            best = i;
    }
    return best;
}

static bool next_region(const struct asked *a, uint64_t *step, struct region *ret)
{
    uint64_t per_host = a->below_host ? WORLD_GPUS_MAX : 1;

    while (*step < per_host * a->world->node_count) {
        uint32_t anchor = (uint32_t)(*step / per_host);
        unsigned device = (unsigned)(*step % per_host);

        ++*step;
        if ((!a->below_host || device < a->world->node[anchor].gpus) &&
            region_at(a, anchor, device, ret))
            return true;
    }
    return false;
}

/* What is packed into: the hosts' room, and a copy to go back to. */
struct bench {
    const struct asked *asked;
    const struct region *at;
    struct fit_room *room, *before;
};

static struct asked levels_of(const struct asked *a, const struct world_where *level,
                              unsigned count)
{
    struct asked sub = {.world = a->world, .job = a->job};

    for (unsigned i = 0; i < count; i++)
        add_level(&sub, level[i]);
    return sub;
}

/* Packs up to want pods into the hosts of both regions; returns how many went in. */
static uint32_t pack_into(const struct bench *b, uint32_t set, const struct asked *sub,
                          const struct region *part, uint16_t devices, uint32_t want)
{
    uint32_t left = want;

    for (uint32_t n = 0; n < b->asked->world->node_count && left > 0; n++) {
        if (!inside(b->asked, b->at, n) || !inside(sub, part, n))
            continue;
        b->room[n].allowed = b->before[n].allowed & devices & part->devices;
        left -= fit_pack(b->asked->world, b->asked->job, set, n, &b->room[n], left);
        b->room[n].allowed = b->before[n].allowed;
    }
    return want - left;
}

static void restore(const struct bench *b, struct fit_room *to, const struct fit_room *from)
{
    for (uint32_t n = 0; n < b->asked->world->node_count; n++)
        to[n] = from[n];
}

/* All slices of the podset inside one region: each goes into the first domain that holds it. */
static bool pack_slices(const struct bench *b, uint32_t set, const struct asked *outer,
                        const struct region *part)
{
    const struct world_podset *p = &b->asked->job->podset[set];
    struct asked sub = levels_of(outer, outer->level, outer->level_count);
    struct region slice;
    uint64_t step = 0;
    uint32_t left = p->pods;

    add_level(&sub, p->slice_level);
    while (left > 0 && next_region(&sub, &step, &slice)) {
        while (left > 0 && inside(outer, part, slice.anchor)) {
            struct fit_room *kept = memory_zeroed(sizeof(*kept) * b->asked->world->node_count);
            bool whole;

            restore(b, kept, b->room);
            whole = pack_into(b, set, &sub, &slice, part->devices, p->slice_pods) == p->slice_pods;
            if (!whole)
                restore(b, b->room, kept);
            free(kept);
            if (!whole)
                break;
            left -= p->slice_pods < left ? p->slice_pods : left;
        }
    }
    return left == 0;
}

/* All pods of the podset, inside one domain of each level that it demands for itself. */
static bool pack_set(const struct bench *b, uint32_t set)
{
    const struct world_podset *p = &b->asked->job->podset[set];
    struct asked sub = levels_of(b->asked, p->required, p->required_count);
    struct region part;
    uint64_t step = 0;
    bool all = false;

    restore(b, b->before, b->room);
    while (!all && next_region(&sub, &step, &part)) {
        all = p->slice_pods > 0 ? pack_slices(b, set, &sub, &part)
                                : pack_into(b, set, &sub, &part, UINT16_MAX, p->pods) == p->pods;
        if (!all)
            restore(b, b->room, b->before);
    }
    return all;
}

static bool packs(const struct asked *a, const struct region *at, bool by_cpu)
{
    size_t bytes = sizeof(struct fit_room) * (a->world->node_count + 1);
    struct bench b = {
        .asked = a, .at = at, .room = memory_zeroed(bytes), .before = memory_zeroed(bytes)};
    uint64_t done = 0;
    bool all = true;

    for (uint32_t n = 0; n < a->world->node_count; n++)
        b.room[n] = fit_room(a->world, n, at->devices);
    for (uint32_t k = 0; k < a->job->podset_count && k < 64 && all; k++) {
        uint32_t set = next_podset(a->job, done, by_cpu);

        done |= 1ULL << set;
        all = pack_set(&b, set);
    }
    free(b.room);
    free(b.before);
    return all;
}

static bool region_holds(const struct asked *a, const struct region *at)
{
    const struct world_podset *set = &a->job->podset[0];
    struct world_where level = {.scope = SCOPE_CLUSTER};
    int64_t *sum, pods = 0;
    uint32_t count;

    if (a->job->podset_count > 1)
        return packs(a, at, false) || packs(a, at, true);
    if (set->slice_pods > 0 && set->slice_level.scope == SCOPE_LEVEL)
        level = set->slice_level;
    sum = sums_open(a);
    count = sums(a, at, level, sum);
    for (uint32_t i = 0; i < count; i++)
        pods += set->slice_pods > 0 ? sum[i] / set->slice_pods * set->slice_pods : sum[i];
    free(sum);
    return pods >= set->pods;
}

static bool level_holds(const struct world *w, const struct world_job *job,
                        struct world_where level)
{
    struct asked a = ask(w, job, level);
    struct region at;
    uint64_t step = 0;
    bool holds = false;

    while (!holds && next_region(&a, &step, &at))
        holds = region_holds(&a, &at);
    free(a.held);
    return holds;
}

static uint32_t fewest_units(const struct world *w, const struct world_job *job,
                             struct world_where unit)
{
    struct asked a = ask(w, job, (struct world_where){.scope = SCOPE_NONE});
    int64_t *sum = sums_open(&a);
    uint32_t best = 0;
    struct region at;

    for (uint64_t step = 0; next_region(&a, &step, &at);) {
        uint32_t count = sums(&a, &at, unit, sum), used = fewest(sum, count, job->podset[0].pods);

        if (used > 0 && (best == 0 || used < best))
            best = used;
    }
    free(sum);
    free(a.held);
    return best;
}

uint32_t fit_fewest_nodes(const struct world *w, const struct world_job *job)
{
    return fewest_units(w, job, (struct world_where){.scope = SCOPE_NODE});
}

int fit_group_level(const struct world *w)
{
    for (uint8_t l = 0; l < w->level_count; l++)
        if (w->level[l].chain == 0 && w->level[l].rank == 0)
            return l;
    return -1;
}

uint32_t fit_fewest_groups(const struct world *w, const struct world_job *job)
{
    int level = fit_group_level(w);

    if (level < 0)
        return 0;
    return fewest_units(w, job,
                        (struct world_where){.scope = SCOPE_LEVEL, .level = (uint8_t)level});
}

bool fit_wants_locality(const struct world_job *job)
{
    for (uint32_t i = 0; i < job->podset_count; i++)
        if (job->podset[i].required_count > 0)
            return true;
    return job->required_count > 0 || job->preferred_count > 0;
}

/* What the job wishes: `preferred`, else what it demands. */
static unsigned wishes(const struct world_job *job, const struct world_where **ret_wish)
{
    *ret_wish = job->preferred;
    if (job->preferred_count > 0)
        return job->preferred_count;
    *ret_wish = job->required;
    if (job->required_count > 0)
        return job->required_count;
    *ret_wish = job->podset[0].required;
    return job->podset_count == 1 ? job->podset[0].required_count : 0;
}

static struct world_where below_host_wish(const struct world_job *job)
{
    const struct world_where *wish;
    unsigned count = wishes(job, &wish);

    for (unsigned i = 0; i < count; i++)
        if (wish[i].scope < SCOPE_NODE)
            return wish[i];
    return (struct world_where){.scope = SCOPE_NONE};
}

struct world_where fit_smallest(const struct world *w, const struct world_job *job)
{
    struct world_where below = below_host_wish(job), at = {.scope = SCOPE_NODE};
    const struct world_where *wish;
    unsigned count = wishes(job, &wish);

    if (below.scope != SCOPE_NONE && level_holds(w, job, below))
        return below;
    if (level_holds(w, job, at))
        return at;
    for (unsigned rank = 0; count > 0 && wish[0].scope == SCOPE_LEVEL && rank < w->level_count;
         rank++)
        for (uint8_t l = 0; l < w->level_count; l++) {
            at = (struct world_where){.scope = SCOPE_LEVEL, .level = l};
            if (w->level[l].chain == w->level[wish[0].level].chain && w->level[l].rank == rank &&
                level_holds(w, job, at))
                return at;
        }
    at = (struct world_where){.scope = SCOPE_CLUSTER};
    return level_holds(w, job, at) ? at : (struct world_where){.scope = SCOPE_NONE};
}
