/* report_parts.h - what the report's files share; for report*.c alone
 *
 * report_series.c samples a run, report_found.c counts its jobs once it is over, report_map.c
 * follows what every device carries. report.c puts a page together from sections; report_use.c,
 * report_waits.c, report_hits.c, report_spread.c, report_promise.c and the report_map_*.c files
 * each draw one section; report_svg*.c draw charts, report_page.c has style and table.
 *
 * Order   Policies are coloured by the order in which they were first added, the same in all
 *         charts; within a workload they stand in that order.
 * Text    Every chart has a title and a sentence that says what it shows and what to look for.
 */
#ifndef EDGE_SIM_REPORT_PARTS_H
#define EDGE_SIM_REPORT_PARTS_H

#include "edge/base/out.h"
#include "edge/sim/report.h"

#define SERIES_POINTS   480
#define SERIES_LOAD_MAX 300 /* percent arrived */
#define SERIES_SIZES    8
#define REPORT_COLOURS  10
#define REPORT_POLICIES 32
#define REPORT_DAY_NS   86400e9
#define REPORT_HOUR_NS  3600e9

/* --- what is known of one run --- */

struct series_point {
    double weight;            /* ns in the bucket; arrivals: 1 once it was reached */
    double allocated, second; /* sums over weight; second: fragmentation, or jobs that wait */
};

struct series_reason {
    char code[32];
    uint64_t count[SERIES_SIZES];
};

#define FOUND_WAITS  57 /* edges of waits: 1 s, then half a doubling each */
#define FOUND_SPANS  9  /* 1, 2, 3, 4, 5-6, 7-8, 9-16, 17-32, 33+ domains */
#define FOUND_EXTRA  9  /* 0, 1, 2, 3, 4, 5-6, 7-8, 9-16, 17+ more than needed */
#define FOUND_CHAINS 2  /* chains whose smallest level is counted */
#define FOUND_WORST  10
#define FOUND_DOTS   400
#define FOUND_LATE   200

struct found_wait {
    uint64_t jobs, within[FOUND_WAITS]; /* jobs that started within edge k */
};
struct found_hit {
    uint64_t wanted, hit;
    double gpu_h, hit_gpu_h;
};
struct found_worst { /* a gang that touched more domains than it needed */
    char name[48];
    uint32_t pods, spans, fewest;
    double gpus, gpu_h;
};
struct found_span { /* gangs of several pods by domains used and fewest possible */
    char level[32]; /* "": no such chain */
    uint64_t count[FOUND_SPANS][FOUND_EXTRA]; /* [fewest][used - fewest] */
    uint64_t jobs, fewest;                    /* all, and those with as few as possible */
    uint32_t worst_count;
    struct found_worst worst[FOUND_WORST];
};

/* A promise and what came of it; `by` is the last one given before the start. */
enum promise_end {
    PROMISE_EARLY, /* kept, more than a second before */
    PROMISE_KEPT,
    PROMISE_EXCUSED,
    PROMISE_LATE, /* without an excuse */
    PROMISE_OPEN, /* the run or the job ended before a start */
    PROMISE_ENDS,
};
#define PROMISE_BINS 13
struct found_dot {
    float promised_s, waited_s; /* from the first promise of the wait */
    uint8_t end;
};
struct found_promise {
    uint64_t count[PROMISE_ENDS], moved; /* moved: given again with another date */
    uint64_t bin[PROMISE_BINS];          /* start against `by`, from early to late */
    uint32_t dot_count, dot_every;       /* of the starts in time every so many have a dot */
    uint32_t late_count;                 /* of the late ones the first have */
    struct found_dot dot[FOUND_DOTS], late[FOUND_LATE];
};

struct map; /* report_map.h */

/* What a series found. Without the map it is without pointers. */
struct series_found {
    bool arrivals;
    uint32_t last; /* arrivals: the last percent reached */
    int64_t start_ns, width_ns, end_ns;
    struct series_point point[SERIES_POINTS];
    uint32_t reason_count;
    struct series_reason reason[16]; /* the last one collects what does not fit */
    struct found_wait wait[METRIC_SIZES];
    struct found_hit hit[METRIC_SIZES];
    struct found_span span[FOUND_CHAINS];
    struct found_promise promise;
    struct map *map; /* NULL: arrivals */
};
/* A copy of what the series knows, its jobs counted as they stand; found_free() gives it back. */
struct series_found *series_found(const struct series *s);
void found_free(struct series_found *f);
/* Sizes by their order in series_reason.count. */
const char *series_size_name(bool arrivals, unsigned size);

/* The jobs' part, from the metrics and from where each job's last whole gang sat. */
struct found_seat {
    uint32_t pods; /* 0: it never ran with all of its pods */
    uint32_t spans[FOUND_CHAINS];
};
void found_jobs(struct series_found *f, const struct world *w, const struct metrics *m,
                const struct found_seat *seat);
/* Smallest levels of the chains that found_span counts; -1: no such chain. */
int found_level(const struct world *w, unsigned chain);
int64_t found_wait_edge_ns(unsigned k);
const char *found_span_name(unsigned span);
const char *found_extra_name(unsigned extra);

/* Promises while the run goes. */
struct promises;
struct promises *promises_open(uint32_t jobs);
void promises_close(struct promises *p);
void promises_take(struct promises *p, const struct record *r, const struct metrics_now *before,
                   const struct metrics_now *now, struct found_promise *f);
/* Those that still wait are open. */
void promises_rest(const struct promises *p, struct found_promise *f);

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

/* --- one workload of the page --- */

struct entry { /* a policy within it */
    const char *name;
    unsigned colour;
    uint32_t runs;
};
struct section {
    const struct report *report;
    const struct summary *summary;
    const char *workload, *baseline;
    bool arrivals;
    uint32_t number;
    uint32_t entry_count;
    struct entry entry[REPORT_POLICIES];
};
/* The i-th run of the entry in the order of adding; NULL past the last. */
const struct series_found *section_run(const struct section *s, uint32_t entry, uint32_t i);
bool section_figure(const struct section *s, uint32_t entry, const char *name,
                    struct summary_figure *ret);
/* Nanoseconds of the longest run, at least 1. */
double section_span_ns(const struct section *s);
/* The unit for an axis over that: days or hours; its ns. */
const char *section_time_unit(const struct section *s, double *ret_ns);
void section_legend(struct out *out, const struct section *s);
/* A heading with the sentences under it; the part is an anchor's name. */
void section_part(struct out *out, const struct section *s, const char *part, const char *title,
                  const char *text);

void report_use(struct out *out, const struct section *s);
void report_refusals(struct out *out, const struct section *s);
void report_waits(struct out *out, const struct section *s);
void report_hits(struct out *out, const struct section *s);
void report_spread(struct out *out, const struct section *s);
void report_promises(struct out *out, const struct section *s);
/* True if the page needs the script for it. */
bool report_map(struct out *out, const struct section *s, size_t budget_bytes);

/* --- drawing --- */

#define SVG_WIDTH  640.0
#define SVG_HEIGHT 320.0
#define SVG_LEFT   62.0
#define SVG_RIGHT  22.0
#define SVG_TOP    12.0
#define SVG_BOTTOM 46.0

struct axis {
    double low, high, step, from, to; /* values, and where they lie in the drawing */
};
double axis_place(const struct axis *a, double value);
/* Widens low and high to multiples of a step of 1, 2 or 5 times a power of ten. */
void axis_round(struct axis *a, double ticks);
void axis_text(struct out *out, double value, double step);

/* <figure> with its caption and an open <svg>; both ends are the caller's or svg_close()'s. */
void svg_open(struct out *out, const char *title, const char *text, double width, double height);
void svg_close(struct out *out);
void svg_text(struct out *out, const char *class, double x, double y, const char *text);
/* The name cut to so many columns, with an ellipsis and the whole in a <title> if it is cut. */
void svg_name(struct out *out, const char *class, double x, double y, const char *name,
              size_t columns);
void svg_duration(struct out *out, double seconds);

struct svg_line { /* a policy over x: the mean and the band of its seeds */
    const char *name;
    unsigned colour;
    uint32_t count;
    double *x, *mean, *low, *high;
};
struct svg_chart {
    const char *title, *text, *x_name, *y_name; /* names carry the unit */
    double y_from;                              /* lowest y shown at most; NAN: as the data say */
    bool y_percent;
    uint32_t line_count;
    struct svg_line *line;
};
void svg_lines(struct out *out, const struct svg_chart *chart);

struct svg_stack {           /* one bar of parts */
    const char *group;       /* a line above the first bar of a group; NULL: none */
    const char *name, *note; /* note: at the bar's end instead of its total; NULL: the total */
    unsigned colour;         /* where there is one part only */
    double *part;
};
struct svg_bars {
    const char *title, *text, *unit, *x_name;
    double from;  /* where bars begin */
    bool compact; /* groups at the left, bars told apart by colour alone */
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
void svg_ranges(struct out *out, const char *title, const char *text, const char *x_name,
                const struct svg_range *range, uint32_t count);

/* Logarithmic time in seconds between two x; grid lines and their texts down to `bottom`. */
double svg_log_place(const struct axis *a, double seconds);
void svg_log_grid(struct out *out, const struct axis *a, double top, double bottom, bool texts);

/* --- the page --- */
extern const char *const report_style[]; /* NULL at the end */
extern const char *const report_script[];
void report_table(struct out *out, const struct summary *s, const char *workload,
                  const struct summary_group *group, uint32_t group_count, const char *baseline);

#endif
