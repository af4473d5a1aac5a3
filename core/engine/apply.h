/* apply.h - events onto the model: the only place where facts change it
 *
 * Every number of an event is checked against the tables before a row is touched; what does not
 * make sense (a host that was never told of, a second job of one key, a seat where there is no
 * room) is ignored and counted in config.ignored_count, because an edge that errs must not stop the
 * scheduler.
 */
#ifndef ENGINE_APPLY_H
#define ENGINE_APPLY_H

#include "core/engine/event.h"

/* Numbers that an edge gives out (hosts, domains, shapes, classes, teams) stay below; larger ones
 * are ignored, whatever the limits are at the moment. */
#define EDGE_IDS_MAX     (1u << 22)
#define MIX_ROWS_MAX     (1u << 12)
#define PODS_WAITING_MAX (1u << 28) /* of all jobs together */

/* Applies one event; a JOB takes its podsets from the reader. False: ignored. */
bool apply_event(struct model *m, const struct event *e, struct wire_in *rest);

#endif
