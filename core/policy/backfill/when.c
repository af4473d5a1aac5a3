#include "core/policy/backfill/when.h"

#include "core/base/bits.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"

/* From then on the host holds so many pods more. */
struct gain {
    int64_t at_ns;
    uint32_t pods, pad;
};

static struct gain *gains_of(struct model *m)
{
    return (struct gain *)(void *)((char *)m + m->ends_at);
}

static uint32_t gains_limit(const struct model *m)
{
    return m->limits.rows[TABLE_JOB] + RESERVES_MAX;
}

static const struct podset *set_of(const struct when *w)
{
    return podset_row(w->m, job_row(w->m, w->job)->podset_head);
}

static bool is_limited(const struct model *m, uint32_t team)
{
    while (team != ROW_NONE && team_row(m, team)->limit_milli >= UNLIMITED)
        team = team_row(m, team)->parent;
    return team != ROW_NONE;
}

bool when_applies(struct when *w, uint64_t wished)
{
    const struct config *c = config_row(w->m);
    const struct job *j = job_row(w->m, w->job);
    const struct podset *p = set_of(w);
    uint64_t scopes = (j->required | p->required | wished) & ~SCOPE_BIT(SCOPE_OF_CLUSTER);

    if (j->podsets != 1 || j->done_pods || p->gpus == 0 || podset_is_share(p) || p->slice_pods ||
        bits_count64(scopes) != 1 || !(scopes & SCOPE_LEVELS) || c->leaving_hosts ||
        c->unknown_seats || c->exclusive_jobs || j->exclusive || is_limited(w->m, j->team))
        return false;
    w->level = bits_low(scopes) - SCOPE_OF_LEVEL;
    return true;
}

/* ---- one host ---- */

/* A host as its runs end. */
struct fading {
    int64_t cpu_milli, mem_mib, pods, extra[EXTRAS_MAX];
    uint16_t whole;
    uint8_t sharers[GPUS_MAX];
};

static struct fading fading_of(const struct model *m, uint32_t host)
{
    const struct host *h = host_row(m, host);
    struct fading f = {.cpu_milli = h->cpu_free_milli,
                       .mem_mib = h->mem_free_mib,
                       .pods = h->pods_free,
                       .whole = h->whole};

    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        f.extra[e] = h->extra_free[e];
    for (unsigned d = 0; d < GPUS_MAX; d++)
        f.sharers[d] = board_row(m, host)->sharers[d];
    return f;
}

static void fade(const struct model *m, struct fading *f, const struct host *h,
                 const struct seat *s)
{
    const struct podset *p = podset_row(m, s->podset);

    f->cpu_milli += p->cpu_milli;
    f->mem_mib += p->mem_mib;
    f->pods++;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        f->extra[e] += p->extra[e];
    for (uint16_t set = s->devices; set; set = (uint16_t)bits_drop_low(set)) {
        unsigned d = bits_low(set);

        if (--f->sharers[d] == 0)
            f->whole |= h->healthy & (uint16_t)(1u << d);
    }
}

static uint32_t pods_on(const struct fading *f, const struct podset *p)
{
    uint32_t pods = bits_count16(f->whole) / p->gpus;

    pods = view_times(f->cpu_milli, p->cpu_milli, pods);
    pods = view_times(f->mem_mib, p->mem_mib, pods);
    pods = view_times(f->pods, 1, pods);
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        pods = view_times(f->extra[e], p->extra[e], pods);
    return pods;
}

/* The end of the seat's run that comes next after `last`, or INT64_MAX. */
static int64_t next_end(const struct when *w, const struct host *h, int64_t last)
{
    int64_t next = INT64_MAX;

    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(w->m, s)->next_of_host) {
        const struct job *j = job_row(w->m, seat_row(w->m, s)->job);
        int64_t end = j->state == JOB_RUNNING ? w->end(w->m, j, w->guess) : INT64_MAX;

        if (end > last && end < next)
            next = end;
    }
    return next;
}

/* Appends what the host gains up to until_ns; *ret_now: pods that it holds already. False: no
 * memory is left. */
static bool host_gains(const struct when *w, uint32_t host, int64_t until_ns, uint32_t *ret_now,
                       uint32_t *count)
{
    const struct host *h = host_row(w->m, host);
    const struct podset *p = set_of(w);
    struct fading f = fading_of(w->m, host);
    uint32_t pods = pods_on(&f, p);

    *ret_now = pods;
    for (int64_t end = next_end(w, h, INT64_MIN); end <= until_ns && end != INT64_MAX;
         end = next_end(w, h, end)) {
        uint32_t now;

        for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(w->m, s)->next_of_host) {
            const struct job *j = job_row(w->m, seat_row(w->m, s)->job);

            if (j->state == JOB_RUNNING && w->end(w->m, j, w->guess) == end)
                fade(w->m, &f, h, seat_row(w->m, s));
        }
        now = pods_on(&f, p);
        if (now == pods)
            continue;
        if (*count == gains_limit(w->m))
            return false;
        gains_of(w->m)[(*count)++] = (struct gain){end, now - pods, 0};
        pods = now;
    }
    return true;
}

/* ---- one domain ---- */

/* Moves a gain down the heap, the latest at its head. */
static void sift(struct gain *g, uint32_t at, uint32_t count)
{
    for (;;) {
        uint32_t most = at;
        struct gain swap;

        for (uint32_t c = 2 * at + 1; c < 2 * at + 3 && c < count; c++)
            if (g[c].at_ns > g[most].at_ns)
                most = c;
        if (most == at)
            return;
        swap = g[at];
        g[at] = g[most];
        g[most] = swap;
        at = most;
    }
}

static void by_time(struct gain *g, uint32_t count)
{
    for (uint32_t n = count / 2; n-- > 0;)
        sift(g, n, count);
    for (uint32_t n = count; n > 1;) {
        struct gain swap = g[--n];

        g[n] = g[0];
        g[0] = swap;
        sift(g, 0, n);
    }
}

/* When the domain holds the gang's minimum, up to until_ns: INT64_MAX: not by then; INT64_MIN: at
 * once, or it cannot be told. */
static int64_t domain_date(const struct when *w, uint32_t domain, int64_t until_ns)
{
    struct view v = view_of(w->m, w->job);
    const struct podset *p = set_of(w);
    uint32_t hosts, count = 0, least = podset_least(&v, p);
    const uint32_t *host = index_members(w->m, domain, &hosts);
    uint64_t pods = 0;
    struct gain *g = gains_of(w->m);

    for (uint32_t n = 0; n < hosts; n++) {
        uint32_t now = 0;

        if (!view_open(&v, host[n], p))
            continue;
        if (!host_gains(w, host[n], until_ns, &now, &count))
            return INT64_MIN;
        pods += now;
    }
    if (pods >= least)
        return INT64_MIN;
    by_time(g, count);
    for (uint32_t n = 0; n < count; n++) {
        pods += g[n].pods;
        if (pods >= least)
            return g[n].at_ns;
    }
    return INT64_MAX;
}

static bool is_of_level(const struct when *w, uint32_t domain)
{
    return domain_row(w->m, domain)->used && domain_row(w->m, domain)->level == w->level;
}

int64_t when_earliest(struct when *w, int64_t before_ns)
{
    int64_t best = INT64_MAX;

    for (uint32_t d = 0; d < model_count(w->m, TABLE_DOMAIN); d++) {
        int64_t until = best < before_ns ? best : before_ns - 1, date;

        if (!is_of_level(w, d))
            continue;
        date = domain_date(w, d, until);
        if (date == INT64_MIN)
            return date;
        if (date < best)
            w->ready_count = 0;
        if (date == INT64_MAX)
            continue;
        best = date;
        if (w->ready_count < WHEN_READY_MAX)
            w->ready[w->ready_count] = d;
        w->ready_count++;
    }
    return best;
}

/* Takes off what has ended by then in one domain. */
static void vacate(const struct when *w, uint32_t domain, int64_t at_ns)
{
    uint32_t hosts;
    const uint32_t *host = index_members(w->m, domain, &hosts);

    for (uint32_t n = 0; n < hosts; n++)
        for (uint32_t s = host_row(w->m, host[n])->seat_head; s != ROW_NONE;
             s = seat_row(w->m, s)->next_of_host) {
            const struct job *j = job_row(w->m, seat_row(w->m, s)->job);

            if (j->state == JOB_RUNNING && w->end(w->m, j, w->guess) <= at_ns)
                host_vacate(w->m, s);
        }
}

void when_vacate(const struct when *w, int64_t at_ns)
{
    for (uint32_t n = 0; n < w->ready_count && w->ready_count <= WHEN_READY_MAX; n++)
        vacate(w, w->ready[n], at_ns);
    if (w->ready_count <= WHEN_READY_MAX)
        return;
    for (uint32_t d = 0; d < model_count(w->m, TABLE_DOMAIN); d++)
        if (is_of_level(w, d) && domain_date(w, d, at_ns) != INT64_MAX)
            vacate(w, d, at_ns);
}
