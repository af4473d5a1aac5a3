/* The report for programs. */
#include "edge/audit/report_parts.h"

#include <stdlib.h>
#include <string.h>

/* "name":number with a comma before it unless it is the first. */
static void field(struct out *out, bool first, const char *name, int64_t value)
{
    out_format(out, "%s\"%s\":%lld", first ? "" : ",", name, (long long)value);
}

static void string(struct out *out, bool first, const char *name, const char *value)
{
    out_format(out, "%s\"%s\":", first ? "" : ",", name);
    out_json(out, value);
}

static void capacity_row(const struct report *r, const struct figures_capacity *c, bool all,
                         struct out *out)
{
    const struct facts_model *m = &r->f->model[c->model];

    out_char(out, '{');
    if (!all) {
        string(out, true, "model", facts_name(r->f, m->product));
        string(out, false, "resource", facts_name(r->f, m->resource));
    }
    field(out, all, "nodes", c->nodes);
    field(out, false, "gpus", c->all);
    field(out, false, "held", c->held);
    field(out, false, "free", c->free);
    field(out, false, "unhealthy", c->unhealthy);
    field(out, false, "not_ready", c->not_ready);
    field(out, false, "cordoned", c->cordoned);
    field(out, false, "terminating", c->terminating);
    out_char(out, '}');
}

static void capacity(const struct report *r, struct out *out)
{
    out_add(out, "\"capacity\":{\"all\":");
    capacity_row(r, &r->g->sum, true, out);
    out_add(out, ",\"models\":[");
    for (uint32_t m = 0; m < r->g->model_count; m++) {
        out_add(out, m ? ",\n" : "\n");
        capacity_row(r, &r->g->model[m], false, out);
    }
    out_add(out, "]");
    field(out, false, "gone_pods", r->f->gone_pods);
    field(out, false, "gone_gpus", r->f->gone_gpus);
    field(out, false, "mig_slices", (int64_t)r->f->mig_slices);
    out_add(out, "}");
}

static void shape(const struct report *r, const struct figures_shape *s, struct out *out)
{
    out_char(out, '{');
    field(out, true, "gpus", s->gpus);
    field(out, false, "pods", s->pods);
    field(out, false, "gpus_per_pod", s->pod_gpus);
    string(out, false, "level", books_scope(r->b, s->scope));
    out_format(out, ",\"possible\":%s", s->possible ? "true" : "false");
    field(out, false, "asked_by_pods", s->asked_by);
    if (s->asked_by) {
        field(out, false, "cpu_milli", s->cpu_milli);
        field(out, false, "mem_mib", s->mem_mib);
    }
    if (s->model != FACTS_NONE)
        string(out, false, "model", facts_name(r->f, r->f->model[s->model].product));
    field(out, false, "free", s->free);
    field(out, false, "placements", s->placements);
    field(out, false, "startable", s->startable);
    out_add(out, ",\"stranded\":");
    if (s->stranded_ppm < 0)
        out_add(out, "null");
    else
        out_decimal(out, s->stranded_ppm, 6);
    out_add(out, ",\"causes\":{");
    for (unsigned c = 0; c < CAUSE_COUNT; c++)
        field(out, c == 0, figures_cause_code((enum figures_cause)c), s->cause[c]);
    out_add(out, "}}");
}

static void owner(const struct report *r, const struct figures_owner *o, struct out *out)
{
    out_char(out, '{');
    string(out, true, "job", facts_name(r->f, r->f->job[o->job].name));
    field(out, false, "hosts", o->hosts);
    field(out, false, "gpus", o->gpus);
    field(out, false, "free_beside", o->free);
    out_char(out, '}');
}

static void waiting(const struct report *r, const struct figures_waiting *w, struct out *out)
{
    static const char *const codes[] = {
#define JSON_CODE(name, code, kind, cures, en, zh) code,
        REASON_MAP(JSON_CODE)};
    static const char *const limits[] = {
#define JSON_LIMIT(NAME, text) text,
        LIMIT_MAP(JSON_LIMIT)};
    struct out why = {NULL, 0, 0};
    const char *before = "";

    out_char(out, '{');
    string(out, true, "job", facts_name(r->f, r->f->job[w->job].name));
    field(out, false, "pods", w->pods);
    field(out, false, "pods_least", w->pods_least);
    field(out, false, "gpus", w->gpus);
    if (w->age_s >= 0)
        field(out, false, "age_s", w->age_s);
    string(out, false, "verdict", figures_verdict_code(w->verdict));
    if (!w->blind)
        out_format(out, ",\"fits\":%s", w->fits ? "true" : "false");
    if (!w->fits && !w->blind) {
        string(out, false, "code", codes[w->code]);
        out_add(out, ",\"free_gpus\":");
        out_decimal(out, w->free_milli, 3);
        field(out, false, "best_pods", w->best_pods);
        out_add(out, ",\"binding\":[");
        for (unsigned l = 0; l < BINDING_LIMITS; l++)
            if (w->binding >> l & 1) {
                out_format(out, "%s\"%s\"", before, limits[l]);
                before = ",";
            }
        out_add(out, "]");
    }
    report_why(r, w, &why);
    string(out, false, "why", why.bytes);
    if (w->message)
        string(out, false, "message", facts_name(r->f, w->message));
    out_char(out, '}');
    out_free(&why);
}

static void running(const struct report *r, const struct figures_running *x, struct out *out)
{
    out_char(out, '{');
    string(out, true, "job", facts_name(r->f, r->f->job[x->job].name));
    field(out, false, "pods", x->pods);
    field(out, false, "gpus", x->gpus);
    field(out, false, "hosts", x->hosts);
    string(out, false, "spans", books_scope(r->b, x->scope));
    string(out, false, "possible", books_scope(r->b, x->possible));
    out_char(out, '}');
}

static void hits(const struct report *r, struct out *out)
{
    out_add(out, ",\n\"topology\":{\"sizes\":[");
    for (unsigned s = 0; s < SIZES; s++) {
        const struct figures_hits *h = &r->g->hits[s];

        out_add(out, s ? ",{" : "{");
        string(out, true, "gpus", figures_size_words(s));
        field(out, false, "jobs", h->jobs);
        field(out, false, "hits", h->hits);
        field(out, false, "gpus_all", h->gpus);
        field(out, false, "gpus_hit", h->gpus_hit);
        out_char(out, '}');
    }
    out_add(out, "],\"misses\":[");
    for (size_t n = 0; n < r->g->running_count; n++) {
        out_add(out, n ? ",\n" : "\n");
        running(r, &r->g->running[n], out);
    }
    out_add(out, "]}");
}

static void levels(const struct report *r, struct out *out)
{
    out_add(out, ",\"levels\":[");
    for (uint32_t l = 0; l < r->f->level_count; l++) {
        const struct facts_level *x = &r->f->level[l];

        out_add(out, l ? ",{" : "{");
        string(out, true, "key", facts_name(r->f, x->key));
        field(out, false, "chain", x->chain);
        field(out, false, "domains", x->domains);
        field(out, false, "nodes_without", x->lacking);
        out_char(out, '}');
    }
    out_add(out, "]");
}

static void quality(const struct report *r, struct out *out)
{
    static const char *const names[] = {
#define JSON_ODD(NAME, words) #NAME,
        FACTS_ODD_MAP(JSON_ODD)};
    bool first = true;

    out_add(out, ",\n\"quality\":{");
    field(out, true, "nodes", (int64_t)r->f->node_count);
    field(out, false, "gpu_nodes", r->f->gpu_nodes);
    field(out, false, "pods", (int64_t)r->f->pod_count);
    field(out, false, "other_objects", r->f->other_kinds);
    levels(r, out);
    out_add(out, ",\"odd\":[");
    for (unsigned o = 0; o < ODD_COUNT; o++) {
        const struct facts_odd *x = &r->f->odd[o];

        if (x->count == 0)
            continue;
        out_add(out, first ? "\n{" : ",\n{");
        first = false;
        string(out, true, "what", names[o]);
        string(out, false, "words", facts_odd_words((enum facts_odd_kind)o));
        field(out, false, "count", x->count);
        field(out, false, "gpus", x->gpus);
        string(out, false, "first", facts_name(r->f, x->example));
        out_char(out, '}');
    }
    out_add(out, "]}");
}

void report_json(const struct report *r, struct out *out)
{
    const struct figures *g = r->g;
    struct out story = {NULL, 0, 0};

    report_story(r, &story);
    out_add(out, "{\"format\":\"" REPORT_FORMAT "\",\n");
    string(out, true, "summary", story.bytes);
    out_add(out, ",\n");
    capacity(r, out);
    out_add(out, ",\n\"fragmentation\":[");
    for (size_t n = 0; n < g->shape_count; n++) {
        out_add(out, n ? ",\n" : "\n");
        shape(r, &g->shape[n], out);
    }
    out_add(out, "],\n\"owners\":[");
    for (size_t n = 0; n < g->owner_count; n++) {
        out_add(out, n ? ",\n" : "\n");
        owner(r, &g->owner[n], out);
    }
    out_add(out, "],\n\"waiting\":[");
    for (size_t n = 0; n < g->waiting_count; n++) {
        out_add(out, n ? ",\n" : "\n");
        waiting(r, &g->waiting[n], out);
    }
    out_add(out, "]");
    hits(r, out);
    quality(r, out);
    out_add(out, "}\n");
    out_free(&story);
}
