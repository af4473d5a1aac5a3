#include "core/place/shapes.h"

#include "core/base/bits.h"
#include "core/model/index.h"

/* The levels of the first chain, the smallest first. */
struct chain {
    uint8_t level[LEVELS_MAX];
    unsigned levels;
};

static struct chain first_chain(const struct model *m)
{
    struct chain ret = {.levels = 0};

    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        unsigned at = ret.levels;

        if (!level_row(m, l)->used || level_row(m, l)->chain != 0)
            continue;
        for (; at > 0 && level_row(m, ret.level[at - 1])->rank > level_row(m, l)->rank; at--)
            ret.level[at] = ret.level[at - 1];
        ret.level[at] = (uint8_t)l;
        ret.levels++;
    }
    return ret;
}

/* Hosts of the domain with all their devices free, of one model. */
static uint32_t free_hosts(const struct model *m, uint32_t domain, uint32_t model, uint32_t gpus)
{
    for (uint32_t c = index_cell_first(m, domain); c != ROW_NONE; c = index_cell(m, c)->next)
        if (index_cell(m, c)->model == model)
            return index_cell(m, c)->by_whole[gpus];
    return 0;
}

/* Is one host of domain a better one to open than one of b? Both have some. */
static bool is_better(const struct model *m, const struct chain *x, const struct kind *k,
                      uint32_t a, uint32_t b)
{
    const struct board *c = board_row(m, a), *d = board_row(m, b);

    for (unsigned l = 0; l < x->levels; l++) {
        uint32_t left = c->domain[x->level[l]], right = d->domain[x->level[l]], e, f;

        if (left == right || left == ROW_NONE || right == ROW_NONE)
            break;
        e = free_hosts(m, left, k->model, k->gpus);
        f = free_hosts(m, right, k->model, k->gpus);
        if (e != f)
            return e < f;
    }
    return a < b;
}

/* The first host of the domain that is just like the one given. */
static uint32_t twin_in(struct view *v, const struct podset *p, uint32_t domain, uint32_t host)
{
    const struct host *h = host_row(v->m, host);
    uint32_t count = 0;
    const uint32_t *member = index_members(v->m, domain, &count);

    for (uint32_t n = 0; n < count; n++) {
        const struct host *x = host_row(v->m, member[n]);

        if (x->kind == h->kind && x->whole == h->whole && x->unknown_gpus == h->unknown_gpus &&
            x->cpu_free_milli == h->cpu_free_milli && x->mem_free_mib == h->mem_free_mib &&
            x->pods_free == h->pods_free && view_open(v, member[n], p))
            return member[n];
    }
    return ROW_NONE;
}

void shapes_move(struct view *v, const struct podset *p, uint64_t scopes, struct spot *spot)
{
    const struct model *m = v->m;
    const struct host *h = host_row(m, spot->host);
    const struct kind *k = kind_row(m, h->kind);
    struct chain x = first_chain(m);
    uint32_t best = spot->host;
    struct spot moved;

    if (p->gpus == 0 || x.levels == 0 || h->whole != bits_first(k->gpus) ||
        h->seat_head != ROW_NONE)
        return;
    for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++) {
        uint32_t host;

        if (!domain_row(m, d)->used || domain_row(m, d)->level != x.level[0] ||
            free_hosts(m, d, k->model, k->gpus) == 0)
            continue;
        host = twin_in(v, p, d, spot->host);
        if (host != ROW_NONE && is_better(m, &x, k, host, best))
            best = host;
    }
    if (best != spot->host && score_confined(v, p, best, scopes, &moved, SCORE_FULL) &&
        moved.cost <= spot->cost)
        *spot = moved;
}
