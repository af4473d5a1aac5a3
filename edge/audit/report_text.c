/* The report for a terminal. */
#include "edge/audit/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH     96
#define ROWS_MOST 20 /* of a list; the rest is counted */

static void heading(const struct report *r, struct out *out, const char *text)
{
    out_format(out, "\n%s%s%s\n", r->colour ? "\033[1m" : "", text, r->colour ? "\033[0m" : "");
}

static void cell(struct out *out, const char *text, size_t width, bool right)
{
    size_t columns = out_columns(text), pad = columns < width ? width - columns : 0;

    for (size_t n = 0; right && n < pad; n++)
        out_char(out, ' ');
    out_add(out, text);
    for (size_t n = 0; !right && n < pad; n++)
        out_char(out, ' ');
}

static void number(struct out *out, int64_t value, size_t width)
{
    struct out text = {NULL, 0, 0};

    out_integer(&text, value);
    cell(out, text.bytes, width, true);
    out_free(&text);
}

static void share(struct out *out, int64_t ppm, size_t width)
{
    struct out text = {NULL, 0, 0};

    report_share(&text, ppm, ppm < 0 ? 0 : 1000000);
    cell(out, text.bytes, width, true);
    out_free(&text);
}

/* Breaks the text at blanks. */
static void paragraph(struct out *out, const char *text)
{
    size_t column = 0;

    while (*text) {
        size_t word = strcspn(text, " ");

        if (column && column + 1 + word > WIDTH) {
            out_char(out, '\n');
            column = 0;
        } else if (column) {
            out_char(out, ' ');
            column++;
        }
        out_bytes(out, text, word);
        column += word;
        text += word + (text[word] == ' ');
    }
    out_char(out, '\n');
}

static void capacity_line(const struct figures_capacity *c, const char *name, struct out *out)
{
    const uint32_t column[] = {c->nodes,     c->all,       c->held,     c->free,
                               c->unhealthy, c->not_ready, c->cordoned, c->terminating};

    cell(out, name, 34, false);
    for (size_t n = 0; n < sizeof(column) / sizeof(column[0]); n++)
        number(out, column[n], n < 2 ? 7 : 9);
    out_char(out, '\n');
}

static void capacity(const struct report *r, struct out *out)
{
    char shown[SHOWN_BYTES];

    heading(r, out, "Capacity: GPUs by model and state");
    out_add(out, "model                               nodes   GPUs     held     free  unhealthy "
                 "notready cordoned  (ending)\n");
    for (uint32_t m = 0; m < r->g->model_count; m++)
        capacity_line(&r->g->model[m], report_model(r, r->g->model[m].model, shown), out);
    if (r->g->model_count > 1)
        capacity_line(&r->g->sum, "all", out);
    if (r->f->gone_pods)
        out_format(out, "%u pods on nodes that are not in the dump ask %u GPUs more.\n",
                   r->f->gone_pods, r->f->gone_gpus);
}

static void shape_name(const struct report *r, const struct figures_shape *s, struct out *out)
{
    char shown[SHOWN_BYTES];

    out_format(out, "%u", s->gpus);
    if (s->pods > 1)
        out_format(out, " (%u x %u)", s->pods, s->pod_gpus);
    if (s->asked_by) {
        out_format(out, ", %lld CPU, ", (long long)((s->cpu_milli + 999) / 1000));
        out_format(out, "%lld GiB", (long long)((s->mem_mib + 1023) / 1024));
        if (s->model != FACTS_NONE)
            out_format(out, ", %.16s", report_model(r, s->model, shown));
    }
}

static void causes(const struct figures_shape *s, struct out *out)
{
    const char *before = "  ";

    for (unsigned c = 0; c < CAUSE_COUNT; c++)
        if (s->cause[c]) {
            out_format(out, "%s%s %lld", before, figures_cause_code((enum figures_cause)c),
                       (long long)s->cause[c]);
            before = ", ";
        }
}

/* A label's key without its prefix. */
static const char *short_scope(const struct report *r, unsigned scope)
{
    const char *key = books_scope(r->b, scope), *slash = strrchr(key, '/');

    return slash ? slash + 1 : key;
}

static void shape_line(const struct report *r, const struct figures_shape *s, struct out *out)
{
    struct out name = {NULL, 0, 0};

    shape_name(r, s, &name);
    cell(out, name.bytes, 38, false);
    cell(out, short_scope(r, s->scope), 17, false);
    out_char(out, ' ');
    if (s->possible) {
        number(out, s->startable, 9);
        share(out, s->stranded_ppm, 10);
        causes(s, out);
    } else {
        out_add(out, "  not even an empty cluster holds one");
    }
    out_char(out, '\n');
    out_free(&name);
}

/* The words of the causes that occur. */
static void legend(const struct report *r, struct out *out)
{
    for (unsigned c = 0; c < CAUSE_COUNT; c++) {
        bool occurs = false;

        for (size_t n = 0; n < r->g->shape_count; n++)
            occurs |= r->g->shape[n].possible && r->g->shape[n].cause[c] != 0;
        if (occurs)
            out_format(out, "  %s: %s\n", figures_cause_code((enum figures_cause)c),
                       figures_cause_words((enum figures_cause)c));
    }
}

static void fragmentation(const struct report *r, struct out *out)
{
    bool asked = false;

    heading(r, out, "Fragmentation: what the free GPUs are good for");
    out_add(out, "GPUs of one job                       in one            could start  stranded  "
                 "free GPUs kept from it by\n");
    for (size_t n = 0; n < r->g->shape_count; n++) {
        if (r->g->shape[n].asked_by && !asked)
            out_add(out, "what pods here ask:\n");
        asked |= r->g->shape[n].asked_by > 0;
        shape_line(r, &r->g->shape[n], out);
    }
    legend(r, out);
}

static void owners(const struct report *r, struct out *out)
{
    char shown[SHOWN_BYTES];

    if (r->g->open_hosts == 0)
        return;
    heading(r, out, "Owners: who alone keeps hosts from being whole");
    out_format(out, "%u hosts are partly used.\n", r->g->open_hosts);
    if (r->g->owner_count)
        out_add(out, "  hosts  GPUs held  free beside  job\n");
    for (size_t n = 0; n < r->g->owner_count && n < ROWS_MOST; n++) {
        const struct figures_owner *o = &r->g->owner[n];

        number(out, o->hosts, 7);
        number(out, o->gpus, 11);
        number(out, o->free, 13);
        out_format(out, "  %s\n", report_name(r, r->f->job[o->job].name, shown));
    }
    if (r->g->owner_count > ROWS_MOST)
        out_format(out, "  and %zu more\n", r->g->owner_count - ROWS_MOST);
}

static void waiting(const struct report *r, struct out *out)
{
    static const char *const colour[] = {"\033[31m", "\033[33m", "\033[35m", "\033[36m", ""};
    struct out age = {NULL, 0, 0};
    char shown[SHOWN_BYTES];

    if (r->g->waiting_count == 0)
        return;
    heading(r, out, "Waiting jobs, the oldest first");
    for (size_t n = 0; n < r->g->waiting_count && n < ROWS_MOST; n++) {
        const struct figures_waiting *w = &r->g->waiting[n];

        out_clear(&age);
        report_age(&age, w->age_s);
        out_format(out, "  %s%-14s%s %8s  %4u GPUs in %u %s  %s\n",
                   r->colour ? colour[w->verdict] : "", figures_verdict_code(w->verdict),
                   r->colour && *colour[w->verdict] ? "\033[0m" : "", age.bytes, w->gpus, w->pods,
                   w->pods == 1 ? "pod" : "pods", report_name(r, r->f->job[w->job].name, shown));
        out_add(out, "                 ");
        report_why(r, w, out);
        out_char(out, '\n');
    }
    if (r->g->waiting_count > ROWS_MOST)
        out_format(out, "  and %zu more\n", r->g->waiting_count - ROWS_MOST);
    out_free(&age);
}

static void running(const struct report *r, struct out *out)
{
    uint32_t jobs = 0;
    char shown[SHOWN_BYTES];

    for (unsigned s = 0; s < SIZES; s++)
        jobs += r->g->hits[s].jobs;
    if (jobs == 0)
        return;
    heading(r, out, "Running jobs of two GPUs or more: as close together as they could be?");
    out_add(out, "  GPUs     jobs   as close as possible\n");
    for (unsigned s = 0; s < SIZES; s++) {
        const struct figures_hits *h = &r->g->hits[s];

        if (h->jobs == 0)
            continue;
        out_format(out, "  %-6s%7u%7u  (", figures_size_words(s), h->jobs, h->hits);
        report_share(out, h->hits, h->jobs);
        out_add(out, ")\n");
    }
    for (size_t n = 0; n < r->g->running_count && n < ROWS_MOST; n++) {
        const struct figures_running *x = &r->g->running[n];

        out_format(out, "  %u GPUs on %u hosts, in one %s; one %s would hold it: %s\n", x->gpus,
                   x->hosts, short_scope(r, x->scope), short_scope(r, x->possible),
                   report_name(r, r->f->job[x->job].name, shown));
    }
    if (r->g->running_count > ROWS_MOST)
        out_format(out, "  and %zu more\n", r->g->running_count - ROWS_MOST);
}

static void levels(const struct report *r, struct out *out)
{
    const struct facts *f = r->f;

    if (f->level_count == 0)
        out_add(out, "  No label names a level above the host; --levels KEY,... says which do.\n");
    for (uint32_t l = 0; l < f->level_count; l++) {
        char shown[SHOWN_BYTES];

        out_format(out, "  level %s: %u %s", report_name(r, f->level[l].key, shown),
                   f->level[l].domains, f->level[l].domains == 1 ? "domain" : "domains");
        if (f->level[l].lacking)
            out_format(out, ", %u of %u nodes lack it", f->level[l].lacking, f->gpu_nodes);
        out_char(out, '\n');
    }
}

static void quality(const struct report *r, struct out *out)
{
    const struct facts *f = r->f;
    char shown[SHOWN_BYTES];

    heading(r, out, "What this stands on");
    out_format(out, "  %zu nodes (%u with GPUs), %zu pods, %u other objects\n", f->node_count,
               f->gpu_nodes, f->pod_count, f->other_kinds);
    levels(r, out);
    for (unsigned o = 0; o < ODD_COUNT; o++) {
        const struct facts_odd *x = &f->odd[o];

        if (x->count == 0)
            continue;
        out_format(out, "  %u: %s", x->count, facts_odd_words((enum facts_odd_kind)o));
        if (x->gpus)
            out_format(out, " (%lld GPUs)", (long long)x->gpus);
        if (x->example)
            out_format(out, "; first: %s", report_name(r, x->example, shown));
        out_char(out, '\n');
    }
}

void report_text(const struct report *r, struct out *out)
{
    struct out story = {NULL, 0, 0};

    report_story(r, &story);
    paragraph(out, story.bytes);
    out_free(&story);
    if (r->g->sum.all > 0) {
        capacity(r, out);
        fragmentation(r, out);
        owners(r, out);
    }
    waiting(r, out);
    running(r, out);
    quality(r, out);
}
