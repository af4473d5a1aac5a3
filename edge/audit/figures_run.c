/* Running gangs: the scope that each spans, beside the smallest that an empty cluster offers. */
#include "edge/audit/figures_parts.h"

#include "core/place/gang.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>

struct known {
    struct job_spec spec;
    unsigned scope;
};

struct memory {
    struct known *known;
    size_t count, limit;
};

struct ladder {
    unsigned scope[LEVELS_MAX + 2], count;
};

static bool same(const struct books *b, unsigned scope, uint32_t first, uint32_t other)
{
    const struct facts_node *x = &b->f->node[first], *y = &b->f->node[other];
    unsigned level = scope - SCOPE_OF_LEVEL;

    if (scope == SCOPE_OF_HOST)
        return first == other;
    return scope == SCOPE_OF_CLUSTER ||
           (x->domain[level] != FACTS_NONE && x->domain[level] == y->domain[level]);
}

/* True if one domain of the scope contains the pods; only: one pod. */
static bool contains(const struct books *b, unsigned scope, uint32_t job, uint32_t only)
{
    const struct facts *f = b->f;
    uint32_t first = FACTS_NONE;

    for (uint32_t p = f->job[job].pod_head; p != FACTS_NONE; p = f->pod_next[p]) {
        if (f->pod[p].phase != PHASE_HOLDS || f->pod[p].node == FACTS_NONE ||
            (only != FACTS_NONE && p != only))
            continue;
        first = first == FACTS_NONE ? f->pod[p].node : first;
        if (!same(b, scope, first, f->pod[p].node))
            return false;
    }
    return true;
}

static unsigned spanned(const struct books *b, const struct ladder *l, uint32_t job, uint32_t only)
{
    unsigned at = 0;

    while (!contains(b, l->scope[at], job, only))
        at++;
    return l->scope[at];
}

static unsigned smallest(struct books *b, const struct ladder *l, const struct job_spec *spec)
{
    uint32_t job = books_ask(b, spec);
    unsigned at = 0;

    for (; at + 1 < l->count; at++) {
        struct view v = view_of(books_model(b), job);

        v.dropped = LIMIT(BUSY) | LIMIT(HEALTH) | LIMIT(UNKNOWN);
        v.wished = (uint64_t)1 << l->scope[at];
        if (gang_fits(&v) == VERDICT_FITS)
            break;
    }
    books_unask(b);
    return l->scope[at];
}

static unsigned smallest_known(struct books *b, const struct ladder *l, struct memory *memory,
                               const struct job_spec *spec)
{
    size_t n = 0;

    while (n < memory->count && !figures_alike(&memory->known[n].spec, spec))
        n++;
    if (n == memory->count) {
        memory->known = out_grow(memory->known, n, &memory->limit, sizeof(*memory->known));
        memory->known[n].spec = *spec;
        memory->known[n].scope = smallest(b, l, spec);
        memory->count++;
    }
    return memory->known[n].scope;
}

static unsigned size_of(uint32_t gpus)
{
    return gpus < 8    ? SIZE_2
           : gpus == 8 ? SIZE_8
           : gpus < 16 ? SIZE_9
           : gpus < 64 ? SIZE_16
                       : SIZE_64;
}

static unsigned place_in(const struct ladder *l, unsigned scope)
{
    unsigned at = 0;

    while (l->scope[at] != scope)
        at++;
    return at;
}

static uint32_t hosts_of(const struct facts *f, uint32_t job, uint32_t only, uint32_t *mark,
                         uint32_t serial)
{
    uint32_t hosts = 0;

    for (uint32_t p = f->job[job].pod_head; p != FACTS_NONE; p = f->pod_next[p])
        if (f->pod[p].phase == PHASE_HOLDS && f->pod[p].node != FACTS_NONE &&
            (only == FACTS_NONE || p == only) && mark[f->pod[p].node] != serial) {
            mark[f->pod[p].node] = serial;
            hosts++;
        }
    return hosts;
}

/* What the walk over all jobs carries along. */
struct walk {
    struct figures *g;
    struct books *b;
    struct ladder ladder;
    struct memory memory;
    uint32_t *mark, serial;
};

static void look_at(struct walk *w, uint32_t job, uint32_t only)
{
    struct figures *g = w->g;
    struct job_spec spec;
    struct figures_running r = {.job = job};
    struct figures_hits *hits;

    if (!figures_ask(w->b, job, PHASE_HOLDS, only, &spec))
        return;
    for (unsigned n = 0; n < spec.podset_count; n++) {
        r.pods += spec.podset[n].pods;
        r.gpus += spec.podset[n].pods * spec.podset[n].gpus;
    }
    if (r.gpus < 2)
        return;
    r.scope = spanned(w->b, &w->ladder, job, only);
    r.possible =
        r.scope == SCOPE_OF_HOST ? r.scope : smallest_known(w->b, &w->ladder, &w->memory, &spec);
    r.hosts = hosts_of(w->b->f, job, only, w->mark, ++w->serial);
    hits = &g->hits[size_of(r.gpus)];
    hits->jobs++;
    hits->gpus += r.gpus;
    if (place_in(&w->ladder, r.scope) <= place_in(&w->ladder, r.possible)) {
        hits->hits++;
        hits->gpus_hit += r.gpus;
        return;
    }
    g->running = out_grow(g->running, g->running_count, &g->running_limit, sizeof(*g->running));
    g->running[g->running_count++] = r;
}

static int by_gpus(const void *a, const void *b)
{
    const struct figures_running *x = a, *y = b;

    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? 1 : -1;
    return x->job < y->job ? -1 : x->job > y->job;
}

void figures_runs(struct figures *g, struct books *b)
{
    const struct facts *f = b->f;
    struct walk w = {.g = g, .b = b};

    w.ladder.count = figures_ladder(b, w.ladder.scope);
    w.mark = memory_zeroed((f->node_count + 1) * sizeof(*w.mark));
    for (uint32_t j = 0; j < f->job_count; j++) {
        if (!f->job[j].holding)
            continue;
        if (f->job[j].gang) {
            look_at(&w, j, FACTS_NONE);
            continue;
        }
        for (uint32_t p = f->job[j].pod_head; p != FACTS_NONE; p = f->pod_next[p])
            look_at(&w, j, p);
    }
    if (g->running_count)
        qsort(g->running, g->running_count, sizeof(*g->running), by_gpus);
    free(w.mark);
    free(w.memory.known);
}
