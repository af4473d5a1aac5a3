/* log.h - the decision log of a run, and its timings beside it
 *
 * A sink that writes one line per record in the format dovetail-decisions/2: a header, the records
 * in the order of their effect, and an end line with the SHA-256 of all bytes before it, the core's
 * own state digest and the figures of the run. Equal runs give byte-equal logs; what a clock said
 * goes to the second file, NAME.log.us, as "<line number> <microseconds>", in whole ones.
 *
 * Names   FOLDER/<workload>-<policy>-<seed>.log; the seed is 0 where the workload has none. For
 *         openb the workload is the list's short name in the file's name and the list's file name
 *         in the header. A byte that a file name cannot hold becomes `_`.
 * Order   Keys are written in the order of the format page; extra keys (`reason` of a start, `asks`
 *         of a submit) come last.
 * Errors  Writing goes on in silence after a full disk; log_close() says so with the file's name.
 */
#ifndef EDGE_SIM_LOG_H
#define EDGE_SIM_LOG_H

#include "edge/base/out.h"
#include "edge/sim/metrics.h"
#include "edge/sim/record.h"

struct log; /* private */

struct log_head {
    const char *policy, *version;
    uint32_t arrivals; /* position in w->openb->seed; WORLD_NONE for a gang run */
};

int log_open(struct log **ret_log, const struct world *w, const char *folder,
             const struct log_head *head, struct err *err);
struct sink log_sink(struct log *l);

/* Writes the end line and closes both files. */
int log_close(struct log *l, const char *state_digest, const struct metric_value *summary,
              uint32_t count, struct err *err);
/* Closes both files as they are, for a run that was stopped: a reader sees that the end is cut. */
int log_cut(struct log *l, struct err *err);

/* FOLDER/<workload>-<policy>-<seed>SUFFIX in t; FOLDER NULL: the bare name. */
void log_name(struct out *t, const struct world *w, const char *folder, const struct log_head *head,
              const char *suffix);
/* The workload as a file name says it: for openb the list's short name. */
void log_workload(struct out *t, const struct world *w);
int64_t log_seed(const struct world *w, const struct log_head *head);
/* A job's id as the log says it: for openb the arrival's position, a colon, the pod's name. */
void log_job(struct out *t, const struct world *w, uint32_t job, uint32_t arrival);

#endif
