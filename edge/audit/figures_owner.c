/* Owners: whose GPUs keep hosts from being whole. */
#include "edge/audit/figures_parts.h"

#include "core/model/index.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>

#define NOBODY FACTS_NONE
#define MANY   (FACTS_NONE - 1)

/* The only job with GPUs on each host, NOBODY or MANY. */
static uint32_t *only_job(const struct books *b)
{
    const struct facts *f = b->f;
    uint32_t *job = memory_grow(NULL, (b->hosts + 1) * sizeof(*job));

    for (uint32_t h = 0; h < b->hosts; h++)
        job[h] = NOBODY;
    for (size_t p = 0; p < f->pod_count; p++) {
        const struct facts_pod *x = &f->pod[p];
        uint32_t *at;

        if (x->phase != PHASE_HOLDS || x->gpus == 0 || x->node == FACTS_NONE ||
            b->host_of[x->node] == FACTS_NONE)
            continue;
        at = &job[b->host_of[x->node]];
        *at = *at == NOBODY || *at == x->job ? x->job : MANY;
    }
    return job;
}

static int by_hosts(const void *a, const void *b)
{
    const struct figures_owner *x = a, *y = b;

    if (x->hosts != y->hosts)
        return x->hosts < y->hosts ? 1 : -1;
    if (x->gpus != y->gpus)
        return x->gpus > y->gpus ? 1 : -1;
    return x->job < y->job ? -1 : x->job > y->job;
}

void figures_owners(struct figures *g, struct books *b)
{
    uint32_t *job = only_job(b), *row = memory_zeroed((b->f->job_count + 1) * sizeof(*row));

    for (uint32_t h = 0; h < b->hosts; h++) {
        uint32_t free = figures_free(b, h);
        struct figures_owner *o;

        if (free == 0 || job[h] == NOBODY || job[h] == MANY)
            continue;
        if (!row[job[h]]) {
            g->owner = out_grow(g->owner, g->owner_count, &g->owner_limit, sizeof(*g->owner));
            g->owner[g->owner_count++].job = job[h];
            row[job[h]] = (uint32_t)g->owner_count;
        }
        o = &g->owner[row[job[h]] - 1];
        o->hosts++;
        o->gpus += host_row(books_model(b), h)->unknown_gpus;
        o->free += free;
    }
    if (g->owner_count)
        qsort(g->owner, g->owner_count, sizeof(*g->owner), by_hosts);
    free(job);
    free(row);
}
