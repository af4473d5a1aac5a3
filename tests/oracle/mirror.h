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

/* A decision: the job starts on these seats; seats join its run, or leave it; it is ended; it is
 * dropped for good. */
void mirror_start(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                  unsigned seats);
void mirror_grow(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                 unsigned seats);
/* False: it has not all of them. */
bool mirror_shrink(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                   unsigned seats);
void mirror_stop(struct o_job *j);
void mirror_drop(struct o_job *j);

/* Takes the kept rooms as they stand in a model, and ends that only it can know. */
void mirror_adopt_rooms(struct o_world *w, const struct model *m);
/* True if a job's room in a model is the one that is known here. */
bool mirror_room_equal(const struct o_job *j, const struct model *m);

/* Takes the seats of every job as they stand in a model. */
void mirror_adopt(struct o_world *w, const struct model *m);
/* True if jobs, their seats, and when their runs end by their estimates are the same in both. */
bool mirror_equal(const struct o_world *w, const struct model *m);

/* Keys of running jobs that hold something that is down; returns their number. */
unsigned mirror_broken(const struct o_world *w, uint32_t *ret_keys, unsigned limit);

#endif
