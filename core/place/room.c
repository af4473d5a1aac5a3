#include "core/place/room.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/host.h"

struct room room_of(const struct view *v, uint32_t host, uint16_t within)
{
    const struct host *h = host_row(v->m, host);
    const struct board *b = board_row(v->m, host);
    const struct kind *k = kind_row(v->m, h->kind);
    bool busy = view_minds(v, LIMIT(BUSY));
    struct room r = {.host = host, .kind = h->kind, .gpus = h->gpus};

    r.cpu_milli = !view_minds(v, LIMIT(CPU)) ? UNLIMITED : busy ? h->cpu_free_milli : k->cpu_milli;
    r.mem_mib = !view_minds(v, LIMIT(MEM)) ? UNLIMITED : busy ? h->mem_free_mib : k->mem_mib;
    r.pods = !view_minds(v, LIMIT(PODS)) ? UNLIMITED : busy ? h->pods_free : k->pods;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        r.extra[e] = !view_minds(v, LIMIT(EXTRA)) ? UNLIMITED
                     : busy                       ? h->extra_free[e]
                                                  : k->extra[e];
    r.usable = view_healthy(v, h) & within;
    if (!busy)
        return r;
    memcpy(r.mib, b->share_mib, sizeof(r.mib));
    memcpy(r.mig, b->mig_slots, sizeof(r.mig));
    memcpy(r.milli, b->share_milli, sizeof(r.milli));
    memcpy(r.sharers, b->sharers, sizeof(r.sharers));
    r.unknown = (uint8_t)view_unknown(v, h, within);
    return r;
}

bool room_counts(const struct view *v, const struct room *r, const struct podset *p)
{
    (void)v;
    /* A host may hold more than it has since its capacity was told anew: who asks for none of it
     * does not mind. */
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        if (p->extra[e] > 0 && p->extra[e] > r->extra[e])
            return false;
    return (p->cpu_milli == 0 || p->cpu_milli <= r->cpu_milli) &&
           (p->mem_mib == 0 || p->mem_mib <= r->mem_mib) && r->pods >= 1;
}

static bool share_fits(const struct view *v, const struct room *r, const struct podset *p,
                       unsigned d)
{
    const struct kind *k = kind_row(v->m, r->kind);
    int64_t mib = k->gpu_mem_mib, milli = r->milli[d], held = r->mib[d];

    if (view_minds(v, LIMIT(TOPOLOGY)) && (r->gang_cards >> d & 1) &&
        !(job_row(v->m, v->job)->flags & JOB_SHARES_CARD))
        return false;
    if (p->profile != ROW_NONE) {
        const struct mig *g = host_mig(v->m, p->profile, k->model);

        return g && !milli && !held && host_mig_slot(g, r->mig[d]) >= 0;
    }
    if (r->mig[d])
        return false;
    milli += p->share_mib ? 0 : p->milli;
    held += p->share_mib;
    if (held == 0)
        return milli <= MILLI_FULL;
    return mib > 0 && milli * mib + MILLI_FULL * held <= MILLI_FULL * mib;
}

/* Devices that a search need not tell apart: equal holdings, equal parts. */
static bool alike(const struct view *v, const struct room *r, uint64_t parts, unsigned a,
                  unsigned b)
{
    uint32_t shape = kind_row(v->m, r->kind)->shape;

    if (r->milli[a] != r->milli[b] || r->mib[a] != r->mib[b] || r->mig[a] != r->mig[b] ||
        ((r->gang_cards >> a ^ r->gang_cards >> b) & 1))
        return false;
    for (; parts && shape != ROW_NONE; parts = bits_drop_low(parts)) {
        const uint8_t *part = shape_row(v->m, shape)->shape.part[bits_low(parts)];

        if (part[a] != part[b])
            return false;
    }
    return true;
}

/* Of devices that are alike only the lowest free ones stand for all choices. */
static bool stands_for_all(const struct view *v, const struct room *r, uint64_t parts,
                           uint16_t free, uint16_t set)
{
    for (uint16_t s = set; s; s = (uint16_t)bits_drop_low(s)) {
        unsigned d = bits_low(s);

        for (uint16_t f = free & (uint16_t)(bits_first(d) & ~(unsigned)set); f;
             f = (uint16_t)bits_drop_low(f))
            if (alike(v, r, parts, bits_low(f), d))
                return false;
    }
    return true;
}

static uint16_t free_for(const struct view *v, const struct room *r, const struct podset *p)
{
    uint16_t free = 0, whole = 0;
    uint32_t unknown = r->unknown;

    for (unsigned d = 0; d < r->gpus; d++)
        if ((r->usable >> d & 1) && r->sharers[d] == 0)
            whole |= (uint16_t)(1u << d);
    if (!podset_is_share(p))
        return bits_count16(whole) >= p->gpus + unknown ? whole : 0;
    for (unsigned d = 0; d < r->gpus; d++) {
        if (unknown && (whole >> d & 1)) {
            unknown--;
            continue;
        }
        if ((r->usable >> d & 1) && share_fits(v, r, p, d))
            free |= (uint16_t)(1u << d);
    }
    return free;
}

uint32_t room_whole(const struct room *r)
{
    uint32_t whole = 0;

    for (unsigned d = 0; d < r->gpus; d++)
        whole += (r->usable >> d & 1) && r->sharers[d] == 0;
    return whole;
}

uint32_t room_pods(const struct view *v, const struct room *r, const struct podset *p)
{
    uint32_t most = view_times(r->pods, 1, UINT32_MAX);

    most = view_times(r->cpu_milli, p->cpu_milli, most);
    most = view_times(r->mem_mib, p->mem_mib, most);
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        most = view_times(r->extra[e], p->extra[e], most);
    if (p->gpus && most) {
        uint32_t free = bits_count16(free_for(v, r, p));

        if (podset_is_share(p))
            return free ? most : 0;
        free = free > r->unknown ? (free - r->unknown) / p->gpus : 0;
        most = free < most ? free : most;
    }
    return most;
}

uint16_t room_next(const struct view *v, const struct room *r, const struct podset *p,
                   uint64_t parts, uint16_t before)
{
    uint16_t free = free_for(v, r, p);
    uint32_t set = before ? before : (uint32_t)bits_first(p->gpus);

    if (p->gpus == 0 || bits_count16(free) < p->gpus)
        return 0;
    for (bool first = !before;; first = false) {
        if (!first)
            set = bits_next_subset(set);
        if (set > bits_first(r->gpus))
            return 0;
        if ((set & ~(uint32_t)free) == 0 && stands_for_all(v, r, parts, free, (uint16_t)set))
            return (uint16_t)set;
    }
}

static void count(struct room *r, const struct podset *p, int sign)
{
    r->cpu_milli -= sign * p->cpu_milli;
    r->mem_mib -= sign * p->mem_mib;
    r->pods -= sign;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        r->extra[e] -= sign * p->extra[e];
}

uint8_t room_take(const struct view *v, struct room *r, const struct podset *p, uint16_t devices)
{
    int slot = 0;

    count(r, p, 1);
    r->gang_pods++;
    for (uint16_t s = devices; s; s = (uint16_t)bits_drop_low(s)) {
        unsigned d = bits_low(s);

        r->sharers[d]++;
        if (p->profile != ROW_NONE) {
            const struct mig *g = host_mig(v->m, p->profile, kind_row(v->m, r->kind)->model);

            slot = host_mig_slot(g, r->mig[d]);
            must(slot >= 0);
            r->mig[d] |= (uint32_t)bits_first(g->slots) << slot;
        } else if (p->share_mib) {
            r->mib[d] += p->share_mib;
        } else {
            r->milli[d] = (uint16_t)(r->milli[d] + p->milli);
        }
    }
    if (podset_is_share(p))
        r->gang_cards |= devices;
    return (uint8_t)slot;
}

void room_give(const struct view *v, struct room *r, const struct podset *p, uint16_t devices,
               uint8_t slot, bool card_was_ours)
{
    count(r, p, -1);
    must(r->gang_pods > 0);
    r->gang_pods--;
    for (uint16_t s = devices; s; s = (uint16_t)bits_drop_low(s)) {
        unsigned d = bits_low(s);

        must(r->sharers[d] > 0);
        r->sharers[d]--;
        if (p->profile != ROW_NONE) {
            const struct mig *g = host_mig(v->m, p->profile, kind_row(v->m, r->kind)->model);

            r->mig[d] &= ~((uint32_t)bits_first(g->slots) << slot);
        } else if (p->share_mib) {
            r->mib[d] -= p->share_mib;
        } else {
            r->milli[d] = (uint16_t)(r->milli[d] - p->milli);
        }
    }
    if (podset_is_share(p) && !card_was_ours)
        r->gang_cards &= (uint16_t)~devices;
}
