/* rules.h - where other schedulers would put the equal pods of a gang
 *
 * A baseline is honest only if it decides by the rule that was published, so each has its own here:
 * it says how many pods go to which host, the seats are taken by the same code as ours. A rule
 * knows one chain of levels, as its origin does. What it has no word for (levels of two chains,
 * parts of a host, for kai-like slices, an elastic gang below its full size) is left to our own
 * search, and so are pods that differ: a baseline never refuses what could be placed.
 *
 * kueue-like  Kueue's topology-aware scheduling (KEP-2724): domains of the level that is asked for,
 *             the largest first and the last one as tight as can be (best fit); for gangs that ask
 *             for no level hosts, the smallest first (least free capacity). Upwards from a
 *             preferred level until one domain holds all. kueue-like-least-free: the smallest first
 *             for all. kueue-like-balanced: preferred levels by the balanced rule (balanced.c).
 *
 * kai-like    KAI-Scheduler's topology plugin and node placement: domains that hold all pods, from
 *             the preferred level up to the required one, the lowest level first and in a level the
 *             one that the gang fills most; in it the hosts whose preferred domain comes last in
 *             that order first, the fullest of them first (kai-like-spread: the emptiest).
 *
 * Owner   The answer lies in the model's scratch memory until the next search.
 * Order   Equal candidates go by the lowest id.
 */
#ifndef PLACE_RULES_RULES_H
#define PLACE_RULES_RULES_H

#include "core/place/view.h"

/* Pods for a host. */
struct portion {
    uint32_t host, pods;
};

/* Writes the portions of so many pods; returns their number, 0: the rule has no answer. */
typedef uint32_t spread_rule(struct view *v, const struct podset *p, uint32_t pods,
                             struct portion *ret);

spread_rule rule_kueue_like, rule_kueue_like_least_free, rule_kueue_like_balanced;
spread_rule rule_kai_like, rule_kai_like_spread;
spread_rule rule_ladder; /* our own, for gangs whose wishes nobody met */

/* Where the rule of the configured policy puts so many pods; 0: it has none, or no answer. */
uint32_t rules_spread(struct view *v, const struct podset *p, uint32_t pods,
                      const struct portion **ret);

/* True if all portions lie in one domain of the scope: the host, or a level. */
bool rules_in_one(const struct model *m, const struct portion *portion, uint32_t count,
                  unsigned scope);

/* The smallest scope of the ladder that contains all portions, and whether the job's first wish is
 * met. */
unsigned rules_scope(const struct view *v, const struct portion *portion, uint32_t count);
bool rules_wish_met(const struct view *v, const struct portion *portion, uint32_t count);

#endif
