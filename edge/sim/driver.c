#include "edge/sim/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "edge/base/memory.h"

#define EVENT_BYTES_MAX 8192 /* more than any event takes */

static void *block_new(const struct limits *l)
{
    size_t bytes = (sched_bytes(l) + 63) / 64 * 64;
    void *block = aligned_alloc(64, bytes);

    if (!block) {
        fprintf(stderr, "dovetail: the cluster needs %zu MiB of memory, which the system refuses\n",
                bytes >> 20);
        exit(ERR_TROUBLE);
    }
    return block;
}

void driver_open(struct driver *d, struct journal *journal)
{
    struct limits l = sched_limits_small();

    memset(d, 0, sizeof(*d));
    d->journal = journal;
    d->block = block_new(&l);
    sched_init(&d->sched, d->block, &l);
}

void driver_close(struct driver *d)
{
    free(d->block);
    free(d->batch);
    memset(d, 0, sizeof(*d));
}

void driver_event(struct driver *d, const struct event *e)
{
    struct wire_out w;

    if (d->batch_limit - d->batch_size < EVENT_BYTES_MAX) {
        d->batch_limit = (d->batch_limit + EVENT_BYTES_MAX) * 2;
        d->batch = memory_grow(d->batch, d->batch_limit);
    }
    w = (struct wire_out){.byte = d->batch + d->batch_size,
                          .limit = d->batch_limit - d->batch_size};
    event_put(&w, e);
    d->batch_size += w.size;
}

static int64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void driver_room(struct driver *d, const uint8_t *bytes, size_t size)
{
    struct limits l;

    while (sched_short(&d->sched, bytes, size, &l)) {
        void *larger = block_new(&l);

        sched_move(&d->sched, larger, &l);
        free(d->block);
        d->block = larger;
        d->moves++;
    }
}

void driver_step(struct driver *d,
                 void (*each)(void *context, const struct decision *decision,
                              const struct decision_seat *seats),
                 void *context)
{
    bool more = true;

    driver_room(d, d->batch, d->batch_size);
    for (size_t size = d->batch_size; more; size = 0) {
        int64_t start = clock_ns();

        more = sched_step(&d->sched, d->batch, size);
        d->step_ns = clock_ns() - start;
        d->steps++;
        if (d->journal)
            journal_batch(d->journal, &d->sched, d->batch, size);
        for (uint32_t n = 0; n < d->sched.decision_count && each; n++)
            each(context, &d->sched.decision[n], d->sched.seat + d->sched.decision[n].seat_first);
    }
    d->batch_size = 0;
}
