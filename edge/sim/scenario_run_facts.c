/* News on their way to the core, and what it remembers over a restart. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"
#include "edge/base/memory.h"

static void drop_fact(struct play *p, size_t n)
{
    free(p->fact[n].bytes);
    memmove(&p->fact[n], &p->fact[n + 1], (--p->fact_count - n) * sizeof(*p->fact));
}

/* Encoded events into the batch at hand, stamped with the time at which they arrive. */
static void put_events(struct play *p, const uint8_t *bytes, size_t size)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct event e;

    while (event_get(&in, &e)) {
        e.at_ns = p->now_ns;
        driver_event(&p->driver, &e);
    }
}

void play_fact_begin(struct play *p)
{
    p->fact_from = p->driver.batch_size;
}

/* Takes the fact that was written out of the batch. What stays in it are pod classes: names that
 * the edge made up, which no watch can lose or delay. Returns the fact's bytes. */
static uint8_t *take_out(struct play *p, size_t *ret_size)
{
    size_t size = p->driver.batch_size - p->fact_from;
    uint8_t *bytes = memory_grow(NULL, size + 1), *fact = memory_grow(NULL, size + 1);
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct wire_out out = {.byte = fact, .limit = size};
    struct event e;

    memcpy(bytes, p->driver.batch + p->fact_from, size);
    p->driver.batch_size = p->fact_from;
    while (event_get(&in, &e))
        if (e.kind == EVENT_CLASS)
            driver_event(&p->driver, &e);
        else
            event_put(&out, &e);
    free(bytes);
    *ret_size = out.size;
    return fact;
}

static void later(struct play *p, int64_t due_ns, uint64_t object, bool answer)
{
    struct play_fact *f;

    p->fact = out_grow(p->fact, p->fact_count, &p->fact_limit, sizeof(*p->fact));
    f = &p->fact[p->fact_count++];
    *f = (struct play_fact){.due_ns = due_ns,
                            .order = p->fact_order++,
                            .object = object,
                            .answer = answer,
                            .twice = p->twice && !answer};
    f->bytes = take_out(p, &f->size);
}

static uint64_t object_of(enum play_object kind, uint32_t id)
{
    return (uint64_t)kind << 32 | id;
}

void play_fact_end(struct play *p, enum play_object kind, uint32_t id)
{
    uint64_t object = object_of(kind, id);
    int64_t due_ns = p->now_ns + p->delay_ns;
    bool wait = p->delay_ns > 0 || p->reorder;

    if (p->drop > 0) {
        size_t lost;

        free(take_out(p, &lost));
        p->lost = true;
        if (--p->drop == 0)
            p->relist_ns = p->now_ns + PLAY_SECOND;
        return;
    }
    if (p->reorder)
        due_ns += (int64_t)prng_below(&p->jitter, PLAY_SECOND);
    for (size_t n = 0; n < p->fact_count; n++)
        if (p->fact[n].object == object) {
            wait = true;
            if (p->fact[n].due_ns > due_ns)
                due_ns = p->fact[n].due_ns;
        }
    if (wait) {
        later(p, due_ns, object, false);
    } else if (p->twice) {
        size_t size;
        uint8_t *fact = take_out(p, &size);

        put_events(p, fact, size);
        put_events(p, fact, size);
        free(fact);
    }
}

void play_answer_end(struct play *p, uint32_t job)
{
    later(p, p->now_ns + PLAY_SECOND, object_of(OBJECT_JOB, job), true);
}

static bool fact_before(const struct play_fact *a, const struct play_fact *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

void play_deliver(struct play *p, bool answers)
{
    for (;;) {
        size_t best = p->fact_count;

        for (size_t n = 0; n < p->fact_count; n++)
            if ((p->fact[n].due_ns <= p->now_ns || (answers && p->fact[n].answer)) &&
                (best == p->fact_count || fact_before(&p->fact[n], &p->fact[best])))
                best = n;
        if (best == p->fact_count)
            return;
        for (unsigned n = 0; n < (p->fact[best].twice ? 2u : 1u); n++)
            put_events(p, p->fact[best].bytes, p->fact[best].size);
        drop_fact(p, best);
    }
}

int64_t play_fact_next(const struct play *p)
{
    int64_t next_ns = p->relist_ns;

    for (size_t n = 0; n < p->fact_count; n++)
        if (p->fact[n].due_ns < next_ns)
            next_ns = p->fact[n].due_ns;
    return next_ns;
}

bool play_behind(const struct play *p)
{
    return p->fact_count > 0 || p->drop > 0 || p->relist_ns != INT64_MAX;
}

/* ---- restarts ---- */

void play_remember_batch(struct play *p)
{
    struct play_batch *b;

    p->history = out_grow(p->history, p->history_count, &p->history_limit, sizeof(*p->history));
    b = &p->history[p->history_count++];
    b->size = p->driver.batch_size;
    b->bytes = memory_grow(NULL, b->size + 1);
    if (b->size)
        memcpy(b->bytes, p->driver.batch, b->size);
}

static void forget_history(struct play *p)
{
    for (size_t n = 0; n < p->history_count; n++)
        free(p->history[n].bytes);
    p->history_count = 0;
}

void play_facts_close(struct play *p)
{
    while (p->fact_count)
        drop_fact(p, p->fact_count - 1);
    forget_history(p);
    free(p->fact);
    free(p->history);
}

void play_restart(struct play *p)
{
    struct driver fresh;
    uint64_t before = sched_digest(&p->driver.sched), after;

    driver_open(&fresh, NULL);
    for (size_t n = 0; n < p->history_count; n++) {
        const struct play_batch *b = &p->history[n];

        if (fresh.batch_limit < b->size) {
            fresh.batch_limit = b->size * 2;
            fresh.batch = memory_grow(fresh.batch, fresh.batch_limit);
        }
        if (b->size)
            memcpy(fresh.batch, b->bytes, b->size);
        fresh.batch_size = b->size;
        driver_step(&fresh, NULL, NULL);
    }
    after = sched_digest(&fresh.sched);
    driver_close(&p->driver);
    p->driver = fresh;
    if (before != after)
        play_broken(p, "the same state from the journal", "digest %016llx instead of %016llx",
                    (unsigned long long)after, (unsigned long long)before);
}

static bool is_now(const struct play *p, size_t heard)
{
    for (size_t n = heard + 1; n < p->heard_count; n++)
        if (p->heard[n] == p->heard[heard])
            return false;
    return true;
}

/* Everything that lives, in the order in which it came. */
static void tell_jobs(struct play *p)
{
    for (size_t g = 0; g < p->ghost_count; g++)
        play_tell_ghost(p, &p->ghost[g]);
    for (size_t n = 0; n < p->heard_count; n++) {
        const struct play_job *j = &p->job[p->heard[n]];

        if (is_now(p, n) && j->key != WORLD_NONE &&
            (j->live.state == LIVE_WAITING || j->live.state == LIVE_RUNNING))
            play_tell_job(p, p->heard[n]);
    }
}

bool play_restart_empty(struct play *p, struct err *err)
{
    while (p->fact_count)
        drop_fact(p, p->fact_count - 1);
    forget_history(p);
    p->relist_ns = INT64_MAX;
    p->lost = false;
    p->drop = 0;
    feed_close(&p->feed);
    driver_close(&p->driver);
    driver_open(&p->driver, NULL);
    if (feed_open(&p->feed, &p->seen, &p->driver, &p->feed_options, err))
        return false;
    for (uint32_t n = 0; n < p->w->node_count; n++)
        play_tell_node(p, n);
    tell_jobs(p);
    return true;
}

/* The core's number of a job that the truth does not have any more. */
static bool is_gone(const struct play *p, uint32_t key)
{
    const struct play_job *j = &p->job[p->job_of_key[key]];

    for (size_t g = 0; g < p->ghost_count; g++)
        if (p->ghost[g].key == key)
            return false;
    return j->key != key || (j->live.state != LIVE_WAITING && j->live.state != LIVE_RUNNING);
}

/* ---- what a list mends ---- */

static void note_repair(struct play *p, uint32_t job, int64_t nano)
{
    p->repaired++;
    p->repaired_nano += nano;
    p->job[job].repaired = true;
}

static bool holds_pod(const struct live *l, uint32_t pod)
{
    for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
        if (l->pod[n].pod == pod)
            return true;
    return false;
}

/* GPUs of the job's pods that the core believes in and that are not so; tell: it hears of each. */
static int64_t believed_nano(struct play *p, uint32_t job, uint32_t id, bool tell)
{
    const struct model *m = p->driver.sched.m;
    const struct world_job *j = &p->w->job[job];
    int64_t nano = 0;

    for (uint32_t s = job_row(m, id)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        uint32_t pod = seat_row(m, s)->pod;
        struct event e = play_event(p, EVENT_POD_GONE);

        if (tell && holds_pod(&p->job[job].live, pod))
            continue;
        nano += fit_pod_nano(p->w, j, play_podset_of(j, pod));
        e.pod_gone = (struct event_pod_gone){job_row(m, id)->key, pod, POD_WAITS};
        if (tell)
            driver_event(&p->driver, &e);
    }
    return nano;
}

/* Jobs of the core's that are no more. */
static void mend_gone(struct play *p)
{
    const struct model *m = p->driver.sched.m;

    for (uint32_t id = 0; id < model_count(m, TABLE_JOB); id++) {
        struct event e = play_event(p, EVENT_END);
        uint32_t key = job_row(m, id)->key;

        if (job_row(m, id)->state == JOB_FREE || !is_gone(p, key))
            continue;
        if (p->job_of_key[key] != WORLD_NONE)
            note_repair(p, p->job_of_key[key], believed_nano(p, p->job_of_key[key], id, false));
        e.end.key = key;
        driver_event(&p->driver, &e);
    }
}

/* A job that the core knows: a run that ended without a word waits again, pods that went are gone.
 */
static void mend_known(struct play *p, uint32_t job, uint32_t id)
{
    const struct model *m = p->driver.sched.m;
    struct event e = play_event(p, EVENT_JOB_SET);
    int64_t nano = 0;

    e.job_set =
        (struct event_job_set){p->job[job].key, p->w->job[job].priority, p->w->job[job].est_ns};
    driver_event(&p->driver, &e);
    if (job_row(m, id)->state != JOB_RUNNING)
        return;
    if (p->job[job].live.state == LIVE_WAITING) {
        nano = believed_nano(p, job, id, false);
        e = play_event(p, EVENT_STOP);
        e.stop.key = p->job[job].key;
        driver_event(&p->driver, &e);
    } else {
        nano = believed_nano(p, job, id, true);
    }
    if (nano > 0)
        note_repair(p, job, nano);
}

void play_relist(struct play *p)
{
    /* A list is newer than all that is still under way. */
    while (p->fact_count)
        drop_fact(p, p->fact_count - 1);
    p->relist_ns = INT64_MAX;
    p->lost = false;
    for (uint32_t n = 0; n < p->w->node_count; n++)
        play_tell_node(p, n);
    for (uint32_t t = 0; t < p->w->team_count; t++)
        feed_team(&p->feed, p->now_ns, t);
    mend_gone(p);
    for (uint32_t job = 0; job < p->w->job_count; job++) {
        uint32_t key = p->job[job].key;
        uint32_t id = key == WORLD_NONE ? ROW_NONE : index_job_find(p->driver.sched.m, key);
        bool lives =
            p->job[job].live.state == LIVE_WAITING || p->job[job].live.state == LIVE_RUNNING;

        if (id != ROW_NONE)
            mend_known(p, job, id);
        else if (lives) /* it never heard of it */
            note_repair(p, job, 0);
    }
    tell_jobs(p);
}
