/* The cluster as the core sees it: equal, but for the order in which things are enumerated. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"

static void permutation(uint32_t *order, uint32_t count, struct prng *random)
{
    for (uint32_t n = 0; n < count; n++)
        order[n] = n;
    for (uint32_t n = count; random && n > 1; n--) {
        uint32_t other = (uint32_t)prng_below(random, n), swap = order[n - 1];

        order[n - 1] = order[other];
        order[other] = swap;
    }
}

uint16_t play_slots_of(const struct play *p, uint32_t node, uint16_t devices)
{
    uint16_t slots = 0;

    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if (devices >> d & 1)
            slots = (uint16_t)(slots | 1u << p->slot_of[node][d]);
    return slots;
}

uint16_t play_devices_of(const struct play *p, uint32_t node, uint16_t slots)
{
    uint16_t devices = 0;

    for (unsigned s = 0; s < WORLD_GPUS_MAX; s++)
        if (slots >> s & 1)
            devices = (uint16_t)(devices | 1u << p->device_of[node][s]);
    return devices;
}

/* A shape's tables under other device numbers. */
static struct world_shape shape_seen(const struct world_shape *x, const uint8_t *slot_of)
{
    struct world_shape seen = *x;

    for (unsigned d = 0; d < x->gpus; d++) {
        seen.island[slot_of[d]] = x->island[d];
        seen.numa[slot_of[d]] = x->numa[d];
        seen.pcie[slot_of[d]] = x->pcie[d];
        for (unsigned other = 0; other < x->gpus; other++)
            seen.link[slot_of[d]][slot_of[other]] = x->link[d][other];
    }
    return seen;
}

/* Hosts of one shape share it, so that their devices are renumbered alike; others each its own way.
 */
static void view_devices(struct play *p, struct prng *random)
{
    const struct world *w = p->w;
    uint32_t order[WORLD_GPUS_MAX], shapes = w->shape_count;
    uint8_t(*of_shape)[WORLD_GPUS_MAX] = memory_zeroed((shapes + 1u) * sizeof(*of_shape));

    for (uint32_t s = 0; s < shapes; s++) {
        permutation(order, w->shape[s].gpus, random);
        for (unsigned d = 0; d < w->shape[s].gpus; d++)
            of_shape[s][d] = (uint8_t)order[d];
        p->seen.shape[s] = shape_seen(&w->shape[s], of_shape[s]);
    }
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct world_node *node = &w->node[n];

        permutation(order, node->gpus, random);
        for (unsigned d = 0; d < WORLD_GPUS_MAX; d++) {
            uint8_t slot = d >= node->gpus             ? (uint8_t)d
                           : node->shape != WORLD_NONE ? of_shape[node->shape][d]
                                                       : (uint8_t)order[d];
            p->slot_of[n][d] = slot;
            p->device_of[n][slot] = (uint8_t)d;
        }
    }
    free(of_shape);
}

void play_view_node(struct play *p, uint32_t node)
{
    const struct world_node *n = &p->w->node[node];
    struct world_node *seen = &p->seen.node[p->host_of[node]];

    *seen = *n;
    if (p->node[node].slots < n->gpus)
        p->node[node].slots = n->gpus;
    seen->gpus = p->node[node].slots;
    if (seen->shape != WORLD_NONE && p->w->shape[seen->shape].gpus != seen->gpus)
        seen->shape = WORLD_NONE;
    for (uint32_t l = 0; l < p->w->level_count; l++)
        if (n->domain[l] != WORLD_NONE)
            seen->domain[l] = p->domain_of[l][n->domain[l]];
}

void play_view_open(struct play *p)
{
    struct prng random;
    struct prng *r = p->round ? &random : NULL;
    uint32_t count = p->w->node_count;

    prng_init(&random, p->round);
    if (r)
        play_view_shuffle(p, r);
    p->seen = *p->w;
    p->seen.node = memory_zeroed((count + 1u) * sizeof(*p->seen.node));
    p->seen.shape = memory_zeroed((p->w->shape_count + 1u) * sizeof(*p->seen.shape));
    p->host_of = memory_zeroed((count + 1u) * sizeof(*p->host_of));
    p->node_of = memory_zeroed((count + 1u) * sizeof(*p->node_of));
    p->slot_of = memory_zeroed((count + 1u) * sizeof(*p->slot_of));
    p->device_of = memory_zeroed((count + 1u) * sizeof(*p->device_of));
    permutation(p->host_of, count, r);
    for (uint32_t n = 0; n < count; n++)
        p->node_of[p->host_of[n]] = n;
    for (uint32_t l = 0; l < p->w->level_count; l++) {
        uint32_t domains = p->w->level[l].domain_count;

        p->domain_of[l] = memory_zeroed((domains + 1u) * sizeof(uint32_t));
        permutation(p->domain_of[l], domains, r);
    }
    view_devices(p, r);
    for (uint32_t n = 0; n < count; n++)
        play_view_node(p, n);
}

void play_view_close(struct play *p)
{
    for (uint32_t l = 0; l < p->w->level_count; l++)
        free(p->domain_of[l]);
    free(p->seen.node);
    free(p->seen.shape);
    free(p->host_of);
    free(p->node_of);
    free(p->slot_of);
    free(p->device_of);
}

void play_view_shuffle(struct play *p, struct prng *random)
{
    struct scenario *s = p->s;

    for (uint32_t n = s->running_count; n > 1; n--) {
        uint32_t other = (uint32_t)prng_below(random, n);
        struct scenario_running swap = s->running[n - 1];

        s->running[n - 1] = s->running[other];
        s->running[other] = swap;
    }
    for (uint32_t from = 0, to; from < s->step_count; from = to) {
        for (to = from; to < s->step_count && s->step[to].kind == STEP_SUBMIT &&
                        s->step[to].at_ns == s->step[from].at_ns;)
            to++;
        for (uint32_t n = to; n > from + 1; n--) {
            uint32_t other = from + (uint32_t)prng_below(random, n - from);
            struct step swap = s->step[n - 1];

            s->step[n - 1] = s->step[other];
            s->step[other] = swap;
        }
        to += to == from;
    }
}
