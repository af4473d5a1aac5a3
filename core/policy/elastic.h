/* elastic.h - gangs that may run smaller than they ask: growing into what is left over, and giving
 * it back
 *
 * What an elastic gang holds beyond its minimum is lent: it grows when nobody waits who could use
 * the room, and shrinks, newest pods first, when a waiting job of at least its priority fits only
 * then. A gang that has lost a pod is made whole in the same way, before anybody else is asked.
 *
 * Where   New pods go into the domains that the gang must be in, and into the domain of the
 *         strongest wished level that it sits in now: a gang never grows out of a place that it
 *         wished for. First the hosts that it is on, then those with the fewest devices free.
 * Slices  A podset in slices neither grows nor shrinks: only whole slices run, and each has its
 *         domain.
 * Order   Running jobs by priority, then by the queue's order of equals (submit time, then the
 *         order in which the core heard of them).
 */
#ifndef POLICY_ELASTIC_H
#define POLICY_ELASTIC_H

#include "core/place/gang.h"

#define SHRINKS_MAX 32 /* runs that one waiting job may make smaller */

/* Pods that the run lacks: of its full size, or of its minimum. */
uint32_t elastic_missing(const struct model *m, uint32_t job, bool minimum);

/* Adds pods to the run, in the caller's transaction, up to its full size or its minimum; returns
 * their number. Holds in force are minded. */
uint32_t elastic_grow(struct model *m, uint32_t job, bool minimum);

/* Gives back what the waiting job needs of what runs hold beyond their minimum, in the caller's
 * transaction: the seats, run by run, are told before they are given. delays says whether a run
 * may not end so much later. False: it would not help, or may not be; the caller rolls back. */
bool elastic_yield(struct model *m, uint32_t job,
                   void (*tell)(void *context, uint32_t run, const uint32_t *seat, uint32_t count),
                   bool (*delays)(void *context, int64_t before_ns, int64_t after_ns),
                   void *context);

#endif
