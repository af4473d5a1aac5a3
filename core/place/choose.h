/* choose.h - where a gang of equal pods goes: does it fit, in which domain, on which hosts
 *
 * Equal pods are a matter of counting, and most of it is spared: domains whose sums cannot hold the
 * gang are passed over, what a memo knows is not counted again, and pods that need nothing but a
 * host are proposed by the index's bins. Every answer is that of a look at every host.
 *
 * Order   Domains by the least room left over, then in the order of the walk (region.h). Hosts: as
 *         few as possible, the fullest first; the last one is the one with the least room over that
 *         holds the rest; equal ones by the lowest id.
 */
#ifndef PLACE_CHOOSE_H
#define PLACE_CHOOSE_H

#include "core/place/census.h"

/* Does the set's minimum fit somewhere, if it were alone in its gang? */
bool choose_fits(struct view *v, const struct podset *p);

/* Most pods that one region holds (without slices), up to the pods asked. */
uint32_t choose_most(struct view *v, const struct podset *p);

/* The region that holds so many pods with the least room over. Where none does: false, and the
 * first of those that hold the most, if that is least or more; *ret_most tells how many. */
bool choose_tightest(struct census *t, uint64_t scopes, uint32_t pods, uint32_t least,
                     struct region *ret, uint64_t *ret_most);

/* A host and the pods that it holds, or that it gets. */
struct share {
    uint32_t host, pods;
};

/* Hosts of the region that hold at least one pod, in id order: returns their number. */
uint32_t choose_hosts(struct census *t, const struct region *r, struct share *ret);

/* Leaves in share[] the fewest hosts that hold pods together, each with the pods it gets, in id
 * order; returns their number. share[] in id order; together they hold the pods. */
uint32_t choose_fewest(struct share *share, uint32_t count, uint32_t pods);

#endif
