/* patience.h - how long a gang that could start waits for a better place
 *
 * A gang that could start now, but in a wider domain than one that exists and that it prefers, may
 * wait: runs in the better place are shorter, and what it leaves stays in one piece. Two clocks,
 * and the later one counts:
 *     since submit         the whole patience. Who has waited as long already for any room at all
 *                          has spent it, so that patience hardly adds to the longest waits.
 *     since first chance   the twelfth of it, from the moment at which the gang could first have
 *                          started: rooms come free in bursts, and a gang that has waited for hours
 *                          shall not take the first half of what comes free in the next minute.
 * What was promised ends it: a gang with a date starts by then, wherever it can.
 *
 * Owner   The first chance is a fact in the job's row and forgotten when its run stops.
 */
#ifndef POLICY_PATIENCE_H
#define POLICY_PATIENCE_H

#include "core/place/gang.h"

#define PATIENCE_CHANCE_PART 12

/* The time from which the job waits for nothing better; INT64_MIN: it never did. */
int64_t patience_until(const struct model *m, uint32_t job);

/* True if the plan is worse than the job wishes, a better place exists when the cluster is empty,
 * and the job may still wait for it. */
bool patience_holds(const struct model *m, uint32_t job, const struct plan *plan);

/* The job could have started and waits: if that is its first chance, the time is noted. */
void patience_note(struct model *m, uint32_t job);

#endif
