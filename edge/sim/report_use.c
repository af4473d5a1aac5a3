/* Use of the cluster over load or time, and refusals. */
#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID      240
#define PARTS_MAX 7 /* the colours that are not the first policies' */

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
        const struct series_found *f;
        uint32_t count = 0;

        for (uint32_t i = 0; (f = section_run(s, e, i)); i++)
            if (load <= f->last && f->point[load].weight > 0)
                value[count++] = value_of(&f->point[load], second);
        if (count < s->entry[e].runs)
            break; /* a mean over fewer seeds would jump */
        line_add(line, load, value, count);
    }
    free(value);
}

static void time_line(const struct section *s, uint32_t e, bool second, struct svg_line *line)
{
    double *value = memory_zeroed(sizeof(double) * (s->report->run_count + 1));
    double span = section_span_ns(s), unit;

    (void)section_time_unit(s, &unit);

    for (uint32_t k = 0; k < GRID; k++) {
        double at = span * (k + 0.5) / GRID;
        const struct series_found *f;
        uint32_t count = 0;

        for (uint32_t i = 0; (f = section_run(s, e, i)); i++) {
            uint32_t bucket = (uint32_t)(at / (double)f->width_ns);

            if (bucket >= SERIES_POINTS)
                continue;
            value[count++] = f->point[bucket].weight > 0 ? value_of(&f->point[bucket], second) : 0;
        }
        line_add(line, at / unit, value, count);
    }
    free(value);
}

static void chart(struct out *out, const struct section *s, const char *title, const char *text,
                  bool second, uint32_t from)
{
    double unit;
    const char *time = section_time_unit(s, &unit);
    struct out x_name = {0};
    struct svg_line *line = memory_zeroed(sizeof(*line) * (s->entry_count + 1));
    struct svg_chart c = {.title = title,
                          .text = text,
                          .line_count = s->entry_count,
                          .line = line,
                          .y_from = from > 0 ? (double)NAN : 0,
                          .y_percent = s->arrivals || !second};

    out_add(&x_name, s->arrivals ? "GPUs asked, % of all" : time);
    out_add(&x_name, s->arrivals ? "" : " since the run's start");
    c.x_name = x_name.bytes;
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
    out_free(&x_name);
    free(line);
}

void report_use(struct out *out, const struct section *s)
{
    section_part(out, s, "use", "Use of the cluster",
                 s->arrivals ? "Pods arrive and none leaves, until far more was asked than there "
                               "is: what counts is how much of it could be allocated."
                             : "How much of the cluster worked, and how many jobs stood in line.");
    section_legend(out, s);
    out_add(out, "<div class=\"charts\">\n");
    if (s->arrivals) {
        chart(out, s, "Allocation against arrived load, from 80 %",
              "Share of all GPUs that was allocated when so much had been asked. Higher is better; "
              "look where the lines part.",
              false, 80);
        chart(
            out, s, "Fragmented GPUs against arrived load",
            "Free GPUs that the popular asks of this list cannot use, as a share of all. Lower is "
            "better.",
            true, 0);
    } else {
        chart(out, s, "GPUs allocated over time",
              "Share of the GPUs in service that jobs held. Dips while jobs wait (beside) are "
              "capacity that could not be used.",
              false, 0);
        chart(out, s, "Jobs that wait over time",
              "Jobs in the queue. A line that does not come back to zero is a cluster that is "
              "asked for more than it has.",
              true, 0);
    }
    out_add(out, "</div>\n");
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

static void draw_refusals(struct out *out, const struct section *s, bool by_reason)
{
    struct parts p = {.value = memory_zeroed(sizeof(double) * REPORT_COLOURS * REPORT_POLICIES)};
    struct svg_stack bar[REPORT_POLICIES];
    struct svg_bars b = {.unit = "refusals", .bar = bar, .part_name = p.name};
    const struct series_found *f;

    for (unsigned i = 0; !by_reason && i < SERIES_SIZES - 1; i++)
        p.name[p.count++] = series_size_name(s->arrivals, i);
    for (uint32_t e = 0; e < s->entry_count; e++) {
        for (uint32_t i = 0; (f = section_run(s, e, i)); i++)
            gather_run(s, e, f, by_reason, &p);
        bar[e] = (struct svg_stack){.name = s->entry[e].name,
                                    .part = p.value + (size_t)e * REPORT_COLOURS};
    }
    b.title = by_reason ? "Refusals by reason" : "Refusals by size asked";
    b.text = by_reason
                 ? "How often the scheduler said no, and why. A job that waits long may be refused "
                   "many times. Look for reasons that one policy has and another has not."
                 : "The same refusals by the size of the job that was refused. Look for sizes that "
                   "are refused more often than they are asked.";
    b.x_name = "refusals, mean of seeds";
    b.bar_count = s->entry_count;
    b.part_count = p.count;
    b.first_colour = 3; /* the first ones mean policies everywhere else */
    svg_stacks(out, &b);
    free(p.value);
}

static uint64_t refusal_count(const struct section *s)
{
    const struct series_found *f;
    uint64_t count = 0;

    for (uint32_t e = 0; e < s->entry_count; e++)
        for (uint32_t i = 0; (f = section_run(s, e, i)); i++)
            count += f->reason_count; /* each has one at least */
    return count;
}

void report_refusals(struct out *out, const struct section *s)
{
    bool any = refusal_count(s) > 0;

    section_part(out, s, "refusals", "Refusals",
                 any ? "Every no of the run, counted." : "No job was refused: none had to wait.");
    if (!any)
        return;
    out_add(out, "<div class=\"charts\">\n");
    draw_refusals(out, s, true);
    draw_refusals(out, s, false);
    out_add(out, "</div>\n");
}
