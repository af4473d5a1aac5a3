/* Pods one by one: gone, done, made anew, on their way out; and what the core does to runs. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"

uint32_t play_pods_of(const struct world_job *job)
{
    uint32_t pods = 0;

    for (uint32_t n = 0; n < job->podset_count; n++)
        pods += job->podset[n].pods;
    return pods;
}

uint32_t play_podset_of(const struct world_job *job, uint32_t pod)
{
    uint32_t set = 0;

    for (; set + 1 < job->podset_count && pod >= job->podset[set].pods; set++)
        pod -= job->podset[set].pods;
    return set;
}

/* ---- pods that are not to be placed ---- */

static struct play_gone *gone_of(struct play *p, uint32_t job, uint32_t pod)
{
    for (size_t n = 0; n < p->gone_count; n++)
        if (p->gone[n].job == job && p->gone[n].pod == pod)
            return &p->gone[n];
    return NULL;
}

static void add_gone(struct play *p, uint32_t job, uint32_t pod, bool done, int64_t back_ns)
{
    p->gone = out_grow(p->gone, p->gone_count, &p->gone_limit, sizeof(*p->gone));
    p->gone[p->gone_count++] =
        (struct play_gone){.job = job, .pod = pod, .done = done, .back_ns = back_ns};
}

uint32_t play_done_pods(const struct play *p, uint32_t job, uint32_t podset)
{
    uint32_t count = 0;

    for (size_t n = 0; n < p->gone_count; n++)
        count += p->gone[n].job == job && p->gone[n].done &&
                 play_podset_of(&p->w->job[job], p->gone[n].pod) == podset;
    return count;
}

bool play_is_below(const struct play *p, uint32_t job)
{
    const struct live *l = &p->job[job].live;

    for (uint32_t s = 0; l->state == LIVE_RUNNING && s < p->w->job[job].podset_count; s++) {
        uint32_t have = play_done_pods(p, job, s);

        for (uint32_t n = 0; n < l->pod_count; n++)
            have += l->pod[n].podset == s;
        if (have < p->w->job[job].podset[s].pods_min)
            return true;
    }
    return false;
}

static void tell_fate(struct play *p, uint32_t job, uint32_t pod, enum fate fate)
{
    struct event e = play_event(p, EVENT_POD_GONE);

    e.pod_gone = (struct event_pod_gone){p->job[job].key, pod, (uint8_t)fate};
    driver_event(&p->driver, &e);
}

void play_tell_gone(struct play *p, uint32_t job, bool done)
{
    for (size_t n = 0; n < p->gone_count; n++)
        if (p->gone[n].job == job && p->gone[n].done == done)
            tell_fate(p, job, p->gone[n].pod, done ? POD_DONE : POD_AWAY);
}

void play_forget_gone(struct play *p, uint32_t job, bool done)
{
    size_t left = 0;

    for (size_t n = 0; n < p->gone_count; n++)
        if (p->gone[n].job != job || (p->gone[n].done && !done))
            p->gone[left++] = p->gone[n];
    p->gone_count = left;
}

/* The number of a pod after the first podset got another size; WORLD_NONE: there is none. */
static uint32_t renumbered(const struct world_job *job, uint32_t pod, uint32_t pods)
{
    if (pod >= job->podset[0].pods)
        return pod - job->podset[0].pods + pods;
    return pod < pods ? pod : WORLD_NONE;
}

/* ---- one pod of a run ---- */

static const struct record_pod *seat_of(const struct play *p, uint32_t job, uint32_t pod)
{
    const struct live *l = &p->job[job].live;

    for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
        if (l->pod[n].pod == pod)
            return &l->pod[n];
    return NULL;
}

static void note_resize(struct play *p, enum record_kind kind, uint32_t job,
                        const struct record_pod *pods, uint32_t count, uint32_t by)
{
    struct record r = play_blank(kind, job);

    r.pods = pods;
    r.pod_count = count;
    r.by = by;
    r.cause = "self";
    play_record(p, &r);
}

/* The only pod of a run goes, and with it the run. */
static void stop_last(struct play *p, uint32_t job)
{
    struct record r = play_blank(RECORD_FAIL, job);
    struct event e = play_event(p, EVENT_STOP);

    play_stop_run(p, job);
    play_record(p, &r);
    e.stop.key = p->job[job].key;
    driver_event(&p->driver, &e);
}

void play_finish_pod(struct play *p, uint32_t job, uint32_t pod)
{
    struct live *l = &p->job[job].live;
    const struct record_pod *seat = seat_of(p, job, pod);
    uint32_t done = 0;

    if (!seat)
        return;
    for (size_t n = 0; n < p->gone_count; n++)
        done += p->gone[n].job == job && p->gone[n].done;
    if (done + 1 == play_pods_of(&p->w->job[job])) {
        play_finish(p, job);
        return;
    }
    play_fact_begin(p);
    add_gone(p, job, pod, true, INT64_MAX);
    if (l->pod_count == 1) { /* others lack: they have the rest before them */
        stop_last(p, job);
    } else {
        struct record_pod gone = *seat;

        live_pod_done(l, p->w, &p->w->job[job], p->now_ns, pod);
        note_resize(p, RECORD_SHRINK, job, &gone, 1, WORLD_NONE);
    }
    tell_fate(p, job, pod, POD_DONE);
    play_fact_end(p, OBJECT_JOB, job);
}

/* One pod is no more and waits anew, at once or when its controller makes it. */
static void lose_pod(struct play *p, uint32_t job, uint32_t pod, int64_t back_ns, bool told_to_go)
{
    struct live *l = &p->job[job].live;
    const struct record_pod *seat = seat_of(p, job, pod);
    struct record_pod gone;
    bool ghost;

    if (!seat)
        return;
    gone = *seat;
    play_excuse(p);
    ghost = told_to_go && play_leave_ghost(p, job, &gone, 1);
    play_fact_begin(p);
    if (l->pod_count == 1) {
        stop_last(p, job);
    } else {
        live_shrink(l, p->w, &p->w->job[job], p->now_ns, &gone, 1);
        note_resize(p, RECORD_SHRINK, job, &gone, 1, WORLD_NONE);
        if (back_ns > 0)
            add_gone(p, job, pod, false, p->now_ns + back_ns);
        tell_fate(p, job, pod, back_ns > 0 ? POD_AWAY : POD_WAITS);
    }
    if (ghost)
        play_tell_ghost(p, &p->ghost[p->ghost_count - 1]);
    play_fact_end(p, OBJECT_JOB, job);
}

void play_fail_pod(struct play *p, uint32_t job, uint32_t pod)
{
    if (play_pods_of(&p->w->job[job]) == 1)
        play_finish(p, job);
    else
        lose_pod(p, job, pod, 0, false);
}

void play_delete_pod(struct play *p, const struct step *step)
{
    if (play_pods_of(&p->w->job[step->job]) == 1)
        play_delete_job(p, step->job, step->length_ns);
    else
        lose_pod(p, step->job, step->pod, step->length_ns, true);
}

void play_renumber(struct play *p, uint32_t job, uint32_t pods)
{
    struct live *l = &p->job[job].live;
    const struct world_job *w = &p->w->job[job];
    struct record_pod *gone = memory_zeroed((l->pod_count + 1) * sizeof(*gone));
    uint32_t count = 0;
    size_t left = 0;

    for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
        if (renumbered(w, l->pod[n].pod, pods) == WORLD_NONE)
            gone[count++] = l->pod[n];
    if (count > 0) {
        (void)play_leave_ghost(p, job, gone, count);
        note_resize(p, RECORD_SHRINK, job, gone, count, WORLD_NONE);
        if (count == l->pod_count)
            play_stop_run(p, job);
        else
            live_shrink(l, p->w, w, p->now_ns, gone, count);
    }
    free(gone);
    for (uint32_t n = 0; n < l->pod_count; n++)
        l->pod[n].pod = renumbered(w, l->pod[n].pod, pods);
    for (size_t n = 0; n < p->gone_count; n++) {
        struct play_gone g = p->gone[n];

        if (g.job == job)
            g.pod = renumbered(w, g.pod, pods);
        if (g.pod != WORLD_NONE)
            p->gone[left++] = g;
    }
    p->gone_count = left;
}

void play_pods_back(struct play *p)
{
    for (size_t n = p->gone_count; n-- > 0;) {
        struct play_gone g = p->gone[n];

        if (g.back_ns > p->now_ns)
            continue;
        memmove(&p->gone[n], &p->gone[n + 1], (--p->gone_count - n) * sizeof(*p->gone));
        play_fact_begin(p);
        tell_fate(p, g.job, g.pod, POD_WAITS);
        play_fact_end(p, OBJECT_JOB, g.job);
    }
}

/* ---- pods on their way out ---- */

bool play_leave_ghost(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count)
{
    struct play_job *j = &p->job[job];
    struct play_ghost *g;

    if (j->live.state != LIVE_RUNNING || j->terminate_ns == 0 || count == 0)
        return false;
    p->ghost = out_grow(p->ghost, p->ghost_count, &p->ghost_limit, sizeof(*p->ghost));
    g = &p->ghost[p->ghost_count++];
    *g = (struct play_ghost){.job = job,
                             .key = play_new_key(p, job),
                             .pod_count = count,
                             .until_ns = p->now_ns + j->terminate_ns,
                             .pod = memory_grow(NULL, (count + 1) * sizeof(*g->pod))};
    memcpy(g->pod, pods, count * sizeof(*g->pod));
    return true;
}

/* What the ghost asks of the core: the pods it has, and nothing but to hold them until they are
 * gone. *ret_podset: by podset of the job, its place in the ghost's ask. */
static struct world_job ask_of(const struct play *p, const struct play_ghost *g,
                               struct world_podset *set, uint32_t *ret_podset)
{
    struct world_job job = p->w->job[g->job];
    uint32_t count = 0;

    job.required_count = job.preferred_count = 0;
    job.exclusive.scope = SCOPE_NONE;
    job.est_ns = g->until_ns - p->now_ns;
    for (uint32_t s = 0; s < job.podset_count; s++) {
        uint32_t pods = 0;

        for (uint32_t n = 0; n < g->pod_count; n++)
            pods += g->pod[n].podset == s;
        if (pods == 0)
            continue;
        set[count] = job.podset[s];
        set[count].pods = set[count].pods_min = pods;
        set[count].required_count = 0;
        set[count].slice_pods = 0;
        ret_podset[s] = count++;
    }
    job.podset = set;
    job.podset_count = count;
    return job;
}

void play_tell_ghost(struct play *p, struct play_ghost *g)
{
    uint32_t sets = p->w->job[g->job].podset_count, pod = 0;
    struct world_podset *set = memory_zeroed((sets + 1u) * sizeof(*set));
    uint32_t *podset = memory_zeroed((sets + 1u) * sizeof(*podset));
    struct world_job job = ask_of(p, g, set, podset);
    struct event e = play_event(p, EVENT_SEAT);

    feed_job(&p->feed, p->now_ns, &job, g->key);
    for (uint32_t s = 0; s < sets; s++)
        for (uint32_t n = 0; n < g->pod_count; n++) {
            const struct record_pod *x = &g->pod[n];

            if (x->podset != s)
                continue;
            e.seat = (struct event_seat){.key = g->key,
                                         .podset = podset[s],
                                         .pod = pod++,
                                         .host = p->host_of[x->node],
                                         .devices = play_slots_of(p, x->node, x->devices),
                                         .slot = x->mig_slot};
            driver_event(&p->driver, &e);
        }
    e = play_event(p, EVENT_SEATED);
    e.seated.key = g->key;
    driver_event(&p->driver, &e);
    g->told = true;
    free(set);
    free(podset);
}

void play_tell_ghosts(struct play *p)
{
    for (size_t g = 0; g < p->ghost_count; g++) {
        if (p->ghost[g].told)
            continue;
        play_fact_begin(p);
        play_tell_ghost(p, &p->ghost[g]);
        play_fact_end(p, OBJECT_JOB, p->ghost[g].job);
    }
}

void play_ghost_gone(struct play *p, size_t ghost)
{
    struct play_ghost g = p->ghost[ghost];
    struct event e = play_event(p, EVENT_END);

    play_fact_begin(p);
    e.end.key = g.key;
    driver_event(&p->driver, &e);
    play_fact_end(p, OBJECT_JOB, g.job);
    free(g.pod);
    memmove(&p->ghost[ghost], &p->ghost[ghost + 1], (--p->ghost_count - ghost) * sizeof(*p->ghost));
}

/* ---- what the core does to runs ---- */

/* True if the decision speaks of a run that there is; else, unless the core is behind, it errs. */
static bool speaks_of_run(struct play *p, uint32_t job, uint32_t key, const char *what)
{
    if (p->job[job].key == key && p->job[job].live.state == LIVE_RUNNING)
        return true;
    if (!play_behind(p))
        play_broken(p, "decisions about what runs", "%s of %s, which does not run", what,
                    p->w->job[job].name);
    return false;
}

/* The run with the pods that join it, by number. */
static struct record_pod *joined(const struct live *l, const struct record_pod *pods,
                                 uint32_t count)
{
    struct record_pod *all = memory_grow(NULL, (l->pod_count + count + 1) * sizeof(*all));
    uint32_t used = 0;

    for (uint32_t n = 0; n < l->pod_count + count; n++) {
        struct record_pod x = n < l->pod_count ? l->pod[n] : pods[n - l->pod_count];
        uint32_t at = used++;

        for (; at > 0 && all[at - 1].pod > x.pod; at--)
            all[at] = all[at - 1];
        all[at] = x;
    }
    return all;
}

/* The pods do not join after all. */
static void reject_pods(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count)
{
    p->rejected++;
    play_fact_begin(p);
    for (uint32_t n = 0; n < count; n++)
        tell_fate(p, job, pods[n].pod, POD_WAITS);
    play_answer_end(p, job);
}

void play_grow(struct play *p, uint32_t job, uint32_t key, const struct record_pod *pods,
               uint32_t count)
{
    struct live *l = &p->job[job].live;
    const char *why;

    if (!speaks_of_run(p, job, key, "growth"))
        return;
    why = play_refuted(p, job, pods, count);
    for (uint32_t n = 0; n < count && !why; n++)
        if (gone_of(p, job, pods[n].pod) || seat_of(p, job, pods[n].pod))
            why = "a pod that does not wait";
    if (why && !play_behind(p)) {
        play_broken(p, "a growth that is possible", "%s on %s: %s", p->w->job[job].name,
                    p->w->node[pods[0].node].name, why);
        return;
    }
    if (!play_behind(p)) {
        struct record_pod *all = joined(l, pods, count);

        play_check_start(p, job, all, l->pod_count + count, false);
        free(all);
    }
    if (why || play_is_refused(p, job, pods, count)) {
        reject_pods(p, job, pods, count);
    } else if (!p->broken) {
        live_grow(l, p->w, &p->w->job[job], p->now_ns, pods, count);
        note_resize(p, RECORD_GROW, job, pods, count, WORLD_NONE);
        if (!play_is_below(p, job))
            p->job[job].told.known = false;
    }
}

void play_shrink(struct play *p, uint32_t job, uint32_t key, const struct record_pod *pods,
                 uint32_t count, uint32_t by)
{
    struct live *l = &p->job[job].live;

    if (!speaks_of_run(p, job, key, "shrinking"))
        return;
    for (uint32_t n = 0; n < count; n++)
        if (!seat_of(p, job, pods[n].pod)) {
            if (!play_behind(p))
                play_broken(p, "pods that run to be given back", "pod %u of %s", pods[n].pod,
                            p->w->job[job].name);
            return;
        }
    (void)play_leave_ghost(p, job, pods, count);
    live_shrink(l, p->w, &p->w->job[job], p->now_ns, pods, count);
    p->evicted_pods += count;
    note_resize(p, RECORD_SHRINK, job, pods, count, by);
    if (play_is_below(p, job) && !play_behind(p))
        play_broken(p, "gangs that keep their minimum", "%s shrunk below it", p->w->job[job].name);
}

void play_break(struct play *p, uint32_t job, uint32_t key)
{
    struct live *l = &p->job[job].live;
    struct record r = play_blank(RECORD_FAIL, job);

    if (!speaks_of_run(p, job, key, "the end of a broken run"))
        return;
    if (!play_is_below(p, job) && !play_behind(p)) {
        play_broken(p, "an end of what is broken", "%s, which is whole", p->w->job[job].name);
        return;
    }
    p->evicted++;
    p->evicted_pods += l->pod_count;
    p->job[job].stops++;
    (void)play_leave_ghost(p, job, l->pod, l->pod_count);
    play_stop_run(p, job);
    play_record(p, &r);
}
