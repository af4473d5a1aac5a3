#include "core/policy/backfill/reserve.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/policy/backfill/force.h"
#include "core/policy/backfill/when.h"

#define GUESS_LEAST_NS                                                                             \
    ((int64_t)600 * 1000000000) /* a run without an estimate lasts so at least                     \
                                 */
#define GALLOP_MAX 16           /* runs that are taken off between two searches */

/* A run and when it is taken to end; job ROW_NONE: kept room that is given back then. */
struct run_end {
    int64_t at_ns;
    uint32_t job, pad;
};

struct place {
    uint32_t podset, pod, host;
    uint16_t devices;
    uint8_t slot, pad;
};

static struct run_end *ends_of(struct model *m)
{
    return (struct run_end *)(void *)((char *)m + m->ends_at);
}

static struct place *places_of(struct model *m)
{
    return (struct place *)(void *)((char *)m + m->spots_at);
}

uint64_t reserve_models(const struct model *m, uint32_t job)
{
    uint64_t models = 0, here = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        models |= class_row(m, podset_row(m, p)->class_id)->models;
    for (uint32_t c = index_cell_first(m, ROW_NONE); c != ROW_NONE; c = index_cell(m, c)->next)
        here |= (uint64_t)1 << index_cell(m, c)->model;
    return models & here;
}

void reserve_add(struct reserves *r, uint32_t job)
{
    must(r->count < RESERVES_MAX);
    r->job[r->count] = job;
    r->in_force[r->count++] = 0;
}

void reserve_cut(struct reserves *r, uint32_t job)
{
    uint32_t n = 0;

    while (n < r->count && r->job[n] != job)
        n++;
    if (n == r->count)
        return;
    must(!r->in_force[n]);
    for (r->count--; n < r->count; n++) {
        r->job[n] = r->job[n + 1];
        r->in_force[n] = r->in_force[n + 1];
    }
}

/* ---- holds in force ---- */

void reserve_lift(struct model *m, struct reserves *r)
{
    bool any = false;

    for (uint32_t n = 0; n < r->count; n++)
        any |= r->in_force[n];
    if (!any)
        return;
    model_begin(m);
    for (uint32_t n = 0; n < r->count; n++)
        if (r->in_force[n])
            force_lift(m, r->job[n]);
    model_commit(m);
    for (uint32_t n = 0; n < r->count; n++)
        r->in_force[n] = 0;
}

uint64_t reserve_bind(struct model *m, struct reserves *r, uint32_t job)
{
    int64_t now = config_row(m)->now_ns, until = force_until_ns(m, job, now);
    uint8_t bound[RESERVES_MAX];
    bool change = false;
    uint64_t name = 0;

    for (uint32_t n = 0; n < r->count; n++) {
        bound[n] = force_binds(m, job, r->job[n], now, until);
        change |= bound[n] != r->in_force[n];
        name += bound[n] ? hash_mix(r->job[n]) | 1 : 0;
    }
    if (!change)
        return name;
    reserve_lift(m, r);
    model_begin(m);
    force_put(m, r, bound, now);
    model_commit(m);
    memcpy(r->in_force, bound, r->count);
    return name;
}

/* ---- quota ---- */

static bool is_under(const struct model *m, uint32_t team, uint32_t above)
{
    while (team != ROW_NONE && team != above)
        team = team_row(m, team)->parent;
    return team == above && above != ROW_NONE;
}

/* What the team's runs give back by the date, in milli. */
static int64_t team_gives(const struct model *m, uint32_t team, int64_t until_ns)
{
    int64_t sum = 0, now = config_row(m)->now_ns;

    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
        const struct job *x = job_row(m, j);

        if (x->state == JOB_RUNNING && x->end_ns > now && x->end_ns <= until_ns &&
            is_under(m, x->team, team))
            sum += x->held_milli;
    }
    return sum;
}

/* What the jobs in force of that team will hold at the date. */
static int64_t team_kept(const struct model *m, const struct reserves *r, uint32_t team,
                         int64_t until_ns)
{
    int64_t sum = 0;

    for (uint32_t n = 0; n < r->count; n++) {
        const struct job *k = job_row(m, r->job[n]);

        if (r->in_force[n] && k->reserve_ns <= until_ns && is_under(m, k->team, team))
            sum += k->gang_milli;
    }
    return sum;
}

bool reserve_quota(const struct model *m, const struct reserves *r, uint32_t job, int64_t milli)
{
    for (uint32_t t = job_row(m, job)->team; t != ROW_NONE && milli > 0;
         t = team_row(m, t)->parent) {
        const struct team *team = team_row(m, t);

        if (team->limit_milli >= UNLIMITED)
            continue;
        for (uint32_t n = 0; n < r->count; n++) {
            const struct job *k = job_row(m, r->job[n]);

            if (r->in_force[n] && is_under(m, k->team, t) &&
                team->held_milli - team_gives(m, t, k->reserve_ns) +
                        team_kept(m, r, t, k->reserve_ns) + milli >
                    team->limit_milli)
                return false;
        }
    }
    return true;
}

/* ---- the date ---- */

/* The runs by their ends, as a heap that is emptied from the front. */
struct horizon {
    struct model *m;
    struct run_end *heap;
    uint32_t count;
};

static bool end_before(const struct run_end *a, const struct run_end *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->job < b->job;
}

static void sift(struct horizon *h, uint32_t at)
{
    for (;;) {
        uint32_t least = at, child = 2 * at + 1;
        struct run_end swap;

        for (uint32_t c = child; c < child + 2 && c < h->count; c++)
            if (end_before(&h->heap[c], &h->heap[least]))
                least = c;
        if (least == at)
            return;
        swap = h->heap[at];
        h->heap[at] = h->heap[least];
        h->heap[least] = swap;
        at = least;
    }
}

/* When a run is taken to end, or INT64_MAX: nobody knows and nobody guesses. */
static int64_t taken_end(const struct model *m, const struct job *j, bool guess)
{
    int64_t now = config_row(m)->now_ns, lasted = now - j->start_ns;

    if (j->end_ns != INT64_MAX && j->end_ns > now)
        return j->end_ns;
    if (!guess)
        return INT64_MAX;
    return now + (lasted > GUESS_LEAST_NS ? lasted : GUESS_LEAST_NS);
}

static struct horizon horizon_of(struct model *m, const struct reserves *others, bool guess)
{
    struct horizon h = {.m = m, .heap = ends_of(m)};

    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
        const struct job *x = job_row(m, j);
        int64_t end = x->state == JOB_RUNNING ? taken_end(m, x, guess) : INT64_MAX;

        if (end != INT64_MAX)
            h.heap[h.count++] = (struct run_end){end, j, 0};
    }
    for (uint32_t n = 0; n < others->count; n++) {
        const struct job *k = job_row(m, others->job[n]);

        if (k->keep == KEEP_INHERITED)
            h.heap[h.count++] = (struct run_end){k->reserve_ns, ROW_NONE, 0};
        else if (k->est_ns >= 0 && k->reserve_ns < UNLIMITED &&
                 k->reserve_ns > config_row(m)->now_ns)
            h.heap[h.count++] =
                (struct run_end){k->reserve_ns + force_longest_ns(m, others->job[n]), ROW_NONE, 0};
    }
    for (uint32_t n = h.count / 2; n-- > 0;)
        sift(&h, n);
    return h;
}

/* Takes the next end off the books; false: there is none left. Ends of one moment are one. */
static bool horizon_next(struct horizon *h, int64_t *ret_ns)
{
    if (h->count == 0)
        return false;
    *ret_ns = h->heap[0].at_ns;
    while (h->count && h->heap[0].at_ns == *ret_ns) {
        uint32_t job = h->heap[0].job;

        h->heap[0] = h->heap[--h->count];
        sift(h, 0);
        if (job != ROW_NONE)
            job_vacate(h->m, job);
    }
    return true;
}

/* Puts in force what of the others is in the way of a run from at_ns on. */
static void mind_others(struct model *m, const struct reserves *others, uint32_t job, int64_t at_ns)
{
    int64_t until = force_until_ns(m, job, at_ns);
    uint8_t bound[RESERVES_MAX];

    for (uint32_t n = 0; n < others->count; n++)
        bound[n] = force_binds(m, job, others->job[n], at_ns, until);
    force_put(m, others, bound, at_ns);
}

/* Do the limits of its teams let the job hold so much then, beside the others that are in its way?
 */
static bool teams_allow(const struct model *m, const struct reserves *others, uint32_t job,
                        int64_t at_ns, int64_t milli)
{
    int64_t until = force_until_ns(m, job, at_ns);

    for (uint32_t t = job_row(m, job)->team; t != ROW_NONE && milli > 0;
         t = team_row(m, t)->parent) {
        int64_t sum = team_row(m, t)->held_milli + milli;

        if (team_row(m, t)->limit_milli >= UNLIMITED)
            continue;
        for (uint32_t n = 0; n < others->count; n++)
            if (is_under(m, job_row(m, others->job[n])->team, t) &&
                force_binds(m, job, others->job[n], at_ns, until))
                sum += job_row(m, others->job[n])->gang_milli;
        if (sum > team_row(m, t)->limit_milli)
            return false;
    }
    return true;
}

/* Would the job start at that time, on the books as they are then? Tried and taken back; keep: the
 * places are noted down. Returns the pods, 0: no. */
static uint32_t try_at(struct model *m, const struct reserves *others, uint32_t job, int64_t at_ns,
                       bool keep)
{
    struct view v = view_of(m, job);
    const struct job *j = job_row(m, job);
    uint32_t pods = 0;
    struct plan plan;

    if (!teams_allow(m, others, job, at_ns, job_least_milli(m, job)))
        return 0;
    v.least_only = !teams_allow(m, others, job, at_ns, j->gang_milli);
    v.at_ns = at_ns;
    v.wished = others->wished;
    /* Cheaply first: what does not fit beside nobody does not fit beside the others. */
    if (others->count && gang_fits(&v) != VERDICT_FITS)
        return 0;
    v.steps = 0;
    model_begin(m);
    mind_others(m, others, job, at_ns);
    if (!keep) {
        pods = gang_fits(&v) == VERDICT_FITS;
    } else if (gang_plan(m, &v, &plan) == VERDICT_FITS) {
        for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE;
             s = seat_row(m, s)->next_of_job) {
            const struct seat *x = seat_row(m, s);

            must(pods < m->limits.seats_out);
            places_of(m)[pods++] =
                (struct place){x->podset, x->pod, x->host, x->devices, x->slot, 0};
        }
    }
    model_rollback(m);
    return pods;
}

/* A necessary condition that costs next to nothing: so much is free in all. */
static bool might_fit(const struct model *m, uint64_t models, int64_t least_milli)
{
    int64_t sum = 0;

    for (uint32_t c = index_cell_first(m, ROW_NONE); c != ROW_NONE && sum < least_milli;
         c = index_cell(m, c)->next)
        if (models >> index_cell(m, c)->model & 1)
            sum += (int64_t)index_cell(m, c)->free_milli;
    return sum >= least_milli;
}

/* Fits are monotone in what has ended, unless somebody's room or limit, or a host's departure comes
 * between: then every end is tried. */
static bool is_monotone(const struct model *m, const struct reserves *others, uint32_t job)
{
    uint64_t models = reserve_models(m, job);

    if (config_row(m)->leaving_hosts)
        return false;
    for (uint32_t n = 0; n < others->count; n++)
        if ((reserve_models(m, others->job[n]) & models) ||
            (job_row(m, job)->team != ROW_NONE && job_row(m, others->job[n])->team != ROW_NONE))
            return false;
    return true;
}

/* A number of ends after which the job fits, and the last one tried after which it did not. */
struct bracket {
    uint32_t fails, fits; /* ends taken off; fits 0: never */
};

static struct bracket gallop(struct model *m, const struct reserves *others, uint32_t job,
                             bool guess, int64_t before_ns)
{
    struct horizon h = horizon_of(m, others, guess);
    struct bracket b = {0, 0};
    uint64_t models = reserve_models(m, job);
    int64_t least = config_row(m)->inexact_podsets ? 0 : job_least_milli(m, job), at_ns = 0;
    uint32_t taken = 0, step = is_monotone(m, others, job) ? 1 : 0, next = 1;

    model_begin(m);
    while (h.count && h.heap[0].at_ns < before_ns && horizon_next(&h, &at_ns)) {
        taken++;
        if (!might_fit(m, models, least)) {
            b.fails = taken;
            next = taken + 1;
            continue;
        }
        if (taken < next && h.count && h.heap[0].at_ns < before_ns)
            continue;
        if (try_at(m, others, job, at_ns, false)) {
            b.fits = taken;
            break;
        }
        b.fails = taken;
        next = taken + (step ? step : 1);
        step = step && step < GALLOP_MAX ? step * 2 : step;
    }
    model_rollback(m);
    return b;
}

/* Takes off so many ends, then asks; true: it fits. The date is told. */
static uint32_t ask_after(struct model *m, const struct reserves *others, uint32_t job, bool guess,
                          uint32_t ends, bool keep, int64_t *ret_ns)
{
    struct horizon h = horizon_of(m, others, guess);
    uint32_t pods;

    model_begin(m);
    for (uint32_t n = 0; n < ends; n++)
        must(horizon_next(&h, ret_ns));
    pods = try_at(m, others, job, *ret_ns, keep);
    model_rollback(m);
    return pods;
}

/* The date by sums (when.h). False: it does not apply. */
static bool find_by_sums(struct model *m, const struct reserves *others, uint32_t job, bool guess,
                         int64_t before_ns, struct kept *ret)
{
    struct when w = {.m = m, .job = job, .end = taken_end, .guess = guess};

    if (!is_monotone(m, others, job) || !when_applies(&w, others->wished))
        return false;
    *ret = (struct kept){.keep = KEEP_NONE, .at_ns = when_earliest(&w, before_ns)};
    if (ret->at_ns == INT64_MIN)
        return false;
    if (ret->at_ns == INT64_MAX)
        return true;
    model_begin(m);
    when_vacate(&w, ret->at_ns);
    ret->pods = try_at(m, others, job, ret->at_ns, true);
    model_rollback(m);
    if (ret->pods)
        ret->keep = guess ? KEEP_GUESSED : KEEP_DATED;
    return true;
}

static struct kept find(struct model *m, const struct reserves *others, uint32_t job, bool guess,
                        int64_t before_ns)
{
    struct kept k = {.keep = KEEP_NONE};
    struct bracket b;

    if (find_by_sums(m, others, job, guess, before_ns, &k))
        return k;
    k.keep = KEEP_NONE;
    b = gallop(m, others, job, guess, before_ns);
    if (b.fits == 0)
        return k;
    while (b.fits - b.fails > 1) {
        uint32_t middle = b.fails + (b.fits - b.fails) / 2;

        if (ask_after(m, others, job, guess, middle, false, &k.at_ns))
            b.fits = middle;
        else
            b.fails = middle;
    }
    k.pods = ask_after(m, others, job, guess, b.fits, true, &k.at_ns);
    if (k.pods)
        k.keep = guess ? KEEP_GUESSED : KEEP_DATED;
    return k;
}

struct kept reserve_find(struct model *m, struct reserves *others, uint32_t job, uint64_t wished,
                         int64_t before_ns)
{
    struct reserves rest = {.count = 0, .wished = wished};
    struct kept k;

    for (uint32_t n = 0; n < others->count; n++) {
        must(!others->in_force[n]);
        if (others->job[n] != job)
            reserve_add(&rest, others->job[n]);
    }
    k = find(m, &rest, job, false, before_ns);
    return k.keep == KEEP_NONE && before_ns == INT64_MAX ? find(m, &rest, job, true, before_ns) : k;
}

/* ---- what is kept ---- */

void reserve_keep(struct model *m, uint32_t job, const struct kept *k)
{
    struct job *j = model_edit(m, TABLE_JOB, job);

    job_release_kept(m, job);
    for (uint32_t n = 0; n < k->pods; n++) {
        struct place at = places_of(m)[n];
        uint32_t id = model_add(m, TABLE_HOLD);

        *(struct hold *)model_edit(m, TABLE_HOLD, id) = (struct hold){.podset = at.podset,
                                                                      .pod = at.pod,
                                                                      .host = at.host,
                                                                      .next = j->hold_head,
                                                                      .devices = at.devices,
                                                                      .slot = at.slot};
        j->hold_head = id;
    }
    j->reserve_ns = k->at_ns;
    j->keep = (uint8_t)k->keep;
    config_edit(m)->kept_jobs++;
}

/* A gang that had lost pods when it was stopped, or lost some since, is placed anew. */
static bool is_whole(const struct view *v)
{
    const struct job *j = job_row(v->m, v->job);

    for (uint32_t p = j->podset_head; p != ROW_NONE; p = podset_row(v->m, p)->next) {
        const struct podset *set = podset_row(v->m, p);
        uint32_t count = 0;

        for (uint32_t h = j->hold_head; h != ROW_NONE; h = hold_row(v->m, h)->next) {
            if (j->done_pods && job_pod_done(v->m, v->job, hold_row(v->m, h)->pod))
                return false;
            count += hold_row(v->m, h)->podset == p;
        }
        if (count < (set->slice_pods ? podset_most(v, set) : podset_least(v, set)))
            return false;
    }
    return true;
}

/* The domain of the scope in which a kept place lies, UINT64_MAX: in none. */
static uint64_t domain_of(const struct model *m, unsigned scope, const struct hold *h)
{
    uint32_t shape = kind_row(m, host_row(m, h->host)->kind)->shape, domain;
    uint16_t part;

    if (scope >= SCOPE_OF_CLUSTER)
        return 0;
    if (scope >= SCOPE_OF_LEVEL) {
        domain = board_row(m, h->host)->domain[scope - SCOPE_OF_LEVEL];
        return domain == ROW_NONE ? UINT64_MAX : domain;
    }
    if (scope == SCOPE_OF_HOST)
        return h->host;
    if (shape == ROW_NONE || h->devices == 0)
        return UINT64_MAX;
    part = shape_part_mask(&shape_row(m, shape)->shape, scope, bits_low(h->devices));
    return h->devices & ~part ? UINT64_MAX : (uint64_t)h->host << 16 | part;
}

/* Do all places of the podset (ROW_NONE: of the gang) lie in the domain of this one? multiple: or
 * so many of them, or a multiple of that. */
static bool lies_with(const struct model *m, uint32_t job, uint32_t podset, unsigned scope,
                      uint32_t hold, uint32_t multiple)
{
    uint64_t here = domain_of(m, scope, hold_row(m, hold));
    uint32_t same = 0, sum = 0;

    for (uint32_t h = job_row(m, job)->hold_head; h != ROW_NONE; h = hold_row(m, h)->next) {
        if (podset != ROW_NONE && hold_row(m, h)->podset != podset)
            continue;
        sum++;
        same += domain_of(m, scope, hold_row(m, h)) == here;
    }
    return here != UINT64_MAX && (multiple ? same % multiple == 0 : same == sum);
}

/* Hosts may have got other labels since: do the required levels and slices hold still? */
static bool keeps_levels(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);

    for (uint64_t s = j->required; s; s = bits_drop_low(s))
        if (!lies_with(m, job, ROW_NONE, bits_low(s), j->hold_head, 0))
            return false;
    for (uint32_t h = j->hold_head; h != ROW_NONE; h = hold_row(m, h)->next) {
        uint32_t podset = hold_row(m, h)->podset;
        const struct podset *p = podset_row(m, podset);

        for (uint64_t s = p->required; s; s = bits_drop_low(s))
            if (!lies_with(m, job, podset, bits_low(s), h, 0))
                return false;
        if (p->slice_pods && !lies_with(m, job, podset, p->slice_scope, h, p->slice_pods))
            return false;
    }
    return true;
}

bool reserve_take(struct model *m, uint32_t job)
{
    struct view v = view_of(m, job);

    if (!is_whole(&v) || !keeps_levels(m, job))
        return false;
    for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next) {
        const struct hold *x = hold_row(m, id);
        const struct podset *p = podset_row(m, x->podset);
        const struct host *h = host_row(m, x->host);

        if (!view_open(&v, x->host, p) || view_counts(&v, h, p) == 0 || (x->devices & ~h->healthy))
            return false;
        if (!podset_is_share(p) && (x->devices & ~h->whole))
            return false;
        if (p->profile != ROW_NONE)
            return false; /* what was cut for it is looked for anew */
        for (uint16_t d = x->devices; d && podset_is_share(p); d = (uint16_t)bits_drop_low(d))
            if (!host_share_fits(m, x->host, bits_low(d), p))
                return false;
        host_take(m, x->host, job, x->podset, x->pod, x->devices, x->slot, GRADE_PLANNED);
    }
    return true;
}
