/* batch.h - many runs at once: worlds x seeds x policies, on several threads, in one order
 *
 * Every run is alone in its driver, so any number of workers gives the same figures; results are
 * gathered in the order of the list.
 *
 * Errors  The first trouble in the order of the list is the batch's; runs that were done before a
 *         Ctrl-C are kept and count.
 */
#ifndef CMD_DOVETAIL_BATCH_H
#define CMD_DOVETAIL_BATCH_H

#include "edge/base/err.h"
#include "edge/sim/report.h"
#include "edge/sim/run.h"
#include "edge/sim/summary.h"

struct batch_run {
    const struct world *w;
    struct feed_options feed;
    uint32_t arrivals; /* openb: position of the seed; else WORLD_NONE */
};

struct batch_options {
    const char *out; /* folder for logs, journals, summary and report; NULL: none are written */
    unsigned workers;
    bool quiet;
};

/* Fills summary and, where out is given, report. *ret_done: runs that were finished. */
int batch_run_all(const struct batch_run *run, uint32_t count, const struct batch_options *o,
                  struct summary *summary, struct report *report, uint32_t *ret_done,
                  struct err *err);

#endif
