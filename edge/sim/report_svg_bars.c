/* Bars, stacked or grouped, and ranges of waits: one row for each policy. */
#include "edge/sim/report_parts.h"

#include <math.h>
#include <string.h>

#define BAR_LEFT     150.0
#define BAR_RIGHT    112.0
#define BAR_AXIS     26.0
#define NAME_COLUMNS 15

/* group: what stands above a group's first bar, or only a gap. */
struct form {
    double height, row, group;
};
static const struct form forms[] = {{20, 30, 26}, {14, 17, 9}};

static double part_sum(const struct svg_bars *b, uint32_t i)
{
    double total = 0;

    for (uint32_t k = 0; k < b->part_count; k++)
        total += b->bar[i].part[k];
    return total;
}

static void part_title(struct out *out, const struct svg_bars *b, uint32_t i, uint32_t k)
{
    const struct svg_stack *bar = &b->bar[i];

    out_add(out, "<title>");
    if (bar->group) {
        out_html(out, bar->group);
        out_add(out, ", ");
    }
    out_html(out, bar->name);
    out_add(out, b->part_count > 1 ? ", " : "");
    out_html(out, b->part_name[k]);
    out_format(out, ": %.*f %s</title>", summary_decimals(b->unit, bar->part[k]), bar->part[k],
               b->unit);
}

static void stack(struct out *out, const struct svg_bars *b, uint32_t i, double y, double scale)
{
    double at = BAR_LEFT, total = part_sum(b, i), from = b->from;
    double height = forms[b->compact].height, text = y + height / 2 + 4.5;

    if (!b->compact)
        svg_name(out, "e s", BAR_LEFT - 8, text, b->bar[i].name, NAME_COLUMNS);
    for (uint32_t k = 0; k < b->part_count; k++) {
        double width = fmax(b->bar[i].part[k] - from, 0) * scale;

        from = fmax(from - b->bar[i].part[k], 0);
        if (width <= 0)
            continue;
        out_format(out,
                   "<rect class=\"f c%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\">",
                   (b->part_count > 1 ? b->first_colour + k : b->bar[i].colour) % REPORT_COLOURS,
                   at, y, fmax(width - 1, 0.5), height);
        part_title(out, b, i, k);
        out_add(out, "</rect>\n");
        at += width;
    }
    if (b->bar[i].note) {
        svg_text(out, "s", at + 6, text, b->bar[i].note);
        return;
    }
    out_format(out, "<text class=\"s\" x=\"%.1f\" y=\"%.1f\">%.*f</text>\n", at + 6, text,
               total < 100 && total > floor(total) ? 1 : 0, total);
}

static bool part_used(const struct svg_bars *b, uint32_t part)
{
    for (uint32_t i = 0; i < b->bar_count; i++)
        if (b->bar[i].part[part] > 0)
            return true;
    return false;
}

static bool new_group(const struct svg_bars *b, uint32_t i)
{
    return b->bar[i].group &&
           (i == 0 || !b->bar[i - 1].group || strcmp(b->bar[i].group, b->bar[i - 1].group) != 0);
}

static void parts_legend(struct out *out, const struct svg_bars *b)
{
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

static void bar_grid(struct out *out, const struct axis *x, double bottom)
{
    for (unsigned i = 0; x->low + i * x->step <= x->high + x->step / 2; i++) {
        double value = x->low + i * x->step, at = axis_place(x, value);

        out_format(out,
                   "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">",
                   at, at, SVG_TOP, bottom, at, bottom + 18);
        axis_text(out, value, x->step);
        out_add(out, "</text>\n");
    }
}

void svg_stacks(struct out *out, const struct svg_bars *b)
{
    const struct form *form = &forms[b->compact];
    double most = 0, height = SVG_TOP, y = SVG_TOP, scale;
    struct axis x = {.low = b->from, .from = BAR_LEFT, .to = SVG_WIDTH - BAR_RIGHT};

    for (uint32_t i = 0; i < b->bar_count; i++) {
        most = fmax(most, part_sum(b, i));
        height += form->row + (new_group(b, i) ? form->group : 0);
    }
    x.high = strcmp(b->unit, "%") == 0 ? 100 : most;
    axis_round(&x, 5);
    scale = (x.to - x.from) / (x.high - x.low);
    svg_open(out, b->title, b->text, SVG_WIDTH, height + BAR_AXIS * 2);
    bar_grid(out, &x, height);
    svg_text(out, "n m", (BAR_LEFT + SVG_WIDTH - BAR_RIGHT) / 2, height + BAR_AXIS + 18, b->x_name);
    for (uint32_t i = 0; i < b->bar_count; i++) {
        if (new_group(b, i)) {
            if (b->compact)
                svg_text(out, "e s", BAR_LEFT - 8, y + form->group + form->row / 2 + 4.5,
                         b->bar[i].group);
            else
                svg_text(out, "s w", 8, y + form->group * 0.66, b->bar[i].group);
            y += form->group;
        }
        stack(out, b, i, y + (form->row - form->height) / 2, scale);
        y += form->row;
    }
    out_add(out, "</svg>\n");
    if (b->part_count > 1)
        parts_legend(out, b);
    out_add(out, "</figure>\n");
}

/* --- ranges on a logarithmic axis --- */

static void range_row(struct out *out, const struct svg_range *r, double y, const struct axis *a)
{
    unsigned colour = r->colour % REPORT_COLOURS;
    double x50 = svg_log_place(a, r->p50), x90 = svg_log_place(a, r->p90);
    double x99 = svg_log_place(a, r->p99);

    out_format(out,
               "<g class=\"c%u\"><line class=\"r\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
               "y2=\"%.1f\"/><circle class=\"h\" r=\"4\" cx=\"%.1f\" cy=\"%.1f\"/>"
               "<circle class=\"f\" r=\"5\" cx=\"%.1f\" cy=\"%.1f\"/>"
               "<line class=\"r\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/><title>",
               colour, x50, x99, y, y, x50, y, x90, y, x99, x99, y - 6, y + 6);
    out_html(out, r->name);
    out_add(out, ", ");
    out_html(out, r->group);
    out_add(out, ": half within ");
    svg_duration(out, r->p50);
    out_add(out, ", 90 % within ");
    svg_duration(out, r->p90);
    out_add(out, ", 99 % within ");
    svg_duration(out, r->p99);
    out_add(out, "</title></g>\n");
}

void svg_ranges(struct out *out, const char *title, const char *text, const char *x_name,
                const struct svg_range *range, uint32_t count)
{
    struct axis a = {.low = 1, .high = 600, .from = 130, .to = SVG_WIDTH - 30};
    double y = SVG_TOP + 12, bottom;
    uint32_t groups = 0;

    for (uint32_t i = 0; i < count; i++) {
        a.high = fmax(a.high, range[i].p99 * 1.2);
        groups += i == 0 || strcmp(range[i].group, range[i - 1].group) != 0;
    }
    bottom = SVG_TOP + count * 18.0 + groups * 14.0;
    svg_open(out, title, text, SVG_WIDTH, bottom + 50);
    svg_log_grid(out, &a, SVG_TOP, bottom, true);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(range[i].group, range[i - 1].group) != 0) {
            y += i ? 14 : 0;
            svg_name(out, "e s", a.from - 12, y + 4, range[i].group, NAME_COLUMNS);
        }
        range_row(out, &range[i], y, &a);
        y += 18;
    }
    svg_text(out, "n m", (a.from + a.to) / 2, bottom + 42, x_name);
    svg_close(out);
}
