/* run.h - the virtual cluster: a world's time passes, the core decides, records come out
 *
 * At each moment, in this order: runs that end give their GPUs back; what the world's events say
 * happens, and what sat on failed parts fails; jobs are submitted; then the core decides once, and
 * its starts run from that moment. Progress is exact to the nanosecond: a run advances by
 * speed / factor, keeps what its checkpoints say when it is stopped, and ends when run_s is done.
 *
 * Order   Ends of equal time by job; events and submits in the order of the file.
 * Owner   Sinks outlive the run.
 * Errors  ERR_INPUT if the world has more of something than the core numbers. A run that was asked
 *         to stop returns 0 with *ret_stopped set: what its sinks hold so far is true.
 */
#ifndef EDGE_SIM_RUN_H
#define EDGE_SIM_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/sim/feed.h"
#include "edge/sim/journal.h"
#include "edge/sim/record.h"

#define RUN_SINKS_MAX 6

struct run_options {
    struct feed_options feed;
    uint32_t arrivals; /* openb: position of the seed in world.openb; else WORLD_NONE */
    struct journal *journal;
    struct sink sink[RUN_SINKS_MAX];
    unsigned sink_count;
    /* told now and then how much of the run is done; true asks the run to stop */
    bool (*tick)(void *context, uint64_t done, uint64_t all);
    void *context;
};

struct run_result {
    uint64_t digest, steps, moves, ignored;
    bool stopped;
};

int run_world(const struct world *w, const struct run_options *o, struct run_result *ret_result,
              struct err *err);

#endif
