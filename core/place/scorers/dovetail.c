/* dovetail - what a placement takes from those who come after
 *
 * A host has a loss: what it can no longer give, in micro-GPU, against the task mix.
 *     waste    per device, by its free milli: the part that will probably stay idle, given the
 *              shares that the mix asks for
 *     broken   by the number of wholly free devices: those left over after the groups of 2, 4, 8, ..
 *              that the mix asks for
 *     uneven   free GPUs without the cores that the mix asks with them, and cores without GPUs
 * A placement costs the growth of the loss, plus
 *     scarce   GPUs asked x the price of the host's model: picky pods need it
 *     roomy    a little for each GPU that stays free on the host: fuller hosts first
 * The tables are made from the mix at an edge (edge/sim/mix.c) and are integers here; the classes
 * of the mix are not read when a host is scored. Fragmentation as a function of free shares follows
 * Weng et al. (USENIX ATC'23); waste and broken replace its sum over classes, so that a score costs
 * a few additions per device.
 *
 * Devices  A share goes where waste and broken grow least, whole GPUs by links and by what stays
 *          whole for others (pick.h).
 * Helps when  the mix is roughly known: shares, whole hosts and picky pods all come
 * Hurts when  the mix that it was told is not the mix that comes
 */
#include "core/base/bits.h"
#include "core/place/score.h"

static int64_t above_zero(int64_t x)
{
    return x > 0 ? x : 0;
}

static int64_t uneven(const struct balance *b, int64_t free_milli, int64_t cpu_milli)
{
    int64_t cpu, fed, fed_low;

    if (b->fed_q20 == 0)
        return 0;
    /* More cores than this feed any host: a bound that keeps the product in range. */
    cpu = cpu_milli < (int64_t)1 << 36 ? cpu_milli : (int64_t)1 << 36;
    cpu = above_zero(cpu);
    fed = cpu * b->fed_q20 >> 20;
    fed_low = cpu * b->fed_low_q20 >> 20;
    return b->short_micro * above_zero(free_milli - fed) +
           b->spare_micro * above_zero(fed - free_milli) +
           b->very_short_micro * above_zero(free_milli - fed_low);
}

static int64_t share_growth(const struct score_ask *a, uint16_t devices, int64_t whole,
                            uint16_t *ret_device)
{
    const struct model *m = a->view->m;
    const struct host *h = host_row(m, a->host);
    int64_t best = INT64_MAX;

    for (uint16_t set = devices; set; set = (uint16_t)bits_drop_low(set)) {
        unsigned d = bits_low(set);
        int64_t free = h->free_milli[d], left = free > a->milli ? free - a->milli : 0;
        int64_t growth;

        if (free == 0) /* a device cut for MIG: nothing else can use it anyway */
            left = 0;
        growth = loss_row(m, (uint32_t)left)->waste_micro - loss_row(m, (uint32_t)free)->waste_micro;
        if (h->whole >> d & 1)
            growth += loss_row(m, (uint32_t)(whole - 1))->broken_micro -
                      loss_row(m, (uint32_t)whole)->broken_micro;
        if (growth < best) {
            best = growth;
            *ret_device = (uint16_t)(1u << d);
        }
    }
    return best;
}

static bool place(const struct score_ask *a, struct spot *s, bool with_terms)
{
    const struct model *m = a->view->m;
    const struct host *h = host_row(m, a->host);
    const struct balance *b = balance_row(m, 0);
    bool share = podset_is_share(a->podset);
    int64_t free = score_free_milli(h), use = a->milli * a->podset->gpus;
    int64_t whole = bits_count16(h->whole), room = 0, uneven_growth, scarce, roomy;

    s->devices = share || a->podset->gpus == 0 ? 0 : score_whole_linked(a);
    if (share) {
        uint16_t set = score_share_devices(a);

        room = set ? share_growth(a, set, whole, &s->devices) : 0;
    } else if (s->devices) {
        room = a->podset->gpus * (loss_row(m, 0)->waste_micro -
                                  loss_row(m, MILLI_FULL)->waste_micro) +
               loss_row(m, (uint32_t)(whole - a->podset->gpus))->broken_micro -
               loss_row(m, (uint32_t)whole)->broken_micro;
    }
    if (a->podset->gpus && !s->devices)
        return false;
    uneven_growth = uneven(b, free - use, h->cpu_free_milli - a->podset->cpu_milli) -
                    uneven(b, free, h->cpu_free_milli);
    scarce = price_row(m, kind_row(m, h->kind)->model)->scarce_micro * use / MILLI_FULL;
    roomy = b->roomy_micro * (free - use);
    s->cost = room + uneven_growth + scarce + roomy;
    if (with_terms) {
        s->term[0] = (struct term){"room lost to waste", "micro-GPU", room};
        s->term[1] = (struct term){"CPU and GPU uneven", "micro-GPU", uneven_growth};
        s->term[2] = (struct term){"scarce model", "micro-GPU", scarce};
        s->term[3] = (struct term){"room left", "micro-GPU", roomy};
        s->term_count = 4;
    }
    return true;
}

const struct scorer scorer_dovetail = {
    .name = "dovetail",
    .idea = "what a placement takes from those who come after, by the task mix",
    .helps_when = "the mix is roughly known: shares, whole hosts and picky pods all come",
    .hurts_when = "the mix that it was told is not the mix that comes",
    .place = place,
    .ties_by_seed = false,
};
