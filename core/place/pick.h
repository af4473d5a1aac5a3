/* pick.h - exactly which devices of one host a pod gets
 *
 * The question below the host: among the wholly free devices, which set serves the pod best and
 * costs the others least. Every set of the asked size is weighed by one list, and an earlier line
 * always beats all later ones:
 *
 *   the pod's own links    the loosest pair: inside one island before only one switch, only one
 * NUMA node, only the host; then the sum of link; then the weakest link; then fewer pairs that
 * share only the host, then only a NUMA node, then only a switch what stays for others  fewer whole
 * islands opened; fewer free devices in the islands touched (the tightest that suffices), then the
 * smaller islands; of what is left free, the largest group with every pair linked, then the sum of
 * link NUMA nodes, switches   fewer NUMA nodes touched, then switches, since each is one more pod
 * on their memory and NICs; fewer whole NUMA nodes opened, then switches; the tightest NUMA nodes,
 * then switches; fewer NICs on the switches touched the last tie           the lowest mask, as a
 * number in which device i is bit i
 *
 * So a pair that is broken already serves a pod of one before a whole pair does, a whole pair
 * serves a pod of two before two halves do, and a pod of four on a cube mesh takes a quad that
 * leaves the other one.
 *
 * Whole   All healthy devices of the part are free, and it has two or more of them: a lone device
 *         has nothing that could be broken. A device in no part counts as a part of its own.
 * Links   Where the shape does not know them, two devices of one island count as linked by 1.
 * Order   Total: equal hosts give equal answers on every machine.
 * Misuse  gpus must be at least 1, and free may not name a device beyond the shape's or one that is
 *         not healthy.
 */
#ifndef PLACE_PICK_H
#define PLACE_PICK_H

#include <stdint.h>

#include "core/model/shape.h"

/* What a chosen set is worth, for scores and explanations: more link is better, fewer parts are. */
struct pick_worth {
    uint32_t link_sum;       /* of all pairs inside the set */
    uint32_t link_min;       /* weakest pair; 0: some pair has no link, or there is no pair */
    uint32_t islands;        /* parts the set touches, devices outside any counted one each */
    uint32_t islands_broken; /* of those, whole before the set opened them */
    uint32_t numas, switches;
};

/* healthy: devices in service; free: those of them that nobody holds; within: the devices allowed
 * (a domain below the host, or all). Returns the set, or 0 if fewer than gpus are free within. */
uint16_t pick_whole(const struct shape *s, unsigned gpus, uint16_t healthy, uint16_t free,
                    uint16_t within);

/* free: as it was before the set was taken. */
struct pick_worth pick_worth(const struct shape *s, uint16_t healthy, uint16_t free,
                             uint16_t devices);

#endif
