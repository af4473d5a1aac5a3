/* gpu-clustering - hosts that hold pods of the same size only
 *
 * Helps when  sizes divide nothing: each size keeps its own hosts
 * Hurts when  a size is rare: it opens a host of its own
 */
#include "core/place/score.h"

/* 0: no GPUs, 1: a share, 2..: whole GPUs by count. */
static unsigned size_of(const struct podset *p)
{
    if (p->gpus == 0)
        return 0;
    return podset_is_share(p) && p->gpus == 1 ? 1 : 1u + p->gpus;
}

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    const struct host *h = host_row(a->view->m, a->host);
    uint32_t kinds = 0, mine = 1u << size_of(a->podset);
    int64_t score;

    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    for (uint32_t t = h->seat_head; t != ROW_NONE; t = seat_row(a->view->m, t)->next_of_host)
        kinds |= 1u << size_of(podset_row(a->view->m, seat_row(a->view->m, t)->podset));
    kinds &= ~1u; /* pods without GPUs are no kind */
    score = 25 * (8000 - (int64_t)score_free_milli(h)) / 8000;
    score += kinds == mine ? 75 : kinds & mine ? 50 : kinds == 0 ? 25 : 0;
    s->cost = a->podset->gpus ? -score : 0;
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"clustering", "points", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_gpu_clustering = {
    .name = "gpu-clustering",
    .idea = "hosts that hold pods of the same size only",
    .helps_when = "sizes divide nothing: each size keeps its own hosts",
    .hurts_when = "a size is rare: it opens a host of its own",
    .place = place,
    .ties_by_seed = true,
};
