#include "tests/oracle/history.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/place/score.h"
#include "tests/oracle/oracle.h"

#define SECOND   ((int64_t)1000000000)
#define SHAPES   6u
#define LEAVES   3u /* domains 0..2 of level 0 */
#define SPINES   2u /* 3..4 of level 1 */
#define PODS_    3u /* 5..7 of level 2, which crosses */
#define PROFILES 3u

const struct style style_small = {.hosts_least = 3,
                                  .hosts_most = 3,
                                  .jobs = 6,
                                  .batches = 12,
                                  .pods_most = 4,
                                  .podsets_most = 3,
                                  .units_most = 2};

const struct style style_gale = {.hosts_least = 1,
                                 .hosts_most = 3,
                                 .jobs = 20,
                                 .batches = 30,
                                 .pods_most = 4,
                                 .podsets_most = 3,
                                 .units_most = 3,
                                 .wild = true,
                                 .all_scorers = true};

const struct style style_storm = {.hosts_least = 1,
                                  .hosts_most = 12,
                                  .jobs = 60,
                                  .batches = 60,
                                  .pods_most = 9,
                                  .podsets_most = 3,
                                  .units_most = 5,
                                  .large_hosts = true,
                                  .wild = true,
                                  .all_scorers = true};

struct maker {
    struct prng rng;
    struct history *h;
    const struct style *s;
    int64_t now_ns;
    unsigned hosts, teams, models, jobs;
    unsigned blind;    /* percent of jobs without an estimate */
    uint32_t unseated; /* a job of which a list has not told all; ROW_NONE: none */
    unsigned tight;    /* bits: CPU, memory, pods, extra are scarce */
    unsigned themes;   /* bits: what this world has at all */
    unsigned gpus[O_HOSTS], shape_gpus[SHAPES];
    struct event_host host[O_HOSTS];
    bool open_batch;
};

enum { TIGHT_CPU = 1, TIGHT_MEM = 2, TIGHT_PODS = 4, TIGHT_EXTRA = 8 };
enum {
    WITH_SHARES = 1,
    WITH_MIG = 2,
    WITH_TOPOLOGY = 4,
    WITH_MODELS = 8,
    WITH_FAULTS = 16,
    WITH_WILD = 32
};

static uint64_t pick(struct maker *k, uint64_t count)
{
    return prng_below(&k->rng, count);
}

static bool chance(struct maker *k, unsigned percent)
{
    return pick(k, 100) < percent;
}

static struct event *add_event(struct maker *k, enum event_kind kind)
{
    struct history *h = k->h;

    if (h->events == h->events_limit) {
        h->events_limit = h->events_limit * 2 + 64;
        h->event = realloc(h->event, h->events_limit * sizeof(*h->event));
        must(h->event != NULL);
    }
    memset(&h->event[h->events], 0, sizeof(*h->event));
    h->event[h->events].kind = kind;
    h->event[h->events].at_ns = k->now_ns;
    return &h->event[h->events++];
}

/* A new unit with its first event. */
static struct event *add_unit(struct maker *k, enum event_kind kind, bool fixed)
{
    struct history *h = k->h;

    if (h->units == h->units_limit) {
        h->units_limit = h->units_limit * 2 + 64;
        h->unit = realloc(h->unit, h->units_limit * sizeof(*h->unit));
        must(h->unit != NULL);
    }
    h->unit[h->units++] =
        (struct unit){.first = h->events, .count = 1, .batch = h->batches, .fixed = fixed};
    return add_event(k, kind);
}

/* ---- the world ---- */

static void make_config(struct maker *k)
{
    struct event_config *c = &add_unit(k, EVENT_CONFIG, true)->config;

    c->order = (uint8_t)pick(k, ORDER_COUNT);
    c->scorer = (uint8_t)(k->s->all_scorers || chance(k, 30) ? pick(k, SCORER_COUNT) : 0);
    c->drop_never = chance(k, 20);
    c->scan_all = chance(k, 50);
    c->budget_steps = 200000;
    c->seed = pick(k, 1000);
    if (c->order >= ORDER_EASY)
        c->reserves_max = chance(k, 70) ? RESERVES_MAX : 1 + (uint32_t)pick(k, 3);
    c->patience_ns = chance(k, 60) ? 0 : (int64_t)pick(k, 90) * SECOND;
    c->inherit_ns = chance(k, 50) ? 0 : (int64_t)pick(k, 120) * SECOND;
    c->breach_ns = (int64_t)pick(k, 60) * SECOND;
}

/* Parts of a shape: one, halves, pairs, singles, one device outside, or none known. */
static void make_part(struct maker *k, uint8_t *part, unsigned gpus)
{
    unsigned style = (unsigned)pick(k, 6);

    for (unsigned d = 0; d < gpus; d++)
        part[d] = style == 0   ? 0
                  : style == 1 ? (uint8_t)(2 * d / gpus)
                  : style == 2 ? (uint8_t)(d / 2)
                  : style == 3 ? (uint8_t)d
                  : style == 4 ? (d == 0 ? SHAPE_NO_PART : 3)
                               : SHAPE_NO_PART;
}

static void make_shape(struct maker *k, unsigned n)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 8, 8, 10, 16};
    struct event_shape *s = &add_unit(k, EVENT_SHAPE, true)->shape;
    unsigned gpus = k->s->large_hosts ? sizes[pick(k, 8)] : 4;

    k->shape_gpus[n] = gpus;
    s->shape = n;
    s->gpus = (uint8_t)gpus;
    memset(s->part, SHAPE_NO_PART, sizeof(s->part));
    for (unsigned p = 0; p < SHAPE_PART_COUNT; p++)
        make_part(k, s->part + (size_t)p * GPUS_MAX, gpus);
    s->links_known = chance(k, 50);
    for (unsigned a = 0; a < gpus && s->links_known; a++)
        for (unsigned b = 0; b < a; b++)
            s->link[a * GPUS_MAX + b] = s->link[b * GPUS_MAX + a] =
                s->part[a] == s->part[b] && s->part[a] != SHAPE_NO_PART ? 4 : 0;
}

static void make_domains(struct maker *k)
{
    for (unsigned l = 0; l < 3; l++) {
        struct event_level *e = &add_unit(k, EVENT_LEVEL, true)->level;

        *e = (struct event_level){(uint8_t)l, l == 2, l == 1};
    }
    for (unsigned d = LEAVES + SPINES + PODS_; d-- > 0;) {
        struct event_domain *e = &add_unit(k, EVENT_DOMAIN, true)->domain;

        e->domain = d;
        e->level = d < LEAVES ? 0 : d < LEAVES + SPINES ? 1 : 2;
        e->parent = d < LEAVES ? LEAVES + d % SPINES : ROW_NONE;
    }
}

/* Profiles of 1, 2 and 3 slots; not every model has every one. */
static void make_migs(struct maker *k)
{
    for (uint8_t model = 0; model < k->models; model++)
        for (uint32_t p = 0; p < PROFILES; p++) {
            struct event_mig *e;

            if (chance(k, 20))
                continue;
            e = &add_unit(k, EVENT_MIG, true)->mig;
            *e = (struct event_mig){.profile = p,
                                    .model = model,
                                    .starts = p == 0   ? 0xF
                                              : p == 1 ? 0x5
                                                       : 0x2,
                                    .slots = (uint8_t)(p + 1),
                                    .device_slots = 4};
        }
}

/* Class c allows the models of the bits of c % 8 (all if none); classes from 8 on exclude node
 * class 1. */
static void make_classes(struct maker *k)
{
    for (uint32_t c = 0; c < 16; c++) {
        struct event_class *e = &add_unit(k, EVENT_CLASS, true)->class;

        e->class_id = c;
        e->models = c % 8 ? c % 8 : UINT64_MAX;
        memset(e->nodes, 0xFF, sizeof(e->nodes));
        if (c >= 8)
            e->nodes[0] &= ~(uint64_t)2;
    }
}

static void make_teams(struct maker *k)
{
    k->teams = chance(k, 30) ? 1 + (unsigned)pick(k, 3) : 0;
    for (uint32_t t = 0; t < k->teams; t++) {
        struct event_team *e = &add_unit(k, EVENT_TEAM, true)->team;

        *e = (struct event_team){t, t ? (uint32_t)pick(k, t) : ROW_NONE, 1000000,
                                 (int64_t)pick(k, 8 * k->hosts) * 500};
    }
}

static void host_domains(struct maker *k, uint32_t *domain)
{
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        domain[l] = ROW_NONE;
    if (chance(k, 85)) {
        domain[0] = (uint32_t)pick(k, LEAVES);
        domain[1] = LEAVES + domain[0] % SPINES;
    } else if (chance(k, 50)) {
        domain[1] = LEAVES + (uint32_t)pick(k, SPINES);
    }
    if (chance(k, 80))
        domain[2] = LEAVES + SPINES + (uint32_t)pick(k, PODS_);
}

static void host_counts(struct maker *k, struct event_host *e)
{
    int64_t size = e->gpus ? e->gpus : 2;

    e->cpu_milli = k->tight & TIGHT_CPU ? (int64_t)(1 + pick(k, (uint64_t)size)) * 3000
                   : chance(k, 30)      ? UNLIMITED
                                        : size * 16000;
    e->mem_mib = k->tight & TIGHT_MEM ? (int64_t)(1 + pick(k, (uint64_t)size)) * 750
                 : chance(k, 30)      ? UNLIMITED
                                      : size * 4000;
    e->pods = k->tight & TIGHT_PODS ? (int64_t)(1 + pick(k, 2)) : chance(k, 30) ? UNLIMITED : 32;
    e->extra[0] = k->tight & TIGHT_EXTRA ? (int64_t)pick(k, 3) : UNLIMITED;
    e->extra[1] = UNLIMITED;
}

static void make_host(struct maker *k, uint32_t n, bool fixed)
{
    struct event_host *e = &add_unit(k, EVENT_HOST, fixed)->host;
    unsigned shape = (unsigned)pick(k, SHAPES);

    e->host = n;
    e->gpus = (uint8_t)k->shape_gpus[shape];
    e->shape = chance(k, 80) ? shape : ROW_NONE;
    if (chance(k, 10)) {
        e->gpus = (uint8_t)pick(k, e->gpus + 1u);
        e->shape = ROW_NONE;
    }
    e->model = (uint8_t)pick(k, k->models);
    e->class_id = chance(k, 20);
    e->gpu_mem_mib = chance(k, 20) ? 0 : chance(k, 50) ? 16 : 81920;
    host_domains(k, e->domain);
    host_counts(k, e);
    k->gpus[n] = e->gpus;
    k->host[n] = *e;
}

/* ---- jobs ---- */

static void ask_device(struct maker *k, struct event_podset *p)
{
    unsigned what = (unsigned)pick(k, 10);
    unsigned most = k->s->large_hosts ? 16 : 4;

    p->milli = MILLI_FULL;
    p->profile = ROW_NONE;
    p->gpus = (uint8_t)(1 + pick(k, chance(k, 50) ? 2 : most));
    if (what == 0) {
        p->gpus = 0;
    } else if (what < 6 && (k->themes & WITH_SHARES)) {
        p->gpus = chance(k, 20) ? (uint8_t)(1 + pick(k, most)) : 1; /* a share of each */
        if (chance(k, 60))
            p->milli = (uint16_t)(chance(k, 50) ? 100 * (1 + pick(k, 9)) : 1 + pick(k, 999));
        else
            p->share_mib = (uint32_t)(chance(k, 50) ? 1 + pick(k, 16) : 8192 * (1 + pick(k, 10)));
    } else if (what < 9 && (k->themes & WITH_MIG)) {
        p->gpus = 1;
        p->profile = (uint32_t)pick(k, PROFILES);
    }
}

static uint64_t some_scope(struct maker *k, const struct event_podset *p)
{
    unsigned scope = (unsigned)pick(k, 8);

    if (scope < SHAPE_PART_COUNT && p->gpus == 0)
        scope = SCOPE_OF_HOST;
    if (scope > SCOPE_OF_LEVEL + 2)
        scope = chance(k, 50) ? SCOPE_OF_CLUSTER : SCOPE_OF_LEVEL;
    return scope;
}

static void ask_topology(struct maker *k, struct event_podset *p, uint64_t *required)
{
    if (!(k->themes & WITH_TOPOLOGY) || chance(k, 30))
        return;
    if (chance(k, 40))
        p->required |= (uint64_t)1 << some_scope(k, p);
    if (chance(k, 40))
        *required |= (uint64_t)1 << some_scope(k, p);
    if (chance(k, 15))
        p->required |= (uint64_t)1 << some_scope(k, p);
    if (p->pods > 1 && chance(k, 30)) {
        p->slice_pods = (uint32_t)(1 + pick(k, p->pods < 4 ? p->pods : 4));
        p->slice_scope = (uint8_t)some_scope(k, p);
    }
}

static void make_podset(struct maker *k, unsigned pods_most, uint64_t *required)
{
    struct event_podset p = {.pods = 1};

    if (chance(k, 55))
        p.pods = (uint32_t)(1 + pick(k, pods_most));
    p.pods_min = chance(k, 25) ? (uint32_t)(1 + pick(k, p.pods)) : p.pods;
    ask_device(k, &p);
    p.cpu_milli = chance(k, 20) ? 0 : (int64_t)(1 + pick(k, 4)) * 2000;
    p.mem_mib = chance(k, 20) ? 0 : (int64_t)(1 + pick(k, 4)) * 500;
    p.extra[0] = k->tight & TIGHT_EXTRA ? (int64_t)pick(k, 2) : 0;
    p.class_id = (k->themes & WITH_MODELS) && chance(k, 60) ? (uint32_t)pick(k, 8) : 0;
    p.class_id += chance(k, 10) ? 8 : 0;
    ask_topology(k, &p, required);
    add_event(k, EVENT_PODSET)->podset = p;
}

static void make_job(struct maker *k, uint32_t key)
{
    uint32_t unit = k->h->units;
    struct event_job *j = &add_unit(k, EVENT_JOB, false)->job;
    uint32_t at = k->h->unit[unit].first;
    unsigned podsets = chance(k, 75) ? 1 : 1 + (unsigned)pick(k, k->s->podsets_most);
    unsigned rest = k->s->pods_most;
    uint64_t required = 0;

    j->submit_ns = k->now_ns;
    j->est_ns = (int64_t)(1 + pick(k, chance(k, 50) ? 100 : 400)) * SECOND;
    if (!k->h->honest && chance(k, k->blind))
        j->est_ns = -1;
    j->patience_ns = chance(k, 70) ? -1 : (int64_t)pick(k, 100) * SECOND;
    j->restart_ns = chance(k, 70) ? 0 : (int64_t)pick(k, 20) * SECOND;
    j->key = key;
    j->team = k->teams && chance(k, 60) ? (uint32_t)pick(k, k->teams) : ROW_NONE;
    j->priority = (int32_t)pick(k, 5) - 2;
    j->flags = chance(k, 70) ? JOB_SHARES_CARD : 0;
    j->preferred_count = (uint8_t)(chance(k, 20) ? 1 + pick(k, 2) : 0);
    for (unsigned n = 0; n < j->preferred_count; n++)
        j->preferred[n] = (uint8_t)(SCOPE_OF_HOST + pick(k, 4));
    j->podset_count = (uint8_t)podsets;
    for (unsigned n = 0; n < podsets; n++) {
        unsigned share = rest / (podsets - n);

        make_podset(k, share ? share : 1, &required);
        rest -= share;
    }
    k->h->event[at].job.required = required;
    for (unsigned n = 1; n <= podsets; n++) /* the oracle counts teams in whole milli only */
        if (k->h->event[at + n].podset.share_mib || k->h->event[at + n].podset.profile != ROW_NONE)
            k->h->event[at].job.team = ROW_NONE;
    k->h->unit[unit].count = 1 + podsets;
}

/* ---- faults ---- */

static void make_fault(struct maker *k)
{
    uint32_t host = (uint32_t)pick(k, k->hosts);
    unsigned what = (unsigned)pick(k, 6);

    if (what < 3 && k->gpus[host]) {
        struct event_device *e = &add_unit(k, EVENT_DEVICE, false)->device;

        *e = (struct event_device){host, (uint8_t)pick(k, k->gpus[host]),
                                   chance(k, 60) ? DEVICE_DOWN : DEVICE_UP};
    } else if (what < 5) {
        struct event_host_state *e = &add_unit(k, EVENT_HOST_STATE, false)->host_state;

        *e = (struct event_host_state){host, (uint8_t)(1 + pick(k, 3))};
    } else {
        struct event_host_leave *e = &add_unit(k, EVENT_HOST_LEAVE, false)->host_leave;

        *e = (struct event_host_leave){
            host, chance(k, 30) ? INT64_MAX : k->now_ns + (int64_t)pick(k, 120) * SECOND};
    }
}

/* What a live cluster does beside: other numbers for a job, a team, a host that is there. */
static void make_change(struct maker *k)
{
    uint32_t host = (uint32_t)pick(k, k->hosts);
    unsigned what = (unsigned)pick(k, 4);

    if (what == 0 && k->jobs) {
        struct event_job_set *e = &add_unit(k, EVENT_JOB_SET, false)->job_set;

        *e = (struct event_job_set){(uint32_t)pick(k, k->jobs), (int32_t)pick(k, 5) - 2,
                                    chance(k, 50) ? -1 : (int64_t)pick(k, 100) * SECOND};
    } else if (what == 1) {
        struct event_host *e = &add_unit(k, EVENT_HOST, false)->host;

        *e = k->host[host];
        host_domains(k, e->domain);
        host_counts(k, e);
        k->host[host] = *e;
    } else if (what == 2 && k->teams) {
        uint32_t team = (uint32_t)pick(k, k->teams);
        struct event_team *e = &add_unit(k, EVENT_TEAM, false)->team;

        *e = (struct event_team){team, team ? (uint32_t)pick(k, team) : ROW_NONE, 1000000,
                                 (int64_t)pick(k, 8 * k->hosts) * 500};
    } else if (k->jobs) {
        struct event_stop *e = &add_unit(k, EVENT_STOP, false)->stop;

        *e = (struct event_stop){(uint32_t)pick(k, k->jobs), chance(k, 50)};
    }
}

/* A pod of a run is no more. */
static void make_pod_gone(struct maker *k)
{
    struct event_pod_gone *e = &add_unit(k, EVENT_POD_GONE, false)->pod_gone;

    *e = (struct event_pod_gone){(uint32_t)pick(k, k->jobs), (uint32_t)pick(k, 4),
                                 (uint8_t)pick(k, FATE_COUNT)};
}

/* A pod that somebody else seated, as after a restart; where is a guess, so many are ignored. */
static void make_seated(struct maker *k)
{
    uint32_t unit = k->h->units, key = k->jobs++;
    uint32_t at, host = (uint32_t)pick(k, k->hosts);
    struct event_podset p;

    make_job(k, key);
    at = k->h->unit[unit].first;
    p = k->h->event[at + 1].podset;
    for (uint32_t pod = 0; pod < p.pods; pod++) {
        uint16_t devices = 0;

        for (unsigned n = 0; n < p.gpus && k->gpus[host] >= p.gpus && chance(k, 75);) {
            uint16_t bit = (uint16_t)(1u << pick(k, k->gpus[host]));

            n += !(devices & bit);
            devices |= bit;
        }
        add_event(k, EVENT_SEAT)->seat =
            (struct event_seat){key, 0, pod, host, devices, (uint8_t)pick(k, 4)};
        k->h->unit[unit].count++;
    }
    if (chance(k, 80)) {
        add_event(k, EVENT_SEATED)->seated.key = key;
        k->h->unit[unit].count++;
    } else {
        k->unseated = key;
    }
}

/* What only a live cluster, or an edge that errs, says. */
static void make_wild(struct maker *k)
{
    uint32_t host = (uint32_t)pick(k, k->hosts + 2);
    unsigned what = (unsigned)pick(k, 5);

    if (k->unseated != ROW_NONE && chance(k, 60)) {
        add_unit(k, EVENT_STOP, false)->stop.key = k->unseated;
        k->unseated = ROW_NONE;
    } else if (what == 0 && k->jobs < k->s->jobs)
        make_seated(k);
    else if (what == 1 && k->jobs)
        add_unit(k, EVENT_CONFIRM, false)->confirm = (struct event_confirm){
            (uint32_t)pick(k, k->jobs), (uint32_t)pick(k, 3), (uint16_t)(1u << pick(k, 8))};
    else if (what == 2)
        add_unit(k, EVENT_HOST_GONE, false)->host_gone.host = host;
    else if (what == 3)
        add_unit(k, EVENT_DEVICE, false)->device =
            (struct event_device){host, (uint8_t)pick(k, 20), (uint8_t)pick(k, 2)};
    else
        add_unit(k, EVENT_SEATED, false)->seated.key = (uint32_t)pick(k, k->jobs + 1);
}

static void make_step(struct maker *k)
{
    unsigned what = (unsigned)pick(k, 100);

    if (k->h->honest && k->jobs < k->s->jobs)
        make_job(k, k->jobs++);
    else if (k->h->honest)
        add_unit(k, EVENT_TICK, false);
    else if (k->s->wild && (k->themes & WITH_WILD) && chance(k, 15))
        make_wild(k);
    else if (k->jobs && (k->themes & WITH_FAULTS) && chance(k, 8))
        make_pod_gone(k);
    else if (what < 55 && k->jobs < k->s->jobs)
        make_job(k, k->jobs++);
    else if (what < 75 && k->jobs)
        add_unit(k, EVENT_END, false)->end.key = (uint32_t)pick(k, k->jobs);
    else if (what < 90 && (k->themes & WITH_FAULTS))
        make_fault(k);
    else
        make_change(k);
}

void history_make(struct history *h, uint64_t seed, const struct style *s)
{
    struct maker k = {.h = h, .s = s, .unseated = ROW_NONE};

    *h = (struct history){.seed = seed};
    prng_init(&k.rng, seed);
    k.hosts = s->hosts_least + (unsigned)pick(&k, s->hosts_most - s->hosts_least + 1);
    k.models = 1 + (unsigned)pick(&k, 3);
    h->honest = chance(&k, 40);
    k.blind = (unsigned)pick(&k, 3) * 30;
    k.tight = (unsigned)(pick(&k, 16) & pick(&k, 16));
    k.themes = (unsigned)(pick(&k, 64) | pick(&k, 32));
    make_config(&k);
    make_domains(&k);
    for (unsigned n = 0; n < SHAPES; n++)
        make_shape(&k, n);
    make_migs(&k);
    make_classes(&k);
    make_teams(&k);
    for (uint32_t n = 0; n < k.hosts; n++)
        make_host(&k, n, true);
    h->batches++;
    for (unsigned b = 0; b < s->batches; b++) {
        k.now_ns += (int64_t)pick(&k, 60) * SECOND;
        for (unsigned n = 1 + (unsigned)pick(&k, s->units_most); n > 0; n--)
            make_step(&k);
        h->batches++;
    }
}

/* Drawn by the key, so that it stays when other units are dropped. */
static uint64_t fate(const struct history *h, uint32_t key)
{
    return hash_mix(hash_mix(h->seed) + key);
}

unsigned history_lasts_permille(const struct history *h, uint32_t key)
{
    return (unsigned)(fate(h, key) % 8 == 0 ? 1000 : 200 + fate(h, key) % (h->honest ? 801 : 2000));
}

unsigned history_lasts_s(const struct history *h, uint32_t key)
{
    return (unsigned)(1 + fate(h, key) % 300);
}

void history_free(struct history *h)
{
    free(h->event);
    free(h->unit);
    *h = (struct history){.event = NULL};
}

void history_cut(struct history *to, const struct history *from, const uint8_t *keep)
{
    *to = *from;
    to->event = malloc((from->events + 1) * sizeof(*to->event));
    to->unit = malloc((from->units + 1) * sizeof(*to->unit));
    must(to->event && to->unit);
    to->events = to->units = 0;
    for (uint32_t u = 0; u < from->units; u++) {
        if (!keep[u])
            continue;
        to->unit[to->units] = from->unit[u];
        to->unit[to->units++].first = to->events;
        for (uint32_t n = 0; n < from->unit[u].count; n++)
            to->event[to->events++] = from->event[from->unit[u].first + n];
    }
}
