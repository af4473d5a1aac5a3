/* Waits by size class: a row of marks for each class and policy, their figures, and the whole
 * distribution class by class. */
#include "edge/sim/report_parts.h"

#include <stdio.h>

#define SMALL_WIDTH  420.0
#define SMALL_HEIGHT 250.0
#define SMALL_LEFT   52.0
#define SMALL_RIGHT  18.0
#define SMALL_TOP    10.0
#define SMALL_BOTTOM 46.0
#define CURVE_JOBS   10 /* fewer have no distribution worth a drawing */

static const unsigned percent[] = {50, 90, 99};

static bool figures_of(const struct section *s, uint32_t e, unsigned size,
                       struct summary_figure ret[3])
{
    for (unsigned i = 0; i < 3; i++) {
        char name[40];

        snprintf(name, sizeof(name), "wait_s_p%u_%s", percent[i], metrics_size_name(size));
        if (!section_figure(s, e, name, &ret[i]))
            return false;
    }
    return true;
}

static void class_title(char *text, size_t bytes, unsigned size)
{
    snprintf(text, bytes, "%s GPU%s", metrics_size_name(size), size == 0 ? "" : "s");
}

static void ranges(struct out *out, const struct section *s)
{
    struct svg_range range[METRIC_SIZES * REPORT_POLICIES];
    char group[METRIC_SIZES][16];
    uint32_t count = 0;

    for (unsigned c = 0; c < METRIC_SIZES; c++) {
        class_title(group[c], sizeof(group[c]), c);
        for (uint32_t e = 0; e < s->entry_count; e++) {
            struct summary_figure f[3];

            if (figures_of(s, e, c, f))
                range[count++] = (struct svg_range){.group = group[c],
                                                    .name = s->entry[e].name,
                                                    .colour = s->entry[e].colour,
                                                    .p50 = f[0].mean,
                                                    .p90 = f[1].mean,
                                                    .p99 = f[2].mean};
        }
    }
    if (count > 0)
        svg_ranges(out, "Wait by size: half, 90 % and 99 % of jobs",
                   "Each row is a size class under one policy: the open ring is the wait that half "
                   "of its jobs stayed within, the dot 90 %, the bar at the end 99 %. The scale is "
                   "logarithmic. Look for rows that reach far to the right: there the unlucky jobs "
                   "of a class wait much longer than most.",
                   "time from submit to first start", range, count);
}

/* In the unit that reads best, and in seconds where that is another one. */
static void table_cell(struct out *out, const struct entry *e, const struct summary_figure *f)
{
    bool twice = f->mean >= 60;

    out_add(out, "<td>");
    if (twice)
        svg_duration(out, f->mean);
    out_format(out, "<small class=\"%s\"><span data-figure=\"%s\" data-policy=\"",
               twice ? "u" : "same", f->name);
    out_html(out, e->name);
    out_format(out, "\">%.*f</span> s</small></td>", summary_decimals("s", f->mean), f->mean);
}

static void table_row(struct out *out, const struct section *s, unsigned c)
{
    char title[16];

    class_title(title, sizeof(title), c);
    for (uint32_t e = 0; e < s->entry_count; e++) {
        struct summary_figure f[3], jobs;
        char name[40];

        if (!figures_of(s, e, c, f))
            continue;
        snprintf(name, sizeof(name), "jobs_%s", metrics_size_name(c));
        out_format(out, "<tr><th>%s</th><td class=\"w\">", title);
        out_html(out, s->entry[e].name);
        out_add(out, "</td><td>");
        if (section_figure(s, e, name, &jobs))
            out_format(out, "%.0f", jobs.mean);
        out_add(out, "</td>");
        for (unsigned i = 0; i < 3; i++)
            table_cell(out, &s->entry[e], &f[i]);
        out_add(out, "</tr>\n");
    }
}

static void table(struct out *out, const struct section *s)
{
    out_add(out,
            "<figure><figcaption>The same waits as numbers<p>From submit to first start, of "
            "jobs that finished; below each the same time in seconds, as in the table of all "
            "figures. Look at the last column: hardly anybody of that size waited longer.</p>"
            "</figcaption><div class=\"t waits\" tabindex=\"0\" role=\"region\" aria-label=\"waits "
            "by size class\"><table><thead><tr><th>size</th><th class=\"w\">policy</th>"
            "<th>jobs</th><th>half within</th><th>90 % within</th>"
            "<th>99 % within</th></tr></thead><tbody>\n");
    for (unsigned c = 0; c < METRIC_SIZES; c++)
        table_row(out, s, c);
    out_add(out, "</tbody></table></div></figure>\n");
}

/* --- distributions --- */

/* Jobs of the class over all runs of the entry. */
static struct found_wait pool(const struct section *s, uint32_t e, unsigned c)
{
    struct found_wait sum = {0};
    const struct series_found *f;

    for (uint32_t i = 0; (f = section_run(s, e, i)); i++) {
        sum.jobs += f->wait[c].jobs;
        for (unsigned k = 0; k < FOUND_WAITS; k++)
            sum.within[k] += f->wait[c].within[k];
    }
    return sum;
}

static void small_grid(struct out *out, const struct axis *x, const struct axis *y)
{
    svg_log_grid(out, x, SMALL_TOP, y->from, true);
    for (int pct = 0; pct <= 100; pct += 25) {
        double at = axis_place(y, pct);

        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">%d</text>\n",
                   x->from, x->to, at, at, x->from - 6, at + 4, pct);
    }
    svg_text(out, "n m", (x->from + x->to) / 2, SMALL_HEIGHT - 6, "wait, logarithmic");
    out_format(out, "<text class=\"n m\" transform=\"translate(15,%.1f) rotate(-90)\">",
               (y->from + y->to) / 2);
    out_add(out, "% of its jobs</text>\n");
}

static void curve(struct out *out, const struct section *s, uint32_t e,
                  const struct found_wait *wait, const struct axis *x, const struct axis *y)
{
    out_format(out, "<polyline class=\"l d c%u\" points=\"", s->entry[e].colour % REPORT_COLOURS);
    for (unsigned k = 0; k < FOUND_WAITS; k++) {
        double seconds = (double)found_wait_edge_ns(k) / 1e9;

        if (k > 0 && seconds > x->high)
            break;
        out_format(out, "%.1f,%.1f ", svg_log_place(x, seconds),
                   axis_place(y, 100 * (double)wait->within[k] / (double)wait->jobs));
    }
    out_add(out, "\"><title>");
    out_html(out, s->entry[e].name);
    out_format(out, ": %.1f %% started within a second, %llu jobs</title></polyline>\n",
               100 * (double)wait->within[0] / (double)wait->jobs, (unsigned long long)wait->jobs);
}

static void distribution(struct out *out, const struct section *s, unsigned c)
{
    struct axis x = {.low = 1, .high = 600, .from = SMALL_LEFT, .to = SMALL_WIDTH - SMALL_RIGHT};
    struct axis y = {.low = 0, .high = 100, .from = SMALL_HEIGHT - SMALL_BOTTOM, .to = SMALL_TOP};
    struct found_wait wait[REPORT_POLICIES];
    char title[16], whole[64], text[160];
    uint64_t most = 0;

    for (uint32_t e = 0; e < s->entry_count; e++) {
        wait[e] = pool(s, e, c);
        most = wait[e].jobs > most ? wait[e].jobs : most;
        for (unsigned k = 0; k < FOUND_WAITS; k++)
            if (wait[e].within[k] < wait[e].jobs && (double)found_wait_edge_ns(k) * 1.5e-9 > x.high)
                x.high = (double)found_wait_edge_ns(k) * 1.5e-9;
    }
    if (most < CURVE_JOBS)
        return;
    class_title(title, sizeof(title), c);
    snprintf(whole, sizeof(whole), "Waits of jobs that ask %s", title);
    snprintf(text, sizeof(text),
             "Share of up to %llu jobs that had started after so long. Higher and further left "
             "is better.",
             (unsigned long long)most);
    svg_open(out, whole, text, SMALL_WIDTH, SMALL_HEIGHT);
    small_grid(out, &x, &y);
    for (uint32_t e = s->entry_count; e-- > 0;)
        if (wait[e].jobs > 0)
            curve(out, s, e, &wait[e], &x, &y);
    svg_close(out);
}

void report_waits(struct out *out, const struct section *s)
{
    section_part(out, s, "waits", "Waits by size of job",
                 "How long jobs waited from submit to their first start, by the GPUs that they "
                 "asked. Only jobs that finished are counted; a class of less than ten jobs has no "
                 "curve below.");
    section_legend(out, s);
    out_add(out, "<div class=\"charts\">\n");
    ranges(out, s);
    table(out, s);
    out_add(out, "</div><div class=\"charts three\">\n");
    for (unsigned c = 0; c < METRIC_SIZES; c++)
        distribution(out, s, c);
    out_add(out, "</div>\n");
}
