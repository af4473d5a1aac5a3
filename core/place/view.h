/* view.h - the question that a search asks: which job, on which cluster, minding which limits
 *
 * A refusal must name the limits of which each alone, dropped, would let the job start. So every
 * limit can be left out of the question: the same code that answers "does it fit" answers "would it
 * fit without". A view reads the model and never writes it.
 *
 * Units   steps: hosts, domains and device sets looked at; the budget is configuration, so that
 *         equal histories give equal answers on fast and slow machines.
 */
#ifndef PLACE_VIEW_H
#define PLACE_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/model.h"

/* The limits a placement minds, in the order in which a refusal names them. */
#define LIMIT_MAP(X)                                                                               \
    X(BUSY, "busy")     /* what runs */                                                            \
    X(HEALTH, "health") /* failed, drained, leaving */                                             \
    X(CPU, "cpu")                                                                                  \
    X(MEM, "mem")                                                                                  \
    X(PODS, "pods") /* the pod limit of a host */                                                  \
    X(MODEL, "model")                                                                              \
    X(TOPOLOGY, "topology") /* required levels, slices, no two ranks on one card */                \
    X(EXTRA, "extra")       /* other countable resources */                                        \
    X(CLASS, "class")       /* other static predicates */                                          \
    X(UNKNOWN, "unknown")   /* seats that nobody can place may sit on any device */

#define LIMIT_ENUM(name, text) LIMIT_BIT_##name,
enum limit_bit { LIMIT_MAP(LIMIT_ENUM) LIMIT_COUNT };
#define LIMIT(name) (1u << LIMIT_BIT_##name)

enum verdict { VERDICT_NO, VERDICT_FITS, VERDICT_UNPROVEN };

struct view {
    const struct model *m;
    uint32_t job;
    uint32_t dropped; /* LIMIT() bits left out of the question */
    uint64_t wished;  /* scopes that must contain the gang beside those that it requires */
    bool least_only;  /* place the minimum only: more is held back */
    bool beside;      /* exclusive domains are left out of the question */
    int64_t at_ns;    /* when the gang would start: hosts that leave mind it */
    uint64_t steps, steps_max;
};

static inline struct view view_of(const struct model *m, uint32_t job)
{
    return (struct view){.m = m,
                         .job = job,
                         .at_ns = config_row(m)->now_ns,
                         .steps_max = config_row(m)->budget_steps};
}

static inline bool view_minds(const struct view *v, unsigned limit)
{
    return !(v->dropped & limit);
}

/* May pods of the set use the host at all: state, departure, model, class, levels it must be in. */
bool view_open(const struct view *v, uint32_t host, const struct podset *p);

/* Pods of the set that the host holds now beside what is there, on devices within the mask.
 * Exact for equal pods. */
uint32_t view_pods(const struct view *v, uint32_t host, const struct podset *p, uint16_t within);

/* The same bound from CPU, memory, pods and other counts alone. */
uint32_t view_counts(const struct view *v, const struct host *h, const struct podset *p);

/* The sets of devices of a host each of which lies in one part of every partition named in scopes;
 * all devices where none is named. At most GPUS_MAX of them, in order of their lowest device. */
unsigned view_masks(const struct view *v, uint32_t host, uint64_t scopes, uint16_t *ret_masks);

/* Devices of the host that may be used now at all, wholly free ones, and those with some room. */
uint16_t view_whole(const struct view *v, const struct host *h);
uint16_t view_healthy(const struct view *v, const struct host *h);

/* Pods that a set runs at least and at most: whole slices only, without those that are done. */
uint32_t podset_least(const struct view *v, const struct podset *p);
uint32_t podset_most(const struct view *v, const struct podset *p);

/* The scopes that hold for all pods of the set: its own and the gang's. Empty without TOPOLOGY. */
uint64_t view_required(const struct view *v, const struct podset *p);

/* How often the ask goes into what is free, at most so often. */
static inline uint32_t view_times(int64_t free, int64_t ask, uint32_t most)
{
    if (ask <= 0)
        return most;
    if (free < ask)
        return 0;
    return free / ask < most ? (uint32_t)(free / ask) : most;
}

/* Wholly free devices within the set that seats of unknown place hold: as many as can be there, or,
 * with that limit dropped, as few. Over a whole host the two are the same. */
uint32_t view_unknown(const struct view *v, const struct host *h, uint16_t within);

/* True if a pod of the set takes a part of a device (milli, memory, or a MIG profile), or the same
 * part of each of several. */
static inline bool podset_is_share(const struct podset *p)
{
    return p->gpus > 0 && (p->milli < MILLI_FULL || p->share_mib || p->profile != ROW_NONE);
}

#define SCOPE_BIT(s) ((uint64_t)1 << (s))
#define SCOPE_PARTS  (SCOPE_BIT(SHAPE_PART_COUNT) - 1)
#define SCOPE_LEVELS ((SCOPE_BIT(LEVELS_MAX) - 1) << SCOPE_OF_LEVEL)

#endif
