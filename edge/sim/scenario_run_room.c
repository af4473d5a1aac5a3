/* What is free, and how many jobs of a size could start. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>

#include "edge/base/memory.h"

/* Free GPUs of a node that are open to what comes new; *ret_whole: devices wholly free. */
static int64_t node_free(const struct play *p, const struct play_use *use, uint32_t node,
                         unsigned *ret_whole)
{
    uint16_t open = play_open_devices(p, node);
    struct play_use u = use[node];
    unsigned whole = 0;
    int64_t free_nano = 0;

    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++) {
        if (!(open >> d & 1) || u.mig[d])
            continue;
        whole += u.nano[d] == 0;
        free_nano += NANO - u.nano[d];
    }
    /* Devices that nobody can place may be any of the free ones. */
    *ret_whole = whole > u.unknown ? whole - u.unknown : 0;
    free_nano -= u.unknown * NANO;
    return free_nano > 0 ? free_nano : 0;
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
    unsigned pod = largest_node(p), whole;
    int64_t jobs = 0, *slots;
    uint32_t domains = p->w->node_count;

    while (pod > 1 && gpus % pod != 0)
        pod--;
    if (level.scope == SCOPE_LEVEL)
        domains = p->w->level[level.level].domain_count;
    slots = memory_zeroed((domains + 1u) * sizeof(*slots));
    for (uint32_t n = 0; n < p->w->node_count; n++) {
        struct record_pod at = {.node = n};
        int64_t domain = fit_domain(p->w, level, &at);

        (void)node_free(p, use, n, &whole);
        if (domain >= 0)
            slots[domain] += whole / pod;
    }
    for (uint32_t d = 0; d < domains; d++)
        jobs += slots[d] / (gpus / pod);
    free(slots);
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

static bool free_one(struct play *p, const struct play_use *use, const struct tree *t)
{
    const struct tree *gpus = reader_get(t, "gpus"), *shape = reader_get(t, "shape");
    const struct tree *level = reader_get(t, "level"), *count = reader_get(t, "count");
    int64_t size, nano = 0;
    unsigned whole;
    bool fine = true;

    if (level && count && gpus && tree_decimal(gpus, 0, &size) && size > 0)
        return judge(p, "free: count", count,
                     jobs_of(p, use, play_where(p, level), size) * 1000000);
    for (uint32_t n = 0; n < p->w->node_count; n++)
        nano += node_free(p, use, n, &whole);
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
