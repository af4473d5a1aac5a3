#include "core/place/choose.h"

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/index.h"
#include "core/place/equal.h"
#include "core/place/kinds.h"

#define CONFINED (SCOPE_PARTS | SCOPE_BIT(SCOPE_OF_HOST))

/* ---- hosts by the index's bins ---- */

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
    if (!podset_is_share(p))
        return whole >= p->gpus;
    return whole > 0 || p->profile != ROW_NONE || p->share_mib ||
           index_share_most(share) >= p->milli;
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

/* ---- does it fit ---- */

/* No kind of host holds a pod, or no host so many, or all of them together do not. */
static bool is_hopeless(const struct view *v, const struct podset *p, const struct bound *b,
                        uint64_t scopes, uint32_t least)
{
    if (least == 0 || config_row(v->m)->scan_all)
        return false;
    if (!bound_allows(b, ROW_NONE, least))
        return true;
    /* Kinds know the hosts in service. */
    if (index_ailing_next(v->m, 0) == ROW_NONE || view_minds(v, LIMIT(HEALTH)))
        if (!kinds_serve(v, p, 0))
            return true;
    for (uint64_t l = scopes & SCOPE_LEVELS; l; l = bits_drop_low(l))
        if (!bound_allows_level(b, bits_low(l) - SCOPE_OF_LEVEL, least))
            return true;
    return scopes & CONFINED && kinds_most(v, p) < least;
}

static bool in_some_region(struct view *v, const struct podset *p, const struct bound *bound,
                           uint64_t scopes, uint32_t least)
{
    struct census t = census_of(v, p);
    struct region r;

    region_start(&r, scopes);
    r.bound = bound;
    r.least = least;
    while (region_next(v, &r))
        if (census_region(&t, &r, least) >= least)
            return true;
    return false;
}

/* Is the question about the empty cluster, whose answer the load of hosts does not change? Nor may
 * it depend on what hosts look like inside. */
static bool is_of_empty(const struct view *v, const struct podset *p, uint64_t scopes)
{
    if (view_minds(v, LIMIT(BUSY)) || config_row(v->m)->scan_all)
        return false;
    if (view_minds(v, LIMIT(HEALTH)) &&
        (index_ailing_next(v->m, 0) != ROW_NONE || config_row(v->m)->leaving_hosts != 0))
        return false;
    return !(scopes & SCOPE_PARTS) && p->profile == ROW_NONE &&
           (p->slice_pods == 0 || p->slice_scope >= SCOPE_OF_HOST);
}

static bool in_empty(struct view *v, const struct podset *p, const struct bound *bound,
                     uint64_t scopes, uint32_t least)
{
    uint32_t dropped = v->dropped | LIMIT(BUSY) | LIMIT(HEALTH) | LIMIT(UNKNOWN);
    struct memo_key key = census_key(v, p);
    bool yes;

    key.word[MEMO_KEY_WORDS - 1] = (uint64_t)p->slice_pods << 32 | least;
    key.word[MEMO_KEY_WORDS - 2] = (uint64_t)p->slice_scope << 32 | dropped;
    if (!memo_recall(v->m, &key, &yes)) {
        yes = in_some_region(v, p, bound, scopes, least);
        memo_note(v->m, &key, yes);
    }
    return yes;
}

bool choose_fits(struct view *v, const struct podset *p)
{
    uint32_t least = podset_least(v, p);
    uint64_t scopes = view_required(v, p);
    struct bound bound = bound_of(v, p);

    if (least > podset_most(v, p) || is_hopeless(v, p, &bound, scopes, least))
        return false;
    if (is_of_empty(v, p, scopes))
        return in_empty(v, p, &bound, scopes, least);
    if (bins_will_do(v, p, scopes))
        return pods_in_bins(v, p, least) >= least;
    return in_some_region(v, p, &bound, scopes, least);
}

static uint32_t bounded(uint64_t pods, uint32_t most)
{
    return pods < most ? (uint32_t)pods : most;
}

uint32_t choose_most(struct view *v, const struct podset *p)
{
    struct bound bound = bound_of(v, p);
    uint32_t most = 0;
    struct census t;
    struct region r;

    if (bins_will_do(v, p, view_required(v, p)))
        return bounded(pods_in_bins(v, p, p->pods), p->pods);
    t = census_of(v, p);
    region_start(&r, view_required(v, p));
    r.bound = &bound;
    r.least = 1;
    while (most < p->pods && region_next(v, &r)) {
        uint64_t pods = census_region(&t, &r, p->pods);

        if (pods > most)
            most = bounded(pods, p->pods);
        r.least = (uint64_t)most + 1;
    }
    return most;
}

/* ---- where ---- */

/* What a walk has found so far. */
struct finding {
    uint64_t pods, least_room, most;
    bool found;
};

/* True if the room is better than all before: the caller keeps the region. */
static bool is_better(struct finding *f, uint64_t room)
{
    bool better = room >= f->pods ? room < f->least_room : !f->found && room > f->most;

    if (room >= f->pods && better) {
        f->least_room = room;
        f->found = true;
    }
    f->most = room > f->most ? room : f->most;
    return better;
}

/* Among single hosts, when the index is asked: the levels named are required of each pod anyway, so
 * that a host without one holds none. */
static bool hosts_will_do(const struct census *t, uint64_t scopes)
{
    return t->memo.host && (scopes & CONFINED) == SCOPE_BIT(SCOPE_OF_HOST) &&
           !(scopes & SCOPE_LEVELS & ~view_required(t->v, t->p));
}

static void among_hosts(struct census *t, uint64_t scopes, struct finding *f, struct region *ret)
{
    uint32_t hosts = model_count(t->v->m, TABLE_HOST);

    for (uint32_t h = 0; h < hosts && f->least_room > f->pods; h++) {
        uint64_t known = t->memo.host[h];

        /* Most hosts are known, and no better than what was found. */
        if (known != MEMO_HOST_UNKNOWN &&
            (known >= f->least_room || (known < f->pods && known <= f->most)))
            continue;
        if (is_better(f, census_host(t, h)))
            region_at_host(t->v, ret, scopes, h);
    }
}

bool choose_tightest(struct census *t, uint64_t scopes, uint32_t pods, uint32_t least,
                     struct region *ret, uint64_t *ret_most)
{
    struct finding f = {.pods = pods, .least_room = UINT64_MAX};
    struct bound bound = bound_of(t->v, t->p);
    struct region r;

    region_start(&r, scopes);
    r.bound = &bound;
    r.least = least;
    *ret_most = 0;
    if (scopes & CONFINED && !config_row(t->v->m)->scan_all && kinds_most(t->v, t->p) < least)
        return false;
    if (hosts_will_do(t, scopes))
        among_hosts(t, scopes, &f, ret);
    else
        while (f.least_room > pods && region_next(t->v, &r)) /* nothing is tighter than no room */
            if (is_better(&f, census_region(t, &r, UINT64_MAX)))
                *ret = r;
    ret->bound = 0; /* it does not outlive this call */
    *ret_most = f.most;
    return f.found;
}

/* ---- hosts ---- */

uint32_t choose_hosts(struct census *t, const struct region *r, struct share *ret)
{
    uint32_t at = 0, count = 0;

    for (uint32_t h = region_host(t->v, r, &at); h != ROW_NONE; h = region_host(t->v, r, &at)) {
        uint32_t pods = t->memo.host && r->host == ROW_NONE
                            ? census_host(t, h)
                            : equal_on_host(t->v, h, t->p, r->within);

        if (pods)
            ret[count++] = (struct share){h, pods};
    }
    return count;
}

/* Pods on the hosts that hold so many or more. */
static uint64_t pods_from(const struct share *share, uint32_t count, uint32_t from)
{
    uint64_t sum = 0;

    for (uint32_t n = 0; n < count; n++)
        sum += share[n].pods >= from ? share[n].pods : 0;
    return sum;
}

/* The largest size such that the hosts of that size and more hold the pods together. */
static uint32_t size_that_holds(const struct share *share, uint32_t count, uint32_t pods)
{
    uint32_t low = 1, high = 1; /* low holds them, what is above high does not */

    for (uint32_t n = 0; n < count; n++)
        high = share[n].pods > high ? share[n].pods : high;
    while (low < high) {
        uint32_t mid = low + (high - low + 1) / 2;

        if (pods_from(share, count, mid) >= pods)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

/* Taking the largest again and again until one holds the rest takes all that are larger than some
 * size, and of that size the first few. The last host is then the smallest that holds the rest. */
uint32_t choose_fewest(struct share *share, uint32_t count, uint32_t pods)
{
    uint32_t size = size_that_holds(share, count, pods), used = 0, last = ROW_NONE;
    uint64_t larger = size < UINT32_MAX ? pods_from(share, count, size + 1) : 0;
    uint32_t full = pods > 0 ? (uint32_t)((pods - larger - 1) / size) : 0, full_left = full;
    uint32_t rest = (uint32_t)(pods - larger - (uint64_t)full * size);

    must(pods == 0 || pods_from(share, count, size) >= pods);
    for (uint32_t n = 0; n < count && pods > 0; n++) {
        uint32_t here = share[n].pods;

        if (here == size && full_left > 0)
            full_left--;
        else if (here <= size && here >= rest && (last == ROW_NONE || here < share[last].pods))
            last = n;
    }
    for (uint32_t n = 0; n < count && pods > 0; n++) {
        uint32_t here = share[n].pods;

        if (n == last)
            share[used++] = (struct share){share[n].host, rest};
        else if (here > size || (here == size && full > 0)) {
            full -= here == size;
            share[used++] = share[n];
        }
    }
    return used;
}
