#include "core/place/equal.h"

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
