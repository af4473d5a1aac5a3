/* resize.h - runs that lack pods: broken ones are made whole or ended, elastic ones grow
 *
 * Order   By priority, then in the order in which the core heard of the jobs.
 */
#ifndef ENGINE_RESIZE_H
#define ENGINE_RESIZE_H

#include "core/engine/sched.h"
#include "core/policy/backfill/reserve.h"

/* Before anybody else is asked: runs below their minimum get their pods back where their others
 * are, or, when their time is over, are stopped. True: the tables of decisions were full. */
bool resize_repair(struct sched *s);
/* After everybody else was asked: elastic runs take what is left. */
bool resize_grow(struct sched *s, struct reserves *kept);
/* The earlier of *wake_ns and the time at which a broken run is to be ended. */
void resize_wake(const struct model *m, enum wake *wake, int64_t *wake_ns);

#endif
