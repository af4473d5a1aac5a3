#include "core/place/equal.h"

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/place/kinds.h"

uint32_t equal_on_host(struct view *v, uint32_t host, const struct podset *p, uint16_t within)
{
    uint32_t slice = view_minds(v, LIMIT(TOPOLOGY)) ? p->slice_pods : 0;
    uint16_t masks[GPUS_MAX];
    uint32_t sum = 0, most;
    unsigned count;

    v->steps++;
    if (!view_open(v, host, p))
        return 0;
    if (!slice || p->slice_scope > SCOPE_OF_HOST)
        return view_pods(v, host, p, within);
    if (p->slice_scope == SCOPE_OF_HOST)
        return view_pods(v, host, p, within) / slice * slice;
    count = view_masks(v, host, SCOPE_BIT(p->slice_scope), masks);
    for (unsigned n = 0; n < count; n++)
        sum += view_pods(v, host, p, masks[n] & within) / slice * slice;
    most = view_counts(v, host_row(v->m, host), p) / slice * slice;
    return sum < most ? sum : most;
}

/* The first member of the region in the same domain of the slice's level counts for all of it. */
static uint64_t slices_in_region(struct view *v, const struct region *r, const struct podset *p,
                                 uint64_t enough)
{
    unsigned level = p->slice_scope - SCOPE_OF_LEVEL;
    uint32_t domains = model_count(v->m, TABLE_DOMAIN);
    uint64_t sum = 0;

    for (uint32_t d = 0; d < domains && sum < enough; d++) {
        uint32_t count = 0;
        const uint32_t *host;
        uint64_t pods = 0;

        if (!domain_row(v->m, d)->used || domain_row(v->m, d)->level != level)
            continue;
        host = index_members(v->m, d, &count);
        for (uint32_t n = 0; n < count; n++) {
            bool in = true;

            for (unsigned l = 0; l < LEVELS_MAX && in; l++)
                in =
                    r->domain[l] == ROW_NONE || board_row(v->m, host[n])->domain[l] == r->domain[l];
            if (in)
                pods += equal_on_host(v, host[n], p, UINT16_MAX);
        }
        sum += pods / p->slice_pods * p->slice_pods;
    }
    return sum;
}

uint64_t equal_in_region(struct view *v, const struct region *r, const struct podset *p,
                         uint64_t enough)
{
    uint32_t slice = view_minds(v, LIMIT(TOPOLOGY)) ? p->slice_pods : 0;
    uint32_t at = 0;
    uint64_t sum = 0;

    if (slice && p->slice_scope > SCOPE_OF_HOST && p->slice_scope < SCOPE_OF_CLUSTER &&
        r->host == ROW_NONE)
        return slices_in_region(v, r, p, enough);
    for (uint32_t h = region_host(v, r, &at); h != ROW_NONE && sum < enough;
         h = region_host(v, r, &at))
        sum += equal_on_host(v, h, p, r->within);
    return slice ? sum / slice * slice : sum;
}

/* No domain (and no cluster) without that many devices free holds the gang: a look at the counts
 * by shape instead of at the hosts. */
static bool hopeless(const struct view *v, const struct podset *p, uint32_t domain, uint32_t least)
{
    uint64_t models = class_row(v->m, p->class_id)->models, pods = 0;

    if (p->gpus == 0 || !view_minds(v, LIMIT(BUSY)) || !view_minds(v, LIMIT(HEALTH)) ||
        !view_minds(v, LIMIT(UNKNOWN)))
        return false;
    if (!view_minds(v, LIMIT(MODEL)))
        models = UINT64_MAX;
    for (uint32_t c = index_cell_first(v->m, domain); c != ROW_NONE;
         c = index_cell(v->m, c)->next) {
        const struct cell *cell = index_cell(v->m, c);

        if (!(models >> cell->model & 1))
            continue;
        if (podset_is_share(p)) /* free milli is rounded down: one more per host is a bound */
            pods += p->share_mib || p->profile != ROW_NONE ? least : cell->free_milli / p->milli;
        else
            for (unsigned f = p->gpus; f <= GPUS_MAX; f++)
                pods += (uint64_t)cell->by_whole[f] * (f / p->gpus);
        if (pods >= least)
            return false;
    }
    return true;
}

/* ---- hosts by the index ---- */

/* Pods on hosts that lack something; counting stops at enough. */
static uint64_t pods_on_ailing(struct view *v, const struct podset *p, uint64_t enough)
{
    uint64_t sum = 0;

    for (uint32_t h = index_ailing_next(v->m, 0); h != ROW_NONE && sum < enough;
         h = index_ailing_next(v->m, h + 1))
        sum += equal_on_host(v, h, p, UINT16_MAX);
    return sum;
}

static bool is_ailing(const struct view *v, uint32_t host)
{
    return index_ailing_next(v->m, host) == host;
}

/* Could a host of the bin hold a pod of the set? Only what bins tell is asked. */
static bool bin_holds(const struct view *v, const struct kind *k, uint32_t bin,
                      const struct podset *p)
{
    uint32_t cpu = bin % BIN_CPU_STEPS, share = bin / BIN_CPU_STEPS % BIN_SHARE_STEPS;
    uint32_t whole = bin / BIN_CPU_STEPS / BIN_SHARE_STEPS;

    if (!view_minds(v, LIMIT(BUSY)))
        return true;
    /* The middle of the next step is above all of this one. */
    if (view_minds(v, LIMIT(CPU)) && cpu + 1 < BIN_CPU_STEPS &&
        index_bin_cpu(k, whole, cpu + 1) < p->cpu_milli)
        return false;
    if (!podset_is_share(p) || whole > 0)
        return whole >= p->gpus;
    return p->profile != ROW_NONE || p->share_mib || index_share_most(share) >= p->milli;
}

/* True if the bins tell where pods of the set may be: they know the hosts in service and what is
 * known to be free on them, and the index those that ail, but not those that will leave. */
static bool bins_will_do(const struct view *v, const struct podset *p, uint64_t scopes)
{
    return scopes == 0 && (p->slice_pods == 0 || !view_minds(v, LIMIT(TOPOLOGY))) &&
           (view_minds(v, LIMIT(HEALTH)) || config_row(v->m)->leaving_hosts == 0) &&
           config_row(v->m)->unknown_seats == 0 && !config_row(v->m)->scan_all;
}

/* Pods that the hosts of one bin hold; counting stops at enough. */
static uint64_t pods_in_bin(struct view *v, uint32_t breed, uint32_t bin, const struct podset *p,
                            uint64_t enough)
{
    uint64_t sum = 0;

    for (uint32_t slot = index_bin_next(v->m, breed, bin, 0); slot != ROW_NONE && sum < enough;
         slot = index_bin_next(v->m, breed, bin, slot + 1)) {
        uint32_t host = index_slot_host(v->m, breed, slot);

        if (view_minds(v, LIMIT(HEALTH)) || !is_ailing(v, host))
            sum += equal_on_host(v, host, p, UINT16_MAX);
    }
    return sum;
}

/* Pods that the whole cluster holds, from the hosts that the bins propose. */
static uint64_t pods_in_bins(struct view *v, const struct podset *p, uint64_t enough)
{
    uint64_t sum = view_minds(v, LIMIT(HEALTH)) ? 0 : pods_on_ailing(v, p, enough);

    for (uint32_t breed = 0; breed < index_breeds(v->m) && sum < enough; breed++) {
        const struct breed_bins *b = index_breed(v->m, breed);
        const struct kind *k = kind_row(v->m, b->kind);

        if (!kinds_serve(v, p, k))
            continue;
        for (unsigned w = 0; w < BIN_WORDS; w++)
            for (uint64_t f = b->filled[w]; f && sum < enough; f = bits_drop_low(f))
                if (bin_holds(v, k, w * 64 + bits_low(f), p))
                    sum += pods_in_bin(v, breed, w * 64 + bits_low(f), p, enough - sum);
    }
    return sum;
}

bool equal_fits(struct view *v, const struct podset *p)
{
    uint32_t least = podset_least(v, p);
    uint64_t scopes = view_required(v, p);
    struct region r;

    if (least > podset_most(v, p) || hopeless(v, p, ROW_NONE, least))
        return false;
    if (bins_will_do(v, p, scopes))
        return pods_in_bins(v, p, least) >= least;
    region_start(&r, scopes);
    while (region_next(v, &r)) {
        if (r.first_level < LEVELS_MAX && r.host == ROW_NONE &&
            hopeless(v, p, r.domain[r.first_level], least))
            continue;
        if (equal_in_region(v, &r, p, least) >= least)
            return true;
    }
    return false;
}

static uint32_t bounded(uint64_t pods, uint32_t most)
{
    return pods < most ? (uint32_t)pods : most;
}

uint32_t equal_most(struct view *v, const struct podset *p)
{
    uint32_t most = 0;
    struct region r;

    if (bins_will_do(v, p, view_required(v, p)))
        return bounded(pods_in_bins(v, p, p->pods), p->pods);
    region_start(&r, view_required(v, p));
    while (most < p->pods && region_next(v, &r)) {
        uint64_t pods = equal_in_region(v, &r, p, p->pods);

        if (pods > most)
            most = bounded(pods, p->pods);
    }
    return most;
}
