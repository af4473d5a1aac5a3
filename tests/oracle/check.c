#include "tests/oracle/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/engine/apply.h"
#include "core/engine/snapshot.h"
#include "core/model/index.h"
#include "tests/oracle/check_parts.h"
#include "tests/oracle/promise.h"

#define OUT_LIMIT   (1u << 20)
#define BATCH_LIMIT (1u << 20)

void check_open(struct check *c, const struct limits *limits, struct tally *tally)
{
    memset(c, 0, sizeof(*c));
    drive_open(&c->d, limits);
    mirror_init(&c->w);
    c->tally = tally;
    c->search_steps = 1000000;
    c->yielded_to = O_NONE;
    c->out = malloc(OUT_LIMIT);
    c->twin_out = malloc(OUT_LIMIT);
    must(c->out && c->twin_out);
}

void check_twin(struct check *c)
{
    struct limits ample = drive_ample();

    drive_open(&c->twin, &ample);
    c->has_twin = true;
}

void check_close(struct check *c)
{
    drive_close(&c->d);
    if (c->has_twin)
        drive_close(&c->twin);
    free(c->out);
    free(c->twin_out);
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
    unsigned seats;

    c->tally->starts++;
    if (!j || j->runs || j->seats)
        return check_wrong(c, "job %u started, which does not wait", d->key);
    seats = check_seats(c, d, j, seat);
    if (seats == 0)
        return false;
    wrong = oracle_start_wrong(&c->w, j, seat, seats);
    if (wrong)
        return check_wrong(c, "job %u started: %s", d->key, wrong);
    if (!rooms_start(c, j))
        return false;
    mirror_start(&c->w, j, seat, seats);
    rooms_taken(c, j, seat, seats);
    return check_limits(c, j);
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
        return check_wrong(c, "job %u refused: binding %#x, should be %#x", j->key, r->binding,
                           want);
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

/* True if the job's team may not have its minimum. */
static bool limit_holds(const struct check *c, const struct o_job *j)
{
    return j->team != O_NONE &&
           (oracle_inexact(j) || !oracle_team_allows(&c->w, j->team, oracle_ask_milli(j, true)));
}

#define PATIENCE_PART 12 /* of the patience, since it could first have started */

/* True if it may still wait for a domain that it prefers: for its patience from its submit, or a
 * twelfth of it from the first chance. */
static bool is_patient(const struct check *c, const struct o_job *j)
{
    int64_t patience = j->patience_ns < 0 ? c->w.patience_ns : j->patience_ns;

    return j->wishes > 0 && patience > 0 &&
           (j->submit_ns + patience > c->w.now_ns || j->chance_ns == O_NEVER ||
            j->chance_ns + patience / PATIENCE_PART > c->w.now_ns);
}

/* A yes that policy holds back: by what it says. Whether kept rooms do is seen at the end. */
static bool check_held(struct check *c, struct o_job *j, enum reason_code code)
{
    bool reason = code == WHY_PATIENCE   ? is_patient(c, j)
                  : code == WHY_RESERVED ? c->may_keep
                                         : limit_holds(c, j);

    c->tally->held++;
    return reason ||
           check_wrong(c, "job %u held back (code %d) without a reason", j->key, (int)code);
}

/* A no, or a yes that policy holds back. */
static bool check_fit_claim(struct check *c, struct o_job *j, const struct decision *d)
{
    const struct refusal *r = &d->refusal;
    enum o_answer fits = oracle_fits(&c->w, j, 0, c->search_steps), empty;

    if (fits == O_TOO_LARGE) {
        c->tally->too_large++;
        return true;
    }
    if ((fits == O_YES) != (r->fits == VERDICT_FITS))
        return check_wrong(c, "job %u refused (code %d): fits %d, should be %d", j->key,
                           (int)r->code, (int)r->fits, (int)fits);
    if (r->fits == VERDICT_FITS)
        return check_held(c, j, r->code);
    empty = oracle_fits(&c->w, j, O_BUSY | O_HEALTH, c->search_steps);
    if ((r->never && empty == O_YES) || (!r->never && empty == O_NO && j->podsets == 1))
        return check_wrong(c, "job %u refused (code %d): never %d, should be %d", j->key,
                           (int)r->code, r->never, empty == O_NO);
    return check_binding(c, j, r) && check_figures(c, j, r);
}

static bool check_refusal(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);

    c->tally->refusals++;
    c->tally->code[d->refusal.code]++;
    if (j && j->runs && j->breach_ns != O_NEVER && d->refusal.code == WHY_MEMBER)
        return true;
    if (!j || j->runs)
        return check_wrong(c, "job %u refused, which does not wait", d->key);
    if (d->refusal.fits == VERDICT_UNPROVEN) {
        c->tally->unproven++;
        if (j->podsets == 1 && !oracle_unknown(&c->w))
            return check_wrong(c, "job %u of one podset: not proven", d->key);
    } else if (c->deep && !oracle_unknown(&c->w) && !check_fit_claim(c, j, d)) {
        return false;
    }
    if (d->refusal.code == WHY_PATIENCE && j->chance_ns == O_NEVER)
        j->chance_ns = c->w.now_ns;
    if (d->final) {
        c->tally->final++;
        if (!c->w.drop_never)
            return check_wrong(c, "job %u dropped, though it may wait", d->key);
        mirror_drop(j);
    }
    return true;
}

/* Appends the decisions of a step, without the count in front: where a step stops depends on the
 * limits, what it says does not. */
static void put_out(const struct drive *d, uint8_t *bytes, size_t *size)
{
    struct wire_out out = {.byte = bytes + *size, .limit = OUT_LIMIT - *size};
    size_t skip = 0;

    sched_put_decisions(&d->s, &out);
    must(!out.full);
    while (out.byte[skip++] & 0x80)
        ;
    memmove(out.byte, out.byte + skip, out.size - skip);
    *size += out.size - skip;
}

static bool check_decision(struct check *c, const struct decision *d)
{
    if (!check_yielded(c, d))
        return false;
    c->w.number++;
    switch (d->kind) {
    case DECISION_START:
        return check_start(c, d);
    case DECISION_REFUSE:
        return check_refusal(c, d);
    case DECISION_PROMISE:
        return check_promise(c, d);
    case DECISION_GROW:
        return check_grow(c, d);
    case DECISION_SHRINK:
        return check_shrink(c, d);
    case DECISION_BREAK:
        return check_break(c, d);
    }
    return check_wrong(c, "a decision of no kind");
}

static bool check_decisions(struct check *c)
{
    for (uint32_t n = 0; n < c->d.s.decision_count; n++)
        if (!check_decision(c, &c->d.s.decision[n]))
            return false;
    put_out(&c->d, c->out, &c->out_size);
    return check_yielded(c, NULL);
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
        if (limit_holds(c, j) ||
            (job_row(c->d.s.m, row)->told.code == WHY_PATIENCE && is_patient(c, j)) ||
            promise_vague(&c->w) || promise_fits_now(&c->w, j, c->search_steps) != O_YES)
            continue;
        return check_wrong(c, "job %u waits (told %d), though it fits", j->key,
                           job_row(c->d.s.m, row)->told.code);
    }
    return true;
}

/* Rows that may be compared byte by byte: all that live, and their heads. */
static size_t rows_copy(const struct model *m, char *ret)
{
    size_t bytes = 0;

    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        uint32_t count = t == TABLE_HEAD ? TABLE_COUNT : model_count(m, (enum table)t);
        size_t size = (size_t)count * m->store[t].row_bytes;

        memcpy(ret + bytes, model_row(m, (enum table)t, 0), size);
        bytes += size;
    }
    return bytes;
}

/* Tries something, takes it back, and wants every byte as it was. */
static bool check_rollback(struct check *c)
{
    static char before[1u << 23], after[1u << 23];
    struct model *m = c->d.s.m;
    uint64_t digest = model_digest(m);
    uint32_t jobs = model_count(m, TABLE_JOB), tried = 0;
    size_t size = rows_copy(m, before);

    must(size <= sizeof(before));
    model_begin(m);
    for (uint32_t n = 0; n < jobs && tried < 3; n++) {
        uint32_t row = (uint32_t)((n + c->whatifs) % jobs);
        struct plan plan;
        struct view v;

        if (job_row(m, row)->state == JOB_FREE || job_row(m, row)->podsets == 0)
            continue;
        tried++;
        if (job_row(m, row)->seat_head != ROW_NONE) {
            job_stop(m, row);
            continue;
        }
        model_begin(m);
        v = view_of(m, row);
        if (gang_plan(m, &v, &plan) == VERDICT_FITS && c->whatifs % 3)
            model_commit(m);
        else
            model_rollback(m);
    }
    model_rollback(m);
    c->whatifs++;
    if (rows_copy(m, after) != size || memcmp(before, after, size) != 0)
        return check_wrong(c, "a rollback left other bytes");
    return model_digest(m) == digest || check_wrong(c, "a rollback left another digest");
}

static bool check_tables(struct check *c)
{
    struct model *m = c->d.s.m;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (!host_valid(m, h))
            return check_wrong(c, "host %u is not valid", h);
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        if (!job_valid(m, j))
            return check_wrong(c, "job row %u is not valid", j);
    if (!index_valid(m))
        return check_wrong(c, "the index is not valid");
    if (model_digest(m) != model_digest_anew(m))
        return check_wrong(c, "the digest is not the sum over the rows");
    if (!mirror_equal(&c->w, m))
        return check_wrong(c, "jobs or seats are not those that were decided");
    if (!oracle_sane(&c->w))
        return check_wrong(c, "a device holds more than it can");
    if (!check_rollback(c))
        return false;
    return index_valid(m) || check_wrong(c, "the index is not valid after a rollback");
}

/* A restart: the twin goes on from a snapshot of the first scheduler. */
static bool restart_twin(struct check *c)
{
    static uint8_t bytes[1u << 22];
    struct wire_out w = {.byte = bytes, .limit = sizeof(bytes)};
    struct limits l, ample = drive_ample();

    snapshot_put(&c->d.s, &w);
    must(!w.full);
    if (!snapshot_limits(bytes, w.size, &l))
        return check_wrong(c, "a snapshot is not taken for one");
    for (unsigned t = 0; t < TABLE_COUNT && c->whatifs % 2; t++)
        l.rows[t] = l.rows[t] > ample.rows[t] ? l.rows[t] : ample.rows[t];
    limits_fix(&l);
    drive_close(&c->twin);
    drive_open(&c->twin, &l);
    if (!snapshot_get(&c->twin.s, bytes, w.size))
        return check_wrong(c, "a snapshot is refused");
    if (sched_digest(&c->twin.s) != sched_digest(&c->d.s))
        return check_wrong(c, "a restored scheduler has another digest");
    return index_valid(c->twin.s.m) || check_wrong(c, "a restored index is not valid");
}

static bool check_against_twin(struct check *c, const uint8_t *bytes, size_t size)
{
    bool more = drive_room(&c->twin, bytes, size);

    must(more);
    c->twin_size = 0;
    do {
        more = sched_step(&c->twin.s, bytes, size);
        put_out(&c->twin, c->twin_out, &c->twin_size);
        size = 0;
    } while (more);
    if (c->twin_size != c->out_size || memcmp(c->twin_out, c->out, c->out_size) != 0)
        return check_wrong(c, "with other limits other decisions");
    if (sched_digest(&c->twin.s) != sched_digest(&c->d.s))
        return check_wrong(c, "with other limits another digest");
    if (c->twin.s.wake != c->d.s.wake || c->twin.s.wake_ns != c->d.s.wake_ns)
        return check_wrong(c, "with other limits another time to be woken at");
    return c->whatifs % 8 || restart_twin(c);
}

/* The batch onto the oracle's world. Seats that somebody else chose are not judged but taken as a
 * copy of the core takes them, one event after the other. */
static void follow(struct check *c, const struct event *e, unsigned count, const uint8_t *bytes,
                   size_t size)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct event next;
    struct drive copy;
    bool any = false, rooms = false;

    for (unsigned n = 0; n < count; n++) {
        any |= e[n].kind == EVENT_SEAT || e[n].kind == EVENT_SEATED || e[n].kind == EVENT_CONFIRM;
        rooms |= e[n].kind == EVENT_STOP && e[n].stop.keeps_room;
        c->may_keep |= rooms || (e[n].kind == EVENT_CONFIG && e[n].config.reserves_max);
    }
    if (any || rooms)
        drive_copy(&copy, &c->d);
    for (unsigned n = 0; n < count; n++) {
        if (e[n].kind == EVENT_PODSET)
            continue;
        mirror_apply(&c->w, &e[n], &e[n] + 1);
        if (!any && !rooms)
            continue;
        (void)event_get(&in, &next);
        apply_event(copy.s.m, &next, &in);
        if (any)
            mirror_adopt(&c->w, copy.s.m);
    }
    if (rooms)
        mirror_adopt_rooms(&c->w, copy.s.m);
    if (any || rooms)
        drive_close(&copy);
}

bool check_batch(struct check *c, const struct event *e, unsigned count)
{
    static uint8_t bytes[BATCH_LIMIT];
    struct wire_out w = {.byte = bytes, .limit = sizeof(bytes)};
    const uint8_t *batch = bytes;
    size_t size;
    bool more;

    for (unsigned n = 0; n < count; n++)
        event_put(&w, &e[n]);
    must(!w.full);
    c->out_size = 0;
    size = w.size;
    if (!drive_room(&c->d, batch, size))
        return check_wrong(c, "no room for %zu bytes of events", size);
    follow(c, e, count, bytes, w.size);
    rooms_begin();
    do {
        more = sched_step(&c->d.s, batch, size);
        c->tally->steps++;
        if (!check_decisions(c))
            return false;
        size = 0;
    } while (more);
    return rooms_end(c) && check_waiting(c) && (!c->tables || check_tables(c)) &&
           (!c->has_twin || check_against_twin(c, bytes, w.size));
}
