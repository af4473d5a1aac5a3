/* Figures of arrival runs. F of a node is recomputed when the node changes and nowhere else. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"

#include <stdlib.h>
#include <string.h>

#define POPULAR_PCT 95
#define RATIO_SCALE 1000000000000LL

struct class_of {
    int64_t cpu_milli;
    uint32_t gpus, milli;
    const struct world_podset *models; /* one ask of the class, for its set of models */
    uint32_t rows;
};

struct host {
    int64_t cpu_milli, mem_mib, pods;
    int32_t free_milli[WORLD_GPUS_MAX];
    int64_t free_total, lost; /* lost: F x rows of all classes */
    bool partly;
    uint32_t eights;
};

struct state {
    bool known;
    int64_t allocated, lost, partly, eights;
};

struct load {
    struct state state;
    uint64_t count, idle_count;
    wide allocated, lost, lost_of_idle;
};

enum size { SIZE_CPU, SIZE_SHARE, SIZE_1, SIZE_2, SIZE_4, SIZE_8, SIZE_OTHER, SIZE_COUNT };

struct openb_part {
    const struct world *world;
    struct host *host;
    struct class_of *class_of;
    size_t class_count, class_limit;
    uint32_t rows; /* of all classes that count */
    int64_t total, asked, hosts_with_gpus;
    struct state now;
    struct load load[METRIC_LOADS];
    uint64_t arrivals, placed, refused[SIZE_COUNT], false_refusals;
};

static bool names(const struct world_podset *set, uint32_t model)
{
    for (uint32_t i = 0; i < set->model_count; i++)
        if (set->model[i] == model)
            return true;
    return false;
}

static bool allows(const struct world_podset *set, uint32_t model)
{
    return set->model_count == 0 || names(set, model);
}

static bool same_models(const struct world_podset *a, const struct world_podset *b)
{
    for (uint32_t i = 0; i < a->model_count; i++)
        if (!names(b, a->model[i]))
            return false;
    for (uint32_t i = 0; i < b->model_count; i++)
        if (!names(a, b->model[i]))
            return false;
    return true;
}

static uint32_t milli_of(const struct world_podset *set)
{
    return set->gpus == 0 ? 0 : set->gpus == 1 ? set->milli : 1000;
}

static void count_class(struct openb_part *p, const struct world_podset *set)
{
    uint32_t milli = milli_of(set);

    for (size_t i = 0; i < p->class_count; i++) {
        struct class_of *c = &p->class_of[i];

        if (c->cpu_milli == set->cpu_milli && c->gpus == set->gpus && c->milli == milli &&
            same_models(c->models, set)) {
            c->rows++;
            return;
        }
    }
    p->class_of = out_grow(p->class_of, p->class_count, &p->class_limit, sizeof(*p->class_of));
    p->class_of[p->class_count++] = (struct class_of){
        .cpu_milli = set->cpu_milli, .gpus = set->gpus, .milli = milli, .models = set, .rows = 1};
}

/* Most popular first, the class seen first among equals; then only as many as make 95 %. */
static void keep_popular(struct openb_part *p, uint32_t row_count)
{
    size_t kept = 0;

    for (size_t i = 1; i < p->class_count; i++) {
        struct class_of c = p->class_of[i];
        size_t at = i;

        for (; at > 0 && p->class_of[at - 1].rows < c.rows; at--)
            p->class_of[at] = p->class_of[at - 1];
        p->class_of[at] = c;
    }
    while (kept < p->class_count && (uint64_t)p->rows * 100 < (uint64_t)row_count * POPULAR_PCT)
        p->rows += p->class_of[kept++].rows;
    p->class_count = kept;
}

static int64_t lost_to(const struct class_of *c, const struct host *h,
                       const struct world_node *node)
{
    int64_t small = 0;
    uint32_t enough = 0;

    if (c->gpus == 0 || c->cpu_milli > h->cpu_milli || !allows(c->models, node->model))
        return h->free_total;
    for (unsigned d = 0; d < node->gpus; d++) {
        if (h->free_milli[d] >= (int32_t)c->milli)
            enough++;
        else
            small += h->free_milli[d];
    }
    return enough >= c->gpus ? small : h->free_total;
}

/* Recounts one host and its part of the sums. */
static void recount(struct openb_part *p, uint32_t n)
{
    const struct world_node *node = &p->world->node[n];
    struct host *h = &p->host[n];
    uint32_t whole = 0;

    p->now.lost -= h->lost;
    p->now.partly -= h->partly;
    p->now.eights -= h->eights;
    h->free_total = 0;
    h->lost = 0;
    for (unsigned d = 0; d < node->gpus; d++) {
        h->free_total += h->free_milli[d];
        whole += h->free_milli[d] == 1000;
    }
    h->partly = h->free_total > 0 && h->free_total < 1000LL * node->gpus;
    h->eights = whole / 8;
    for (size_t i = 0; i < p->class_count && h->free_total > 0; i++)
        h->lost += lost_to(&p->class_of[i], h, node) * p->class_of[i].rows;
    p->now.lost += h->lost;
    p->now.partly += h->partly;
    p->now.eights += h->eights;
}

struct openb_part *openb_part_open(const struct world *w)
{
    struct openb_part *p = memory_zeroed(sizeof(*p));
    uint32_t rows = w->openb ? w->openb->row_count : w->job_count;

    p->world = w;
    p->host = memory_zeroed(sizeof(*p->host) * (w->node_count + 1));
    for (uint32_t r = 0; r < rows; r++)
        count_class(p, &w->job[r].podset[0]);
    keep_popular(p, rows);
    for (uint32_t n = 0; n < w->node_count; n++) {
        struct host *h = &p->host[n];

        h->cpu_milli = w->node[n].cpu_milli;
        h->mem_mib = w->node[n].mem_mib;
        h->pods = w->node[n].pods;
        for (unsigned d = 0; d < w->node[n].gpus; d++)
            h->free_milli[d] = 1000;
        p->total += 1000LL * w->node[n].gpus;
        p->hosts_with_gpus += w->node[n].gpus > 0;
        recount(p, n);
    }
    return p;
}

static int64_t left(int64_t free, int64_t used)
{
    return free == WORLD_UNLIMITED ? free : free - used;
}

static void place(struct openb_part *p, const struct record *r, const struct world_podset *set)
{
    for (uint32_t i = 0; i < r->pod_count; i++) {
        const struct record_pod *pod = &r->pods[i];
        struct host *h = &p->host[pod->node];

        h->cpu_milli = left(h->cpu_milli, set->cpu_milli);
        h->mem_mib = left(h->mem_mib, set->mem_mib);
        h->pods = left(h->pods, 1);
        for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
            if ((uint32_t)pod->devices >> d & 1u) {
                h->free_milli[d] -= (int32_t)milli_of(set);
                p->now.allocated += milli_of(set);
            }
        recount(p, pod->node);
    }
}

static bool holds(const struct openb_part *p, uint32_t n, const struct world_podset *set)
{
    const struct world_node *node = &p->world->node[n];
    const struct host *h = &p->host[n];
    unsigned enough = 0;

    if (set->cpu_milli > h->cpu_milli || set->mem_mib > h->mem_mib || h->pods < 1 ||
        !allows(set, node->model))
        return false;
    for (unsigned d = 0; d < node->gpus; d++)
        enough += h->free_milli[d] >= (int32_t)milli_of(set);
    return enough >= set->gpus;
}

static enum size size_of(const struct world_podset *set)
{
    if (set->gpus == 0)
        return SIZE_CPU;
    if (milli_of(set) < 1000)
        return SIZE_SHARE;
    return set->gpus == 1   ? SIZE_1
           : set->gpus == 2 ? SIZE_2
           : set->gpus == 4 ? SIZE_4
           : set->gpus == 8 ? SIZE_8
                            : SIZE_OTHER;
}

static void refuse(struct openb_part *p, const struct record *r, const struct world_podset *set)
{
    p->refused[size_of(set)]++;
    if (r->fits != RECORD_FITS_NO)
        return;
    for (uint32_t n = 0; n < p->world->node_count; n++)
        if (holds(p, n, set)) {
            p->false_refusals++;
            return;
        }
}

static void sample_load(struct openb_part *p, struct load *load, unsigned pct)
{
    int64_t rounded, idle = p->total - p->now.allocated;

    if (p->asked * 100 <= p->total * (int64_t)pct) {
        load->state = p->now;
        load->state.known = true;
    }
    rounded = p->total ? (p->asked * 200 + p->total) / (p->total * 2) : 0;
    if (rounded != (int64_t)pct)
        return;
    load->count++;
    load->allocated += p->now.allocated;
    load->lost += p->now.lost;
    if (idle > 0 && p->rows > 0) {
        load->idle_count++;
        load->lost_of_idle += (wide)p->now.lost * RATIO_SCALE / ((wide)idle * p->rows);
    }
}

void openb_part_take(struct openb_part *p, const struct record *r)
{
    const struct world_podset *set;

    if (r->kind != RECORD_START && r->kind != RECORD_REFUSE)
        return;
    set = &p->world->job[r->job].podset[0];
    p->arrivals++;
    p->asked += (int64_t)set->gpus * milli_of(set);
    if (r->kind == RECORD_START) {
        p->placed++;
        place(p, r, set);
    } else {
        refuse(p, r, set);
    }
    for (unsigned i = 0; i < METRIC_LOADS; i++)
        sample_load(p, &p->load[i], metric_load[i]);
}

struct metrics_now openb_part_now(const struct openb_part *p)
{
    double all = p->total ? (double)p->total : 1, rows = p->rows ? p->rows : 1;

    return (struct metrics_now){.asked_pct = 100 * (double)p->asked / all,
                                .allocated_pct = 100 * (double)p->now.allocated / all,
                                .frag_pct = 100 * (double)p->now.lost / all / rows};
}

static void put_load(struct openb_part *p, struct metrics *m, enum metric_row row, unsigned i)
{
    const struct load *l = &p->load[i];
    const struct state *s = &l->state;
    int64_t idle = p->total - s->allocated;
    wide all = (wide)p->total * p->rows;
    struct out vary = {0};

    out_integer(&vary, metric_load[i]);
    wide part = 0, whole = 0;
    double scale = 100;
    if (row == METRIC_GAR_AT) {
        part = s->allocated, whole = p->total;
    } else if (row == METRIC_FRAG_AT) {
        part = s->lost, whole = all;
    } else if (row == METRIC_FRAG_IDLE_AT) {
        part = s->lost, whole = (wide)idle * p->rows;
    } else if (row == METRIC_GFR_AT) {
        part = s->partly, whole = p->hosts_with_gpus;
    } else if (row == METRIC_STRANDED8_AT) {
        part = idle - s->eights * 8000, whole = idle, scale = 1;
    } else if (row == METRIC_PUB_GAR_AT) {
        part = l->allocated, whole = (wide)p->total * (wide)l->count;
    } else if (row == METRIC_PUB_FRAG_AT) {
        part = l->lost, whole = all * (wide)l->count;
    } else if (row == METRIC_PUB_FRAG_IDLE_AT) {
        part = l->lost_of_idle, whole = (wide)RATIO_SCALE * (wide)l->idle_count;
    }
    if (row < METRIC_PUB_GAR_AT && !s->known)
        whole = 0;
    metric_ratio(m, row, vary.bytes, part, whole, scale);
    out_free(&vary);
}

void openb_part_put(struct openb_part *p, struct metrics *m)
{
    uint64_t refused = 0;

    for (enum metric_row row = METRIC_GAR_AT; row <= METRIC_PUB_FRAG_IDLE_AT; row++)
        for (unsigned i = 0; i < METRIC_LOADS; i++)
            put_load(p, m, row, i);
    for (unsigned i = 0; i < SIZE_COUNT; i++)
        refused += p->refused[i];
    metric_count(m, METRIC_ARRIVALS, NULL, p->arrivals);
    metric_count(m, METRIC_PLACED, NULL, p->placed);
    metric_count(m, METRIC_REFUSED, NULL, refused);
    for (unsigned i = 0; i < SIZE_COUNT; i++)
        metric_count(m, METRIC_REFUSED_CPU + i, NULL, p->refused[i]);
    metric_ratio(m, METRIC_ARRIVED, NULL, p->asked, p->total, 100);
    metric_count(m, METRIC_FALSE_REFUSALS, NULL, p->false_refusals);
}

void openb_part_close(struct openb_part *p)
{
    free(p->host);
    free(p->class_of);
    free(p);
}
