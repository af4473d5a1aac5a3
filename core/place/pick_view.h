/* pick_view.h - one host as the search for a set of devices sees it
 *
 * Built anew for each question, since a shape is shared by hosts whose free devices differ. All
 * that the search adds up is prepared per device and pair, packed into lanes of words, so that
 * taking one more device costs a few sums:
 *
 * pair    The link of a pair and, where it has no island in common, what it shares instead. The sum
 *         over a set's pairs is its own links.
 * keep    What stays for others, and
 * near    the parts touched: lanes that start full and lose what each device costs, most important
 *         highest. Larger is better and no lane ever grows while a set does: the word of a part of
 * a set is therefore an upper bound for the whole set, and comparing words compares the lanes in
 * order. flat    Every two free devices of one island have the same link and no others have any, as
 * on most machines; even: one island also holds every free device. Sets of one size then differ in
 *         near only, and pair and degree stay unset.
 * group   The largest sets of free devices with every pair linked: the islands where flat.
 * Elsewhere they are found once a tie asks, and for up to 8 devices as largest: the size of the
 * largest one inside every mask.
 *
 * Owner   The caller's stack. Rows of devices that are not free stay unset.
 */
#ifndef PLACE_PICK_VIEW_H
#define PLACE_PICK_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/shape.h"

/* The most maximal cliques that a graph of 16 nodes can have (Moon and Moser, 1965): 3^4 * 4. */
#define PICK_GROUPS_MAX 324

/* Lanes of pair, from the lowest: sum of link (120 pairs of 16 bits), and numbers of pairs that
 * share only a switch, only a NUMA node, only the host. */
#define PAIR_PCIE 23
#define PAIR_NUMA 30
#define PAIR_HOST 37
#define PAIR_LINK ((UINT64_C(1) << PAIR_PCIE) - 1)

/* Lanes of keep, from the lowest: sum of link left, largest group left, healthy and free devices of
 * the islands touched, whole islands opened. The group is added last, see pick_view_group(). */
#define KEEP_GROUP   23
#define KEEP_HEALTHY 28
#define KEEP_FREE    33
#define KEEP_WHOLE   38
#define KEEP_FULL                                                                                  \
    ((UINT64_C(15) << KEEP_WHOLE) + (UINT64_C(31) << KEEP_FREE) + (UINT64_C(31) << KEEP_HEALTHY))

/* Lanes of near, from the lowest: the mask, NICs, free devices of the switches and NUMA nodes
 * touched, whole ones opened, their number. */
#define NEAR_NICS       16
#define NEAR_PCIE_FREE  28
#define NEAR_NUMA_FREE  33
#define NEAR_PCIE_WHOLE 38
#define NEAR_NUMA_WHOLE 42
#define NEAR_PCIE       46
#define NEAR_NUMA       51
#define NEAR_FULL       ((UINT64_C(1) << 56) - 1)

struct pick_view {
    const struct shape *shape;
    uint16_t free;
    bool flat, even;
    uint16_t alone[SHAPE_PART_COUNT]; /* free devices in no part */
    uint16_t peers[SHAPE_PART_COUNT]
                  [SHAPE_GPUS_MAX];                  /* free devices of the part, itself included */
    uint64_t cost[SHAPE_PART_COUNT][SHAPE_GPUS_MAX]; /* what touching the part takes off a word */
    uint64_t pair[SHAPE_GPUS_MAX][SHAPE_GPUS_MAX];
    uint32_t degree[SHAPE_GPUS_MAX]; /* sum of link to the free devices */
    uint32_t link_max, degree_max;
    uint64_t keep; /* of the empty set */
    bool grouped;  /* group or largest is filled */
    unsigned groups;
    uint16_t group[PICK_GROUPS_MAX];
    uint8_t largest[256];
};

/* The link of two devices as the choice counts it. */
uint32_t pick_view_link(const struct shape *s, unsigned a, unsigned b);

void pick_view_init(struct pick_view *v, const struct shape *s, uint16_t healthy, uint16_t free);

/* The devices of pool, a subset of free, that could swap places with this one and change no number
 * of the view; itself included. */
uint16_t pick_view_twins(const struct pick_view *v, unsigned device, uint16_t pool);

/* True if swapping these two classes of twins, of pool each, would change no number either. */
bool pick_view_alike(const struct pick_view *v, uint16_t a, uint16_t b);

/* How many devices of left, a subset of free, the largest group of linked ones has. */
unsigned pick_view_group(struct pick_view *v, uint16_t left);

#endif
