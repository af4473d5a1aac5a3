#include "tests/oracle/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/model/index.h"

#define OUT_LIMIT (1u << 20)
#define BATCH_LIMIT (1u << 20)

void check_open(struct check *c, const struct limits *limits, struct tally *tally)
{
    memset(c, 0, sizeof(*c));
    drive_open(&c->d, limits);
    mirror_init(&c->w);
    c->tally = tally;
    c->search_steps = 200000;
    c->out = malloc(OUT_LIMIT);
    must(c->out != NULL);
}

void check_close(struct check *c)
{
    drive_close(&c->d);
    free(c->out);
}

bool check_wrong(struct check *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (!c->wrong[0])
        (void)vsnprintf(c->wrong, sizeof(c->wrong), format, args);
    va_end(args);
    return false;
}

static bool check_start(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);
    struct o_seat seat[O_PODS];
    const char *wrong;

    c->tally->starts++;
    if (!j || j->runs)
        return check_wrong(c, "job %u started, which does not wait", d->key);
    if (d->seat_count > O_PODS || d->seat_count == 0)
        return check_wrong(c, "job %u started with %u pods", d->key, d->seat_count);
    for (uint32_t n = 0; n < d->seat_count; n++) {
        const struct decision_seat *t = &c->d.s.seat[d->seat_first + n];

        if (t->podset >= j->podsets)
            return check_wrong(c, "job %u started podset %u", d->key, t->podset);
        seat[n] = (struct o_seat){t->podset, t->pod, t->host, t->devices, t->slot};
    }
    wrong = oracle_start_wrong(&c->w, j, seat, d->seat_count);
    if (wrong)
        return check_wrong(c, "job %u started: %s", d->key, wrong);
    mirror_start(j, seat, d->seat_count);
    for (uint32_t t = j->team; t != O_NONE && !oracle_inexact(j); t = c->w.team[t].parent)
        if (oracle_team_held(&c->w, t) > c->w.team[t].limit)
            return check_wrong(c, "job %u started over the limit of team %u", d->key, t);
    return true;
}

static bool check_binding(struct check *c, const struct o_job *j, const struct refusal *r)
{
    unsigned want = 0;

    for (unsigned l = 0; l < O_BINDING; l++) {
        enum o_answer answer = oracle_fits(&c->w, j, 1u << l, c->search_steps);

        if (answer == O_TOO_LARGE) {
            c->tally->too_large++;
            return true;
        }
        want |= (unsigned)(answer == O_YES) << l;
        c->tally->binding[l] += answer == O_YES;
    }
    c->tally->binding[O_BINDING] += want == 0;
    c->tally->judged++;
    if (r->binding_known && r->binding != want)
        return check_wrong(c, "job %u refused: binding %#x, should be %#x", j->key, r->binding, want);
    if (!r->binding_known && j->podsets == 1)
        return check_wrong(c, "job %u refused: binding of one podset not proven", j->key);
    return true;
}

static bool check_figures(struct check *c, const struct o_job *j, const struct refusal *r)
{
    uint32_t most = 0;

    if (r->free_known) {
        int64_t free_milli = oracle_free_milli(&c->w, j);

        c->tally->free_claims++;
        if (r->free_milli != free_milli)
            return check_wrong(c, "job %u refused: free %lld, should be %lld", j->key,
                               (long long)r->free_milli, (long long)free_milli);
    }
    if (!r->best_known)
        return true;
    for (uint32_t pods = 1; pods <= j->podset[0].pods; pods++) {
        enum o_answer answer = oracle_fits_pods(&c->w, j, pods, c->search_steps);

        if (answer == O_TOO_LARGE)
            return true;
        if (answer == O_NO)
            break;
        most = pods;
    }
    c->tally->best_claims++;
    if (r->best_pods != most)
        return check_wrong(c, "job %u refused: best_pods %u, should be %u", j->key, r->best_pods,
                           most);
    return true;
}

/* A no, or a yes that policy holds back. */
static bool check_fit_claim(struct check *c, const struct o_job *j, const struct decision *d)
{
    const struct refusal *r = &d->refusal;
    enum o_answer fits = oracle_fits(&c->w, j, 0, c->search_steps), empty;

    if (fits == O_TOO_LARGE) {
        c->tally->too_large++;
        return true;
    }
    if ((fits == O_YES) != (r->fits == VERDICT_FITS))
        return check_wrong(c, "job %u refused (code %d): fits %d, should be %d", j->key, (int)r->code,
                           (int)r->fits, (int)fits);
    if (r->fits == VERDICT_FITS) {
        c->tally->held++;
        if (j->team == O_NONE ||
            (!oracle_inexact(j) && oracle_team_allows(&c->w, j->team, oracle_ask_milli(j, true))))
            return check_wrong(c, "job %u held back (code %d) without a limit", j->key, (int)r->code);
        return true;
    }
    empty = oracle_fits(&c->w, j, O_BUSY | O_HEALTH, c->search_steps);
    if (empty != O_TOO_LARGE && r->never != (empty == O_NO))
        return check_wrong(c, "job %u refused (code %d): never %d, should be %d", j->key, (int)r->code,
                           r->never, empty == O_NO);
    return check_binding(c, j, r) && check_figures(c, j, r);
}

static bool check_refusal(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);

    c->tally->refusals++;
    c->tally->code[d->refusal.code]++;
    if (!j || j->runs)
        return check_wrong(c, "job %u refused, which does not wait", d->key);
    if (d->refusal.fits == VERDICT_UNPROVEN) {
        c->tally->unproven++;
        if (j->podsets == 1 && !oracle_unknown(&c->w))
            return check_wrong(c, "job %u of one podset: not proven", d->key);
    } else if (c->deep && !oracle_unknown(&c->w) && !check_fit_claim(c, j, d)) {
        return false;
    }
    if (d->final) {
        c->tally->final++;
        if (!c->w.drop_never)
            return check_wrong(c, "job %u dropped, though it may wait", d->key);
        mirror_drop(j);
    }
    return true;
}

static bool check_decisions(struct check *c)
{
    struct wire_out out = {.byte = c->out + c->out_size, .limit = OUT_LIMIT - c->out_size};
    size_t skip;

    for (uint32_t n = 0; n < c->d.s.decision_count; n++) {
        const struct decision *d = &c->d.s.decision[n];

        if (!(d->kind == DECISION_START ? check_start(c, d) : check_refusal(c, d)))
            return false;
    }
    sched_put_decisions(&c->d.s, &out);
    must(!out.full);
    /* Without the count in front: where a step stops depends on the limits, what it says does not. */
    for (skip = 0; out.byte[skip] & 0x80; skip++)
        ;
    skip++;
    memmove(out.byte, out.byte + skip, out.size - skip);
    c->out_size += out.size - skip;
    return true;
}

/* Once the queue was gone through, nobody waits who fits and may start. */
static bool check_waiting(struct check *c)
{
    for (unsigned n = 0; n < c->w.jobs; n++) {
        const struct o_job *j = &c->w.job[n];
        uint32_t row;

        if (!j->live || j->runs || j->seats)
            continue;
        row = index_job_find(c->d.s.m, j->key);
        if (row == ROW_NONE || job_row(c->d.s.m, row)->state != JOB_WAITING)
            return check_wrong(c, "job %u waits, the core has forgotten it", j->key);
        if (!job_row(c->d.s.m, row)->told.known)
            return check_wrong(c, "job %u waits and was never told why", j->key);
        if (!c->deep || oracle_unknown(&c->w) ||
            job_row(c->d.s.m, row)->told.code == WHY_UNPROVEN ||
            oracle_fits(&c->w, j, 0, c->search_steps) != O_YES)
            continue;
        if (j->team == O_NONE ||
            (!oracle_inexact(j) && oracle_team_allows(&c->w, j->team, oracle_ask_milli(j, true))))
            return check_wrong(c, "job %u waits (told %d), though it fits", j->key,
                               job_row(c->d.s.m, row)->told.code);
    }
    return true;
}

bool check_batch(struct check *c, const struct event *e, unsigned count)
{
    static uint8_t bytes[BATCH_LIMIT];
    struct wire_out w = {.byte = bytes, .limit = sizeof(bytes)};
    const uint8_t *batch = bytes;
    size_t size;
    bool more;

    for (unsigned n = 0; n < count; n++) {
        event_put(&w, &e[n]);
        if (e[n].kind != EVENT_PODSET)
            mirror_apply(&c->w, &e[n], &e[n] + 1);
    }
    must(!w.full);
    c->out_size = 0;
    size = w.size;
    if (!drive_room(&c->d, batch, size))
        return check_wrong(c, "no room for %zu bytes of events", size);
    do {
        more = sched_step(&c->d.s, batch, size);
        c->tally->steps++;
        if (!check_decisions(c))
            return false;
        size = 0;
    } while (more);
    return check_waiting(c);
}
