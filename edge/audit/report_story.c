/* The paragraph that comes first: the findings that matter, and what to do about them. */
#include "edge/audit/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define PPM 1000000

static const char *plural(int64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

static void say_capacity(const struct report *r, struct out *out)
{
    const struct figures_capacity *c = &r->g->sum;
    uint32_t lost = c->unhealthy + c->not_ready + c->cordoned;

    out_format(out, "%u of %u GPUs on %u %s are held (", c->held, c->all, c->nodes,
               plural(c->nodes, "node", "nodes"));
    report_share(out, c->held, c->all);
    out_format(out, "), %u are free", c->free);
    if (lost)
        out_format(out, " and %u are out of service or cordoned", lost);
    out_add(out, ".");
}

static const struct figures_shape *shape_of(const struct report *r, uint32_t gpus)
{
    for (size_t n = 0; n < r->g->shape_count; n++)
        if (r->g->shape[n].gpus == gpus && !r->g->shape[n].asked_by)
            return &r->g->shape[n];
    return NULL;
}

/* The shape that loses most, of those that a cluster of this size is made for. */
static const struct figures_shape *worst_shape(const struct report *r)
{
    static const uint32_t order[] = {8, 16, 64, 4};
    const struct figures_shape *worst = NULL;

    for (size_t n = 0; n < sizeof(order) / sizeof(order[0]); n++) {
        const struct figures_shape *s = shape_of(r, order[n]);

        if (s && s->possible && s->free >= s->gpus && s->stranded_ppm > PPM / 10 &&
            (!worst || s->stranded_ppm > worst->stranded_ppm + PPM / 5))
            worst = s;
    }
    return worst;
}

static enum figures_cause main_cause(const struct figures_shape *s)
{
    enum figures_cause main = CAUSE_HOST;

    for (unsigned c = 0; c < CAUSE_COUNT; c++)
        if (s->cause[c] > s->cause[main])
            main = (enum figures_cause)c;
    return main;
}

static void say_fragments(const struct report *r, struct out *out)
{
    const struct figures_shape *s = worst_shape(r);

    if (!s) {
        if (r->g->sum.free > 0 && shape_of(r, 8) && shape_of(r, 8)->stranded_ppm <= PPM / 10)
            out_add(out, " What is free lies together: nine tenths or more of it could serve jobs "
                         "of 8 GPUs.");
        return;
    }
    out_add(out, " Of the free GPUs ");
    report_share(out, s->stranded_ppm, PPM);
    out_format(out,
               " are of no use to a job of %u: %lld such %s could start. Most are kept by: %s.",
               s->gpus, (long long)s->startable, plural(s->startable, "job", "jobs"),
               figures_cause_words(main_cause(s)));
}

static void say_waiting(const struct report *r, struct out *out)
{
    static const char *const words[] = {"can never start as they ask", "wait for cards",
                                        "wait for shape, not for cards", "are held back by policy",
                                        "wait for something else"};
    static const char *const word[] = {"can never start as it asks", "waits for cards",
                                       "waits for shape, not for cards", "is held back by policy",
                                       "waits for something else"};
    const struct figures *g = r->g;
    const char *before = ": ";

    if (g->waiting_count == 0) {
        out_add(out, " No job with GPUs waits.");
        return;
    }
    out_format(out, " %zu %s for %u GPUs", g->waiting_count,
               plural((int64_t)g->waiting_count, "job waits", "jobs wait"), g->waiting_gpus);
    for (unsigned v = 0; v < FIT_KINDS; v++)
        if (g->waiting_by[v]) {
            out_format(out, "%s%u %s", before, g->waiting_by[v],
                       g->waiting_by[v] == 1 ? word[v] : words[v]);
            before = ", ";
        }
    out_add(out, ".");
}

static void say_running(const struct report *r, struct out *out)
{
    uint32_t jobs = 0, hits = 0;

    for (unsigned s = 0; s < SIZES; s++) {
        jobs += r->g->hits[s].jobs;
        hits += r->g->hits[s].hits;
    }
    if (jobs > hits)
        out_format(out, " %u of %u running jobs of two GPUs or more %s spread wider than %s.",
                   jobs - hits, jobs, plural(jobs - hits, "is", "are"),
                   plural(jobs - hits, "it needs to be", "they need to be"));
}

/* One thing to do first, chosen by what holds back most. */
static void say_first(const struct report *r, struct out *out)
{
    const struct figures *g = r->g;
    char shown[SHOWN_BYTES];

    if (r->f->odd[ODD_OVERBOOKED].count || r->f->odd[ODD_TWO_CLUSTERS].count) {
        out_add(out, " First of all: the dump contradicts itself (see the last section); look at "
                     "that before you believe the rest.");
        return;
    }
    if (g->waiting_by[FIT_NEVER])
        out_add(out, " First of all: change the asks that can never be met; waiting will not "
                     "help them.");
    else if ((g->waiting_by[FIT_FRAGMENTED] || worst_shape(r)) && g->owner_count)
        out_format(out,
                   " First of all: look at %s, which alone keeps %u %s from being whole with %u "
                   "%s; moved together, they would set %lld free in one piece.",
                   report_name(r, r->f->job[g->owner[0].job].name, shown), g->owner[0].hosts,
                   plural(g->owner[0].hosts, "host", "hosts"), g->owner[0].gpus,
                   plural(g->owner[0].gpus, "GPU", "GPUs"),
                   (long long)g->owner[0].free + g->owner[0].gpus);
    else if (g->sum.cordoned + g->sum.not_ready > g->sum.all / 10)
        out_add(out, " First of all: bring nodes back that are cordoned or not ready.");
    else if (g->waiting_by[FIT_SHORTAGE])
        out_add(out, " First of all: there are too few cards for what waits; no rearranging "
                     "changes that.");
}

void report_story(const struct report *r, struct out *out)
{
    if (r->g->sum.all == 0) {
        out_format(out,
                   "No GPUs: the dump has %zu nodes and %zu pods, and no node offers a "
                   "resource that is known to be a GPU.",
                   r->f->node_count, r->f->pod_count);
        if (r->f->mig_slices)
            out_format(out, " It has %llu MIG slices, which this report does not count.",
                       (unsigned long long)r->f->mig_slices);
        if (r->f->node_count == 0)
            out_add(out, " Was the dump made with `kubectl get nodes,pods -A -o json`?");
        else
            out_add(out, " If they have a name of their own, give it with --gpu-resource.");
        if (r->g->waiting_count)
            say_waiting(r, out);
        return;
    }
    say_capacity(r, out);
    say_fragments(r, out);
    say_waiting(r, out);
    say_running(r, out);
    say_first(r, out);
}
