/* census.h - pods of one ask, counted host by host and domain by domain, and remembered
 *
 * The counts of equal.h beside a memo of the index: a host or a domain that nobody has touched
 * since it was last counted for an equal ask is not counted again. Where a count depends on more
 * than the hosts and the ask (departures, what exclusive jobs forbid, a question that drops limits,
 * slices), and where every host is to be looked at (scan_all), nothing is remembered, and the
 * answers are the same.
 *
 * Misuse  A census is of no use after a host has changed: get another one.
 */
#ifndef PLACE_CENSUS_H
#define PLACE_CENSUS_H

#include "core/model/memo.h"
#include "core/place/region.h"

struct census {
    struct view *v;
    const struct podset *p;
    struct memo memo; /* host NULL: nothing is remembered */
};

struct census census_of(struct view *v, const struct podset *p);

/* What a count depends on but the hosts. */
struct memo_key census_key(const struct view *v, const struct podset *p);

/* As equal_on_host() on all devices, and equal_in_region(). */
uint32_t census_host(struct census *t, uint32_t host);
uint64_t census_region(struct census *t, const struct region *r, uint64_t enough);

#endif
