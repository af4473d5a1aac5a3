/* Promises against starts: what was promised, what came, and which promises were broken. */
#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000LL
#define PLOT_LEFT 104.0
#define PLOT_SIZE 340.0

/* --- while the run goes --- */

struct promise {
    bool given;
    int64_t first_at_ns, first_by_ns, by_ns;
};
struct promises {
    uint32_t count;
    uint64_t starts; /* in time, of jobs with a promise */
    struct promise *job;
};

struct promises *promises_open(uint32_t jobs)
{
    struct promises *p = memory_zeroed(sizeof(*p));

    p->count = jobs;
    p->job = memory_zeroed(sizeof(*p->job) * (jobs + 1u));
    return p;
}

void promises_close(struct promises *p)
{
    free(p->job);
    free(p);
}

/* Bins of start minus `by`: early by more than a week, a day, 6 h, 1 h, 10 min, a minute, a second;
 * on time; late by up to a minute, 10 min, an hour, a day, or more. */
static unsigned bin_of(int64_t late_ns)
{
    static const int64_t edge_s[PROMISE_BINS - 1] = {-604800, -86400, -21600, -3600, -600, -60,
                                                     -1,      1,      60,     600,   3600, 86400};
    unsigned bin = 0;

    while (bin < PROMISE_BINS - 1 && late_ns >= edge_s[bin] * SECOND_NS)
        bin++;
    return bin;
}

static const char *const bin_name[PROMISE_BINS] = {
    "> 7 d early",    "1-7 d early",  "6-24 h early", "1-6 h early", "10-60 min early",
    "1-10 min early", "1-60 s early", "as promised",  "1-60 s late", "1-10 min late",
    "10-60 min late", "1-24 h late",  "> 1 d late"};

/* When the dots are full, every second one goes and later ones are as rare. Late starts are what a
 * reader looks for: they are not thinned. */
static void add_dot(struct promises *p, struct found_promise *f, const struct promise *j,
                    int64_t now_ns, enum promise_end end)
{
    struct found_dot dot = {.promised_s = (float)(j->first_by_ns - j->first_at_ns) / 1e9F,
                            .waited_s = (float)(now_ns - j->first_at_ns) / 1e9F,
                            .end = (uint8_t)end};

    if (end == PROMISE_EXCUSED || end == PROMISE_LATE) {
        if (f->late_count < FOUND_LATE)
            f->late[f->late_count++] = dot;
        return;
    }
    f->dot_every = f->dot_every ? f->dot_every : 1;
    if (p->starts++ % f->dot_every != 0)
        return;
    if (f->dot_count == FOUND_DOTS) {
        for (uint32_t i = 0; i < FOUND_DOTS / 2; i++)
            f->dot[i] = f->dot[(size_t)2 * i];
        f->dot_count = FOUND_DOTS / 2;
        f->dot_every *= 2;
        if ((p->starts - 1) % f->dot_every != 0)
            return;
    }
    f->dot[f->dot_count++] = dot;
}

void promises_take(struct promises *p, const struct record *r, const struct metrics_now *before,
                   const struct metrics_now *now, struct found_promise *f)
{
    struct promise *j = r->kind == RECORD_EVENT ? NULL : &p->job[r->job];

    if (r->kind == RECORD_PROMISE) {
        if (!j->given) {
            j->first_at_ns = r->t_ns;
            j->first_by_ns = r->by_ns;
        }
        f->moved += j->given && j->by_ns != r->by_ns;
        j->given = true;
        j->by_ns = r->by_ns;
    } else if (r->kind == RECORD_START && j->given) {
        enum promise_end end = r->t_ns < j->by_ns - SECOND_NS                     ? PROMISE_EARLY
                               : now->promises_kept > before->promises_kept       ? PROMISE_KEPT
                               : now->promises_excused > before->promises_excused ? PROMISE_EXCUSED
                                                                                  : PROMISE_LATE;

        f->count[end]++;
        f->bin[bin_of(r->t_ns - j->by_ns)]++;
        add_dot(p, f, j, r->t_ns, end);
        j->given = false;
    }
}

void promises_rest(const struct promises *p, struct found_promise *f)
{
    for (uint32_t i = 0; i < p->count; i++)
        f->count[PROMISE_OPEN] += p->job[i].given;
}

/* --- drawing --- */

static const char *const end_name[PROMISE_ENDS] = {
    "kept, earlier than promised", "kept, within a second", "late, with an excuse",
    "late, without an excuse", "no start by the end of the run"};

static struct found_promise *pool(const struct section *s, uint32_t e)
{
    struct found_promise *sum = memory_zeroed(sizeof(*sum));
    const struct series_found *f;

    for (uint32_t i = 0; (f = section_run(s, e, i)); i++) {
        const struct found_promise *p = &f->promise;

        if (i == 0) { /* dots of one run: the first */
            *sum = *p;
            continue;
        }
        sum->moved += p->moved;
        for (unsigned k = 0; k < PROMISE_ENDS; k++)
            sum->count[k] += p->count[k];
        for (unsigned k = 0; k < PROMISE_BINS; k++)
            sum->bin[k] += p->bin[k];
    }
    return sum;
}

static uint64_t total(const struct found_promise *p)
{
    uint64_t sum = 0;

    for (unsigned k = 0; k < PROMISE_ENDS; k++)
        sum += p->count[k];
    return sum;
}

static void table(struct out *out, const struct section *s, struct found_promise *const *p)
{
    out_add(out, "<figure><figcaption>What came of the promises<p>Waits that had a promise, by "
                 "what followed. The row &quot;late, without an excuse&quot; should be 0: such a "
                 "promise was broken. A promise that moved was given again with another date "
                 "before the start.</p>"
                 "</figcaption><div class=\"t\" tabindex=\"0\" role=\"region\" "
                 "aria-label=\"promises\"><table><thead><tr><th>promises</th>");
    for (uint32_t e = 0; e < s->entry_count; e++) {
        out_add(out, "<th>");
        out_html(out, s->entry[e].name);
        out_add(out, "</th>");
    }
    out_add(out, "</tr></thead><tbody>\n<tr><th>all</th>");
    for (uint32_t e = 0; e < s->entry_count; e++)
        out_format(out, "<td>%llu</td>", (unsigned long long)total(p[e]));
    for (unsigned k = 0; k < PROMISE_ENDS; k++) {
        out_format(out, "</tr>\n<tr><th>%s</th>", end_name[k]);
        for (uint32_t e = 0; e < s->entry_count; e++)
            out_format(out, "<td class=\"%s\">%llu</td>",
                       k == PROMISE_LATE && p[e]->count[k] > 0 ? "bad" : "",
                       (unsigned long long)p[e]->count[k]);
    }
    out_add(out, "</tr>\n<tr><th>times that one moved</th>");
    for (uint32_t e = 0; e < s->entry_count; e++)
        out_format(out, "<td>%llu</td>", (unsigned long long)p[e]->moved);
    out_add(out, "</tr></tbody></table></div></figure>\n");
}

static void histogram(struct out *out, const struct section *s, struct found_promise *const *p)
{
    static const char *const no_part[] = {""};
    struct svg_stack bar[PROMISE_BINS * REPORT_POLICIES];
    double value[PROMISE_BINS * REPORT_POLICIES];
    struct svg_bars chart = {
        .title = "Starts against the last promise",
        .text = "How much earlier or later than the promised moment jobs started. Long bars at the "
                "top mean cautious promises, bars below \"as promised\" mean that they slipped.",
        .unit = "starts",
        .compact = true,
        .x_name = "starts with a promise",
        .bar = bar,
        .part_count = 1,
        .part_name = no_part};

    for (unsigned k = 0; k < PROMISE_BINS; k++) {
        uint64_t any = 0;

        for (uint32_t e = 0; e < s->entry_count; e++)
            any += p[e]->bin[k];
        for (uint32_t e = 0; e < s->entry_count && any > 0; e++) {
            value[chart.bar_count] = (double)p[e]->bin[k];
            bar[chart.bar_count] = (struct svg_stack){.group = bin_name[k],
                                                      .name = s->entry[e].name,
                                                      .colour = s->entry[e].colour,
                                                      .part = &value[chart.bar_count]};
            chart.bar_count++;
        }
    }
    if (chart.bar_count > 0)
        svg_stacks(out, &chart);
}

static void dot(struct out *out, const struct section *s, uint32_t e, const struct axis *x,
                const struct axis *y, const struct found_dot *at)
{
    double cx = svg_log_place(x, (double)at->promised_s);
    double cy = svg_log_place(y, (double)at->waited_s);

    if (at->end == PROMISE_EXCUSED || at->end == PROMISE_LATE)
        out_format(out, "<path class=\"x %s\" d=\"M%.1f %.1fl8 8m0-8l-8 8\"/>\n",
                   at->end == PROMISE_LATE ? "bad" : "late", cx - 4, cy - 4);
    else
        out_format(out, "<circle class=\"f o c%u\" r=\"3.5\" cx=\"%.1f\" cy=\"%.1f\"/>\n",
                   s->entry[e].colour % REPORT_COLOURS, cx, cy);
}

static double farther(double high, const struct found_dot *at)
{
    return fmax(high, 1.2 * (double)fmaxf(at->promised_s, at->waited_s));
}

static void dots(struct out *out, const struct section *s, uint32_t e,
                 const struct found_promise *p)
{
    struct axis x = {.low = 1, .high = 600, .from = PLOT_LEFT, .to = SVG_WIDTH - 30};
    struct axis y = {.low = 1, .from = PLOT_SIZE - 50, .to = SVG_TOP};
    static const double mark[] = {1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000};
    char title[100], text[400], sample[40] = "";

    for (uint32_t i = 0; i < p->dot_count; i++)
        x.high = farther(x.high, &p->dot[i]);
    for (uint32_t i = 0; i < p->late_count; i++)
        x.high = farther(x.high, &p->late[i]);
    y.high = x.high;
    snprintf(title, sizeof(title), "Promised and real wait: %.40s", s->entry[e].name);
    if (p->dot_every > 1)
        snprintf(sample, sizeof(sample), " (in time: one of %u is drawn)", p->dot_every);
    snprintf(
        text, sizeof(text),
        "Each dot is a start that had a promise%s: across, how long its first promise asked it "
        "to wait; upwards, how long it waited from then. On the line is exactly as promised, "
        "below it earlier. A cross is a start later than the last promise: amber with an "
        "excuse, red without.",
        sample);
    svg_open(out, title, text, SVG_WIDTH, PLOT_SIZE);
    svg_log_grid(out, &x, SVG_TOP, y.from, true);
    out_format(out, "<line class=\"a\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x.from,
               y.from, x.to, y.to);
    for (unsigned i = 0; i < sizeof(mark) / sizeof(mark[0]) && mark[i] < y.high; i++) {
        double at = svg_log_place(&y, mark[i]);
        struct out name = {0};

        svg_duration(&name, mark[i]);
        svg_text(out, "e", x.from - 8, at + 4, name.bytes);
        out_free(&name);
        out_format(out, "<line class=\"g\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                   x.from, at, x.to, at);
    }
    for (uint32_t i = 0; i < p->dot_count; i++)
        dot(out, s, e, &x, &y, &p->dot[i]);
    for (uint32_t i = 0; i < p->late_count; i++)
        dot(out, s, e, &x, &y, &p->late[i]);
    svg_text(out, "n m", (x.from + x.to) / 2, PLOT_SIZE - 8, "promised wait, logarithmic");
    out_format(out,
               "<text class=\"n m\" transform=\"translate(18,%.1f) rotate(-90)\">real wait"
               "</text>",
               (y.from + y.to) / 2);
    svg_close(out);
}

void report_promises(struct out *out, const struct section *s)
{
    struct found_promise *p[REPORT_POLICIES];
    uint64_t all = 0;

    for (uint32_t e = 0; e < s->entry_count; e++) {
        p[e] = pool(s, e);
        all += total(p[e]);
    }
    section_part(out, s, "promises", "Promises against starts",
                 all > 0 ? "A promise says by when a waiting job starts at the latest. It may move "
                           "later only with an excuse: a failure, an overrun, a job of higher "
                           "priority, a change of teams."
                         : "No run gave a promise: no job had to wait under an order that promises "
                           "starts.");
    if (all > 0) {
        section_legend(out, s);
        out_add(out, "<div class=\"charts\">\n");
        table(out, s, p);
        histogram(out, s, p);
        for (uint32_t e = 0; e < s->entry_count; e++)
            if (p[e]->dot_count + p[e]->late_count > 0)
                dots(out, s, e, p[e]);
        out_add(out, "</div>\n");
    }
    for (uint32_t e = 0; e < s->entry_count; e++)
        free(p[e]);
}
