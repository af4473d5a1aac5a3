#include "core/place/view.h"

#include "core/base/bits.h"
#include "core/model/host.h"
#include "core/place/exclusive.h"

uint64_t view_required(const struct view *v, const struct podset *p)
{
    if (!view_minds(v, LIMIT(TOPOLOGY)))
        return v->wished;
    return job_row(v->m, v->job)->required | p->required | v->wished;
}

/* A host that lacks a domain of a required level holds no pod of the set. */
static bool in_levels(const struct view *v, uint32_t host, const struct podset *p)
{
    uint64_t levels = view_required(v, p);

    if (view_minds(v, LIMIT(TOPOLOGY)) && p->slice_pods)
        levels |= SCOPE_BIT(p->slice_scope);
    levels &= SCOPE_LEVELS;
    for (; levels; levels &= levels - 1) {
        unsigned level = (unsigned)__builtin_ctzll(levels) - SCOPE_OF_LEVEL;

        if (board_row(v->m, host)->domain[level] == ROW_NONE)
            return false;
    }
    return true;
}

bool view_open(const struct view *v, uint32_t host, const struct podset *p)
{
    const struct host *h = host_row(v->m, host);
    const struct kind *k = kind_row(v->m, h->kind);
    const struct class_row *c = class_row(v->m, p->class_id);

    if (h->state == HOST_ABSENT || k->gpus < p->gpus)
        return false;
    if (view_minds(v, LIMIT(HEALTH)) &&
        (h->state != HOST_UP || !host_stays(h, v->at_ns, job_row(v->m, v->job)->est_ns)))
        return false;
    if (view_minds(v, LIMIT(MODEL)) && !(c->models >> k->model & 1))
        return false;
    if (view_minds(v, LIMIT(CLASS)) && !(c->nodes[k->class_id / 64] >> k->class_id % 64 & 1))
        return false;
    return in_levels(v, host, p) && (!exclusive_matters(v) || exclusive_allows(v, host));
}

uint16_t view_healthy(const struct view *v, const struct host *h)
{
    return view_minds(v, LIMIT(HEALTH)) ? h->healthy : (uint16_t)((1u << h->gpus) - 1);
}

uint16_t view_whole(const struct view *v, const struct host *h)
{
    if (!view_minds(v, LIMIT(BUSY)))
        return view_healthy(v, h);
    if (view_minds(v, LIMIT(HEALTH)))
        return h->whole;

    /* Failed devices count as well; those that something still sits on do not. */
    uint16_t held = 0;

    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(v->m, s)->next_of_host)
        held |= seat_row(v->m, s)->devices;
    return (uint16_t)(((1u << h->gpus) - 1) & ~(unsigned)held);
}

uint32_t view_unknown(const struct view *v, const struct host *h, uint16_t within)
{
    uint32_t inside = bits_count16(h->whole & within);
    uint32_t outside = bits_count16(h->whole) - inside;

    if (!view_minds(v, LIMIT(BUSY)))
        return 0;
    if (view_minds(v, LIMIT(UNKNOWN)))
        return h->unknown_gpus < inside ? h->unknown_gpus : inside;
    return h->unknown_gpus > outside ? h->unknown_gpus - outside : 0;
}

uint32_t view_counts(const struct view *v, const struct host *h, const struct podset *p)
{
    const struct kind *k = kind_row(v->m, h->kind);
    bool busy = view_minds(v, LIMIT(BUSY));
    uint32_t most = UINT32_MAX;

    if (view_minds(v, LIMIT(CPU)))
        most = view_times(busy ? h->cpu_free_milli : k->cpu_milli, p->cpu_milli, most);
    if (view_minds(v, LIMIT(MEM)))
        most = view_times(busy ? h->mem_free_mib : k->mem_mib, p->mem_mib, most);
    if (view_minds(v, LIMIT(PODS)))
        most = view_times(busy ? h->pods_free : k->pods, 1, most);
    for (unsigned e = 0; e < EXTRAS_MAX && view_minds(v, LIMIT(EXTRA)); e++)
        most = view_times(busy ? h->extra_free[e] : k->extra[e], p->extra[e], most);
    return most;
}

/* Shares of the set's kind that one device takes beside what it holds. */
static uint32_t shares_on(const struct view *v, uint32_t host, unsigned d, const struct podset *p)
{
    const struct host *h = host_row(v->m, host);
    const struct board *b = board_row(v->m, host);
    bool busy = view_minds(v, LIMIT(BUSY));
    int64_t mib, milli, held;

    /* What the host's own row says is exact for a share in whole milli, and one miss less. */
    if (busy && view_minds(v, LIMIT(HEALTH)) && p->profile == ROW_NONE && !p->share_mib)
        return h->free_milli[d] / p->milli;
    mib = kind_row(v->m, h->kind)->gpu_mem_mib;
    milli = busy ? b->share_milli[d] : 0;
    held = busy ? b->share_mib[d] : 0;
    if (p->profile != ROW_NONE) {
        const struct mig *g = host_mig(v->m, p->profile, kind_row(v->m, h->kind)->model);
        uint32_t used = busy ? b->mig_slots[d] : 0, count = 0;

        if (!g || milli || held)
            return 0;
        for (int slot = host_mig_slot(g, used); slot >= 0; slot = host_mig_slot(g, used)) {
            used |= (uint32_t)(((uint64_t)1 << g->slots) - 1) << slot;
            count++;
        }
        return count;
    }
    if (busy && b->mig_slots[d])
        return 0;
    if (p->share_mib == 0 && held == 0)
        return view_times(MILLI_FULL - milli, p->milli, UINT32_MAX);
    if (mib <= 0)
        return 0;
    return view_times(mib * (MILLI_FULL - milli) - MILLI_FULL * held,
                      p->share_mib ? (int64_t)MILLI_FULL * p->share_mib : mib * p->milli,
                      UINT32_MAX);
}

/* Pods that take one share on each of `each` devices, where room[d] shares fit: as many as need no
 * more of any device than there are pods. */
static uint32_t spread_pods(const uint32_t *room, unsigned devices, unsigned each, uint32_t most)
{
    uint64_t sum = 0;
    uint32_t pods;

    for (unsigned d = 0; d < devices; d++)
        sum += room[d];
    for (pods = sum / each < most ? (uint32_t)(sum / each) : most; pods > 0; pods--) {
        sum = 0;
        for (unsigned d = 0; d < devices; d++)
            sum += room[d] < pods ? room[d] : pods;
        if (sum >= (uint64_t)pods * each)
            break;
    }
    return pods;
}

uint32_t view_pods(const struct view *v, uint32_t host, const struct podset *p, uint16_t within)
{
    const struct host *h = host_row(v->m, host);
    uint32_t most = view_counts(v, h, p), sum = 0;
    uint32_t unknown = view_unknown(v, h, within);

    if (p->gpus == 0 || most == 0)
        return most;
    if (!podset_is_share(p)) {
        uint32_t whole = bits_count16(view_whole(v, h) & within);

        whole = whole > unknown ? whole - unknown : 0;
        return whole / p->gpus < most ? whole / p->gpus : most;
    }

    uint32_t per_card = UINT32_MAX, room[GPUS_MAX] = {0};

    if (view_minds(v, LIMIT(TOPOLOGY)) && !(job_row(v->m, v->job)->flags & JOB_SHARES_CARD))
        per_card = 1;
    for (unsigned d = 0; d < h->gpus && (sum < most || p->gpus > 1); d++) {
        uint32_t n;

        if (!(view_healthy(v, h) & within & 1u << d))
            continue;
        /* Somebody whom nobody can place may sit on any wholly free device. */
        if (unknown && (h->whole >> d & 1)) {
            unknown--;
            continue;
        }
        n = shares_on(v, host, d, p);
        room[d] = n < per_card ? n : per_card;
        sum += room[d];
    }
    if (p->gpus > 1)
        return spread_pods(room, h->gpus, p->gpus, most);
    return sum < most ? sum : most;
}

/* Pods of the set that have ended well: they are not placed again. */
static uint32_t done_of(const struct view *v, const struct podset *p)
{
    uint32_t count = 0;

    for (uint32_t h = job_row(v->m, v->job)->done_head; h != ROW_NONE; h = hold_row(v->m, h)->next)
        count += podset_row(v->m, hold_row(v->m, h)->podset) == p;
    return count;
}

uint32_t podset_least(const struct view *v, const struct podset *p)
{
    uint32_t slice = view_minds(v, LIMIT(TOPOLOGY)) ? p->slice_pods : 0, done = done_of(v, p);
    uint32_t least = slice ? (p->pods_min + slice - 1) / slice * slice : p->pods_min;

    if (done == 0)
        return least;
    /* What is left of it runs, if only by one pod. */
    least = least > done ? least - done : p->pods > done;
    return slice ? (least + slice - 1) / slice * slice : least;
}

uint32_t podset_most(const struct view *v, const struct podset *p)
{
    uint32_t slice = view_minds(v, LIMIT(TOPOLOGY)) ? p->slice_pods : 0, most;

    if (v->least_only)
        return podset_least(v, p);
    most = p->pods - done_of(v, p);
    return slice ? most / slice * slice : most;
}

unsigned view_masks(const struct view *v, uint32_t host, uint64_t scopes, uint16_t *ret_masks)
{
    const struct host *h = host_row(v->m, host);
    uint32_t shape = kind_row(v->m, h->kind)->shape;
    uint16_t all = (uint16_t)bits_first(h->gpus);
    unsigned count = 0;

    if (!(scopes & SCOPE_PARTS)) {
        ret_masks[0] = all;
        return 1;
    }
    for (unsigned d = 0; d < h->gpus && shape != ROW_NONE; d++) {
        uint16_t mask = all;

        for (uint64_t s = scopes & SCOPE_PARTS; s; s = bits_drop_low(s))
            mask &= shape_part_mask(&shape_row(v->m, shape)->shape, bits_low(s), d);
        if (mask && bits_low(mask) == d)
            ret_masks[count++] = mask;
    }
    return count;
}
