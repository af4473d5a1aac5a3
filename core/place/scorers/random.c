/* random - any host and any device with room, by lot
 *
 * Helps when  never, but to show what not thinking costs
 * Hurts when  always: whole hosts are broken first of all
 */
#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/prng.h"
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    struct prng lot;
    uint16_t free = host_row(a->view->m, a->host)->whole & a->within;

    prng_init(&lot, config_row(a->view->m)->seed ^ hash_mix(a->host) ^
                        hash_mix(job_row(a->view->m, a->view->job)->key));
    if (podset_is_share(a->podset)) /* of several devices those with which the gang fits */
        free = a->podset->gpus > 1 ? score_share_least(a) : score_share_devices(a);
    s->devices = 0;
    for (unsigned n = 0; n < a->podset->gpus; n++) {
        uint16_t rest = free & (uint16_t)~s->devices;

        if (!rest)
            return false;
        for (uint64_t skip = prng_below(&lot, bits_count16(rest)); skip > 0; skip--)
            rest = (uint16_t)bits_drop_low(rest);
        s->devices |= (uint16_t)(1u << bits_low(rest));
    }
    s->cost = (int64_t)(prng_next(&lot) >> 2);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"lot", "none", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_random = {
    .name = "random",
    .idea = "any host and any device with room, by lot",
    .helps_when = "never, but to show what not thinking costs",
    .hurts_when = "always: whole hosts are broken first of all",
    .place = place,
    .ties_by_seed = false,
};
