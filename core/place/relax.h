/* relax.h - proofs of a no for unlike gangs, without a search of pods
 *
 * What no placement can get around, however pods are arranged: every podset must find a domain of
 * its level that holds it alone; podsets that share a domain must find their devices in it
 * together; and all of them theirs in the region. Assignments of podsets to domains are tried one
 * by one; if none passes, the gang does not fit. If one passes, nothing is said.
 *
 * Units   The budget is in rooms looked at; beyond it nothing is said either.
 */
#ifndef PLACE_RELAX_H
#define PLACE_RELAX_H

#include "core/place/room.h"

/* rooms: every host of the region that holds a pod of some set. True: it cannot fit. */
bool relax_hopeless(struct view *v, const struct room *rooms, uint32_t room_count, bool full);

#endif
