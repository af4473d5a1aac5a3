/* Figures of gang runs, from what metrics_gang.c followed; and the check of simple refusals. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_gang.h"

#include <stdlib.h>

static const wide gpu_hour = (wide)NANO * NANO * 3600;

/* Sizes are whole GPUs, rounded up. The last class holds the two before it. */
static unsigned class_of(int64_t nano)
{
    int64_t gpus = (nano + NANO - 1) / NANO;

    return gpus <= 1 ? 0 : gpus < 8 ? 1 : gpus == 8 ? 2 : gpus < 16 ? 3 : gpus < 64 ? 4 : 5;
}

static void put_seconds(struct metrics *m, enum metric_row row, const char *vary, struct sample *s,
                        unsigned pct)
{
    metric_put(m, row, vary, (double)sample_rank(s, pct) / (double)NANO, s->count > 0);
}

static void put_counts(const struct gang_part *p, struct metrics *m)
{
    const uint64_t count[] = {p->submitted, p->finished, p->dropped,  p->cancelled,
                              p->starts,    p->grows,    p->shrinks,  p->preemptions,
                              p->moves,     p->failures, p->refusals, p->refusals_null};
    uint64_t of_class[METRIC_CLASSES] = {0};

    for (unsigned i = 0; i < sizeof(count) / sizeof(count[0]); i++)
        metric_count(m, METRIC_JOBS + i, NULL, count[i]);
    for (uint32_t i = 0; i < p->world->job_count; i++)
        if (p->job[i].status == GANG_FINISHED && p->job[i].ask_nano > 0)
            of_class[class_of(p->job[i].ask_nano)]++;
    of_class[6] = of_class[4] + of_class[5];
    for (unsigned c = 0; c < METRIC_CLASSES; c++)
        metric_count(m, METRIC_JOBS_CLASS, metric_class[c], of_class[c]);
}

struct times {
    struct sample wait, wait_of[METRIC_CLASSES], jct, slowdown; /* slowdown in millionths */
    wide volume;
    int64_t longest_ns, jct_mean_ns;
};

static void gather(const struct gang_part *p, struct times *t)
{
    for (uint32_t i = 0; i < p->world->job_count; i++) {
        const struct gang_job *j = &p->job[i];
        int64_t wait = j->first_start_ns - j->submit_ns, jct = j->finish_ns - j->submit_ns;
        int64_t run_ns = p->world->job[i].run_ns;
        unsigned c = class_of(j->ask_nano);

        if (j->status != GANG_FINISHED || j->ask_nano == 0)
            continue;
        sample_add(&t->wait, wait);
        sample_add(&t->wait_of[c], wait);
        if (c >= 4)
            sample_add(&t->wait_of[6], wait);
        sample_add(&t->jct, jct);
        if (run_ns > 0)
            sample_add(&t->slowdown, (int64_t)((wide)jct * 1000000 / run_ns));
        t->volume += (wide)j->ask_nano * run_ns;
        if (j->submit_ns + run_ns - p->first_submit_ns > t->longest_ns)
            t->longest_ns = j->submit_ns + run_ns - p->first_submit_ns;
    }
}

static void put_waits(struct times *t, struct metrics *m)
{
    static const unsigned pct[] = {50, 90, 99};

    metric_ratio(m, METRIC_WAIT_MEAN, NULL, t->wait.sum, (wide)NANO * (wide)t->wait.count, 1);
    metric_put(m, METRIC_WAIT_MAX, NULL, (double)sample_max(&t->wait) / (double)NANO,
               t->wait.count > 0);
    for (unsigned i = 0; i < 3; i++)
        put_seconds(m, METRIC_WAIT_P50 + i, NULL, &t->wait, pct[i]);
    for (unsigned i = 0; i < 3; i++)
        for (unsigned c = 0; c < METRIC_CLASSES; c++)
            put_seconds(m, METRIC_WAIT_P50_CLASS + i, metric_class[c], &t->wait_of[c], pct[i]);
    metric_ratio(m, METRIC_JCT_MEAN, NULL, t->jct.sum, (wide)NANO * (wide)t->jct.count, 1);
    put_seconds(m, METRIC_JCT_P50, NULL, &t->jct, 50);
    put_seconds(m, METRIC_JCT_P99, NULL, &t->jct, 99);
    metric_ratio(m, METRIC_SLOWDOWN_MEAN, NULL, t->slowdown.sum,
                 (wide)1000000 * (wide)t->slowdown.count, 1);
    metric_put(m, METRIC_SLOWDOWN_P99, NULL, (double)sample_rank(&t->slowdown, 99) / 1e6,
               t->slowdown.count > 0);
}

static void put_use(const struct gang_part *p, struct metrics *m)
{
    wide good = 0;

    for (uint32_t i = 0; i < p->world->job_count; i++)
        if (p->job[i].status == GANG_FINISHED)
            good += p->job[i].held_time - p->job[i].lost_time;
    metric_ratio(m, METRIC_MAKESPAN, NULL, p->last_finish_ns - p->first_submit_ns,
                 p->finished > 0 ? NANO : 0, 1);
    metric_ratio(m, METRIC_GAR_MEAN, NULL, p->share_time_at_submit,
                 (wide)NANO * p->time_ns_at_submit, 100);
    metric_ratio(m, METRIC_GAR_BACKLOG, NULL, p->backlog_share_time,
                 (wide)NANO * p->backlog_time_ns, 100);
    metric_ratio(m, METRIC_SOR, NULL, p->share_time, (wide)NANO * p->time_ns, 100);
    metric_ratio(m, METRIC_GOODPUT, NULL, good, p->service_time, 100);
    metric_ratio(m, METRIC_LOST, NULL, p->lost_time, gpu_hour, 1);
    metric_ratio(m, METRIC_PREEMPTIONS_PER_1000, NULL, (wide)p->preemptions, (wide)p->starts, 1000);
    for (unsigned i = 0; i < 2; i++)
        metric_ratio(m, METRIC_STRANDED_8 + i, NULL, p->place.strand[i].ratio_time,
                     p->place.strand[i].time * NANO, 1);
}

/* A run that still goes on counts with what it has held so far. */
static struct gang_spread with_open_runs(const struct gang_part *p, bool nodes)
{
    struct gang_spread s = nodes ? p->nodes : p->groups;

    for (uint32_t i = 0; i < p->world->job_count; i++) {
        const struct gang_job *j = &p->job[i];
        uint32_t used = nodes ? j->nodes : j->groups, fewest;
        wide time;

        if (j->status != GANG_RUNNING || used == 0)
            continue;
        fewest = nodes ? p->ask[j->ask].fewest_nodes : p->ask[j->ask].fewest_groups;
        time = j->run_time + (wide)j->held_nano * (p->now_ns - j->piece[j->piece_count - 1].at_ns);
        s.runs++;
        s.ratio += NANO * (int64_t)used / fewest;
        s.time += time;
        s.ratio_time += time * used / fewest;
    }
    return s;
}

static void put_topology(const struct gang_part *p, struct metrics *m)
{
    uint64_t wanted = 0, hit = 0;
    wide time = 0, hit_time = 0;

    for (uint32_t i = 0; i < p->world->job_count; i++) {
        const struct gang_job *j = &p->job[i];

        if (j->status != GANG_FINISHED || !p->ask[j->ask].wants)
            continue;
        wanted++;
        hit += j->all_hit;
        time += j->held_time;
        hit_time += j->hit_time;
    }
    metric_count(m, METRIC_HIT_JOBS, NULL, wanted);
    metric_ratio(m, METRIC_HIT, NULL, (wide)hit, (wide)wanted, 100);
    metric_ratio(m, METRIC_HIT_GPUH, NULL, hit_time, time, 100);
    for (unsigned i = 0; i < 2; i++) {
        struct gang_spread s = with_open_runs(p, i == 0);

        metric_ratio(m, METRIC_NND_MEAN + 2 * i, NULL, s.ratio, (wide)NANO * (wide)s.runs, 1);
        metric_ratio(m, METRIC_NND_GPUH + 2 * i, NULL, s.ratio_time, s.time, 1);
    }
}

static void put_fairness(struct gang_part *p, struct metrics *m)
{
    metric_count(m, METRIC_PREEMPT_UNUSED, NULL, p->unused + p->victim_count);
    put_seconds(m, METRIC_RECLAIM_P50, NULL, &p->reclaim, 50);
    metric_put(m, METRIC_RECLAIM_MAX, NULL, (double)sample_max(&p->reclaim) / (double)NANO,
               p->reclaim.count > 0);
    team_part_put(p->teams, m, p->now_ns);
    metric_count(m, METRIC_GUARANTEE_UNSAFE, NULL, p->unsafe);
    metric_count(m, METRIC_PROMISES, NULL, p->promises);
    metric_count(m, METRIC_PROMISES_KEPT, NULL, p->kept);
    metric_count(m, METRIC_PROMISES_EXCUSED, NULL, p->excused);
}

static void put_bounds(const struct gang_part *p, struct metrics *m, struct times *t)
{
    struct ideal_job *job = memory_zeroed(sizeof(*job) * (p->world->job_count + 1));
    int64_t machine = 0;
    size_t count = 0;

    for (uint32_t n = 0; n < p->world->node_count; n++)
        machine += NANO * p->world->node[n].gpus;
    for (uint32_t i = 0; i < p->world->job_count; i++)
        if (p->job[i].status == GANG_FINISHED && p->job[i].ask_nano > 0)
            job[count++] =
                (struct ideal_job){.submit_ns = p->job[i].submit_ns,
                                   .work = (wide)p->job[i].ask_nano * p->world->job[i].run_ns};
    bool known = count > 0 && machine > 0;
    struct ideal ideal = known ? ideal_machine(job, count, machine) : (struct ideal){0};
    double scale = (double)machine * (double)NANO, unit = known ? scale : 1;
    double offset = count > 0 ? (double)(job[0].submit_ns - p->first_submit_ns) / (double)NANO : 0;
    double volume = (double)t->volume / unit, longest = (double)t->longest_ns / (double)NANO;
    double srpt_jct = (double)ideal.jct_sum_over / unit / (double)(count ? count : 1);
    double srpt_end = (double)ideal.last_over / unit + offset;
    double best = volume > longest ? volume : longest;
    double makespan = (double)(p->last_finish_ns - p->first_submit_ns) / (double)NANO;
    double jct = count ? (double)t->jct.sum / (double)NANO / (double)count : 0;

    best = srpt_end > best ? srpt_end : best;
    metric_put(m, METRIC_BOUND_VOLUME, NULL, volume, known);
    metric_put(m, METRIC_BOUND_LONGEST, NULL, longest, known);
    metric_put(m, METRIC_BOUND_SRPT_JCT, NULL, srpt_jct, known);
    metric_put(m, METRIC_BOUND_SRPT_MAKESPAN, NULL, srpt_end, known);
    metric_put(m, METRIC_MAKESPAN_OVER, NULL, known && best > 0 ? makespan / best : 0,
               known && best > 0);
    metric_put(m, METRIC_JCT_OVER, NULL, known && srpt_jct > 0 ? jct / srpt_jct : 0,
               known && srpt_jct > 0);
    free(job);
}

void gang_part_put(struct gang_part *p, struct metrics *m)
{
    struct times t = {0};

    gather(p, &t);
    put_counts(p, m);
    put_waits(&t, m);
    put_use(p, m);
    put_topology(p, m);
    put_fairness(p, m);
    put_bounds(p, m, &t);
    metric_count(m, METRIC_FALSE_REFUSALS, NULL, p->false_refusals);
    sample_free(&t.wait);
    for (unsigned c = 0; c < METRIC_CLASSES; c++)
        sample_free(&t.wait_of[c]);
    sample_free(&t.jct);
    sample_free(&t.slowdown);
}

struct metrics_now gang_part_now(const struct gang_part *p)
{
    double service = p->place.service_nano > 0 ? (double)p->place.service_nano : 1;

    return (struct metrics_now){.allocated_pct = 100 * (double)p->held_nano / service,
                                .waiting = p->waiting,
                                .waiting_gpus = (double)p->waiting_nano / (double)NANO,
                                .promises_kept = p->kept,
                                .promises_excused = p->excused};
}

bool gang_part_job(const struct gang_part *p, uint32_t job, struct metrics_job *ret_job)
{
    const struct gang_job *j = &p->job[job];
    const struct gang_ask *ask;

    *ret_job = (struct metrics_job){.started = j->runs > 0};
    if (j->status == GANG_UNKNOWN)
        return false;
    ask = &p->ask[j->ask];
    ret_job->finished = j->status == GANG_FINISHED;
    ret_job->asks_gpus = j->ask_nano > 0;
    ret_job->wants = ask->wants;
    ret_job->hit = j->all_hit;
    ret_job->size = class_of(j->ask_nano);
    ret_job->wait_ns = j->first_start_ns - j->submit_ns;
    ret_job->gpus = (double)j->ask_nano / (double)NANO;
    ret_job->gpu_h = (double)j->held_time / (double)gpu_hour;
    ret_job->hit_gpu_h = (double)j->hit_time / (double)gpu_hour;
    ret_job->nodes = j->nodes;
    ret_job->groups = j->groups;
    ret_job->fewest_nodes = ask->fewest_nodes;
    ret_job->fewest_groups = ask->fewest_groups;
    return true;
}

/* --- refusals that a count can refute --- */

static bool above_host(struct world_where at)
{
    return at.scope == SCOPE_NODE || at.scope == SCOPE_LEVEL || at.scope == SCOPE_CLUSTER;
}

/* The one level that binds the gang; false: the gang is not simple enough. */
static bool simple(const struct world_job *job, struct world_where *level)
{
    const struct world_podset *set = &job->podset[0];
    unsigned count = 0;

    *level = (struct world_where){.scope = SCOPE_CLUSTER};
    if (job->podset_count != 1 || set->slice_pods > 0 || set->mig != WORLD_NONE ||
        set->mem_share_mib > 0 || !job->share_card)
        return false;
    for (unsigned i = 0; i < job->required_count + (unsigned)set->required_count; i++) {
        struct world_where at =
            i < job->required_count ? job->required[i] : set->required[i - job->required_count];

        if (!above_host(at))
            return false;
        if (count > 0 && (at.scope != level->scope || at.level != level->level))
            return false;
        *level = at;
        count++;
    }
    return true;
}

static int64_t at_most(int64_t pods, int64_t limit, int64_t used, int64_t ask)
{
    int64_t more;

    if (limit == WORLD_UNLIMITED || ask <= 0)
        return pods;
    more = (limit - used) / ask;
    return more < pods ? more : pods;
}

static int64_t pods_now(const struct gang_part *p, const struct world_podset *set, uint32_t n)
{
    const struct place_node *at = &p->place.node[n];
    const struct world_node *node = &p->world->node[n];
    uint32_t open = place_healthy(&p->place, n) & ~(uint32_t)at->gpu_drain;
    int64_t pods = set->gpus > 0 ? 0 : set->pods;

    if (at->state != STATE_UP || at->leaving || !fit_model(p->world, set, n))
        return 0;
    if (set->gpus == 1 && set->milli < 1000) {
        for (unsigned d = 0; d < node->gpus; d++)
            if ((open >> d & 1u) && at->device[d].slots == 0)
                pods += (NANO - at->device[d].used_nano) / (set->milli * (NANO / 1000));
    } else if (set->gpus > 0) {
        pods = __builtin_popcount(at->whole) / set->gpus;
    }
    pods = at_most(pods, node->cpu_milli, at->cpu_milli, set->cpu_milli);
    pods = at_most(pods, node->mem_mib, at->mem_mib, set->mem_mib);
    return at_most(pods, node->pods, at->pods, 1);
}

bool gang_fits_now(const struct gang_part *p, const struct world_job *job)
{
    struct world_where level;
    const struct world_podset *set = &job->podset[0];
    int64_t *held, domains = 1;
    bool fits = false;

    if (!simple(job, &level))
        return false;
    if (level.scope == SCOPE_NODE)
        domains = p->world->node_count;
    else if (level.scope == SCOPE_LEVEL)
        domains = p->world->level[level.level].domain_count;
    held = memory_zeroed(sizeof(*held) * ((size_t)domains + 1));
    for (uint32_t n = 0; n < p->world->node_count && !fits; n++) {
        struct record_pod pod = {.node = n};
        int64_t domain = fit_domain(p->world, level, &pod);

        if (domain < 0)
            continue;
        held[domain] += pods_now(p, set, n);
        fits = held[domain] >= set->pods_min;
    }
    free(held);
    return fits;
}
