/* Drawings as inline SVG. Colours and type sizes come from the page's style sheet, so that light,
 * dark and narrow screens need no second drawing. */
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TICKS_MAX 24u

double axis_place(const struct axis *a, double value)
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

void axis_round(struct axis *a, double ticks)
{
    if (a->high <= a->low)
        a->high = a->low + 1;
    a->step = nice_step(a->high - a->low, ticks);
    a->low = floor(a->low / a->step + 0.02) * a->step;
    a->high = ceil(a->high / a->step - 1e-9) * a->step;
}

static void coordinate(struct out *out, double x, double y)
{
    out_real(out, x, 1);
    out_char(out, ',');
    out_real(out, y, 1);
}

void axis_text(struct out *out, double value, double step)
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

void svg_open(struct out *out, const char *title, const char *text, double width, double height)
{
    out_add(out, "<figure><figcaption>");
    out_html(out, title);
    out_add(out, "<p>");
    out_html(out, text);
    out_format(out, "</p></figcaption><svg viewBox=\"0 0 %.0f %.0f\" role=\"img\"><title>", width,
               height);
    out_html(out, title);
    out_add(out, "</title>\n");
}

void svg_close(struct out *out)
{
    out_add(out, "</svg></figure>\n");
}

void svg_text(struct out *out, const char *class, double x, double y, const char *text)
{
    out_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
    out_html(out, text);
    out_add(out, "</text>\n");
}

void svg_name(struct out *out, const char *class, double x, double y, const char *name,
              size_t columns)
{
    char shown[80];
    size_t length = 0, used = 0;

    if (out_columns(name) <= columns) {
        svg_text(out, class, x, y, name);
        return;
    }
    while (name[length] && length < sizeof(shown) - 5) {
        used += ((unsigned char)name[length] & 0xC0u) != 0x80u;
        if (used >= columns)
            break;
        shown[length] = name[length];
        length++;
    }
    snprintf(shown + length, sizeof(shown) - length, "\xE2\x80\xA6");
    out_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"><title>", class, x, y);
    out_html(out, name);
    out_add(out, "</title>");
    out_html(out, shown);
    out_add(out, "</text>\n");
}

void svg_duration(struct out *out, double seconds)
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

/* The i-th mark of an axis. */
static double tick(const struct axis *a, unsigned i)
{
    return (ceil(a->low / a->step - 1e-9) + i) * a->step;
}

static void grid(struct out *out, const struct axis *x, const struct axis *y,
                 const struct svg_chart *c)
{
    for (unsigned i = 0; i < TICKS_MAX && tick(y, i) <= y->high + y->step * 1e-6; i++) {
        double v = tick(y, i), at = axis_place(y, v);

        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"e\" x=\"%.1f\" y=\"%.1f\">",
                   SVG_LEFT, SVG_WIDTH - SVG_RIGHT, at, at, SVG_LEFT - 8, at + 4);
        axis_text(out, v, y->step);
        out_add(out, "</text>\n");
    }
    for (unsigned i = 0; i < TICKS_MAX && tick(x, i) <= x->high + x->step * 1e-6; i++) {
        out_format(out, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">", axis_place(x, tick(x, i)),
                   SVG_HEIGHT - SVG_BOTTOM + 18);
        axis_text(out, tick(x, i), x->step);
        out_add(out, "</text>\n");
    }
    out_format(out, "<line class=\"a\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
               SVG_LEFT, SVG_WIDTH - SVG_RIGHT, SVG_HEIGHT - SVG_BOTTOM, SVG_HEIGHT - SVG_BOTTOM);
    svg_text(out, "n m", (SVG_LEFT + SVG_WIDTH - SVG_RIGHT) / 2, SVG_HEIGHT - 6, c->x_name);
    out_format(out, "<text class=\"n m\" transform=\"translate(18,%.1f) rotate(-90)\">",
               (SVG_TOP + SVG_HEIGHT - SVG_BOTTOM) / 2);
    out_html(out, c->y_name);
    out_add(out, "</text>\n");
}

static void fit_axes(const struct svg_chart *c, struct axis *x, struct axis *y)
{
    *x = (struct axis){.low = (double)INFINITY,
                       .high = -(double)INFINITY,
                       .from = SVG_LEFT,
                       .to = SVG_WIDTH - SVG_RIGHT};
    *y = (struct axis){.low = (double)INFINITY,
                       .high = -(double)INFINITY,
                       .from = SVG_HEIGHT - SVG_BOTTOM,
                       .to = SVG_TOP};
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
    axis_round(y, 6);
    if (x->high <= x->low)
        x->high = x->low + 1;
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
        coordinate(out, axis_place(x, l->x[k]), axis_place(y, l->high[k]));
        out_char(out, ' ');
    }
    for (uint32_t k = l->count; k-- > 0;) {
        coordinate(out, axis_place(x, l->x[k]), axis_place(y, l->low[k]));
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
                   l->colour % REPORT_COLOURS, axis_place(x, l->x[k]), axis_place(y, l->mean[k]));
        out_html(out, l->name);
        out_format(out, ": %.2f (%.2f to %.2f) at %.4g</title></circle>\n", l->mean[k], l->low[k],
                   l->high[k], l->x[k]);
    }
}

void svg_lines(struct out *out, const struct svg_chart *c)
{
    struct axis x, y;

    fit_axes(c, &x, &y);
    svg_open(out, c->title, c->text, SVG_WIDTH, SVG_HEIGHT);
    grid(out, &x, &y, c);
    for (uint32_t i = 0; i < c->line_count; i++)
        band(out, &c->line[i], &x, &y);
    for (uint32_t i = c->line_count; i-- > 0;) {
        const struct svg_line *l = &c->line[i];

        out_format(out, "<polyline class=\"l c%u\" points=\"", l->colour % REPORT_COLOURS);
        for (uint32_t k = 0; k < l->count; k++) {
            coordinate(out, axis_place(&x, l->x[k]), axis_place(&y, l->mean[k]));
            out_char(out, ' ');
        }
        out_add(out, "\"><title>");
        out_html(out, l->name);
        out_add(out, "</title></polyline>\n");
    }
    for (uint32_t i = 0; i < c->line_count; i++)
        dots(out, &c->line[i], &x, &y);
    svg_close(out);
}

/* --- time on a logarithmic axis --- */

double svg_log_place(const struct axis *a, double seconds)
{
    double at = (log10(fmax(seconds, a->low)) - log10(a->low)) / (log10(a->high) - log10(a->low));

    return a->from + fmin(at, 1) * (a->to - a->from);
}

void svg_log_grid(struct out *out, const struct axis *a, double top, double bottom, bool texts)
{
    static const double mark[] = {1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000, 31536000};
    double last = -100;

    for (unsigned i = 0; i < sizeof(mark) / sizeof(mark[0]); i++) {
        double x;

        if (mark[i] < a->low || mark[i] > a->high)
            continue;
        x = svg_log_place(a, mark[i]);
        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                   "y2=\"%.1f\"/>",
                   x, x, top, bottom);
        if (!texts || x - last < 56)
            continue;
        last = x;
        out_format(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", x > a->to - 20 ? "e" : "m",
                   x > a->to - 20 ? a->to + 12 : x, bottom + 18);
        svg_duration(out, mark[i]);
        out_add(out, "</text>\n");
    }
}
