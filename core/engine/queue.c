#include "core/engine/queue.h"

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/engine/answer.h"
#include "core/engine/keep.h"
#include "core/engine/resize.h"
#include "core/model/index.h"
#include "core/place/exclusive.h"
#include "core/policy/backfill/force.h"
#include "core/policy/backfill/reserve.h"
#include "core/policy/elastic.h"
#include "core/policy/patience.h"
#include "core/policy/ways.h"

#define RESUME_GROWTH UINT32_MAX /* the queue was gone through, runs may still grow */
#define ROUNDS_MAX    8 /* times that a pass is gone through again because kept room came back */

/* Gangs of which some pods have ended are like no other. */
static bool same_ask(const struct model *m, uint32_t a, uint32_t b)
{
    const struct job *x = job_row(m, a), *y = job_row(m, b);

    return !x->done_pods && !y->done_pods &&
           (x->est_ns == y->est_ns || config_row(m)->leaving_hosts == 0) &&
           index_asks_alike(m, a, b);
}

/* The note for the job's ask under what is in force, whoever wrote it last. */
static struct ask_note *note_of(const struct model *m, uint32_t job, uint64_t bound)
{
    return index_ask_note(m, hash_mix(index_job_ask(m, job) ^ bound));
}

/* The note of a job of this pass that asked the same in vain, or NULL. */
static const struct ask_note *refused_alike(const struct model *m, const struct pass *pass,
                                            uint32_t job, uint64_t bound)
{
    const struct ask_note *note = note_of(m, job, bound);

    if (note->pass != pass->number || note->bound != bound || !same_ask(m, note->job, job))
        return NULL;
    if (note->value[0] == VERDICT_NO)
        return note;
    /* Where there is room, it stands until somebody starts, and the limit of its own team may be
     * what holds it back. */
    return note->value[3] == pass->starts && job_row(m, note->job)->team == job_row(m, job)->team
               ? note
               : NULL;
}

static void remember(const struct model *m, const struct pass *pass, uint32_t job, uint64_t bound,
                     const struct cause *cause)
{
    *note_of(m, job, bound) = (struct ask_note){
        pass->number, bound, job, {cause->verdict, cause->code, cause->team, pass->starts}};
}

/* A start takes room: that there was some for others is no longer known. */
static void forget_room(struct pass *pass)
{
    pass->starts++;
}

/* Tells a refusal if it is the first one or its code has changed. True: the job was dropped.
 * Nothing is in force when the reason is looked for: it speaks of what is free, not of what is
 * kept. */
static bool refuse(struct sched *s, struct pass *pass, uint32_t job, struct cause cause)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);
    struct told told = {.known = 1, .fits = (uint8_t)cause.verdict};
    struct refusal r = {.binding_known = true};
    bool final, was_patient = j->told.known && j->told.code == WHY_PATIENCE;

    reserve_lift(m, &pass->kept);
    told.code =
        (uint16_t)(cause.code == REASON_COUNT ? explain_code(m, job, cause.verdict) : cause.code);
    if (j->told.known && j->told.code == told.code)
        return false;
    if (cause.verdict != VERDICT_FITS)
        r = explain_refusal(m, job, cause.verdict);
    else
        r.scope = j->preferred_count ? j->preferred[0] : SCOPE_OF_CLUSTER;
    if (told.code == WHY_EXCLUSIVE && j->exclusive)
        r.scope = j->exclusive;
    r.code = (enum reason_code)told.code;
    r.fits = cause.verdict;
    final = config_row(m)->drop_never && (r.never || r.code == WHY_NEVER_QUOTA);
    answer_refuse(s, job, &r, final, cause.team);
    model_begin(m);
    config_edit(m)->patient_jobs += (uint32_t)(told.code == WHY_PATIENCE) - (uint32_t)was_patient;
    if (final) {
        reserve_cut(&pass->kept, job);
        job_remove(m, job);
    } else {
        told.binding = (uint16_t)r.binding;
        job_tell(m, job, &told);
    }
    model_commit(m);
    return final;
}

/* The first team from the job's upwards whose limit is below the gang's minimum, or ROW_NONE. */
static uint32_t never_allows(const struct model *m, uint32_t job)
{
    uint32_t team = job_row(m, job)->team;

    while (team != ROW_NONE && team_row(m, team)->limit_milli >= job_least_milli(m, job))
        team = team_row(m, team)->parent;
    return team;
}

/* Does it fit on what is free, kept or not? */
static enum verdict fits_freely(struct model *m, struct pass *pass, uint32_t job)
{
    struct view v = view_of(m, job);

    reserve_lift(m, &pass->kept);
    v.beside = true;
    return gang_fits(&v);
}

/* Would it fit if no domain were exclusive? */
static bool fits_beside(struct model *m, uint32_t job)
{
    struct view v = view_of(m, job);

    if (!exclusive_matters(&v))
        return false;
    v.beside = true;
    return gang_fits(&v) == VERDICT_FITS;
}

/* Quota: what the job's teams let it have now. False: not even the minimum. */
static bool quota(const struct model *m, const struct pass *pass, uint32_t job, struct view *v,
                  struct cause *cause)
{
    const struct job *j = job_row(m, job);
    int64_t least = job_least_milli(m, job);
    uint32_t ignore;

    v->least_only = !team_allows(m, j->team, j->gang_milli, &cause->team);
    if (v->least_only && !team_allows(m, j->team, least, &ignore)) {
        cause->code = WHY_QUOTA;
        return false;
    }
    cause->team = ROW_NONE;
    v->least_only = v->least_only || !reserve_quota(m, &pass->kept, job, j->gang_milli);
    if (v->least_only && !reserve_quota(m, &pass->kept, job, least)) {
        cause->code = WHY_RESERVED;
        return false;
    }
    return true;
}

/* True if the job, seated and exclusive, closes a domain in which room is kept that binds it. */
static bool closes_kept(const struct model *m, const struct pass *pass, uint32_t job)
{
    for (uint32_t n = 0; job_row(m, job)->exclusive && n < pass->kept.count; n++)
        if (pass->kept.in_force[n] && exclusive_meets(m, job, pass->kept.job[n]))
            return true;
    return false;
}

/* Starts the job if it can; else *ret_cause says why not. */
static bool start(struct sched *s, struct pass *pass, uint32_t job, struct view *v,
                  struct cause *ret_cause)
{
    struct model *m = s->m;
    struct plan plan = {.best = {.host = ROW_NONE}, .second = {.host = ROW_NONE}};
    bool kept = job_row(m, job)->hold_head != ROW_NONE, better = false, closes = false;

    model_begin(m);
    if (job_row(m, job)->keep == KEEP_INHERITED && reserve_take(m, job) && exclusive_kept(m, job)) {
        ret_cause->verdict = VERDICT_FITS;
    } else {
        model_rollback(m);
        model_begin(m);
        ret_cause->verdict = gang_plan(m, v, &plan);
        better = ret_cause->verdict == VERDICT_FITS && patience_holds(m, job, &plan);
    }
    closes = ret_cause->verdict == VERDICT_FITS && closes_kept(m, pass, job);
    if (ret_cause->verdict == VERDICT_FITS && !better && !closes) {
        config_edit(m)->patient_jobs -=
            job_row(m, job)->told.known && job_row(m, job)->told.code == WHY_PATIENCE;
        job_run(m, job);
        answer_start(s, job, &plan);
        model_commit(m);
        reserve_cut(&pass->kept, job);
        forget_room(pass);
        s->room_came_back |= kept;
        return true;
    }
    model_rollback(m);
    if (better)
        patience_note(m, job);
    if (better || closes)
        ret_cause->code = closes ? WHY_RESERVED : WHY_PATIENCE;
    return false;
}

/* For telling what runs give back. */
struct yielding {
    struct sched *s;
    const struct pass *pass;
    uint32_t by;
};

static void tell_shrink(void *context, uint32_t run, const uint32_t *seat, uint32_t count)
{
    struct yielding *y = context;

    answer_shrink(y->s, run, seat, count, y->by);
}

/* A smaller run lasts longer: may somebody whose date lies between count on its end? */
static bool delays(void *context, int64_t before_ns, int64_t after_ns)
{
    const struct yielding *y = context;

    for (uint32_t n = 0; n < y->pass->kept.count; n++) {
        const struct job *k = job_row(y->s->m, y->pass->kept.job[n]);

        if (y->pass->kept.job[n] != y->by && k->keep == KEEP_DATED && before_ns <= k->reserve_ns &&
            k->reserve_ns < after_ns)
            return true;
    }
    return false;
}

/* Starts the job on what elastic runs hold beyond their minimum; all or nothing. */
static bool start_by_yield(struct sched *s, struct pass *pass, uint32_t job, struct view *v,
                           struct cause *ret_cause)
{
    struct yielding y = {s, pass, job};
    uint32_t decisions = s->decision_count, seats = s->seat_count;
    bool done;

    if (!config_row(s->m)->elastic_jobs || job_row(s->m, job)->gang_milli == 0)
        return false;
    model_begin(s->m);
    done = elastic_yield(s->m, job, tell_shrink, delays, &y);
    if (done) {
        /* Kept room no longer counts on what was given back just now. */
        reserve_lift(s->m, &pass->kept);
        reserve_bind(s->m, &pass->kept, job);
        done = start(s, pass, job, v, ret_cause);
    }
    if (done) {
        model_commit(s->m);
        pass->number = index_pass_next(s->m); /* more may have come free than it took */
        s->room_came_back = s->held_back = true;
        return true;
    }
    model_rollback(s->m);
    s->decision_count = decisions;
    s->seat_count = seats;
    ret_cause->verdict = VERDICT_NO;
    ret_cause->code = REASON_COUNT;
    return false;
}

/* Starts the job in the best of its ways that can be had, but for the last of them, which stands
 * after a false. */
static bool start_some_way(struct sched *s, struct pass *pass, uint32_t job)
{
    struct model *m = s->m;
    struct cause cause = {VERDICT_NO, REASON_COUNT, ROW_NONE};
    bool more, started = false;

    model_begin(m);
    more = ways_first(m, job);
    for (unsigned n = 0; more && !started && n < WAYS_TRIES_MAX; n++) {
        struct view v = view_of(m, job);

        started = quota(m, pass, job, &v, &cause) && start(s, pass, job, &v, &cause);
        more = !started && ways_next(m, job);
    }
    if (!started)
        ways_last(m, job);
    model_commit(m);
    return started;
}

/* One job of the queue: starts it, or says why not. True if it left the queue. */
static bool decide(struct sched *s, struct pass *pass, uint32_t job, struct cause *ret)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);
    struct view v = view_of(m, job);
    const struct ask_note *alike;
    struct ask_note *note;
    uint64_t bound;
    unsigned code;

    if (ways_open(m, job)) {
        model_begin(m);
        ways_last(m, job);
        model_commit(m);
    }
    *ret = (struct cause){VERDICT_NO, REASON_COUNT, never_allows(m, job)};
    if (ret->team != ROW_NONE) {
        ret->code = WHY_NEVER_QUOTA;
        if (j->told.known && j->told.code == WHY_NEVER_QUOTA)
            return false;
        ret->verdict = fits_freely(m, pass, job);
        return refuse(s, pass, job, *ret);
    }
    bound = reserve_bind(m, &pass->kept, job);
    note = note_of(m, job, bound);
    alike = refused_alike(m, pass, job, bound);
    if (alike && patience_until(m, job) <= config_row(m)->now_ns) {
        *ret = (struct cause){(enum verdict)alike->value[0], (enum reason_code)alike->value[1],
                              alike->value[2]};
        /* What it was told in the end, where the verdict decided that. */
        code = ret->code == REASON_COUNT ? job_row(m, alike->job)->told.code : (unsigned)ret->code;
        return (!j->told.known || j->told.code != code) && refuse(s, pass, job, *ret);
    }
    if (ways_open(m, job) && start_some_way(s, pass, job))
        return true;
    if (quota(m, pass, job, &v, ret)) {
        if (start(s, pass, job, &v, ret) ||
            (ret->verdict == VERDICT_NO && start_by_yield(s, pass, job, &v, ret)))
            return true;
        if (ret->verdict == VERDICT_NO && fits_beside(m, job)) {
            ret->verdict = VERDICT_FITS;
            ret->code = WHY_EXCLUSIVE;
        } else if (bound && ret->verdict == VERDICT_NO &&
                   fits_freely(m, pass, job) == VERDICT_FITS) {
            ret->verdict = VERDICT_FITS;
            ret->code = WHY_RESERVED;
        }
        if (ret->verdict != VERDICT_UNPROVEN && ret->code != WHY_PATIENCE)
            remember(m, pass, job, bound, ret);
    } else {
        ret->verdict = fits_freely(m, pass, job);
        if (ret->verdict != VERDICT_FITS)
            ret->code = REASON_COUNT;
    }
    if (ret->code == WHY_RESERVED)
        s->held_back = true;
    if (refuse(s, pass, job, *ret)) {
        note->pass = 0; /* the job is no more */
        return true;
    }
    return false;
}

/* ---- the pass ---- */

static bool go_through(struct sched *s, struct pass *pass, uint64_t freed)
{
    struct model *m = s->m;
    bool everybody = config_row(m)->passed_at != freed;
    uint32_t count, n = s->resume;
    const uint32_t *waiting = index_waiting(m, &count);
    struct cause cause;

    s->resume = 0;
    for (uint32_t before = 0; before < n; before++) /* a step that goes on where one stopped */
        if (job_row(m, waiting[before])->hold_head != ROW_NONE)
            pass->heads |= reserve_models(m, waiting[before]);
    while (n < count) {
        uint32_t job = waiting[n];

        /* A job whose seats are just being told is not placed a second time. */
        if (job_row(m, job)->seat_head != ROW_NONE ||
            (!everybody && job_row(m, job)->refused_at != UINT64_MAX)) {
            if (job_row(m, job)->hold_head != ROW_NONE)
                pass->heads |= reserve_models(m, job);
            n++;
            continue;
        }
        if (answer_full(s)) {
            s->resume = n;
            return true;
        }
        if (!decide(s, pass, job, &cause)) {
            n++;
            keep_room(s, pass, job, &cause);
            if (job_row(m, job)->hold_head != ROW_NONE)
                pass->heads |= reserve_models(m, job);
            if (job_row(m, job)->refused_at == UINT64_MAX) {
                model_begin(m);
                ((struct job *)model_edit(m, TABLE_JOB, job))->refused_at = freed;
                model_commit(m);
            }
        }
        waiting = index_waiting(m, &count);
    }
    return false;
}

/* When something would be decided without any new fact. */
static void find_wake(struct sched *s)
{
    const struct model *m = s->m;
    const struct config *c = config_row(m);
    uint32_t count, left = c->kept_jobs + c->patient_jobs;
    const uint32_t *waiting = index_waiting(m, &count);

    s->wake = WAKE_NONE;
    s->wake_ns = INT64_MAX;
    for (uint32_t n = 0; n < count && left; n++) {
        const struct job *j = job_row(m, waiting[n]);
        int64_t patience = patience_until(m, waiting[n]);

        left -= j->hold_head != ROW_NONE;
        if (j->hold_head != ROW_NONE && j->reserve_ns > c->now_ns && j->reserve_ns < s->wake_ns) {
            s->wake = WAKE_RESERVE;
            s->wake_ns = j->reserve_ns;
        }
        if (!j->told.known || j->told.code != WHY_PATIENCE)
            continue;
        left--;
        if (patience > c->now_ns && patience < s->wake_ns) {
            s->wake = WAKE_PATIENCE;
            s->wake_ns = patience;
        }
    }
    resize_wake(m, &s->wake, &s->wake_ns);
}

static void note_freed(struct model *m)
{
    model_begin(m);
    config_edit(m)->freed_count++;
    model_commit(m);
}

/* The whole queue, again where room that is no longer kept may do for one that was held back. True:
 * the tables were full. */
static bool go_through_all(struct sched *s, struct pass *pass)
{
    struct model *m = s->m;

    for (;;) {
        uint64_t freed = config_row(m)->freed_count;
        bool full;

        if (s->resume == 0) {
            s->held_back = s->room_came_back = false;
            s->improved = 0;
        }
        pass->number = index_pass_next(m);
        pass->starts = 0;
        pass->kept.count = 0;
        pass->heads = 0;
        keep_gather(s, pass);
        full = go_through(s, pass, freed);
        reserve_lift(m, &pass->kept);
        if (full)
            return true;
        if (config_row(m)->passed_at != freed) {
            model_begin(m);
            config_edit(m)->passed_at = freed;
            model_commit(m);
        }
        if (!s->room_came_back || !s->held_back || ++s->rounds >= ROUNDS_MAX)
            return false;
        note_freed(m);
    }
}

bool queue_pass(struct sched *s)
{
    struct model *m = s->m;
    struct pass pass;
    bool full;

    if (s->resume == 0) {
        s->everybody = config_row(m)->passed_at != config_row(m)->freed_count;
        s->rounds = 0;
    }
    if (s->everybody && s->resume == 0 && resize_repair(s))
        return true;
    if (s->resume != RESUME_GROWTH && go_through_all(s, &pass))
        return true;
    if (s->resume == RESUME_GROWTH) {
        pass.kept.count = 0;
        keep_gather(s, &pass);
    }
    s->resume = 0;
    full = s->everybody && resize_grow(s, &pass.kept);
    if (full)
        s->resume = RESUME_GROWTH;
    find_wake(s);
    return full;
}
