/* ranks.h - which pod of a gang gets which of its places: neighbours as near as can be
 *
 * Ranks talk mostly to the ranks next to them, so equal pods are numbered along the tree: hosts by
 * their path of domains, the largest level first, then by id; inside a host by island, NUMA node
 * and switch, then by device. Whatever the hosts are, no other numbering has fewer neighbours that
 * lie in different domains, at any level of the chain. The chain is that of the level by which the
 * set is sliced, else of the one that the job prefers most, else of the smallest that it requires,
 * else the first. Slices stay whole: pods of one are numbered one after the other.
 *
 * Order   Domains by id, hosts outside a level last.
 */
#ifndef PLACE_RANKS_H
#define PLACE_RANKS_H

#include "core/place/view.h"

/* Numbers the seats that the search took for a job that has no others. The numbers of each podset
 * stay what they were as a set. */
void ranks_lay(struct model *m, uint32_t job);

#endif
