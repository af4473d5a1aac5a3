/* bench.h - a large busy cluster to measure on, and the clock
 *
 * Hosts of 8 GPUs, 8 hosts a leaf, 16 leaves a spine, 5 machines (models) spread over 50 node
 * classes, 200 pod classes; CPU, memory, pod limit and one countable resource are dynamic limits.
 * The cluster is filled with the Acme mix, then random pods leave until the occupancy is met. The
 * last pod classes are those of one node class each, so that a small part of the cluster can be
 * filled to the brim and asked for.
 *
 * Units   times in ns, sizes in bytes
 * Owner   bench_open() allocates, bench_close() frees.
 * Misuse  Out of memory ends in must(): these are no tests.
 */
#ifndef TESTS_KIT_BENCH_H
#define TESTS_KIT_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/prng.h"
#include "core/engine/sched.h"

#define BENCH_NODE_CLASSES  50
#define BENCH_POD_CLASSES   200
#define BENCH_PICKY_CLASS   199 /* a pod class of one node class */
#define BENCH_MODELS        5
#define BENCH_GPUS_PER_HOST 8

struct bench {
    struct sched s;
    void *block;
    uint64_t block_bytes, peak_bytes; /* peak: two blocks at a time while growing */
    uint8_t *bytes;                   /* the batch that is being written */
    size_t size, limit;
    struct prng prng;
    uint32_t hosts, next_key;
    int64_t est_ns_max; /* jobs state an estimate of at most so much; 0: none does */
    /* Sees every batch after its step; NULL: nobody looks. */
    void (*seen)(void *by, struct sched *s, const uint8_t *events, size_t size);
    void *seen_by;
};

/* What a job asks; milli 1000 is whole devices. */
struct bench_ask {
    uint32_t class_id;
    uint16_t milli;
    uint8_t gpus;
};

/* Without a step: the cluster is the first batch. */
void bench_open(struct bench *b, uint32_t gpus);
/* The same without hosts, levels and classes: the caller puts its own. */
void bench_open_bare(struct bench *b);
void bench_close(struct bench *b);

/* Events are gathered, and go in with the step; it makes room first where there is too little. */
void bench_put(struct bench *b, const struct event *e);
void bench_put_job(struct bench *b, struct bench_ask ask);
void bench_put_end(struct bench *b, uint32_t key);
void bench_step(struct bench *b);
/* Ends what waits. */
void bench_empty_queue(struct bench *b);

/* GPUs of the mix for one pod, and any pod class. */
uint8_t bench_draw_gpus(struct bench *b);
uint32_t bench_draw_class(struct bench *b);

/* Fills until hardly anything is free, then random pods leave until so many percent are held. */
void bench_fill(struct bench *b, unsigned percent);
/* Fills so many pods of the mix in. */
void bench_fill_pods(struct bench *b, uint32_t pods);
/* No host of the picky pod class keeps a free device. */
void bench_fill_picky(struct bench *b);
/* No host is wholly free: what is free is what small pods left, until so many percent are held. */
void bench_scatter(struct bench *b, unsigned percent);

/* Free GPUs, and hosts that are wholly free. */
uint64_t bench_free_gpus(const struct bench *b, uint32_t *ret_hosts);

int64_t bench_ns(void);
uint64_t bench_rss_bytes(void);
uint64_t bench_rss_peak_bytes(void);

/* Nearest rank; sorts. 0 of none. */
int64_t bench_percentile(int64_t *ns, uint32_t count, unsigned permille);

#endif
