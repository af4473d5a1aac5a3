/* best-fit - the host that is left with the least CPU and GPU
 *
 * Helps when  pods ask CPU and GPU in the proportion of the hosts
 * Hurts when  shares: it packs hosts, not cards, and leaves odd rests on each
 */
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;

    /* Reference sizes of the published baseline: 128 cores and 8 GPUs. */
    const struct host *h = host_row(a->view->m, a->host);
    int64_t cpu = score_cpu(h->cpu_free_milli - a->podset->cpu_milli);
    int64_t gpu = (int64_t)score_free_milli(h) - a->milli * a->podset->gpus;

    s->cost = -(100 * 2 * 128000 - 100 * cpu - 100 * 16 * gpu) / (2 * 128000);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"left over", "percent of 128 cores and 8 GPUs", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_best_fit = {
    .name = "best-fit",
    .idea = "the host that is left with the least CPU and GPU",
    .helps_when = "pods ask CPU and GPU in the proportion of the hosts",
    .hurts_when = "shares: it packs hosts, not cards, and leaves odd rests on each",
    .place = place,
    .ties_by_seed = true,
};
