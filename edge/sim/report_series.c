/* Samples of one run. A gang run's length is not known in advance: when its buckets are full, pairs
 * are merged and the width doubles, so that 240 to 480 buckets cover any run. */
#include "edge/base/memory.h"
#include "edge/sim/report_map.h"
#include "edge/sim/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000LL

static const char *const arrival_size[SERIES_SIZES] = {
    "no GPU", "share of a GPU", "1 GPU", "2 GPUs", "4 GPUs", "8 GPUs", "other", ""};
static const char *const gang_size[SERIES_SIZES] = {"no GPU", "1 GPU",      "2-7 GPUs", "8 GPUs",
                                                    "9-15",   "16-63 GPUs", "64+ GPUs", ""};

struct series {
    const struct world *world;
    const struct metrics *metrics;
    struct metrics_now before;
    int64_t t_ns;
    bool any;
    /* gangs */
    struct map *map;
    struct promises *promises;
    struct found_seat *seat; /* by job */
    struct series_found found;
};

const char *series_size_name(bool arrivals, unsigned size)
{
    return arrivals ? arrival_size[size] : gang_size[size];
}

struct series *series_open(const struct world *w, uint32_t arrivals, const struct metrics *m)
{
    struct series *s = memory_zeroed(sizeof(*s));

    s->world = w;
    s->metrics = m;
    s->found.arrivals = arrivals != WORLD_NONE;
    s->found.width_ns = SECOND_NS;
    s->before = metrics_now(m);
    if (s->found.arrivals) {
        s->found.point[0] = (struct series_point){1, 0, s->before.frag_pct};
        return s;
    }
    s->map = map_open(w);
    s->promises = promises_open(w->job_count);
    s->seat = memory_zeroed(sizeof(*s->seat) * (w->job_count + 1));
    return s;
}

void series_close(struct series *s)
{
    if (s->map)
        map_close(s->map);
    if (s->promises)
        promises_close(s->promises);
    free(s->seat);
    free(s);
}

struct series_found *series_found(const struct series *s)
{
    struct series_found *f = memory_zeroed(sizeof(*f));

    *f = s->found;
    if (!s->map)
        return f;
    f->map = map_copy(s->map);
    promises_rest(s->promises, &f->promise);
    found_jobs(f, s->world, s->metrics, s->seat);
    return f;
}

void found_free(struct series_found *f)
{
    if (f->map)
        map_close(f->map);
    free(f);
}

static unsigned arrival_size_of(const struct world_podset *set)
{
    static const unsigned by_gpus[] = {0, 2, 3, 6, 4, 6, 6, 6, 5};

    if (set->gpus == 1 && set->milli < 1000)
        return 1;
    return set->gpus < sizeof(by_gpus) / sizeof(by_gpus[0]) ? by_gpus[set->gpus] : 6;
}

static unsigned gang_size_of(const struct world_job *job)
{
    static const unsigned least[] = {0, 1, 2, 8, 9, 16, 64}; /* GPUs of each size */
    unsigned size = sizeof(least) / sizeof(least[0]) - 1;
    uint64_t gpus = 0;

    for (uint32_t i = 0; i < job->podset_count; i++)
        gpus += (uint64_t)job->podset[i].gpus * job->podset[i].pods;
    while (gpus < least[size])
        size--;
    return size;
}

static unsigned size_of(const struct series *s, const struct world_job *job)
{
    return s->found.arrivals ? arrival_size_of(&job->podset[0]) : gang_size_of(job);
}

static void refusal(struct series *s, const struct record *r)
{
    const uint32_t limit = sizeof(s->found.reason) / sizeof(s->found.reason[0]);
    const char *code = r->reason.code ? r->reason.code : "unnamed";
    struct series_reason *reason = s->found.reason;
    uint32_t i = 0;

    while (i < s->found.reason_count &&
           strncmp(reason[i].code, code, sizeof(reason[i].code) - 1) != 0)
        i++;
    if (i == s->found.reason_count) {
        if (i == limit - 1)
            code = "others";
        i = i < limit ? i : limit - 1;
        s->found.reason_count = i + 1;
        for (size_t k = 0; k + 1 < sizeof(reason[i].code) && code[k]; k++)
            reason[i].code[k] = code[k];
    }
    reason[i].count[size_of(s, &s->world->job[r->job])]++;
}

/* Point i is the state after the last arrival with which at most i % were asked. */
static void arrival(struct series *s)
{
    struct metrics_now now = metrics_now(s->metrics);
    uint32_t to = (uint32_t)now.asked_pct;

    to += (double)to < now.asked_pct;
    if (to >= SERIES_LOAD_MAX)
        to = SERIES_LOAD_MAX - 1;
    for (uint32_t i = s->found.last + 1; i < to; i++)
        s->found.point[i] = (struct series_point){1, s->before.allocated_pct, s->before.frag_pct};
    s->found.point[to] = (struct series_point){1, now.allocated_pct, now.frag_pct};
    s->found.last = to;
    s->before = now;
}

static void merge(struct series_found *f)
{
    for (unsigned i = 0; i < SERIES_POINTS / 2; i++) {
        const struct series_point *a = &f->point[(size_t)2 * i], *b = a + 1;

        f->point[i] = (struct series_point){a->weight + b->weight, a->allocated + b->allocated,
                                            a->second + b->second};
    }
    for (unsigned i = SERIES_POINTS / 2; i < SERIES_POINTS; i++)
        f->point[i] = (struct series_point){0};
    f->width_ns *= 2;
}

static void spell(struct series *s, int64_t to_ns)
{
    struct series_found *f = &s->found;
    int64_t from = s->t_ns - f->start_ns, to = to_ns - f->start_ns;

    while (to > f->width_ns * SERIES_POINTS)
        merge(f);
    while (from < to) {
        int64_t bucket = from / f->width_ns, end = (bucket + 1) * f->width_ns;
        double ns = (double)((end < to ? end : to) - from);

        f->point[bucket].weight += ns;
        f->point[bucket].allocated += ns * s->before.allocated_pct;
        f->point[bucket].second += ns * s->before.waiting;
        from = end;
    }
}

static int by_number(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static uint32_t domains_of(const struct series *s, const struct record *r, uint8_t level)
{
    int64_t *domain = memory_zeroed(sizeof(*domain) * (r->pod_count + 1u));
    uint32_t count = 0;

    for (uint32_t i = 0; i < r->pod_count; i++) /* a host in none stands for itself */
        domain[i] = s->world->node[r->pods[i].node].domain[level] != WORLD_NONE
                        ? (int64_t)s->world->node[r->pods[i].node].domain[level]
                        : -1 - (int64_t)r->pods[i].node;
    qsort(domain, r->pod_count, sizeof(*domain), by_number);
    for (uint32_t i = 0; i < r->pod_count; i++)
        count += i == 0 || domain[i] != domain[i - 1];
    free(domain);
    return count;
}

/* Where a whole gang of several pods sat down. */
static void sit(struct series *s, const struct record *r)
{
    const struct world_job *job = &s->world->job[r->job];
    struct found_seat *seat = &s->seat[r->job];
    uint32_t pods = 0;

    for (uint32_t i = 0; i < job->podset_count; i++)
        pods += job->podset[i].pods;
    if (pods < 2 || r->pod_count != pods)
        return;
    seat->pods = pods;
    for (unsigned c = 0; c < FOUND_CHAINS; c++) {
        int level = found_level(s->world, c);

        seat->spans[c] = level < 0 ? 0 : domains_of(s, r, (uint8_t)level);
    }
}

static void take(void *context, const struct record *r)
{
    struct series *s = context;
    struct metrics_now now = metrics_now(s->metrics);

    if (r->kind == RECORD_REFUSE)
        refusal(s, r);
    if (s->found.arrivals) {
        if (r->kind == RECORD_START || r->kind == RECORD_REFUSE)
            arrival(s);
        return;
    }
    if (!s->any)
        s->found.start_ns = r->t_ns;
    else if (r->t_ns > s->t_ns)
        spell(s, r->t_ns);
    s->any = true;
    s->t_ns = s->found.end_ns = r->t_ns;
    map_take(s->map, r);
    promises_take(s->promises, r, &s->before, &now, &s->found.promise);
    if (r->kind == RECORD_START || r->kind == RECORD_MOVE)
        sit(s, r);
    s->before = now;
}

struct sink series_sink(struct series *s)
{
    return (struct sink){.take = take, .context = s};
}
