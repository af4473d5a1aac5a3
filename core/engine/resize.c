#include "core/engine/resize.h"

#include "core/engine/answer.h"
#include "core/model/job.h"
#include "core/policy/elastic.h"

static bool comes_before(const struct job *a, const struct job *b)
{
    return a->priority != b->priority ? a->priority > b->priority
                                      : a->submit_order < b->submit_order;
}

static bool is_broken(const struct model *m, uint32_t job)
{
    return job_row(m, job)->state == JOB_RUNNING && job_row(m, job)->breach_ns != INT64_MAX;
}

static bool could_grow(const struct model *m, uint32_t job)
{
    return job_row(m, job)->state == JOB_RUNNING && job_row(m, job)->breach_ns == INT64_MAX &&
           job_is_elastic(m, job) && elastic_missing(m, job, false) > 0;
}

/* The next run after `last` (ROW_NONE: the first) that the question is true of, or ROW_NONE. */
static uint32_t next_run(const struct model *m, uint32_t last,
                         bool (*is)(const struct model *m, uint32_t job))
{
    uint32_t best = ROW_NONE;

    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
        if (job_row(m, j)->state != JOB_RUNNING ||
            (last != ROW_NONE && !comes_before(job_row(m, last), job_row(m, j))) ||
            (best != ROW_NONE && !comes_before(job_row(m, j), job_row(m, best))) || !is(m, j))
            continue;
        best = j;
    }
    return best;
}

/* Tells once why the run stays broken. */
static void tell_member(struct sched *s, uint32_t job)
{
    struct refusal r = {.code = WHY_MEMBER, .fits = VERDICT_NO, .scope = SCOPE_OF_CLUSTER};
    struct told told = {.known = 1, .code = WHY_MEMBER};

    if (job_row(s->m, job)->told.known && job_row(s->m, job)->told.code == WHY_MEMBER)
        return;
    r.pods = elastic_missing(s->m, job, true);
    answer_refuse(s, job, &r, false, ROW_NONE);
    model_begin(s->m);
    job_tell(s->m, job, &told);
    model_commit(s->m);
}

static void grow(struct sched *s, uint32_t job, bool minimum)
{
    uint32_t before = job_row(s->m, job)->seat_head, seats;

    model_begin(s->m);
    seats = elastic_grow(s->m, job, minimum);
    if (seats) {
        answer_grow(s, job, before);
        job_resized(s->m, job, (int32_t)seats);
        if (job_row(s->m, job)->breach_ns == INT64_MAX)
            job_tell(s->m, job, &(struct told){0});
    }
    model_commit(s->m);
}

bool resize_repair(struct sched *s)
{
    struct model *m = s->m;

    if (!config_row(m)->broken_jobs)
        return false;
    for (uint32_t job = next_run(m, ROW_NONE, is_broken); job != ROW_NONE;) {
        uint32_t next = next_run(m, job, is_broken);

        if (answer_full(s))
            return true;
        if (job_row(m, job)->breach_ns <= config_row(m)->now_ns) {
            answer_break(s, job);
            model_begin(m);
            job_stop(m, job);
            config_edit(m)->freed_count++;
            model_commit(m);
        } else {
            grow(s, job, true);
            if (is_broken(m, job))
                tell_member(s, job);
        }
        job = next;
    }
    return false;
}

bool resize_grow(struct sched *s, struct reserves *kept)
{
    struct model *m = s->m;
    bool full = false;

    if (!config_row(m)->elastic_jobs)
        return false;
    for (uint32_t job = next_run(m, ROW_NONE, could_grow); job != ROW_NONE && !full;
         job = next_run(m, job, could_grow)) {
        full = answer_full(s);
        if (full)
            break;
        /* What a job with a date needs of a limit that they share is not lent. */
        reserve_bind(m, kept, job);
        if (reserve_quota(m, kept, job, job_row(m, job)->gang_milli - job_row(m, job)->held_milli))
            grow(s, job, false);
    }
    reserve_lift(m, kept);
    return full;
}

void resize_wake(const struct model *m, enum wake *wake, int64_t *wake_ns)
{
    if (!config_row(m)->broken_jobs)
        return;
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        if (is_broken(m, j) && job_row(m, j)->breach_ns < *wake_ns) {
            *wake = WAKE_BREACH;
            *wake_ns = job_row(m, j)->breach_ns;
        }
}
