/* The map as static drawings: where hosts stand, GPUs at one moment, hosts over time. Cells are
 * strokes of one path per colour: a few bytes each. */
#include "edge/sim/report_map.h"

#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL      15.0 /* above each domain */
#define GAP        12.0
#define CELL_MOST  24.0
#define CELL_LEAST 2.0
#define MAP_HEIGHT 450.0

/* --- layout --- */

static uint32_t domain_gpus(const struct map *m, const struct map_domain *d)
{
    uint32_t most = 1;

    for (uint32_t h = 0; h < d->host_count; h++)
        if (m->host[d->first_host + h].gpus > most)
            most = m->host[d->first_host + h].gpus;
    return most;
}

static double block_width(uint32_t gpus, uint32_t columns)
{
    return columns * gpus + (columns - 1) * 0.6;
}

static uint32_t host_rows(uint32_t hosts, uint32_t columns)
{
    return (hosts + columns - 1) / columns;
}

/* Hosts stand side by side until the domain is about as wide as it is high. */
static uint32_t host_columns(uint32_t gpus, uint32_t hosts)
{
    uint32_t columns = 1;

    while (columns < hosts && host_rows(hosts, columns) > 1.3 * block_width(gpus, columns))
        columns++;
    return columns;
}

static double flow(const struct map *m, struct map_layout *l, double s)
{
    double x = 0, y = 0, row = 0;

    for (uint32_t d = 0; d < m->domain_count; d++) {
        const struct map_domain *domain = &m->domain[d];
        uint32_t gpus = domain_gpus(m, domain), columns = l->columns[d];
        double width = block_width(gpus, columns) * s;
        double height = LABEL + host_rows(domain->host_count, columns) * s;

        if (x > 0 && x + width > SVG_WIDTH) {
            x = 0;
            y += row + GAP;
            row = 0;
        }
        l->label[d] = (struct map_place){x, y + LABEL - 4};
        for (uint32_t h = 0; h < domain->host_count; h++) {
            uint32_t down = h / columns, right = h % columns;

            l->host[domain->first_host + h] =
                (struct map_place){x + right * (gpus + 0.6) * s, y + LABEL + down * s};
        }
        x += width + GAP;
        row = fmax(row, height);
    }
    return y + row + 2;
}

struct map_layout map_layout(const struct map *m)
{
    struct map_layout l = {.cell = CELL_MOST};
    double widest = 1;

    l.host = memory_zeroed(sizeof(*l.host) * (m->host_count + 1));
    l.label = memory_zeroed(sizeof(*l.label) * (m->domain_count + 1));
    l.columns = memory_zeroed(sizeof(*l.columns) * (m->domain_count + 1));
    for (uint32_t d = 0; d < m->domain_count; d++) {
        uint32_t gpus = domain_gpus(m, &m->domain[d]);

        l.columns[d] = host_columns(gpus, m->domain[d].host_count);
        widest = fmax(widest, block_width(gpus, l.columns[d]));
    }
    l.height = flow(m, &l, l.cell);
    while (l.cell > CELL_LEAST && (l.height > MAP_HEIGHT || widest * l.cell > SVG_WIDTH)) {
        l.cell -= 0.5;
        l.height = flow(m, &l, l.cell);
    }
    return l;
}

void map_layout_free(struct map_layout *l)
{
    free(l->host);
    free(l->label);
    free(l->columns);
}

/* --- who has which colour --- */

struct held {
    double time;
    uint32_t team;
};

static int most_first(const void *a, const void *b)
{
    const struct held *x = a, *y = b;

    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    return (x->team > y->team) - (x->team < y->team);
}

static void sum_held(const struct map *m, struct held *held)
{
    uint32_t *value = memory_zeroed(sizeof(*value) * (m->cell_count + 1));

    for (size_t i = 0; i < m->change_count; i++)
        for (uint32_t k = 0; k < m->change[i].count; k++) {
            uint32_t at = m->change[i].cell + k, was = MAP_WHO(value[at]);
            uint32_t now = MAP_WHO(m->change[i].value);
            double t = (double)m->change[i].t_ns;

            if (was > MAP_SEVERAL && m->job[was - 2].team != WORLD_NONE)
                held[m->job[was - 2].team].time += t;
            if (now > MAP_SEVERAL && m->job[now - 2].team != WORLD_NONE)
                held[m->job[now - 2].team].time -= t;
            value[at] = m->change[i].value;
        }
    for (uint32_t at = 0; at < m->cell_count; at++)
        if (MAP_WHO(value[at]) > MAP_SEVERAL && m->job[MAP_WHO(value[at]) - 2].team != WORLD_NONE)
            held[m->job[MAP_WHO(value[at]) - 2].team].time += (double)m->end_ns;
    free(value);
}

void map_team_colours(const struct map *const *map, uint32_t count, uint8_t *ret_colour)
{
    uint32_t teams = map[0]->team_count;
    struct held *held = memory_zeroed(sizeof(*held) * (teams + 1));

    for (uint32_t i = 0; i < teams; i++)
        held[i].team = i;
    for (uint32_t i = 0; i < count; i++)
        sum_held(map[i], held);
    qsort(held, teams, sizeof(*held), most_first);
    for (uint32_t i = 0; i < teams; i++)
        ret_colour[held[i].team] =
            (uint8_t)(i < MAP_COLOURS - 1 || teams == MAP_COLOURS ? i : MAP_COLOURS - 1);
    free(held);
}

/* --- GPUs at one moment --- */

enum { CLASS_FREE = MAP_COLOURS, CLASS_SEVERAL, CLASS_FAILED, CLASS_DRAINED, CLASSES };

static const char *const class_name[] = {"mf", "ms", "mx", "md"}; /* from CLASS_FREE on */

/* The first nine or so sizes, so that a map without teams shows something: by size of job. */
static unsigned size_colour(uint32_t gpus)
{
    return gpus <= 1 ? 0 : gpus < 8 ? 1 : gpus == 8 ? 2 : gpus < 16 ? 3 : gpus < 64 ? 4 : 5;
}

static unsigned class_of(const struct map *m, const uint8_t *colour, uint32_t value)
{
    uint32_t who = MAP_WHO(value);

    if (who <= MAP_SEVERAL)
        return who ? CLASS_SEVERAL : CLASS_FREE;
    if (m->team_count < 2)
        return size_colour(m->job[who - 2].gpus);
    return m->job[who - 2].team == WORLD_NONE ? MAP_COLOURS - 1 : colour[m->job[who - 2].team];
}

static void stroke(struct out *out, double x, double y, double s)
{
    out_char(out, 'M');
    out_real(out, x, 1);
    out_char(out, ' ');
    out_real(out, y + (s - 1) / 2, 1);
    out_char(out, 'h');
    out_real(out, s - 1, 1);
}

static void sign(struct out *out, double x, double y, double s, bool cross)
{
    out_format(out, "M%.1f %.1fl%.1f %.1f", x, y + s - 1, s - 1, 1 - s);
    if (cross)
        out_format(out, "m0 %.1fl%.1f %.1f", s - 1, 1 - s, 1 - s);
}

static void still_cells(const struct map *m, const struct map_layout *l, const uint8_t *colour,
                        const uint32_t *value, struct out *path)
{
    for (uint32_t h = 0; h < m->host_count; h++)
        for (uint32_t d = 0; d < m->host[h].gpus; d++) {
            uint32_t v = value[m->host[h].cell + d];
            double x = l->host[h].x + d * l->cell, y = l->host[h].y;

            stroke(&path[class_of(m, colour, v)], x, y, l->cell);
            if (MAP_STATE(v) == MAP_FAILED)
                sign(&path[CLASS_FAILED], x, y, l->cell, true);
            if (MAP_STATE(v) == MAP_DRAINED)
                sign(&path[CLASS_DRAINED], x, y, l->cell, false);
        }
}

void map_still(struct out *out, const struct map *m, const struct map_layout *l,
               const uint8_t *colour, const char *policy, int64_t t_ns)
{
    uint32_t *value = memory_zeroed(sizeof(*value) * (m->cell_count + 1));
    struct out path[CLASSES] = {{0}};
    size_t next = 0;

    map_at(m, value, &next, t_ns);
    still_cells(m, l, colour, value, path);
    out_format(out,
               "<svg class=\"map\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"GPUs under ",
               SVG_WIDTH, l->height);
    out_html(out, policy);
    out_format(out, "\"><g class=\"cells\" stroke-width=\"%.1f\">\n", l->cell - 1);
    for (unsigned c = 0; c < CLASSES; c++) {
        if (!path[c].length)
            continue;
        if (c < CLASS_FREE)
            out_format(out, "<path class=\"m%u\" d=\"%s\"/>\n", c, path[c].bytes);
        else
            out_format(out, "<path class=\"%s\" d=\"%s\"/>\n", class_name[c - CLASS_FREE],
                       path[c].bytes);
    }
    out_add(out, "</g>\n");
    for (uint32_t d = 0; d < m->domain_count; d++) {
        double width = block_width(domain_gpus(m, &m->domain[d]), l->columns[d]) * l->cell;

        svg_name(out, "dl", l->label[d].x, l->label[d].y, map_text(m, m->domain[d].name),
                 (size_t)fmax((width + GAP) / 7, 2));
    }
    out_add(out, "</svg>\n");
    for (unsigned c = 0; c < CLASSES; c++)
        out_free(&path[c]);
    free(value);
}

/* --- hosts over time --- */

#define STRIP_COLUMNS 180u
#define STRIP_ROWS    384u
#define STRIP_LEFT    84.0
#define STRIP_LEVELS  8

struct spell {
    float busy, failed, drained; /* GPU x columns */
};
struct strip {
    const struct map *map;
    uint32_t rows;
    uint32_t *row_of; /* by host */
    uint32_t *gpus;   /* by row */
    struct spell *spell;
    double from, column_ns;
};

static void strip_rows(struct strip *s)
{
    const struct map *m = s->map;

    for (uint32_t h = 0; h < m->host_count; h++) {
        uint32_t d = m->host[h].domain;

        s->row_of[h] = m->host_count <= STRIP_ROWS     ? h
                       : m->domain_count <= STRIP_ROWS ? d
                                                       : d * STRIP_ROWS / m->domain_count;
        s->gpus[s->row_of[h]] += m->host[h].gpus;
        s->rows = s->row_of[h] + 1;
    }
}

/* One GPU had the value between two moments. */
static void add_spell(struct strip *s, uint32_t row, uint32_t value, double from, double to)
{
    double a = fmax((from - s->from) / s->column_ns, 0);
    double b = fmin((to - s->from) / s->column_ns, STRIP_COLUMNS);

    while (a < b) {
        uint32_t column = (uint32_t)a;
        double end = fmin(column + 1.0, b);
        struct spell *at = &s->spell[(size_t)row * STRIP_COLUMNS + column];

        at->busy += MAP_WHO(value) ? (float)(end - a) : 0;
        at->failed += MAP_STATE(value) == MAP_FAILED ? (float)(end - a) : 0;
        at->drained += MAP_STATE(value) == MAP_DRAINED ? (float)(end - a) : 0;
        a = end;
    }
}

static void strip_fill(struct strip *s, double to_ns)
{
    const struct map *m = s->map;
    uint32_t *value = memory_zeroed(sizeof(*value) * (m->cell_count + 1));
    uint32_t *row = memory_zeroed(sizeof(*row) * (m->cell_count + 1));
    double *since = memory_zeroed(sizeof(*since) * (m->cell_count + 1));

    for (uint32_t h = 0; h < m->host_count; h++)
        for (uint32_t d = 0; d < m->host[h].gpus; d++)
            row[m->host[h].cell + d] = s->row_of[h];
    for (size_t i = 0; i < m->change_count; i++)
        for (uint32_t k = 0; k < m->change[i].count; k++) {
            uint32_t at = m->change[i].cell + k;

            if (value[at])
                add_spell(s, row[at], value[at], since[at], (double)m->change[i].t_ns);
            value[at] = m->change[i].value;
            since[at] = (double)m->change[i].t_ns;
        }
    for (uint32_t at = 0; at < m->cell_count; at++)
        if (value[at])
            add_spell(s, row[at], value[at], since[at], fmin((double)m->end_ns, to_ns));
    free(value);
    free(row);
    free(since);
}

/* 0: idle; 1 to 8: so many eighths held; then failed, drained. */
static unsigned strip_class(const struct strip *s, uint32_t row, uint32_t column)
{
    const struct spell *at = &s->spell[(size_t)row * STRIP_COLUMNS + column];
    double all = s->gpus[row] ? s->gpus[row] : 1;
    double share = fmin((double)at->busy / all, 1);

    if ((double)at->failed > all / 2)
        return STRIP_LEVELS + 1;
    if ((double)at->drained > all / 2)
        return STRIP_LEVELS + 2;
    return share > 0.01 ? (unsigned)fmax(1, round(share * STRIP_LEVELS)) : 0;
}

static void strip_paths(struct out *out, const struct strip *s)
{
    static const char *const name[] = {"",   "h1", "h2", "h3", "h4", "h5",
                                       "h6", "h7", "h8", "hx", "hd"};
    struct out path[STRIP_LEVELS + 3] = {{0}};

    for (uint32_t r = 0; r < s->rows; r++)
        for (uint32_t c = 0, end; c < STRIP_COLUMNS; c = end) {
            unsigned class = strip_class(s, r, c);

            for (end = c + 1; end < STRIP_COLUMNS && strip_class(s, r, end) == class;)
                end++;
            if (class)
                out_format(&path[class], "M%u %uh%u", c, r, end - c);
        }
    for (unsigned c = 1; c < STRIP_LEVELS + 3; c++) {
        if (path[c].length)
            out_format(out, "<path class=\"%s\" d=\"%s\"/>\n", name[c], path[c].bytes);
        out_free(&path[c]);
    }
}

/* Domain names at the left, as many as have room. */
static void strip_labels(struct out *out, const struct strip *s, double height)
{
    const struct map *m = s->map;
    double last = -100;

    for (uint32_t d = 0; d < m->domain_count; d++) {
        uint32_t first = m->domain[d].first_host;
        uint32_t end = first + m->domain[d].host_count - 1;
        double top = SVG_TOP + s->row_of[first] * height;
        double middle = (top + SVG_TOP + (s->row_of[end] + 1) * height) / 2;

        if (d > 0)
            out_format(out, "<line class=\"v\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
                       STRIP_LEFT, SVG_WIDTH - SVG_RIGHT, top, top);
        if (middle - last < 18)
            continue;
        svg_name(out, "e", STRIP_LEFT - 6, middle + 4, map_text(m, m->domain[d].name), 9);
        last = middle;
    }
}

static void strip_axis(struct out *out, double span_ns, double bottom, const char *unit,
                       double unit_ns)
{
    struct axis x = {.high = span_ns / unit_ns, .from = STRIP_LEFT, .to = SVG_WIDTH - SVG_RIGHT};
    struct axis round = x;
    char title[48];

    axis_round(&round, 8);
    for (unsigned i = 0; i * round.step <= x.high * (1 + 1e-9); i++) {
        double at = i * round.step;

        out_format(out, "<text class=\"m\" x=\"%.1f\" y=\"%.1f\">", axis_place(&x, at),
                   bottom + 18);
        axis_text(out, at, round.step);
        out_add(out, "</text>\n");
    }
    snprintf(title, sizeof(title), "%s since the run's start", unit);
    svg_text(out, "n m", (x.from + x.to) / 2, bottom + 40, title);
}

void map_strip(struct out *out, const struct map *m, const char *policy, int64_t from_ns,
               int64_t to_ns, const char *unit, double unit_ns)
{
    struct strip s = {.map = m, .from = (double)from_ns};
    double span = fmax((double)(to_ns - from_ns), 1), height, bottom;
    char title[100], text[360];

    s.column_ns = span / STRIP_COLUMNS;
    s.row_of = memory_zeroed(sizeof(*s.row_of) * (m->host_count + 1));
    s.gpus = memory_zeroed(sizeof(*s.gpus) * (m->host_count + 1));
    strip_rows(&s);
    s.spell = memory_zeroed(sizeof(*s.spell) * STRIP_COLUMNS * (s.rows + 1u));
    strip_fill(&s, (double)to_ns);
    height = fmin(fmax(400.0 / (s.rows + 0.1), 1.5), 12);
    bottom = SVG_TOP + s.rows * height;
    snprintf(title, sizeof(title), "Hosts over time: %.40s", policy);
    snprintf(text, sizeof(text),
             "Each row is %s, ordered by %.31s; the stronger its colour, the more of its GPUs were "
             "held. Red is failed, amber is drained. Look for light stripes while jobs wait, and "
             "for work that "
             "is smeared over all domains instead of filling some.",
             m->host_count <= STRIP_ROWS     ? "a host"
             : m->domain_count <= STRIP_ROWS ? "a domain (there are too many hosts for a row each)"
                                             : "a few domains (there are too many for a row each)",
             map_text(m, m->level_name));
    svg_open(out, title, text, SVG_WIDTH, bottom + 48);
    out_format(out,
               "<rect class=\"z\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n"
               "<g class=\"strip\" transform=\"translate(%.1f,%.2f) scale(%.4f,%.4f)\">\n",
               STRIP_LEFT, SVG_TOP, SVG_WIDTH - SVG_RIGHT - STRIP_LEFT, bottom - SVG_TOP,
               STRIP_LEFT, SVG_TOP + height / 2,
               (SVG_WIDTH - SVG_RIGHT - STRIP_LEFT) / STRIP_COLUMNS, height);
    strip_paths(out, &s);
    out_add(out, "</g>\n");
    strip_labels(out, &s, height);
    strip_axis(out, span, bottom, unit, unit_ns);
    out_add(out,
            "</svg><ul class=\"k\"><li class=\"nf\">idle</li><li class=\"half\">half of it held"
            "</li><li class=\"c0\">all of it held</li><li class=\"red\">failed</li>"
            "<li class=\"amber\">drained or leaving</li></ul></figure>\n");
    free(s.row_of);
    free(s.gpus);
    free(s.spell);
}
