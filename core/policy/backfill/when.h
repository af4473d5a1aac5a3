/* when.h - the date of a gang of equal pods in one domain, by sums instead of by trying
 *
 * A gang that must stand in one domain of a level waits until that domain is free enough, and most
 * runs of a large cluster have nothing to do with it. So each domain is asked by itself: the ends
 * of the runs on its hosts, in order, and after each the pods that the hosts then hold. Only what
 * has ended by the earliest of these dates, in the domains that are ready then, is taken off the
 * books for the plan. The answer is that of taking off everything (reserve.c does, where this does
 * not apply).
 *
 * Applies  to one podset of whole devices without slices that needs one level above the host, when
 *          no host leaves, no seat's devices are unknown, nothing is exclusive, and no team limit
 *          and nobody's kept room comes between: the caller sees to the last.
 * Order    Ends by time; those of one moment together.
 */
#ifndef POLICY_WHEN_H
#define POLICY_WHEN_H

#include "core/place/view.h"

/* When the run of the job is taken to end; INT64_MAX: nobody knows. */
typedef int64_t when_end(const struct model *m, const struct job *j, bool guess);

#define WHEN_READY_MAX 16 /* domains ready at one date that are remembered */

struct when {
    struct model *m;
    uint32_t job;
    unsigned level; /* in which one domain must hold the gang */
    when_end *end;
    bool guess;
    uint32_t ready[WHEN_READY_MAX], ready_count; /* by the earliest date; more: they are not all */
};

/* Does it apply? Fills in the level. */
bool when_applies(struct when *w, uint64_t wished);
/* The earliest date before before_ns, or INT64_MAX: there is none; INT64_MIN: it cannot be told so
 * (a domain would do at once, or has more pods than there is memory for). */
int64_t when_earliest(struct when *w, int64_t before_ns);
/* Takes off the books, in the caller's transaction, what has ended by then where the gang fits. */
void when_vacate(const struct when *w, int64_t at_ns);

#endif
