/* Promises: a job that was told a date starts by then, unless something excuses it. */
#include "edge/sim/scenario_run_parts.h"

#define SLACK_NS 2000000 /* as times are compared */

void play_excuse(struct play *p)
{
    p->excuses++;
}

void play_excuse_below(struct play *p, uint32_t job)
{
    for (uint32_t j = 0; j < p->w->job_count; j++)
        if (p->w->job[j].priority < p->w->job[job].priority)
            p->job[j].excused = true;
}

/* Nobody keeps a date by news that come late or not at all. */
static bool is_excused(const struct play *p, const struct play_job *j)
{
    return p->faulty || j->excused || j->excuses != p->excuses;
}

static void note_late(struct play *p, uint32_t job, const char *what)
{
    const struct play_job *j = &p->job[job];

    if (p->now_ns > j->promised_ns + SLACK_NS && !is_excused(p, j))
        play_broken(p, "promises that are kept", "%s %s, promised by %lld s", p->w->job[job].name,
                    what, (long long)(j->promised_ns / PLAY_SECOND));
}

void play_promise(struct play *p, uint32_t job, int64_t by_ns, const struct record_pod *pods,
                  uint32_t count)
{
    struct play_job *j = &p->job[job];
    struct record r = play_blank(RECORD_PROMISE, job);

    if (j->live.state != LIVE_WAITING)
        return;
    if (j->promised_ns != INT64_MAX && by_ns > j->promised_ns + SLACK_NS && !is_excused(p, j))
        play_broken(p, "promises that move later only with an excuse", "%s, from %lld s to %lld s",
                    p->w->job[job].name, (long long)(j->promised_ns / PLAY_SECOND),
                    (long long)(by_ns / PLAY_SECOND));
    j->promised_ns = by_ns;
    j->excuses = p->excuses;
    j->excused = false;
    r.by_ns = by_ns;
    r.why = "kept";
    r.pods = pods;
    r.pod_count = count;
    play_record(p, &r);
}

void play_promise_ends(struct play *p, uint32_t job)
{
    if (p->job[job].promised_ns != INT64_MAX)
        note_late(p, job, "started late");
    p->job[job].promised_ns = INT64_MAX;
}

/* A run without an estimate, or beyond it. */
static bool is_overdue(const struct play *p, uint32_t job)
{
    const struct live *l = &p->job[job].live;
    int64_t est_ns = p->w->job[job].est_ns;

    return l->state == LIVE_RUNNING &&
           (est_ns < 0 || p->now_ns > l->start_ns + l->restart_ns + est_ns);
}

void play_check_promises(struct play *p)
{
    bool overdue = false;

    for (uint32_t j = 0; j < p->w->job_count && !overdue; j++)
        overdue = is_overdue(p, j);
    if (overdue)
        play_excuse(p);
    for (uint32_t j = 0; j < p->w->job_count; j++)
        if (p->job[j].live.state == LIVE_WAITING && p->job[j].promised_ns != INT64_MAX)
            note_late(p, j, "still waiting");
}
