/* gpu-packing - occupied devices first, then free devices of occupied hosts, then empty hosts
 *
 * Helps when  small pods come among large ones
 * Hurts when  CPU is short: it does not look at it
 */
#include "core/base/bits.h"
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    const struct host *h = host_row(a->view->m, a->host);
    int64_t whole = bits_count16(h->whole), score, used = 0;
    uint16_t devices = score_devices_plain(a);

    if (a->podset->gpus && !devices)
        return false;
    s->devices = devices;
    if (whole == h->gpus)
        score = 33 - whole > whole ? 33 - whole : whole;
    else if (h->whole & devices)
        score = 50 - a->podset->gpus > 33 ? 50 - a->podset->gpus : 33;
    else {
        for (; devices; devices = (uint16_t)bits_drop_low(devices))
            used += h->free_milli[bits_low(devices)] / 10;
        score = 100 - used / 10 > 50 ? 100 - used / 10 : 50;
    }
    s->cost = a->podset->gpus ? -score : 0;
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"packing", "points", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_gpu_packing = {
    .name = "gpu-packing",
    .idea = "occupied devices first, then free devices of occupied hosts, then empty hosts",
    .helps_when = "small pods come among large ones",
    .hurts_when = "CPU is short: it does not look at it",
    .place = place,
    .ties_by_seed = true,
};
