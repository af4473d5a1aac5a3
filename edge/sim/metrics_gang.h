/* metrics_gang.h - what the metrics follow of each gang; for metrics_gang*.c alone
 *
 * Units   NANO of a GPU times ns in 128 bits where a name ends in _time.
 */
#ifndef EDGE_SIM_METRICS_GANG_H
#define EDGE_SIM_METRICS_GANG_H

#include "edge/sim/metrics_parts.h"

#define GANG_UNUSED_NS     (60 * NANO)
#define GANG_ASKS_COMPARED 512

enum gang_status { GANG_UNKNOWN, GANG_WAITING, GANG_RUNNING, GANG_FINISHED, GANG_GONE };

struct gang_piece { /* of a run: from here on it held so much */
    int64_t at_ns, nano;
};

struct gang_ask {
    const struct world_job *job; /* the first that asked it */
    int64_t gang_nano;
    uint32_t fewest_nodes, fewest_groups; /* 0: not to be counted */
    bool wants;
    struct world_where smallest;
};

struct gang_job {
    enum gang_status status;
    int64_t submit_ns, first_start_ns, finish_ns, waiting_since_ns;
    int64_t ask_nano, held_nano;
    uint32_t ask, runs;
    wide held_time, lost_time, hit_time; /* of ended runs */
    bool all_hit;                        /* every ended run */
    /* the run that goes on */
    int64_t run_start_ns, run_restart_ns, run_domain;
    wide run_time;
    bool run_hits;
    uint32_t nodes, groups; /* used at its start; 0: not a full gang of one podset */
    struct record_pod *pod;
    size_t pod_count, pod_limit;
    struct gang_piece *piece;
    size_t piece_count, piece_limit;
    /* the wait that goes on */
    bool promised, outranked, reclaims;
    int64_t promise_by_ns;
    uint64_t promise_at;
};

struct gang_victim {
    uint32_t by;
    int64_t at_ns;
};

struct gang_spread { /* used over fewest */
    uint64_t runs;
    wide ratio, ratio_time, time; /* ratio: NANO */
};

struct gang_part {
    const struct world *world;
    struct gang_job *job;
    struct place_part place;
    struct team_part *teams;
    struct gang_ask *ask;
    size_t ask_count, ask_limit;
    bool any, packs;
    int64_t now_ns, first_submit_ns, last_finish_ns, held_nano, waiting_nano;
    uint32_t waiting, running;
    uint64_t sequence, excused_at, overran_at;
    uint64_t submitted, finished, dropped, cancelled, starts, grows, shrinks, preemptions, moves;
    uint64_t failures, refusals, refusals_null, false_refusals, unsafe, unused;
    uint64_t promises, kept, excused;
    uint32_t *promised; /* jobs that wait with one */
    uint32_t promised_count;
    size_t promised_limit;
    wide service_time, lost_time;
    wide share_time, share_time_at_submit; /* allocated / in service, NANO x ns */
    wide backlog_share_time;
    int64_t time_ns, time_ns_at_submit, backlog_time_ns; /* since the first submit */
    struct gang_spread nodes, groups;
    struct gang_victim *victim;
    size_t victim_count, victim_limit;
    struct sample reclaim;
};

/* True only if the gang's minimum would certainly fit now: a check of refusals for gangs of one
 * podset with no demand but levels above the host, at most one of them. */
bool gang_fits_now(const struct gang_part *p, const struct world_job *job);

/* Promises: metrics_gang_promise.c. */
void gang_note_excuse(struct gang_part *p);
void gang_promise(struct gang_part *p, struct gang_job *j, const struct record *r);
void gang_redeem(struct gang_part *p, struct gang_job *j);
void gang_outrank(struct gang_part *p, uint32_t job);

#endif
