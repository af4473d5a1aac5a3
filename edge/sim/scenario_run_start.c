/* What the core decided, and whether the truth admits it. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"
#include "edge/base/memory.h"

/* The bind is refused; the core hears of it and may try again. */
static void reject(struct play *p, uint32_t job, uint32_t key)
{
    struct event e = play_event(p, EVENT_STOP);

    p->rejected++;
    play_fact_begin(p);
    e.stop.key = key;
    driver_event(&p->driver, &e);
    play_answer_end(p, job);
}

/* Pods that the same step told to go sit there still: the job waits for them, as if it had been
 * told of them before. */
static void put_off(struct play *p, uint32_t job, uint32_t key)
{
    struct event e = play_event(p, EVENT_STOP);

    play_fact_begin(p);
    e.stop.key = key;
    driver_event(&p->driver, &e);
    play_fact_end(p, OBJECT_JOB, job);
}

static bool has_new_ghosts(const struct play *p)
{
    for (size_t g = 0; g < p->ghost_count; g++)
        if (!p->ghost[g].told)
            return true;
    return false;
}

static bool within(int64_t used, int64_t capacity)
{
    return capacity == WORLD_UNLIMITED || used <= capacity;
}

/* Why the truth does not admit a pod beside what is there, or NULL. */
static const char *refuted_pod(const struct play *p, const struct play_use *u, uint32_t job,
                               const struct record_pod *pod)
{
    const struct world_node *n = &p->w->node[pod->node];
    const struct play_node *x = &p->node[pod->node];
    const struct world_podset *set = &p->w->job[job].podset[pod->podset];

    if (x->state == HOST_DOWN)
        return "the node is down";
    if (x->silent)
        return "the node does not answer";
    if (pod->devices & x->down || pod->devices >> n->gpus)
        return "a device of it is down or gone";
    if (u->wrong)
        return u->wrong;
    if (set->gpus > 0 && !fit_model(p->w, set, pod->node))
        return "the model is not allowed";
    if (!within(u->cpu_milli, n->cpu_milli) && set->cpu_milli > 0)
        return "the node has too little CPU";
    if (!within(u->mem_mib, n->mem_mib) && set->mem_mib > 0)
        return "the node has too little memory";
    if (!within(u->pods, n->pods))
        return "the node has as many pods as it may";
    return NULL;
}

const char *play_refuted(const struct play *p, uint32_t job, const struct record_pod *pods,
                         uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        struct play_use u = play_use_of(p, pods[n].node);
        const char *why;

        for (uint32_t before = 0; before <= n; before++)
            if (pods[before].node == pods[n].node)
                play_use_add(p, &u, job, &pods[before]);
        why = refuted_pod(p, &u, job, &pods[n]);
        if (why)
            return why;
    }
    return NULL;
}

bool play_is_refused(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count)
{
    if (p->job[job].rejects > 0) {
        p->job[job].rejects--;
        return true;
    }
    for (uint32_t n = 0; n < count; n++)
        if (p->node[pods[n].node].rejects > 0) {
            p->node[pods[n].node].rejects--;
            return true;
        }
    return false;
}

static void take(struct play *p, uint32_t job, const struct decision *d, struct record_pod *pods)
{
    struct play_job *j = &p->job[job];
    struct record r = play_blank(RECORD_START, job);

    play_promise_ends(p, job);
    live_start(&j->live, p->w, &p->w->job[job], p->now_ns, pods, d->seat_count);
    if (j->first_start_ns < 0)
        j->first_start_ns = p->now_ns;
    j->told.known = false;
    r.pods = pods;
    r.pod_count = d->seat_count;
    play_record(p, &r);
}

/* Pods that may run in several ways: how many of them in which was decided with the start. */
static void take_ways(struct play *p, uint32_t job, uint32_t key)
{
    const struct model *m = p->driver.sched.m;
    uint32_t id = index_job_find(m, key), n = 0;

    if (id == ROW_NONE || !(job_row(m, id)->flags & JOB_HAS_WAYS))
        return;
    for (uint32_t s = job_row(m, id)->podset_head; s != ROW_NONE; s = podset_row(m, s)->next, n++) {
        p->w->job[job].podset[n].pods = podset_row(m, s)->pods;
        p->w->job[job].podset[n].pods_min = podset_row(m, s)->pods_min;
    }
}

static void start(struct play *p, uint32_t job, const struct decision *d, struct record_pod *pods)
{
    struct play_job *j = &p->job[job];
    const char *name = p->w->job[job].name, *why;
    bool behind = play_behind(p);

    if (j->key != d->key || j->live.state != LIVE_WAITING) {
        if (!behind)
            play_broken(p, "a start of what waits", "a start of %s, which does not wait", name);
        reject(p, job, d->key);
        return;
    }
    take_ways(p, job, d->key);
    why = play_refuted(p, job, pods, d->seat_count);
    if (why && has_new_ghosts(p)) {
        put_off(p, job, d->key);
        return;
    }
    if (why && !behind) {
        play_broken(p, "a start that is possible", "%s on %s: %s", name,
                    p->w->node[pods[0].node].name, why);
        return;
    }
    if (!behind)
        play_check_start(p, job, pods, d->seat_count, true);
    if (why || play_is_refused(p, job, pods, d->seat_count))
        reject(p, job, d->key);
    else if (!p->broken)
        take(p, job, d, pods);
}

static void refuse(struct play *p, uint32_t job, const struct decision *d)
{
    struct play_reason *told = &p->job[job].told;
    struct record r = play_blank(RECORD_REFUSE, job);

    words_refusal(&p->words, p->w, d, &r);
    told->known = true;
    told->fits = (uint8_t)r.fits;
    told->code = r.reason.code;
    out_clear(&told->text);
    out_add(&told->text, r.reason.text ? r.reason.text : "");
    if (p->job[job].key == d->key && p->job[job].live.state == LIVE_WAITING)
        play_record(p, &r);
}

/* Decisions with pods. */
static void with_pods(struct play *p, uint32_t job, const struct decision *d,
                      struct record_pod *pods)
{
    uint32_t by = d->by < p->key_count ? p->job_of_key[d->by] : WORLD_NONE;

    switch (d->kind) {
    case DECISION_START:
        start(p, job, d, pods);
        break;
    case DECISION_PROMISE:
        if (p->job[job].key == d->key)
            play_promise(p, job, d->by_ns, pods, d->seat_count);
        break;
    case DECISION_GROW:
        play_grow(p, job, d->key, pods, d->seat_count);
        break;
    case DECISION_SHRINK:
        play_shrink(p, job, d->key, pods, d->seat_count, by);
        break;
    case DECISION_BREAK:
        play_break(p, job, d->key);
        break;
    case DECISION_REFUSE:
        break;
    }
}

void play_decided(void *context, const struct decision *d, const struct decision_seat *seats)
{
    struct play *p = context;
    uint32_t job = d->key < p->key_count ? p->job_of_key[d->key] : WORLD_NONE;
    struct record_pod *pods;

    p->changes++;
    if (p->broken)
        return;
    if (job == WORLD_NONE) {
        play_broken(p, "decisions about jobs", "one about number %u", d->key);
        return;
    }
    if (d->kind == DECISION_REFUSE) {
        refuse(p, job, d);
        return;
    }
    pods = memory_zeroed((d->seat_count + 1) * sizeof(*pods));
    for (uint32_t n = 0; n < d->seat_count; n++) {
        uint32_t node = p->node_of[seats[n].host];

        pods[n] = (struct record_pod){.pod = seats[n].pod,
                                      .podset = seats[n].podset,
                                      .node = node,
                                      .devices = play_devices_of(p, node, seats[n].devices),
                                      .mig_slot = seats[n].slot};
    }
    with_pods(p, job, d, pods);
    free(pods);
}
