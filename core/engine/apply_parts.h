/* apply_parts.h - how applying is cut into files; private to apply*.c
 *
 *   apply.c        how to decide, what there is of hosts, mix and teams
 *   apply_jobs.c   what becomes of jobs and their pods
 *
 * Each function is what one kind of event does; false: it makes no sense, and nothing was changed.
 */
#ifndef ENGINE_APPLY_PARTS_H
#define ENGINE_APPLY_PARTS_H

#include "core/engine/apply.h"

#define ASK_MAX ((int64_t)1 << 40) /* of any ask: sums of a million pods stay in range */

static inline bool is_capacity(int64_t value)
{
    return value >= 0 && value <= UNLIMITED;
}

/* Room may have been made, or facts may have changed in the jobs' favour: ask everybody again. */
static inline void note_freed(struct model *m)
{
    config_edit(m)->freed_count++;
}

static inline bool host_exists(const struct model *m, uint32_t host)
{
    return host < model_count(m, TABLE_HOST) && host_row(m, host)->state != HOST_ABSENT;
}

bool apply_job(struct model *m, const struct event_job *e, struct wire_in *rest);
bool apply_job_set(struct model *m, const struct event_job_set *e);
bool apply_seat(struct model *m, const struct event_seat *e);
bool apply_seated(struct model *m, const struct event_seated *e);
bool apply_confirm(struct model *m, const struct event_confirm *e);
bool apply_stop(struct model *m, const struct event_stop *e);
bool apply_pod_gone(struct model *m, const struct event_pod_gone *e);
bool apply_tick(struct model *m, const struct event_tick *e);
bool apply_end(struct model *m, const struct event_end *e);

#endif
