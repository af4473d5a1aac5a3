/* The table on the terminal. Columns give way from the right of the middle: on a narrow terminal
 * first the spread goes, then the bound, then the baseline; the name and the mean always stay. */
#include "edge/sim/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "edge/base/memory.h"

#define WIDE_COLUMNS 100
#define CELL_BYTES   64
#define BOLD         "\033[1m"
#define DIM          "\033[2m"
#define GREEN        "\033[32m"
#define RED          "\033[31m"
#define PLAIN        "\033[0m"

enum column { COL_NAME, COL_UNIT, COL_MEAN, COL_SPREAD, COL_BASE, COL_DIFF, COL_BOUND, COL_COUNT };

struct cells {
    char text[COL_COUNT][CELL_BYTES];
    int better; /* 1, 0, -1 against the baseline */
};

struct layout {
    unsigned width[COL_COUNT]; /* 0: not shown */
};

struct summary_look summary_look(int fd, const char *baseline)
{
    struct summary_look look = {.baseline = baseline, .columns = WIDE_COLUMNS};
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    const char *columns = getenv("COLUMNS");
    struct winsize size;

    if (isatty(fd)) {
        look.colour = !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
        if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            look.columns = size.ws_col;
    }
    if (columns && strtoul(columns, NULL, 10) > 0 && strtoul(columns, NULL, 10) < 10000)
        look.columns = (unsigned)strtoul(columns, NULL, 10);
    return look;
}

static void figure_cells(const struct summary_figure *f, struct cells *c)
{
    const char *unit = metrics_row_unit(f->row);
    enum metric_sense sense = metrics_row_sense(f->row);
    int decimals = summary_decimals(unit, f->mean), ends = decimals;

    if (decimals < 2 && f->min == (double)(int64_t)f->min && f->max == (double)(int64_t)f->max)
        ends = 0;
    snprintf(c->text[COL_NAME], CELL_BYTES, "%s", f->name);
    snprintf(c->text[COL_UNIT], CELL_BYTES, "%s", unit);
    snprintf(c->text[COL_MEAN], CELL_BYTES, "%.*f", decimals, f->mean);
    if (f->seeds > 1 && f->min < f->max)
        snprintf(c->text[COL_SPREAD], CELL_BYTES, "%.*f..%.*f", ends, f->min, ends, f->max);
    if (f->has_baseline) {
        double diff = f->mean - f->baseline;
        int places = summary_decimals(unit, f->baseline) > decimals
                         ? summary_decimals(unit, f->baseline)
                         : decimals;

        snprintf(c->text[COL_BASE], CELL_BYTES, "%.*f", places, f->baseline);
        snprintf(c->text[COL_DIFF], CELL_BYTES, "%+.*f", places, diff);
        if (strtod(c->text[COL_DIFF], NULL) == 0)
            snprintf(c->text[COL_DIFF], CELL_BYTES, "=");
        else if (sense != METRIC_FLAT)
            c->better = (diff > 0) == (sense == METRIC_UP) ? 1 : -1;
    }
    if (f->has_bound)
        snprintf(c->text[COL_BOUND], CELL_BYTES, "%.*f", decimals, f->bound);
}

static void fit(struct layout *l, unsigned columns)
{
    static const enum column give_way[] = {COL_SPREAD, COL_UNIT, COL_BOUND, COL_BASE, COL_DIFF};

    for (unsigned i = 0; i < sizeof(give_way) / sizeof(give_way[0]); i++) {
        unsigned total = 0;

        for (unsigned c = 0; c < COL_COUNT; c++)
            total += l->width[c] ? l->width[c] + 2 : 0;
        if (total <= columns)
            return;
        l->width[give_way[i]] = 0;
    }
}

static void print_row(struct out *out, const struct layout *l, const struct cells *c, bool colour,
                      bool head)
{
    struct out row = {0};

    for (unsigned i = 0; i < COL_COUNT; i++) {
        bool left = i <= COL_UNIT;
        const char *paint = !colour                          ? ""
                            : head                           ? BOLD
                            : i == COL_DIFF && c->better > 0 ? GREEN
                            : i == COL_DIFF && c->better < 0 ? RED
                            : i != COL_NAME && i != COL_MEAN ? DIM
                                                             : "";
        size_t pad;

        if (l->width[i] == 0)
            continue;
        pad = l->width[i] - out_columns(c->text[i]);
        out_format(&row, "  %*s%s%s%s%*s", left ? 0 : (int)pad, "", paint, c->text[i],
                   *paint ? PLAIN : "", left ? (int)pad : 0, "");
    }
    while (row.length > 0 && row.bytes[row.length - 1] == ' ')
        row.bytes[--row.length] = '\0';
    out_format(out, "%s\n", row.bytes);
    out_free(&row);
}

static void print_group(const struct summary *s, const struct summary_group *g,
                        const struct summary_look *look, struct out *out)
{
    struct cells head = {.text = {"metric", "unit", "mean", "min..max", "", "+/-", "bound"}};
    struct layout layout = {0};
    struct cells *row = NULL;
    size_t count = 0, limit = 0;
    struct summary_figure f;

    if (look->baseline)
        snprintf(head.text[COL_BASE], CELL_BYTES, "%s", look->baseline);
    for (uint32_t i = 0; summary_figure(s, g, look->baseline, i, &f); i++) {
        if (f.seeds == 0)
            continue;
        row = out_grow(row, count, &limit, sizeof(*row));
        figure_cells(&f, &row[count]);
        for (unsigned c = 0; c < COL_COUNT; c++) {
            unsigned columns = (unsigned)out_columns(row[count].text[c]);

            layout.width[c] = columns > layout.width[c] ? columns : layout.width[c];
        }
        count++;
    }
    for (unsigned c = 0; c < COL_COUNT; c++)
        if (layout.width[c] > 0 && out_columns(head.text[c]) > layout.width[c])
            layout.width[c] = (unsigned)out_columns(head.text[c]);
    fit(&layout, look->columns);
    out_format(out, "%s%s under %s%s", look->colour ? BOLD : "", g->workload, g->policy,
               look->colour ? PLAIN : "");
    out_format(out, g->seeds > 1 ? ", %u seeds\n" : "\n", g->seeds);
    print_row(out, &layout, &head, look->colour, true);
    for (size_t i = 0; i < count; i++)
        print_row(out, &layout, &row[i], look->colour, false);
    free(row);
}

void summary_table(const struct summary *s, const struct summary_look *look, struct out *out)
{
    enum { GROUPS = 4096 };
    struct summary_group *group = memory_zeroed(sizeof(*group) * GROUPS);
    uint32_t count = summary_groups(s, group, GROUPS);

    for (uint32_t i = 0; i < count; i++) {
        if (i)
            out_char(out, '\n');
        print_group(s, &group[i], look, out);
    }
    free(group);
}
