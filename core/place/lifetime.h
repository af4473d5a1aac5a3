/* lifetime.h - which host a pod that will leave keeps busy for longest
 *
 * A host, and a leaf, are of use to a large gang only once everybody on them has left. A pod whose
 * end is known puts that off by what it stays beyond the last of those who sit there already: not
 * at all beside one that stays longer, by its whole run where nobody sits. Pods go where they put
 * it off least, so that those that stay long come together, and hosts that drain soon keep doing
 * so.
 *
 * Only where the order keeps room by estimates (backfill) and the job has one: without them ends
 * are not known, and the scorer decides alone. All comes from estimates; how long a run really
 * lasts is not asked.
 *
 * Units   what is put off, in steps: 0 below an hour, then one more for each doubling (1 h, 3 h,
 *         7 h, ..). An estimate is rarely better than that.
 * Order   the host's step, its leaf's, the leaf with fewer hosts that nobody uses, the host with
 *         fewer wholly free devices, the scorer's cost, the lowest id. Leaves are the smallest
 *         level of the first chain; a host in none is a leaf of its own with no other host.
 * Bound   Every host is looked at, so clusters of more than LIFETIME_HOSTS_MAX hosts go without.
 */
#ifndef PLACE_LIFETIME_H
#define PLACE_LIFETIME_H

#include "core/place/score.h"

#define LIFETIME_HOSTS_MAX 4096

/* The term that says so: a place whose score has it was chosen by lifetimes first. */
#define LIFETIME_TERM "host kept busy longer"

/* Steps by which a run until end_ns puts off the moment at which everybody has left. */
unsigned lifetime_steps(int64_t drain_ns, int64_t end_ns);

/* When the last of those on the host leaves, by estimates: now_ns where nobody sits, INT64_MAX
 * where somebody has no estimate or is beyond it. */
int64_t lifetime_drain_ns(const struct model *m, uint32_t host, int64_t now_ns);

/* As score_search(), by lifetimes first. False: no host, or lifetimes say nothing here, and nothing
 * is written. */
bool lifetime_search(struct view *v, const struct podset *p, uint64_t scopes, struct spot *ret_best,
                     struct spot *ret_second);

#endif
