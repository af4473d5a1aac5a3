#include "core/place/equal.h"

#include "core/base/bits.h"
#include "core/model/index.h"

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
                in = r->domain[l] == ROW_NONE ||
                     board_row(v->m, host[n])->domain[l] == r->domain[l];
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

    if (p->gpus == 0 || !view_minds(v, LIMIT(BUSY)) || !view_minds(v, LIMIT(HEALTH)))
        return false;
    if (!view_minds(v, LIMIT(MODEL)))
        models = UINT64_MAX;
    for (uint32_t c = index_cell_first(v->m, domain); c != ROW_NONE;
         c = index_cell(v->m, c)->next) {
        const struct cell *cell = index_cell(v->m, c);

        if (!(models >> cell->model & 1))
            continue;
        if (podset_is_share(p)) /* free milli is rounded down: one more per host is a bound */
            pods += p->share_mib || p->profile != ROW_NONE
                        ? least
                        : cell->free_milli / p->milli;
        else
            for (unsigned f = p->gpus; f <= GPUS_MAX; f++)
                pods += (uint64_t)cell->by_whole[f] * (f / p->gpus);
        if (pods >= least)
            return false;
    }
    return true;
}

bool equal_fits(struct view *v, const struct podset *p)
{
    uint32_t least = podset_least(v, p);
    uint64_t scopes = view_required(v, p);
    struct region r;

    if (least > podset_most(v, p) || hopeless(v, p, ROW_NONE, least))
        return false;
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

uint32_t equal_most(struct view *v, const struct podset *p)
{
    uint32_t most = 0;
    struct region r;

    region_start(&r, view_required(v, p));
    while (most < p->pods && region_next(v, &r)) {
        uint64_t pods = equal_in_region(v, &r, p, p->pods);

        if (pods > most)
            most = pods < p->pods ? (uint32_t)pods : p->pods;
    }
    return most;
}
