/* answer.h - decisions on their way out: what the engine decided, in the scheduler's tables
 *
 * Order   As decided; the seats of a decision by pod number.
 * Misuse  More than the tables hold: must(). The engine asks answer_full() before each job.
 */
#ifndef ENGINE_ANSWER_H
#define ENGINE_ANSWER_H

#include "core/engine/sched.h"

/* Runs that one job may shrink at most: what a table of decisions must have room for. */
#define ANSWER_SHRINKS_MAX 32

/* True if the tables might not hold all that deciding one more job may say. */
bool answer_full(const struct sched *s);

void answer_start(struct sched *s, uint32_t job, const struct plan *plan);
void answer_refuse(struct sched *s, uint32_t job, const struct refusal *r, bool final,
                   uint32_t team);
/* The room kept for the job, and the date that is promised. */
void answer_promise(struct sched *s, uint32_t job);
/* Seats newer than `before` (ROW_NONE: all) were added to the run. */
void answer_grow(struct sched *s, uint32_t job, uint32_t before);
/* The seats are about to be given back; by: the job that gets the room, or ROW_NONE. */
void answer_shrink(struct sched *s, uint32_t job, const uint32_t *seat, uint32_t count,
                   uint32_t by);
void answer_break(struct sched *s, uint32_t job);

#endif
