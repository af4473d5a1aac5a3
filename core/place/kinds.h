/* kinds.h - may any kind of host hold a pod of the set: a look at the kinds instead of at the hosts
 *
 * Hosts of one kind are alike but for what runs on them, and the index counts per kind what is
 * free. So a pod that is particular about hosts, or asks more than any host has, is answered by a
 * few rows. A bound: true is no promise.
 */
#ifndef PLACE_KINDS_H
#define PLACE_KINDS_H

#include "core/place/view.h"

/* False: no host in service holds a pod of the set. Hosts that are not are asked apart where the
 * question does not mind health. breed: only kinds of its model, devices and CPU; NULL: all. */
bool kinds_serve(const struct view *v, const struct podset *p, const struct kind *breed);

/* Pods of the set that one host of any kind holds at most. */
uint32_t kinds_most(const struct view *v, const struct podset *p);

#endif
