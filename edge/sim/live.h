/* live.h - what really happens to a job: runs, speed, checkpoints, and when it is done
 *
 * The truth of a job that a scheduler may not know. All arithmetic is in integers: a run of speed
 * held / asked and factor f advances by held x 1e6 / (asked x f_micro) per ns.
 *
 * Units   ns; GPUs in nano-GPU. A gang without GPUs counts pods instead.
 */
#ifndef EDGE_SIM_LIVE_H
#define EDGE_SIM_LIVE_H

#include "edge/sim/record.h"

enum live_state { LIVE_UNBORN, LIVE_WAITING, LIVE_RUNNING, LIVE_DONE };

struct live {
    uint8_t state;        /* enum live_state */
    bool ran;             /* had a run before: restart_s is due */
    int64_t kept_ns;      /* progress that is safe */
    int64_t start_ns;     /* of this run */
    int64_t restart_ns;   /* dead time at its start */
    int64_t since_ns;     /* its size has been the same since; the end of restart at first */
    int64_t done_ns;      /* progress of this run until then */
    int64_t ckpt_done_ns; /* and at its last checkpoint until then */
    int64_t finish_ns;    /* when it will be done if nothing happens; INT64_MAX: never */
    int64_t held, asked;  /* nano-GPU, or pods */
    int64_t ended;        /* of held: what pods held that have done their work */
    int64_t factor_micro;
    uint32_t pod_count;
    struct record_pod *pod; /* where it sits */
};

void live_start(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                const struct record_pod *pods, uint32_t pod_count);
/* Pods join the run or leave it: nothing is lost, from now on its speed is another. */
void live_grow(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
               const struct record_pod *pods, uint32_t pod_count);
void live_shrink(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                 const struct record_pod *pods, uint32_t pod_count);
/* A pod has done its part: the others go on as fast as before. */
void live_pod_done(struct live *l, const struct world *w, const struct world_job *j, int64_t t_ns,
                   uint32_t pod);
/* The run ends early: what is kept of its progress. */
void live_stop(struct live *l, const struct world_job *j, int64_t t_ns, bool saved);

/* True if the run sits on the node (and, with devices, on one of them). */
bool live_sits_on(const struct live *l, uint32_t node, uint16_t devices);

#endif
