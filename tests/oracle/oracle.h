/* oracle.h - brute force: what a placement may be, said a second time and as plainly as possible
 *
 * A cluster and its jobs in small structs of their own, and a search that tries every device set of
 * every host for every pod. It shares nothing with core/place: where both agree on many random
 * worlds, neither has to be believed.
 *
 * Units   milli of a device, MiB, milli-cores, ns. Scopes are numbered like the events' (island,
 *         NUMA, PCIe, host, levels, cluster), because they arrive in events.
 * Misuse  A world beyond the sizes below stops the program.
 */
#ifndef ORACLE_ORACLE_H
#define ORACLE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

#define O_NONE    UINT32_MAX
#define O_HOSTS   48
#define O_GPUS    16
#define O_PARTS   3
#define O_LEVELS  12
#define O_DOMAINS 64
#define O_SHAPES  16
#define O_CLASSES 32
#define O_MIGS    16
#define O_TEAMS   8
#define O_JOBS    400
#define O_PODSETS 4
#define O_PODS    24 /* of one job */

#define O_NEVER INT64_MAX

enum o_keep { O_KEEP_NONE, O_KEEP_DATED, O_KEEP_GUESSED, O_KEEP_INHERITED };
enum o_scope { O_HOST = O_PARTS, O_LEVEL, O_CLUSTER = O_LEVEL + O_LEVELS };
enum o_state { O_ABSENT, O_UP, O_DRAIN, O_DOWN };

struct o_shape {
    bool known;
    unsigned gpus;
    uint8_t part[O_PARTS][O_GPUS]; /* 255: in none */
};

struct o_host {
    enum o_state state;
    int64_t leave_at_ns; /* INT64_MAX: stays */
    int64_t cpu, mem, pods, extra[2], gpu_mib;
    uint32_t shape, domain[O_LEVELS]; /* O_NONE: unknown; in none */
    unsigned gpus, model, node_class;
    uint16_t failed;
};

struct o_mig {
    uint32_t profile, starts;
    unsigned model, slots, device_slots;
};

struct o_class {
    uint64_t models, nodes[4];
};

struct o_podset {
    int64_t cpu, mem, extra[2];
    uint64_t required;
    uint32_t pods, pods_min, milli, mib, profile, class_id, slice_pods, slice_scope;
    unsigned gpus;
};

struct o_seat {
    uint32_t podset, pod, host;
    uint16_t devices; /* 0 with GPUs asked: nobody knows which */
    uint8_t slot;
};

struct o_job {
    bool live, runs;
    uint32_t key, team, order;
    int32_t priority;
    int64_t submit_ns, est_ns; /* est_ns < 0: none */
    int64_t patience_ns;       /* < 0: as configured */
    int64_t chance_ns;         /* told first that it waits for better; O_NEVER: it was not */
    int64_t restart_ns;
    uint64_t required;
    bool share_card, ran;
    uint8_t wishes, wish[4];
    unsigned podsets, seats;
    struct o_podset podset[O_PODSETS];
    struct o_seat seat[O_PODS];
    /* The run: when it counts from, and its end by the estimate; O_NEVER: nobody knows. */
    int64_t start_ns, end_ns;
    int64_t breach_ns; /* it lacks pods: when it is ended; O_NEVER: it does not */
    uint32_t done;     /* bit p: pod p has done its work */
    uint32_t away;     /* bit p: nobody has made pod p anew yet */
    bool vague; /* its end depends on what a share of memory counts, which is not said here */
    /* The room kept for it. */
    enum o_keep keep;
    int64_t room_ns;
    unsigned rooms;
    struct o_seat room[O_PODS];
    /* The date it was promised, and what number that was in the order of effect. */
    bool promised, outranked; /* outranked: a job of a higher priority came since */
    int64_t by_ns;
    uint64_t promised_at, submitted_at;
};

struct o_team {
    bool used;
    uint32_t parent;
    int64_t limit;
};

struct o_world {
    int64_t now_ns, patience_ns, inherit_ns, breach_ns;
    bool drop_never, by_priority;
    unsigned hosts, migs, jobs;
    uint32_t jobs_seen;
    uint64_t number;  /* facts and decisions so far */
    uint64_t excused; /* the number of the last one that excuses a broken promise */
    struct o_host host[O_HOSTS];
    struct o_shape shape[O_SHAPES];
    struct o_mig mig[O_MIGS];
    struct o_class class[O_CLASSES];
    struct o_team team[O_TEAMS];
    struct o_job job[O_JOBS];
};

/* Limits to leave out of a question, in the order of the refusal's list of binding limits. */
enum {
    O_BUSY = 1,
    O_HEALTH = 2,
    O_CPU = 4,
    O_MEM = 8,
    O_PODLIMIT = 16,
    O_MODEL = 32,
    O_TOPOLOGY = 64,
    O_EXTRA = 128,
    O_CLASS = 256,
};
#define O_BINDING 7

enum o_answer { O_NO, O_YES, O_TOO_LARGE };

/* Does the job's minimum fit now, leaving out some limits? steps: placements tried at most. */
enum o_answer oracle_fits(const struct o_world *w, const struct o_job *j, unsigned dropped,
                          uint64_t steps);
/* The same with so many pods of the first podset as the minimum. */
enum o_answer oracle_fits_pods(const struct o_world *w, const struct o_job *j, uint32_t pods,
                               uint64_t steps);

/* NULL if the seats are a legal start of the job now, else what is wrong. */
const char *oracle_start_wrong(const struct o_world *w, const struct o_job *j,
                               const struct o_seat *seat, unsigned seats);

/* NULL if the seats may join the job's run now, beside those that it has. */
const char *oracle_grow_wrong(const struct o_world *w, const struct o_job *j,
                              const struct o_seat *seat, unsigned seats);

/* Free milli on hosts that are up, of models that some podset with GPUs allows. */
int64_t oracle_free_milli(const struct o_world *w, const struct o_job *j);

/* What the running jobs of the team and below it hold; shares must be plain milli. */
int64_t oracle_team_held(const struct o_world *w, uint32_t team);
/* True if one is the other or stands above it. */
bool oracle_team_below(const struct o_world *w, uint32_t team, uint32_t above);
/* True if the team and all above it may hold so much more. */
bool oracle_team_allows(const struct o_world *w, uint32_t team, int64_t milli);
/* GPUs of the whole gang or of its minimum, in milli. */
int64_t oracle_ask_milli(const struct o_job *j, bool minimum);
/* True if some podset asks for memory or a MIG profile. */
bool oracle_inexact(const struct o_job *j);

/* Pods of a podset that run at least, and at most: whole slices only, and only those that are. */
uint32_t oracle_least_pods(const struct o_job *j, uint32_t podset, bool slices);
uint32_t oracle_most_pods(const struct o_job *j, uint32_t podset, bool slices);
/* Seats of a podset; its pods that are in a set of pods. */
unsigned oracle_seats(const struct o_job *j, uint32_t podset);
unsigned oracle_of_set(const struct o_job *j, uint32_t podset, uint32_t set);
/* What its seats hold, in milli; shares must be plain milli. */
int64_t oracle_held_milli(const struct o_job *j);

/* Copies what is in use. */
void oracle_copy(struct o_world *to, const struct o_world *from);

struct o_job *oracle_job(struct o_world *w, uint32_t key);
/* True if no device holds more than it can: nobody beside a whole one, shares of at most a device.
 */
bool oracle_sane(const struct o_world *w);
/* True if some seat of the world is of unknown devices. */
bool oracle_unknown(const struct o_world *w);

#endif
