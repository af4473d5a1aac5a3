/* history.h - events made up from one seed, and what is left when some are dropped
 *
 * A history is a list of units, each an event with what belongs to it (a job with its podsets),
 * grouped into batches. It is made before the run and depends on no decision, so that dropping any
 * units leaves a history: that is how a failure is made small.
 *
 * Owner   history_free() frees what history_make() filled.
 */
#ifndef ORACLE_HISTORY_H
#define ORACLE_HISTORY_H

#include "core/base/prng.h"
#include "core/engine/event.h"

struct unit {
    uint32_t first, count; /* events */
    uint32_t batch;
    bool fixed; /* the world itself: never dropped */
};

struct history {
    uint64_t seed;
    struct event *event;
    struct unit *unit;
    uint32_t units, events, units_limit, events_limit;
    uint32_t batches;
    /* Every estimate is an upper bound, and nothing fails or is changed from outside: promises are
     * then kept without any excuse but a job of a higher priority. */
    bool honest;
};

/* How large and how wild. */
struct style {
    unsigned hosts_least, hosts_most, jobs, batches, pods_most, podsets_most;
    unsigned units_most; /* of one batch */
    bool large_hosts;    /* 1 to 16 devices instead of 4 */
    bool wild;           /* unknown seats, confirmations, relabelled hosts, events that err */
    bool all_scorers;
};

void history_make(struct history *h, uint64_t seed, const struct style *s);
void history_free(struct history *h);
/* How much of its estimate the job's run takes, in thousandths; what it takes without one, in s. */
unsigned history_lasts_permille(const struct history *h, uint32_t key);
unsigned history_lasts_s(const struct history *h, uint32_t key);
/* The same history without the units whose keep is 0. */
void history_cut(struct history *to, const struct history *from, const uint8_t *keep);

/* 3 hosts of 4 devices, 6 jobs. */
extern const struct style style_small;
/* The same with more jobs and all that may happen. */
extern const struct style style_gale;
/* Up to 12 hosts of any size, 60 jobs, all that may happen. */
extern const struct style style_storm;

#endif
