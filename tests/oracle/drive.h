/* drive.h - a scheduler in memory that grows, fed with bytes and nothing else
 *
 * What an edge does: ask whether a batch might not fit, move to a larger block if so, step until
 * the queue was gone through, and keep the decisions of all those steps.
 */
#ifndef ORACLE_DRIVE_H
#define ORACLE_DRIVE_H

#include "core/engine/sched.h"

struct drive {
    struct sched s;
    void *block;
    struct limits limits;
    uint32_t grown;   /* moves so far */
    size_t bytes_max; /* a larger block is refused; 0: any */
};

/* limits: to start with; 0: the smallest. */
void drive_open(struct drive *d, const struct limits *limits);
void drive_close(struct drive *d);
/* Makes room for the batch. False: it wants more than bytes_max. */
bool drive_room(struct drive *d, const uint8_t *bytes, size_t size);
/* An exact copy, in a block of its own. */
void drive_copy(struct drive *to, const struct drive *from);

/* Limits that never need to grow for a world of the oracle's size. */
struct limits drive_ample(void);

#endif
