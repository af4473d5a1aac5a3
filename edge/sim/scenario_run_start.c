/* What the core decided, and whether the truth admits it. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

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

static const char *refuted(const struct play *p, uint32_t job, const struct record_pod *pods,
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

/* A bind that somebody said would be refused. */
static bool is_refused(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count)
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

    live_start(&j->live, p->w, &p->w->job[job], p->now_ns, pods, d->seat_count);
    if (j->first_start_ns < 0)
        j->first_start_ns = p->now_ns;
    j->told.known = false;
    r.pods = pods;
    r.pod_count = d->seat_count;
    play_record(p, &r);
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
    why = refuted(p, job, pods, d->seat_count);
    if (why && !behind) {
        play_broken(p, "a start that is possible", "%s on %s: %s", name,
                    p->w->node[pods[0].node].name, why);
        return;
    }
    if (!behind)
        play_check_start(p, job, pods, d->seat_count);
    if (why || is_refused(p, job, pods, d->seat_count))
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
    start(p, job, d, pods);
    free(pods);
}
