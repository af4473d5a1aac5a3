/* region.h - the sets of hosts in which a whole gang may stand
 *
 * A gang that requires a level must stand in one domain of it; one that requires levels of several
 * chains, in one of each. A region is such a combination, never empty, or a single host, or a set
 * of devices of one host, or everything. A walk visits each region once.
 *
 * Order   By the lowest domain id of the first required level, then by the lowest member; hosts in
 *         id order; device sets by their lowest device.
 */
#ifndef PLACE_REGION_H
#define PLACE_REGION_H

#include "core/place/bound.h"

struct region {
    const uint32_t *members; /* NULL: every host */
    uint32_t member_count;
    uint32_t domain[LEVELS_MAX]; /* what a member must be in; ROW_NONE: anything */
    uint32_t host;               /* ROW_NONE: not confined to one host */
    uint16_t within;             /* devices, when confined to one host */
    /* where the walk stands */
    uint64_t scopes;
    unsigned first_level; /* LEVELS_MAX: no level is required */
    uint32_t next_domain, next_member;
    uint16_t masks[GPUS_MAX];
    unsigned mask_count, mask_next;
    /* domains of the first level that cannot hold so many pods are passed over; NULL: none is */
    const struct bound *bound;
    uint64_t least;
};

void region_start(struct region *r, uint64_t scopes);
/* The same, confined to one host: nothing to walk. */
void region_at_host(const struct view *v, struct region *r, uint64_t scopes, uint32_t host);
bool region_next(struct view *v, struct region *r);

/* Members one by one: the next host at or after position *at, or ROW_NONE. */
uint32_t region_host(const struct view *v, const struct region *r, uint32_t *at);

#endif
