/* scenario_run_parts.h - how the runner of scenarios is cut into files; private to scenario_run*.c
 *
 *   scenario_run.c          rounds, time, failures
 *   scenario_run_truth.c    what is so: jobs and nodes, and what that makes the core hear
 *   scenario_run_facts.c    news on their way to the core: late, doubled, in other order, lost
 *   scenario_run_pods.c     pods one by one: gone, done, made anew, on their way out
 *   scenario_run_start.c    what the core decided, and whether the truth admits it
 *   scenario_run_promise.c  promises, and what excuses a late start
 *   scenario_run_step.c     the steps of the timeline
 *   scenario_run_view.c     the cluster as the core sees it: other orders for shuffle
 *   scenario_run_use.c      who holds what on a node
 *   scenario_run_check.c    the always-checks
 *   scenario_run_expect.c   expectations; _reason.c, _place.c and _room.c the larger ones
 *
 * Names   A node, device or domain of the play is the world's; a host is the core's number of it.
 */
#ifndef EDGE_SIM_SCENARIO_RUN_PARTS_H
#define EDGE_SIM_SCENARIO_RUN_PARTS_H

#include "core/base/prng.h"
#include "edge/base/out.h"
#include "edge/sim/feed.h"
#include "edge/sim/live.h"
#include "edge/sim/metrics.h"
#include "edge/sim/metrics_parts.h"
#include "edge/sim/scenario_parts.h"
#include "edge/sim/scenario_run.h"
#include "edge/sim/words.h"

#define PLAY_SECOND 1000000000ll

/* The truth of a node beside its row in the world. */
struct play_node {
    uint8_t state;               /* enum host_state: up, drain, down */
    bool silent;                 /* no word from it; what runs there lives on */
    int64_t leave_ns;            /* INT64_MAX: stays */
    uint16_t down, sick, closed; /* devices: failed; bad for what comes new; drained */
    uint8_t slots;               /* devices that the core was ever told of */
    uint32_t rejects;            /* binds that it will refuse */
};

/* Why a job waits, as last told. */
struct play_reason {
    bool known;
    uint8_t fits; /* enum record_fits */
    const char *code;
    struct out text;
};

struct play_job {
    struct live live;
    uint32_t key;           /* the core's number of it; WORLD_NONE: there is none */
    uint32_t rejects;       /* binds of it that will be refused */
    int64_t first_start_ns; /* -1: never */
    int64_t terminate_ns;   /* how long its pods take to go */
    int64_t last_ckpt_ns;   /* it saved all it had then; INT64_MIN: nobody said so */
    int64_t back_ns;        /* a deleted pod is made anew; INT64_MAX: nothing of that kind */
    int64_t promised_ns;    /* it starts by then; INT64_MAX: nothing promised */
    uint64_t excuses;       /* that there were when it was promised */
    uint32_t stops;         /* times that the core stopped it */
    bool excused;           /* a job of higher priority came since */
    bool repaired;          /* a list found the core's books of it wrong */
    struct play_reason told;
};

/* Pods that were told to go and are not gone yet: they hold their devices under a key of their own.
 */
struct play_ghost {
    uint32_t job, key, pod_count;
    bool told; /* to the core */
    int64_t until_ns;
    struct record_pod *pod;
};

/* A pod of a gang that is not to be placed: it has done its work, or is made anew later. */
struct play_gone {
    uint32_t job, pod;
    bool done;
    int64_t back_ns; /* INT64_MAX where done */
};

/* News on its way: encoded events about one object. */
struct play_fact {
    int64_t due_ns;
    uint64_t order;
    uint64_t object;
    bool answer; /* to a bind, not of the watch */
    bool twice;
    size_t size;
    uint8_t *bytes;
};

struct play_batch {
    size_t size;
    uint8_t *bytes;
};

struct play_never {
    const struct tree *expect;
    bool held;
    int64_t at_ns;
};

struct play {
    struct scenario *s;
    struct world *w;   /* the truth */
    struct world seen; /* the same in the core's order; shares all but nodes and shapes with w */
    struct feed_options feed_options;
    struct driver driver;
    struct feed feed;
    struct words words;

    struct play_node *node; /* by node */
    struct play_job *job;   /* by job */
    struct play_ghost *ghost;
    size_t ghost_count, ghost_limit;
    struct play_gone *gone;
    size_t gone_count, gone_limit;
    uint32_t *heard; /* jobs in the order in which they came, newest incarnation last */
    size_t heard_count, heard_limit;
    uint32_t *job_of_key;
    size_t key_count, key_limit;

    uint32_t *host_of, *node_of;                                      /* node -> host and back */
    uint8_t (*slot_of)[WORLD_GPUS_MAX], (*device_of)[WORLD_GPUS_MAX]; /* by node */
    uint32_t *domain_of[WORLD_LEVELS_MAX]; /* the world's -> the core's */

    struct play_fact *fact;
    size_t fact_count, fact_limit;
    uint64_t fact_order;
    size_t fact_from; /* where the fact that is being written begins */
    int64_t delay_ns;
    bool twice, reorder, faulty; /* faulty: the watch was not plain at some time */
    struct prng jitter;
    uint32_t drop;     /* facts that will be lost */
    bool lost;         /* some were, and no list came since */
    int64_t relist_ns; /* INT64_MAX: none is due */
    struct play_batch *history;
    size_t history_count, history_limit;

    int64_t now_ns, decide_ns_max;
    uint32_t line;    /* of the step at hand */
    uint64_t changes; /* decisions and rejections so far */
    uint64_t excuses; /* events so far that excuse a late start */
    uint32_t rejected, evicted, evicted_pods, repaired;
    int64_t repaired_nano;   /* GPUs of which the core had a wrong picture */
    struct metrics *metrics; /* NULL: nobody asks */
    struct play_never *never;
    size_t never_count, never_limit;

    struct out *report;
    struct out found; /* what a failing expectation found */
    uint32_t round, checks, failures;
    bool quiet;  /* expectations are tried, not told */
    bool broken; /* an always-check failed: stop */
};

/* --- scenario_run.c --- */

/* `FILE:LINE: expected WHAT, found ...`: an always-check failed. Ends the run. */
void play_broken(struct play *p, const char *expected, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sends what is due to the core and lets it decide, then checks everything. */
void play_turn(struct play *p);
void play_record(struct play *p, struct record *record);
struct record play_blank(enum record_kind kind, uint32_t job);

/* --- scenario_run_view.c --- */

void play_view_open(struct play *p);
void play_view_close(struct play *p);
/* After a node of the world changed. */
void play_view_node(struct play *p, uint32_t node);
uint16_t play_slots_of(const struct play *p, uint32_t node, uint16_t devices);
uint16_t play_devices_of(const struct play *p, uint32_t node, uint16_t slots);
/* Steps and what runs already, in another order where the time is equal. */
void play_view_shuffle(struct play *p, struct prng *random);

/* --- scenario_run_facts.c --- */

/* Objects that facts speak of: facts of one object keep their order. */
enum play_object { OBJECT_NODE, OBJECT_JOB, OBJECT_TEAM };
void play_fact_begin(struct play *p);
void play_fact_end(struct play *p, enum play_object kind, uint32_t id);
/* The same for an answer to a bind. */
void play_answer_end(struct play *p, uint32_t job);
/* Puts what is due into the batch at hand. answers: also those that are not due yet. */
void play_deliver(struct play *p, bool answers);
int64_t play_fact_next(const struct play *p); /* INT64_MAX: none */
/* True while the core may not know all that is true. */
bool play_behind(const struct play *p);
void play_facts_close(struct play *p);

void play_remember_batch(struct play *p);
void play_restart(struct play *p); /* from the journal */
bool play_restart_empty(struct play *p, struct err *err);
void play_relist(struct play *p); /* everything anew, what is gone included */

/* --- scenario_run_truth.c --- */

struct event play_event(const struct play *p, enum event_kind kind);
uint32_t play_new_key(struct play *p, uint32_t job);
void play_tell_job(struct play *p, uint32_t job);   /* JOB, and its seats if it runs */
void play_tell_node(struct play *p, uint32_t node); /* HOST, its state, its devices */

void play_submit(struct play *p, uint32_t job);
/* A job that somebody else placed. */
void play_seated(struct play *p, const struct scenario_running *running);
void play_finish(struct play *p, uint32_t job);
void play_cancel(struct play *p, uint32_t job);
void play_recreate(struct play *p, uint32_t job);
void play_delete_job(struct play *p, uint32_t job, int64_t back_ns);
void play_back(struct play *p, uint32_t job);
/* The run ends before its time: the job waits, with what it had saved. */
void play_stop_run(struct play *p, uint32_t job);
/* For the figures: what the world's events would say of it. */
void play_note(struct play *p, struct world_event e);
void play_node_state(struct play *p, uint32_t node, uint8_t state, int64_t leave_ns);
void play_device_state(struct play *p, uint32_t node, unsigned device, uint8_t state);

/* --- scenario_run_pods.c --- */

uint32_t play_pods_of(const struct world_job *job);
/* The podset of a pod, by its number through the gang. */
uint32_t play_podset_of(const struct world_job *job, uint32_t pod);
/* Pods of the podset that have done their work. */
uint32_t play_done_pods(const struct play *p, uint32_t job, uint32_t podset);
/* True if it runs with fewer pods than it must have. */
bool play_is_below(const struct play *p, uint32_t job);
/* What the core must hear of the pods that are not to be placed. */
void play_tell_gone(struct play *p, uint32_t job, bool done);
/* Forgets those of the job; done: also those that have done their work. */
void play_forget_gone(struct play *p, uint32_t job, bool done);

/* One pod ends well, ends badly, or is deleted while the others run on. */
void play_finish_pod(struct play *p, uint32_t job, uint32_t pod);
void play_fail_pod(struct play *p, uint32_t job, uint32_t pod);
void play_delete_pod(struct play *p, const struct step *step);
void play_pods_back(struct play *p);
/* The job's first podset is about to have so many pods: numbers follow, and what is beyond goes. */
void play_renumber(struct play *p, uint32_t job, uint32_t pods);

/* These pods of the run are told to go; with time to go they hold their devices until then. True if
 * they stay a while. */
bool play_leave_ghost(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count);
void play_tell_ghost(struct play *p, struct play_ghost *g);
/* Those of which the core has not heard. */
void play_tell_ghosts(struct play *p);
void play_ghost_gone(struct play *p, size_t ghost);

/* Decisions about runs. */
void play_grow(struct play *p, uint32_t job, uint32_t key, const struct record_pod *pods,
               uint32_t count);
void play_shrink(struct play *p, uint32_t job, uint32_t key, const struct record_pod *pods,
                 uint32_t count, uint32_t by);
void play_break(struct play *p, uint32_t job, uint32_t key);

/* --- scenario_run_promise.c --- */

/* Something happened that excuses a late start. */
void play_excuse(struct play *p);
/* A job came: those below its priority may have to wait longer. */
void play_excuse_below(struct play *p, uint32_t job);
void play_promise(struct play *p, uint32_t job, int64_t by_ns, const struct record_pod *pods,
                  uint32_t count);
/* The job starts, or is no more. */
void play_promise_ends(struct play *p, uint32_t job);
void play_check_promises(struct play *p);

/* --- scenario_run_start.c --- */

void play_decided(void *context, const struct decision *d, const struct decision_seat *seats);
/* Why the truth does not admit these pods of a job, or NULL. */
const char *play_refuted(const struct play *p, uint32_t job, const struct record_pod *pods,
                         uint32_t count);
/* A bind that somebody said would be refused. */
bool play_is_refused(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count);

/* --- scenario_run_step.c --- */

void play_step(struct play *p, const struct step *step);
/* A key that this build cannot act on, or NULL; *ret_line: where it stands. */
const char *play_lacks(const struct scenario *s, uint32_t *ret_line);

/* --- scenario_run_use.c --- */

/* What pods hold of a node. */
struct play_use {
    int64_t cpu_milli, mem_mib;
    uint32_t pods, unknown; /* unknown: devices that nobody can name */
    int64_t nano[WORLD_GPUS_MAX];
    uint32_t mig[WORLD_GPUS_MAX];
    uint16_t any;
    const char *wrong; /* NULL, or how two pods are in each other's way */
    unsigned wrong_device;
};
struct play_use play_use_of(const struct play *p, uint32_t node);
/* Of every node, in memory that the caller frees. */
struct play_use *play_use_all(const struct play *p);
void play_use_add(const struct play *p, struct play_use *u, uint32_t job,
                  const struct record_pod *pod);
/* Devices of a node that are there, whole, and open to what comes new. */
uint16_t play_open_devices(const struct play *p, uint32_t node);
bool play_is_unknown(const struct play *p, uint32_t job, const struct record_pod *pod);

/* --- scenario_run_check.c --- */

void play_check(struct play *p);
/* A start of the core that news did not blur: within the hard rules and, unless it is a gang being
 * mended, whole. Pods by number. */
void play_check_start(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count,
                      bool whole);
/* The one domain of the level that contains all pods, or -1. */
int64_t play_together(const struct world *w, struct world_where where,
                      const struct record_pod *pods, uint32_t count);

/* --- scenario_run_expect.c --- */

bool play_expect(struct play *p, const struct tree *expect);
void play_never_collect(struct play *p);
void play_never_look(struct play *p);
bool play_metrics_asked(const struct scenario *s);

/* Notes a failure, unless quiet: `FILE:LINE: expected KEY: VALUE, found FOUND`. Returns false. */
bool play_missed(struct play *p, const char *key, const struct tree *value);
/* The same where the value stands under a name of its own: `KEY: NAME: VALUE`. */
bool play_missed_in(struct play *p, const char *key, const struct tree *value);
/* A number or {min, max} of millionths; slack: how far an exact value may be off. */
bool play_amount(const struct tree *amount, int64_t micro, int64_t slack);
void play_describe(struct play *p, uint32_t job, struct out *out);
uint32_t play_job_of(const struct play *p, const struct tree *name);
/* The level that a text names, read with the reader of the file. */
struct world_where play_where(struct play *p, const struct tree *level);

/* --- scenario_run_reason.c, scenario_run_place.c, scenario_run_room.c --- */

/* Why a job waits, asked now. False: it has no reason. */
bool play_reason_now(struct play *p, uint32_t job, struct record *ret_record);
/* True if the job waits, or a pod that it must have. */
bool play_waits(const struct play *p, uint32_t job);
/* One of `waiting: {J: {...}}`. */
bool play_expect_reason(struct play *p, const struct tree *t);

bool play_expect_place(struct play *p, const struct tree *map);
bool play_expect_promised(struct play *p, const struct tree *map);
bool play_expect_free(struct play *p, const struct tree *value);

#endif
