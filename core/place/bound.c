#include "core/place/bound.h"

#include "core/model/index.h"

struct bound bound_of(const struct view *v, const struct podset *p)
{
    const struct config *c = config_row(v->m);
    struct bound b = {.view = v,
                      .podset = p,
                      .models = class_row(v->m, p->class_id)->models,
                      .by = BOUND_NONE,
                      .ailing_too = !view_minds(v, LIMIT(HEALTH))};
    bool by_milli = p->share_mib == 0 && p->profile == ROW_NONE;

    if (!view_minds(v, LIMIT(MODEL)))
        b.models = UINT64_MAX;
    if (p->gpus == 0 || c->scan_all || (podset_is_share(p) && !by_milli))
        return b;
    if (!view_minds(v, LIMIT(BUSY)))
        b.by = BOUND_DEVICES;
    else if (view_minds(v, LIMIT(UNKNOWN)) || c->unknown_seats == 0)
        b.by = podset_is_share(p) ? BOUND_SHARES : BOUND_WHOLE;
    return b;
}

/* So many pods on each device of the domain, or on devices taken together. */
static uint64_t on_devices(const struct podset *p, uint64_t devices)
{
    return podset_is_share(p) ? devices * (MILLI_FULL / p->milli) : devices / p->gpus;
}

/* Host by host, as the counts by shape tell. */
static uint64_t on_whole(const struct podset *p, const struct cell *c)
{
    uint64_t pods = 0;

    for (unsigned f = p->gpus, times = 1; f <= GPUS_MAX; times++)
        for (unsigned end = f + p->gpus; f < end && f <= GPUS_MAX; f++)
            pods += (uint64_t)c->by_whole[f] * times;
    return pods;
}

bool bound_allows(const struct bound *b, uint32_t domain, uint64_t pods)
{
    const struct podset *p = b->podset;
    const struct domain_sum *sum = index_sum(b->view->m, domain);
    uint64_t most;

    if (b->by == BOUND_NONE)
        return true;
    if (b->by == BOUND_DEVICES)
        return on_devices(p, sum->devices) >= pods;
    most = b->ailing_too ? on_devices(p, sum->ailing) : 0;
    if (most >= pods)
        return true;
    if (b->by == BOUND_WHOLE && most + sum->whole / p->gpus < pods)
        return false;
    for (uint32_t c = index_cell_first(b->view->m, domain); c != ROW_NONE && most < pods;
         c = index_cell(b->view->m, c)->next) {
        const struct cell *cell = index_cell(b->view->m, c);

        if (b->models >> cell->model & 1)
            most += b->by == BOUND_WHOLE ? on_whole(p, cell) : cell->free_milli / p->milli;
    }
    return most >= pods;
}

bool bound_allows_level(const struct bound *b, unsigned level, uint64_t pods)
{
    const struct level_most *most;

    if (b->by == BOUND_NONE || b->by == BOUND_SHARES)
        return true;
    most = index_level_most(b->view->m, level);
    return on_devices(b->podset, b->by == BOUND_DEVICES ? most->devices
                                 : b->ailing_too        ? most->whole_ailing
                                                        : most->whole) >= pods;
}
