/* summary.h - all runs of one call side by side: summary.json and the table on the terminal
 *
 * One run is a workload under a policy with a seed. Runs with the same workload and policy form one
 * table: the mean over seeds of every figure that applies, its spread, the difference to the same
 * workload under a baseline policy, and a bound that no policy can pass where one is known.
 *
 * Order   Runs keep the order in which they were added; so do the tables. Add them in an order that
 *         does not depend on which finished first, and any number of workers gives equal output.
 * Owner   summary_open() to summary_close(); what is added is copied.
 * Errors  ERR_INPUT for a bounds file that cannot be understood, ERR_TROUBLE where writing fails.
 */
#ifndef EDGE_SIM_SUMMARY_H
#define EDGE_SIM_SUMMARY_H

#include "edge/base/out.h"
#include "edge/sim/metrics.h"

struct summary; /* private */

struct summary *summary_open(void);
void summary_close(struct summary *s);

/* seed -1 (none) is written as 0. */
void summary_add(struct summary *s, const char *workload, const char *policy, int64_t seed,
                 const struct metric_value *values, uint32_t count);

/* A CSV `list,arrived_pct,bound_pct,method` of proven limits of gar_@_pct. A file that does not
 * exist is fine: there are no bounds then. */
int summary_bounds(struct summary *s, const char *path, struct err *err);

/* FOLDER/summary.json: [{"workload","policy","seed","version","metrics":{...}}, ...] */
int summary_save(const struct summary *s, const char *folder, const char *version, struct err *err);
void summary_json(const struct summary *s, const char *version, struct out *out);

struct summary_look {
    const char *baseline; /* a policy; NULL or one that did not run: no such column */
    bool colour;
    unsigned columns;
};

/* Colour only on a terminal, without NO_COLOR and with a TERM that knows it; columns of the
 * terminal, or 100 where there is none. */
struct summary_look summary_look(int fd, const char *baseline);

void summary_table(const struct summary *s, const struct summary_look *look, struct out *out);

/* --- for readers of all runs, such as the report --- */

struct summary_figure {
    const char *name;
    uint16_t row; /* of the metrics table */
    uint32_t seeds;
    double mean, min, max;
    bool has_bound, has_baseline;
    double bound, baseline; /* baseline: the mean there */
};
struct summary_group {
    const char *workload, *policy;
    uint32_t seeds;
};
uint32_t summary_groups(const struct summary *s, struct summary_group *ret_group, uint32_t limit);
/* The i-th figure of the group that any of its runs knows; false past the last. */
bool summary_figure(const struct summary *s, const struct summary_group *group,
                    const char *baseline, uint32_t i, struct summary_figure *ret_figure);
/* Digits after the point that suit a figure of this unit. */
int summary_decimals(const char *unit, double value);

#endif
