/* bound.h - can a domain hold so many pods at all: a look at its sums instead of at its hosts
 *
 * The index counts per domain how many devices are there, wholly free, or on hosts that ail. What
 * these cannot hold, the hosts cannot; a walk over thousands of domains then looks at the few that
 * may. A bound: true is no promise, and false is a proof.
 */
#ifndef PLACE_BOUND_H
#define PLACE_BOUND_H

#include "core/place/view.h"

/* What the question makes of the sums; BOUND_NONE: they tell nothing. */
enum bound_by { BOUND_NONE, BOUND_DEVICES, BOUND_WHOLE, BOUND_SHARES };

struct bound {
    const struct view *view;
    const struct podset *podset;
    uint64_t models;
    enum bound_by by;
    bool ailing_too;
};

struct bound bound_of(const struct view *v, const struct podset *p);

/* False: the domain (ROW_NONE: the cluster) does not hold so many pods of the set. */
bool bound_allows(const struct bound *b, uint32_t domain, uint64_t pods);

/* The same of every domain of a level at once. */
bool bound_allows_level(const struct bound *b, unsigned level, uint64_t pods);

#endif
