/* What every device carries now, and how much of what is free could still be used together. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"

#include <stdlib.h>

/* Shares that leave less than this of a device leave nothing: thirds do not add up exactly. */
#define CRUMB_NANO 1000

uint16_t place_healthy(const struct place_part *p, uint32_t node)
{
    const struct place_node *n = &p->node[node];
    uint32_t all = (1u << p->world->node[node].gpus) - 1;

    return n->state == STATE_DOWN ? 0 : (uint16_t)(all & ~(uint32_t)n->gpu_down);
}

static unsigned bits(uint32_t mask)
{
    return (unsigned)__builtin_popcount(mask);
}

static int64_t slots_of(const struct place_strand *s, uint16_t whole)
{
    return bits(whole) / s->pod_gpus;
}

static void strand_change(const struct place_part *p, struct place_strand *s, uint32_t node,
                          uint16_t before, uint16_t after)
{
    int64_t change, *slots = &s->slots;

    if (!s->possible)
        return;
    change = slots_of(s, after) - slots_of(s, before);
    if (change == 0)
        return;
    if (s->level.scope == SCOPE_NODE) {
        s->placements += change;
        return;
    }
    if (s->level.scope == SCOPE_LEVEL) {
        uint32_t domain = p->world->node[node].domain[s->level.level];

        if (domain == WORLD_NONE)
            return;
        slots = &s->domain_slots[domain];
    }
    s->placements -= *slots / s->pods;
    *slots += change;
    s->placements += *slots / s->pods;
}

/* Recounts what one node offers. */
static void recount(struct place_part *p, uint32_t node)
{
    struct place_node *n = &p->node[node];
    uint32_t open = place_healthy(p, node) & ~(uint32_t)n->gpu_drain;
    uint16_t whole = 0, before = n->whole;

    if (n->state == STATE_DRAIN)
        open = 0;
    p->free_nano -= n->free_nano;
    n->free_nano = 0;
    for (unsigned d = 0; d < p->world->node[node].gpus; d++) {
        int64_t rest = NANO - n->device[d].used_nano;

        if (!(open >> d & 1u))
            continue;
        if (rest >= CRUMB_NANO)
            n->free_nano += rest;
        if (n->device[d].used_nano == 0)
            whole = (uint16_t)(whole | 1u << d);
    }
    p->free_nano += n->free_nano;
    n->whole = whole;
    for (unsigned i = 0; i < 2; i++)
        strand_change(p, &p->strand[i], node, before, whole);
}

static unsigned largest_divisor(unsigned gpus, unsigned limit)
{
    for (unsigned d = limit < gpus ? limit : gpus; d > 1; d--)
        if (gpus % d == 0)
            return d;
    return 1;
}

/* True if some domain of the level holds all pods of the placement on an empty cluster. */
static bool level_holds(const struct world *w, const struct place_strand *s, uint8_t level)
{
    int64_t *slots = memory_zeroed(sizeof(*slots) * (w->level[level].domain_count + 1));
    bool holds = false;

    for (uint32_t n = 0; n < w->node_count; n++) {
        uint32_t domain = w->node[n].domain[level];

        if (domain == WORLD_NONE)
            continue;
        slots[domain] += w->node[n].gpus / s->pod_gpus;
        holds |= slots[domain] >= s->pods;
    }
    free(slots);
    return holds;
}

static void strand_open(struct place_strand *s, const struct world *w, unsigned gpus)
{
    unsigned largest = 0;
    int64_t all = 0;

    for (uint32_t n = 0; n < w->node_count; n++)
        largest = w->node[n].gpus > largest ? w->node[n].gpus : largest;
    if (largest == 0)
        return;
    s->gpus = gpus;
    s->pod_gpus = largest_divisor(gpus, largest);
    s->pods = gpus / s->pod_gpus;
    for (uint32_t n = 0; n < w->node_count; n++)
        all += w->node[n].gpus / s->pod_gpus;
    s->possible = all >= s->pods;
    s->level = (struct world_where){.scope = SCOPE_CLUSTER};
    if (s->pods == 1) {
        s->level.scope = SCOPE_NODE;
        return;
    }
    for (unsigned rank = w->level_count; rank-- > 0;)
        for (uint8_t l = 0; l < w->level_count; l++)
            if (w->level[l].chain == 0 && w->level[l].rank == rank && level_holds(w, s, l))
                s->level = (struct world_where){.scope = SCOPE_LEVEL, .level = l};
    if (s->level.scope == SCOPE_LEVEL)
        s->domain_slots =
            memory_zeroed(sizeof(int64_t) * (w->level[s->level.level].domain_count + 1));
}

void place_open(struct place_part *p, const struct world *w)
{
    *p = (struct place_part){.world = w};
    p->node = memory_zeroed(sizeof(*p->node) * (w->node_count + 1));
    strand_open(&p->strand[0], w, 8);
    strand_open(&p->strand[1], w, 64);
    for (uint32_t n = 0; n < w->node_count; n++) {
        p->service_nano += NANO * w->node[n].gpus;
        recount(p, n);
    }
}

void place_close(struct place_part *p)
{
    free(p->strand[0].domain_slots);
    free(p->strand[1].domain_slots);
    free(p->node);
}

static void device_change(struct place_device *d, int64_t share_nano, uint32_t slots, bool take)
{
    if (take) {
        d->used_nano += (uint32_t)share_nano;
        d->slots |= slots;
    } else {
        d->used_nano -= (uint32_t)share_nano;
        d->slots &= ~slots;
    }
}

void place_pod(struct place_part *p, const struct world_job *job, const struct record_pod *pod,
               bool take)
{
    const struct world_podset *set = &job->podset[pod->podset];
    struct place_node *n = &p->node[pod->node];
    int64_t share = fit_share_nano(p->world, set, pod->node);
    uint32_t slots = 0, starts, of_device, sign = take ? 1 : UINT32_MAX;

    if (set->gpus == 1 && set->mig != WORLD_NONE)
        slots =
            (uint32_t)((1ULL << fit_mig_slots(p->world, set, pod->node, &starts, &of_device)) - 1)
            << pod->mig_slot;
    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if ((uint32_t)pod->devices >> d & 1u)
            device_change(&n->device[d], share, slots, take);
    n->pods += sign;
    n->cpu_milli += take ? set->cpu_milli : -set->cpu_milli;
    n->mem_mib += take ? set->mem_mib : -set->mem_mib;
    if (pod->devices)
        recount(p, pod->node);
}

static uint16_t with_bit(uint16_t mask, unsigned bit, bool on)
{
    return (uint16_t)(on ? mask | 1u << bit : mask & ~(1u << bit));
}

void place_event(struct place_part *p, const struct world_event *event)
{
    struct place_node *n;

    if (event->kind != WEV_NODE && event->kind != WEV_GPU)
        return;
    n = &p->node[event->target];
    if (event->kind == WEV_NODE)
        n->leaving = event->state == STATE_LEAVE;
    if (event->state == STATE_LEAVE)
        return;
    p->service_nano -= NANO * bits(place_healthy(p, event->target));
    if (event->kind == WEV_NODE) {
        n->state = event->state;
    } else {
        n->gpu_down = with_bit(n->gpu_down, event->gpu, event->state == STATE_DOWN);
        n->gpu_drain = with_bit(n->gpu_drain, event->gpu, event->state == STATE_DRAIN);
    }
    p->service_nano += NANO * bits(place_healthy(p, event->target));
    recount(p, event->target);
}

void place_advance(struct place_part *p, int64_t ns)
{
    for (unsigned i = 0; i < 2 && p->free_nano > 0; i++) {
        struct place_strand *s = &p->strand[i];
        wide used = (wide)s->gpus * s->placements * NANO; /* none where none is possible */

        s->ratio_time += (NANO - used * NANO / p->free_nano) * ns;
        s->time += ns;
    }
}
