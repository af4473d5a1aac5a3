/* Collects the runs and writes the page, one section per workload. */
#include "edge/sim/report.h"

#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all maps of a page may take, so that it stays below 3 MiB. */
#define MAPS_BYTES (1400u << 10)

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
        found_free(r->run[i].found);
    }
    free(r->run);
    free(r->version);
    free(r);
}

void report_add(struct report *r, const char *workload, const char *policy, int64_t seed,
                const struct series *series)
{
    r->run = out_grow(r->run, r->run_count, &r->run_limit, sizeof(*r->run));
    r->run[r->run_count++] = (struct report_run){.workload = copy(workload),
                                                 .policy = copy(policy),
                                                 .seed = seed,
                                                 .found = series_found(series)};
}

/* --- sections --- */

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
        if (e == REPORT_POLICIES)
            continue;
        if (e == s->entry_count)
            s->entry[s->entry_count++] =
                (struct entry){.name = r->run[i].policy, .colour = colour_of(r, r->run[i].policy)};
        s->entry[e].runs++;
    }
}

const struct series_found *section_run(const struct section *s, uint32_t entry, uint32_t i)
{
    for (size_t k = 0; k < s->report->run_count; k++) {
        const struct report_run *run = &s->report->run[k];

        if (strcmp(run->workload, s->workload) == 0 &&
            strcmp(run->policy, s->entry[entry].name) == 0 && i-- == 0)
            return run->found;
    }
    return NULL;
}

bool section_figure(const struct section *s, uint32_t entry, const char *name,
                    struct summary_figure *ret)
{
    struct summary_group g = {.workload = s->workload, .policy = s->entry[entry].name};

    for (uint32_t i = 0; summary_figure(s->summary, &g, s->baseline, i, ret); i++)
        if (ret->seeds > 0 && strcmp(ret->name, name) == 0)
            return true;
    return false;
}

double section_span_ns(const struct section *s)
{
    double span = 1;
    const struct series_found *f;

    for (uint32_t e = 0; e < s->entry_count; e++)
        for (uint32_t i = 0; (f = section_run(s, e, i)); i++)
            span = fmax(span, (double)(f->end_ns - f->start_ns));
    return span;
}

const char *section_time_unit(const struct section *s, double *ret_ns)
{
    bool days = section_span_ns(s) > 3 * REPORT_DAY_NS;

    *ret_ns = days ? REPORT_DAY_NS : REPORT_HOUR_NS;
    return days ? "days" : "hours";
}

void section_legend(struct out *out, const struct section *s)
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

void section_part(struct out *out, const struct section *s, const char *part, const char *title,
                  const char *text)
{
    out_format(out, "<h3 id=\"w%u-%s\">%s</h3>\n<p class=\"q\">", s->number, part, title);
    out_html(out, text);
    out_add(out, "</p>\n");
}

/* Small figures under the large one. */
static void card_lines(struct out *out, const struct section *s, uint32_t e)
{
    static const char *const line[][2] = {{"goodput_pct", "goodput"},
                                          {"jct_s_mean", "mean completion"},
                                          {"wait_s_p50", "half start within"},
                                          {"wait_s_p99", "99 % start within"},
                                          {"hit_pct", "topology hits"}};
    struct summary_figure f, kept;

    out_add(out, "<dl>");
    for (unsigned i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
        if (!section_figure(s, e, line[i][0], &f))
            continue;
        out_format(out, "<div><dt>%s</dt><dd>", line[i][1]);
        if (strcmp(metrics_row_unit(f.row), "s") == 0)
            svg_duration(out, f.mean);
        else
            out_format(out, "%.*f %%", summary_decimals("%", f.mean), f.mean);
        out_add(out, "</dd></div>");
    }
    if (section_figure(s, e, "promises", &f) && f.mean > 0 &&
        section_figure(s, e, "promises_kept", &kept))
        out_format(out, "<div><dt>promises kept</dt><dd>%.0f of %.0f</dd></div>", kept.mean,
                   f.mean);
    out_add(out, "</dl>");
}

/* The figures that a reader looks for first, per policy. */
static void cards(struct out *out, const struct section *s)
{
    const char *name = s->arrivals ? "gar_130_pct" : "sor_pct";
    struct summary_figure f;

    out_add(out, "<div class=\"cards\">");
    for (uint32_t e = 0; e < s->entry_count; e++) {
        if (!section_figure(s, e, name, &f))
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
        out_add(out, "</span>");
        card_lines(out, s, e);
        out_add(out, "</div>");
    }
    out_add(out, "</div>\n");
}

static void contents(struct out *out, const struct section *s)
{
    static const char *const part[][2] = {{"use", "Use"},           {"waits", "Waits"},
                                          {"topology", "Topology"}, {"domains", "Domains"},
                                          {"map", "Map"},           {"promises", "Promises"},
                                          {"refusals", "Refusals"}, {"figures", "All figures"}};

    out_add(out, "<nav aria-label=\"parts\">");
    for (unsigned i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        if (!s->arrivals || i == 0 || i >= 6)
            out_format(out, "<a href=\"#w%u-%s\">%s</a>", s->number, part[i][0], part[i][1]);
    out_add(out, "</nav>\n");
}

static bool page_section(struct out *out, const struct section *s, size_t budget_bytes)
{
    struct summary_group *group = memory_zeroed(sizeof(*group) * (s->report->run_count + 1));
    uint32_t count = summary_groups(s->summary, group, (uint32_t)s->report->run_count);
    bool scripted = false;

    out_format(out, "<section id=\"w%u\"><h2>", s->number);
    out_html(out, s->workload);
    out_format(out, " <small>%u seed%s</small></h2>\n", s->entry[0].runs,
               s->entry[0].runs == 1 ? "" : "s");
    contents(out, s);
    out_format(out, "<p class=\"q\">%s</p>\n",
               s->arrivals ? "GPUs allocated when 130 % were asked"
                           : "GPU time allocated, from the first submit to the last line");
    cards(out, s);
    report_use(out, s);
    if (!s->arrivals) {
        report_waits(out, s);
        report_hits(out, s);
        report_spread(out, s);
        scripted = report_map(out, s, budget_bytes);
        report_promises(out, s);
    }
    report_refusals(out, s);
    section_part(out, s, "figures", "All figures",
                 "Every figure of the run by its name in the decision log; point at a name for its "
                 "meaning. The difference to the baseline stands beside each, green where it is "
                 "better.");
    report_table(out, s->summary, s->workload, group, count, s->baseline);
    out_add(out, "</section>\n");
    free(group);
    return scripted;
}

static void add_all(struct out *out, const char *const *part)
{
    for (; *part; part++)
        out_add(out, *part);
}

static void page_head(struct out *out, const struct report *r)
{
    out_add(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n"
                 "<title>dovetail simulate</title>\n<style>\n");
    add_all(out, report_style);
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
    bool scripted = false;
    int result;

    page_head(&out, r);
    out_add(&out, "<nav aria-label=\"workloads\">");
    for (size_t i = 0; i < r->run_count; i++)
        if (is_first(r, i)) {
            out_format(&out, "<a href=\"#w%u\">", number++);
            out_html(&out, r->run[i].workload);
            out_add(&out, "</a>");
        }
    out_add(&out, "</nav></header>\n<main>\n");
    for (size_t i = 0, k = 0; i < r->run_count; i++)
        if (is_first(r, i)) {
            struct section section = {.report = r,
                                      .summary = s,
                                      .workload = r->run[i].workload,
                                      .baseline = baseline,
                                      .number = (uint32_t)k++};

            find_entries(&section);
            scripted |= page_section(&out, &section, MAPS_BYTES / number);
        }
    out_add(&out, "</main>\n");
    if (scripted) {
        out_add(&out, "<script>\n");
        add_all(&out, report_script);
        out_add(&out, "</script>\n");
    }
    out_add(&out, "</body></html>\n");
    result = out_save(&out, path, err);
    out_free(&out);
    return result;
}
