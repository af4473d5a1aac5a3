/* sched.h - the whole scheduler: facts in, wishes out
 *
 * One step applies a batch of events and then goes through the queue. Same history, same
 * configuration, same version: same decisions and same digest, on every machine, whatever the
 * limits were at each moment. Nothing is read but the events; nothing is written but the model and
 * the decisions of this step.
 *
 * Growth  Before a batch sched_short() says whether it might need more rows than there are, and how
 *         many it wants; the edge then moves the scheduler into a larger block. A step that is
 *         given a batch for which sched_short() says true is a bug of the edge.
 * Time    Some decisions wait for a date: after a step wake_ns says when the scheduler wants to be
 *         asked again, and the edge sends a tick then. A tick that never comes delays; it breaks
 *         nothing.
 * Owner   The caller owns the block. Decisions are valid until the next step.
 * Order   Events in the order of the bytes; decisions in the order of the queue. When a step's
 *         table of decisions is full it stops and sched_step() returns true: call again with no
 *         bytes (an empty batch, journalled as such) until it returns false.
 */
#ifndef ENGINE_SCHED_H
#define ENGINE_SCHED_H

#include "core/engine/event.h"
#include "core/place/explain.h"
#include "core/place/gang.h"

enum decision_kind {
    DECISION_START,
    DECISION_REFUSE,
    DECISION_PROMISE, /* seats: the room kept for it */
    DECISION_GROW,    /* seats: what is added */
    DECISION_SHRINK,  /* seats: what is taken */
    DECISION_BREAK,   /* the run stayed below its minimum for too long: it is stopped */
};

struct decision {
    enum decision_kind kind;
    uint32_t key; /* the job */
    uint32_t seat_first, seat_count;
    struct plan plan;       /* start */
    struct refusal refusal; /* refuse */
    bool final;             /* refuse: dropped for good, the core has forgotten the job */
    uint32_t team;          /* refuse by quota: the team whose limit it is */
    uint32_t by;            /* shrink: key of the job that gets the room; ROW_NONE: none */
    int64_t by_ns;          /* promise: the job starts by then */
};

/* One pod of a start, a growth, a shrinking or a promise, in the order of the pods. */
struct decision_seat {
    uint32_t pod, podset; /* podset: its position in the ask */
    uint32_t host;
    uint16_t devices;
    uint8_t slot, pad;
};

struct sched {
    struct model *m;
    struct decision *decision;
    struct decision_seat *seat;
    uint32_t decision_count, seat_count;
    uint32_t resume; /* position in the queue where a full table of decisions stopped the step */
    /* What a step must know that goes on where a full table stopped the one before. */
    uint32_t rounds, improved;
    bool everybody, held_back, room_came_back;
    enum wake wake;  /* what the scheduler would do at wake_ns if nothing happens before */
    int64_t wake_ns; /* INT64_MAX: it need not be woken */
};

size_t sched_bytes(const struct limits *l);
void sched_init(struct sched *s, void *block, const struct limits *l);
/* Carries everything into a block made for larger limits. */
void sched_move(struct sched *s, void *block, const struct limits *l);

/* Limits that suffice for a cluster of so many hosts before the first job: a start, not a bound. */
struct limits sched_limits_small(void);
/* True if the batch might not fit; *ret_limits are then the limits to move to. */
bool sched_short(const struct sched *s, const uint8_t *bytes, size_t size,
                 struct limits *ret_limits);

/* Applies the events, then decides. False: the queue was gone through. */
bool sched_step(struct sched *s, const uint8_t *bytes, size_t size);

uint64_t sched_digest(struct sched *s);

/* Decisions as bytes: what a journal holds and a replay compares. */
void sched_put_decisions(const struct sched *s, struct wire_out *w);

#endif
