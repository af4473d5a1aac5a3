#include "core/model/job.h"

#include <string.h>

#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"

int64_t podset_milli(const struct model *m, const struct podset *p, uint32_t kind)
{
    const struct kind *k = kind_row(m, kind);

    if (p->profile != ROW_NONE) {
        const struct mig *g = host_mig(m, p->profile, k->model);

        return g ? (int64_t)MILLI_FULL * g->slots / g->device_slots : 0;
    }
    if (p->share_mib)
        return k->gpu_mem_mib > 0 ? (int64_t)MILLI_FULL * p->share_mib * p->gpus / k->gpu_mem_mib
                                  : 0;
    return (int64_t)p->milli * p->gpus;
}

/* The first kind that can hold a pod of the set when empty: its share counts for quotas. */
int64_t podset_charge_milli(const struct model *m, const struct podset *p)
{
    uint64_t models = class_row(m, p->class_id)->models;

    if (p->profile == ROW_NONE && !p->share_mib)
        return (int64_t)p->milli * p->gpus;
    for (uint32_t k = 0; k < model_count(m, TABLE_KIND); k++)
        if ((models >> kind_row(m, k)->model & 1) && podset_milli(m, p, k) > 0)
            return podset_milli(m, p, k);
    return 0;
}

bool podset_alike(const struct podset *a, const struct podset *b)
{
    struct podset one = *a, two = *b;

    one.next = two.next = 0; /* where they stand in their jobs is no part of the ask */
    return memcmp(&one, &two, sizeof(one)) == 0;
}

int64_t job_least_milli(const struct model *m, uint32_t job)
{
    int64_t sum = 0;

    for (uint32_t id = job_row(m, job)->podset_head; id != ROW_NONE; id = podset_row(m, id)->next) {
        const struct podset *p = podset_row(m, id);
        uint32_t slice = p->slice_pods ? p->slice_pods : 1; /* only whole slices run */
        uint32_t least = (p->pods_min + slice - 1) / slice * slice, done = 0;

        if (job_row(m, job)->done_pods)
            done = job_done_pods(m, job, id, false);
        sum += podset_charge_milli(m, p) * (least > done ? least - done : done && p->pods > done);
    }
    return sum;
}

bool job_is_elastic(const struct model *m, uint32_t job)
{
    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        if (podset_row(m, p)->pods_min < podset_row(m, p)->pods)
            return true;
    return false;
}

static uint32_t podset_add(struct model *m, const struct podset_spec *spec)
{
    uint32_t id = model_add(m, TABLE_PODSET);
    struct podset *p = model_edit(m, TABLE_PODSET, id);

    *p = (struct podset){.cpu_milli = spec->cpu_milli,
                         .mem_mib = spec->mem_mib,
                         .required = spec->required,
                         .next = ROW_NONE,
                         .pods = spec->pods,
                         .pods_min = spec->pods_min,
                         .share_mib = spec->share_mib,
                         .profile = spec->profile,
                         .class_id = spec->class_id,
                         .slice_pods = spec->slice_pods,
                         .milli = spec->milli,
                         .gpus = spec->gpus,
                         .slice_scope = spec->slice_scope,
                         .way = spec->way};
    memcpy(p->extra, spec->extra, sizeof(p->extra));
    return id;
}

/* Shares of such a set are no whole number of milli. */
static bool is_inexact(const struct podset *p)
{
    return p->share_mib || p->profile != ROW_NONE;
}

uint32_t job_add(struct model *m, const struct job_spec *spec)
{
    uint32_t id = model_add(m, TABLE_JOB), last = ROW_NONE;
    struct job *j = model_edit(m, TABLE_JOB, id);
    struct config *c = config_edit(m);
    int64_t gang_milli = 0;

    must(spec->podset_count > 0 && spec->podset_count <= PODSETS_MAX);
    *j = (struct job){.submit_ns = spec->submit_ns,
                      .est_ns = spec->est_ns,
                      .refused_at = UINT64_MAX,
                      .required = spec->required,
                      .key = spec->key,
                      .team = spec->team,
                      .restart_ns = spec->restart_ns,
                      .patience_ns = spec->patience_ns,
                      .by_ns = INT64_MAX,
                      .chance_ns = INT64_MAX,
                      .breach_ns = INT64_MAX,
                      .submit_order = c->submit_count++,
                      .podset_head = ROW_NONE,
                      .seat_head = ROW_NONE,
                      .hold_head = ROW_NONE,
                      .done_head = ROW_NONE,
                      .priority = spec->priority,
                      .state = JOB_WAITING,
                      .podsets = spec->podset_count,
                      .preferred_count = spec->preferred_count,
                      .profile = spec->profile,
                      .exclusive = spec->exclusive,
                      .flags = spec->flags};
    memcpy(j->preferred, spec->preferred, sizeof(j->preferred));
    for (unsigned n = 0; n < spec->podset_count; n++) {
        uint32_t p = podset_add(m, &spec->podset[n]);

        if (last == ROW_NONE)
            j->podset_head = p;
        else
            ((struct podset *)model_edit(m, TABLE_PODSET, last))->next = p;
        last = p;
        j->flags |= spec->podset[n].way ? JOB_HAS_WAYS : 0;
        c->inexact_podsets += is_inexact(podset_row(m, p));
        j->pods += spec->podset[n].pods;
        gang_milli += podset_charge_milli(m, podset_row(m, p)) * spec->podset[n].pods;
    }
    c->waiting_pods += j->pods;
    if (j->pods > c->gang_pods_max)
        c->gang_pods_max = j->pods;
    j->gang_milli = gang_milli > UINT32_MAX ? UINT32_MAX : (uint32_t)gang_milli;
    index_sync_job(m, id);
    return id;
}

/* Adds to what the team and all above it hold. */
static void team_hold(struct model *m, uint32_t team, int64_t milli)
{
    for (uint32_t t = team; t != ROW_NONE; t = team_row(m, t)->parent)
        ((struct team *)model_edit(m, TABLE_TEAM, t))->held_milli += milli;
}

static int64_t job_held(const struct model *m, const struct job *j)
{
    int64_t sum = 0;

    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        sum += podset_charge_milli(m, podset_row(m, seat_row(m, s)->podset));
    return sum;
}

__extension__ typedef __int128 wide;

/* Running time that the whole estimate takes at the size that the books say, rounded up; without
 * GPUs: at the number of its seats less so many. */
static int64_t est_at_size(const struct model *m, const struct job *j, int32_t less)
{
    wide asked = j->gang_milli, held = j->held_milli, est;

    if (j->est_ns < 0)
        return -1;
    if (asked == 0) {
        asked = j->pods;
        held = -less;
        for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
            held++;
    }
    if (held <= 0 || held >= asked)
        return j->est_ns;
    est = ((wide)j->est_ns * asked + held - 1) / held;
    return est > UNLIMITED ? UNLIMITED : (int64_t)est;
}

static void count_exclusive(struct model *m, const struct job *j, int sign)
{
    if (!j->exclusive)
        return;
    config_edit(m)->exclusive_jobs += (uint32_t)sign;
    config_edit(m)->exclusive_at[j->exclusive - SCOPE_OF_HOST] += (uint32_t)sign;
}

void job_run(struct model *m, uint32_t job)
{
    struct job *j = model_edit(m, TABLE_JOB, job);
    int64_t now = config_row(m)->now_ns, est;

    must(j->state == JOB_WAITING);
    config_edit(m)->waiting_pods -= j->pods;
    j->state = JOB_RUNNING;
    j->told = (struct told){0};
    j->refused_at = UINT64_MAX;
    j->held_milli = job_held(m, j);
    team_hold(m, j->team, j->held_milli);
    est = est_at_size(m, j, 0);
    j->start_ns = now + (j->ran ? j->restart_ns : 0);
    j->end_ns = est < 0 ? INT64_MAX : j->start_ns + est;
    j->ran = 1;
    config_edit(m)->elastic_jobs += job_is_elastic(m, job);
    count_exclusive(m, j, 1);
    j->by_ns = INT64_MAX;
    j->breach_ns = INT64_MAX;
    job_release_kept(m, job);
    index_sync_job(m, job);
}

/* True if the run has fewer pods than it must have. */
static bool is_broken(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);

    for (uint32_t p = j->podset_head; p != ROW_NONE; p = podset_row(m, p)->next) {
        uint32_t have = j->done_pods ? job_done_pods(m, job, p, false) : 0;

        for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
            have += seat_row(m, s)->podset == p;
        if (have < podset_row(m, p)->pods_min)
            return true;
    }
    return false;
}

void job_resized(struct model *m, uint32_t job, int32_t seats)
{
    struct job *j = model_edit(m, TABLE_JOB, job);
    int64_t now = config_row(m)->now_ns, before = est_at_size(m, j, seats);
    int64_t held = job_held(m, j), after;
    bool broken = is_broken(m, job);

    must(j->state == JOB_RUNNING);
    if (broken != (j->breach_ns != INT64_MAX)) {
        config_edit(m)->broken_jobs += broken ? 1 : UINT32_MAX;
        j->breach_ns = broken ? now + config_row(m)->breach_ns : INT64_MAX;
    }
    team_hold(m, j->team, held - j->held_milli);
    j->held_milli = held;
    after = est_at_size(m, j, 0);
    /* What is left of the run scales with its speed; before it began in earnest, all of it. */
    if (j->end_ns != INT64_MAX && before > 0) {
        int64_t from = now > j->start_ns ? now : j->start_ns;
        wide left = j->end_ns > from ? j->end_ns - from : 0;

        left = (left * after + before - 1) / before;
        j->end_ns = from + (left > UNLIMITED ? UNLIMITED : (int64_t)left);
    }
}

void job_set(struct model *m, uint32_t job, int32_t priority, int64_t est_ns)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    j->priority = priority;
    j->est_ns = est_ns;
    if (j->state == JOB_RUNNING)
        j->end_ns = est_ns < 0 ? INT64_MAX : j->start_ns + est_at_size(m, j, 0);
    index_sync_job(m, job);
}

void job_vacate(struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);

    team_hold(m, j->team, -j->held_milli);
    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        host_vacate(m, s);
}

uint32_t job_first_pod(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t first = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != podset; p = podset_row(m, p)->next)
        first += podset_row(m, p)->pods;
    return first;
}

uint32_t job_done_pods(const struct model *m, uint32_t job, uint32_t podset, bool away)
{
    uint32_t count = 0;

    for (uint32_t h = job_row(m, job)->done_head; h != ROW_NONE; h = hold_row(m, h)->next)
        count += hold_row(m, h)->podset == podset && (away || !hold_row(m, h)->away);
    return count;
}

bool job_pod_done(const struct model *m, uint32_t job, uint32_t pod)
{
    for (uint32_t h = job_row(m, job)->done_head; h != ROW_NONE; h = hold_row(m, h)->next)
        if (hold_row(m, h)->pod == pod)
            return true;
    return false;
}

static void drop_holds(struct model *m, uint32_t head)
{
    while (head != ROW_NONE) {
        uint32_t next = hold_row(m, head)->next;

        must(!hold_row(m, head)->in_force);
        model_drop(m, TABLE_HOLD, head);
        head = next;
    }
}

void job_release_kept(struct model *m, uint32_t job)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    if (j->hold_head == ROW_NONE)
        return;
    config_edit(m)->kept_jobs--;
    drop_holds(m, j->hold_head);
    j->hold_head = ROW_NONE;
    j->reserve_ns = 0;
    j->keep = KEEP_NONE;
}

/* Takes the places on the host out of the job's room; true: there were some. */
static bool cut_kept(struct model *m, uint32_t job, uint32_t host)
{
    uint32_t before = ROW_NONE, next;
    bool any = false;

    for (uint32_t h = job_row(m, job)->hold_head; h != ROW_NONE; h = next) {
        next = hold_row(m, h)->next;
        if (hold_row(m, h)->host != host) {
            before = h;
            continue;
        }
        must(!hold_row(m, h)->in_force);
        any = true;
        if (job_row(m, job)->keep != KEEP_INHERITED || (before == ROW_NONE && next == ROW_NONE)) {
            job_release_kept(m, job);
            return true;
        }
        if (before == ROW_NONE)
            ((struct job *)model_edit(m, TABLE_JOB, job))->hold_head = next;
        else
            ((struct hold *)model_edit(m, TABLE_HOLD, before))->next = next;
        model_drop(m, TABLE_HOLD, h);
    }
    return any;
}

bool job_lose_kept(struct model *m, uint32_t host)
{
    bool any = false;

    for (uint32_t j = 0; config_row(m)->kept_jobs && j < model_count(m, TABLE_JOB); j++)
        if (job_row(m, j)->state == JOB_WAITING && cut_kept(m, j, host))
            any = true;
    return any;
}

/* Takes pods out of the list of those that are not to be placed: the one with this number, or
 * (ROW_NONE) all that are away. */
static void forget_done(struct model *m, uint32_t job, uint32_t pod)
{
    struct job *j = model_edit(m, TABLE_JOB, job);
    uint32_t before = ROW_NONE, next;

    for (uint32_t h = j->done_head; h != ROW_NONE; h = next) {
        next = hold_row(m, h)->next;
        if (pod == ROW_NONE ? !hold_row(m, h)->away : hold_row(m, h)->pod != pod) {
            before = h;
            continue;
        }
        if (before == ROW_NONE)
            j->done_head = next;
        else
            ((struct hold *)model_edit(m, TABLE_HOLD, before))->next = next;
        model_drop(m, TABLE_HOLD, h);
        j->done_pods--;
    }
}

void job_pod_fate(struct model *m, uint32_t job, uint32_t podset, uint32_t pod, enum fate fate)
{
    struct job *j = model_edit(m, TABLE_JOB, job);
    uint32_t id;

    forget_done(m, job, pod);
    if (fate == POD_WAITS)
        return;
    id = model_add(m, TABLE_HOLD);
    *(struct hold *)model_edit(m, TABLE_HOLD, id) = (struct hold){.podset = podset,
                                                                  .pod = pod,
                                                                  .host = ROW_NONE,
                                                                  .next = j->done_head,
                                                                  .away = fate == POD_AWAY};
    j->done_head = id;
    j->done_pods++;
}

void job_pod_gone(struct model *m, uint32_t job, uint32_t seat, enum fate fate)
{
    int64_t end_ns = job_row(m, job)->end_ns;

    job_pod_fate(m, job, seat_row(m, seat)->podset, seat_row(m, seat)->pod, fate);
    host_give(m, seat);
    job_resized(m, job, -1);
    if (fate == POD_DONE) /* its work is done: the others have no more than before */
        ((struct job *)model_edit(m, TABLE_JOB, job))->end_ns = end_ns;
}

/* The list of seats is newest first; the holds are made in the order of the pods' numbers. */
void job_stop_keeping(struct model *m, uint32_t job, int64_t until_ns)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    must(j->hold_head == ROW_NONE && j->seat_head != ROW_NONE);
    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        uint32_t id = model_add(m, TABLE_HOLD);

        *(struct hold *)model_edit(m, TABLE_HOLD, id) =
            (struct hold){.podset = seat_row(m, s)->podset,
                          .pod = seat_row(m, s)->pod,
                          .host = seat_row(m, s)->host,
                          .devices = seat_row(m, s)->devices,
                          .slot = seat_row(m, s)->slot,
                          .next = j->hold_head};
        j->hold_head = id;
    }
    job_stop(m, job);
    j = model_edit(m, TABLE_JOB, job);
    drop_holds(m, j->done_head); /* the next incarnation has all its work before it */
    j->done_head = ROW_NONE;
    j->done_pods = 0;
    j->reserve_ns = until_ns;
    j->keep = KEEP_INHERITED;
    config_edit(m)->kept_jobs++;
}

void job_stop(struct model *m, uint32_t job)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    if (j->state == JOB_RUNNING) {
        /* What was charged when it started: prices of shares may have changed since. */
        team_hold(m, j->team, -j->held_milli);
        j->held_milli = 0;
        config_edit(m)->waiting_pods += j->pods;
        config_edit(m)->elastic_jobs -= job_is_elastic(m, job);
        count_exclusive(m, j, -1);
        config_edit(m)->broken_jobs -= j->breach_ns != INT64_MAX;
    }
    while (j->seat_head != ROW_NONE)
        host_give(m, j->seat_head);
    if (j->done_pods)
        forget_done(m, job, ROW_NONE); /* whoever starts the gang again makes all its pods */
    j->state = JOB_WAITING;
    j->refused_at = UINT64_MAX;
    j->end_ns = 0;
    j->breach_ns = j->chance_ns = INT64_MAX;
    j->told = (struct told){0};
    index_sync_job(m, job);
}

void job_remove(struct model *m, uint32_t job)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    job_stop(m, job);
    job_release_kept(m, job);
    drop_holds(m, j->done_head);
    config_edit(m)->waiting_pods -= j->pods;
    for (uint32_t p = j->podset_head; p != ROW_NONE;) {
        uint32_t next = podset_row(m, p)->next;

        config_edit(m)->inexact_podsets -= is_inexact(podset_row(m, p));
        model_drop(m, TABLE_PODSET, p);
        p = next;
    }
    j->state = JOB_FREE;
    index_sync_job(m, job);
    model_drop(m, TABLE_JOB, job);
}

void job_tell(struct model *m, uint32_t job, const struct told *told)
{
    ((struct job *)model_edit(m, TABLE_JOB, job))->told = *told;
}

void team_put(struct model *m, uint32_t team, uint32_t parent, int64_t weight_micro,
              int64_t limit_milli)
{
    model_reach(m, TABLE_TEAM, team);

    struct team *t = model_edit(m, TABLE_TEAM, team);

    must(parent != team);
    if (t->used && t->parent != parent) { /* what it holds counts above it, wherever that is */
        team_hold(m, t->parent, -t->held_milli);
        team_hold(m, parent, t->held_milli);
    }
    t->used = 1;
    t->parent = parent;
    t->weight_micro = weight_micro;
    t->limit_milli = limit_milli;
}

bool team_allows(const struct model *m, uint32_t team, int64_t milli, uint32_t *ret_team)
{
    /* Who asks nothing passes, whatever is held. */
    for (uint32_t t = team; t != ROW_NONE && milli > 0; t = team_row(m, t)->parent)
        if (team_row(m, t)->held_milli + milli > team_row(m, t)->limit_milli) {
            *ret_team = t;
            return false;
        }
    return true;
}

bool job_valid(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    uint32_t podsets = 0, seats = 0;

    if (j->state == JOB_FREE)
        return true;
    for (uint32_t p = j->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        podsets++;
    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        if (seat_row(m, s)->job != job)
            return false;
        seats++;
    }
    return podsets == j->podsets && seats <= j->pods && (j->state == JOB_WAITING || seats > 0) &&
           index_job_find(m, j->key) == job;
}
