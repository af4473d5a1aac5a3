#include "edge/sim/metrics_gang.h"

#include "edge/base/out.h"

void gang_note_excuse(struct gang_part *p)
{
    p->excused_at = p->sequence;
}

/* A run without an estimate, or beyond it, that runs now. */
static bool overrun_now(const struct gang_part *p)
{
    for (uint32_t i = 0; i < p->world->job_count; i++) {
        const struct gang_job *j = &p->job[i];

        if (j->status == GANG_RUNNING && p->now_ns - j->run_start_ns > p->world->job[i].est_ns)
            return true;
    }
    return false;
}

void gang_promise(struct gang_part *p, struct gang_job *j, const struct record *r)
{
    if (!j->promised) {
        p->promises++;
        p->promised = out_grow(p->promised, p->promised_count, &p->promised_limit, 4);
        p->promised[p->promised_count++] = r->job;
    }
    j->promised = true;
    j->promise_by_ns = r->by_ns;
    j->promise_at = p->sequence;
    j->outranked = false;
}

#define SLACK_NS 2000000 /* times are compared to 2 ms */

void gang_redeem(struct gang_part *p, struct gang_job *j)
{
    if (!j->promised)
        return;
    j->promised = false;
    if (p->now_ns <= j->promise_by_ns + SLACK_NS)
        p->kept++;
    else if (j->outranked || p->excused_at > j->promise_at || p->overran_at > j->promise_at ||
             overrun_now(p))
        p->excused++;
}

void gang_outrank(struct gang_part *p, uint32_t job)
{
    uint32_t left = 0;

    for (uint32_t n = 0; n < p->promised_count; n++) {
        struct gang_job *other = &p->job[p->promised[n]];

        if (!other->promised)
            continue;
        other->outranked |= p->world->job[p->promised[n]].priority < p->world->job[job].priority;
        p->promised[left++] = p->promised[n];
    }
    p->promised_count = left;
}
