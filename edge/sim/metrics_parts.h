/* metrics_parts.h - what the parts of the metrics share; for metrics*.c alone
 *
 * metrics.c hands every record to the gang part or the openb part and collects the figures. The
 * place part knows what every device carries now; the fit part answers for an empty cluster; the
 * team part counts guarantees; the bound part sorts and simulates the ideal machine.
 *
 * Units   NANO of GPU; ns; their product in 128 bits.
 */
#ifndef EDGE_SIM_METRICS_PARTS_H
#define EDGE_SIM_METRICS_PARTS_H

#include "edge/base/out.h"
#include "edge/sim/metrics.h"
#include "edge/sim/metrics_table.h"

#define NANO           1000000000LL
#define METRIC_CLASSES 7
#define METRIC_LOADS   4

__extension__ typedef __int128 wide;

extern const char *const metric_class[METRIC_CLASSES];
extern const unsigned metric_load[METRIC_LOADS];

struct metrics;
/* vary replaces the * @ or ? of the row's name; NULL where it has none. */
void metric_put(struct metrics *m, enum metric_row row, const char *vary, double value, bool known);
void metric_count(struct metrics *m, enum metric_row row, const char *vary, uint64_t count);
/* part / whole, unknown where whole is 0. */
void metric_ratio(struct metrics *m, enum metric_row row, const char *vary, wide part, wide whole,
                  double scale);

/* --- openb --- */
struct openb_part *openb_part_open(const struct world *w);
void openb_part_take(struct openb_part *p, const struct record *r);
void openb_part_put(struct openb_part *p, struct metrics *m);
struct metrics_now openb_part_now(const struct openb_part *p);
void openb_part_close(struct openb_part *p);

/* --- what every device carries now --- */
struct place_device {
    uint32_t used_nano;
    uint32_t slots; /* MIG slots taken, a bit each */
};
struct place_node {
    uint8_t state;                /* up, down or drain */
    bool leaving;                 /* announced: only jobs that end in time may start */
    uint16_t gpu_down, gpu_drain; /* a bit per device */
    uint16_t whole;               /* devices open to new pods and wholly free */
    int64_t free_nano;            /* of devices open to new pods */
    uint32_t pods;
    int64_t cpu_milli, mem_mib; /* used */
    struct place_device device[WORLD_GPUS_MAX];
};
struct place_strand {
    unsigned gpus, pod_gpus, pods;
    bool possible;
    struct world_where level;
    int64_t *domain_slots; /* by domain, for levels above the host */
    int64_t slots, placements;
    wide ratio_time, time; /* NANO x ns while something is free, ns */
};
struct place_part {
    const struct world *world;
    struct place_node *node;
    int64_t service_nano, free_nano;
    struct place_strand strand[2];
};
void place_open(struct place_part *p, const struct world *w);
void place_close(struct place_part *p);
void place_pod(struct place_part *p, const struct world_job *job, const struct record_pod *pod,
               bool take);
void place_event(struct place_part *p, const struct world_event *event);
void place_advance(struct place_part *p, int64_t ns);
/* Devices of the node that stand in service. */
uint16_t place_healthy(const struct place_part *p, uint32_t node);

/* --- an empty cluster --- */
/* What one pod takes of one device of this node. */
int64_t fit_share_nano(const struct world *w, const struct world_podset *set, uint32_t node);
uint32_t fit_mig_slots(const struct world *w, const struct world_podset *set, uint32_t node,
                       uint32_t *ret_starts, uint32_t *ret_slots_of_device);
bool fit_model(const struct world *w, const struct world_podset *set, uint32_t node);
/* GPUs of one pod, by the first node of the file that holds it empty. */
int64_t fit_pod_nano(const struct world *w, const struct world_job *job, uint32_t podset);
int64_t fit_gang_nano(const struct world *w, const struct world_job *job);
/* The fewest nodes, or domains of the first level of the first chain, that hold a gang of one
 * podset; 0: not even all of them. */
uint32_t fit_fewest_nodes(const struct world *w, const struct world_job *job);
uint32_t fit_fewest_groups(const struct world *w, const struct world_job *job);
bool fit_wants_locality(const struct world_job *job);
/* The smallest level of the job's scale that holds the full gang; scope NONE: none does. */
struct world_where fit_smallest(const struct world *w, const struct world_job *job);
/* The one domain of the level that contains the pod, or -1. */
int64_t fit_domain(const struct world *w, struct world_where level, const struct record_pod *pod);
/* The first level of the first chain, or -1. */
int fit_group_level(const struct world *w);

/* --- teams --- */
struct team_part *team_part_open(const struct world *w);
void team_part_change(struct team_part *p, uint32_t team, int64_t t_ns, int64_t asked_nano,
                      int64_t held_nano);
void team_part_event(struct team_part *p, const struct world_event *event, int64_t t_ns);
void team_part_put(struct team_part *p, struct metrics *m, int64_t t_ns);
void team_part_close(struct team_part *p);

struct running { /* a gang that runs, for the packing of guarantees */
    uint32_t job, pod_count;
    const struct record_pod *pods;
};
/* False if no guarantee has a shape: nothing to ask. */
bool team_part_shaped(const struct team_part *p);
bool team_part_packs(const struct team_part *p, const struct place_part *place,
                     const struct running *running, uint32_t count);

/* --- sorting and the ideal machine --- */
struct sample {
    int64_t *value;
    size_t count, limit;
    wide sum;
};
void sample_add(struct sample *s, int64_t value);
void sample_free(struct sample *s);
/* Nearest rank; 0 of an empty sample. Sorts the sample. */
int64_t sample_rank(struct sample *s, unsigned pct);
int64_t sample_max(const struct sample *s);

struct ideal_job {
    int64_t submit_ns;
    wide work; /* NANO GPU x ns */
};
struct ideal {
    wide jct_sum_over; /* sum of job times x machine_nano */
    wide last_over;    /* end x machine_nano, since the first submit */
};
/* Shortest remaining work first on one machine; jobs in order of submit. */
struct ideal ideal_machine(const struct ideal_job *job, size_t count, int64_t machine_nano);

/* --- gangs --- */
struct gang_part *gang_part_open(const struct world *w);
void gang_part_take(struct gang_part *p, const struct record *r);
void gang_part_put(struct gang_part *p, struct metrics *m);
struct metrics_now gang_part_now(const struct gang_part *p);
bool gang_part_job(const struct gang_part *p, uint32_t job, struct metrics_job *ret_job);
void gang_part_close(struct gang_part *p);

#endif
