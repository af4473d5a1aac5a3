/* world.h - a cluster and a workload as files say them, names and all
 *
 * Readers (JSON Lines, the openb tables, one line of text, a scenario) fill one struct world; the
 * virtual cluster, the metrics and the log writer read it. It is the whole truth of a run, also
 * what a scheduler may not know: how long a job really runs and how it ends.
 *
 * Units   Times in ns since the run's zero; shares in milli of a GPU; memory in MiB; CPU in milli.
 * Owner   Everything, strings included, lives in the world's own memory until world_free().
 * Order   Tables keep the order of the file; an id is the position in its table. Jobs and events
 *         are in time order, checked by the readers. Names are unique within their table.
 */
#ifndef EDGE_SIM_WORLD_H
#define EDGE_SIM_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/base/err.h"

#define WORLD_NONE       UINT32_MAX
#define WORLD_GPUS_MAX   16 /* devices of one host */
#define WORLD_LEVELS_MAX 12 /* levels above the host, all chains together */
#define WORLD_CHAINS_MAX 6
#define WORLD_UNLIMITED  INT64_MAX
#define WORLD_SLOW_MAX   8

/* A level of the hierarchy as jobs name it: below the host, the host, a declared level, all. */
enum world_scope {
    SCOPE_NONE,
    SCOPE_ISLAND,
    SCOPE_NUMA,
    SCOPE_PCIE,
    SCOPE_NODE,
    SCOPE_LEVEL, /* + index into world.level */
    SCOPE_CLUSTER,
};

struct world_where {
    uint8_t scope; /* enum world_scope */
    uint8_t level; /* index into world.level when scope is SCOPE_LEVEL, else 0 */
};

struct world_level {
    const char *name;
    uint8_t chain;         /* index into world.chain */
    uint8_t rank;          /* 0 is the smallest of its chain */
    uint32_t domain_count; /* domains of this level */
    const char **domain;   /* their names, by id */
};

/* Partitions of device indices: a device's part, or 0xFF where it is in none (or all unknown). */
struct world_shape {
    const char *name;
    uint8_t gpus;
    bool links_known;
    bool links_in_gbps; /* unit of link[][]: GBps, else number of links */
    uint32_t link[WORLD_GPUS_MAX][WORLD_GPUS_MAX];
    uint8_t island[WORLD_GPUS_MAX], numa[WORLD_GPUS_MAX], pcie[WORLD_GPUS_MAX];
    uint8_t island_count, numa_count, pcie_count; /* 0: unknown */
    uint8_t pcie_nics[WORLD_GPUS_MAX];            /* by switch */
};

struct world_profile {
    const char *name;
    uint8_t slots;
    uint32_t starts; /* bit s: slot s is a legal first slot */
};

struct world_mig {
    uint32_t model;
    uint8_t slots; /* of a device, at most 32 */
    uint32_t profile_count;
    struct world_profile *profile;
};

struct world_device {
    const char *uuid, *pci; /* NULL: not given */
};

struct world_node {
    const char *name;
    uint32_t model; /* index into world.model; the empty name is a model too */
    uint32_t shape; /* WORLD_NONE: unknown */
    uint8_t gpus;
    int64_t gpu_mem_mib;               /* 0: unknown, no memory shares */
    int64_t cpu_milli, mem_mib, pods;  /* WORLD_UNLIMITED: no limit */
    uint32_t domain[WORLD_LEVELS_MAX]; /* by level; WORLD_NONE: in none */
    struct world_device *device;       /* gpus of them, or NULL */
};

struct world_guarantee {
    int64_t gpus;
    struct world_where level;
    uint32_t count, model; /* model WORLD_NONE: any */
};

struct world_team {
    const char *name;
    uint32_t parent; /* WORLD_NONE: top */
    int64_t weight_micro;
    int64_t limit_gpu_milli; /* WORLD_UNLIMITED: none */
    uint32_t guarantee_count;
    struct world_guarantee *guarantee;
};

struct world_podset {
    const char *name;
    uint32_t pods, pods_min;
    uint8_t gpus;
    int64_t cpu_milli, mem_mib;
    uint32_t milli;        /* share of one device; 1000: whole devices */
    int64_t mem_share_mib; /* > 0: a memory share instead of milli */
    uint32_t mig;          /* index into world.mig_name; WORLD_NONE: no MIG */
    uint32_t model_count;  /* 0: any model */
    uint32_t *model;
    uint8_t required_count;
    struct world_where required[WORLD_LEVELS_MAX];
    uint32_t slice_pods; /* 0: no slices */
    struct world_where slice_level;
    /* Scenarios: one of several ways for the same pods, best first. The first names the pods, the
     * others have none until it is decided. */
    bool way;         /* another way for the pods of the podset before it */
    const char *wish; /* what the way is called; NULL: there is one only */
};

struct world_slow {
    struct world_where level;
    int64_t factor_micro; /* 1000000 = as fast as alone */
};

enum world_end { END_OK, END_FAIL, END_CANCEL };
enum world_profile_kind { COMM_NONE, COMM_ALLREDUCE, COMM_PIPELINE, COMM_EXPERT };

struct world_job {
    const char *name;
    int64_t submit_ns;
    uint32_t team; /* WORLD_NONE: none */
    uint32_t podset_count;
    struct world_podset *podset;
    int64_t run_ns;
    int64_t est_ns;  /* -1: the user says nothing */
    int64_t ckpt_ns; /* -1: no checkpoint; 0: nothing is ever lost */
    int64_t restart_ns;
    int64_t patience_ns;          /* -1: as configured */
    struct world_where exclusive; /* SCOPE_NONE: shares its domains with other jobs */
    int32_t priority;
    bool preemptible, signal_save, share_card;
    uint8_t end;     /* enum world_end */
    uint8_t profile; /* enum world_profile_kind */
    uint8_t required_count, preferred_count;
    struct world_where required[WORLD_LEVELS_MAX], preferred[WORLD_LEVELS_MAX];
    uint8_t slow_count;
    struct world_slow slow[WORLD_SLOW_MAX];
};

enum world_event_kind { WEV_NODE, WEV_GPU, WEV_TEAM, WEV_CANCEL };
enum world_state { STATE_UP, STATE_DOWN, STATE_DRAIN, STATE_LEAVE };

struct world_event {
    int64_t at_ns;
    uint8_t kind;    /* enum world_event_kind */
    uint8_t state;   /* enum world_state, for nodes and GPUs */
    uint8_t gpu;     /* for WEV_GPU */
    uint32_t target; /* node, team or job */
    int64_t leave_at_ns;
    /* for WEV_TEAM: which of the three the line sets */
    bool sets_weight, sets_limit, sets_guarantee;
    int64_t weight_micro, limit_gpu_milli;
    uint32_t guarantee_count;
    struct world_guarantee *guarantee;
    const char
        *raw; /* the line's object without kind and t_s, as JSON members: `"node":"n7",...` */
};

/* The published openb protocol: arrivals that never leave, in the order of a seed. */
struct world_openb {
    uint32_t row_count; /* pods of the list; world.job[r] is the ask of row r, podset_count 1 */
    uint32_t seed_count;
    uint32_t *seed;          /* as the header of the arrival file names them */
    uint32_t **arrival;      /* per seed: row numbers in order */
    uint32_t *arrival_count; /* per seed */
};

struct world_memory; /* private to world.c */

struct world {
    const char *cluster_name, *workload_name;
    int64_t seed; /* -1: null or not given */
    uint32_t chain_count, level_count;
    const char *chain[WORLD_CHAINS_MAX];
    struct world_level level[WORLD_LEVELS_MAX];
    uint32_t model_count, shape_count, mig_count, mig_name_count;
    const char **model;
    struct world_shape *shape;
    struct world_mig *mig;
    const char **mig_name; /* every profile name that a mig line or an ask uses */
    uint32_t node_count, team_count, job_count, event_count;
    struct world_node *node;
    struct world_team *team;
    struct world_job *job;
    struct world_event *event;
    struct world_openb *openb; /* NULL: not an openb run */
    struct world_memory *memory;
};

void world_init(struct world *w);
void world_free(struct world *w);

/* Zeroed memory of the world, never NULL (trouble ends the program with exit code 3). */
void *world_alloc(struct world *w, size_t bytes);
/* A table of the world that grows: room for one more row, zeroed; *count is raised. */
void *world_row(struct world *w, void *table, uint32_t *count, size_t row_bytes);
const char *world_string(struct world *w, const char *text, size_t length);

/* Ids by name, WORLD_NONE if there is none. world_model() and world_mig_name() add what is new. */
uint32_t world_node_find(const struct world *w, const char *name);
uint32_t world_job_find(const struct world *w, const char *name);
uint32_t world_team_find(const struct world *w, const char *name);
uint32_t world_shape_find(const struct world *w, const char *name);
uint32_t world_domain_find(const struct world *w, uint32_t level, const char *name);
uint32_t world_model(struct world *w, const char *name);
uint32_t world_mig_name(struct world *w, const char *name);

#endif
