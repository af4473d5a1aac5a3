#include "tests/oracle/drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"

static void *block_new(size_t bytes)
{
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);

    must(block != NULL);
    return block;
}

struct limits drive_ample(void)
{
    struct limits l = sched_limits_small();

    for (unsigned t = 0; t < TABLE_COUNT; t++)
        l.rows[t] = t == TABLE_HOST ? 80 : t == TABLE_KIND ? 200 : t == TABLE_SEAT ? 4000 : 600;
    l.undo_rows = 4000;
    l.cells = 2000;
    l.seats_out = 2000;
    l.decisions = 1000;
    l.depth = 500;
    limits_fix(&l);
    return l;
}

void drive_open(struct drive *d, const struct limits *limits)
{
    *d = (struct drive){.limits = limits ? *limits : sched_limits_small()};
    d->block = block_new(sched_bytes(&d->limits));
    sched_init(&d->s, d->block, &d->limits);
}

void drive_close(struct drive *d)
{
    free(d->block);
    d->block = NULL;
}

bool drive_room(struct drive *d, const uint8_t *bytes, size_t size)
{
    struct limits l;

    while (sched_short(&d->s, bytes, size, &l)) {
        void *block;

        if (d->bytes_max && sched_bytes(&l) > d->bytes_max)
            return false;
        block = block_new(sched_bytes(&l));
        sched_move(&d->s, block, &l);
        free(d->block);
        d->block = block;
        d->limits = l;
        d->grown++;
    }
    return true;
}

void drive_copy(struct drive *to, const struct drive *from)
{
    size_t bytes = sched_bytes(&from->limits);

    *to = *from;
    to->block = block_new(bytes);
    memcpy(to->block, from->block, bytes);
    to->s.m = to->block;
    to->s.decision = (struct decision *)(void *)((char *)to->block +
                                                 ((char *)from->s.decision - (char *)from->block));
    to->s.seat = (struct decision_seat *)(void *)((char *)to->block +
                                                  ((char *)from->s.seat - (char *)from->block));
}
