/* job.h - jobs, their podsets, and the teams that own them
 *
 * A job is a gang from the start: podsets of equal pods, placed together or not at all. The core
 * knows a job by a row of its own; the edge by a number (key) that it never uses twice.
 *
 * Units   gang_milli: GPUs asked at full size, in milli; a memory share counts as m / M of the
 *         first kind with room for it, a MIG profile as its part of a device.
 * Order   Jobs stand in the queue by priority (larger first, if the order says so), then by submit
 *         time, then in the order in which the core heard of them.
 */
#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/model.h"

#define PODSETS_MAX 16
#define GANG_PODS_MAX                                                                              \
    (1u << 17) /* pods of one gang: an ask sizes the tables that hold its answer */

struct podset_spec {
    int64_t cpu_milli, mem_mib;
    int64_t extra[EXTRAS_MAX];
    uint64_t required;
    uint32_t pods, pods_min, share_mib, profile, class_id, slice_pods;
    uint16_t milli;
    uint8_t gpus, slice_scope;
};

struct job_spec {
    int64_t submit_ns, est_ns;
    uint64_t required;
    uint32_t key, team;
    int32_t priority;
    uint8_t flags, preferred_count, podset_count;
    uint8_t preferred[4];
    struct podset_spec podset[PODSETS_MAX];
};

uint32_t job_add(struct model *m, const struct job_spec *spec);
/* Gives every seat back; the job waits again. */
void job_stop(struct model *m, uint32_t job);
/* Gives every seat back and forgets the job. */
void job_remove(struct model *m, uint32_t job);
/* The job has its seats: it runs. */
void job_run(struct model *m, uint32_t job);
void job_tell(struct model *m, uint32_t job, const struct told *told);

void team_put(struct model *m, uint32_t team, uint32_t parent, int64_t weight_micro,
              int64_t limit_milli);
/* True if the team and all above it may hold so much more. *ret_team: the first that may not. */
bool team_allows(const struct model *m, uint32_t team, int64_t milli, uint32_t *ret_team);

/* GPUs that one pod of the podset holds, in milli, on hosts of that kind. */
int64_t podset_milli(const struct model *m, const struct podset *p, uint32_t kind);

/* True if the two podsets ask the same. */
bool podset_alike(const struct podset *a, const struct podset *b);

/* GPUs of the gang's minimum, in milli. */
int64_t job_least_milli(const struct model *m, uint32_t job);

bool job_valid(const struct model *m, uint32_t job);

#endif
