/* rows.h - the cluster as tables: every fact that the scheduler remembers, row by row
 *
 * A model that can be copied with memcpy, compared byte by byte and hashed row by row needs rows
 * without pointers, padding or hidden state. What stands here is live: it enters the digest and the
 * snapshot. What can be recomputed (histograms, lists in order, look-up tables) stands in index.h.
 *
 * Units   GPU shares in milli of one device, memory in MiB, CPU in milli-cores, times in ns.
 * Order   Ids are positions in their table. Hosts, domains, shapes, models, teams and classes are
 *         numbered by the edge, densely from 0; jobs, podsets and seats by the core, which reuses
 *         dropped rows last in, first out.
 * Misuse  Nothing writes a row but what model_edit() handed out.
 */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include <stdint.h>

#include "core/model/shape.h"

#define ROW_NONE     UINT32_MAX
#define LEVELS_MAX   12 /* levels above the host, all chains together */
#define GPUS_MAX     SHAPE_GPUS_MAX
#define EXTRAS_MAX   2   /* countable resources beside CPU, memory, pods and GPUs */
#define MODELS_MAX   64  /* GPU models, so that a set of them is one word */
#define CLASSES_MAX  256 /* node classes */
#define RESERVES_MAX 256 /* jobs with room kept for them at a time */
#define MILLI_FULL   1000
#define UNLIMITED    (INT64_MAX / 4) /* a capacity that nothing exhausts; sums of asks stay below */

/* Levels below and around the declared ones, in one numbering: scopes. */
enum scope {
    SCOPE_OF_PART = 0, /* + enum shape_part: island, numa, pcie */
    SCOPE_OF_HOST = SHAPE_PART_COUNT,
    SCOPE_OF_LEVEL, /* + level id */
    SCOPE_OF_CLUSTER = SCOPE_OF_LEVEL + LEVELS_MAX,
    SCOPE_COUNT,
};

/* Who is asked first, and what may be kept for those that wait: fifo and priority pass over what
 * does not fit now; easy and conservative go by priority too, and keep room for the first job that
 * fits nowhere (for each of the first jobs). core/policy/backfill/reserve.h says how. */
enum order { ORDER_FIFO, ORDER_PRIORITY, ORDER_EASY, ORDER_CONSERVATIVE, ORDER_COUNT };

/* One row: what the run as a whole is at. */
struct config {
    int64_t now_ns;
    uint64_t
        freed_count; /* events so far that may have made room: a refusal older than it is stale */
    uint64_t event_count;
    uint64_t seed;            /* of tie-breaks, for policies that have them */
    uint32_t budget_steps;    /* of one placement search */
    uint32_t mix_total;       /* sum of the mix's counts */
    uint32_t submit_count;    /* jobs seen, for the order of equal times */
    uint32_t unknown_seats;   /* seats of grade unknown */
    uint8_t order, scorer;    /* enum order, enum scorer_id */
    uint8_t drop_never;       /* 1: a job that no empty cluster could hold is dropped, not kept */
    uint8_t scan_all;         /* 1: every host is scored; 0: the index proposes the candidates */
    uint32_t inexact_podsets; /* podsets whose shares are no whole number of milli */
    uint32_t waiting_pods, gang_pods_max;  /* for the rows that a batch may need */
    uint64_t passed_at;                    /* freed_count when the queue was last gone through */
    uint32_t leaving_hosts;                /* with an announced departure: estimates matter then */
    uint32_t reserves_max;                 /* jobs that may have room kept for them at a time */
    uint32_t kept_jobs;                    /* waiting jobs that have */
    uint32_t patient_jobs;                 /* waiting jobs that could start and wait for better */
    uint32_t elastic_jobs, broken_jobs;    /* runs above their minimum, and below it */
    uint32_t exclusive_jobs;               /* runs with domains to themselves, */
    uint32_t exclusive_at[LEVELS_MAX + 1]; /* by scope from the host up */
    uint32_t pad3;
    int64_t patience_ns; /* how long a job that says nothing waits for a domain that it prefers */
    int64_t inherit_ns;  /* how long the room of a gang is kept for its next incarnation */
    int64_t breach_ns;   /* how long a gang may run below its minimum */
    uint64_t ignored_count; /* events that made no sense and changed nothing */
};

struct level {
    uint8_t used, chain, rank;
    uint8_t pad[5];
};

struct domain {
    uint16_t used, level;
    uint32_t parent; /* domain of the chain's next larger level, ROW_NONE: it lacks one */
};

struct shape_row {
    uint32_t used;
    uint32_t pad;
    struct shape shape;
    uint8_t pad2[6];
};

/* A profile that a device of a model can be cut into. */
struct mig {
    uint32_t profile; /* the edge's name for it; several models may share one */
    uint32_t model;
    uint32_t starts; /* bit s: slot s is a legal first slot */
    uint16_t slots;  /* its length */
    uint16_t device_slots;
};

/* What hosts of one kind have in common: the index groups hosts by it. */
struct kind {
    int64_t cpu_milli, mem_mib, pods, gpu_mem_mib; /* UNLIMITED; gpu_mem_mib 0: unknown */
    int64_t extra[EXTRAS_MAX];
    uint32_t model, class_id, shape; /* shape ROW_NONE: unknown */
    uint32_t gpus;
};

enum host_state { HOST_ABSENT, HOST_UP, HOST_DRAIN, HOST_DOWN };

/* What a placement reads: kept small, two cache lines. */
struct host {
    int64_t cpu_free_milli, mem_free_mib, pods_free;
    int64_t extra_free[EXTRAS_MAX];
    int64_t leave_at_ns;           /* announced departure; INT64_MAX: none */
    uint16_t free_milli[GPUS_MAX]; /* per device, rounded down; 0 where failed or cut for MIG */
    uint16_t whole;                /* devices wholly free and in service */
    uint16_t healthy;              /* devices in service */
    uint8_t state;                 /* enum host_state */
    uint8_t gpus;
    uint8_t unknown_gpus; /* devices held by seats that nobody can place */
    uint8_t pad;
    uint32_t kind;
    uint32_t seat_head; /* seats on this host, newest first */
};

/* The rest of a host: what only shares, cuts, edges and explanations read. */
struct board {
    uint32_t domain[LEVELS_MAX];    /* by level; ROW_NONE: in none */
    uint32_t share_mib[GPUS_MAX];   /* memory shares held, per device */
    uint16_t share_milli[GPUS_MAX]; /* compute shares held, per device; 1000: whole */
    uint32_t mig_slots[GPUS_MAX];   /* bit s: slot s is cut and held */
    uint32_t uuid[GPUS_MAX];        /* the edge's name of the device's identity; 0: not told */
    uint8_t sharers[GPUS_MAX];      /* seats on the device */
};

/* Which hosts a pod may use at all: static predicates, evaluated at the edge. */
struct class_row {
    uint64_t models;                  /* bit m: model m will do */
    uint64_t nodes[CLASSES_MAX / 64]; /* bit c: node class c passes the other predicates */
};

struct team {
    uint32_t used, parent; /* ROW_NONE: top */
    int64_t weight_micro, limit_milli, held_milli;
};

enum job_state { JOB_FREE, JOB_WAITING, JOB_RUNNING };

/* Why a job waits, as last told; reason.h gives the words. */
struct told {
    uint16_t code;
    uint16_t binding;
    uint8_t fits, final;
    uint8_t known; /* 1: something was told */
    uint8_t pad;
};

struct job {
    int64_t submit_ns, est_ns; /* est_ns -1: the user says nothing */
    uint64_t refused_at;       /* freed_count when a search last failed; UINT64_MAX: none did */
    uint64_t required;         /* bit s: scope s must contain the whole gang */
    int64_t held_milli;        /* what its team is charged for the run, until it ends */
    int64_t start_ns, end_ns;  /* of the run; the end by its estimate, INT64_MAX: nobody knows */
    int64_t restart_ns;        /* dead time at the start of every run but the first */
    int64_t patience_ns;       /* -1: as configured */
    int64_t by_ns;             /* promised: it starts by then; INT64_MAX: nothing promised */
    int64_t chance_ns;         /* when it could first have started and did not; INT64_MAX: never */
    int64_t reserve_ns;        /* the time for which room is kept (hold_head), by estimates */
    int64_t breach_ns;         /* runs below its minimum since; INT64_MAX: it does not */
    uint32_t hold_head;        /* the room kept for it, pod by pod; ROW_NONE: none */
    uint32_t done_head;        /* pods that are not to be placed (struct hold); ROW_NONE: none */
    uint32_t key;              /* the edge's number of the job */
    uint32_t team;             /* ROW_NONE: none */
    uint32_t submit_order;
    uint32_t podset_head, seat_head;
    uint32_t pods, gang_milli; /* pods asked; GPUs asked, all podsets at full size */
    int32_t priority;
    uint8_t state, podsets, preferred_count;
    uint8_t flags;           /* JOB_SHARES_CARD, ... */
    uint8_t preferred[4];    /* scopes, strongest first */
    uint8_t profile;         /* enum comm_profile */
    uint8_t exclusive;       /* a level: no other job may use the domains it sits in; 0: none */
    uint8_t ran;             /* 1: it has run before */
    uint8_t keep;            /* enum keep: what the kept room is for */
    uint32_t done_pods;      /* of done_head */
    uint32_t promised_order; /* jobs seen when by_ns was promised: who came later may outrank it */
    uint32_t pad;
    struct told told;
};
/* JOB_HAS_WAYS: some of its podsets are ways for the pods of others; the edge need not say so. */
enum { JOB_SHARES_CARD = 1, JOB_IS_PREEMPTIBLE = 2, JOB_HAS_WAYS = 4 };

/* How the ranks of a gang talk to each other. */
enum comm_profile { COMM_OF_NONE, COMM_OF_ALLREDUCE, COMM_OF_PIPELINE, COMM_OF_EXPERT, COMM_COUNT };

/* Why the scheduler asked to be woken. */
enum wake { WAKE_NONE, WAKE_RESERVE, WAKE_PATIENCE, WAKE_BREACH };

/* Kept room: for a date that estimates give; for a time that is only guessed; for the next
 * incarnation of a gang. */
enum keep { KEEP_NONE, KEEP_DATED, KEEP_GUESSED, KEEP_INHERITED };

struct podset {
    int64_t cpu_milli, mem_mib;
    int64_t extra[EXTRAS_MAX];
    uint64_t required; /* bit s: scope s must contain all pods of this set */
    uint32_t next;     /* of the same job, in the order of the ask */
    uint32_t pods, pods_min;
    uint32_t share_mib; /* memory share of each of its devices, or 0 */
    uint32_t profile;   /* MIG profile, or ROW_NONE */
    uint32_t class_id;
    uint32_t slice_pods; /* 0: no slices */
    uint16_t milli;      /* compute share of each device; MILLI_FULL: whole devices */
    uint8_t gpus, slice_scope;
    uint8_t way; /* 1: another way for the pods of the set before it (core/policy/ways.h) */
    uint8_t pad[7];
};

/* A pod on a host. */
enum grade { GRADE_PLANNED, GRADE_KNOWN, GRADE_UNKNOWN };
struct seat {
    uint32_t job, podset, host;
    uint32_t pod; /* its number through the gang */
    uint32_t next_of_job, next_of_host, prev_of_host;
    uint16_t devices; /* 0 where unknown or none */
    uint8_t slot;     /* MIG: first slot */
    uint8_t grade;
};

/* A place kept for a pod, or, with host ROW_NONE, a pod that is not to be placed: it has done its
 * work, or (away) nobody has made it anew yet. While a hold is in force it has taken something off
 * its host's books, which is what took_* remember: devices that are free, and what the pod will
 * need beyond what ends before its time. */
struct hold {
    int64_t took_cpu_milli, took_mem_mib, took_pods, took_extra[EXTRAS_MAX];
    uint32_t podset, pod, host, next; /* next of the same job */
    uint16_t devices, took_devices;
    uint8_t slot, in_force;
    uint16_t away;
};

/* The task mix that fragmentation is measured against: popular asks with their counts. */
struct mix {
    int64_t cpu_milli;
    uint64_t models;
    uint32_t count, milli; /* milli of one device when gpus is 1, else 1000 each */
    uint32_t gpus;
    uint32_t pad;
};

/* What the mix makes of a GPU of a model: picky pods need it. Micro-GPU per GPU asked. */
struct price {
    int64_t scarce_micro;
};

/* What the mix makes of free room; row n stands for n milli of a device, for n devices, or for n
 * quarters of a core. scorers/dovetail.c says how they add up. */
struct loss {
    int64_t waste_micro;  /* of a device with n milli free: the part that will stay idle */
    int64_t broken_micro; /* of n devices wholly free: the part that no larger group will use */
    int64_t starved_ppm;  /* GPU asks that want more than n quarters of a core */
};
#define LOSS_ROWS           1025
#define LOSS_CPU_STEP_MILLI 250 /* more cores than the last row has starve nobody */

/* How CPU and GPUs go together in the mix, and what it weighs; one row. */
struct balance {
    int64_t short_q20, spare_q20; /* milli-GPU per milli-core, times 2^20; 0: the term is off */
    int64_t starved_micro, short_micro, spare_micro; /* per milli-GPU */
    int64_t roomy_micro;                             /* per milli-GPU that stays free on the host */
};

/* X(NAME, struct, what) - order is part of the snapshot format. */
#define TABLE_MAP(X)                                                                               \
    X(CONFIG, struct config)                                                                       \
    X(LEVEL, struct level)                                                                         \
    X(DOMAIN, struct domain)                                                                       \
    X(SHAPE, struct shape_row)                                                                     \
    X(MIG, struct mig)                                                                             \
    X(KIND, struct kind)                                                                           \
    X(HOST, struct host)                                                                           \
    X(BOARD, struct board)                                                                         \
    X(CLASS, struct class_row)                                                                     \
    X(TEAM, struct team)                                                                           \
    X(JOB, struct job)                                                                             \
    X(PODSET, struct podset)                                                                       \
    X(SEAT, struct seat)                                                                           \
    X(HOLD, struct hold)                                                                           \
    X(MIX, struct mix)                                                                             \
    X(PRICE, struct price)                                                                         \
    X(LOSS, struct loss)                                                                           \
    X(BALANCE, struct balance)                                                                     \
    X(HEAD, struct head)

#define TABLE_ENUM(name, type) TABLE_##name,
enum table { TABLE_MAP(TABLE_ENUM) TABLE_COUNT };

/* Per table: rows in use, and the dropped ones as a chain through their first word. */
struct head {
    uint32_t count; /* rows ever used: all ids are below */
    uint32_t live;
    uint32_t free_head; /* ROW_NONE: none */
    uint32_t pad;
};

#endif
