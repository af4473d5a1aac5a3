/* first-fit - the host with the lowest id
 *
 * Helps when  a floor for comparisons; hosts fill in order, so the tail stays whole
 * Hurts when  models and CPU are mixed: picky pods find their hosts taken
 */
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    s->cost = a->host;
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"host id", "position", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_first_fit = {
    .name = "first-fit",
    .idea = "the host with the lowest id",
    .helps_when = "a floor for comparisons; hosts fill in order, so the tail stays whole",
    .hurts_when = "models and CPU are mixed: picky pods find their hosts taken",
    .place = place,
    .ties_by_seed = false,
};
