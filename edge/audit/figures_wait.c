/* Waiting jobs: would they start now, and if not, what is in their way. */
#include "edge/audit/figures_parts.h"

#include "core/base/bits.h"
#include "core/place/gang.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

/* An answer that jobs which ask the same share. */
struct known {
    struct job_spec spec;
    struct figures_waiting answer;
};

struct memory {
    struct known *known;
    size_t count, limit;
};

static bool fits_without(const struct model *m, uint32_t job, uint32_t dropped)
{
    struct view v = view_of(m, job);

    v.dropped = dropped;
    return gang_fits(&v) == VERDICT_FITS;
}

static enum figures_verdict verdict_of(const struct refusal *r, bool by_class)
{
    if (r->never)
        return FIT_NEVER;
    if (r->fits == VERDICT_UNPROVEN || by_class)
        return FIT_OTHER;
    return r->free_milli < r->ask_milli ? FIT_SHORTAGE : FIT_FRAGMENTED;
}

/* The core's answer: nothing of it depends on who asks. */
static void ask_core(struct books *b, const struct job_spec *spec, struct figures_waiting *w)
{
    uint32_t job = books_ask(b, spec);
    const struct model *m = books_model(b);
    struct view v = view_of(m, job);
    enum verdict verdict = gang_fits(&v);

    w->fits = verdict == VERDICT_FITS;
    w->verdict = FIT_OTHER;
    w->scope = spec->required ? bits_low(spec->required) : SCOPE_OF_CLUSTER;
    if (!w->fits) {
        struct refusal r = explain_refusal(m, job, verdict);

        w->by_class = !r.never && fits_without(m, job, LIMIT(CLASS));
        w->code = r.code;
        w->binding = r.binding;
        w->best_pods = r.best_pods;
        w->free_milli = r.free_milli;
        w->ask_milli = r.ask_milli;
        w->verdict = verdict_of(&r, w->by_class);
    }
    books_unask(b);
}

static void answer(struct books *b, struct memory *memory, const struct job_spec *spec,
                   struct figures_waiting *w)
{
    size_t n = 0;

    while (n < memory->count && !figures_alike(&memory->known[n].spec, spec))
        n++;
    if (n == memory->count) {
        memory->known = out_grow(memory->known, n, &memory->limit, sizeof(*memory->known));
        memory->known[n].spec = *spec;
        memory->count++;
        ask_core(b, spec, &memory->known[n].answer);
    }
    *w = memory->known[n].answer;
}

/* Pods that must start together: of a gang all that wait, or what its minimum still lacks. */
static void set_least(const struct facts *f, uint32_t job, struct job_spec *spec)
{
    const struct facts_job *j = &f->job[job];
    uint32_t least = j->waiting, left;

    if (!j->gang)
        least = 1;
    else if (j->pods_least)
        least = j->pods_least > j->holding ? j->pods_least - j->holding : 1;
    least = least < j->waiting ? least : j->waiting;
    left = least;
    for (unsigned n = 0; n < spec->podset_count; n++) {
        struct podset_spec *p = &spec->podset[n];

        p->pods_min = p->pods < left ? p->pods : left;
        left -= p->pods_min;
    }
}

static uint64_t required_of(const struct books *b, uint32_t key)
{
    const struct facts *f = b->f;

    if (!key)
        return 0;
    if (strcmp(facts_name(f, key), "kubernetes.io/hostname") == 0)
        return (uint64_t)1 << SCOPE_OF_HOST;
    for (uint32_t l = 0; l < f->level_count; l++)
        if (f->level[l].key == key)
            return (uint64_t)1 << (SCOPE_OF_LEVEL + l);
    return 0;
}

/* What only the pods themselves say. */
static void add_words(struct facts *f, uint32_t job, int64_t now_s, struct figures_waiting *w)
{
    int64_t oldest = 0;

    for (uint32_t p = f->job[job].pod_head; p != FACTS_NONE; p = f->pod_next[p]) {
        const struct facts_pod *x = &f->pod[p];

        if (x->phase != PHASE_WAITS)
            continue;
        w->gate = w->gate ? w->gate : x->gate;
        w->message = w->message ? w->message : x->message;
        w->affine |= x->affine;
        w->claims |= x->claims;
        if (x->created_s && (!oldest || x->created_s < oldest))
            oldest = x->created_s;
    }
    w->age_s = oldest && now_s > oldest ? now_s - oldest : -1;
    w->blind = f->node_count == 0;
    if (w->blind)
        w->verdict = w->message && strstr(facts_name(f, w->message), "Insufficient") ? FIT_SHORTAGE
                                                                                     : FIT_OTHER;
    if (w->gate)
        w->verdict = strstr(facts_name(f, w->gate), "kueue") ? FIT_POLICY : FIT_OTHER;
    else if (w->claims)
        w->verdict = FIT_OTHER;
    else if (!w->blind && w->fits && w->message &&
             strstr(facts_name(f, w->message), "Insufficient"))
        facts_odd(f, ODD_STALE, f->job[job].name, f->job[job].gpus_waiting);
}

static int by_age(const void *a, const void *b)
{
    const struct figures_waiting *x = a, *y = b;

    if (x->age_s != y->age_s)
        return x->age_s < y->age_s ? 1 : -1;
    return x->job < y->job ? -1 : x->job > y->job;
}

void figures_waits(struct figures *g, struct books *b, int64_t now_s)
{
    struct facts *f = b->f;
    struct memory memory = {NULL, 0, 0};

    for (uint32_t j = 0; j < f->job_count; j++) {
        struct figures_waiting w;
        struct job_spec spec;

        if (!f->job[j].waiting || !figures_ask(b, j, PHASE_WAITS, FACTS_NONE, &spec))
            continue;
        set_least(f, j, &spec);
        for (uint32_t p = f->job[j].pod_head; p != FACTS_NONE; p = f->pod_next[p])
            if (f->pod[p].phase == PHASE_WAITS)
                spec.required |= required_of(b, f->pod[p].level_key);
        answer(b, &memory, &spec, &w);
        w.job = j;
        w.pods = f->job[j].waiting;
        w.gpus = f->job[j].gpus_waiting;
        w.pods_least = 0;
        for (unsigned n = 0; n < spec.podset_count; n++)
            w.pods_least += spec.podset[n].pods_min;
        add_words(f, j, now_s, &w);
        g->waiting = out_grow(g->waiting, g->waiting_count, &g->waiting_limit, sizeof(*g->waiting));
        g->waiting[g->waiting_count++] = w;
        g->waiting_gpus += w.gpus;
        g->waiting_by[w.verdict]++;
        g->gpus_by[w.verdict] += w.gpus;
    }
    if (g->waiting_count)
        qsort(g->waiting, g->waiting_count, sizeof(*g->waiting), by_age);
    free(memory.known);
}
