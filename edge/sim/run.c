#include "edge/sim/run.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"
#include "edge/sim/live.h"
#include "edge/sim/words.h"

#define TICK_EVERY 64 /* moments between two looks at the clock and at Ctrl-C */

/* Ends that are to come, as a heap of jobs by time, then by job. Entries of runs that ended before
 * their time stay in and are passed over. */
struct ends {
    struct end {
        int64_t t_ns;
        uint32_t job;
    } * heap;
    size_t count, limit;
};

struct run {
    const struct world *w;
    const struct run_options *o;
    struct driver driver;
    struct feed feed;
    struct words words;
    struct live *live; /* by job */
    struct ends ends;
    struct record_pod *pods;
    size_t pods_limit;
    int64_t now_ns;
    uint32_t next_job, next_event;
    uint64_t moments;
    uint32_t arrival; /* openb: position of the arrival being offered */
    bool refused;     /* openb: it was */
};

static void tell(struct run *r, struct record *record)
{
    record->t_ns = r->now_ns;
    record->arrival = r->w->openb ? r->arrival : WORLD_NONE;
    for (unsigned n = 0; n < r->o->sink_count; n++)
        r->o->sink[n].take(r->o->sink[n].context, record);
}

static struct record blank(enum record_kind kind, uint32_t job)
{
    return (struct record){
        .kind = kind,
        .job = job,
        .by = WORLD_NONE,
        .decide_ns = -1,
        .reason = {
            .free_gpu_milli = -1, .best_pods = -1, .binding = -1, .runner_up_node = WORLD_NONE}};
}

/* ---- ends ---- */

static bool end_before(const struct end *a, const struct end *b)
{
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a->job < b->job;
}

static void ends_add(struct ends *e, int64_t t_ns, uint32_t job)
{
    size_t at = e->count++;

    e->heap = out_grow(e->heap, at, &e->limit, sizeof(*e->heap));
    while (at > 0) {
        size_t up = (at - 1) / 2;
        struct end new = {t_ns, job};

        if (!end_before(&new, &e->heap[up]))
            break;
        e->heap[at] = e->heap[up];
        at = up;
    }
    e->heap[at] = (struct end){t_ns, job};
}

static void ends_drop(struct ends *e)
{
    struct end last = e->heap[--e->count];
    size_t at = 0;

    for (;;) {
        size_t child = 2 * at + 1;

        if (child >= e->count)
            break;
        if (child + 1 < e->count && end_before(&e->heap[child + 1], &e->heap[child]))
            child++;
        if (!end_before(&e->heap[child], &last))
            break;
        e->heap[at] = e->heap[child];
        at = child;
    }
    e->heap[at] = last;
}

/* The next end that still stands; false: none. */
static bool ends_next(struct run *r, struct end *ret)
{
    struct ends *e = &r->ends;

    while (e->count) {
        const struct live *l = &r->live[e->heap[0].job];

        if (l->state == LIVE_RUNNING && l->finish_ns == e->heap[0].t_ns) {
            *ret = e->heap[0];
            return true;
        }
        ends_drop(e);
    }
    return false;
}

/* ---- what the core decided ---- */

/* The decision's seats as pods of a record. */
static void take_pods(struct run *r, const struct decision *d, const struct decision_seat *seats,
                      struct record *record)
{
    while (r->pods_limit < d->seat_count)
        r->pods = out_grow(r->pods, r->pods_limit, &r->pods_limit, sizeof(*r->pods));
    for (uint32_t n = 0; n < d->seat_count; n++)
        r->pods[n] = (struct record_pod){.pod = seats[n].pod,
                                         .podset = seats[n].podset,
                                         .node = seats[n].host,
                                         .devices = seats[n].devices,
                                         .mig_slot = seats[n].slot};
    record->pods = r->pods;
    record->pod_count = d->seat_count;
    record->decide_ns = r->driver.step_ns / (int64_t)r->driver.sched.decision_count;
}

static void start(struct run *r, const struct decision *d, const struct decision_seat *seats,
                  uint32_t job)
{
    struct record record = blank(RECORD_START, job);

    take_pods(r, d, seats, &record);
    words_start(&r->words, r->w, d, &record);
    tell(r, &record);
    if (r->w->openb)
        return;
    live_start(&r->live[job], r->w, &r->w->job[job], r->now_ns, r->pods, d->seat_count);
    ends_add(&r->ends, r->live[job].finish_ns, job);
}

/* Promises and changes of running gangs. */
static void change(struct run *r, const struct decision *d, const struct decision_seat *seats,
                   uint32_t job)
{
    bool grows = d->kind == DECISION_GROW;
    struct record record = blank(d->kind == DECISION_PROMISE ? RECORD_PROMISE
                                 : grows                     ? RECORD_GROW
                                                             : RECORD_SHRINK,
                                 job);

    take_pods(r, d, seats, &record);
    if (d->kind == DECISION_PROMISE) {
        record.by_ns = d->by_ns;
        record.why = "kept";
        tell(r, &record);
        return;
    }
    if (!grows) {
        record.by = d->by == ROW_NONE ? WORLD_NONE : d->by;
        record.cause = "self";
    }
    tell(r, &record);
    (grows ? live_grow : live_shrink)(&r->live[job], r->w, &r->w->job[job], r->now_ns, r->pods,
                                      d->seat_count);
    ends_add(&r->ends, r->live[job].finish_ns, job);
}

static void refused(struct run *r, const struct decision *d, uint32_t job)
{
    struct record record = blank(RECORD_REFUSE, job);

    record.decide_ns = r->driver.step_ns / (int64_t)r->driver.sched.decision_count;
    words_refusal(&r->words, r->w, d, &record);
    if (r->w->openb) {
        r->refused = true;
        record.final = false; /* implied by the protocol */
    }
    tell(r, &record);
    if (d->final && !r->w->openb)
        r->live[job].state = LIVE_DONE;
}

static void decided(void *context, const struct decision *d, const struct decision_seat *seats)
{
    struct run *r = context;
    uint32_t job = r->w->openb ? r->w->openb->arrival[r->o->arrivals][d->key] : d->key;

    switch (d->kind) {
    case DECISION_START:
        start(r, d, seats, job);
        break;
    case DECISION_REFUSE:
        refused(r, d, job);
        break;
    case DECISION_PROMISE:
    case DECISION_GROW:
    case DECISION_SHRINK:
        change(r, d, seats, job);
        break;
    case DECISION_BREAK: /* no pod of a workload is ever lost alone */
        break;
    }
}

/* ---- what the world does ---- */

static void job_event(struct run *r, enum event_kind kind, uint32_t job)
{
    struct event e = {.at_ns = r->now_ns, .kind = kind};

    if (kind == EVENT_STOP)
        e.stop.key = job;
    else
        e.end.key = job;
    driver_event(&r->driver, &e);
}

static void finish(struct run *r, uint32_t job)
{
    struct record record = blank(RECORD_FINISH, job);

    r->live[job].state = LIVE_DONE;
    tell(r, &record);
    job_event(r, EVENT_END, job);
}

static void fail_on(struct run *r, uint32_t node, uint16_t devices)
{
    for (uint32_t job = 0; job < r->next_job; job++) {
        struct live *l = &r->live[job];
        struct record record = blank(RECORD_FAIL, job);

        if (l->state != LIVE_RUNNING || !live_sits_on(l, node, devices))
            continue;
        live_stop(l, &r->w->job[job], r->now_ns, false);
        tell(r, &record);
        job_event(r, EVENT_STOP, job);
    }
}

static void host_state(struct run *r, uint32_t node, enum host_state state)
{
    struct event e = {.at_ns = r->now_ns, .kind = EVENT_HOST_STATE};

    e.host_state = (struct event_host_state){node, (uint8_t)state};
    driver_event(&r->driver, &e);
}

static void host_leave(struct run *r, uint32_t node, int64_t leave_at_ns)
{
    struct event e = {.at_ns = r->now_ns, .kind = EVENT_HOST_LEAVE};

    e.host_leave = (struct event_host_leave){node, leave_at_ns};
    driver_event(&r->driver, &e);
}

static void node_event(struct run *r, const struct world_event *x)
{
    switch ((enum world_state)x->state) {
    case STATE_UP:
        host_state(r, x->target, HOST_UP);
        host_leave(r, x->target, INT64_MAX);
        break;
    case STATE_DOWN:
        fail_on(r, x->target, 0);
        host_state(r, x->target, HOST_DOWN);
        break;
    case STATE_DRAIN:
        host_state(r, x->target, HOST_DRAIN);
        break;
    case STATE_LEAVE:
        host_leave(r, x->target, x->leave_at_ns);
        break;
    }
}

static void gpu_event(struct run *r, const struct world_event *x)
{
    struct event e = {.at_ns = r->now_ns, .kind = EVENT_DEVICE};

    if (x->state == STATE_DOWN)
        fail_on(r, x->target, (uint16_t)(1u << x->gpu));
    e.device =
        (struct event_device){x->target, x->gpu, x->state == STATE_UP ? DEVICE_UP : DEVICE_DOWN};
    driver_event(&r->driver, &e);
}

static void team_event(struct run *r, const struct world_event *x)
{
    const struct world_team *t = &r->w->team[x->target];
    struct event e = {.at_ns = r->now_ns, .kind = EVENT_TEAM};
    const struct team *now = team_row(r->driver.sched.m, x->target);
    int64_t limit = x->limit_gpu_milli == WORLD_UNLIMITED ? UNLIMITED : x->limit_gpu_milli;

    e.team = (struct event_team){x->target, t->parent == WORLD_NONE ? ROW_NONE : t->parent,
                                 x->sets_weight ? x->weight_micro : now->weight_micro,
                                 x->sets_limit ? limit : now->limit_milli};
    driver_event(&r->driver, &e);
}

static void cancel(struct run *r, uint32_t job)
{
    if (r->live[job].state != LIVE_WAITING && r->live[job].state != LIVE_RUNNING)
        return;
    r->live[job].state = LIVE_DONE;
    job_event(r, EVENT_END, job);
}

static void world_event(struct run *r, uint32_t n)
{
    const struct world_event *x = &r->w->event[n];
    struct record record = blank(RECORD_EVENT, WORLD_NONE);

    record.event = n;
    tell(r, &record);
    switch ((enum world_event_kind)x->kind) {
    case WEV_NODE:
        node_event(r, x);
        break;
    case WEV_GPU:
        gpu_event(r, x);
        break;
    case WEV_TEAM:
        team_event(r, x);
        break;
    case WEV_CANCEL:
        cancel(r, x->target);
        break;
    }
}

/* The time has come that the scheduler asked to be woken at. */
static void wake(struct run *r)
{
    struct event e = {.at_ns = r->now_ns, .kind = EVENT_TICK};

    e.tick.wake = (uint8_t)r->driver.sched.wake;
    driver_event(&r->driver, &e);
}

static void submit(struct run *r, uint32_t job, uint32_t key)
{
    struct record record = blank(RECORD_SUBMIT, job);

    if (r->live)
        r->live[job].state = LIVE_WAITING;
    tell(r, &record);
    feed_job(&r->feed, r->now_ns, &r->w->job[job], key);
}

/* ---- time ---- */

static bool tick(struct run *r, uint64_t done, uint64_t all)
{
    return r->o->tick && r->moments++ % TICK_EVERY == 0 && r->o->tick(r->o->context, done, all);
}

/* The next moment at which anything happens; false: never again. */
static bool next_moment(struct run *r, int64_t *ret_ns)
{
    struct end end;
    bool any = ends_next(r, &end);

    *ret_ns = any ? end.t_ns : INT64_MAX;
    if (r->next_job < r->w->job_count && r->w->job[r->next_job].submit_ns < *ret_ns)
        *ret_ns = r->w->job[r->next_job].submit_ns;
    if (r->next_event < r->w->event_count && r->w->event[r->next_event].at_ns < *ret_ns)
        *ret_ns = r->w->event[r->next_event].at_ns;
    if (r->driver.sched.wake_ns < *ret_ns)
        *ret_ns = r->driver.sched.wake_ns;
    return *ret_ns != INT64_MAX;
}

static void live_through(struct run *r, struct run_result *result)
{
    struct end end;

    while (next_moment(r, &r->now_ns)) {
        while (ends_next(r, &end) && end.t_ns == r->now_ns)
            finish(r, end.job);
        while (r->next_event < r->w->event_count && r->w->event[r->next_event].at_ns == r->now_ns)
            world_event(r, r->next_event++);
        while (r->next_job < r->w->job_count && r->w->job[r->next_job].submit_ns == r->now_ns) {
            submit(r, r->next_job, r->next_job);
            r->next_job++;
        }
        if (r->driver.sched.wake_ns <= r->now_ns)
            wake(r);
        driver_step(&r->driver, decided, r);
        if (tick(r, r->next_job, r->w->job_count)) {
            result->stopped = true;
            return;
        }
    }
}

/* The published protocol: pods arrive one by one and never leave; what does not fit is dropped. */
static void arrive(struct run *r, struct run_result *result)
{
    const struct world_openb *o = r->w->openb;
    uint32_t count = o->arrival_count[r->o->arrivals];

    for (r->arrival = 0; r->arrival < count; r->arrival++) {
        uint32_t row = o->arrival[r->o->arrivals][r->arrival];

        r->now_ns = (int64_t)r->arrival * 1000000000;
        submit(r, row, r->arrival);
        driver_step(&r->driver, decided, r);
        if (r->refused)
            job_event(r, EVENT_END, r->arrival);
        r->refused = false;
        if (tick(r, r->arrival, count)) {
            result->stopped = true;
            return;
        }
    }
}

int run_world(const struct world *w, const struct run_options *o, struct run_result *ret_result,
              struct err *err)
{
    struct run r = {.w = w, .o = o};
    int code;

    *ret_result = (struct run_result){.digest = 0};
    driver_open(&r.driver, o->journal);
    code = feed_open(&r.feed, w, &r.driver, &o->feed, err);
    if (!code && w->openb) {
        arrive(&r, ret_result);
    } else if (!code) {
        r.live = memory_zeroed((w->job_count + 1) * sizeof(*r.live));
        live_through(&r, ret_result);
        for (uint32_t j = 0; j < w->job_count; j++)
            free(r.live[j].pod);
    }
    ret_result->digest = sched_digest(&r.driver.sched);
    ret_result->steps = r.driver.steps;
    ret_result->moves = r.driver.moves;
    ret_result->ignored = config_row(r.driver.sched.m)->ignored_count;
    words_free(&r.words);
    feed_close(&r.feed);
    driver_close(&r.driver);
    free(r.live);
    free(r.ends.heap);
    free(r.pods);
    return code;
}
