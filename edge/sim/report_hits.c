/* Topology hits, overall and by size class, and hosts and groups used over the fewest possible. */
#include "edge/sim/report_parts.h"

#include <stdio.h>

#define BARS_MAX   ((METRIC_SIZES + 2) * REPORT_POLICIES)
#define NOTE_BYTES 48

static const char *const no_part[] = {""};

struct bars {
    uint32_t count;
    struct svg_stack bar[BARS_MAX];
    double value[BARS_MAX];
    char note[BARS_MAX][NOTE_BYTES];
};

static void add_bar(struct bars *b, const struct entry *e, const char *group, double value)
{
    b->value[b->count] = value;
    b->bar[b->count] = (struct svg_stack){.group = group,
                                          .name = e->name,
                                          .note = b->note[b->count],
                                          .colour = e->colour,
                                          .part = &b->value[b->count]};
    b->count++;
}

static struct found_hit pool(const struct section *s, uint32_t e, unsigned c)
{
    struct found_hit sum = {0};
    const struct series_found *f;

    for (uint32_t i = 0; (f = section_run(s, e, i)); i++) {
        sum.wanted += f->hit[c].wanted;
        sum.hit += f->hit[c].hit;
        sum.gpu_h += f->hit[c].gpu_h;
        sum.hit_gpu_h += f->hit[c].hit_gpu_h;
    }
    return sum;
}

static void all_sizes(struct bars *b, const struct section *s)
{
    static const struct {
        const char *figure, *title;
    } row[] = {{"hit_pct", "all sizes, each job counts once"},
               {"hit_gpuh_pct", "all sizes, each job counts with its GPU hours"}};

    for (unsigned i = 0; i < 2; i++)
        for (uint32_t e = 0; e < s->entry_count; e++) {
            struct summary_figure f;

            if (!section_figure(s, e, row[i].figure, &f))
                continue;
            add_bar(b, &s->entry[e], row[i].title, f.mean);
            snprintf(b->note[b->count - 1], NOTE_BYTES, "%.*f %%", summary_decimals("%", f.mean),
                     f.mean);
        }
}

static void hits(struct out *out, const struct section *s)
{
    static struct bars empty;
    struct bars b = empty;
    char group[METRIC_SIZES][24];
    struct svg_bars chart = {
        .title = "Topology hits by size",
        .text = "A hit is a job that wanted locality and sat, in all of its runs, in one domain of "
                "the smallest level that could hold it on an empty cluster. 100 % is the most that "
                "is possible. Look at the large classes: they lose most when they are torn apart.",
        .unit = "%",
        .x_name = "jobs that hit, % of those that wanted locality and finished",
        .bar = b.bar,
        .part_count = 1,
        .part_name = no_part};

    all_sizes(&b, s);
    for (unsigned c = 0; c < METRIC_SIZES; c++) {
        snprintf(group[c], sizeof(group[c]), "%s GPU%s", metrics_size_name(c), c == 0 ? "" : "s");
        for (uint32_t e = 0; e < s->entry_count; e++) {
            struct found_hit h = pool(s, e, c);

            if (h.wanted == 0)
                continue;
            add_bar(&b, &s->entry[e], group[c], 100 * (double)h.hit / (double)h.wanted);
            snprintf(b.note[b.count - 1], NOTE_BYTES, "%llu of %llu", (unsigned long long)h.hit,
                     (unsigned long long)h.wanted);
        }
    }
    chart.bar_count = b.count;
    if (b.count > 0)
        svg_stacks(out, &chart);
}

static void spread(struct out *out, const struct section *s)
{
    static const struct {
        const char *figure, *title;
    } row[] = {{"nnd_mean", "hosts, mean of runs"},
               {"nnd_gpuh", "hosts, weighted by GPU hours"},
               {"ngd_mean", "groups of hosts, mean of runs"},
               {"ngd_gpuh", "groups of hosts, weighted by GPU hours"}};
    static struct bars empty;
    struct bars b = empty;
    struct svg_bars chart = {
        .title = "Hosts and groups used over the fewest possible",
        .text = "For gangs of equal pods: hosts, and domains of the smallest level of the first "
                "chain, that a run touched over the fewest that could hold it. Bars begin at 1, "
                "which is as few as possible. Look for short bars.",
        .unit = "ratio",
        .x_name = "used over fewest possible",
        .from = 1,
        .bar = b.bar,
        .part_count = 1,
        .part_name = no_part};

    for (unsigned i = 0; i < 4; i++)
        for (uint32_t e = 0; e < s->entry_count; e++) {
            struct summary_figure f;

            if (!section_figure(s, e, row[i].figure, &f))
                continue;
            add_bar(&b, &s->entry[e], row[i].title, f.mean);
            snprintf(b.note[b.count - 1], NOTE_BYTES, "%.*f", summary_decimals("ratio", f.mean),
                     f.mean);
        }
    chart.bar_count = b.count;
    if (b.count > 0)
        svg_stacks(out, &chart);
}

void report_hits(struct out *out, const struct section *s)
{
    section_part(out, s, "topology", "Topology",
                 "Whether jobs that want their pods close together got them close together.");
    section_legend(out, s);
    out_add(out, "<div class=\"charts\">\n");
    hits(out, s);
    spread(out, s);
    out_add(out, "</div>\n");
}
