/* What a pod takes of a host, and how many pods an empty host holds. */
#include "edge/sim/metrics_fit.h"

#include <stdlib.h>
#include <string.h>

bool fit_model(const struct world *w, const struct world_podset *set, uint32_t node)
{
    for (uint32_t i = 0; i < set->model_count; i++)
        if (set->model[i] == w->node[node].model)
            return true;
    return set->model_count == 0;
}

static bool is_mig(const struct world_podset *set)
{
    return set->gpus == 1 && set->mig != WORLD_NONE;
}

static bool is_share(const struct world_podset *set)
{
    return set->gpus > 0 && (set->mig != WORLD_NONE || set->mem_share_mib > 0 || set->milli < 1000);
}

uint32_t fit_mig_slots(const struct world *w, const struct world_podset *set, uint32_t node,
                       uint32_t *ret_starts, uint32_t *ret_slots_of_device)
{
    for (uint32_t i = 0; i < w->mig_count; i++) {
        const struct world_mig *mig = &w->mig[i];

        if (mig->model != w->node[node].model)
            continue;
        for (uint32_t k = 0; k < mig->profile_count; k++)
            if (strcmp(mig->profile[k].name, w->mig_name[set->mig]) == 0) {
                *ret_starts = mig->profile[k].starts;
                *ret_slots_of_device = mig->slots;
                return mig->profile[k].slots;
            }
    }
    *ret_starts = 0;
    *ret_slots_of_device = 1;
    return 0;
}

int64_t fit_share_nano(const struct world *w, const struct world_podset *set, uint32_t node)
{
    uint32_t starts, of_device;

    if (is_mig(set)) {
        uint32_t slots = fit_mig_slots(w, set, node, &starts, &of_device);

        return NANO * slots / of_device;
    }
    if (set->mem_share_mib > 0)
        return w->node[node].gpu_mem_mib > 0
                   ? (int64_t)((wide)NANO * set->mem_share_mib / w->node[node].gpu_mem_mib)
                   : 0;
    return set->milli * (NANO / 1000);
}

struct fit_room fit_room(const struct world *w, uint32_t node, uint16_t allowed)
{
    const struct world_node *n = &w->node[node];

    return (struct fit_room){.cpu_milli = n->cpu_milli,
                             .mem_mib = n->mem_mib,
                             .pods = n->pods,
                             .allowed = (uint16_t)(allowed & ((1u << n->gpus) - 1))};
}

static bool share_device(const struct world *w, const struct world_podset *set, uint32_t node,
                         const struct fit_room *r, bool share_card, unsigned d, uint32_t *ret_slots)
{
    int64_t share = fit_share_nano(w, set, node);
    uint32_t starts, of_device, slots;

    if (share <= 0 || share > NANO - r->used_nano[d] || (!share_card && r->used_nano[d] > 0))
        return false;
    *ret_slots = 0;
    if (!is_mig(set))
        return r->slots[d] == 0;
    if (r->used_nano[d] > 0 && r->slots[d] == 0)
        return false;
    slots = fit_mig_slots(w, set, node, &starts, &of_device);
    for (unsigned at = 0; at < 32; at++) {
        uint32_t mask = (uint32_t)((1ULL << slots) - 1) << at;

        if ((starts >> at & 1u) && !(r->slots[d] & mask)) {
            *ret_slots = mask;
            return true;
        }
    }
    return false;
}

static bool take_devices(const struct world *w, const struct world_podset *set, uint32_t node,
                         struct fit_room *r, bool share_card)
{
    uint32_t chosen = 0, slots = 0;
    unsigned want = set->gpus;

    for (unsigned d = 0; d < w->node[node].gpus && want > 0; d++) {
        if (!((uint32_t)r->allowed >> d & 1u))
            continue;
        if (is_share(set) ? share_device(w, set, node, r, share_card, d, &slots)
                          : r->used_nano[d] == 0) {
            chosen |= 1u << d;
            want--;
        }
    }
    if (want > 0)
        return false;
    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if (chosen >> d & 1u) {
            r->used_nano[d] += (uint32_t)fit_share_nano(w, set, node);
            r->slots[d] |= slots;
        }
    return true;
}

static int64_t without(int64_t have, int64_t ask)
{
    return have == WORLD_UNLIMITED ? have : have - ask;
}

uint32_t fit_pack(const struct world *w, const struct world_job *job, uint32_t podset,
                  uint32_t node, struct fit_room *r, uint32_t limit)
{
    const struct world_podset *set = &job->podset[podset];
    uint32_t count = 0;

    if (!fit_model(w, set, node))
        return 0;
    while (count < limit && set->cpu_milli <= r->cpu_milli && set->mem_mib <= r->mem_mib &&
           r->pods >= 1 && take_devices(w, set, node, r, job->share_card)) {
        r->cpu_milli = without(r->cpu_milli, set->cpu_milli);
        r->mem_mib = without(r->mem_mib, set->mem_mib);
        r->pods = without(r->pods, 1);
        count++;
    }
    return count;
}

int64_t fit_pod_nano(const struct world *w, const struct world_job *job, uint32_t podset)
{
    const struct world_podset *set = &job->podset[podset];

    if (!is_mig(set) && set->mem_share_mib == 0)
        return set->milli * (NANO / 1000) * set->gpus;
    for (uint32_t n = 0; n < w->node_count; n++) {
        struct fit_room r = fit_room(w, n, UINT16_MAX);

        if (fit_pack(w, job, podset, n, &r, 1) == 1)
            return fit_share_nano(w, set, n) * set->gpus;
    }
    return 0;
}

int64_t fit_gang_nano(const struct world *w, const struct world_job *job)
{
    int64_t nano = 0;

    for (uint32_t i = 0; i < job->podset_count; i++)
        nano += fit_pod_nano(w, job, i) * job->podset[i].pods;
    return nano;
}

const uint8_t *fit_parts(const struct world *w, uint8_t scope, uint32_t node)
{
    uint32_t shape = w->node[node].shape;

    if (shape == WORLD_NONE)
        return NULL;
    return scope == SCOPE_ISLAND ? w->shape[shape].island
           : scope == SCOPE_NUMA ? w->shape[shape].numa
                                 : w->shape[shape].pcie;
}

uint16_t fit_part(const uint8_t *part, unsigned device)
{
    uint16_t mask = 0;

    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if (part[device] != 0xFF && part[d] == part[device])
            mask = (uint16_t)(mask | 1u << d);
    return mask;
}

int64_t fit_domain(const struct world *w, struct world_where level, const struct record_pod *pod)
{
    const uint8_t *part;
    unsigned device = 0;

    if (level.scope == SCOPE_CLUSTER)
        return 0;
    if (level.scope == SCOPE_NODE)
        return pod->node;
    if (level.scope == SCOPE_LEVEL) {
        uint32_t domain = w->node[pod->node].domain[level.level];

        return domain == WORLD_NONE ? -1 : (int64_t)domain;
    }
    part = fit_parts(w, level.scope, pod->node);
    if (!part || pod->devices == 0)
        return -1;
    while (!((uint32_t)pod->devices >> device & 1u))
        device++;
    if (pod->devices & ~fit_part(part, device))
        return -1;
    return (int64_t)pod->node * WORLD_GPUS_MAX + part[device];
}
