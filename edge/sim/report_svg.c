/* Drawings as inline SVG. Colours and type sizes come from the page's style sheet, so that light,
 * dark and narrow screens need no second drawing. */
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH     640.0
#define HEIGHT    320.0
#define LEFT      54.0
#define RIGHT     22.0
#define TOP       12.0
#define BOTTOM    46.0
#define TICKS_MAX 24u

struct axis {
    double low, high, step, from, to; /* values, and where they lie in the drawing */
};

static double place(const struct axis *a, double value)
{
    double span = a->high > a->low ? a->high - a->low : 1;

    return a->from + (value - a->low) / span * (a->to - a->from);
}

/* 1, 2 or 5 times a power of ten, so that there are at most `ticks` steps. */
static double nice_step(double span, double ticks)
{
    double raw = span / ticks, power = pow(10, floor(log10(raw > 0 ? raw : 1)));
    double digit = raw / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static void coordinate(struct out *out, double x, double y)
{
    out_real(out, x, 1);
    out_char(out, ',');
    out_real(out, y, 1);
}

static void tick_text(struct out *out, double value, double step)
{
    int decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : 2;

    value = fabs(value) < step / 2 ? 0 : value; /* never "-0" */

    if (value >= 1e6)
        out_format(out, "%gM", value / 1e6);
    else if (value >= 10000)
        out_format(out, "%gk", value / 1e3);
    else
        out_format(out, "%.*f", decimals, value);
}

static void open_figure(struct out *out, const char *title, double height)
{
    out_add(out, "<figure><figcaption>");
    out_html(out, title);
    out_format(out, "</figcaption><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>", WIDTH,
               height);
    out_html(out, title);
    out_add(out, "</title>\n");
}

/* The i-th mark of an axis. */
static double tick(const struct axis *a, unsigned i)
{
    return (ceil(a->low / a->step - 1e-9) + i) * a->step;
}

static void grid(struct out *out, const struct axis *x, const struct axis *y,
                 const struct svg_chart *c)
{
    for (unsigned i = 0; i < TICKS_MAX && tick(y, i) <= y->high + y->step * 1e-6; i++) {
        double v = tick(y, i), at = place(y, v);

        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">",
                   LEFT, WIDTH - RIGHT, at, at, LEFT - 8, at + 4);
        tick_text(out, v, y->step);
        out_add(out, "</text>\n");
    }
    for (unsigned i = 0; i < TICKS_MAX && tick(x, i) <= x->high + x->step * 1e-6; i++) {
        out_format(out, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">", place(x, tick(x, i)),
                   HEIGHT - BOTTOM + 18);
        tick_text(out, tick(x, i), x->step);
        out_add(out, "</text>\n");
    }
    out_format(out, "<line class=\"a\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
               WIDTH - RIGHT, HEIGHT - BOTTOM, HEIGHT - BOTTOM);
    out_format(out, "<text class=\"n m\" x=\"%.1f\" y=\"%.1f\">", (LEFT + WIDTH - RIGHT) / 2,
               HEIGHT - 6);
    out_html(out, c->x_name);
    out_format(out, "</text><text class=\"n m\" transform=\"translate(14,%.1f) rotate(-90)\">",
               (TOP + HEIGHT - BOTTOM) / 2);
    out_html(out, c->y_name);
    out_add(out, "</text>\n");
}

static void fit_axes(const struct svg_chart *c, struct axis *x, struct axis *y)
{
    *x = (struct axis){
        .low = (double)INFINITY, .high = -(double)INFINITY, .from = LEFT, .to = WIDTH - RIGHT};
    *y = (struct axis){
        .low = (double)INFINITY, .high = -(double)INFINITY, .from = HEIGHT - BOTTOM, .to = TOP};
    for (uint32_t i = 0; i < c->line_count; i++)
        for (uint32_t k = 0; k < c->line[i].count; k++) {
            x->low = fmin(x->low, c->line[i].x[k]);
            x->high = fmax(x->high, c->line[i].x[k]);
            y->low = fmin(y->low, c->line[i].low[k]);
            y->high = fmax(y->high, c->line[i].high[k]);
        }
    if (!isfinite(y->low) || !isfinite(x->low))
        x->low = y->low = 0, x->high = y->high = 1;
    if (!isnan(c->y_from))
        y->low = fmin(y->low, c->y_from);
    if (y->high <= y->low)
        y->high = y->low + 1;
    if (x->high <= x->low)
        x->high = x->low + 1;
    y->step = nice_step(y->high - y->low, 6);
    y->low = floor(y->low / y->step + 0.02) * y->step;
    y->high = ceil(y->high / y->step - 1e-9) * y->step;
    if (c->y_percent && y->high > 100)
        y->high = 100;
    x->step = nice_step(x->high - x->low, 8);
    if (x->low > 0 && x->low < x->step / 2)
        x->low = 0;
}

static void band(struct out *out, const struct svg_line *l, const struct axis *x,
                 const struct axis *y)
{
    bool wide = false;

    for (uint32_t k = 0; k < l->count; k++)
        wide |= l->high[k] > l->low[k];
    if (!wide)
        return;
    out_format(out, "<polygon class=\"b c%u\" points=\"", l->colour % REPORT_COLOURS);
    for (uint32_t k = 0; k < l->count; k++) {
        coordinate(out, place(x, l->x[k]), place(y, l->high[k]));
        out_char(out, ' ');
    }
    for (uint32_t k = l->count; k-- > 0;) {
        coordinate(out, place(x, l->x[k]), place(y, l->low[k]));
        out_char(out, ' ');
    }
    out_add(out, "\"/>\n");
}

/* Points that can be pointed at: about a dozen on each line. */
static void dots(struct out *out, const struct svg_line *l, const struct axis *x,
                 const struct axis *y)
{
    uint32_t every = l->count / 12 + 1;

    for (uint32_t k = every - 1; k < l->count; k += every) {
        out_format(out, "<circle class=\"p c%u\" r=\"7\" cx=\"%.1f\" cy=\"%.1f\"><title>",
                   l->colour % REPORT_COLOURS, place(x, l->x[k]), place(y, l->mean[k]));
        out_html(out, l->name);
        out_format(out, ": %.2f (%.2f to %.2f) at %.4g</title></circle>\n", l->mean[k], l->low[k],
                   l->high[k], l->x[k]);
    }
}

void svg_lines(struct out *out, const struct svg_chart *c)
{
    struct axis x, y;

    fit_axes(c, &x, &y);
    open_figure(out, c->title, HEIGHT);
    grid(out, &x, &y, c);
    for (uint32_t i = 0; i < c->line_count; i++)
        band(out, &c->line[i], &x, &y);
    for (uint32_t i = c->line_count; i-- > 0;) {
        const struct svg_line *l = &c->line[i];

        out_format(out, "<polyline class=\"l c%u\" points=\"", l->colour % REPORT_COLOURS);
        for (uint32_t k = 0; k < l->count; k++) {
            coordinate(out, place(&x, l->x[k]), place(&y, l->mean[k]));
            out_char(out, ' ');
        }
        out_add(out, "\"><title>");
        out_html(out, l->name);
        out_add(out, "</title></polyline>\n");
    }
    for (uint32_t i = 0; i < c->line_count; i++)
        dots(out, &c->line[i], &x, &y);
    out_add(out, "</svg></figure>\n");
}

/* --- bars --- */

#define BAR_HEIGHT   20.0
#define BAR_ROW      32.0
#define BAR_LEFT     118.0
#define BAR_RIGHT    64.0
#define NAME_COLUMNS 17

static void name_left(struct out *out, const char *name, double x, double y)
{
    char shown[80];
    size_t length = 0, columns = 0;

    while (name[length] && length < sizeof(shown) - 1) {
        columns += ((unsigned char)name[length] & 0xC0u) != 0x80u;
        if (columns > NAME_COLUMNS)
            break;
        shown[length] = name[length];
        length++;
    }
    shown[length] = '\0';
    out_format(out, "<text class=\"e s\" x=\"%.1f\" y=\"%.1f\">", x, y);
    out_html(out, shown);
    out_add(out, "</text>\n");
}

static void stack(struct out *out, const struct svg_bars *b, uint32_t i, double scale)
{
    double at = BAR_LEFT, y = TOP + i * BAR_ROW, total = 0;

    name_left(out, b->bar[i].name, BAR_LEFT - 8, y + BAR_HEIGHT * 0.72);
    for (uint32_t k = 0; k < b->part_count; k++) {
        double width = b->bar[i].part[k] * scale;

        total += b->bar[i].part[k];
        if (width <= 0)
            continue;
        out_format(out,
                   "<rect class=\"f c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">"
                   "<title>",
                   (b->part_count > 1 ? b->first_colour + k : b->bar[i].colour) % REPORT_COLOURS,
                   at, y, fmax(width - 1, 0.5), BAR_HEIGHT);
        out_html(out, b->bar[i].name);
        out_add(out, b->part_count > 1 ? ", " : "");
        out_html(out, b->part_name[k]);
        out_format(out, ": %.*f %s</title></rect>\n", summary_decimals(b->unit, b->bar[i].part[k]),
                   b->bar[i].part[k], b->unit);
        at += width;
    }
    out_format(out, "<text class=\"s\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n", at + 6,
               y + BAR_HEIGHT * 0.72, total < 100 ? 1 : 0, total);
}

static bool part_used(const struct svg_bars *b, uint32_t part)
{
    for (uint32_t i = 0; i < b->bar_count; i++)
        if (b->bar[i].part[part] > 0)
            return true;
    return false;
}

void svg_stacks(struct out *out, const struct svg_bars *b)
{
    double most = 0;

    for (uint32_t i = 0; i < b->bar_count; i++) {
        double total = 0;

        for (uint32_t k = 0; k < b->part_count; k++)
            total += b->bar[i].part[k];
        most = fmax(most, total);
    }
    if (strcmp(b->unit, "%") == 0)
        most = 100;
    open_figure(out, b->title, TOP + b->bar_count * BAR_ROW);
    for (uint32_t i = 0; i < b->bar_count; i++)
        stack(out, b, i, most > 0 ? (WIDTH - BAR_LEFT - BAR_RIGHT) / most : 0);
    out_add(out, "</svg>\n");
    if (b->part_count > 1) {
        out_add(out, "<ul class=\"k\">");
        for (uint32_t k = 0; k < b->part_count; k++) {
            if (!part_used(b, k))
                continue;
            out_format(out, "<li class=\"c%u\">", (b->first_colour + k) % REPORT_COLOURS);
            out_html(out, b->part_name[k]);
            out_add(out, "</li>");
        }
        out_add(out, "</ul>");
    }
    out_add(out, "</figure>\n");
}

/* --- ranges on a logarithmic axis --- */

static double log_place(double value, double low, double high)
{
    double at = (log10(fmax(value, low)) - log10(low)) / (log10(high) - log10(low));

    return BAR_LEFT + at * (WIDTH - BAR_LEFT - 24);
}

static void duration(struct out *out, double seconds)
{
    if (seconds < 60)
        out_format(out, "%.3g s", seconds);
    else if (seconds < 3600)
        out_format(out, "%.3g min", seconds / 60);
    else if (seconds < 86400)
        out_format(out, "%.3g h", seconds / 3600);
    else
        out_format(out, "%.3g d", seconds / 86400);
}

static void time_grid(struct out *out, double low, double high, double bottom)
{
    static const double mark[] = {1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000};

    for (unsigned i = 0; i < sizeof(mark) / sizeof(mark[0]); i++) {
        double x;

        if (mark[i] < low || mark[i] > high)
            continue;
        x = log_place(mark[i], low, high);
        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">",
                   x, x, TOP, bottom, x, bottom + 18);
        duration(out, mark[i]);
        out_add(out, "</text>\n");
    }
}

static void range_row(struct out *out, const struct svg_range *r, double y, double low, double high)
{
    unsigned colour = r->colour % REPORT_COLOURS;
    double x50 = log_place(r->p50, low, high), x90 = log_place(r->p90, low, high);
    double x99 = log_place(r->p99, low, high);

    out_format(out,
               "<g class=\"c%u\"><line class=\"r\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
               "y2=\"%.1f\"/><circle class=\"h\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"/>"
               "<circle class=\"f\" r=\"5\" cx=\"%.1f\" cy=\"%.1f\"/>"
               "<line class=\"r\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><title>",
               colour, x50, x99, y, y, x50, y, x90, y, x99, x99, y - 5, y + 5);
    out_html(out, r->name);
    out_add(out, ", ");
    out_html(out, r->group);
    out_add(out, ": half within ");
    duration(out, r->p50);
    out_add(out, ", 90 % within ");
    duration(out, r->p90);
    out_add(out, ", 99 % within ");
    duration(out, r->p99);
    out_add(out, "</title></g>\n");
}

void svg_ranges(struct out *out, const char *title, const char *x_name,
                const struct svg_range *range, uint32_t count)
{
    double low = 1, high = 600, y = TOP + 10, bottom;
    uint32_t groups = 0;

    for (uint32_t i = 0; i < count; i++) {
        high = fmax(high, range[i].p99 * 1.2);
        groups += i == 0 || strcmp(range[i].group, range[i - 1].group) != 0;
    }
    bottom = TOP + count * 16.0 + groups * 12.0;
    open_figure(out, title, bottom + 44);
    time_grid(out, low, high, bottom);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(range[i].group, range[i - 1].group) != 0) {
            y += i ? 12 : 0;
            name_left(out, range[i].group, BAR_LEFT - 12, y + 4);
        }
        range_row(out, &range[i], y, low, high);
        y += 16;
    }
    out_format(out, "<text class=\"n m\" x=\"%.1f\" y=\"%.1f\">", (BAR_LEFT + WIDTH) / 2,
               bottom + 38);
    out_html(out, x_name);
    out_add(out, "</text></svg></figure>\n");
}
