/* What is so, and what that makes the core hear. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"

struct event play_event(const struct play *p, enum event_kind kind)
{
    return (struct event){.at_ns = p->now_ns, .kind = kind};
}

uint32_t play_new_key(struct play *p, uint32_t job)
{
    p->job_of_key = out_grow(p->job_of_key, p->key_count, &p->key_limit, sizeof(*p->job_of_key));
    p->job_of_key[p->key_count] = job;
    return (uint32_t)p->key_count++;
}

static void heard(struct play *p, uint32_t job)
{
    p->heard = out_grow(p->heard, p->heard_count, &p->heard_limit, sizeof(*p->heard));
    p->heard[p->heard_count++] = job;
}

/* ---- what the core is told ---- */

static void tell_seats(struct play *p, uint32_t key, const struct record_pod *pods, uint32_t count)
{
    struct event e = play_event(p, EVENT_SEAT);

    for (uint32_t n = 0; n < count; n++) {
        e.seat = (struct event_seat){.key = key,
                                     .podset = pods[n].podset,
                                     .pod = pods[n].pod,
                                     .host = p->host_of[pods[n].node],
                                     .devices = play_slots_of(p, pods[n].node, pods[n].devices),
                                     .slot = pods[n].mig_slot};
        driver_event(&p->driver, &e);
    }
    e = play_event(p, EVENT_SEATED);
    e.seated.key = key;
    driver_event(&p->driver, &e);
}

void play_tell_job(struct play *p, uint32_t job)
{
    const struct play_job *j = &p->job[job];

    feed_job(&p->feed, p->now_ns, &p->w->job[job], j->key);
    play_tell_gone(p, job, true);
    if (j->live.state != LIVE_RUNNING)
        return;
    tell_seats(p, j->key, j->live.pod, j->live.pod_count);
    play_tell_gone(p, job, false);
}

static void tell_end(struct play *p, uint32_t key)
{
    struct event e = play_event(p, EVENT_END);

    e.end.key = key;
    driver_event(&p->driver, &e);
}

static void tell_node_state(struct play *p, uint32_t node)
{
    const struct play_node *x = &p->node[node];
    struct event e = play_event(p, EVENT_HOST_STATE);

    e.host_state.host = p->host_of[node];
    e.host_state.state = x->state == HOST_UP && x->silent ? HOST_DRAIN : x->state;
    driver_event(&p->driver, &e);
    e = play_event(p, EVENT_HOST_LEAVE);
    e.host_leave = (struct event_host_leave){p->host_of[node], x->leave_ns};
    driver_event(&p->driver, &e);
}

static void tell_device(struct play *p, uint32_t node, unsigned device)
{
    const struct play_node *x = &p->node[node];
    uint16_t shut = x->down | x->sick | x->closed;
    struct event e = play_event(p, EVENT_DEVICE);

    e.device.host = p->host_of[node];
    e.device.device = p->slot_of[node][device];
    e.device.state =
        shut >> device & 1 || device >= p->w->node[node].gpus ? DEVICE_DOWN : DEVICE_UP;
    driver_event(&p->driver, &e);
}

void play_tell_node(struct play *p, uint32_t node)
{
    feed_host(&p->feed, p->now_ns, p->host_of[node]);
    tell_node_state(p, node);
    for (unsigned d = 0; d < p->node[node].slots; d++)
        tell_device(p, node, d);
}

/* ---- jobs ---- */

void play_note(struct play *p, struct world_event e)
{
    struct record r = play_blank(RECORD_EVENT, WORLD_NONE);

    e.at_ns = p->now_ns;
    e.raw = "";
    *(struct world_event *)world_row(p->w, &p->w->event, &p->w->event_count, sizeof(e)) = e;
    p->seen.event = p->w->event;
    r.event = p->w->event_count - 1;
    play_record(p, &r);
}

void play_submit(struct play *p, uint32_t job)
{
    struct record r = play_blank(RECORD_SUBMIT, job);

    p->job[job].live.state = LIVE_WAITING;
    p->job[job].key = play_new_key(p, job);
    heard(p, job);
    play_excuse_below(p, job);
    play_record(p, &r);
    play_fact_begin(p);
    play_tell_job(p, job);
    play_fact_end(p, OBJECT_JOB, job);
}

static void run(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count)
{
    struct record r = play_blank(RECORD_START, job);
    struct play_job *j = &p->job[job];

    live_start(&j->live, p->w, &p->w->job[job], p->now_ns, pods, count);
    if (j->first_start_ns < 0)
        j->first_start_ns = p->now_ns;
    r.pods = pods;
    r.pod_count = count;
    play_record(p, &r);
}

/* A legal slot that is free on the device, for a profile that runs already. */
static uint8_t free_slot(const struct play *p, const struct play_use *u,
                         const struct world_podset *set, uint32_t node, unsigned device)
{
    uint32_t starts, of_device, slots = fit_mig_slots(p->w, set, node, &starts, &of_device);

    for (unsigned at = 0; at < 32; at++)
        if ((starts >> at & 1) && !(u->mig[device] & (uint32_t)((1ull << slots) - 1) << at))
            return (uint8_t)at;
    return 0;
}

void play_seated(struct play *p, const struct scenario_running *running)
{
    const struct world_job *job = &p->w->job[running->job];
    struct play_job *j = &p->job[running->job];
    struct record_pod *pods = memory_zeroed((running->seat_count + 1) * sizeof(*pods));
    struct record r = play_blank(RECORD_SUBMIT, running->job);
    const char *wrong = NULL;

    play_record(p, &r);
    for (uint32_t n = 0; n < running->seat_count; n++) {
        const struct scenario_seat *seat = &running->seat[n];
        const struct world_podset *set;
        struct play_use u = play_use_of(p, seat->node);

        pods[n] = (struct record_pod){.pod = n,
                                      .podset = play_podset_of(job, n),
                                      .node = seat->node,
                                      .devices = seat->devices};
        set = &job->podset[pods[n].podset];
        for (uint32_t before = 0; before < n; before++)
            if (pods[before].node == seat->node)
                play_use_add(p, &u, running->job, &pods[before]);
        if (set->mig != WORLD_NONE && seat->devices)
            pods[n].mig_slot =
                free_slot(p, &u, set, seat->node, (unsigned)__builtin_ctz(seat->devices));
        play_use_add(p, &u, running->job, &pods[n]);
        wrong = wrong ? wrong : u.wrong;
    }
    play_excuse(p);
    if (wrong)
        play_broken(p, "room for what another scheduler started", "%s: %s", job->name, wrong);
    j->key = play_new_key(p, running->job);
    heard(p, running->job);
    j->last_ckpt_ns = running->last_ckpt_ns;
    run(p, running->job, pods, running->seat_count);
    play_fact_begin(p);
    play_tell_job(p, running->job);
    play_fact_end(p, OBJECT_JOB, running->job);
    free(pods);
}

void play_finish(struct play *p, uint32_t job)
{
    struct play_job *j = &p->job[job];
    struct record r = play_blank(RECORD_FINISH, job);

    if (j->live.state != LIVE_WAITING && j->live.state != LIVE_RUNNING)
        return;
    if (j->live.state == LIVE_RUNNING)
        play_record(p, &r);
    else
        play_note(p, (struct world_event){.kind = WEV_CANCEL, .target = job});
    j->live.state = LIVE_DONE;
    j->promised_ns = INT64_MAX;
    play_forget_gone(p, job, true);
    play_fact_begin(p);
    tell_end(p, j->key);
    play_fact_end(p, OBJECT_JOB, job);
    j->key = WORLD_NONE;
}

/* It keeps what it had at its last checkpoint, whether that came by its clock or was told by the
 * scenario. */
void play_stop_run(struct play *p, uint32_t job)
{
    struct play_job *j = &p->job[job];
    struct live saved = j->live;

    play_forget_gone(p, job, false);
    live_stop(&j->live, &p->w->job[job], p->now_ns, false);
    if (j->last_ckpt_ns <= saved.start_ns)
        return;
    live_stop(&saved, &p->w->job[job], j->last_ckpt_ns, true);
    if (saved.kept_ns > j->live.kept_ns)
        j->live.kept_ns = saved.kept_ns;
}

/* A run ends by a fault of what it sits on: it waits again. */
static void fail_run(struct play *p, uint32_t job)
{
    struct play_job *j = &p->job[job];
    struct record r = play_blank(RECORD_FAIL, job);
    struct event e = play_event(p, EVENT_STOP);

    play_excuse(p);
    play_stop_run(p, job);
    play_record(p, &r);
    play_fact_begin(p);
    e.stop.key = j->key;
    driver_event(&p->driver, &e);
    play_fact_end(p, OBJECT_JOB, job);
}

/* The job's present incarnation goes; the next one, if there is one, is told of in the same breath.
 */
static void replace(struct play *p, uint32_t job, bool again)
{
    struct play_job *j = &p->job[job];
    bool lives = j->live.state == LIVE_WAITING || j->live.state == LIVE_RUNNING;
    bool ran = j->live.state == LIVE_RUNNING;
    bool ghost = play_leave_ghost(p, job, j->live.pod, j->live.pod_count);

    play_fact_begin(p);
    if (lives)
        tell_end(p, j->key);
    if (ghost)
        play_tell_ghost(p, &p->ghost[p->ghost_count - 1]);
    if (ran)
        play_stop_run(p, job);
    j->key = WORLD_NONE;
    j->promised_ns = INT64_MAX;
    j->live.ended = 0;
    play_forget_gone(p, job, true);
    play_excuse(p);
    if (again) {
        j->live.state = LIVE_WAITING;
        j->key = play_new_key(p, job);
        play_tell_job(p, job);
    }
    play_fact_end(p, OBJECT_JOB, job);
}

/* For the figures a run that somebody ends and its job begins anew has failed. */
static void note_end_of_run(struct play *p, uint32_t job)
{
    struct record r = play_blank(RECORD_FAIL, job);

    if (p->job[job].live.state == LIVE_RUNNING)
        play_record(p, &r);
}

void play_cancel(struct play *p, uint32_t job)
{
    play_note(p, (struct world_event){.kind = WEV_CANCEL, .target = job});
    replace(p, job, false);
    p->job[job].live.state = LIVE_DONE;
}

/* The next incarnation of what runs: under the number that the core knows it by, so that the room
 * stays its own. */
static void reincarnate(struct play *p, uint32_t job)
{
    struct play_job *j = &p->job[job];
    bool ghost = play_leave_ghost(p, job, j->live.pod, j->live.pod_count);
    struct event e = play_event(p, EVENT_STOP);

    play_excuse(p);
    play_stop_run(p, job);
    play_forget_gone(p, job, true);
    j->live.ended = 0;
    play_fact_begin(p);
    e.stop = (struct event_stop){j->key, 1};
    driver_event(&p->driver, &e);
    if (ghost)
        play_tell_ghost(p, &p->ghost[p->ghost_count - 1]);
    play_fact_end(p, OBJECT_JOB, job);
}

void play_recreate(struct play *p, uint32_t job)
{
    struct live *l = &p->job[job].live;

    if (l->state == LIVE_UNBORN && p->job[job].back_ns == INT64_MAX)
        return;
    p->job[job].back_ns = INT64_MAX;
    note_end_of_run(p, job);
    p->w->job[job].submit_ns = p->now_ns;
    p->job[job].first_start_ns = -1;
    if (l->state == LIVE_RUNNING)
        reincarnate(p, job);
    else
        replace(p, job, true);
    p->job[job].last_ckpt_ns = INT64_MIN;
    heard(p, job);
    l->kept_ns = 0;
    l->ran = false;
}

void play_delete_job(struct play *p, uint32_t job, int64_t back_ns)
{
    struct play_job *j = &p->job[job];

    if (j->live.state != LIVE_RUNNING && j->live.state != LIVE_WAITING)
        return;
    note_end_of_run(p, job);
    replace(p, job, back_ns <= 0);
    if (back_ns > 0) {
        j->live.state = LIVE_UNBORN;
        j->back_ns = p->now_ns + back_ns;
    }
}

void play_back(struct play *p, uint32_t job)
{
    p->job[job].back_ns = INT64_MAX;
    replace(p, job, true);
}

/* ---- nodes ---- */

/* Runs that sit on a node (devices 0) or on one of its devices end. */
static void fail_on(struct play *p, uint32_t node, uint16_t devices)
{
    for (uint32_t job = 0; job < p->w->job_count; job++)
        if (p->job[job].live.state == LIVE_RUNNING &&
            live_sits_on(&p->job[job].live, node, devices))
            fail_run(p, job);
    for (size_t g = p->ghost_count; devices == 0 && g-- > 0;)
        for (uint32_t n = 0; n < p->ghost[g].pod_count; n++)
            if (p->ghost[g].pod[n].node == node) {
                play_ghost_gone(p, g);
                break;
            }
}

void play_node_state(struct play *p, uint32_t node, uint8_t state, int64_t leave_ns)
{
    struct play_node *x = &p->node[node];

    play_note(p, (struct world_event){.kind = WEV_NODE,
                                      .target = node,
                                      .state = state <= STATE_LEAVE ? state : STATE_DRAIN,
                                      .leave_at_ns = leave_ns});
    if (state != STATE_UP)
        play_excuse(p);
    if (state == STATE_DOWN)
        fail_on(p, node, 0);
    if (state <= STATE_DRAIN)
        x->state = state == STATE_UP ? HOST_UP : state == STATE_DOWN ? HOST_DOWN : HOST_DRAIN;
    x->silent = state > STATE_LEAVE || (x->silent && state != STATE_UP && state != STATE_DOWN);
    if (state == STATE_UP || state == STATE_DOWN)
        x->leave_ns = INT64_MAX;
    if (state == STATE_LEAVE)
        x->leave_ns = leave_ns;
    play_fact_begin(p);
    tell_node_state(p, node);
    play_fact_end(p, OBJECT_NODE, node);
}

void play_device_state(struct play *p, uint32_t node, unsigned device, uint8_t state)
{
    struct play_node *x = &p->node[node];
    uint16_t bit = (uint16_t)(1u << device), rest = (uint16_t)~bit;
    struct play_use u;

    play_note(p, (struct world_event){.kind = WEV_GPU,
                                      .target = node,
                                      .gpu = (uint8_t)device,
                                      .state = state <= STATE_LEAVE ? state : STATE_DRAIN});
    if (state != STATE_UP)
        play_excuse(p);
    if (state == STATE_DOWN)
        fail_on(p, node, bit);
    x->down = (uint16_t)((x->down & rest) | (state == STATE_DOWN ? bit : 0));
    x->closed = (uint16_t)((x->closed & rest) | (state == STATE_DRAIN ? bit : 0));
    x->sick = (uint16_t)((x->sick & rest) | (state > STATE_LEAVE ? bit : 0));
    play_fact_begin(p);
    tell_device(p, node, device);
    play_fact_end(p, OBJECT_NODE, node);
    /* Of those that nobody can place somebody must have sat on it if the rest is too few. */
    for (u = play_use_of(p, node); u.wrong && u.unknown; u = play_use_of(p, node)) {
        uint32_t job = p->w->job_count;

        while (job-- > 0)
            if (p->job[job].live.state == LIVE_RUNNING && p->job[job].live.pod_count > 0 &&
                live_sits_on(&p->job[job].live, node, 0) &&
                play_is_unknown(p, job, &p->job[job].live.pod[0]))
                break;
        if (job == UINT32_MAX)
            break;
        fail_run(p, job);
    }
}
