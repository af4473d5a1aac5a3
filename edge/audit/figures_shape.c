/* Fragmentation by shape: how much of what is free such jobs could use, and what keeps the rest. */
#include "edge/audit/figures_parts.h"

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/place/equal.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>

#define ASKED_MAX 8 /* shapes of the dump's own pods that are shown */
#define PPM       1000000

static uint32_t largest_divisor(uint32_t gpus, uint32_t limit)
{
    for (uint32_t d = limit < gpus ? limit : gpus; d > 1; d--)
        if (gpus % d == 0)
            return d;
    return 1;
}

static uint32_t largest_host(const struct books *b)
{
    uint32_t most = 0;

    for (uint32_t h = 0; h < b->hosts; h++) {
        uint32_t gpus = b->f->node[b->node_of[h]].capacity;

        most = gpus > most ? gpus : most;
    }
    return most;
}

static uint32_t domains_of(const struct books *b)
{
    uint32_t sum = 0;

    for (uint32_t l = 0; l < b->f->level_count; l++)
        sum = sum > b->f->level[l].domains ? sum : b->f->level[l].domains;
    return sum;
}

/* Adds so many pods of a host to its domain of the scope; returns placements completed. slot[0]
 * serves the host and the cluster. */
static int64_t fill(const struct books *b, uint32_t host, unsigned scope, uint32_t pods,
                    int64_t held, int64_t *slot)
{
    int64_t *at = slot, done;

    if (scope == SCOPE_OF_HOST)
        return held / pods;
    if (scope < SCOPE_OF_CLUSTER) {
        uint32_t domain = b->f->node[b->node_of[host]].domain[scope - SCOPE_OF_LEVEL];

        if (domain == FACTS_NONE)
            return 0;
        at += domain;
    }
    *at += held;
    done = *at / pods;
    *at -= done * pods;
    return done;
}

/* True if some domain of the scope holds the shape when nothing runs and all works. */
static bool holds_empty(const struct books *b, const struct figures_shape *s, unsigned scope)
{
    int64_t *slot = memory_zeroed((domains_of(b) + 1) * sizeof(*slot)), placements = 0;

    for (uint32_t h = 0; h < b->hosts; h++)
        placements +=
            fill(b, h, scope, s->pods, b->f->node[b->node_of[h]].capacity / s->pod_gpus, slot);
    free(slot);
    return placements > 0;
}

static void choose_scope(const struct books *b, struct figures_shape *s)
{
    s->scope = SCOPE_OF_CLUSTER;
    s->possible = holds_empty(b, s, SCOPE_OF_CLUSTER);
    if (s->pods == 1) {
        s->scope = SCOPE_OF_HOST;
        return;
    }
    for (uint32_t l = b->f->level_count; l-- > 0;) /* of a chain the small ones come first */
        if (b->f->level[l].chain == 0 && holds_empty(b, s, SCOPE_OF_LEVEL + l))
            s->scope = SCOPE_OF_LEVEL + l;
}

/* Placements at once with these limits left out; GPUs that only the hosts' remainder holds. */
static int64_t placements(struct books *b, const struct figures_shape *s, uint32_t job,
                          uint32_t dropped, int64_t *ret_remainder)
{
    const struct model *m = books_model(b);
    const struct podset *p = podset_row(m, job_row(m, job)->podset_head);
    struct view v = view_of(m, job);
    int64_t *slot = memory_zeroed((domains_of(b) + 1) * sizeof(*slot)), sum = 0;

    v.dropped = dropped;
    *ret_remainder = 0;
    for (uint32_t h = 0; h < b->hosts; h++) {
        uint32_t pods = equal_on_host(&v, h, p, UINT16_MAX);

        sum += fill(b, h, s->scope, s->pods, pods, slot);
        *ret_remainder += figures_free(b, h) - (int64_t)pods * s->pod_gpus;
    }
    free(slot);
    return sum;
}

/* Every limit left out beside those before it: what each alone adds, and so all add up. */
static void find_causes(struct books *b, struct figures_shape *s, uint32_t job)
{
    static const struct {
        enum figures_cause cause;
        uint32_t limit;
    } order[] = {{CAUSE_PODS, LIMIT(PODS)},
                 {CAUSE_MEM, LIMIT(MEM)},
                 {CAUSE_CPU, LIMIT(CPU)},
                 {CAUSE_CLASS, LIMIT(CLASS)},
                 {CAUSE_MODEL, LIMIT(MODEL)}};
    uint32_t dropped = 0;
    int64_t remainder, before, after;

    s->startable = before = placements(b, s, job, 0, &remainder);
    for (unsigned n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
        dropped |= order[n].limit;
        after = placements(b, s, job, dropped, &remainder);
        s->cause[order[n].cause] = (after - before) * s->gpus;
        before = after;
    }
    s->placements = before;
    s->cause[CAUSE_HOST] = remainder;
    s->cause[CAUSE_DOMAIN] = s->free - before * s->gpus - remainder;
}

static void measure(struct figures *g, struct books *b, struct figures_shape s)
{
    struct job_spec spec = books_spec(GPUS_MAX, s.pod_gpus, s.cpu_milli, s.mem_mib, s.class_id);
    uint32_t job;

    choose_scope(b, &s);
    if (!s.possible && !s.asked_by)
        return;
    s.free = g->sum.free;
    job = books_ask(b, &spec);
    find_causes(b, &s, job);
    books_unask(b);
    s.stranded_ppm = s.free ? PPM - (int64_t)s.gpus * s.placements * PPM / s.free : -1;
    g->shape = out_grow(g->shape, g->shape_count, &g->shape_limit, sizeof(*g->shape));
    g->shape[g->shape_count++] = s;
}

/* A kind of pods that the dump has, by what one of them asks. */
struct kind_asked {
    struct figures_shape shape;
    uint32_t first; /* pod */
};

static int by_count(const void *a, const void *b)
{
    const struct kind_asked *x = a, *y = b;

    if (x->shape.asked_by != y->shape.asked_by)
        return x->shape.asked_by < y->shape.asked_by ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Where such a pod may go: as it says while it waits, on its node's model once it runs. */
static uint32_t class_of(const struct books *b, uint32_t pod)
{
    const struct facts_pod *x = &b->f->pod[pod];

    if (x->phase == PHASE_WAITS)
        return b->class_of[pod];
    return BOOKS_MODEL + b->f->node[x->node].model;
}

static struct kind_asked *kinds_asked(struct books *b, size_t *ret_count)
{
    struct facts *f = b->f;
    struct kind_asked *kind = NULL;
    struct out key = {NULL, 0, 0};
    size_t limit = 0;

    *ret_count = 0;
    for (uint32_t p = 0; p < f->pod_count; p++) {
        const struct facts_pod *x = &f->pod[p];
        uint32_t row, number, before = f->names.count;

        if (x->phase == PHASE_OVER || x->gpus == 0 || x->gpus > GPUS_MAX || x->shares ||
            (x->phase == PHASE_HOLDS &&
             (x->node == FACTS_NONE || f->node[x->node].model == FACTS_NONE)))
            continue;
        out_clear(&key);
        out_format(&key, "k:%u,%lld,%lld,%u", x->gpus, (long long)x->cpu_milli,
                   (long long)x->mem_mib, class_of(b, p));
        number = names_put(&f->names, key.bytes);
        if (number == before) { /* new: its number tells its row from now on */
            kind = out_grow(kind, *ret_count, &limit, sizeof(*kind));
            kind[*ret_count] = (struct kind_asked){
                .first = p,
                .shape = {.gpus = x->gpus,
                          .pod_gpus = x->gpus,
                          .pods = 1,
                          .model = x->phase == PHASE_HOLDS ? f->node[x->node].model : FACTS_NONE,
                          .cpu_milli = x->cpu_milli,
                          .mem_mib = x->mem_mib,
                          .class_id = class_of(b, p)}};
            facts_number_put(f, number, (uint32_t)(*ret_count)++);
        }
        row = facts_number(f, number);
        if (kind)
            kind[row].shape.asked_by++;
    }
    out_free(&key);
    return kind;
}

void figures_shapes(struct figures *g, struct books *b)
{
    static const uint32_t standard[] = {1, 2, 4, 8, 16, 64};
    uint32_t most = largest_host(b);
    size_t count;
    struct kind_asked *kind;

    if (most == 0)
        return;
    for (size_t n = 0; n < sizeof(standard) / sizeof(standard[0]); n++) {
        struct figures_shape s = {.gpus = standard[n],
                                  .pod_gpus = largest_divisor(standard[n], most),
                                  .model = FACTS_NONE,
                                  .class_id = BOOKS_ANYBODY};

        s.pods = s.gpus / s.pod_gpus;
        measure(g, b, s);
    }
    kind = kinds_asked(b, &count);
    if (count)
        qsort(kind, count, sizeof(*kind), by_count);
    for (size_t n = 0; n < count && n < ASKED_MAX; n++)
        measure(g, b, kind[n].shape);
    free(kind);
}
