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
    uint8_t gpus, slice_scope, way;
};

struct job_spec {
    int64_t submit_ns, est_ns, restart_ns, patience_ns;
    uint64_t required;
    uint32_t key, team;
    int32_t priority;
    uint8_t flags, preferred_count, podset_count, profile, exclusive;
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
/* So many seats were added to the run, or (below 0) taken from it: what the team holds and when the
 * run will end, by its estimate, follow. */
void job_resized(struct model *m, uint32_t job, int32_t seats);
/* Takes the run off the books without ending it: what-if, to be rolled back. */
void job_vacate(struct model *m, uint32_t job);
/* What becomes of a pod that is no more. */
enum fate {
    POD_WAITS, /* it exists anew and waits */
    POD_DONE,  /* it ended well and will not run again */
    POD_AWAY,  /* it will be made anew, later */
    FATE_COUNT,
};
/* One pod of the run is no more. */
void job_pod_gone(struct model *m, uint32_t job, uint32_t seat, enum fate fate);
/* The same of a pod without a seat: what is known of it changes. */
void job_pod_fate(struct model *m, uint32_t job, uint32_t podset, uint32_t pod, enum fate fate);
/* Ends the run of a gang whose next incarnation will want its room: what it held stays kept. */
void job_stop_keeping(struct model *m, uint32_t job, int64_t until_ns);
/* Forgets the room kept for the job. None of it may be in force. */
void job_release_kept(struct model *m, uint32_t job);
/* The host is gone, and what was kept on it: a date falls with any of its places, of inherited room
 * the rest stays. True: there was some. */
bool job_lose_kept(struct model *m, uint32_t host);
/* Pods of the podset that have ended well; with away also those that do not exist now. */
uint32_t job_done_pods(const struct model *m, uint32_t job, uint32_t podset, bool away);
/* True if the pod is one of either. */
bool job_pod_done(const struct model *m, uint32_t job, uint32_t pod);
/* First pod number of a podset within the gang. */
uint32_t job_first_pod(const struct model *m, uint32_t job, uint32_t podset);
void job_tell(struct model *m, uint32_t job, const struct told *told);
/* What the user says of it changed; a run is taken to end when the new estimate says. */
void job_set(struct model *m, uint32_t job, int32_t priority, int64_t est_ns);

void team_put(struct model *m, uint32_t team, uint32_t parent, int64_t weight_micro,
              int64_t limit_milli);
/* True if the team and all above it may hold so much more. *ret_team: the first that may not. */
bool team_allows(const struct model *m, uint32_t team, int64_t milli, uint32_t *ret_team);

/* GPUs that one pod of the podset holds, in milli, on hosts of that kind. */
int64_t podset_milli(const struct model *m, const struct podset *p, uint32_t kind);

/* GPUs that its team is charged for a pod of the set, in milli. */
int64_t podset_charge_milli(const struct model *m, const struct podset *p);

/* True if the two podsets ask the same. */
bool podset_alike(const struct podset *a, const struct podset *b);

/* True if some podset may run with fewer pods than it asks. */
bool job_is_elastic(const struct model *m, uint32_t job);

/* GPUs of the gang's minimum, in milli. */
int64_t job_least_milli(const struct model *m, uint32_t job);

bool job_valid(const struct model *m, uint32_t job);

#endif
