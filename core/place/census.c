#include "core/place/census.h"

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/place/equal.h"
#include "core/place/exclusive.h"

#define AHEAD 8 /* hosts whose rows are called for before they are needed */

struct memo_key census_key(const struct view *v, const struct podset *p)
{
    const struct class_row *c = class_row(v->m, p->class_id);
    struct memo_key key = {
        .word = {(uint64_t)p->cpu_milli, (uint64_t)p->mem_mib, (uint64_t)p->extra[0],
                 (uint64_t)p->extra[1], view_required(v, p),
                 (uint64_t)p->share_mib << 32 | (uint64_t)p->milli << 16 | (uint64_t)p->gpus << 8 |
                     (job_row(v->m, v->job)->flags & JOB_SHARES_CARD),
                 c->models, c->nodes[0], c->nodes[1], c->nodes[2], c->nodes[3]}};

    _Static_assert(EXTRAS_MAX == 2 && CLASSES_MAX == 256, "the key names each of them");
    return key;
}

struct census census_of(struct view *v, const struct podset *p)
{
    const struct config *c = config_row(v->m);
    struct census t = {.v = v, .p = p};

    if (p->pods > 1 && v->dropped == 0 && p->slice_pods == 0 && p->profile == ROW_NONE &&
        c->leaving_hosts == 0 && !c->scan_all && !exclusive_matters(v)) {
        struct memo_key key = census_key(v, p);

        t.memo = memo_open(v->m, &key);
    }
    return t;
}

uint32_t census_host(struct census *t, uint32_t host)
{
    uint32_t pods;

    if (!t->memo.host)
        return equal_on_host(t->v, host, t->p, UINT16_MAX);
    if (t->memo.host[host] != MEMO_HOST_UNKNOWN)
        return t->memo.host[host];
    pods = equal_on_host(t->v, host, t->p, UINT16_MAX);
    if (pods < MEMO_HOST_UNKNOWN)
        t->memo.host[host] = (uint16_t)pods;
    return pods;
}

static uint64_t in_members(struct census *t, const struct region *r, uint64_t enough)
{
    uint64_t sum = 0;

    for (uint32_t n = 0; n < r->member_count && sum < enough; n++) {
        if (n + AHEAD < r->member_count)
            __builtin_prefetch(host_row(t->v->m, r->members[n + AHEAD]));
        sum += census_host(t, r->members[n]);
    }
    return sum;
}

static uint64_t in_cluster(struct census *t, uint64_t enough)
{
    uint32_t hosts = model_count(t->v->m, TABLE_HOST);
    uint64_t sum = 0;

    for (uint32_t h = 0; h < hosts && sum < enough; h++)
        sum += census_host(t, h);
    return sum;
}

uint64_t census_region(struct census *t, const struct region *r, uint64_t enough)
{
    unsigned levels = bits_count64(r->scopes & SCOPE_LEVELS);
    uint32_t *known;
    uint64_t sum;

    if (!t->memo.host || r->host != ROW_NONE || levels > 1)
        return equal_in_region(t->v, r, t->p, enough);
    if (levels == 0)
        return in_cluster(t, enough);
    known = &t->memo.domain[r->domain[r->first_level]];
    if (*known != MEMO_DOMAIN_UNKNOWN)
        return *known < enough ? *known : enough;
    sum = in_members(t, r, enough);
    if (sum < enough && sum < MEMO_DOMAIN_UNKNOWN)
        *known = (uint32_t)sum;
    return sum;
}
