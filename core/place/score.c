#include "core/place/score.h"

#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/job.h"
#include "core/place/pick.h"

const struct scorer *scorer_get(unsigned id)
{
    static const struct scorer *const table[SCORER_COUNT] = {
#define SCORER_ROW(name, symbol) &(symbol),
        SCORER_MAP(SCORER_ROW)};

    must(id < SCORER_COUNT);
    return table[id];
}

uint32_t score_free_milli(const struct host *h)
{
    uint32_t sum = 0;

    for (unsigned d = 0; d < h->gpus; d++)
        sum += h->free_milli[d];
    return sum;
}

int64_t score_cpu(int64_t cpu_milli)
{
    int64_t most = (int64_t)1 << 28;

    return cpu_milli < 0 ? 0 : cpu_milli < most ? cpu_milli : most;
}

uint16_t score_share_devices(const struct score_ask *a)
{
    const struct host *h = host_row(a->view->m, a->host);
    const struct board *b = board_row(a->view->m, a->host);
    uint32_t unknown = h->unknown_gpus;
    uint16_t set = 0;

    for (unsigned d = 0; d < h->gpus; d++) {
        if (!(a->within >> d & 1))
            continue;
        if (unknown && (h->whole >> d & 1)) {
            unknown--;
            continue;
        }
        if (a->podset->profile != ROW_NONE) {
            const struct mig *g =
                host_mig(a->view->m, a->podset->profile, kind_row(a->view->m, h->kind)->model);

            if (g && (h->healthy >> d & 1) && !b->share_milli[d] && !b->share_mib[d] &&
                host_mig_slot(g, b->mig_slots[d]) >= 0)
                set |= (uint16_t)(1u << d);
        } else if (a->podset->share_mib ? host_share_fits(a->view->m, a->host, d, a->podset)
                                        : h->free_milli[d] >= a->podset->milli) {
            set |= (uint16_t)(1u << d);
        }
    }
    return set;
}

/* What is left of a device, exactly, in a unit of the host's own. */
static int64_t device_rest(const struct score_ask *a, unsigned d)
{
    const struct board *b = board_row(a->view->m, a->host);
    int64_t mib = kind_row(a->view->m, host_row(a->view->m, a->host)->kind)->gpu_mem_mib;
    int64_t milli = MILLI_FULL - b->share_milli[d];

    return mib > 0 ? mib * milli - (int64_t)MILLI_FULL * b->share_mib[d] : milli;
}

/* Devices for a pod with a share on each of several. A gang takes the emptiest, so that as many of
 * its pods find theirs as were counted; a pod alone takes the least sufficient. */
static uint16_t share_spread(const struct score_ask *a)
{
    bool alone = job_row(a->view->m, a->view->job)->pods == 1;
    uint16_t set = score_share_devices(a), taken = 0;

    if (bits_count16(set) < a->podset->gpus)
        return 0;
    for (unsigned n = 0; n < a->podset->gpus; n++) {
        unsigned best = bits_low(set);

        for (uint16_t rest = set; rest; rest = (uint16_t)bits_drop_low(rest)) {
            unsigned d = bits_low(rest);

            if (alone ? device_rest(a, d) < device_rest(a, best)
                      : device_rest(a, d) > device_rest(a, best))
                best = d;
        }
        taken |= (uint16_t)(1u << best);
        set &= (uint16_t)~taken;
    }
    return taken;
}

uint16_t score_share_least(const struct score_ask *a)
{
    if (a->podset->gpus > 1)
        return share_spread(a);

    const struct host *h = host_row(a->view->m, a->host);
    const struct board *b = board_row(a->view->m, a->host);
    uint16_t set = score_share_devices(a), best = 0;
    uint32_t least = UINT32_MAX;

    for (; set; set = (uint16_t)bits_drop_low(set)) {
        unsigned d = bits_low(set);
        /* A cut device first for a profile: cards already cut hold nothing else anyway. */
        uint32_t free =
            b->mig_slots[d] ? 32 - bits_count32(b->mig_slots[d]) : 64u + h->free_milli[d];

        if (free < least) {
            least = free;
            best = (uint16_t)(1u << d);
        }
    }
    return best;
}

static uint16_t whole_free(const struct score_ask *a)
{
    const struct host *h = host_row(a->view->m, a->host);
    uint16_t free = h->whole & a->within;

    return bits_count16(free) >= (unsigned)a->podset->gpus + h->unknown_gpus ? free : 0;
}

uint16_t score_whole_lowest(const struct score_ask *a)
{
    uint16_t free = whole_free(a), set = 0;

    for (unsigned n = 0; n < a->podset->gpus && free; n++) {
        set |= (uint16_t)(1u << bits_low(free));
        free = (uint16_t)bits_drop_low(free);
    }
    return set;
}

uint16_t score_whole_linked(const struct score_ask *a)
{
    const struct model *m = a->view->m;
    const struct host *h = host_row(m, a->host);
    uint32_t shape = kind_row(m, h->kind)->shape;
    uint16_t free = whole_free(a);

    if (!free)
        return 0;
    if (shape == ROW_NONE || bits_count16(free) == a->podset->gpus)
        return score_whole_lowest(a);
    return pick_whole(&shape_row(m, shape)->shape, a->podset->gpus, h->healthy, h->whole, free);
}

uint16_t score_devices_plain(const struct score_ask *a)
{
    if (a->podset->gpus == 0)
        return 0;
    return podset_is_share(a->podset) ? score_share_least(a) : score_whole_lowest(a);
}

uint8_t score_slot(const struct score_ask *a, uint16_t devices)
{
    if (a->podset->profile == ROW_NONE || !devices)
        return 0;

    const struct model *m = a->view->m;
    const struct mig *g =
        host_mig(m, a->podset->profile, kind_row(m, host_row(m, a->host)->kind)->model);
    int slot = host_mig_slot(g, board_row(m, a->host)->mig_slots[bits_low(devices)]);

    must(slot >= 0);
    return (uint8_t)slot;
}

bool score_host(const struct view *v, const struct podset *p, uint32_t host, uint16_t within,
                struct spot *ret_spot, enum score_detail detail)
{
    const struct config *c = config_row(v->m);
    const struct scorer *s = scorer_get(c->scorer);
    struct score_ask a = {.view = v, .podset = p, .host = host, .within = within};

    a.milli = podset_milli(v->m, p, host_row(v->m, host)->kind);
    if (p->gpus > 1)
        a.milli /= p->gpus;
    *ret_spot = (struct spot){.host = host};
    if (!s->place(&a, ret_spot, detail))
        return false;
    ret_spot->slot = detail == SCORE_FULL ? score_slot(&a, ret_spot->devices) : 0;
    ret_spot->tie = s->ties_by_seed ? hash_mix(c->seed * 0x9e3779b97f4a7c15u + host) : 0;
    return true;
}

bool score_confined(const struct view *v, const struct podset *p, uint32_t host, uint64_t scopes,
                    struct spot *ret_spot, enum score_detail detail)
{
    uint16_t masks[GPUS_MAX];
    unsigned count = view_masks(v, host, scopes, masks);
    bool found = false;

    for (unsigned n = 0; n < count; n++) {
        struct spot s;

        if (view_pods(v, host, p, masks[n]) == 0 || !score_host(v, p, host, masks[n], &s, detail))
            continue;
        if (!found || s.cost < ret_spot->cost)
            *ret_spot = s;
        found = true;
    }
    return found;
}
