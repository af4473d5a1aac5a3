/* Collects the runs and writes the page, one section per workload. */
#include "edge/sim/report.h"

#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRID         240
#define POLICIES_MAX 32
#define PARTS_MAX    7 /* the colours that are not the first policies' */
#define DAY_NS       86400e9
#define HOUR_NS      3600e9

/* A policy within one workload. */
struct entry {
    const char *name;
    unsigned colour;
    uint32_t runs;
};

struct section {
    const struct report *report;
    const struct summary *summary;
    const char *workload, *baseline;
    bool arrivals;
    uint32_t entry_count;
    struct entry entry[POLICIES_MAX];
};

static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(memory_grow(NULL, bytes), text, bytes);
}

struct report *report_open(const char *version)
{
    struct report *r = memory_zeroed(sizeof(*r));

    r->version = copy(version);
    return r;
}

void report_close(struct report *r)
{
    for (size_t i = 0; i < r->run_count; i++) {
        free(r->run[i].workload);
        free(r->run[i].policy);
        free(r->run[i].found);
    }
    free(r->run);
    free(r->version);
    free(r);
}

void report_add(struct report *r, const char *workload, const char *policy, int64_t seed,
                const struct series *series)
{
    struct series_found *found = memory_zeroed(sizeof(*found));

    *found = *series_found(series);
    r->run = out_grow(r->run, r->run_count, &r->run_limit, sizeof(*r->run));
    r->run[r->run_count++] = (struct report_run){
        .workload = copy(workload), .policy = copy(policy), .seed = seed, .found = found};
}

/* Position of the policy among all of the report: its colour. */
static unsigned colour_of(const struct report *r, const char *policy)
{
    unsigned colour = 0;

    for (size_t i = 0; i < r->run_count; i++) {
        size_t first = 0;

        if (strcmp(r->run[i].policy, policy) == 0)
            break;
        while (strcmp(r->run[first].policy, r->run[i].policy) != 0)
            first++;
        colour += first == i;
    }
    return colour;
}

static bool belongs(const struct report_run *run, const struct section *s, uint32_t entry)
{
    return strcmp(run->workload, s->workload) == 0 &&
           strcmp(run->policy, s->entry[entry].name) == 0;
}

static void find_entries(struct section *s)
{
    const struct report *r = s->report;

    for (size_t i = 0; i < r->run_count; i++) {
        uint32_t e = 0;

        if (strcmp(r->run[i].workload, s->workload) != 0)
            continue;
        s->arrivals = r->run[i].found->arrivals;
        while (e < s->entry_count && strcmp(s->entry[e].name, r->run[i].policy) != 0)
            e++;
        if (e == POLICIES_MAX)
            continue;
        if (e == s->entry_count)
            s->entry[s->entry_count++] =
                (struct entry){.name = r->run[i].policy, .colour = colour_of(r, r->run[i].policy)};
        s->entry[e].runs++;
    }
}

/* --- lines --- */

static void line_open(struct svg_line *l, const struct entry *e, uint32_t limit)
{
    *l = (struct svg_line){.name = e->name, .colour = e->colour};
    l->x = memory_zeroed(sizeof(double) * 4 * (limit + 1));
    l->mean = l->x + limit + 1;
    l->low = l->mean + limit + 1;
    l->high = l->low + limit + 1;
}

/* One more point from the values that the seeds have there. */
static void line_add(struct svg_line *l, double x, const double *value, uint32_t count)
{
    double sum = 0, low = (double)INFINITY, high = -(double)INFINITY;

    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        sum += value[i];
        low = fmin(low, value[i]);
        high = fmax(high, value[i]);
    }
    l->x[l->count] = x;
    l->mean[l->count] = sum / count;
    l->low[l->count] = low;
    l->high[l->count] = high;
    l->count++;
}

static double value_of(const struct series_point *p, bool second)
{
    return (second ? p->second : p->allocated) / p->weight;
}

static void load_line(const struct section *s, uint32_t e, bool second, uint32_t from,
                      struct svg_line *line)
{
    double *value = memory_zeroed(sizeof(double) * (s->report->run_count + 1));

    for (uint32_t load = from; load < SERIES_LOAD_MAX; load++) {
        uint32_t count = 0;

        for (size_t i = 0; i < s->report->run_count; i++) {
            const struct series_found *f = s->report->run[i].found;

            if (belongs(&s->report->run[i], s, e) && load <= f->last && f->point[load].weight > 0)
                value[count++] = value_of(&f->point[load], second);
        }
        if (count < s->entry[e].runs)
            break; /* a mean over fewer seeds would jump */
        line_add(line, load, value, count);
    }
    free(value);
}

static double time_span(const struct section *s)
{
    double span = 1;

    for (size_t i = 0; i < s->report->run_count; i++) {
        const struct series_found *f = s->report->run[i].found;

        if (strcmp(s->report->run[i].workload, s->workload) == 0)
            span = fmax(span, (double)(f->end_ns - f->start_ns));
    }
    return span;
}

static void time_line(const struct section *s, uint32_t e, bool second, struct svg_line *line)
{
    double *value = memory_zeroed(sizeof(double) * (s->report->run_count + 1));
    double span = time_span(s), unit = span > 3 * DAY_NS ? DAY_NS : HOUR_NS;

    for (uint32_t k = 0; k < GRID; k++) {
        double at = span * (k + 0.5) / GRID;
        uint32_t count = 0;

        for (size_t i = 0; i < s->report->run_count; i++) {
            const struct series_found *f = s->report->run[i].found;
            uint32_t bucket = (uint32_t)(at / (double)f->width_ns);

            if (!belongs(&s->report->run[i], s, e) || bucket >= SERIES_POINTS)
                continue;
            value[count++] = f->point[bucket].weight > 0 ? value_of(&f->point[bucket], second) : 0;
        }
        line_add(line, at / unit, value, count);
    }
    free(value);
}

static void chart(struct out *out, const struct section *s, const char *title, bool second,
                  uint32_t from)
{
    struct svg_line *line = memory_zeroed(sizeof(*line) * (s->entry_count + 1));
    struct svg_chart c = {.title = title,
                          .line_count = s->entry_count,
                          .line = line,
                          .y_from = from > 0 ? (double)NAN : 0,
                          .y_percent = s->arrivals || !second};

    c.x_name = s->arrivals ? "GPUs asked, % of all" : time_span(s) > 3 * DAY_NS ? "days" : "hours";
    c.y_name = !s->arrivals && second ? "jobs" : "% of all GPUs";
    for (uint32_t e = 0; e < s->entry_count; e++) {
        line_open(&line[e], &s->entry[e], s->arrivals ? SERIES_LOAD_MAX : GRID);
        if (s->arrivals)
            load_line(s, e, second, from, &line[e]);
        else
            time_line(s, e, second, &line[e]);
    }
    svg_lines(out, &c);
    for (uint32_t e = 0; e < s->entry_count; e++)
        free(line[e].x);
    free(line);
}

/* --- refusals --- */

struct parts {
    uint32_t count;
    const char *name[REPORT_COLOURS];
    double *value; /* [entry][part] */
};

static uint32_t named_part(const struct parts *p, const char *name)
{
    uint32_t i = 0;

    while (i < p->count && strcmp(p->name[i], name) != 0)
        i++;
    return i;
}

/* More reasons than there are colours to tell them apart share the last one. */
static uint32_t reason_part(struct parts *p, const char *code)
{
    uint32_t i = named_part(p, code);

    if (i == p->count && p->count >= PARTS_MAX - 1) {
        code = "others";
        i = named_part(p, code);
    }
    if (i == p->count)
        p->name[p->count++] = code;
    return i;
}

static void gather_run(const struct section *s, uint32_t e, const struct series_found *f,
                       bool by_reason, struct parts *p)
{
    for (uint32_t i = 0; i < f->reason_count; i++) {
        uint32_t part = by_reason ? reason_part(p, f->reason[i].code) : 0;

        for (unsigned size = 0; size < SERIES_SIZES; size++)
            p->value[e * REPORT_COLOURS + (by_reason ? part : size)] +=
                (double)f->reason[i].count[size] / s->entry[e].runs;
    }
}

static void refusals(struct out *out, const struct section *s, bool by_reason)
{
    struct parts p = {.value = memory_zeroed(sizeof(double) * REPORT_COLOURS * POLICIES_MAX)};
    struct svg_stack bar[POLICIES_MAX];
    struct svg_bars b = {.unit = "refusals", .bar = bar, .part_name = p.name};

    for (unsigned i = 0; !by_reason && i < SERIES_SIZES - 1; i++)
        p.name[p.count++] = series_size_name(s->arrivals, i);
    for (uint32_t e = 0; e < s->entry_count; e++) {
        for (size_t i = 0; i < s->report->run_count; i++)
            if (belongs(&s->report->run[i], s, e))
                gather_run(s, e, s->report->run[i].found, by_reason, &p);
        bar[e] = (struct svg_stack){.name = s->entry[e].name,
                                    .part = p.value + (size_t)e * REPORT_COLOURS};
    }
    b.title = by_reason ? "Refusals by reason, mean of seeds"
                        : "Refusals by size asked, mean of "
                          "seeds";
    b.bar_count = s->entry_count;
    b.part_count = p.count;
    b.first_colour = 3; /* the first ones mean policies everywhere else */
    svg_stacks(out, &b);
    free(p.value);
}

/* --- figures of the summary as drawings --- */

static bool find_figure(const struct section *s, uint32_t e, const char *name,
                        struct summary_figure *ret)
{
    struct summary_group g = {.workload = s->workload, .policy = s->entry[e].name};

    for (uint32_t i = 0; summary_figure(s->summary, &g, s->baseline, i, ret); i++)
        if (ret->seeds > 0 && strcmp(ret->name, name) == 0)
            return true;
    return false;
}

static void waits(struct out *out, const struct section *s)
{
    static const char *const size[] = {"1", "2-7", "8", "9-15", "16-63", "64+"};
    struct svg_range range[6 * POLICIES_MAX];
    uint32_t count = 0;

    for (unsigned c = 0; c < 6; c++)
        for (uint32_t e = 0; e < s->entry_count; e++) {
            struct summary_figure f[3];
            bool all = true;

            for (unsigned i = 0; i < 3 && all; i++) {
                static const unsigned pct[] = {50, 90, 99};
                char name[40];

                snprintf(name, sizeof(name), "wait_s_p%u_%s", pct[i], size[c]);
                all = find_figure(s, e, name, &f[i]);
            }
            if (all)
                range[count++] = (struct svg_range){.group = size[c],
                                                    .name = s->entry[e].name,
                                                    .colour = s->entry[e].colour,
                                                    .p50 = f[0].mean,
                                                    .p90 = f[1].mean,
                                                    .p99 = f[2].mean};
        }
    if (count > 0)
        svg_ranges(out, "Wait by GPUs asked: half, 90 %, 99 % of jobs started within",
                   "from submit to first start", range, count);
}

static void single_bars(struct out *out, const struct section *s, const char *name,
                        const char *title, const char *unit)
{
    static const char *const only[] = {""};
    struct svg_stack bar[POLICIES_MAX];
    double value[POLICIES_MAX];
    struct svg_bars b = {
        .title = title, .unit = unit, .bar = bar, .part_count = 1, .part_name = only};

    for (uint32_t e = 0; e < s->entry_count; e++) {
        struct summary_figure f;

        if (!find_figure(s, e, name, &f))
            continue;
        value[b.bar_count] = f.mean;
        bar[b.bar_count] = (struct svg_stack){
            .name = s->entry[e].name, .colour = s->entry[e].colour, .part = &value[b.bar_count]};
        b.bar_count++;
    }
    if (b.bar_count > 0)
        svg_stacks(out, &b);
}

static void legend(struct out *out, const struct section *s)
{
    out_add(out, "<ul class=\"k\">");
    for (uint32_t e = 0; e < s->entry_count; e++) {
        out_format(out, "<li class=\"c%u\">", s->entry[e].colour % REPORT_COLOURS);
        out_html(out, s->entry[e].name);
        if (s->baseline && strcmp(s->baseline, s->entry[e].name) == 0)
            out_add(out, " (baseline)");
        out_add(out, "</li>");
    }
    out_add(out, "</ul>\n");
}

/* The one figure a reader looks for first, large, per policy. */
static void cards(struct out *out, const struct section *s)
{
    const char *name = s->arrivals ? "gar_130_pct" : "sor_pct";
    struct summary_figure f;

    out_add(out, "<div class=\"cards\">");
    for (uint32_t e = 0; e < s->entry_count; e++) {
        if (!find_figure(s, e, name, &f))
            continue;
        out_format(out, "<div class=\"card c%u\"><b>", s->entry[e].colour % REPORT_COLOURS);
        out_html(out, s->entry[e].name);
        out_format(out, "</b><span class=\"big\">%.2f<small> %%</small></span><span>", f.mean);
        if (f.has_baseline) {
            out_format(out, "%+.2f against ", f.mean - f.baseline);
            out_html(out, s->baseline);
        } else {
            out_add(out, s->arrivals ? "of GPUs allocated" : "of GPU time allocated");
        }
        if (f.has_bound)
            out_format(out, ", bound %.2f", f.bound);
        out_add(out, "</span></div>");
    }
    out_add(out, "</div>\n");
}

static void page_section(struct out *out, const struct section *s, uint32_t number)
{
    struct summary_group *group = memory_zeroed(sizeof(*group) * (s->report->run_count + 1));
    uint32_t count = summary_groups(s->summary, group, (uint32_t)s->report->run_count);

    out_format(out, "<section id=\"w%u\"><h2>", number);
    out_html(out, s->workload);
    out_format(out, " <small>%u seed%s</small></h2>\n", s->entry[0].runs,
               s->entry[0].runs == 1 ? "" : "s");
    out_format(out, "<p class=\"q\">%s</p>\n",
               s->arrivals ? "GPUs allocated when 130 % were asked"
                           : "GPU time allocated, from the first submit to the last line");
    cards(out, s);
    legend(out, s);
    out_add(out, "<div class=\"charts\">\n");
    if (s->arrivals) {
        chart(out, s, "Allocation against arrived load, from 80 %", false, 80);
        chart(out, s, "Fragmented GPUs against arrived load", true, 0);
    } else {
        chart(out, s, "GPUs allocated over time", false, 0);
        chart(out, s, "Jobs that wait over time", true, 0);
        waits(out, s);
        single_bars(out, s, "hit_pct", "Topology hits, % of jobs that want locality", "%");
    }
    refusals(out, s, true);
    refusals(out, s, false);
    out_add(out, "</div>\n");
    report_table(out, s->summary, s->workload, group, count, s->baseline);
    out_add(out, "</section>\n");
    free(group);
}

static void page_head(struct out *out, const struct report *r)
{
    out_add(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n"
                 "<title>dovetail simulate</title>\n<style>\n");
    out_add(out, report_style);
    out_add(out, "</style></head>\n<body><header><h1>dovetail <span>simulate</span></h1>\n");
    out_format(out, "<p>%zu run%s, version ", r->run_count, r->run_count == 1 ? "" : "s");
    out_html(out, r->version);
    out_add(out, ". Lines are means of the seeds, bands reach from the lowest to the highest. "
                 "Point at a line, a bar or a figure's name to read more.</p>\n");
}

static bool is_first(const struct report *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(r->run[k].workload, r->run[i].workload) == 0)
            return false;
    return true;
}

int report_save(const struct report *r, const struct summary *s, const char *baseline,
                const char *path, struct err *err)
{
    struct out out = {0};
    uint32_t number = 0;
    int result;

    page_head(&out, r);
    out_add(&out, "<nav>");
    for (size_t i = 0; i < r->run_count; i++)
        if (is_first(r, i)) {
            out_format(&out, "<a href=\"#w%u\">", number++);
            out_html(&out, r->run[i].workload);
            out_add(&out, "</a>");
        }
    out_add(&out, "</nav></header>\n<main>\n");
    number = 0;
    for (size_t i = 0; i < r->run_count; i++)
        if (is_first(r, i)) {
            struct section section = {
                .report = r, .summary = s, .workload = r->run[i].workload, .baseline = baseline};

            find_entries(&section);
            page_section(&out, &section, number++);
        }
    out_add(&out, "</main></body></html>\n");
    result = out_save(&out, path, err);
    out_free(&out);
    return result;
}
