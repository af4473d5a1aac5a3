/* dot-product - the host whose free CPU and GPU point the way the ask does
 *
 * Helps when  asks differ in their CPU to GPU proportion
 * Hurts when  it prefers emptier hosts and so opens whole ones
 */
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;

    const struct host *h = host_row(a->view->m, a->host);
    int64_t cpu =
        score_cpu(h->cpu_free_milli) * score_cpu(a->podset->cpu_milli); /* of 128,000 squared */
    int64_t gpu = (int64_t)score_free_milli(h) * a->milli * a->podset->gpus; /* of 8,000 squared */
    int64_t full = (int64_t)128000 * 128000;

    /* The published score: 100 x (1 - half the dot product), cut to an integer. */
    s->cost = -((100 * 2 * full - 100 * cpu - 100 * 256 * gpu) / (2 * full));
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"alignment", "percent", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_dot_product = {
    .name = "dot-product",
    .idea = "the host whose free CPU and GPU point the way the ask does",
    .helps_when = "asks differ in their CPU to GPU proportion",
    .hurts_when = "it prefers emptier hosts and so opens whole ones",
    .place = place,
    .ties_by_seed = true,
};
