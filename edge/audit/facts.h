/* facts.h - what a dump says of a cluster, as far as it concerns GPUs
 *
 * Objects come one by one, in any order, and become rows of numbers; facts_settle() then joins
 * them: pods with their nodes and jobs, labels with levels. Nothing is guessed. What is missing,
 * said twice or contradicts itself is counted as an odd, with an example, for the report.
 *
 * A node has devices of one resource: the first of a table of vendors' names of which it has any.
 * Slices of MIG and shares of time slicing are no devices; they are counted apart.
 *
 * Units   Devices; CPU in milli-cores, memory in MiB, times in seconds since 1970.
 * Owner   facts_open() to facts_close().
 * Order   Rows in the order of the dump.
 */
#ifndef EDGE_AUDIT_FACTS_H
#define EDGE_AUDIT_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/audit/names.h"
#include "edge/base/tree.h"

#define FACTS_NONE       UINT32_MAX
#define FACTS_MODELS_MAX 64u
#define FACTS_LEVELS_MAX 12u

/* X(NAME, words): what is odd about a dump. Words with %s show the first example. */
#define FACTS_ODD_MAP(X)                                                                           \
    X(OVERBOOKED, "more GPUs are asked on a node than it has; the excess is not counted as held")  \
    X(NODE_GONE, "pods with GPUs stand on nodes that are not in the dump")                         \
    X(UNHEALTHY, "nodes offer fewer GPUs than they have: the rest is unhealthy or withheld")       \
    X(OVER_CAPACITY, "nodes say that more can be allocated than there is")                         \
    X(TWICE, "objects stand in the dump twice; the first one counts")                              \
    X(TWO_CLUSTERS, "one name belongs to two different objects: is this more than one cluster?")   \
    X(QUANTITY, "quantities cannot be read; they count as 0")                                      \
    X(SHARED_NODE, "nodes share GPUs in time; they count whole, held as far as pods may touch")    \
    X(MIG_NODE, "nodes offer MIG slices, which this report does not count as GPUs")                \
    X(SHARED_POD, "pods hold part of a GPU by annotation; each counts as one GPU held")            \
    X(LARGE_NODE, "nodes have more than 16 GPUs; 16 of them are counted")                          \
    X(NO_PRODUCT, "nodes with GPUs have no label that names the GPU's model")                      \
    X(NOT_READY, "nodes with GPUs are not ready")                                                  \
    X(NO_LEVEL, "nodes with GPUs lack a label of a level that others have")                        \
    X(DEVICES_UNKNOWN, "running pods hold GPUs of which the dump does not say which ones")         \
    X(CPU_OVER, "pods ask for more CPU or memory than their node has left")                        \
    X(CLAIMS, "waiting pods ask for devices by resource claims, which this report does not read")  \
    X(MODELS, "GPU models beyond the 64th are counted as one")                                     \
    X(CLASSES, "kinds of node taints and labels beyond the 256th are not told apart")              \
    X(STALE, "pods are said not to fit, and would fit as the dump stands")
#define FACTS_ODD_ENUM(NAME, words) ODD_##NAME,
enum facts_odd_kind { FACTS_ODD_MAP(FACTS_ODD_ENUM) ODD_COUNT };

struct facts_odd {
    uint32_t count;
    uint32_t example; /* name of the first */
    int64_t gpus;     /* that it concerns, where that can be said */
};

struct facts_model {
    uint32_t resource, product; /* names; product 0: not said */
    int64_t gpu_mem_mib;        /* 0: not said */
};

struct facts_node {
    uint32_t name, uid;
    uint32_t model;    /* FACTS_NONE: no GPUs */
    uint32_t capacity; /* devices there are, at most 16 */
    uint32_t allocatable;
    uint32_t replicas;                /* shares per device, 1: whole devices */
    int64_t cpu_milli, mem_mib, pods; /* allocatable; -1: not said */
    uint32_t label_first, label_count, taint_first, taint_count;
    bool ready, cordoned;
    uint32_t domain[FACTS_LEVELS_MAX]; /* by level: a number within it; FACTS_NONE: none */
    /* by facts_settle() */
    uint32_t asked; /* devices that its pods ask */
    uint32_t terminating;
};

struct facts_label {
    uint32_t key, value;
};

enum facts_effect { EFFECT_ANY, EFFECT_NO_SCHEDULE, EFFECT_NO_EXECUTE, EFFECT_PREFER };
struct facts_taint {
    uint32_t key, value;
    uint8_t effect; /* enum facts_effect */
};
struct facts_toleration {
    uint32_t key, value; /* key 0: every key */
    uint8_t effect;
    bool exists;
};

enum facts_op { OP_IN, OP_NOT_IN, OP_EXISTS, OP_ABSENT, OP_GT, OP_LT, OP_NEVER };
/* One line of a selector. Lines of term 0 must all hold; of the other terms one must, in full. */
struct facts_need {
    uint32_t key, value_first, value_count;
    uint16_t term;
    uint8_t op; /* enum facts_op */
    bool field; /* of the node's name, not of a label */
};

enum facts_phase { PHASE_WAITS, PHASE_HOLDS, PHASE_OVER };

struct facts_pod {
    uint32_t name, space, uid; /* name: "space/name" */
    uint32_t node_name, node;  /* node: its row; FACTS_NONE: none, or unknown */
    uint32_t job;
    uint32_t resource; /* name; 0: asks no GPUs */
    uint32_t gpus;
    int64_t cpu_milli, mem_mib;
    int64_t created_s; /* 0: not said */
    uint32_t need_first, need_count, toleration_first, toleration_count;
    uint32_t message, gate, level_key; /* names: of PodScheduled, a gate, a required level */
    int32_t priority;
    uint8_t phase; /* enum facts_phase */
    bool terminating, fixed, shares, claims, affine;
};

struct facts_job {
    uint32_t name;       /* "space/kind/name" */
    uint32_t pods_least; /* of the gang, as its group says; 0: it does not say */
    bool gang;           /* its pods belong together */
    uint32_t pod_head;   /* pods of the job that ask GPUs, by facts_settle(): first, */
    uint32_t holding, waiting, gpus_held, gpus_waiting; /* counts of these */
};

struct facts_level {
    uint32_t key;     /* name of the label */
    uint8_t chain;    /* levels of one chain nest */
    uint8_t rank;     /* 0: the smallest of its chain */
    uint32_t domains; /* in it */
    uint32_t lacking; /* nodes with GPUs that have no such label */
};

struct facts {
    struct names names;
    struct facts_model model[FACTS_MODELS_MAX];
    uint32_t model_count;
    struct facts_node *node;
    struct facts_pod *pod;
    struct facts_job *job;
    struct facts_label *label;
    struct facts_taint *taint;
    struct facts_toleration *toleration;
    struct facts_need *need;
    uint32_t *value;    /* of needs: names */
    uint32_t *pod_next; /* by pod: the next of its job */
    size_t node_count, pod_count, job_count, label_count, taint_count, toleration_count, need_count;
    size_t value_count;
    size_t node_limit, pod_limit, job_limit, label_limit, taint_limit, toleration_limit;
    size_t need_limit, value_limit;
    uint32_t *row_of; /* by name of "n:...", "p:...", "j:...": its row + 1 */
    size_t row_limit;
    struct facts_level level[FACTS_LEVELS_MAX];
    uint32_t level_count;
    struct facts_odd odd[ODD_COUNT];
    uint32_t gpu_nodes, other_kinds; /* other_kinds: objects that are neither nodes nor pods */
    uint64_t mig_slices;
    uint32_t gone_pods, gone_gpus; /* pods on nodes that are not in the dump */
    uint32_t extra_resource[8];    /* names that the user gave */
    unsigned extra_count;
};

void facts_open(struct facts *f);
void facts_close(struct facts *f);

/* A resource that counts as GPUs beside the known ones. At most 8. */
bool facts_resource(struct facts *f, const char *name);

/* For struct stream: context is the facts. */
void facts_object(void *context, const char *kind, const struct tree *object);

/* levels: "key,key;key" from small to large, chains parted by ";", or NULL for the presets. */
int facts_settle(struct facts *f, const char *levels, struct err *err);

/* A row that a name of the edge's own stands for; FACTS_NONE: none yet. */
uint32_t facts_number(const struct facts *f, uint32_t name);
void facts_number_put(struct facts *f, uint32_t name, uint32_t row);

void facts_odd(struct facts *f, enum facts_odd_kind kind, uint32_t example, int64_t gpus);
const char *facts_odd_words(enum facts_odd_kind kind);

static inline const char *facts_name(const struct facts *f, uint32_t name)
{
    return f->names.text[name];
}

#endif
