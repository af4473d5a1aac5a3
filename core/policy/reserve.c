#include "core/policy/reserve.h"

#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"

#define GUESS_LEAST_NS ((int64_t)600 * 1000000000) /* a run without an estimate lasts so at least  \
                                                    */
#define GALLOP_MAX 16 /* runs that are taken off between two searches */

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

/* When the run of the seat is taken to end: by its estimate, or never where that is over. */
static int64_t seat_end(const struct model *m, const struct seat *s)
{
    const struct job *j = job_row(m, s->job);

    return j->state == JOB_RUNNING && j->end_ns > config_row(m)->now_ns ? j->end_ns : INT64_MAX;
}

/* What the seats of a host give back after from_ns and until until_ns. */
struct gives {
    int64_t cpu_milli, mem_mib, pods, extra[EXTRAS_MAX];
};

static struct gives gives_of(const struct model *m, uint32_t host, int64_t from_ns,
                             int64_t until_ns)
{
    struct gives g = {.pods = 0};

    for (uint32_t s = host_row(m, host)->seat_head; s != ROW_NONE;
         s = seat_row(m, s)->next_of_host) {
        const struct podset *p = podset_row(m, seat_row(m, s)->podset);
        int64_t end = seat_end(m, seat_row(m, s));

        if (end <= from_ns || end > until_ns)
            continue;
        g.cpu_milli += p->cpu_milli;
        g.mem_mib += p->mem_mib;
        g.pods++;
        for (unsigned e = 0; e < EXTRAS_MAX; e++)
            g.extra[e] += p->extra[e];
    }
    return g;
}

/* Takes what it can of a need from what will be given back; returns the rest. */
static int64_t beyond(int64_t need, int64_t *gives)
{
    int64_t covered = need < *gives ? need : *gives;

    *gives -= covered;
    return need - covered;
}

/* Puts the job's kept room in force as somebody sees it who starts at from_ns: what ends by then
 * is off the books already. */
static void put_in_force(struct model *m, uint32_t job, int64_t from_ns)
{
    int64_t until_ns = job_row(m, job)->reserve_ns;
    uint32_t host = ROW_NONE;
    struct gives g = {.pods = 0};

    for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next) {
        struct hold *h = model_edit(m, TABLE_HOLD, id);
        const struct podset *p = podset_row(m, h->podset);

        if (h->host != host)
            g = gives_of(m, h->host, from_ns, until_ns);
        host = h->host;
        h->took_cpu_milli = beyond(p->cpu_milli, &g.cpu_milli);
        h->took_mem_mib = beyond(p->mem_mib, &g.mem_mib);
        h->took_pods = beyond(1, &g.pods);
        for (unsigned e = 0; e < EXTRAS_MAX; e++)
            h->took_extra[e] = beyond(p->extra[e], &g.extra[e]);
        h->took_devices = h->devices & host_row(m, host)->healthy;
        host_hold(m, id);
    }
}

static void lift(struct model *m, uint32_t job)
{
    for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next)
        host_unhold(m, id);
}

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
            lift(m, r->job[n]);
    model_commit(m);
    for (uint32_t n = 0; n < r->count; n++)
        r->in_force[n] = 0;
}

/* Would a run of the job from from_ns on be in the way of the kept room? */
static bool is_bound(const struct model *m, uint32_t job, uint32_t other, int64_t from_ns)
{
    const struct job *j = job_row(m, job), *k = job_row(m, other);

    if (job == other)
        return false;
    if (config_row(m)->order != ORDER_FIFO && j->priority > k->priority)
        return false;
    if (k->keep != KEEP_INHERITED && k->est_ns >= 0 && k->reserve_ns + k->est_ns <= from_ns)
        return false; /* it will be gone by then */
    return j->est_ns < 0 || k->keep == KEEP_INHERITED || from_ns + j->est_ns > k->reserve_ns;
}

uint64_t reserve_bind(struct model *m, struct reserves *r, uint32_t job)
{
    int64_t now = config_row(m)->now_ns;
    bool change = false;
    uint64_t name = 0;

    for (uint32_t n = 0; n < r->count; n++) {
        bool bound = is_bound(m, job, r->job[n], now);

        change |= bound != (bool)r->in_force[n];
        name += bound ? hash_mix(r->job[n]) | 1 : 0;
    }
    if (!change)
        return name;
    model_begin(m);
    for (uint32_t n = 0; n < r->count; n++) {
        bool bound = is_bound(m, job, r->job[n], now);

        if (bound && !r->in_force[n])
            put_in_force(m, r->job[n], now);
        else if (!bound && r->in_force[n])
            lift(m, r->job[n]);
        r->in_force[n] = bound;
    }
    model_commit(m);
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

bool reserve_quota(const struct model *m, const struct reserves *r, uint32_t job, int64_t milli)
{
    for (uint32_t t = job_row(m, job)->team; t != ROW_NONE; t = team_row(m, t)->parent) {
        const struct team *team = team_row(m, t);

        if (team->limit_milli >= UNLIMITED)
            continue;
        for (uint32_t n = 0; n < r->count; n++) {
            const struct job *k = job_row(m, r->job[n]);

            if (r->in_force[n] && is_under(m, k->team, t) &&
                team->held_milli - team_gives(m, t, k->reserve_ns) + k->gang_milli + milli >
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
        else if (k->est_ns >= 0 && k->reserve_ns < UNLIMITED)
            h.heap[h.count++] = (struct run_end){k->reserve_ns + k->est_ns, ROW_NONE, 0};
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
    for (uint32_t n = 0; n < others->count; n++) {
        const struct job *k = job_row(m, others->job[n]);

        if (k->keep == KEEP_INHERITED && k->reserve_ns <= at_ns)
            continue;
        if (is_bound(m, job, others->job[n], at_ns))
            put_in_force(m, others->job[n], at_ns);
    }
}

/* Would the job start at that time, on the books as they are then? Tried and taken back; keep: the
 * places are noted down. Returns the pods, 0: no. */
static uint32_t try_at(struct model *m, const struct reserves *others, uint32_t job, int64_t at_ns,
                       bool keep)
{
    struct view v = view_of(m, job);
    const struct job *j = job_row(m, job);
    uint32_t team, pods = 0;
    struct plan plan;

    if (!team_allows(m, j->team, job_least_milli(m, job), &team))
        return 0;
    v.least_only = !team_allows(m, j->team, j->gang_milli, &team);
    v.at_ns = at_ns;
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

/* Fits are monotone in what has ended, unless somebody's room or a host's departure comes between:
 * then every end is tried. */
static bool is_monotone(const struct model *m, const struct reserves *others, uint32_t job)
{
    uint64_t models = reserve_models(m, job);

    if (config_row(m)->leaving_hosts)
        return false;
    for (uint32_t n = 0; n < others->count; n++)
        if (reserve_models(m, others->job[n]) & models)
            return false;
    return true;
}

/* A number of ends after which the job fits, and the last one tried after which it did not. */
struct bracket {
    uint32_t fails, fits; /* ends taken off; fits 0: never */
};

static struct bracket gallop(struct model *m, const struct reserves *others, uint32_t job,
                             bool guess)
{
    struct horizon h = horizon_of(m, others, guess);
    struct bracket b = {0, 0};
    uint64_t models = reserve_models(m, job);
    int64_t least = config_row(m)->inexact_podsets ? 0 : job_least_milli(m, job), at_ns = 0;
    uint32_t taken = 0, step = is_monotone(m, others, job) ? 1 : 0, next = 1;

    model_begin(m);
    while (horizon_next(&h, &at_ns)) {
        taken++;
        if (!might_fit(m, models, least)) {
            b.fails = taken;
            next = taken + 1;
            continue;
        }
        if (taken < next && h.count)
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

static struct kept find(struct model *m, const struct reserves *others, uint32_t job, bool guess)
{
    struct bracket b = gallop(m, others, job, guess);
    struct kept k = {.keep = KEEP_NONE};

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

struct kept reserve_find(struct model *m, struct reserves *others, uint32_t job)
{
    struct reserves rest = {.count = 0};
    struct kept k;

    for (uint32_t n = 0; n < others->count; n++) {
        must(!others->in_force[n]);
        if (others->job[n] != job)
            reserve_add(&rest, others->job[n]);
    }
    k = find(m, &rest, job, false);
    return k.keep == KEEP_NONE ? find(m, &rest, job, true) : k;
}

/* ---- what is kept ---- */

bool reserve_stands(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    uint32_t host = ROW_NONE;
    struct gives g = {.pods = 0};

    if (j->reserve_ns <= config_row(m)->now_ns)
        return false;
    for (uint32_t id = j->hold_head; id != ROW_NONE; id = hold_row(m, id)->next) {
        const struct hold *x = hold_row(m, id);
        const struct host *h = host_row(m, x->host);
        const struct podset *p = podset_row(m, x->podset);
        uint16_t free = h->whole;

        if (x->host != host) {
            g = gives_of(m, x->host, config_row(m)->now_ns, j->reserve_ns);
            g.cpu_milli += h->cpu_free_milli;
            g.mem_mib += h->mem_free_mib;
            g.pods += h->pods_free;
            for (unsigned e = 0; e < EXTRAS_MAX; e++)
                g.extra[e] += h->extra_free[e];
        }
        host = x->host;
        for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host)
            if (seat_end(m, seat_row(m, s)) <= j->reserve_ns)
                free |= seat_row(m, s)->devices & h->healthy;
        g.cpu_milli -= p->cpu_milli;
        g.mem_mib -= p->mem_mib;
        g.pods--;
        if (h->state != HOST_UP || !host_stays(h, j->reserve_ns, j->est_ns) ||
            (!podset_is_share(p) && (x->devices & ~free)) || (x->devices & ~h->healthy) ||
            g.cpu_milli < 0 || g.mem_mib < 0 || g.pods < 0)
            return false;
        for (unsigned e = 0; e < EXTRAS_MAX; e++)
            if ((g.extra[e] -= p->extra[e]) < 0)
                return false;
    }
    return true;
}

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

bool reserve_take(struct model *m, uint32_t job)
{
    struct view v = view_of(m, job);

    for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next) {
        const struct hold *x = hold_row(m, id);
        const struct podset *p = podset_row(m, x->podset);
        const struct host *h = host_row(m, x->host);

        if (!view_open(&v, x->host, p) || view_counts(&v, h, p) == 0 || (x->devices & ~h->healthy))
            return false;
        if (!podset_is_share(p) && (x->devices & ~h->whole))
            return false;
        if (podset_is_share(p) &&
            (p->profile != ROW_NONE || !host_share_fits(m, x->host, bits_low(x->devices), p)))
            return false; /* what was cut for it is looked for anew */
        host_take(m, x->host, job, x->podset, x->pod, x->devices, x->slot, GRADE_PLANNED);
    }
    return true;
}
