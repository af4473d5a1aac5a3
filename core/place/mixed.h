/* mixed.h - gangs whose podsets differ: bounded search with backtracking
 *
 * Unlike pods compete for the same hosts, so counting no longer decides. Pods are tried one by one,
 * the largest first, on the tightest hosts first; interchangeable hosts' devices and equal pods are
 * tried once. The first descent is the greedy answer; backtracking makes the written order of the
 * podsets irrelevant. Beyond the budget the answer is "not proven", never "no".
 *
 * Owner   Results lie in the model's scratch memory until the next search.
 */
#ifndef PLACE_MIXED_H
#define PLACE_MIXED_H

#include "core/place/region.h"

/* Hosts that one search looks at; of a larger region the rest is left out, and a no is not proven.
 */
#define ROOMS_MAX 4096

struct mixed_pod {
    uint32_t podset; /* row id */
    uint32_t host;
    uint16_t devices;
    uint8_t slot;
    uint8_t pad[5];
};

struct mixed {
    uint32_t pod_count;
    struct mixed_pod *pod; /* podset by podset, not in the order of the ask */
    bool
        exact_devices; /* devices matter: some set names a level below the host, or shares a card */
};

/* Places least (or most) pods of every set inside the region. */
enum verdict mixed_search(struct view *v, const struct region *r, bool full, struct mixed *ret);

#endif
