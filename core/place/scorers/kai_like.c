/* kai-like - how KAI-Scheduler would place: its topology plugin, node placement and GPU packing
 *
 * Gangs of equal pods go by core/place/rules/kai.c. A pod alone goes to the host with the fewest
 * free GPUs (spread: the most, for its size), a pod without GPUs to hosts without them first, then
 * by CPU. Devices: the least sufficient for a share, in both settings, and the lowest free ones for
 * whole GPUs.
 *
 * Helps when  hosts are alike and pods ask whole GPUs
 * Hurts when  CPU or memory run short before GPUs do: they do not count
 */
#include "core/base/bits.h"
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail, bool pack)
{
    const struct host *h = host_row(a->view->m, a->host);
    const struct kind *k = kind_row(a->view->m, h->kind);
    int64_t free, all, kept = 0;

    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    if (a->podset->gpus) {
        free = pack ? MILLI_FULL * (int64_t)bits_count16(h->whole) : score_free_milli(h);
        all = (int64_t)h->gpus * MILLI_FULL;
    } else {
        free = score_cpu(h->cpu_free_milli);
        all = score_cpu(k->cpu_milli);
        kept = h->gpus ? (int64_t)1 << 40 : 0;
    }
    s->cost = kept + (pack ? free : all > 0 ? -(free * 1000000 / all) : 0);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){a->podset->gpus ? "free GPU" : "free CPU", "milli", free};
        s->term_count = 1;
    }
    return true;
}

static bool pack(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    return place(a, s, detail, true);
}

static bool spread(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    return place(a, s, detail, false);
}

const struct scorer scorer_kai_like = {
    .name = "kai-like",
    .idea = "KAI-Scheduler: the fullest domain of the lowest level that holds the gang, packed",
    .helps_when = "gangs name levels, hosts are alike and pods ask whole GPUs",
    .hurts_when = "gangs name no level: hosts are packed across any distance",
    .place = pack,
    .spread = rule_kai_like,
};

const struct scorer scorer_kai_like_spread = {
    .name = "kai-like-spread",
    .idea = "the same with pods spread over the hosts of the domain",
    .helps_when = "pods of a gang should not share a host's network card",
    .hurts_when = "always where whole hosts are asked for later",
    .place = spread,
    .spread = rule_kai_like_spread,
};
