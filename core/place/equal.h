/* equal.h - gangs of equal pods: exact by counting
 *
 * Where all pods of a gang are equal, a host holds a number of them whatever stands elsewhere, so
 * the question whether a region holds the gang is a sum over its hosts: no search, no budget, and a
 * "no" is always proven. Slices make it a sum over domains of whole slices.
 */
#ifndef PLACE_EQUAL_H
#define PLACE_EQUAL_H

#include "core/place/region.h"

/* Pods of the set that one host holds on the devices within, in whole slices where these are not
 * larger than a host. */
uint32_t equal_on_host(struct view *v, uint32_t host, const struct podset *p, uint16_t within);

/* Pods that the region holds, in whole slices; counting stops at enough. */
uint64_t equal_in_region(struct view *v, const struct region *r, const struct podset *p,
                         uint64_t enough);

#endif
