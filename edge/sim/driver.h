/* driver.h - the core in its block: batches in, decisions out, a journal of both
 *
 * The driver collects the events of one moment, makes room if the core asks for it, lets it step,
 * and writes what went in and came out to the journal. It is the only place of the simulator that
 * allocates for the core.
 *
 * Owner   driver_open() to driver_close().
 * Errors  Trouble with the journal is kept and told by driver_close().
 */
#ifndef EDGE_SIM_DRIVER_H
#define EDGE_SIM_DRIVER_H

#include "core/engine/sched.h"
#include "edge/base/err.h"
#include "edge/base/out.h"
#include "edge/sim/journal.h"

struct driver {
    struct sched sched;
    void *block;
    uint8_t *batch;
    size_t batch_size, batch_limit;
    struct journal *journal; /* NULL: none is kept */
    uint64_t steps, moves;   /* moves: times that the core was given a larger block */
    int64_t step_ns;         /* how long the last step took */
};

void driver_open(struct driver *d, struct journal *journal);
void driver_close(struct driver *d);

/* Makes room in the core for a batch. */
void driver_room(struct driver *d, const uint8_t *bytes, size_t size);
/* Adds to the batch of this moment. */
void driver_event(struct driver *d, const struct event *e);
/* Applies the batch and decides. The decisions of one table at a time go to each. */
void driver_step(struct driver *d,
                 void (*each)(void *context, const struct decision *decision,
                              const struct decision_seat *seats),
                 void *context);

#endif
