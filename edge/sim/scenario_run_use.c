/* Who holds what on a node. */
#include "edge/sim/scenario_run_parts.h"

#include "edge/base/memory.h"

#define CRUMB_NANO 1000 /* thirds of a device do not add up exactly */

bool play_is_unknown(const struct play *p, uint32_t job, const struct record_pod *pod)
{
    return pod->devices == 0 && p->w->job[job].podset[pod->podset].gpus > 0;
}

static void add_device(const struct play *p, struct play_use *u, const struct world_podset *set,
                       const struct record_pod *pod, unsigned d)
{
    bool mig = set->gpus == 1 && set->mig != WORLD_NONE;
    uint32_t starts, of_device;

    if (mig) {
        uint32_t slots = fit_mig_slots(p->w, set, pod->node, &starts, &of_device);
        uint32_t taken = (uint32_t)((1ull << slots) - 1) << pod->mig_slot;

        if (u->nano[d] > 0 || (u->mig[d] & taken) || !(starts >> pod->mig_slot & 1)) {
            u->wrong = "a MIG slot that is not free or not legal";
            u->wrong_device = d;
        }
        u->mig[d] |= taken;
        return;
    }
    u->nano[d] += fit_share_nano(p->w, set, pod->node);
    if (u->mig[d] || u->nano[d] > NANO + CRUMB_NANO) {
        u->wrong = "a device that is given twice";
        u->wrong_device = d;
    }
}

void play_use_add(const struct play *p, struct play_use *u, uint32_t job,
                  const struct record_pod *pod)
{
    const struct world_podset *set = &p->w->job[job].podset[pod->podset];
    const struct play_node *x = &p->node[pod->node];

    u->pods++;
    u->cpu_milli += set->cpu_milli;
    u->mem_mib += set->mem_mib;
    if (play_is_unknown(p, job, pod))
        u->unknown += set->gpus;
    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if (pod->devices >> d & 1)
            add_device(p, u, set, pod, d);
    u->any |= pod->devices;
    if (!u->wrong && u->unknown > 0 &&
        u->unknown + (unsigned)__builtin_popcount(u->any) +
                (unsigned)__builtin_popcount(x->down & ~(unsigned)u->any) >
            x->slots)
        u->wrong = "more devices in use than there are";
}

/* Every pod that holds something: of what runs, and of what is going. */
static void each_pod(const struct play *p, struct play_use *use, uint32_t only_node)
{
    for (uint32_t job = 0; job < p->w->job_count; job++) {
        const struct live *l = &p->job[job].live;

        for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
            if (only_node == WORLD_NONE || l->pod[n].node == only_node)
                play_use_add(p, &use[only_node == WORLD_NONE ? l->pod[n].node : 0], job,
                             &l->pod[n]);
    }
    for (size_t g = 0; g < p->ghost_count; g++) {
        const struct play_ghost *x = &p->ghost[g];

        for (uint32_t n = 0; n < x->pod_count; n++)
            if (only_node == WORLD_NONE || x->pod[n].node == only_node)
                play_use_add(p, &use[only_node == WORLD_NONE ? x->pod[n].node : 0], x->job,
                             &x->pod[n]);
    }
}

struct play_use play_use_of(const struct play *p, uint32_t node)
{
    struct play_use u = {.wrong = NULL};

    each_pod(p, &u, node);
    return u;
}

struct play_use *play_use_all(const struct play *p)
{
    struct play_use *use = memory_zeroed((p->w->node_count + 1u) * sizeof(*use));

    each_pod(p, use, WORLD_NONE);
    return use;
}

uint16_t play_open_devices(const struct play *p, uint32_t node)
{
    const struct play_node *x = &p->node[node];
    uint32_t all = (1u << p->w->node[node].gpus) - 1;

    if (x->state != HOST_UP || x->silent)
        return 0;
    return (uint16_t)(all & ~(uint32_t)(x->down | x->sick | x->closed));
}
