/* kube-binpack - the default scheduler set to pack: most allocated GPUs first
 *
 * Helps when  whole GPUs of equal hosts
 * Hurts when  shares and CPU: it sees a count of GPUs only
 */
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;

    const struct host *h = host_row(a->view->m, a->host);
    int64_t capacity = (int64_t)h->gpus * MILLI_FULL;
    int64_t left = (int64_t)score_free_milli(h) - a->milli * a->podset->gpus;

    s->cost = capacity ? -((capacity - left) * 100 / capacity) : 0;
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"allocated GPUs", "percent", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_kube_binpack = {
    .name = "kube-binpack",
    .idea = "the default scheduler set to pack: most allocated GPUs first",
    .helps_when = "whole GPUs of equal hosts",
    .hurts_when = "shares and CPU: it sees a count of GPUs only",
    .place = place,
    .ties_by_seed = true,
};
