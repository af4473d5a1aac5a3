/* report_parts.h - what the report's files share; for report*.c alone
 *
 * Order   Policies are coloured by the order in which they were first added, the same in all
 * charts.
 */
#ifndef EDGE_SIM_REPORT_PARTS_H
#define EDGE_SIM_REPORT_PARTS_H

#include "edge/base/out.h"
#include "edge/sim/report.h"

#define SERIES_POINTS   480
#define SERIES_LOAD_MAX 300 /* percent arrived */
#define SERIES_SIZES    8
#define REPORT_COLOURS  10

struct series_point {
    double weight;            /* ns in the bucket; arrivals: 1 once it was reached */
    double allocated, second; /* sums over weight; second: fragmentation, or jobs that wait */
};

struct series_reason {
    char code[32];
    uint64_t count[SERIES_SIZES];
};

/* What a series found, without pointers, so that a copy is one assignment. */
struct series_found {
    bool arrivals;
    uint32_t last; /* arrivals: the last percent reached */
    int64_t start_ns, width_ns, end_ns;
    struct series_point point[SERIES_POINTS];
    uint32_t reason_count;
    struct series_reason reason[16]; /* the last one collects what does not fit */
};
const struct series_found *series_found(const struct series *s);
/* Sizes by their order in series_reason.count. */
const char *series_size_name(bool arrivals, unsigned size);

struct report_run {
    char *workload, *policy;
    int64_t seed;
    struct series_found *found;
};
struct report {
    char *version;
    struct report_run *run;
    size_t run_count, run_limit;
};

/* --- drawing --- */

struct svg_line { /* a policy over x: the mean and the band of its seeds */
    const char *name;
    unsigned colour;
    uint32_t count;
    double *x, *mean, *low, *high;
};
struct svg_chart {
    const char *title, *x_name, *y_name; /* names carry the unit */
    double y_from;                       /* lowest y shown at most; NAN: as the data say */
    bool y_percent;
    uint32_t line_count;
    struct svg_line *line;
};
void svg_lines(struct out *out, const struct svg_chart *chart);

struct svg_stack { /* one bar of parts */
    const char *name;
    unsigned colour; /* where there is one part only */
    double *part;
};
struct svg_bars {
    const char *title, *unit;
    uint32_t bar_count, part_count;
    struct svg_stack *bar;
    const char *const *part_name;
    unsigned first_colour; /* of the parts */
};
void svg_stacks(struct out *out, const struct svg_bars *bars);

struct svg_range { /* p50, p90, p99 of one class under one policy */
    const char *group, *name;
    unsigned colour;
    double p50, p90, p99;
};
void svg_ranges(struct out *out, const char *title, const char *x_name,
                const struct svg_range *range, uint32_t count);

/* --- the page --- */
extern const char report_style[];
void report_table(struct out *out, const struct summary *s, const char *workload,
                  const struct summary_group *group, uint32_t group_count, const char *baseline);

#endif
