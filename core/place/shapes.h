/* shapes.h - what a pod that opens a whole host does to the gangs that will ask for domains
 *
 * Fragmentation, from cards to domains: of the free whole hosts of a domain, gangs of h hosts use
 * h x floor(free / h), and the rest is stranded for them. Opening a host in a domain with f free
 * ones costs the growth of that rest, over the gangs of the mix; so the last domain that still
 * holds a large gang is opened last, and a rest that no gang could use is used first. Equal growth:
 * the domain with the fewest free hosts, then the same question one level up, then the lowest id.
 *
 * The scorer has chosen a host by what it sees inside of it. Where that is a host that nobody uses,
 * any other like it costs the same inside; this chooses among them.
 *
 * Units   micro-hosts, weighted by each size's share of all GPUs that gangs ask for.
 */
#ifndef PLACE_SHAPES_H
#define PLACE_SHAPES_H

#include "core/place/score.h"

/* Moves the spot to a host like it in a better domain of the first chain, if there is one. */
void shapes_move(struct view *v, const struct podset *p, uint64_t scopes, struct spot *spot);

#endif
