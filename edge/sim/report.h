/* report.h - one HTML file that shows a comparison: what was allocated, what was wasted, who waited
 *
 * A struct series is a sink that samples one run while it goes; a struct report collects the series
 * of all runs and writes one page with its own style and drawings. The page loads nothing, follows
 * the reader's light or dark preference, and reads well on a telephone and on paper.
 *
 * Units   Loads and shares in percent, time in ns until it is drawn.
 * Order   A series must take each record after the metrics that it was opened with.
 * Owner   A report copies what it is given.
 * Errors  ERR_TROUBLE where writing fails; no half-written page replaces a good one.
 */
#ifndef EDGE_SIM_REPORT_H
#define EDGE_SIM_REPORT_H

#include "edge/sim/metrics.h"
#include "edge/sim/summary.h"

struct series; /* private */

/* arrivals as for metrics_open(). */
struct series *series_open(const struct world *w, uint32_t arrivals, const struct metrics *m);
struct sink series_sink(struct series *s);
void series_close(struct series *s);

struct report; /* private */

struct report *report_open(const char *version);
void report_close(struct report *r);
void report_add(struct report *r, const char *workload, const char *policy, int64_t seed,
                const struct series *series);
/* s has the figures of the same runs; baseline as for the table. */
int report_save(const struct report *r, const struct summary *s, const char *baseline,
                const char *path, struct err *err);

#endif
