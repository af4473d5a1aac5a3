/* The table of all figures. */
#include "edge/sim/report_parts.h"

#include <string.h>

static void cell(struct out *out, const struct summary_figure *f)
{
    const char *unit = metrics_row_unit(f->row);
    int decimals = summary_decimals(unit, f->mean);

    if (f->seeds == 0) {
        out_add(out, "<td></td>");
        return;
    }
    out_add(out, "<td");
    if (f->max > f->min)
        out_format(out, " title=\"%.*f to %.*f over %u seeds\"", decimals, f->min, decimals, f->max,
                   f->seeds);
    out_format(out, ">%.*f", decimals, f->mean);
    if (f->has_baseline) {
        double diff = f->mean - f->baseline;
        enum metric_sense sense = metrics_row_sense(f->row);
        int places = summary_decimals(unit, diff);
        bool better = (diff > 0) == (sense == METRIC_UP);
        struct out text = {0};

        out_format(&text, "%+.*f", places, diff);
        if (diff != 0 && strpbrk(text.bytes, "123456789"))
            out_format(out, " <small class=\"%s\">%s</small>",
                       sense == METRIC_FLAT ? ""
                       : better             ? "good"
                                            : "bad",
                       text.bytes);
        out_free(&text);
    }
    out_add(out, "</td>");
}

static void head(struct out *out, const char *workload, const struct summary_group *group,
                 uint32_t count, const char *baseline)
{
    out_add(out, "<thead><tr><th>figure</th><th>unit</th>");
    for (uint32_t g = 0; g < count; g++)
        if (strcmp(group[g].workload, workload) == 0) {
            out_add(out, "<th>");
            out_html(out, group[g].policy);
            if (baseline && strcmp(baseline, group[g].policy) == 0)
                out_add(out, " <small>baseline</small>");
            out_add(out, "</th>");
        }
    out_add(out, "<th>bound</th></tr></thead><tbody>\n");
}

/* A row of one figure: its cell under every policy of the workload, found by name. */
static void row(struct out *out, const struct summary *s, const char *workload,
                const struct summary_group *group, uint32_t count, const char *baseline,
                const struct summary_figure *named)
{
    struct summary_figure bound = *named;

    out_add(out, "<tr><th><abbr title=\"");
    out_html(out, metrics_row_text(named->row));
    out_add(out, "\">");
    out_html(out, named->name);
    out_add(out, "</abbr></th><td><small>");
    out_html(out, metrics_row_unit(named->row));
    out_add(out, "</small></td>");
    for (uint32_t g = 0; g < count; g++) {
        struct summary_figure f = {0};
        bool found = false;

        if (strcmp(group[g].workload, workload) != 0)
            continue;
        for (uint32_t i = 0; !found && summary_figure(s, &group[g], baseline, i, &f); i++)
            found = strcmp(f.name, named->name) == 0;
        if (!found)
            f.seeds = 0;
        cell(out, &f);
        if (f.seeds > 0 && f.has_bound)
            bound = f;
    }
    if (bound.has_bound)
        out_format(out, "<td>%.*f</td>", summary_decimals(metrics_row_unit(bound.row), bound.bound),
                   bound.bound);
    else
        out_add(out, "<td></td>");
    out_add(out, "</tr>\n");
}

void report_table(struct out *out, const struct summary *s, const char *workload,
                  const struct summary_group *group, uint32_t group_count, const char *baseline)
{
    const struct summary_group *first = NULL;
    struct summary_figure f;

    for (uint32_t g = 0; g < group_count && !first; g++)
        if (strcmp(group[g].workload, workload) == 0)
            first = &group[g];
    if (!first)
        return;
    out_add(out, "<div class=\"t\" tabindex=\"0\" role=\"region\" aria-label=\"all figures\">"
                 "<table class=\"all\">");
    head(out, workload, group, group_count, baseline);
    for (uint32_t i = 0; summary_figure(s, first, baseline, i, &f); i++)
        if (f.seeds > 0)
            row(out, s, workload, group, group_count, baseline, &f);
    out_add(out, "</tbody></table></div>\n");
}
