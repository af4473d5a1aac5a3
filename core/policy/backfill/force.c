#include "core/policy/backfill/force.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/job.h"

__extension__ typedef __int128 wide;

/* By host: what rooms in force count on already. */
static struct gives *counted_of(struct model *m)
{
    must(m->limits.rows[TABLE_HOST] * sizeof(struct gives) <= m->scratch_bytes);
    return (struct gives *)(void *)((char *)m + m->scratch_at);
}

int64_t force_seat_end(const struct model *m, const struct seat *s)
{
    const struct job *j = job_row(m, s->job);

    return j->state == JOB_RUNNING && j->end_ns > config_row(m)->now_ns ? j->end_ns : INT64_MAX;
}

struct gives force_gives(const struct model *m, uint32_t host, int64_t from_ns, int64_t until_ns)
{
    struct gives g = {.pods = 0};

    for (uint32_t s = host_row(m, host)->seat_head; s != ROW_NONE;
         s = seat_row(m, s)->next_of_host) {
        const struct podset *p = podset_row(m, seat_row(m, s)->podset);
        int64_t end = force_seat_end(m, seat_row(m, s));

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

int64_t force_longest_ns(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    struct view v = view_of(m, job);
    int64_t most = j->gang_milli, least = 0;
    wide est = j->est_ns;

    for (uint32_t p = j->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        least += podset_least(&v, podset_row(m, p)) *
                 (most ? podset_charge_milli(m, podset_row(m, p)) : 1);
    most = most ? most : j->pods;
    if (least > 0 && least < most)
        est = (est * most + least - 1) / least;
    est += j->ran ? j->restart_ns : 0;
    return est > UNLIMITED ? UNLIMITED : (int64_t)est;
}

int64_t force_until_ns(const struct model *m, uint32_t job, int64_t from_ns)
{
    const struct job *j = job_row(m, job);

    if (j->state == JOB_RUNNING)
        return j->end_ns > config_row(m)->now_ns ? j->end_ns : INT64_MAX;
    return j->est_ns < 0 ? INT64_MAX : from_ns + force_longest_ns(m, job);
}

/* A job of a higher priority may take the room, but not what was promised before it came. */
static bool outranks(const struct model *m, const struct job *j, const struct job *k)
{
    return config_row(m)->order != ORDER_FIFO && j->priority > k->priority &&
           (k->by_ns == INT64_MAX || j->submit_order >= k->promised_order);
}

bool force_binds(const struct model *m, uint32_t job, uint32_t other, int64_t from_ns,
                 int64_t until_ns)
{
    const struct job *k = job_row(m, other);

    if (job == other || outranks(m, job_row(m, job), k))
        return false;
    if (k->keep == KEEP_INHERITED)
        return k->reserve_ns > from_ns;
    if (k->reserve_ns < from_ns && k->est_ns >= 0 && k->reserve_ns > config_row(m)->now_ns &&
        k->reserve_ns + force_longest_ns(m, other) <= from_ns)
        return false; /* it will be gone by then */
    return until_ns > k->reserve_ns;
}

/* ---- putting in force ---- */

/* Takes what it can of a need from what will be given back and nobody counts on; returns the rest.
 */
static int64_t beyond(int64_t need, int64_t gives, int64_t *counted)
{
    int64_t rest = gives > *counted ? gives - *counted : 0;
    int64_t covered = need < rest ? need : rest;

    *counted += covered;
    return need - covered;
}

static void put_job(struct model *m, uint32_t job, int64_t from_ns)
{
    const struct job *j = job_row(m, job);
    int64_t until_ns = j->keep == KEEP_INHERITED ? from_ns : j->reserve_ns;
    struct gives *counted = counted_of(m), g = {.pods = 0};
    uint32_t host = ROW_NONE;

    for (uint32_t id = j->hold_head; id != ROW_NONE; id = hold_row(m, id)->next) {
        struct hold *h = model_edit(m, TABLE_HOLD, id);
        const struct podset *p = podset_row(m, h->podset);

        if (h->host != host)
            g = force_gives(m, h->host, from_ns, until_ns);
        host = h->host;
        h->took_cpu_milli = beyond(p->cpu_milli, g.cpu_milli, &counted[host].cpu_milli);
        h->took_mem_mib = beyond(p->mem_mib, g.mem_mib, &counted[host].mem_mib);
        h->took_pods = beyond(1, g.pods, &counted[host].pods);
        for (unsigned e = 0; e < EXTRAS_MAX; e++)
            h->took_extra[e] = beyond(p->extra[e], g.extra[e], &counted[host].extra[e]);
        h->took_devices = h->devices & host_row(m, host)->healthy;
        host_hold(m, id);
    }
}

void force_put(struct model *m, const struct reserves *r, const uint8_t *bound, int64_t from_ns)
{
    uint32_t by_date[RESERVES_MAX], count = 0;

    for (uint32_t n = 0; n < r->count; n++) {
        uint32_t at = count, job = r->job[n];

        if (!bound[n])
            continue;
        for (count++; at > 0; at--) {
            const struct job *a = job_row(m, by_date[at - 1]), *b = job_row(m, job);

            if (a->reserve_ns < b->reserve_ns ||
                (a->reserve_ns == b->reserve_ns && by_date[at - 1] < job))
                break;
            by_date[at] = by_date[at - 1];
        }
        by_date[at] = job;
        for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next)
            memset(&counted_of(m)[hold_row(m, id)->host], 0, sizeof(struct gives));
    }
    for (uint32_t n = 0; n < count; n++)
        put_job(m, by_date[n], from_ns);
}

void force_lift(struct model *m, uint32_t job)
{
    for (uint32_t id = job_row(m, job)->hold_head; id != ROW_NONE; id = hold_row(m, id)->next)
        host_unhold(m, id);
}

/* ---- does it stand ---- */

/* What is held of one device. */
struct load {
    int64_t milli, mib;
    uint32_t slots;
};

static void load_add(const struct model *m, struct load *l, const struct podset *p, uint32_t host,
                     uint8_t slot)
{
    const struct mig *g;

    if (p->profile != ROW_NONE) {
        g = host_mig(m, p->profile, kind_row(m, host_row(m, host)->kind)->model);
        l->slots |= g ? (uint32_t)bits_first(g->slots) << slot : UINT32_MAX;
    } else if (p->share_mib) {
        l->mib += p->share_mib;
    } else {
        l->milli += p->milli;
    }
}

/* Will the device hold this share beside those that stay, and the other pods of the gang? */
static bool share_stands(const struct model *m, uint32_t job, uint32_t hold)
{
    const struct hold *x = hold_row(m, hold);
    int64_t mib = kind_row(m, host_row(m, x->host)->kind)->gpu_mem_mib;
    struct load held = {0, 0, 0}, own = {0, 0, 0};

    for (uint32_t s = host_row(m, x->host)->seat_head; s != ROW_NONE;
         s = seat_row(m, s)->next_of_host)
        if ((seat_row(m, s)->devices & x->devices) &&
            force_seat_end(m, seat_row(m, s)) > job_row(m, job)->reserve_ns)
            load_add(m, &held, podset_row(m, seat_row(m, s)->podset), x->host,
                     seat_row(m, s)->slot);
    for (uint32_t h = job_row(m, job)->hold_head; h != hold; h = hold_row(m, h)->next)
        if (hold_row(m, h)->host == x->host && (hold_row(m, h)->devices & x->devices))
            load_add(m, &held, podset_row(m, hold_row(m, h)->podset), x->host,
                     hold_row(m, h)->slot);
    load_add(m, &own, podset_row(m, x->podset), x->host, x->slot);
    if (own.slots)
        return !(held.slots & own.slots) && held.milli == 0 && held.mib == 0;
    held.milli += own.milli;
    held.mib += own.mib;
    if (held.slots || held.milli > MILLI_FULL)
        return false;
    return held.mib == 0 ||
           (mib > 0 && held.milli * mib + MILLI_FULL * held.mib <= MILLI_FULL * mib);
}

static bool devices_stand(const struct model *m, uint32_t job, uint32_t hold)
{
    const struct hold *x = hold_row(m, hold);
    const struct host *h = host_row(m, x->host);
    uint16_t free = h->whole;

    if (x->devices & ~h->healthy)
        return false;
    if (podset_is_share(podset_row(m, x->podset)))
        return share_stands(m, job, hold);
    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host)
        if (force_seat_end(m, seat_row(m, s)) <= job_row(m, job)->reserve_ns)
            free |= seat_row(m, s)->devices & h->healthy;
    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host)
        if (force_seat_end(m, seat_row(m, s)) > job_row(m, job)->reserve_ns)
            free &= (uint16_t)~seat_row(m, s)->devices;
    return !(x->devices & ~free);
}

/* What is free now and what will have been given back covers the pod beside those before it. */
static bool counts_stand(struct model *m, uint32_t job, uint32_t hold)
{
    const struct hold *x = hold_row(m, hold);
    const struct host *h = host_row(m, x->host);
    const struct podset *p = podset_row(m, x->podset);
    struct gives *c = &counted_of(m)[x->host];
    struct gives g = force_gives(m, x->host, config_row(m)->now_ns, job_row(m, job)->reserve_ns);
    bool good;

    c->cpu_milli += p->cpu_milli;
    c->mem_mib += p->mem_mib;
    c->pods++;
    good = (p->cpu_milli == 0 || c->cpu_milli <= h->cpu_free_milli + g.cpu_milli) &&
           (p->mem_mib == 0 || c->mem_mib <= h->mem_free_mib + g.mem_mib) &&
           c->pods <= h->pods_free + g.pods;
    for (unsigned e = 0; e < EXTRAS_MAX; e++) {
        c->extra[e] += p->extra[e];
        good &= p->extra[e] == 0 || c->extra[e] <= h->extra_free[e] + g.extra[e];
    }
    return good;
}

bool force_stands(struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    struct view v = view_of(m, job);

    v.at_ns = j->reserve_ns;
    if (j->reserve_ns <= config_row(m)->now_ns)
        return false;
    for (uint32_t id = j->hold_head; id != ROW_NONE; id = hold_row(m, id)->next)
        memset(&counted_of(m)[hold_row(m, id)->host], 0, sizeof(struct gives));
    for (uint32_t id = j->hold_head; id != ROW_NONE; id = hold_row(m, id)->next)
        if (!view_open(&v, hold_row(m, id)->host, podset_row(m, hold_row(m, id)->podset)) ||
            !devices_stand(m, job, id) || !counts_stand(m, job, id))
            return false;
    return true;
}
