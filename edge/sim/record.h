/* record.h - one thing that happened in a run, on its way to the log, the metrics and the report
 *
 * The virtual cluster emits records in the order of their effect; every reader of a run is a sink.
 * A record says what the decision log's line says and nothing else, so that the figures of a run
 * can be recomputed from its log.
 *
 * Units   t_ns since the run's zero, never falling.
 * Owner   The sender's: a sink copies what it keeps.
 */
#ifndef EDGE_SIM_RECORD_H
#define EDGE_SIM_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/sim/world.h"

enum record_kind {
    RECORD_SUBMIT,
    RECORD_START,
    RECORD_GROW,
    RECORD_SHRINK,
    RECORD_REFUSE,
    RECORD_PROMISE,
    RECORD_PREEMPT,
    RECORD_MOVE,
    RECORD_EVENT,
    RECORD_FAIL,
    RECORD_FINISH,
};

/* Where one pod of a gang sits. devices: bit d set = device index d of the node. */
struct record_pod {
    uint32_t pod;    /* number through the gang */
    uint32_t podset; /* its podset, by position in the job */
    uint32_t node;
    uint16_t devices;
    uint8_t mig_slot;
};

enum record_fits { RECORD_FITS_NO, RECORD_FITS_YES, RECORD_FITS_UNPROVEN };

/* The constraints of a refusal's `binding`, one bit each, written in this order. */
#define RECORD_BINDING_MAP(X)                                                                      \
    X(BUSY, "busy")                                                                                \
    X(HEALTH, "health")                                                                            \
    X(CPU, "cpu")                                                                                  \
    X(MEM, "mem")                                                                                  \
    X(PODS, "pods")                                                                                \
    X(MODEL, "model")                                                                              \
    X(TOPOLOGY, "topology")

/* One named term of a placement's score, beside the runner-up's. */
struct record_term {
    const char *name, *unit; /* static texts */
    int64_t value, runner_up;
};

#define RECORD_TERMS_MAX 8

struct record_reason {
    const char *code; /* static text; NULL: the line has no reason */
    const char *text; /* the sentence, in English */
    /* refusals: what is proved; -1 where nothing is claimed */
    int64_t free_gpu_milli;
    int64_t best_pods;
    int32_t binding;  /* bits of RECORD_BINDING_MAP by position, or -1 */
    const char *cure; /* what would change it; NULL: nothing said */
    /* starts: the domain that holds the gang, and the score beside the runner-up's host */
    const char *domain_level, *domain; /* NULL: none said */
    uint32_t runner_up_node;           /* WORLD_NONE: there was no other place */
    uint8_t term_count;
    struct record_term term[RECORD_TERMS_MAX];
};

struct record {
    enum record_kind kind;
    int64_t t_ns;
    uint32_t job;     /* index into world.job; for openb the row of the arrival's pod */
    uint32_t arrival; /* openb: its position k, else WORLD_NONE */
    uint32_t pod_count;
    const struct record_pod *pods; /* start, grow, move; shrink uses pod only */
    enum record_fits fits;         /* refuse */
    bool final;                    /* refuse */
    bool saved;                    /* preempt, move */
    uint32_t by;                   /* shrink, preempt, move: a job or WORLD_NONE */
    const char *cause, *why;       /* static texts */
    int64_t by_ns;                 /* promise */
    uint32_t event;                /* RECORD_EVENT: index into world.event */
    struct record_reason reason;
    int64_t decide_ns; /* how long the decision took; for LOG.us only, -1: not a decision */
};

struct sink {
    void (*take)(void *context, const struct record *record);
    void *context;
};

#endif
