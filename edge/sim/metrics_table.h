/* metrics_table.h - every figure of a run: its name, unit, which way is better, and its meaning
 *
 * X(id, name, unit, sense, text). A `*` in a name stands for a size class, a `@` for an arrived
 * load, a `?` for a team. The order is that of summaries, tables and the reference page. Names are
 * a promise to readers of logs: changing one breaks them.
 */
#ifndef EDGE_SIM_METRICS_TABLE_H
#define EDGE_SIM_METRICS_TABLE_H

#define METRICS_GANG_MAP(X)                                                                        \
    X(JOBS, "jobs", "jobs", FLAT, "Jobs submitted.")                                               \
    X(FINISHED, "finished", "jobs", UP, "Jobs that ran to their end, whatever that was.")          \
    X(DROPPED, "dropped", "jobs", DOWN, "Jobs refused for good.")                                  \
    X(CANCELLED, "cancelled", "jobs", FLAT, "Jobs that an event cancelled while they lived.")      \
    X(STARTS, "starts", "lines", FLAT, "Starts of gangs, repeated ones included.")                 \
    X(GROWS, "grows", "lines", FLAT, "Times that a running gang got more pods.")                   \
    X(SHRINKS, "shrinks", "lines", DOWN, "Times that a running gang lost pods.")                   \
    X(PREEMPTIONS, "preemptions", "lines", DOWN, "Running gangs stopped for another's sake.")      \
    X(MOVES, "moves", "lines", DOWN, "Running gangs stopped and started elsewhere at once.")       \
    X(FAILURES, "failures", "lines", FLAT, "Runs ended by the failure of a device or node.")       \
    X(REFUSALS, "refusals", "lines", FLAT, "Refusals written.")                                    \
    X(REFUSALS_NULL, "refusals_null", "lines", DOWN, "Refusals not proven within the budget.")     \
    X(JOBS_CLASS, "jobs_*", "jobs", FLAT, "Finished jobs of the size class.")                      \
    X(WAIT_MEAN, "wait_s_mean", "s", DOWN, "Submit to first start, mean of finished GPU jobs.")    \
    X(WAIT_MAX, "wait_s_max", "s", DOWN, "The longest wait from submit to first start.")           \
    X(WAIT_P50, "wait_s_p50", "s", DOWN, "Wait, median (nearest rank).")                           \
    X(WAIT_P90, "wait_s_p90", "s", DOWN, "Wait, 90th percentile.")                                 \
    X(WAIT_P99, "wait_s_p99", "s", DOWN, "Wait, 99th percentile.")                                 \
    X(WAIT_P50_CLASS, "wait_s_p50_*", "s", DOWN, "Wait, median of the size class.")                \
    X(WAIT_P90_CLASS, "wait_s_p90_*", "s", DOWN, "Wait, 90th percentile of the size class.")       \
    X(WAIT_P99_CLASS, "wait_s_p99_*", "s", DOWN, "Wait, 99th percentile of the size class.")       \
    X(JCT_MEAN, "jct_s_mean", "s", DOWN, "Submit to finish, mean of finished GPU jobs.")           \
    X(JCT_P50, "jct_s_p50", "s", DOWN, "Submit to finish, median.")                                \
    X(JCT_P99, "jct_s_p99", "s", DOWN, "Submit to finish, 99th percentile.")                       \
    X(SLOWDOWN_MEAN, "slowdown_mean", "ratio", DOWN, "Submit to finish over run time, mean.")      \
    X(SLOWDOWN_P99, "slowdown_p99", "ratio", DOWN, "Submit to finish over run time, 99th pct.")    \
    X(MAKESPAN, "makespan_s", "s", DOWN, "First submit to last finish.")                           \
    X(GAR_MEAN, "gar_mean_pct", "%", UP,                                                           \
      "GPUs allocated over GPUs in service, time mean from first to last submit.")                 \
    X(GAR_BACKLOG, "gar_backlog_pct", "%", UP, "The same over the time in which a job waits.")     \
    X(SOR, "sor_pct", "%", UP, "The same from the first submit to the last line.")                 \
    X(GOODPUT, "goodput_pct", "%", UP,                                                             \
      "GPU time of finished jobs less what they lost, over GPU time in service.")                  \
    X(LOST, "lost_gpu_h", "GPU h", DOWN, "GPU hours after the last kept point, and of restarts.")  \
    X(PREEMPTIONS_PER_1000, "preemptions_per_1000", "per 1000", DOWN, "Preemptions per starts.")   \
    X(STRANDED_8, "stranded_8", "share", DOWN,                                                     \
      "Share of free GPUs that no placement of 8 together can use, time mean.")                    \
    X(STRANDED_64, "stranded_64", "share", DOWN,                                                   \
      "Share of free GPUs that no placement of 64 together can use, time mean.")                   \
    X(HIT_JOBS, "hit_jobs", "jobs", FLAT, "Finished jobs of two GPUs or more that want locality.") \
    X(HIT, "hit_pct", "%", UP,                                                                     \
      "Of these, the share whose every run sat in the smallest domain that could hold it.")        \
    X(HIT_GPUH, "hit_gpuh_pct", "%", UP, "The same by run and GPU hours.")                         \
    X(NND_MEAN, "nnd_mean", "ratio", DOWN, "Nodes used over fewest possible, mean over runs.")     \
    X(NND_GPUH, "nnd_gpuh", "ratio", DOWN, "Nodes used over fewest possible, by GPU hours.")       \
    X(NGD_MEAN, "ngd_mean", "ratio", DOWN, "Groups of nodes used over fewest possible, mean.")     \
    X(NGD_GPUH, "ngd_gpuh", "ratio", DOWN, "Groups used over fewest possible, by GPU hours.")      \
    X(PREEMPT_UNUSED, "preempt_unused", "jobs", DOWN,                                              \
      "Preempted jobs whose beneficiary did not start within 60 s.")                               \
    X(RECLAIM_P50, "reclaim_s_p50", "s", DOWN, "Wait of those who reclaimed, median.")             \
    X(RECLAIM_MAX, "reclaim_s_max", "s", DOWN, "Wait of those who reclaimed, longest.")            \
    X(VIOLATION, "violation_gpu_h", "GPU h", DOWN,                                                 \
      "GPU hours that teams asked for within their guarantee and did not hold, all teams.")        \
    X(VIOLATION_TEAM, "violation_gpu_h_?", "GPU h", DOWN, "The same for one team.")                \
    X(GUARANTEE_UNSAFE, "guarantee_unsafe", "lines", DOWN,                                         \
      "Placements after which the shaped guarantees no longer pack, though they did before.")      \
    X(PROMISES, "promises", "waits", FLAT, "Waits of jobs that had a promised start.")             \
    X(PROMISES_KEPT, "promises_kept", "waits", UP, "Of these, started in time.")                   \
    X(PROMISES_EXCUSED, "promises_excused", "waits", FLAT, "Of these, late with an excuse.")       \
    X(BOUND_VOLUME, "bound_volume_s", "s", FLAT, "Bound: GPU work over all GPUs.")                 \
    X(BOUND_LONGEST, "bound_longest_s", "s", FLAT, "Bound: first submit to latest submit + run.")  \
    X(BOUND_SRPT_JCT, "bound_srpt_jct_s", "s", FLAT,                                               \
      "Bound: mean job time of shortest-remaining-first on one machine of all GPUs.")              \
    X(BOUND_SRPT_MAKESPAN, "bound_srpt_makespan_s", "s", FLAT, "Bound: makespan of that machine.") \
    X(MAKESPAN_OVER, "makespan_over_bound", "ratio", DOWN, "Makespan over its best bound.")        \
    X(JCT_OVER, "jct_over_bound", "ratio", DOWN, "Mean job time over its best bound.")

#define METRICS_OPENB_MAP(X)                                                                       \
    X(GAR_AT, "gar_@_pct", "%", UP, "GPUs allocated over all, when at most @ % were asked.")       \
    X(FRAG_AT, "frag_@_pct", "%", DOWN, "Fragmented GPUs F over all GPUs.")                        \
    X(FRAG_IDLE_AT, "frag_idle_@_pct", "%", DOWN, "Fragmented GPUs F over idle GPUs.")             \
    X(GFR_AT, "gfr_@_pct", "%", DOWN, "Nodes partly free over nodes with GPUs.")                   \
    X(STRANDED8_AT, "stranded8_@", "share", DOWN, "Share of free GPUs outside whole eights.")      \
    X(PUB_GAR_AT, "pub_gar_@_pct", "%", UP, "As published: mean where the load rounds to @ %.")    \
    X(PUB_FRAG_AT, "pub_frag_@_pct", "%", DOWN, "As published: F over all GPUs.")                  \
    X(PUB_FRAG_IDLE_AT, "pub_frag_idle_@_pct", "%", DOWN, "As published: F over idle GPUs.")       \
    X(ARRIVALS, "arrivals", "pods", FLAT, "Pods that arrived.")                                    \
    X(PLACED, "placed", "pods", UP, "Pods placed.")                                                \
    X(REFUSED, "refused", "pods", DOWN, "Pods refused.")                                           \
    X(REFUSED_CPU, "refused_cpu", "pods", DOWN, "Refused pods that asked no GPU.")                 \
    X(REFUSED_SHARE, "refused_share", "pods", DOWN, "Refused pods that asked a share of a GPU.")   \
    X(REFUSED_1, "refused_1", "pods", DOWN, "Refused pods of one GPU.")                            \
    X(REFUSED_2, "refused_2", "pods", DOWN, "Refused pods of two GPUs.")                           \
    X(REFUSED_4, "refused_4", "pods", DOWN, "Refused pods of four GPUs.")                          \
    X(REFUSED_8, "refused_8", "pods", DOWN, "Refused pods of eight GPUs.")                         \
    X(REFUSED_OTHER, "refused_other", "pods", DOWN, "Refused pods of any other size.")             \
    X(ARRIVED, "arrived_pct", "%", FLAT, "GPUs asked over all GPUs.")

#define METRICS_BOTH_MAP(X)                                                                        \
    X(FALSE_REFUSALS, "false_refusals", "lines", DOWN,                                             \
      "Refusals that said no room although there was; recounted for pods and simple gangs.")

#define METRICS_MAP(X) METRICS_GANG_MAP(X) METRICS_OPENB_MAP(X) METRICS_BOTH_MAP(X)

#define METRICS_ENUM(id, name, unit, sense, text) METRIC_##id,
enum metric_row { METRICS_MAP(METRICS_ENUM) METRIC_ROW_COUNT };

#endif
