/* scenario.h - a scenario file: a world, what happens in it, and what must be true
 *
 * Format: docs/reference/scenario.md. The reader checks names, types and unknown keys and turns the
 * timeline into steps in time order, which is the order of the file (checked); running them is the
 * virtual cluster's work (scenario_run.h).
 *
 * Owner   All memory belongs to the scenario's world. Line numbers are 1-based and stay with every
 *         step and expectation, so that a failure names file and line.
 */
#ifndef EDGE_SIM_SCENARIO_H
#define EDGE_SIM_SCENARIO_H

#include "edge/base/err.h"
#include "edge/base/tree.h"
#include "edge/sim/world.h"

enum step_kind {
    STEP_SUBMIT,     /* job */
    STEP_STATE,      /* node, maybe gpu: up down drain leave notready sick */
    STEP_SET_NODE,   /* change: capacity, labels, shape */
    STEP_SET_JOB,    /* change: pods, pods_min, priority, last_ckpt_ns, est_ns */
    STEP_SET_TEAM,   /* change: a team event */
    STEP_FINISH,     /* job, maybe pod */
    STEP_FAIL,       /* job, maybe pod */
    STEP_CANCEL,     /* job */
    STEP_DELETE_POD, /* job, pod, back_ns, force */
    STEP_RECREATE,   /* job */
    STEP_TERMINATE,  /* job, length_ns */
    STEP_RESTART,    /* empty: from nothing but a relist */
    STEP_WATCH,      /* delay_ns, twice, reorder_seed, drop */
    STEP_OUTSIDE,    /* running */
    STEP_REJECT,     /* node or job, times */
    STEP_EXPECT,     /* expect (may be NULL), settle passes */
    STEP_BIND,       /* length_ns: how long a bind takes from here on */
};

/* A job that already runs at 0 s, or that another scheduler starts. */
struct scenario_seat {
    uint32_t node;
    bool devices_known;
    uint16_t devices;
};
struct scenario_running {
    uint32_t job;         /* its ask stands in world.job */
    int64_t last_ckpt_ns; /* INT64_MIN: none said */
    uint32_t seat_count;
    struct scenario_seat *seat;
};

struct step {
    int64_t at_ns;
    uint32_t line;
    uint8_t kind;  /* enum step_kind */
    uint8_t state; /* STEP_STATE: enum world_state, or 4 notready, 5 sick */
    bool gpu_given, pod_given, force, empty, twice;
    uint8_t gpu;
    uint32_t job, node, team, pod; /* WORLD_NONE where not used */
    int64_t length_ns;             /* leave_at, back (-1: none), terminate, watch delay, bind */
    uint32_t times, settle;        /* reject, watch drop; expect: passes (0: none asked) */
    uint64_t reorder_seed;
    const struct tree *change; /* STEP_SET_*: the mapping as written */
    const struct tree *expect; /* STEP_EXPECT: the mapping as written, names checked */
    struct scenario_running *outside;
};

/* A key whose behaviour a build may lack, where it stands first: the runner that does not know it
 * says so instead of running something else. The keys are spelled as in docs/reference/scenario.md
 * under "Further keys". */
struct scenario_further {
    const char *key; /* static text */
    uint32_t line;
};

struct scenario {
    const char *path, *name, *from, *why;
    const char *policy, *order; /* config, or NULL */
    int64_t patience_ns, inherit_ns, breach_ns;
    uint32_t shuffle;
    struct world world;
    uint32_t running_count, step_count, further_count;
    struct scenario_running *running;
    struct step *step;
    struct scenario_further *further;
    struct tree_memory *memory; /* of the trees that steps point to */
};

/* Fills s, whatever it held before. After an error there is nothing to free. */
int scenario_read(struct scenario *s, const char *path, struct err *err);
void scenario_free(struct scenario *s);

#endif
