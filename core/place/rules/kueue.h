/* kueue.h - the parts of Kueue's rules that its balanced rule shares
 *
 * Units   slices: whole ones, or pods where the set has none.
 */
#ifndef PLACE_RULES_KUEUE_H
#define PLACE_RULES_KUEUE_H

#include "core/place/rules/tally.h"

/* Most slices first, then fewest pods beside them, then the least key, then the lowest id. */
tally_order kueue_roomy;

/* From nodes of a depth that were given slices down to hosts. Pooled: above the slices' level the
 * nodes under them share one list, whoever got what; below it each has its own. */
void kueue_descend(struct tally *t, uint32_t depth, uint32_t slices, bool best_fit, bool pooled);

/* The largest nodes of the depth, the last one as tight as can be; false: they do not hold all. */
bool kueue_gather(struct tally *t, uint32_t depth, uint32_t slices);

/* Best fit, or least free capacity. */
uint32_t kueue_spread(struct tally *t, uint32_t pods, bool best_fit, struct portion *ret);

#endif
