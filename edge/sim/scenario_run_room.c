/* What is free, and how many jobs of a size could start. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>

#include "edge/base/memory.h"

/* What a node offers to what comes new. */
struct offer {
    int64_t nano;     /* free, parts of devices included */
    uint16_t whole;   /* devices wholly free */
    unsigned unknown; /* as many of these may be taken: nobody can say which */
};

static struct offer offer_of(const struct play *p, const struct play_use *use, uint32_t node)
{
    uint16_t open = play_open_devices(p, node);
    const struct play_use *u = &use[node];
    struct offer o = {.unknown = u->unknown};

    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++) {
        if (!(open >> d & 1) || u->mig[d])
            continue;
        if (u->nano[d] == 0)
            o.whole = (uint16_t)(o.whole | 1u << d);
        o.nano += NANO - u->nano[d];
    }
    o.nano -= u->unknown * NANO;
    o.nano = o.nano > 0 ? o.nano : 0;
    return o;
}

/* Wholly free devices among these that nobody may sit on. */
static unsigned whole_of(const struct offer *o, uint16_t within)
{
    unsigned whole = (unsigned)__builtin_popcount(o->whole & within);

    return whole > o->unknown ? whole - o->unknown : 0;
}

static unsigned largest_node(const struct play *p)
{
    unsigned largest = 1;

    for (uint32_t n = 0; n < p->w->node_count; n++)
        largest = p->w->node[n].gpus > largest ? p->w->node[n].gpus : largest;
    return largest;
}

/* Jobs of so many GPUs, each as equal pods of the largest divisor that a node holds, each inside
 * one domain of the level. */
static int64_t jobs_of(const struct play *p, const struct play_use *use, struct world_where level,
                       int64_t gpus)
{
    unsigned pod = 1;
    int64_t jobs = 0, pods = gpus, *slots;
    uint32_t domains = p->w->node_count;

    for (unsigned size = largest_node(p); size > 1 && pod == 1; size--)
        if (gpus % size == 0) {
            pod = size;
            pods = gpus / size;
        }
    if (level.scope == SCOPE_LEVEL)
        domains = p->w->level[level.level].domain_count;
    slots = memory_zeroed((domains + 1u) * sizeof(*slots));
    for (uint32_t n = 0; n < p->w->node_count; n++) {
        struct record_pod at = {.node = n};
        int64_t domain = fit_domain(p->w, level, &at);
        struct offer o = offer_of(p, use, n);

        if (domain >= 0)
            slots[domain] += whole_of(&o, UINT16_MAX) / pod;
    }
    for (uint32_t d = 0; d < domains; d++)
        jobs += slots[d] / pods;
    free(slots);
    return jobs;
}

/* The devices of one device's part inside a host; 0: it is in none, or nobody knows. */
static uint16_t part_of(const struct world *w, uint8_t scope, uint32_t node, unsigned device)
{
    const struct world_shape *shape =
        w->node[node].shape == WORLD_NONE ? NULL : &w->shape[w->node[node].shape];
    const uint8_t *part = !shape                  ? NULL
                          : scope == SCOPE_ISLAND ? shape->island
                          : scope == SCOPE_NUMA   ? shape->numa
                                                  : shape->pcie;
    uint16_t mask = 0;

    for (unsigned d = 0; part && part[device] != 0xFF && d < shape->gpus; d++)
        if (part[d] == part[device])
            mask = (uint16_t)(mask | 1u << d);
    return mask;
}

/* The same for levels inside a host: each job in one island, NUMA node or switch. */
static int64_t jobs_inside(const struct play *p, const struct play_use *use, uint8_t scope,
                           int64_t gpus)
{
    int64_t jobs = 0;

    for (uint32_t n = 0; n < p->w->node_count; n++) {
        struct offer o = offer_of(p, use, n);

        for (unsigned d = 0; d < p->w->node[n].gpus; d++) {
            uint16_t part = part_of(p->w, scope, n, d);

            if (part && (unsigned)__builtin_ctz(part) == d)
                jobs += whole_of(&o, part) / gpus;
        }
    }
    return jobs;
}

static bool judge(struct play *p, const char *key, const struct tree *t, int64_t micro)
{
    if (play_amount(t, micro, 1000))
        return true;
    out_clear(&p->found);
    out_decimal(&p->found, micro, 6);
    return play_missed(p, key, t);
}

static bool shapes(struct play *p, const struct play_use *use, const struct tree *map)
{
    const struct world_where node = {.scope = SCOPE_NODE};
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next) {
        const struct tree text = {.kind = TREE_NUMBER, .line = t->line, .text = t->key};
        struct out key = {NULL, 0, 0};
        int64_t gpus;

        if (!tree_decimal(&text, 0, &gpus) || gpus <= 0)
            continue;
        out_format(&key, "free: shape: %s", t->key);
        fine &= judge(p, key.bytes, t,
                      gpus > (int64_t)largest_node(p) ? 0 : jobs_of(p, use, node, gpus) * 1000000);
        out_free(&key);
    }
    return fine;
}

static bool free_level(struct play *p, const struct play_use *use, const struct tree *t,
                       int64_t gpus)
{
    struct world_where level = play_where(p, reader_get(t, "level"));
    bool inside =
        level.scope == SCOPE_ISLAND || level.scope == SCOPE_NUMA || level.scope == SCOPE_PCIE;
    int64_t jobs = inside ? jobs_inside(p, use, level.scope, gpus) : jobs_of(p, use, level, gpus);

    return judge(p, "free: count", reader_get(t, "count"), jobs * 1000000);
}

static bool free_one(struct play *p, const struct play_use *use, const struct tree *t)
{
    const struct tree *gpus = reader_get(t, "gpus"), *shape = reader_get(t, "shape");
    int64_t size, nano = 0;
    bool fine = true;

    if (reader_get(t, "level") && gpus && tree_decimal(gpus, 0, &size) && size > 0)
        return free_level(p, use, t, size);
    for (uint32_t n = 0; n < p->w->node_count; n++)
        nano += offer_of(p, use, n).nano;
    if (gpus)
        fine = judge(p, "free: gpus", gpus, nano / 1000);
    return (!shape || shapes(p, use, shape)) && fine;
}

bool play_expect_free(struct play *p, const struct tree *value)
{
    struct play_use *use = play_use_all(p);
    bool fine = true;

    if (value->kind != TREE_LIST)
        fine = free_one(p, use, value);
    else
        for (const struct tree *t = value->child; t; t = t->next)
            fine &= free_one(p, use, t);
    free(use);
    return fine;
}
