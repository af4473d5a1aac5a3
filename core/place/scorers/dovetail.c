/* dovetail - what a placement takes from those who come after
 *
 * A host has a loss: what it can probably no longer give, in micro-GPU, against the task mix.
 *     waste    per device, by its free milli: what will stay idle of it, given the shares that the
 *              mix asks for
 *     broken   by the number of wholly free devices: those left over after the groups of 2, 4, 8,
 *              .. that the mix asks for
 *     starved  free GPUs x share of the asks that want more cores than the host has free
 *     short    free GPUs beyond those that the free cores can feed, at the mix's cores per GPU
 *     spare    the opposite: free cores beyond those that the free GPUs can use
 * A placement costs the growth of the loss, plus
 *     scarce   GPUs asked x price of the host's model: pods that name their models want it
 *     roomy    a little for each GPU that stays free on the host: fuller hosts first
 *
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

/* The three terms of cores against GPUs. */
static int64_t cpu_loss(const struct model *m, const struct balance *b, int64_t free_milli,
                        int64_t cpu_milli)
{
    /* More cores than this feed any host: a bound that keeps the products in range. */
    int64_t cpu = cpu_milli < (int64_t)1 << 36 ? above_zero(cpu_milli) : (int64_t)1 << 36;
    int64_t step = cpu / LOSS_CPU_STEP_MILLI;
    int64_t starved = loss_row(m, step < LOSS_ROWS ? (uint32_t)step : LOSS_ROWS - 1)->starved_ppm;
    int64_t loss = b->starved_micro * free_milli * starved / 1000000;

    if (b->short_q20)
        loss += b->short_micro * above_zero(free_milli - (cpu * b->short_q20 >> 20));
    if (b->spare_q20)
        loss += b->spare_micro * above_zero((cpu * b->spare_q20 >> 20) - free_milli);
    return loss;
}

/* What a share on the device costs where so many are wholly free. */
static int64_t growth_on(const struct score_ask *a, unsigned d, int64_t whole)
{
    const struct model *m = a->view->m;
    const struct host *h = host_row(m, a->host);
    int64_t free = h->free_milli[d], left = free > a->milli ? free - a->milli : 0;
    int64_t growth;

    if (free == 0) /* a device cut for MIG: nothing else can use it anyway */
        left = 0;
    growth = loss_row(m, (uint32_t)left)->waste_micro - loss_row(m, (uint32_t)free)->waste_micro;
    if (h->whole >> d & 1)
        growth += loss_row(m, (uint32_t)(whole - 1))->broken_micro -
                  loss_row(m, (uint32_t)whole)->broken_micro;
    return growth;
}

static int64_t share_growth(const struct score_ask *a, uint16_t devices, int64_t whole,
                            uint16_t *ret_device)
{
    int64_t best = INT64_MAX;

    for (uint16_t set = devices; set; set = (uint16_t)bits_drop_low(set)) {
        unsigned d = bits_low(set);
        int64_t growth = growth_on(a, d, whole);

        if (growth < best) {
            best = growth;
            *ret_device = (uint16_t)(1u << d);
        }
    }
    return best;
}

/* The same on several devices. */
static int64_t spread_growth(const struct score_ask *a, int64_t whole, uint16_t *ret_devices)
{
    int64_t sum = 0;

    *ret_devices = score_share_least(a);
    for (uint16_t set = *ret_devices; set; set = (uint16_t)bits_drop_low(set)) {
        unsigned d = bits_low(set);

        sum += growth_on(a, d, whole);
        whole -= host_row(a->view->m, a->host)->whole >> d & 1;
    }
    return sum;
}

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    const struct model *m = a->view->m;
    const struct host *h = host_row(m, a->host);
    const struct balance *b = balance_row(m, 0);
    bool share = podset_is_share(a->podset);
    int64_t free = score_free_milli(h), use = a->milli * a->podset->gpus;
    int64_t whole = bits_count16(h->whole), room = 0, cores, scarce, roomy;

    s->devices = share || a->podset->gpus == 0 ? 0
                 : detail == SCORE_FULL        ? score_whole_linked(a)
                                               : score_whole_lowest(a);
    if (share && a->podset->gpus > 1) {
        room = spread_growth(a, whole, &s->devices);
    } else if (share) {
        uint16_t set = score_share_devices(a);

        room = set ? share_growth(a, set, whole, &s->devices) : 0;
    } else if (s->devices) {
        room =
            a->podset->gpus * (loss_row(m, 0)->waste_micro - loss_row(m, MILLI_FULL)->waste_micro) +
            loss_row(m, (uint32_t)(whole - a->podset->gpus))->broken_micro -
            loss_row(m, (uint32_t)whole)->broken_micro;
    }
    if (a->podset->gpus && !s->devices)
        return false;
    cores = cpu_loss(m, b, free - use, h->cpu_free_milli - a->podset->cpu_milli) -
            cpu_loss(m, b, free, h->cpu_free_milli);
    scarce = price_row(m, kind_row(m, h->kind)->model)->scarce_micro * use / MILLI_FULL;
    roomy = b->roomy_micro * (free - use);
    s->cost = room + cores + scarce + roomy;
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"waste and broken groups", "micro-GPU", room};
        s->term[1] = (struct term){"cores against GPUs", "micro-GPU", cores};
        s->term[2] = (struct term){"scarce model", "micro-GPU", scarce};
        s->term[3] = (struct term){"room left", "micro-GPU", roomy};
        s->term_count = 4;
    }
    return true;
}

/* Least growth of waste on a broken device with at most broken_max free: the share may fit it to
 * the milli. INT64_MAX: it fits none. */
static int64_t broken_growth(const struct score_bin *b)
{
    int64_t *memory = &b->share_growth[index_share_step(b->broken_max)];

    if (*memory != INT64_MIN)
        return *memory;
    *memory = INT64_MAX;
    for (uint32_t free = (uint32_t)b->milli; free <= b->broken_max; free++) {
        int64_t growth = loss_row(b->m, free - (uint32_t)b->milli)->waste_micro -
                         loss_row(b->m, free)->waste_micro;

        *memory = growth < *memory ? growth : *memory;
    }
    return *memory;
}

static int64_t guess(const struct score_bin *b)
{
    const struct model *m = b->m;
    const struct balance *x = balance_row(m, 0);
    int64_t use = b->milli * b->podset->gpus, cpu = b->cpu_free_milli;
    int64_t free = (int64_t)b->whole * MILLI_FULL + b->broken_max, room = 0;

    if (podset_is_share(b->podset)) {
        room = broken_growth(b);
        if (b->whole > 0) { /* of several devices the cheapest stands for all */
            int64_t growth = loss_row(m, (uint32_t)(MILLI_FULL - b->milli))->waste_micro -
                             loss_row(m, MILLI_FULL)->waste_micro +
                             loss_row(m, b->whole - 1)->broken_micro -
                             loss_row(m, b->whole)->broken_micro;

            room = growth < room ? growth : room;
        }
        if (room == INT64_MAX)
            room = 0;
    } else if (b->podset->gpus) {
        room =
            b->podset->gpus * (loss_row(m, 0)->waste_micro - loss_row(m, MILLI_FULL)->waste_micro) +
            loss_row(m, b->whole - b->podset->gpus)->broken_micro -
            loss_row(m, b->whole)->broken_micro;
    }
    return room + cpu_loss(m, x, free - use, cpu - b->podset->cpu_milli) -
           cpu_loss(m, x, free, cpu) +
           price_row(m, kind_row(m, b->kind)->model)->scarce_micro * use / MILLI_FULL +
           x->roomy_micro * (free - use);
}

const struct scorer scorer_dovetail = {
    .name = "dovetail",
    .idea = "what a placement takes from those who come after, by the task mix",
    .helps_when = "the mix is roughly known: shares, whole hosts and picky pods all come",
    .hurts_when = "the mix that it was told is not the mix that comes",
    .place = place,
    .guess = guess,
    .spread = rule_ladder,
    .ties_by_seed = false,
};
