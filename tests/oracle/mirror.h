/* mirror.h - events onto the oracle's world
 *
 * The second reading of every event. It knows what the generator makes, no more: a job that it
 * ignores is one that the core must ignore as well.
 */
#ifndef ORACLE_MIRROR_H
#define ORACLE_MIRROR_H

#include "core/engine/event.h"
#include "tests/oracle/oracle.h"

void mirror_init(struct o_world *w);
/* Applies an event; podset: the podsets that follow a job. */
void mirror_apply(struct o_world *w, const struct event *e, const struct event *podset);

/* A decision: the job starts on these seats; it is dropped for good. */
void mirror_start(struct o_job *j, const struct o_seat *seat, unsigned seats);
void mirror_drop(struct o_job *j);

/* Keys of running jobs that hold something that is down; returns their number. */
unsigned mirror_broken(const struct o_world *w, uint32_t *ret_keys, unsigned limit);

#endif
