/* Figures of gang runs: follows each job from its submit to its end. metrics_gang_put.c turns what
 * is counted here into figures. */
#include "edge/sim/metrics_gang.h"

#include "edge/base/memory.h"

#include <stdlib.h>
#include <string.h>

static bool same_podset(const struct world_podset *a, const struct world_podset *b)
{
    return a->pods == b->pods && a->gpus == b->gpus && a->cpu_milli == b->cpu_milli &&
           a->mem_mib == b->mem_mib && a->milli == b->milli &&
           a->mem_share_mib == b->mem_share_mib && a->mig == b->mig &&
           a->model_count == b->model_count && a->required_count == b->required_count &&
           (a->model_count == 0 ||
            memcmp(a->model, b->model, a->model_count * sizeof(*a->model)) == 0) &&
           memcmp(a->required, b->required, a->required_count * sizeof(*a->required)) == 0;
}

static bool same_ask(const struct world_job *a, const struct world_job *b)
{
    if (a->podset_count != b->podset_count || a->share_card != b->share_card ||
        a->required_count != b->required_count || a->preferred_count != b->preferred_count ||
        memcmp(a->required, b->required, a->required_count * sizeof(*a->required)) != 0 ||
        memcmp(a->preferred, b->preferred, a->preferred_count * sizeof(*a->preferred)) != 0)
        return false;
    for (uint32_t i = 0; i < a->podset_count; i++)
        if (!same_podset(&a->podset[i], &b->podset[i]))
            return false;
    return true;
}

/* What an empty cluster could do for the ask, answered once per kind of ask. Of very many kinds
 * only the latest are compared: a kind may then be answered again, with the same answer. */
static uint32_t find_ask(struct gang_part *p, const struct world_job *job)
{
    struct gang_ask *ask;

    for (size_t i = p->ask_count; i-- > 0 && p->ask_count - i <= GANG_ASKS_COMPARED;)
        if (same_ask(p->ask[i].job, job))
            return (uint32_t)i;
    p->ask = out_grow(p->ask, p->ask_count, &p->ask_limit, sizeof(*p->ask));
    ask = &p->ask[p->ask_count++];
    ask->job = job;
    ask->gang_nano = fit_gang_nano(p->world, job);
    if (ask->gang_nano >= 2 * NANO) {
        if (job->podset_count == 1) {
            ask->fewest_nodes = fit_fewest_nodes(p->world, job);
            ask->fewest_groups = fit_fewest_groups(p->world, job);
        }
        if (fit_wants_locality(job)) {
            ask->wants = true;
            ask->smallest = fit_smallest(p->world, job);
        }
    }
    return (uint32_t)(p->ask_count - 1);
}

struct gang_part *gang_part_open(const struct world *w)
{
    struct gang_part *p = memory_zeroed(sizeof(*p));

    p->world = w;
    p->job = memory_zeroed(sizeof(*p->job) * (w->job_count + 1));
    place_open(&p->place, w);
    p->teams = team_part_open(w);
    p->packs = !team_part_shaped(p->teams) || team_part_packs(p->teams, &p->place, NULL, 0);
    return p;
}

void gang_part_close(struct gang_part *p)
{
    for (uint32_t i = 0; i < p->world->job_count; i++) {
        free(p->job[i].pod);
        free(p->job[i].piece);
    }
    free(p->job);
    free(p->ask);
    free(p->victim);
    free(p->promised);
    sample_free(&p->reclaim);
    place_close(&p->place);
    team_part_close(p->teams);
    free(p);
}

static void advance(struct gang_part *p, int64_t t_ns)
{
    int64_t ns = t_ns - p->now_ns, service = p->place.service_nano;
    wide share = service > 0 ? (wide)p->held_nano * NANO / service * ns : 0;

    if (p->any && ns > 0) {
        if (p->submitted > 0) {
            p->share_time += share;
            p->time_ns += ns;
            p->service_time += (wide)service * ns;
            place_advance(&p->place, ns);
        }
        if (p->waiting > 0) {
            p->backlog_share_time += share;
            p->backlog_time_ns += ns;
        }
    }
    p->any = true;
    p->now_ns = t_ns;
}

/* --- one job --- */

static void set_status(struct gang_part *p, struct gang_job *j, enum gang_status status)
{
    p->waiting -= j->status == GANG_WAITING;
    p->running -= j->status == GANG_RUNNING;
    p->waiting += status == GANG_WAITING;
    p->waiting_nano -= j->status == GANG_WAITING ? j->ask_nano : 0;
    p->waiting_nano += status == GANG_WAITING ? j->ask_nano : 0;
    p->running += status == GANG_RUNNING;
    if (status == GANG_WAITING)
        j->waiting_since_ns = p->now_ns;
    j->status = status;
}

static int64_t pod_nano(const struct gang_part *p, const struct world_job *job, uint32_t podset)
{
    const struct world_podset *set = &job->podset[podset];

    if (set->mig == WORLD_NONE && set->mem_share_mib == 0)
        return set->milli * (NANO / 1000) * set->gpus;
    return fit_pod_nano(p->world, job, podset);
}

/* The run's GPUs change now: what a stop loses is counted from these pieces. */
static void hold(struct gang_part *p, struct gang_job *j, int64_t nano)
{
    const struct world_job *job = &p->world->job[j - p->job];

    if (j->piece_count > 0)
        j->run_time += (wide)j->held_nano * (p->now_ns - j->piece[j->piece_count - 1].at_ns);
    if (job->team != WORLD_NONE)
        team_part_change(p->teams, job->team, p->now_ns, 0, nano - j->held_nano);
    p->held_nano += nano - j->held_nano;
    j->held_nano = nano;
    j->piece = out_grow(j->piece, j->piece_count, &j->piece_limit, sizeof(*j->piece));
    j->piece[j->piece_count++] = (struct gang_piece){.at_ns = p->now_ns, .nano = nano};
}

static void add_pods(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    const struct world_job *job = &p->world->job[r->job];
    int64_t nano = j->held_nano;

    for (uint32_t i = 0; i < r->pod_count; i++) {
        j->pod = out_grow(j->pod, j->pod_count, &j->pod_limit, sizeof(*j->pod));
        j->pod[j->pod_count++] = r->pods[i];
        place_pod(&p->place, job, &r->pods[i], true);
        nano += pod_nano(p, job, r->pods[i].podset);
    }
    hold(p, j, nano);
}

static void drop_pods(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    const struct world_job *job = &p->world->job[r->job];
    int64_t nano = j->held_nano;

    for (uint32_t i = 0; i < r->pod_count; i++)
        for (size_t k = 0; k < j->pod_count; k++)
            if (j->pod[k].pod == r->pods[i].pod) {
                place_pod(&p->place, job, &j->pod[k], false);
                nano -= pod_nano(p, job, j->pod[k].podset);
                j->pod[k] = j->pod[--j->pod_count];
                break;
            }
    hold(p, j, nano);
}

static int by_domain(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Different domains of the level that the gang's pods touch; 0 if one is in none. */
static uint32_t spread(const struct gang_part *p, const struct gang_job *j,
                       struct world_where level)
{
    int64_t *domain = memory_zeroed(sizeof(*domain) * (j->pod_count + 1));
    uint32_t count = 0;

    for (size_t i = 0; i < j->pod_count; i++)
        domain[i] = fit_domain(p->world, level, &j->pod[i]);
    qsort(domain, j->pod_count, sizeof(*domain), by_domain);
    for (size_t i = 0; i < j->pod_count; i++)
        count += i == 0 || domain[i] != domain[i - 1];
    if (j->pod_count == 0 || domain[0] < 0)
        count = 0;
    free(domain);
    return count;
}

static uint32_t pods_asked(const struct world_job *job)
{
    uint32_t pods = 0;

    for (uint32_t i = 0; i < job->podset_count; i++)
        pods += job->podset[i].pods;
    return pods;
}

/* A pod without GPUs has no devices to stand in an island; the host that it shares decides. */
static bool sits(const struct gang_part *p, const struct gang_job *j, struct world_where level,
                 int64_t *domain)
{
    for (size_t i = 0; i < j->pod_count; i++) {
        int64_t at = fit_domain(p->world, level, &j->pod[i]);

        if (level.scope < SCOPE_NODE && j->pod[i].devices == 0) {
            if (*domain >= 0 && j->pod[i].node != (uint64_t)*domain / WORLD_GPUS_MAX)
                return false;
            continue;
        }
        if (*domain < 0)
            *domain = at;
        if (at < 0 || at != *domain)
            return false;
    }
    return true;
}

static void judge_hit(struct gang_part *p, struct gang_job *j, const struct gang_ask *ask)
{
    if (ask->wants && j->run_hits &&
        (ask->smallest.scope == SCOPE_NONE || !sits(p, j, ask->smallest, &j->run_domain)))
        j->run_hits = false;
}

static void begin_run(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    const struct world_job *job = &p->world->job[r->job];
    const struct gang_ask *ask = &p->ask[j->ask];
    struct world_where node = {.scope = SCOPE_NODE}, group = {.scope = SCOPE_LEVEL};
    int group_level = fit_group_level(p->world);

    j->run_start_ns = p->now_ns;
    j->run_restart_ns = j->runs > 0 ? job->restart_ns : 0;
    j->run_time = 0;
    j->piece_count = 0;
    j->run_hits = true;
    j->run_domain = -1;
    j->runs++;
    add_pods(p, j, r);
    set_status(p, j, GANG_RUNNING);
    judge_hit(p, j, ask);
    j->nodes = j->groups = 0;
    if (ask->fewest_nodes == 0 || r->pod_count != pods_asked(job))
        return;
    j->nodes = spread(p, j, node);
    if (group_level >= 0 && ask->fewest_groups > 0) {
        group.level = (uint8_t)group_level;
        j->groups = spread(p, j, group);
    }
}

static void count_spread(struct gang_spread *s, uint32_t used, uint32_t fewest, wide time)
{
    if (used == 0 || fewest == 0)
        return;
    s->runs++;
    s->ratio += NANO * (int64_t)used / fewest;
    s->time += time;
    s->ratio_time += time * used / fewest;
}

/* The run's last GPU time, and its part in the figures that count runs. */
static void end_run(struct gang_part *p, struct gang_job *j)
{
    const struct world_job *job = &p->world->job[j - p->job];
    const struct gang_ask *ask = &p->ask[j->ask];

    for (size_t i = 0; i < j->pod_count; i++)
        place_pod(&p->place, job, &j->pod[i], false);
    j->pod_count = 0;
    if (p->now_ns - j->run_start_ns > job->est_ns) /* no estimate is -1 */
        p->overran_at = p->sequence;
    hold(p, j, 0);
    j->held_time += j->run_time;
    j->all_hit = j->run_hits && (j->runs == 1 || j->all_hit);
    if (j->run_hits)
        j->hit_time += j->run_time;
    count_spread(&p->nodes, j->nodes, ask->fewest_nodes, j->run_time);
    count_spread(&p->groups, j->groups, ask->fewest_groups, j->run_time);
}

/* GPU time of the run between two moments, from its pieces. */
static wide time_between(const struct gang_job *j, int64_t from_ns, int64_t to_ns)
{
    wide time = 0;

    for (size_t i = 0; i < j->piece_count; i++) {
        int64_t start = j->piece[i].at_ns, end = to_ns;

        if (i + 1 < j->piece_count && j->piece[i + 1].at_ns < end)
            end = j->piece[i + 1].at_ns;
        start = start < from_ns ? from_ns : start;
        if (end > start)
            time += (wide)j->piece[i].nano * (end - start);
    }
    return time;
}

/* The restart that the run served, and what it held after the kept point: before end_run(), at the
 * moment of the stop. A run that ends with its job keeps all of its work. */
static void lose(struct gang_part *p, struct gang_job *j, bool keeps_all)
{
    const struct world_job *job = &p->world->job[j - p->job];
    int64_t ready = j->run_start_ns + j->run_restart_ns, kept = ready;
    wide lost = time_between(j, j->run_start_ns, ready < p->now_ns ? ready : p->now_ns);

    if (keeps_all || job->ckpt_ns == 0)
        kept = p->now_ns;
    else if (job->ckpt_ns > 0 && p->now_ns > ready)
        kept = ready + (p->now_ns - ready) / job->ckpt_ns * job->ckpt_ns;
    lost += time_between(j, kept, p->now_ns);
    j->lost_time += lost;
    p->lost_time += lost;
}

static void stop(struct gang_part *p, struct gang_job *j, bool saved)
{
    if (j->status != GANG_RUNNING)
        return;
    lose(p, j, saved);
    end_run(p, j);
    set_status(p, j, GANG_WAITING);
}

static void leave(struct gang_part *p, struct gang_job *j, enum gang_status status)
{
    const struct world_job *job = &p->world->job[j - p->job];

    if (j->status == GANG_RUNNING) {
        lose(p, j, true);
        end_run(p, j);
    }
    if (job->team != WORLD_NONE)
        team_part_change(p->teams, job->team, p->now_ns, -j->ask_nano, 0);
    set_status(p, j, status);
}

/* --- victims --- */

static void note_victim(struct gang_part *p, const struct record *r)
{
    if (r->by == WORLD_NONE)
        return;
    if (r->cause && strcmp(r->cause, "reclaim") == 0)
        p->job[r->by].reclaims = true;
    if (r->kind != RECORD_PREEMPT)
        return;
    p->victim = out_grow(p->victim, p->victim_count, &p->victim_limit, sizeof(*p->victim));
    p->victim[p->victim_count++] = (struct gang_victim){.by = r->by, .at_ns = p->now_ns};
}

/* A start within 60 s uses up what was cleared for it. */
static void use_victims(struct gang_part *p, uint32_t job)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->victim_count; i++) {
        struct gang_victim v = p->victim[i];

        if (p->now_ns - v.at_ns > GANG_UNUSED_NS)
            p->unused++;
        else if (v.by != job)
            p->victim[kept++] = v;
    }
    p->victim_count = kept;
}

static void check_guarantees(struct gang_part *p, bool placed)
{
    struct running *running;
    uint32_t count = 0;
    bool packs;

    if (!team_part_shaped(p->teams))
        return;
    running = memory_zeroed(sizeof(*running) * (p->running + 1u));
    for (uint32_t i = 0; i < p->world->job_count; i++)
        if (p->job[i].status == GANG_RUNNING)
            running[count++] = (struct running){
                .job = i, .pod_count = (uint32_t)p->job[i].pod_count, .pods = p->job[i].pod};
    packs = team_part_packs(p->teams, &p->place, running, count);
    if (placed && p->packs && !packs)
        p->unsafe++;
    p->packs = packs;
    free(running);
}

/* --- records --- */

static void submit(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    const struct world_job *job = &p->world->job[r->job];

    if (p->submitted++ == 0)
        p->first_submit_ns = p->now_ns;
    p->share_time_at_submit = p->share_time;
    p->time_ns_at_submit = p->time_ns;
    j->ask = find_ask(p, job);
    j->ask_nano = p->ask[j->ask].gang_nano;
    j->submit_ns = p->now_ns;
    set_status(p, j, GANG_WAITING);
    if (job->team != WORLD_NONE)
        team_part_change(p->teams, job->team, p->now_ns, j->ask_nano, 0);
    gang_outrank(p, r->job);
}

static void start(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    if (j->runs == 0)
        j->first_start_ns = p->now_ns;
    p->starts++;
    gang_redeem(p, j);
    use_victims(p, r->job);
    if (j->reclaims)
        sample_add(&p->reclaim, p->now_ns - j->waiting_since_ns);
    j->reclaims = false;
    begin_run(p, j, r);
    check_guarantees(p, true);
}

static void refuse(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    p->refusals++;
    p->refusals_null += r->fits == RECORD_FITS_UNPROVEN;
    if (r->fits == RECORD_FITS_NO && gang_fits_now(p, &p->world->job[r->job]))
        p->false_refusals++;
    if (r->final) {
        p->dropped++;
        leave(p, j, GANG_GONE);
    }
}

static void event(struct gang_part *p, const struct record *r)
{
    const struct world_event *e = &p->world->event[r->event];

    place_event(&p->place, e);
    team_part_event(p->teams, e, p->now_ns);
    if (e->kind == WEV_CANCEL) {
        struct gang_job *j = &p->job[e->target];

        if (j->status == GANG_WAITING || j->status == GANG_RUNNING) {
            p->cancelled++;
            leave(p, j, GANG_GONE);
        }
    } else if (e->kind == WEV_TEAM || e->state != STATE_UP) {
        gang_note_excuse(p);
    }
    check_guarantees(p, false);
}

static void placed(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    if (r->kind == RECORD_MOVE) {
        p->moves++;
        stop(p, j, r->saved);
        begin_run(p, j, r);
    } else {
        p->grows++;
        add_pods(p, j, r);
        judge_hit(p, j, &p->ask[j->ask]);
    }
    check_guarantees(p, true);
}

static void stopped(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    if (r->kind == RECORD_SHRINK) {
        p->shrinks++;
        note_victim(p, r);
        drop_pods(p, j, r);
    } else if (r->kind == RECORD_PREEMPT) {
        p->preemptions++;
        note_victim(p, r);
        stop(p, j, r->saved);
    } else {
        p->failures++;
        gang_note_excuse(p);
        stop(p, j, false);
    }
    check_guarantees(p, false);
}

static void finish(struct gang_part *p, struct gang_job *j)
{
    leave(p, j, GANG_FINISHED);
    p->finished++;
    j->finish_ns = p->last_finish_ns = p->now_ns;
    check_guarantees(p, false);
}

void gang_part_take(struct gang_part *p, const struct record *r)
{
    struct gang_job *j = r->kind == RECORD_EVENT ? NULL : &p->job[r->job];

    advance(p, r->t_ns);
    p->sequence++;
    switch (r->kind) {
    case RECORD_SUBMIT:
        submit(p, j, r);
        break;
    case RECORD_START:
        start(p, j, r);
        break;
    case RECORD_GROW:
    case RECORD_MOVE:
        placed(p, j, r);
        break;
    case RECORD_SHRINK:
    case RECORD_PREEMPT:
    case RECORD_FAIL:
        stopped(p, j, r);
        break;
    case RECORD_REFUSE:
        refuse(p, j, r);
        break;
    case RECORD_PROMISE:
        gang_promise(p, j, r);
        break;
    case RECORD_EVENT:
        event(p, r);
        break;
    case RECORD_FINISH:
        finish(p, j);
        break;
    }
}
