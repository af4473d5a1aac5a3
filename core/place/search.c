#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/place/kinds.h"
#include "core/place/score.h"

/* How much dearer than the best a bin's guess may be and its hosts still be looked at: guesses are
 * of the middle of a bin. In the unit of the guess, micro-GPU. */
#define SLACK_MICRO   150000
#define BINS_MAX      1024 /* bins that one search sorts */
#define LOOKS_PER_BIN 20   /* hosts of one bin: they differ little */

/* Both searches keep the best spot and the best on another host. */
struct hunt {
    struct view *v;
    const struct podset *p;
    uint64_t scopes;
    struct spot best, second;
    int64_t share_growth[BIN_SHARE_STEPS];
};

static bool spot_before(const struct spot *a, const struct spot *b)
{
    if (b->host == ROW_NONE)
        return true;
    if (a->cost != b->cost)
        return a->cost < b->cost;
    return a->tie != b->tie ? a->tie < b->tie : a->host < b->host;
}

static void look(struct hunt *h, uint32_t host)
{
    struct spot s;

    h->v->steps++;
    if (!view_open(h->v, host, h->p) ||
        !score_confined(h->v, h->p, host, h->scopes, &s, SCORE_COST))
        return;
    if (spot_before(&s, &h->best)) {
        h->second = h->best;
        h->best = s;
    } else if (spot_before(&s, &h->second)) {
        h->second = s;
    }
}

/* Every host in id order: the reference that the index is measured against. */
static void look_at_all(struct hunt *h)
{
    uint32_t hosts = model_count(h->v->m, TABLE_HOST);

    for (uint32_t host = 0; host < hosts; host++)
        look(h, host);
}

/* A bin that may hold hosts for the pod, with the scorer's guess. */
struct proposal {
    int64_t guess;
    uint16_t breed, bin;
    uint32_t next_slot;
};

/* True if hosts of the bin may have the devices for the pod at all. */
static bool bin_serves(const struct podset *p, int64_t milli, uint32_t whole, uint32_t share_step)
{
    if (p->gpus == 0)
        return true;
    if (!podset_is_share(p))
        return whole >= p->gpus;
    if (whole > 0 || p->profile != ROW_NONE || p->share_mib)
        return true;
    return (int64_t)index_share_most(share_step) >= milli;
}

static uint32_t propose_bin(struct hunt *h, uint32_t breed, uint32_t bin, struct proposal *list,
                            uint32_t count)
{
    const struct model *m = h->v->m;
    const struct breed_bins *b = index_breed(m, breed);
    uint32_t cpu = bin % BIN_CPU_STEPS, share = bin / BIN_CPU_STEPS % BIN_SHARE_STEPS;
    struct score_bin guess = {
        .m = m, .podset = h->p, .kind = b->kind, .share_growth = h->share_growth};

    guess.whole = bin / BIN_CPU_STEPS / BIN_SHARE_STEPS;
    guess.milli = podset_milli(m, h->p, b->kind);
    if (h->p->gpus > 1)
        guess.milli /= h->p->gpus;
    if (guess.milli > MILLI_FULL)
        guess.milli = MILLI_FULL; /* too much memory for the first kind, not for all of the breed */
    if (!bin_serves(h->p, guess.milli, guess.whole, share))
        return count;
    guess.broken_max = share ? index_share_most(share) - 1 : 0;
    guess.cpu_free_milli = index_bin_cpu(kind_row(m, b->kind), guess.whole, cpu);
    if (guess.cpu_free_milli < h->p->cpu_milli && cpu + 1 < BIN_CPU_STEPS) {
        /* The middle is too little: only hosts at the upper end may do. */
        int64_t upper = index_bin_cpu(kind_row(m, b->kind), guess.whole, cpu + 1);

        if (upper < h->p->cpu_milli)
            return count;
        guess.cpu_free_milli = h->p->cpu_milli;
    }
    list[count] = (struct proposal){.breed = (uint16_t)breed, .bin = (uint16_t)bin};
    list[count].guess = scorer_get(config_row(m)->scorer)->guess(&guess);
    return count + 1;
}

/* The bins that may serve, in no order; BINS_MAX + 1 if there are too many. */
static uint32_t propose(struct hunt *h, struct proposal *list)
{
    const struct model *m = h->v->m;
    uint64_t models = class_row(m, h->p->class_id)->models;
    uint32_t count = 0;

    for (uint32_t breed = 0; breed < index_breeds(m); breed++) {
        const struct breed_bins *b = index_breed(m, breed);

        if (!(models >> kind_row(m, b->kind)->model & 1) || kind_row(m, b->kind)->gpus < h->p->gpus)
            continue;
        for (unsigned w = 0; w < BIN_WORDS; w++)
            for (uint64_t f = b->filled[w]; f; f = bits_drop_low(f)) {
                if (count == BINS_MAX)
                    return BINS_MAX + 1;
                count = propose_bin(h, breed, w * 64 + bits_low(f), list, count);
            }
    }
    return count;
}

/* A heap of proposals, the cheapest on top; equal ones by breed and bin. */
static bool dearer(const struct proposal *a, const struct proposal *b)
{
    if (a->guess != b->guess)
        return a->guess > b->guess;
    return a->breed != b->breed ? a->breed > b->breed : a->bin > b->bin;
}

static void sink(struct proposal *heap, uint32_t count, uint32_t at)
{
    struct proposal moved = heap[at];

    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && dearer(&heap[child], &heap[child + 1]))
            child++;
        if (!dearer(&moved, &heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Looks at the bin's next hosts; false: the bin has no more. Rows of a large cluster lie far apart:
 * they are all called for before the first is needed. */
static bool look_in_bin(struct hunt *h, struct proposal *p, uint32_t *looks)
{
    uint32_t host[LOOKS_PER_BIN], count = 0;

    while (count < LOOKS_PER_BIN && *looks < SCORE_LOOKS_MAX) {
        uint32_t slot = index_bin_next(h->v->m, p->breed, p->bin, p->next_slot);

        if (slot == ROW_NONE)
            break;
        ++*looks;
        p->next_slot = slot + 1;
        host[count] = index_slot_host(h->v->m, p->breed, slot);
        __builtin_prefetch(host_row(h->v->m, host[count]));
        __builtin_prefetch((const char *)host_row(h->v->m, host[count]) + 64);
        count++;
    }
    for (uint32_t n = 0; n < count; n++)
        look(h, host[n]);
    return count == LOOKS_PER_BIN || *looks >= SCORE_LOOKS_MAX;
}

/* The cheapest bins first, until no bin can beat the best or enough hosts were looked at. Hosts
 * that do not fit after all (CPU, memory, class) do not count as found: then it goes on. */
static void look_by_index(struct hunt *h, struct proposal *heap, uint32_t count)
{
    uint32_t looks = 0;

    for (uint32_t n = count / 2; n-- > 0;)
        sink(heap, count, n);
    while (count > 0) {
        bool found = h->best.host != ROW_NONE;

        if (found && (heap[0].guess > h->best.cost + SLACK_MICRO || looks >= SCORE_LOOKS_MAX))
            return;
        if (!found && looks >= SCORE_LOOKS_MAX) {
            if (!kinds_serve(h->v, h->p, 0))
                return;
            looks = 0; /* a yes must be found if there is one */
        }
        if (look_in_bin(h, &heap[0], &looks) && h->best.host == ROW_NONE)
            continue;
        heap[0] = heap[--count];
        if (count > 0)
            sink(heap, count, 0);
    }
}

enum verdict score_search(struct view *v, const struct podset *p, uint64_t scopes,
                          struct spot *ret_best, struct spot *ret_second)
{
    const struct config *c = config_row(v->m);
    struct hunt h = {v, p, scopes, {.host = ROW_NONE}, {.host = ROW_NONE}, {0}};
    struct proposal list[BINS_MAX];
    uint32_t count = BINS_MAX + 1;

    must(v->dropped == 0);
    for (unsigned n = 0; n < BIN_SHARE_STEPS; n++)
        h.share_growth[n] = INT64_MIN;
    if (!c->scan_all && scorer_get(c->scorer)->guess)
        count = propose(&h, list);
    if (count <= BINS_MAX)
        look_by_index(&h, list, count);
    else
        look_at_all(&h);
    *ret_best = h.best;
    *ret_second = h.second;
    if (h.best.host == ROW_NONE)
        return VERDICT_NO;
    score_confined(v, p, h.best.host, scopes, ret_best, SCORE_FULL);
    if (h.second.host != ROW_NONE)
        score_confined(v, p, h.second.host, scopes, ret_second, SCORE_FULL);
    return VERDICT_FITS;
}
