#include "edge/sim/live.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"
#include "edge/sim/reader.h"

/* A run that would end later, 190 years from the start, does not end: behind its end there must be
 * room for one more time of a file. */
#define LAST_NS (3 * (wide)READ_NS_MAX)

/* True if the node has parts of a level below the host at all. */
static bool has_parts(const struct world *w, struct world_where where, uint32_t node)
{
    const struct world_shape *s =
        w->node[node].shape == WORLD_NONE ? NULL : &w->shape[w->node[node].shape];

    if (!s)
        return false;
    return where.scope == SCOPE_ISLAND ? s->island_count > 0
           : where.scope == SCOPE_NUMA ? s->numa_count > 0
                                       : s->pcie_count > 0;
}

/* True if one domain of the level contains every pod. */
static bool all_in(const struct world *w, struct world_where where, const struct record_pod *pods,
                   uint32_t count)
{
    bool below =
        where.scope == SCOPE_ISLAND || where.scope == SCOPE_NUMA || where.scope == SCOPE_PCIE;
    struct record_pod all = pods[0];
    int64_t domain;

    if (below) {
        for (uint32_t n = 1; n < count; n++) {
            if (pods[n].node != all.node)
                return false;
            all.devices |= pods[n].devices;
        }
        /* A pod without devices is contained by any part of its node: there must be one. */
        return all.devices ? fit_domain(w, where, &all) >= 0 : has_parts(w, where, all.node);
    }
    domain = fit_domain(w, where, &all);
    for (uint32_t n = 1; n < count && domain >= 0; n++)
        if (fit_domain(w, where, &pods[n]) != domain)
            return false;
    return domain >= 0;
}

static int64_t factor_of(const struct world *w, const struct world_job *j,
                         const struct record_pod *pods, uint32_t count)
{
    int64_t least = INT64_MAX;

    for (unsigned n = 0; n < j->slow_count; n++)
        if (j->slow[n].factor_micro < least && all_in(w, j->slow[n].level, pods, count))
            least = j->slow[n].factor_micro;
    return least == INT64_MAX ? 1000000 : least;
}

/* ns of running that so much progress takes, rounded up. Whole parts first: the product of all
 * three may pass even the wide integers. */
static wide time_for(const struct live *l, int64_t progress_ns)
{
    wide over = (wide)l->held * 1000000;
    wide work = (wide)progress_ns * (wide)l->factor_micro;

    return work / over * (wide)l->asked + (work % over * (wide)l->asked + over - 1) / over;
}

/* Progress that so much running makes, rounded down. */
static int64_t progress_of(const struct live *l, int64_t run_ns)
{
    wide work = (wide)run_ns * 1000000;
    wide held = work / l->asked * (wide)l->held + work % l->asked * (wide)l->held / l->asked;

    return (int64_t)(held / l->factor_micro);
}

/* Where checkpoints are counted from. */
static int64_t begin_ns(const struct live *l)
{
    return l->start_ns + l->restart_ns;
}

/* The last checkpoint of the run up to t_ns; the run's begin where there was none. */
static int64_t last_ckpt(const struct live *l, const struct world_job *j, int64_t t_ns)
{
    int64_t run_ns = t_ns - begin_ns(l);

    return begin_ns(l) + (j->ckpt_ns > 0 && run_ns > 0 ? run_ns / j->ckpt_ns * j->ckpt_ns : 0);
}

/* Progress of the run at its last checkpoint up to t_ns. */
static int64_t ckpt_progress(const struct live *l, const struct world_job *j, int64_t t_ns)
{
    int64_t at_ns = last_ckpt(l, j, t_ns);

    return at_ns > l->since_ns ? l->done_ns + progress_of(l, at_ns - l->since_ns) : l->ckpt_done_ns;
}

static void find_finish(struct live *l, const struct world_job *j)
{
    wide finish_ns = (wide)l->since_ns + time_for(l, j->run_ns - l->kept_ns - l->done_ns);

    l->finish_ns = finish_ns > LAST_NS ? INT64_MAX : (int64_t)finish_ns;
}

/* What the gang holds and how fast it is, from its pods. */
static void find_speed(struct live *l, const struct world *w, const struct world_job *j)
{
    bool by_gpus = fit_gang_nano(w, j) > 0;

    l->asked = 0;
    l->held = l->ended;
    for (uint32_t n = 0; n < j->podset_count; n++)
        l->asked += (by_gpus ? fit_pod_nano(w, j, n) : 1) * j->podset[n].pods;
    for (uint32_t n = 0; n < l->pod_count; n++)
        l->held += by_gpus ? fit_pod_nano(w, j, l->pod[n].podset) : 1;
    if (l->held == 0) /* the pods with GPUs are all above the minimum: it would never end */
        l->held = 1;
    l->factor_micro = factor_of(w, j, l->pod, l->pod_count);
}

void live_start(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                const struct record_pod *pods, uint32_t pod_count)
{
    l->pod = memory_grow(l->pod, (pod_count + 1) * sizeof(*pods));
    memcpy(l->pod, pods, pod_count * sizeof(*pods));
    l->pod_count = pod_count;
    l->state = LIVE_RUNNING;
    l->start_ns = t_ns;
    l->restart_ns = l->ran ? j->restart_ns : 0;
    l->since_ns = begin_ns(l);
    l->done_ns = l->ckpt_done_ns = 0;
    find_speed(l, w, j);
    find_finish(l, j);
    l->ran = true;
}

/* Up to now the run went at its old speed. */
static void settle(struct live *l, const struct world_job *j, int64_t t_ns)
{
    if (t_ns <= l->since_ns)
        return;
    l->ckpt_done_ns = ckpt_progress(l, j, t_ns);
    l->done_ns += progress_of(l, t_ns - l->since_ns);
    l->since_ns = t_ns;
}

void live_grow(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
               const struct record_pod *pods, uint32_t pod_count)
{
    settle(l, j, t_ns);
    l->pod = memory_grow(l->pod, (l->pod_count + pod_count + 1) * sizeof(*pods));
    memcpy(l->pod + l->pod_count, pods, pod_count * sizeof(*pods));
    l->pod_count += pod_count;
    find_speed(l, w, j);
    find_finish(l, j);
}

void live_shrink(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                 const struct record_pod *pods, uint32_t pod_count)
{
    uint32_t left = 0;

    settle(l, j, t_ns);
    for (uint32_t n = 0; n < l->pod_count; n++) {
        bool gone = false;

        for (uint32_t g = 0; g < pod_count && !gone; g++)
            gone = pods[g].pod == l->pod[n].pod;
        if (!gone)
            l->pod[left++] = l->pod[n];
    }
    l->pod_count = left;
    find_speed(l, w, j);
    find_finish(l, j);
}

void live_pod_done(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                   uint32_t pod)
{
    struct record_pod gone = {.pod = pod};

    for (uint32_t n = 0; n < l->pod_count; n++)
        if (l->pod[n].pod == pod)
            l->ended += fit_gang_nano(w, j) > 0 ? fit_pod_nano(w, j, l->pod[n].podset) : 1;
    live_shrink(l, w, j, t_ns, &gone, 1);
}

void live_stop(struct live *l, const struct world_job *j, int64_t t_ns, bool saved)
{
    if (t_ns > begin_ns(l) && (saved || j->ckpt_ns == 0)) {
        settle(l, j, t_ns);
        l->kept_ns += l->done_ns;
    } else if (t_ns > begin_ns(l) && j->ckpt_ns > 0) {
        l->kept_ns += ckpt_progress(l, j, t_ns);
    }
    l->state = LIVE_WAITING;
    l->pod_count = 0;
}

bool live_sits_on(const struct live *l, uint32_t node, uint16_t devices)
{
    for (uint32_t n = 0; n < l->pod_count; n++)
        if (l->pod[n].node == node && (devices == 0 || (l->pod[n].devices & devices)))
            return true;
    return false;
}
