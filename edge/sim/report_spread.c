/* Jobs by domain: for every gang of several pods, the domains it touched against the fewest that
 * could hold it. */
#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELL_WIDTH  54.0
#define CELL_HEIGHT 30.0
#define MATRIX_LEFT 92.0
#define MATRIX_TOP  8.0

static struct found_span pool(const struct section *s, uint32_t e, unsigned chain)
{
    struct found_span sum = {.jobs = 0};
    const struct series_found *f;

    for (uint32_t i = 0; (f = section_run(s, e, i)); i++) {
        if (i == 0) { /* names of one run: the first */
            sum = f->span[chain];
            continue;
        }
        sum.jobs += f->span[chain].jobs;
        sum.fewest += f->span[chain].fewest;
        for (unsigned r = 0; r < FOUND_SPANS; r++)
            for (unsigned c = 0; c < FOUND_EXTRA; c++)
                sum.count[r][c] += f->span[chain].count[r][c];
    }
    return sum;
}

static void extent(const struct found_span *p, unsigned *rows, unsigned *columns)
{
    for (unsigned r = 0; r < FOUND_SPANS; r++)
        for (unsigned c = 0; c < FOUND_EXTRA; c++)
            if (p->count[r][c] > 0) {
                *rows = r + 1 > *rows ? r + 1 : *rows;
                *columns = c + 1 > *columns ? c + 1 : *columns;
            }
}

static void cells(struct out *out, const struct section *s, uint32_t e, const struct found_span *p,
                  unsigned rows, unsigned columns)
{
    for (unsigned r = 0; r < rows; r++)
        for (unsigned c = 0; c < columns; c++) {
            double x = MATRIX_LEFT + c * CELL_WIDTH, y = MATRIX_TOP + r * CELL_HEIGHT;
            double share = (double)p->count[r][c] / (double)p->jobs;
            char text[24];

            out_format(out,
                       "<rect class=\"%s c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                       "height=\"%.1f\" fill-opacity=\"%.2f\"><title>%llu jobs that need %s: "
                       "%s more</title></rect>\n",
                       c == 0 ? "q fit" : "q", s->entry[e].colour % REPORT_COLOURS, x + 1, y + 1,
                       CELL_WIDTH - 2, CELL_HEIGHT - 2,
                       p->count[r][c] ? 0.12 + 0.6 * sqrt(share) : 0,
                       (unsigned long long)p->count[r][c], found_span_name(r), found_extra_name(c));
            if (p->count[r][c] == 0)
                continue;
            snprintf(text, sizeof(text), "%llu", (unsigned long long)p->count[r][c]);
            svg_text(out, "m s", x + CELL_WIDTH / 2, y + CELL_HEIGHT * 0.66, text);
        }
}

static void matrix(struct out *out, const struct section *s, uint32_t e, const struct found_span *p,
                   unsigned rows, unsigned columns)
{
    double bottom = MATRIX_TOP + (rows < 2 ? 2 : rows) * CELL_HEIGHT; /* room for the axis */
    char title[128], text[400], axis[80];

    snprintf(title, sizeof(title), "Jobs by %s: %.40s", p->level, s->entry[e].name);
    snprintf(text, sizeof(text),
             "%llu of %llu gangs of several pods (%.1f %%) used as few %s domains as an empty "
             "cluster allows: the framed column. Each cell counts jobs; the further right, the "
             "more domains they used than they needed.",
             (unsigned long long)p->fewest, (unsigned long long)p->jobs,
             100 * (double)p->fewest / (double)p->jobs, p->level);
    svg_open(out, title, text, SVG_WIDTH, bottom + 48);
    cells(out, s, e, p, rows, columns);
    for (unsigned c = 0; c < columns; c++)
        svg_text(out, "m", MATRIX_LEFT + (c + 0.5) * CELL_WIDTH, bottom + 18, found_extra_name(c));
    for (unsigned r = 0; r < rows; r++)
        svg_text(out, "e", MATRIX_LEFT - 8, MATRIX_TOP + (r + 0.66) * CELL_HEIGHT,
                 found_span_name(r));
    snprintf(axis, sizeof(axis), "%s domains used more than needed", p->level);
    svg_text(out, "n", MATRIX_LEFT, bottom + 40, axis);
    out_format(out, "<text class=\"n m\" transform=\"translate(18,%.1f) rotate(-90)\">%s</text>",
               (MATRIX_TOP + bottom) / 2, rows < 5 ? "fewest" : "fewest possible");
    svg_close(out);
}

static void worst(struct out *out, const struct section *s, uint32_t e, const struct found_span *p)
{
    if (p->worst_count == 0)
        return;
    out_add(out, "<details><summary>Widest jobs: ");
    out_html(out, s->entry[e].name);
    out_add(out, ", ");
    out_html(out, p->level);
    out_add(out, "</summary><div class=\"t\" tabindex=\"0\" role=\"region\" aria-label=\"widest "
                 "jobs\"><table><thead><tr><th>job</th><th>pods</th><th>GPUs</th><th>domains "
                 "used</th><th>fewest</th><th>GPU hours</th></tr></thead><tbody>\n");
    for (uint32_t i = 0; i < p->worst_count; i++) {
        const struct found_worst *w = &p->worst[i];

        out_add(out, "<tr><th>");
        out_html(out, w->name);
        out_format(out, "</th><td>%u</td><td>%.0f</td><td>%u</td><td>%u</td><td>%.1f</td></tr>\n",
                   w->pods, w->gpus, w->spans, w->fewest, w->gpu_h);
    }
    out_add(out, "</tbody></table></div></details>\n");
}

void report_spread(struct out *out, const struct section *s)
{
    struct found_span *p = memory_zeroed(sizeof(*p) * FOUND_CHAINS * REPORT_POLICIES);
    uint64_t jobs = 0;

    for (unsigned c = 0; c < FOUND_CHAINS; c++)
        for (uint32_t e = 0; e < s->entry_count; e++) {
            p[c * REPORT_POLICIES + e] = pool(s, e, c);
            jobs += p[c * REPORT_POLICIES + e].jobs;
        }
    section_part(out, s, "domains", "Jobs by domain",
                 jobs == 0
                     ? "No gang of several pods ran, or the cluster declares no level."
                     : "For every gang of several pods, at its last start with all of them: the "
                       "domains it touched against the fewest possible. Fewest is what an empty "
                       "cluster needs; for unlike pods, and for chains after the first, it is the "
                       "bound that the GPUs of the largest domains set.");
    for (unsigned c = 0; c < FOUND_CHAINS && jobs > 0; c++) {
        const struct found_span *first = &p[c * REPORT_POLICIES];
        unsigned rows = 0, columns = 0;

        for (uint32_t e = 0; e < s->entry_count; e++)
            extent(&first[e], &rows, &columns);
        if (columns == 0)
            continue;
        out_add(out, "<div class=\"charts\">\n");
        for (uint32_t e = 0; e < s->entry_count; e++)
            if (first[e].jobs > 0)
                matrix(out, s, e, &first[e], rows, columns);
        out_add(out, "</div>\n");
        for (uint32_t e = 0; e < s->entry_count; e++)
            worst(out, s, e, &first[e]);
    }
    free(p);
}
