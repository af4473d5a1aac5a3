#include "core/place/region.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/model/index.h"

#define CONFINED (SCOPE_PARTS | SCOPE_BIT(SCOPE_OF_HOST))

void region_start(struct region *r, uint64_t scopes)
{
    uint64_t levels = scopes & SCOPE_LEVELS;

    memset(r, 0, sizeof(*r));
    memset(r->domain, 0xFF, sizeof(r->domain));
    r->host = ROW_NONE;
    r->scopes = scopes;
    r->within = UINT16_MAX;
    r->first_level = levels ? bits_low(levels) - SCOPE_OF_LEVEL : LEVELS_MAX;
}

void region_at_host(const struct view *v, struct region *r, uint64_t scopes, uint32_t host)
{
    region_start(r, scopes);
    r->host = host;
    r->within = (uint16_t)bits_first(host_row(v->m, host)->gpus);
}

/* True if the host is in a domain of every required level. */
static bool in_all(const struct view *v, const struct region *r, uint32_t host)
{
    for (uint64_t l = r->scopes & SCOPE_LEVELS; l; l = bits_drop_low(l))
        if (board_row(v->m, host)->domain[bits_low(l) - SCOPE_OF_LEVEL] == ROW_NONE)
            return false;
    return true;
}

/* True if no earlier member of the first level's domain stands for the same combination. */
static bool stands_for_new(struct view *v, const struct region *r, uint32_t n)
{
    const struct board *b = board_row(v->m, r->members[n]);

    for (uint32_t e = 0; e < n; e++) {
        const struct board *earlier = board_row(v->m, r->members[e]);
        bool same = true;

        v->steps++;
        for (uint64_t l = r->scopes & SCOPE_LEVELS; l && same; l = bits_drop_low(l)) {
            unsigned level = bits_low(l) - SCOPE_OF_LEVEL;

            same = earlier->domain[level] == b->domain[level];
        }
        if (same)
            return false;
    }
    return true;
}

/* The domain is no matter of the walk, or cannot hold what is wanted. */
static bool passes_over(const struct view *v, const struct region *r, uint32_t domain)
{
    const struct domain *d = domain_row(v->m, domain);

    return !d->used || d->level != r->first_level ||
           (r->bound && !bound_allows(r->bound, domain, r->least));
}

static bool next_combination(struct view *v, struct region *r)
{
    uint32_t domains = model_count(v->m, TABLE_DOMAIN);
    bool one_level = bits_count64(r->scopes & SCOPE_LEVELS) == 1;

    for (;;) {
        while (r->next_member < r->member_count) {
            uint32_t n = r->next_member++, host = r->members[n];

            if (!in_all(v, r, host) || !stands_for_new(v, r, n))
                continue;
            for (uint64_t l = r->scopes & SCOPE_LEVELS; l; l = bits_drop_low(l)) {
                unsigned level = bits_low(l) - SCOPE_OF_LEVEL;

                r->domain[level] = board_row(v->m, host)->domain[level];
            }
            if (one_level)
                r->next_member = r->member_count;
            return true;
        }
        while (r->next_domain < domains && passes_over(v, r, r->next_domain))
            r->next_domain++;
        if (r->next_domain == domains)
            return false;
        v->steps++;
        r->members = index_members(v->m, r->next_domain++, &r->member_count);
        r->next_member = 0;
    }
}

static bool next_host(struct view *v, struct region *r)
{
    uint32_t hosts = model_count(v->m, TABLE_HOST);

    while (r->mask_next == r->mask_count) {
        while (r->next_member < hosts && (host_row(v->m, r->next_member)->state == HOST_ABSENT ||
                                          !in_all(v, r, r->next_member)))
            r->next_member++;
        if (r->next_member == hosts)
            return false;
        v->steps++;
        r->host = r->next_member++;
        r->mask_count = view_masks(v, r->host, r->scopes, r->masks);
        r->mask_next = 0;
    }
    r->within = r->masks[r->mask_next++];
    return true;
}

bool region_next(struct view *v, struct region *r)
{
    if (r->scopes & CONFINED)
        return next_host(v, r);
    if (r->first_level < LEVELS_MAX)
        return next_combination(v, r);
    return r->next_domain++ == 0;
}

uint32_t region_host(const struct view *v, const struct region *r, uint32_t *at)
{
    if (r->scopes & CONFINED)
        return (*at)++ == 0 ? r->host : ROW_NONE;
    if (r->first_level == LEVELS_MAX)
        return *at < model_count(v->m, TABLE_HOST) ? (*at)++ : ROW_NONE;
    while (*at < r->member_count) {
        uint32_t host = r->members[(*at)++];
        bool in = true;

        for (uint64_t l = r->scopes & SCOPE_LEVELS; l && in; l = bits_drop_low(l)) {
            unsigned level = bits_low(l) - SCOPE_OF_LEVEL;

            in = board_row(v->m, host)->domain[level] == r->domain[level];
        }
        if (in)
            return host;
    }
    return ROW_NONE;
}
