#include "core/engine/sched.h"

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/engine/apply.h"
#include "core/model/index.h"
#include "core/place/mixed.h"

#define ASKS_MAX 64 /* refused asks that one pass remembers */

static size_t round64(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t sched_bytes(const struct limits *l)
{
    return round64(model_bytes(l)) + round64(l->decisions * sizeof(struct decision)) +
           round64(l->seats_out * sizeof(struct decision_seat));
}

static void place_out(struct sched *s, const struct limits *l)
{
    char *end = (char *)s->m + round64(model_bytes(l));

    s->decision = (struct decision *)(void *)end;
    s->seat =
        (struct decision_seat *)(void *)(end + round64(l->decisions * sizeof(struct decision)));
    s->decision_count = s->seat_count = 0;
}

void sched_init(struct sched *s, void *block, const struct limits *l)
{
    *s = (struct sched){.m = model_init(block, l)};
    place_out(s, l);
}

void sched_move(struct sched *s, void *block, const struct limits *l)
{
    s->m = model_move(s->m, block, l);
    place_out(s, l);
}

struct limits sched_limits_small(void)
{
    struct limits l = {.rows = {0}};

    limits_fix(&l);
    return l;
}

/* ---- growth ---- */

#define CELLS_SEEN 1024 /* pairs of domain and model that a filter remembers */
#define KINDS_SEEN 512  /* kinds of hosts that a batch is expected to hold at most */

/* Rows that the batch may add, at worst, and the largest ids that it names. */
struct demand {
    uint64_t rows[TABLE_COUNT], cells;
    uint64_t pods, pods_max; /* of the job being read; of the largest gang */
    uint64_t hosts, jump;    /* hosts there will be so far; most that one event adds */
};

/* What the hosts of a batch have in common, some of it counted twice at worst. */
struct host_filter {
    uint64_t kind[KINDS_SEEN]; /* hashes of kinds; 0: free */
    uint64_t cell[CELLS_SEEN]; /* the last (domain, model) of each place, plus one */
};

static void demand_id(struct demand *d, enum table table, uint32_t id)
{
    if (id < EDGE_IDS_MAX && d->rows[table] < (uint64_t)id + 1)
        d->rows[table] = (uint64_t)id + 1;
}

/* Hosts of one kind share a row. */
static void demand_kind(struct demand *d, struct host_filter *f, const struct event_host *e)
{
    uint64_t word[] = {(uint64_t)e->cpu_milli,
                       (uint64_t)e->mem_mib,
                       (uint64_t)e->pods,
                       (uint64_t)e->gpu_mem_mib,
                       (uint64_t)e->extra[0],
                       (uint64_t)e->extra[1],
                       (uint64_t)e->class_id << 32 | e->model,
                       (uint64_t)e->shape << 32 | e->gpus};
    uint64_t hash = hash_words(word, sizeof(word) / sizeof(word[0]), 1) | 1;

    for (unsigned n = 0; n < 8; n++) {
        uint64_t *seen = &f->kind[(hash + n) % KINDS_SEEN];

        if (*seen == hash)
            return;
        if (*seen == 0) {
            *seen = hash;
            break;
        }
    }
    d->rows[TABLE_KIND]++;
}

/* Hosts of one domain and model share a cell of the index; the cluster is a domain too. */
static void demand_cells(struct demand *d, struct host_filter *f, const struct event_host *e)
{
    for (unsigned l = 0; l <= LEVELS_MAX; l++) {
        uint64_t pair = (uint64_t)(l < LEVELS_MAX ? e->domain[l] : ROW_NONE) << 8 | e->model;
        uint64_t *seen = &f->cell[hash_mix(pair) % CELLS_SEEN];

        if ((l < LEVELS_MAX && e->domain[l] == ROW_NONE) || *seen == pair + 1)
            continue;
        *seen = pair + 1;
        d->cells++;
    }
}

/* Hosts are looked at in a pass of their own: most batches name none. */
static void demand_hosts(struct demand *d, const uint8_t *bytes, size_t size)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct host_filter f = {.kind = {0}};
    struct event e;

    while (event_get(&in, &e))
        if (e.kind == EVENT_HOST) {
            demand_kind(d, &f, &e.host);
            demand_cells(d, &f, &e.host);
        }
}

static void demand_event(struct demand *d, const struct event *e)
{
    switch ((unsigned)e->kind) {
    case EVENT_DOMAIN:
        demand_id(d, TABLE_DOMAIN, e->domain.domain);
        demand_id(d, TABLE_DOMAIN, e->domain.parent);
        break;
    case EVENT_SHAPE:
        demand_id(d, TABLE_SHAPE, e->shape.shape);
        break;
    case EVENT_CLASS:
        demand_id(d, TABLE_CLASS, e->class.class_id);
        break;
    case EVENT_MIX:
        demand_id(d, TABLE_MIX, e->mix.rows <= MIX_ROWS_MAX ? e->mix.rows : 0);
        break;
    case EVENT_TEAM:
        demand_id(d, TABLE_TEAM, e->team.team);
        break;
    case EVENT_MIG:
        d->rows[TABLE_MIG]++;
        break;
    case EVENT_HOST:
        demand_id(d, TABLE_HOST, e->host.host);
        if (d->rows[TABLE_HOST] > d->hosts) {
            uint64_t jump = d->rows[TABLE_HOST] - d->hosts;

            d->jump = jump > d->jump ? jump : d->jump;
            d->hosts = d->rows[TABLE_HOST];
        }
        break;
    case EVENT_JOB:
        d->rows[TABLE_JOB]++;
        d->pods = 0;
        break;
    case EVENT_PODSET:
        d->rows[TABLE_PODSET]++;
        d->rows[TABLE_SEAT] += e->podset.pods <= GANG_PODS_MAX ? e->podset.pods : 0;
        if (d->rows[TABLE_SEAT] > PODS_WAITING_MAX)
            d->rows[TABLE_SEAT] = PODS_WAITING_MAX;
        d->pods += e->podset.pods <= GANG_PODS_MAX ? e->podset.pods : 0;
        d->pods_max = d->pods > d->pods_max ? d->pods : d->pods_max;
        break;
    default:
        break;
    }
}

/* More than is needed: growth costs a copy, and a batch of one would else grow every time. Small
 * tables double; large ones grow by a quarter, since what they have too much is memory. */
static bool grow(uint32_t *limit, uint64_t need)
{
    uint64_t want = need + need / 8 + 4; /* at nearly 90 % use already */

    if (want <= *limit)
        return false;
    want += want < 1u << 16 ? want : want / 4;
    must(want < UINT32_MAX / 2);
    *limit = (uint32_t)want;
    return true;
}

bool sched_short(const struct sched *s, const uint8_t *bytes, size_t size,
                 struct limits *ret_limits)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    const struct model *m = s->m;
    const struct config *c = config_row(m);
    struct demand d = {.rows = {0}};
    struct limits l = m->limits;
    struct event e;
    bool short_of = false;
    uint64_t hosts, largest;

    d.hosts = model_count(m, TABLE_HOST);
    while (event_get(&in, &e))
        demand_event(&d, &e);
    if (d.rows[TABLE_HOST])
        demand_hosts(&d, bytes, size);
    /* Tables whose rows the core adds: what lives now, and what the batch and the queue may add.
     * Tables that the edge numbers: the largest id. */
    d.rows[TABLE_JOB] += model_head(m, TABLE_JOB)->live;
    d.rows[TABLE_PODSET] += model_head(m, TABLE_PODSET)->live;
    d.rows[TABLE_MIG] += model_head(m, TABLE_MIG)->live;
    d.rows[TABLE_SEAT] += (uint64_t)model_head(m, TABLE_SEAT)->live + c->waiting_pods;
    d.rows[TABLE_KIND] += model_head(m, TABLE_KIND)->live;
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        if (t != TABLE_CONFIG && t != TABLE_HEAD && t != TABLE_LEVEL && t != TABLE_BOARD &&
            t != TABLE_PRICE)
            short_of |= grow(&l.rows[t], d.rows[t]);
    largest = c->gang_pods_max > d.pods_max ? c->gang_pods_max : d.pods_max;
    hosts = l.rows[TABLE_HOST];
    short_of |= grow(&l.undo_rows, 8 * largest + 256 + 2 * d.jump + d.rows[TABLE_DOMAIN] +
                                       d.rows[TABLE_TEAM] + d.rows[TABLE_SHAPE] +
                                       d.rows[TABLE_CLASS] + d.rows[TABLE_MIX]);
    short_of |= grow(&l.seats_out, largest);
    short_of |= grow(&l.depth, largest > ROOMS_MAX ? largest
                               : hosts < ROOMS_MAX ? hosts
                                                   : ROOMS_MAX);
    short_of |= grow(&l.cells, index_cells(m) + d.cells);
    limits_fix(&l);
    *ret_limits = l;
    return short_of;
}

/* ---- the queue ---- */

/* A pass over the queue: asks that were refused in it, since starting others frees nothing. */
struct pass {
    uint32_t job[ASKS_MAX];
    uint32_t count;
};

static bool same_ask(const struct model *m, uint32_t a, uint32_t b)
{
    const struct job *x = job_row(m, a), *y = job_row(m, b);
    uint32_t p = x->podset_head, q = y->podset_head;

    if (x->required != y->required || x->podsets != y->podsets ||
        (x->est_ns != y->est_ns && config_row(m)->leaving_hosts) ||
        ((x->flags ^ y->flags) & JOB_SHARES_CARD))
        return false;
    while (p != ROW_NONE && q != ROW_NONE) {
        if (!podset_alike(podset_row(m, p), podset_row(m, q)))
            return false;
        p = podset_row(m, p)->next;
        q = podset_row(m, q)->next;
    }
    return p == q;
}

/* A refused job of this pass with the same ask, or ROW_NONE. */
static uint32_t refused_alike(const struct model *m, const struct pass *pass, uint32_t job)
{
    for (uint32_t n = 0; n < pass->count; n++)
        if (same_ask(m, pass->job[n], job))
            return pass->job[n];
    return ROW_NONE;
}

static void out_start(struct sched *s, uint32_t job, const struct plan *plan)
{
    struct decision *d = &s->decision[s->decision_count++];
    const struct model *m = s->m;
    uint32_t count = 0;

    *d = (struct decision){.kind = DECISION_START,
                           .key = job_row(m, job)->key,
                           .seat_first = s->seat_count,
                           .plan = *plan,
                           .team = ROW_NONE};
    /* The list of seats is newest first: fill from the end, then order by pod. */
    for (uint32_t t = job_row(m, job)->seat_head; t != ROW_NONE; t = seat_row(m, t)->next_of_job)
        count++;
    must(s->seat_count + count <= m->limits.seats_out);
    d->seat_count = count;
    for (uint32_t t = job_row(m, job)->seat_head; t != ROW_NONE; t = seat_row(m, t)->next_of_job) {
        const struct seat *seat = seat_row(m, t);
        struct decision_seat *out = &s->seat[d->seat_first + --count];
        uint32_t podset = 0;

        for (uint32_t p = job_row(m, job)->podset_head; p != seat->podset;
             p = podset_row(m, p)->next)
            podset++;
        *out = (struct decision_seat){.pod = seat->pod,
                                      .podset = podset,
                                      .host = seat->host,
                                      .devices = seat->devices,
                                      .slot = seat->slot};
    }
    s->seat_count += d->seat_count;
    for (uint32_t n = d->seat_first + 1; n < s->seat_count; n++)
        for (uint32_t at = n; at > d->seat_first && s->seat[at - 1].pod > s->seat[at].pod; at--) {
            struct decision_seat swap = s->seat[at];

            s->seat[at] = s->seat[at - 1];
            s->seat[at - 1] = swap;
        }
}

static void out_refusal(struct sched *s, uint32_t job, const struct refusal *r, bool final,
                        uint32_t team)
{
    s->decision[s->decision_count++] = (struct decision){.kind = DECISION_REFUSE,
                                                         .key = job_row(s->m, job)->key,
                                                         .refusal = *r,
                                                         .final = final,
                                                         .team = team};
}

/* What a refusal is known by before it is explained: the code, or REASON_COUNT where the search's
 * verdict decides it, and the team whose limit it is. */
struct cause {
    enum verdict verdict;
    enum reason_code code;
    uint32_t team;
};

/* Tells a refusal if it is the first one or its code has changed. True: the job was dropped. */
static bool refuse(struct sched *s, struct pass *pass, uint32_t job, struct cause cause)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);
    struct told told = {.known = 1, .fits = (uint8_t)cause.verdict};
    struct refusal r = {.binding_known = true};
    bool final;

    told.code =
        (uint16_t)(cause.code == REASON_COUNT ? explain_code(m, job, cause.verdict) : cause.code);
    if (cause.verdict == VERDICT_NO && cause.code == REASON_COUNT && pass->count < ASKS_MAX)
        pass->job[pass->count++] = job;
    if (j->told.known && j->told.code == told.code)
        return false;
    if (cause.verdict != VERDICT_FITS)
        r = explain_refusal(m, job, cause.verdict);
    r.code = (enum reason_code)told.code;
    r.fits = cause.verdict;
    final = config_row(m)->drop_never && (r.never || r.code == WHY_NEVER_QUOTA);
    out_refusal(s, job, &r, final, cause.team);
    model_begin(m);
    if (final) {
        if (pass->count && pass->job[pass->count - 1] == job)
            pass->count--;
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

/* One job of the queue: starts it, or says why not. True if it left the queue. */
static bool decide(struct sched *s, struct pass *pass, uint32_t job)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);
    struct view v = view_of(m, job);
    struct cause cause = {VERDICT_NO, REASON_COUNT, never_allows(m, job)};
    uint32_t alike, ignore;
    struct plan plan;

    if (cause.team != ROW_NONE) {
        if (j->told.known && j->told.code == WHY_NEVER_QUOTA)
            return false;
        cause.verdict = gang_fits(&v);
        cause.code = WHY_NEVER_QUOTA;
        return refuse(s, pass, job, cause);
    }
    alike = refused_alike(m, pass, job);
    if (alike != ROW_NONE)
        return (!j->told.known || j->told.code != job_row(m, alike)->told.code) &&
               refuse(s, pass, job, cause);
    if (!team_allows(m, j->team, j->gang_milli, &cause.team)) {
        v.least_only = team_allows(m, j->team, job_least_milli(m, job), &ignore);
        if (!v.least_only) {
            cause.verdict = gang_fits(&v);
            cause.code = cause.verdict == VERDICT_FITS ? WHY_QUOTA : REASON_COUNT;
            return refuse(s, pass, job, cause);
        }
    }
    model_begin(m);
    cause.verdict = gang_plan(m, &v, &plan);
    if (cause.verdict == VERDICT_FITS) {
        job_run(m, job);
        out_start(s, job, &plan);
        model_commit(m);
        return true;
    }
    model_rollback(m);
    cause.team = ROW_NONE;
    return refuse(s, pass, job, cause);
}

static bool out_is_full(const struct sched *s)
{
    uint32_t largest = config_row(s->m)->gang_pods_max;

    return s->decision_count == s->m->limits.decisions ||
           s->seat_count + largest > s->m->limits.seats_out;
}

static bool go_through_queue(struct sched *s)
{
    struct pass pass = {.count = 0};
    struct model *m = s->m;
    uint64_t freed = config_row(m)->freed_count;
    bool everybody = config_row(m)->passed_at != freed;
    uint32_t count, n = s->resume;
    const uint32_t *waiting = index_waiting(m, &count);

    s->resume = 0;
    while (n < count) {
        uint32_t job = waiting[n];

        /* A job whose seats are just being told is not placed a second time. */
        if (job_row(m, job)->seat_head != ROW_NONE ||
            (!everybody && job_row(m, job)->refused_at != UINT64_MAX)) {
            n++;
            continue;
        }
        if (out_is_full(s)) {
            s->resume = n;
            return true;
        }
        if (!decide(s, &pass, job)) {
            n++;
            if (job_row(m, job)->refused_at == UINT64_MAX) {
                model_begin(m);
                ((struct job *)model_edit(m, TABLE_JOB, job))->refused_at = freed;
                model_commit(m);
            }
        }
        waiting = index_waiting(m, &count);
    }
    if (everybody) {
        model_begin(m);
        config_edit(m)->passed_at = freed;
        model_commit(m);
    }
    return false;
}

bool sched_step(struct sched *s, const uint8_t *bytes, size_t size)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct event e;

    s->decision_count = s->seat_count = 0;
    if (size)
        s->resume = 0;
    while (event_get(&in, &e))
        apply_event(s->m, &e, &in);
    index_settle(s->m);
    return go_through_queue(s);
}

uint64_t sched_digest(struct sched *s)
{
    return model_digest(s->m);
}

static void put_refusal(struct wire_out *w, const struct decision *d)
{
    const struct refusal *r = &d->refusal;

    wire_put(w, r->code);
    wire_put(w, r->fits);
    wire_put(w, d->final);
    wire_put(w, r->binding_known ? r->binding + 1 : 0);
    wire_put_signed(w, r->free_milli);
    wire_put(w, r->best_pods);
}

static void put_start(struct wire_out *w, const struct sched *s, const struct decision *d)
{
    wire_put(w, d->seat_count);
    for (uint32_t n = 0; n < d->seat_count; n++) {
        const struct decision_seat *t = &s->seat[d->seat_first + n];

        wire_put(w, t->pod);
        wire_put(w, t->host);
        wire_put(w, t->devices);
        wire_put(w, t->slot);
    }
    wire_put_signed(w, d->plan.best.host == ROW_NONE ? 0 : d->plan.best.cost);
}

void sched_put_decisions(const struct sched *s, struct wire_out *w)
{
    wire_put(w, s->decision_count);
    for (uint32_t n = 0; n < s->decision_count; n++) {
        const struct decision *d = &s->decision[n];

        wire_put(w, d->kind);
        wire_put(w, d->key);
        if (d->kind == DECISION_START)
            put_start(w, s, d);
        else
            put_refusal(w, d);
    }
}
