/* queue.h - one pass over the waiting jobs: who starts, who is told why not, for whom room is kept
 *
 * Jobs are asked in the order of the queue. A job that fits starts, unless what it would take is
 * kept for a job before it and it would not be gone by that job's date. The first job that fits
 * nowhere (easy: the first of each set of GPU models that has nothing to do with the others;
 * conservative: each) gets room kept and a date promised.
 *
 * A date moves earlier whenever it can. It moves later only when the kept room no longer stands: a
 * run lasted longer than its estimate, something failed or was drained, a job of a higher priority
 * came before it.
 *
 * At the end the runs that could use more, or that have lost pods, are looked at.
 */
#ifndef ENGINE_QUEUE_H
#define ENGINE_QUEUE_H

#include "core/engine/sched.h"

/* True if the tables of decisions were full before the end: to be called again. */
bool queue_pass(struct sched *s);

#endif
