/* metrics.h - the figures of one run, by the names of the decision log's format
 *
 * A sink that reads the records of a run and nothing else, so that whoever has the log and the
 * inputs can recompute each figure. One table below names them all, with unit and meaning; it is
 * also the reference page, the summary's order and the table's order on the terminal.
 *
 * Sums are integers (nano-GPUs, nanoseconds, 128 bits where they multiply); doubles appear only
 * when a figure is handed out, so that figures depend neither on order nor on the compiler.
 *
 * Names   A `*` stands for a size class by GPUs asked, rounded up (1, 2-7, 8, 9-15, 16-63, 64+,
 *         16+), a `@` for an arrived load in percent (50, 90, 100, 130), a `?` for a team.
 * Order   That of the table; within a row, classes, loads and teams in their own order.
 * Owner   metrics_open() to metrics_close(); values and names live as long.
 */
#ifndef EDGE_SIM_METRICS_H
#define EDGE_SIM_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "edge/sim/record.h"

/* Which way is better: METRIC_UP, METRIC_DOWN, or METRIC_FLAT for plain facts. */
enum metric_sense { METRIC_FLAT, METRIC_UP, METRIC_DOWN };

struct metric_value {
    const char *name;
    double value;
    bool known;   /* false: nothing to measure, such as a mean of no jobs */
    uint16_t row; /* of the table, for unit and meaning */
};

struct metrics; /* private */

/* arrivals: the position in w->openb->seed of the seed that runs; WORLD_NONE for a gang run. */
struct metrics *metrics_open(const struct world *w, uint32_t arrivals);
struct sink metrics_sink(struct metrics *m);
/* Reads the run as far as it came; more records may follow and a later call counts them too. */
uint32_t metrics_values(struct metrics *m, const struct metric_value **ret_values);
void metrics_close(struct metrics *m);

/* How things stand after the last record, for those who draw a run. */
struct metrics_now {
    double asked_pct;     /* arrival runs: GPUs asked so far over all */
    double allocated_pct; /* of all GPUs; gang runs: of those in service */
    double frag_pct;      /* arrival runs: F over all */
    uint32_t waiting;     /* gang runs: jobs, and the GPUs they ask */
    double waiting_gpus;
    uint64_t promises_kept, promises_excused; /* gang runs: as the figures of these names */
};
struct metrics_now metrics_now(const struct metrics *m);

#define METRIC_SIZES 6 /* 1, 2-7, 8, 9-15, 16-63, 64+ */

/* One gang as the figures count it. */
struct metrics_job {
    bool started, finished, asks_gpus;
    bool wants, hit;                      /* locality; it had it in every run */
    unsigned size;                        /* position of its size class */
    int64_t wait_ns;                      /* submit to first start */
    double gpus, gpu_h, hit_gpu_h;        /* asked; held by its runs, and by those that hit */
    uint32_t nodes, groups;               /* used at the last start; 0: not counted there */
    uint32_t fewest_nodes, fewest_groups; /* on an empty cluster; 0: not to be counted */
};
/* False in arrival runs, and before the job's submit. */
bool metrics_job(const struct metrics *m, uint32_t job, struct metrics_job *ret_job);
const char *metrics_size_name(unsigned size);

/* NULL: no such figure. */
const struct metric_value *metrics_find(const struct metric_value *values, uint32_t count,
                                        const char *name);

/* The table: names as written there, with * @ ? for what varies. */
uint32_t metrics_row_count(void);
const char *metrics_row_name(uint32_t row);
const char *metrics_row_unit(uint32_t row);
const char *metrics_row_text(uint32_t row);
enum metric_sense metrics_row_sense(uint32_t row);

/* docs/reference/metrics.md */
void metrics_reference(FILE *out);

#endif
