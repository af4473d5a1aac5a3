/* mirror.h - events onto the oracle's world
 *
 * The second reading of every event. Seats that somebody else chose, and where they are confirmed,
 * are not judged here: mirror_adopt() takes them as the core took them, and oracle_sane() then says
 * whether that can be.
 */
#ifndef ORACLE_MIRROR_H
#define ORACLE_MIRROR_H

#include "core/engine/event.h"
#include "core/model/model.h"
#include "tests/oracle/oracle.h"

void mirror_init(struct o_world *w);
/* Applies an event; podset: the podsets that follow a job. */
void mirror_apply(struct o_world *w, const struct event *e, const struct event *podset);

/* A decision: the job starts on these seats; it is dropped for good. */
void mirror_start(struct o_job *j, const struct o_seat *seat, unsigned seats);
void mirror_drop(struct o_job *j);

/* Takes the seats of every job as they stand in a model. */
void mirror_adopt(struct o_world *w, const struct model *m);
/* True if jobs and their seats are the same in both. */
bool mirror_equal(const struct o_world *w, const struct model *m);

/* Keys of running jobs that hold something that is down; returns their number. */
unsigned mirror_broken(const struct o_world *w, uint32_t *ret_keys, unsigned limit);

#endif
