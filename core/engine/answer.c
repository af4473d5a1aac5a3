#include "core/engine/answer.h"

#include "core/base/must.h"

bool answer_full(const struct sched *s)
{
    const struct limits *l = &s->m->limits;
    uint32_t largest = config_row(s->m)->gang_pods_max;

    return s->decision_count + ANSWER_SHRINKS_MAX + 4 > l->decisions ||
           s->seat_count + 3 * largest > l->seats_out;
}

static struct decision *next(struct sched *s, enum decision_kind kind, uint32_t job)
{
    struct decision *d = &s->decision[s->decision_count++];

    must(s->decision_count <= s->m->limits.decisions);
    *d = (struct decision){.kind = kind,
                           .key = job_row(s->m, job)->key,
                           .seat_first = s->seat_count,
                           .team = ROW_NONE,
                           .by = ROW_NONE};
    return d;
}

/* Position of a podset in the job's ask. */
static uint32_t position(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t at = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != podset; p = podset_row(m, p)->next)
        at++;
    return at;
}

static void put_seat(struct sched *s, struct decision *d, uint32_t job, const struct seat *x)
{
    must(s->seat_count < s->m->limits.seats_out);
    s->seat[s->seat_count++] = (struct decision_seat){.pod = x->pod,
                                                      .podset = position(s->m, job, x->podset),
                                                      .host = x->host,
                                                      .devices = x->devices,
                                                      .slot = x->slot};
    d->seat_count++;
}

/* Lists of seats are mostly in falling order: turned round, little is left to sort. */
static void by_pod(struct sched *s, const struct decision *d)
{
    struct decision_seat *seat = s->seat + d->seat_first;

    for (uint32_t a = 0, b = d->seat_count; a + 1 < b; a++) {
        struct decision_seat swap = seat[a];

        seat[a] = seat[--b];
        seat[b] = swap;
    }
    for (uint32_t n = 1; n < d->seat_count; n++)
        for (uint32_t at = n; at > 0 && seat[at - 1].pod > seat[at].pod; at--) {
            struct decision_seat swap = seat[at];

            seat[at] = seat[at - 1];
            seat[at - 1] = swap;
        }
}

void answer_start(struct sched *s, uint32_t job, const struct plan *plan)
{
    struct decision *d = next(s, DECISION_START, job);
    const struct model *m = s->m;

    d->plan = *plan;
    for (uint32_t t = job_row(m, job)->seat_head; t != ROW_NONE; t = seat_row(m, t)->next_of_job)
        put_seat(s, d, job, seat_row(m, t));
    by_pod(s, d);
}

void answer_refuse(struct sched *s, uint32_t job, const struct refusal *r, bool final,
                   uint32_t team)
{
    struct decision *d = next(s, DECISION_REFUSE, job);

    d->refusal = *r;
    d->final = final;
    d->team = team;
}

void answer_promise(struct sched *s, uint32_t job)
{
    struct decision *d = next(s, DECISION_PROMISE, job);
    const struct model *m = s->m;

    d->by_ns = job_row(m, job)->by_ns;
    for (uint32_t h = job_row(m, job)->hold_head; h != ROW_NONE; h = hold_row(m, h)->next) {
        const struct hold *x = hold_row(m, h);
        const struct seat seat = {.podset = x->podset,
                                  .pod = x->pod,
                                  .host = x->host,
                                  .devices = x->devices,
                                  .slot = x->slot};

        put_seat(s, d, job, &seat);
    }
    by_pod(s, d);
}

void answer_grow(struct sched *s, uint32_t job, uint32_t before)
{
    struct decision *d = next(s, DECISION_GROW, job);
    const struct model *m = s->m;

    for (uint32_t t = job_row(m, job)->seat_head; t != before; t = seat_row(m, t)->next_of_job)
        put_seat(s, d, job, seat_row(m, t));
    by_pod(s, d);
}

void answer_shrink(struct sched *s, uint32_t job, const uint32_t *seat, uint32_t count, uint32_t by)
{
    struct decision *d = next(s, DECISION_SHRINK, job);

    d->by = by == ROW_NONE ? ROW_NONE : job_row(s->m, by)->key;
    for (uint32_t n = 0; n < count; n++)
        put_seat(s, d, job, seat_row(s->m, seat[n]));
    by_pod(s, d);
}

void answer_break(struct sched *s, uint32_t job)
{
    next(s, DECISION_BREAK, job);
}
