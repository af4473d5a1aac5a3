#include "core/engine/sched.h"

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/engine/apply.h"
#include "core/engine/queue.h"
#include "core/model/index.h"
#include "core/place/mixed.h"

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
    *s = (struct sched){.m = model_init(block, l), .wake_ns = INT64_MAX};
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
    uint64_t kept, stops;    /* places that may be kept; gangs whose room is */
    uint32_t reserves_max;
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
    case EVENT_CONFIG:
        if (e->config.reserves_max > d->reserves_max)
            d->reserves_max = e->config.reserves_max;
        break;
    case EVENT_STOP:
        d->stops += e->stop.keeps_room;
        break;
    case EVENT_POD_GONE:
        d->kept += e->pod_gone.done;
        break;
    default:
        break;
    }
}

/* Places that may be kept: of every waiting gang, or of as many of the largest as may have some;
 * and the rooms of gangs that will be there again. */
static void demand_kept(struct demand *d, const struct config *c, uint64_t largest)
{
    uint64_t reserves = c->reserves_max > d->reserves_max ? c->reserves_max : d->reserves_max;
    uint64_t waiting = c->waiting_pods + d->rows[TABLE_SEAT];

    if (waiting > reserves * largest)
        waiting = reserves * largest;
    d->kept += waiting + d->stops * largest;
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
    largest = c->gang_pods_max > d.pods_max ? c->gang_pods_max : d.pods_max;
    demand_kept(&d, c, largest);
    /* Tables whose rows the core adds: what lives now, and what the batch and the queue may add.
     * Tables that the edge numbers: the largest id. */
    d.rows[TABLE_JOB] += model_head(m, TABLE_JOB)->live;
    d.rows[TABLE_PODSET] += model_head(m, TABLE_PODSET)->live;
    d.rows[TABLE_MIG] += model_head(m, TABLE_MIG)->live;
    d.rows[TABLE_SEAT] += (uint64_t)model_head(m, TABLE_SEAT)->live + c->waiting_pods;
    d.rows[TABLE_HOLD] += (uint64_t)model_head(m, TABLE_HOLD)->live + d.kept;
    d.rows[TABLE_KIND] += model_head(m, TABLE_KIND)->live;
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        if (t != TABLE_CONFIG && t != TABLE_HEAD && t != TABLE_LEVEL && t != TABLE_BOARD &&
            t != TABLE_PRICE)
            short_of |= grow(&l.rows[t], d.rows[t]);
    hosts = l.rows[TABLE_HOST];
    /* A what-if touches every host, its board, and what is kept; apart from that, what one
     * decision or one event does. */
    if (c->reserves_max || d.reserves_max)
        short_of |= grow(&l.undo_rows, 3 * hosts + 8 * largest + 7 * d.rows[TABLE_HOLD] +
                                           d.rows[TABLE_TEAM] + 512);
    short_of |= grow(&l.undo_rows, 8 * largest + 256 + 2 * d.jump + d.rows[TABLE_DOMAIN] +
                                       d.rows[TABLE_TEAM] + d.rows[TABLE_SHAPE] +
                                       d.rows[TABLE_CLASS] + d.rows[TABLE_MIX]);
    short_of |= grow(&l.seats_out, 4 * largest); /* shrinks, a start, a promise, a growth */
    short_of |= grow(&l.depth, largest > ROOMS_MAX ? largest
                               : hosts < ROOMS_MAX ? hosts
                                                   : ROOMS_MAX);
    short_of |= grow(&l.cells, index_cells(m) + d.cells);
    limits_fix(&l);
    *ret_limits = l;
    return short_of;
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
    return queue_pass(s);
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

static void put_seats(struct wire_out *w, const struct sched *s, const struct decision *d)
{
    wire_put(w, d->seat_count);
    for (uint32_t n = 0; n < d->seat_count; n++) {
        const struct decision_seat *t = &s->seat[d->seat_first + n];

        wire_put(w, t->pod);
        wire_put(w, t->host);
        wire_put(w, t->devices);
        wire_put(w, t->slot);
    }
}

static void put_decision(struct wire_out *w, const struct sched *s, const struct decision *d)
{
    wire_put(w, d->kind);
    wire_put(w, d->key);
    switch (d->kind) {
    case DECISION_REFUSE:
        put_refusal(w, d);
        break;
    case DECISION_START:
        put_seats(w, s, d);
        wire_put_signed(w, d->plan.best.host == ROW_NONE ? 0 : d->plan.best.cost);
        break;
    case DECISION_PROMISE:
        put_seats(w, s, d);
        wire_put_signed(w, d->by_ns);
        break;
    case DECISION_GROW:
        put_seats(w, s, d);
        break;
    case DECISION_SHRINK:
        put_seats(w, s, d);
        wire_put(w, d->by);
        break;
    case DECISION_BREAK:
        break;
    }
}

void sched_put_decisions(const struct sched *s, struct wire_out *w)
{
    wire_put(w, s->decision_count);
    for (uint32_t n = 0; n < s->decision_count; n++)
        put_decision(w, s, &s->decision[n]);
}
