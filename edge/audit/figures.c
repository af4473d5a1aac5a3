#include "edge/audit/figures_parts.h"

#include "core/base/bits.h"
#include "core/model/index.h"

#include <stdlib.h>
#include <string.h>

const char *figures_verdict_code(enum figures_verdict verdict)
{
    static const char *const code[] = {"never", "shortage", "fragmentation", "policy",
                                       "something_else"};

    return code[verdict];
}

#define CAUSE_CODE(NAME, code, words)  code,
#define CAUSE_WORDS(NAME, code, words) words,
static const char *const cause_code[] = {FIGURES_CAUSE_MAP(CAUSE_CODE)};
static const char *const cause_words[] = {FIGURES_CAUSE_MAP(CAUSE_WORDS)};

const char *figures_cause_code(enum figures_cause cause)
{
    return cause_code[cause];
}

const char *figures_cause_words(enum figures_cause cause)
{
    return cause_words[cause];
}

const char *figures_size_words(unsigned size)
{
    static const char *const words[] = {"2-7", "8", "9-15", "16-63", "64+"};

    return words[size];
}

static uint32_t unheld(const struct host *h)
{
    uint32_t whole = bits_count16(h->whole);

    return whole > h->unknown_gpus ? whole - h->unknown_gpus : 0;
}

uint32_t figures_free(const struct books *b, uint32_t host)
{
    const struct host *h = host_row(books_model(b), host);

    return h->state == HOST_UP ? unheld(h) : 0;
}

unsigned figures_ladder(const struct books *b, unsigned *ret_scope)
{
    const struct facts *f = b->f;
    unsigned count = 0;

    ret_scope[count++] = SCOPE_OF_HOST;
    for (uint32_t l = 0; l < f->level_count; l++) {
        unsigned at = count++;

        while (at > 1 &&
               f->level[ret_scope[at - 1] - SCOPE_OF_LEVEL].domains < f->level[l].domains) {
            ret_scope[at] = ret_scope[at - 1];
            at--;
        }
        ret_scope[at] = SCOPE_OF_LEVEL + l;
    }
    ret_scope[count++] = SCOPE_OF_CLUSTER;
    return count;
}

/* Each device of a host in one state. */
static void count_host(struct figures_capacity *c, const struct facts_node *n, const struct host *h)
{
    uint32_t held = h->unknown_gpus, free = unheld(h);

    c->nodes++;
    c->all += n->capacity;
    c->held += held;
    c->unhealthy += n->capacity - held - free;
    c->free += h->state == HOST_UP ? free : 0;
    c->not_ready += h->state == HOST_DOWN ? free : 0;
    c->cordoned += h->state == HOST_DRAIN ? free : 0;
    c->terminating += n->terminating < held ? n->terminating : held;
}

static int by_gpus(const void *a, const void *b)
{
    const struct figures_capacity *x = a, *y = b;

    if (x->all != y->all)
        return x->all < y->all ? 1 : -1;
    return x->model < y->model ? -1 : x->model > y->model;
}

static void add_up(struct figures *g, const struct books *b)
{
    g->model_count = b->f->model_count;
    for (uint32_t m = 0; m < g->model_count; m++)
        g->model[m].model = m;
    for (uint32_t h = 0; h < b->hosts; h++) {
        const struct facts_node *n = &b->f->node[b->node_of[h]];
        const struct host *x = host_row(books_model(b), h);
        uint32_t free = figures_free(b, h);

        count_host(&g->model[n->model], n, x);
        count_host(&g->sum, n, x);
        g->open_hosts += free > 0 && x->unknown_gpus > 0;
    }
    qsort(g->model, g->model_count, sizeof(g->model[0]), by_gpus);
}

/* The podset of the spec that asks the same, or a new one; the last one takes what is too many. */
static struct podset_spec *podset_like(struct job_spec *spec, const struct podset_spec *ask)
{
    for (unsigned n = 0; n < spec->podset_count; n++) {
        struct podset_spec *p = &spec->podset[n];

        if ((p->gpus == ask->gpus && p->cpu_milli == ask->cpu_milli && p->mem_mib == ask->mem_mib &&
             p->class_id == ask->class_id) ||
            n + 1 == PODSETS_MAX)
            return p;
    }
    spec->podset[spec->podset_count] = *ask;
    spec->podset[spec->podset_count].pods = 0;
    return &spec->podset[spec->podset_count++];
}

bool figures_ask(const struct books *b, uint32_t job, enum facts_phase phase, uint32_t only,
                 struct job_spec *ret_spec)
{
    const struct facts *f = b->f;

    *ret_spec = books_spec(0, 0, 0, 0, BOOKS_EVERYWHERE);
    ret_spec->podset_count = 0;
    for (uint32_t p = f->job[job].pod_head; p != FACTS_NONE; p = f->pod_next[p]) {
        const struct facts_pod *x = &f->pod[p];
        struct job_spec one;

        if (x->phase != phase || (only != FACTS_NONE && p != only) ||
            (phase == PHASE_HOLDS && x->node == FACTS_NONE))
            continue;
        one = books_spec(1, x->gpus < GPUS_MAX ? x->gpus : GPUS_MAX, x->cpu_milli, x->mem_mib,
                         phase == PHASE_WAITS ? b->class_of[p]
                                              : BOOKS_MODEL + f->node[x->node].model);
        if (x->gpus > GPUS_MAX) /* no host has so many: an ask that never fits */
            one.podset[0].cpu_milli = UNLIMITED - 1;
        podset_like(ret_spec, &one.podset[0])->pods++;
    }
    for (unsigned n = 0; n < ret_spec->podset_count; n++)
        ret_spec->podset[n].pods_min = ret_spec->podset[n].pods;
    return ret_spec->podset_count > 0;
}

bool figures_alike(const struct job_spec *a, const struct job_spec *b)
{
    if (a->podset_count != b->podset_count || a->required != b->required)
        return false;
    for (unsigned n = 0; n < a->podset_count; n++) {
        const struct podset_spec *x = &a->podset[n], *y = &b->podset[n];

        if (x->gpus != y->gpus || x->pods != y->pods || x->pods_min != y->pods_min ||
            x->cpu_milli != y->cpu_milli || x->mem_mib != y->mem_mib || x->class_id != y->class_id)
            return false;
    }
    return true;
}

void figures_open(struct figures *g, struct books *b, int64_t now_s)
{
    memset(g, 0, sizeof(*g));
    add_up(g, b);
    figures_shapes(g, b);
    figures_owners(g, b);
    figures_waits(g, b, now_s);
    figures_runs(g, b);
}

void figures_close(struct figures *g)
{
    free(g->shape);
    free(g->owner);
    free(g->waiting);
    free(g->running);
    memset(g, 0, sizeof(*g));
}
