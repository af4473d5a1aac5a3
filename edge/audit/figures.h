/* figures.h - what the report says, as numbers
 *
 * Capacity   Every device of a node is in one state: held, free, or, if not held: unhealthy, on a
 *            node that is not ready, on a node that is cordoned. The states add up to all.
 *
 * Shapes     For k GPUs a placement is k GPUs as equal pods of the largest divisor of k that a node
 *            holds, in one domain of the smallest level of host, first chain, cluster that can hold
 *            it empty. Stranded is 1 - k x placements / free GPUs, GPUs alone considered, as
 *            `simulate` has it. Startable is how many such jobs could start at once with what they
 *            ask beside GPUs and the taints there are. Free GPUs that no startable job would use
 *            are parted by cause, in a fixed order, so that the causes add up: what the pod limit
 *            keeps, then memory, then CPU, then taints and selectors, then other models, then free
 *            GPUs on hosts with too few of them, then hosts in domains with too few of those.
 *
 * Owners     A job holds a host open if it alone has GPUs on it and some are free.
 *
 * Waiting    The verdict is the core's: explain_refusal() of the pods that wait.
 *
 * Running    The scope that a gang spans beside the smallest that an empty cluster offers.
 *
 * Owner      figures_open() to figures_close().
 * Order      Models by GPUs; shapes by size; owners by hosts held open; waiting by age; running by
 *            GPUs; equal ones in the order of the dump.
 */
#ifndef EDGE_AUDIT_FIGURES_H
#define EDGE_AUDIT_FIGURES_H

#include "edge/audit/books.h"

struct figures_capacity {
    uint32_t model; /* of the facts */
    uint32_t nodes, all, held, free, unhealthy, not_ready, cordoned;
    uint32_t terminating; /* of those held */
};

#define FIGURES_CAUSE_MAP(X)                                                                       \
    X(PODS, "pods", "the node's pod limit")                                                        \
    X(MEM, "mem", "too little memory beside them")                                                 \
    X(CPU, "cpu", "too little CPU beside them")                                                    \
    X(CLASS, "taint", "taints or node selectors")                                                  \
    X(MODEL, "model", "another GPU model")                                                         \
    X(HOST, "host", "too few free on one host")                                                    \
    X(DOMAIN, "domain", "too few such hosts in one domain")
#define FIGURES_CAUSE_ENUM(NAME, code, words) CAUSE_##NAME,
enum figures_cause { FIGURES_CAUSE_MAP(FIGURES_CAUSE_ENUM) CAUSE_COUNT };

struct figures_shape {
    uint32_t gpus, pod_gpus, pods; /* pods x pod_gpus = gpus */
    uint32_t asked_by;             /* pods of the dump that ask this; 0: a standard shape */
    uint32_t model;                /* of the facts that it asks; FACTS_NONE: any */
    unsigned scope;                /* enum scope */
    bool possible;                 /* an empty cluster could hold one */
    int64_t cpu_milli, mem_mib;    /* per pod */
    uint32_t class_id;
    int64_t free, placements, startable;
    int64_t stranded_ppm; /* of free; -1: none is free */
    int64_t cause[CAUSE_COUNT];
};

struct figures_owner {
    uint32_t job, hosts, gpus; /* held there */
    int64_t free;              /* beside them */
};

enum figures_verdict { FIT_NEVER, FIT_SHORTAGE, FIT_FRAGMENTED, FIT_POLICY, FIT_OTHER, FIT_KINDS };

struct figures_waiting {
    uint32_t job, pods, gpus, pods_least; /* pods_least: that must start together */
    int64_t age_s;                        /* -1: not said */
    enum figures_verdict verdict;
    bool fits;
    enum reason_code code;
    uint32_t binding, best_pods, gate, message;
    unsigned scope; /* that is required */
    int64_t free_milli, ask_milli;
    bool by_class, affine, claims; /* taints or selectors alone; what is not read */
    bool blind;                    /* the dump has no nodes: its scheduler's word is all there is */
};

struct figures_running {
    uint32_t job, pods, gpus, hosts;
    unsigned scope, possible; /* spanned; smallest on an empty cluster */
};

enum { SIZE_2, SIZE_8, SIZE_9, SIZE_16, SIZE_64, SIZES };
struct figures_hits {
    uint32_t jobs, hits;
    int64_t gpus, gpus_hit;
};

struct figures {
    struct figures_capacity model[FACTS_MODELS_MAX], sum;
    uint32_t model_count;
    struct figures_shape *shape;
    struct figures_owner *owner;
    struct figures_waiting *waiting;
    struct figures_running *running; /* gangs that span more than they could */
    size_t shape_count, owner_count, waiting_count, running_count;
    size_t shape_limit, owner_limit, waiting_limit, running_limit;
    struct figures_hits hits[SIZES];
    uint32_t waiting_gpus, waiting_by[FIT_KINDS], gpus_by[FIT_KINDS];
    uint32_t open_hosts; /* with some GPUs held and some free */
};

/* now_s: for ages, in seconds since 1970. */
void figures_open(struct figures *g, struct books *b, int64_t now_s);
void figures_close(struct figures *g);

const char *figures_verdict_code(enum figures_verdict verdict);
const char *figures_cause_code(enum figures_cause cause);
const char *figures_cause_words(enum figures_cause cause);
const char *figures_size_words(unsigned size);
/* Free GPUs of a host that is in service. */
uint32_t figures_free(const struct books *b, uint32_t host);
/* The level of a scope with the smallest domains first: position 0 is the host. */
unsigned figures_ladder(const struct books *b, unsigned *ret_scope);

#endif
