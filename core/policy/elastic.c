#include "core/policy/elastic.h"

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"

#define SEATS_MAX 1024 /* pods of one podset that are looked at for giving back */

static uint32_t seats_of(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t count = 0;

    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        count += seat_row(m, s)->podset == podset;
    return count;
}

/* Pods that the podset lacks. */
static uint32_t lacks(const struct model *m, uint32_t job, uint32_t podset, bool minimum)
{
    const struct podset *p = podset_row(m, podset);
    uint32_t done = job_row(m, job)->done_pods ? job_done_pods(m, job, podset, true) : 0;
    uint32_t want = minimum ? p->pods_min : p->pods, have = seats_of(m, job, podset) + done;

    if (p->slice_pods)
        want = minimum ? (want + p->slice_pods - 1) / p->slice_pods * p->slice_pods
                       : want / p->slice_pods * p->slice_pods;
    return want > have ? want - have : 0;
}

uint32_t elastic_missing(const struct model *m, uint32_t job, bool minimum)
{
    uint32_t sum = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        sum += lacks(m, job, p, minimum);
    return sum;
}

/* ---- where the gang sits ---- */

/* Where new pods of a podset may go. */
struct home {
    uint32_t domain[LEVELS_MAX]; /* ROW_NONE: anywhere */
    uint32_t host;               /* ROW_NONE: any */
    uint16_t within;             /* devices, where one host is named */
    bool known;                  /* false: there is no pod yet whose domain could be shared */
};

/* Devices of the part that holds them all, or 0. */
static uint16_t part_of(const struct model *m, uint32_t host, unsigned part, uint16_t devices)
{
    uint32_t shape = kind_row(m, host_row(m, host)->kind)->shape;
    uint16_t mask;

    if (shape == ROW_NONE || devices == 0)
        return 0;
    mask = shape_part_mask(&shape_row(m, shape)->shape, part, bits_low(devices));
    return (devices & ~mask) == 0 ? mask : 0;
}

/* Narrows the home to the domain of the scope that all seats of the gang (or of one podset) share;
 * false: they share none. */
static bool narrow(const struct model *m, uint32_t job, uint32_t podset, unsigned scope,
                   struct home *h)
{
    uint32_t common = ROW_NONE;
    uint16_t devices = 0;
    bool any = false;

    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        const struct seat *x = seat_row(m, s);
        uint32_t here = scope >= SCOPE_OF_LEVEL
                            ? board_row(m, x->host)->domain[scope - SCOPE_OF_LEVEL]
                            : x->host;

        if (podset != ROW_NONE && x->podset != podset)
            continue;
        if (here == ROW_NONE || (any && here != common))
            return false;
        common = here;
        devices |= x->devices;
        any = true;
    }
    if (!any) {
        h->known = false;
        return true;
    }
    if (scope >= SCOPE_OF_LEVEL) {
        h->domain[scope - SCOPE_OF_LEVEL] = common;
        return true;
    }
    h->host = common;
    /* Pods without devices do not say which part it is, and some hosts have none. */
    if (scope < SCOPE_OF_HOST) {
        uint16_t part = part_of(m, common, scope, devices);

        h->within &= part;
        h->known &= part != 0;
    }
    return true;
}

static struct home home_of(const struct model *m, uint32_t job, uint32_t podset)
{
    const struct job *j = job_row(m, job);
    struct home h = {.host = ROW_NONE, .within = UINT16_MAX, .known = true}, wish;

    for (unsigned l = 0; l < LEVELS_MAX; l++)
        h.domain[l] = ROW_NONE;
    for (uint64_t s = j->required & ~SCOPE_BIT(SCOPE_OF_CLUSTER); s; s = bits_drop_low(s))
        if (!narrow(m, job, ROW_NONE, bits_low(s), &h))
            h.known = false; /* somebody else seated it apart */
    for (uint64_t s = podset_row(m, podset)->required & ~SCOPE_BIT(SCOPE_OF_CLUSTER); s;
         s = bits_drop_low(s))
        if (!narrow(m, job, podset, bits_low(s), &h))
            h.known = false;
    for (unsigned n = 0; n < j->preferred_count; n++) {
        wish = h;
        if (j->preferred[n] < SCOPE_OF_CLUSTER &&
            narrow(m, job, ROW_NONE, j->preferred[n], &wish)) {
            wish.known = h.known;
            return wish;
        }
    }
    return h;
}

/* ---- growing ---- */

/* Devices of the host on which the gang holds something already. */
static uint16_t own_cards(const struct model *m, uint32_t job, uint32_t host)
{
    uint16_t cards = 0;

    for (uint32_t s = host_row(m, host)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host)
        if (seat_row(m, s)->job == job)
            cards |= seat_row(m, s)->devices;
    return cards;
}

/* The lowest pod number of the podset that neither runs nor is done. */
static uint32_t free_number(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t pod = job_first_pod(m, job, podset);

    for (bool taken = true; taken; pod += taken) {
        taken = job_pod_done(m, job, pod);
        for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE && !taken;
             s = seat_row(m, s)->next_of_job)
            taken = seat_row(m, s)->pod == pod;
    }
    return pod;
}

/* Seats pods on one host until it holds no more or none is wanted; returns how many. */
static uint32_t grow_on(struct model *m, struct view *v, uint32_t podset, const struct home *home,
                        uint32_t host, uint32_t wanted)
{
    const struct podset *p = podset_row(m, podset);
    bool apart = podset_is_share(p) && !(job_row(m, v->job)->flags & JOB_SHARES_CARD);
    uint32_t count = 0;
    struct spot spot;

    if (!view_open(v, host, p))
        return 0;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (home->domain[l] != ROW_NONE && board_row(m, host)->domain[l] != home->domain[l])
            return 0;
    while (count < wanted) {
        uint16_t within = home->within;

        if (apart)
            within &= (uint16_t)~own_cards(m, v->job, host);
        if (view_pods(v, host, p, within) == 0 ||
            !score_host(v, p, host, within, &spot, SCORE_FULL))
            break;
        host_take(m, host, v->job, podset, free_number(m, v->job, podset), spot.devices, spot.slot,
                  GRADE_PLANNED);
        count++;
    }
    return count;
}

/* The hosts of the smallest domain that the home names, or all. */
static const uint32_t *hosts_of(const struct model *m, const struct home *h, uint32_t *ret_count)
{
    const uint32_t *best = 0;

    *ret_count = model_count(m, TABLE_HOST);
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint32_t count;
        const uint32_t *members;

        if (h->domain[l] == ROW_NONE)
            continue;
        members = index_members(m, h->domain[l], &count);
        if (count < *ret_count || !best) {
            best = members;
            *ret_count = count;
        }
    }
    return best;
}

static uint32_t grow_podset(struct model *m, struct view *v, uint32_t podset, uint32_t wanted)
{
    struct home home = home_of(m, v->job, podset);
    uint32_t count = 0, hosts;
    const uint32_t *host;

    if (!home.known || podset_row(m, podset)->slice_pods)
        return 0;
    if (home.host != ROW_NONE)
        return grow_on(m, v, podset, &home, home.host, wanted);
    for (uint32_t s = job_row(m, v->job)->seat_head; s != ROW_NONE && count < wanted;
         s = seat_row(m, s)->next_of_job)
        count += grow_on(m, v, podset, &home, seat_row(m, s)->host, wanted - count);
    host = hosts_of(m, &home, &hosts);
    for (unsigned whole = podset_row(m, podset)->gpus; whole <= GPUS_MAX && count < wanted; whole++)
        for (uint32_t n = 0; n < hosts && count < wanted; n++) {
            uint32_t id = host ? host[n] : n;
            const struct host *h = host_row(m, id);

            /* Pods without whole devices go wherever there is room, in one round. */
            if (h->state == HOST_UP &&
                (podset_row(m, podset)->gpus == 0 || podset_is_share(podset_row(m, podset)) ||
                 bits_count16(h->whole) == whole))
                count += grow_on(m, v, podset, &home, id, wanted - count);
        }
    return count;
}

/* Pods of the set that the team's limits allow beside `milli` of this growth. */
static uint32_t allowed(const struct model *m, uint32_t job, uint32_t podset, int64_t milli,
                        uint32_t wanted)
{
    int64_t one = podset_charge_milli(m, podset_row(m, podset));

    for (uint32_t t = job_row(m, job)->team; t != ROW_NONE && one > 0; t = team_row(m, t)->parent) {
        int64_t room = team_row(m, t)->limit_milli - team_row(m, t)->held_milli - milli;

        if (room < one)
            return 0;
        wanted = room / one < wanted ? (uint32_t)(room / one) : wanted;
    }
    return wanted;
}

uint32_t elastic_grow(struct model *m, uint32_t job, bool minimum)
{
    struct view v = view_of(m, job);
    uint32_t count = 0;
    int64_t milli = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next) {
        uint32_t wanted = allowed(m, job, p, milli, lacks(m, job, p, minimum)), grown;

        grown = wanted ? grow_podset(m, &v, p, wanted) : 0;
        milli += grown * podset_charge_milli(m, podset_row(m, p));
        count += grown;
    }
    return count;
}

/* ---- giving back ---- */

/* Pods of the podset beyond its minimum that may be given back. */
static uint32_t surplus(const struct model *m, uint32_t job, uint32_t podset)
{
    const struct podset *p = podset_row(m, podset);
    uint32_t have, done, gives;

    if (p->slice_pods || p->pods_min >= p->pods)
        return 0;
    have = seats_of(m, job, podset);
    done = job_row(m, job)->done_pods ? job_done_pods(m, job, podset, false) : 0;
    gives = have + done > p->pods_min ? have + done - p->pods_min : 0;
    if (done && have && gives >= have) /* what is left of it runs, if only by one pod */
        gives = have - 1;
    return gives < SEATS_MAX ? gives : SEATS_MAX;
}

/* True if the run may be made smaller for the waiting job. */
static bool may_yield(const struct model *m, uint32_t run, uint32_t job)
{
    const struct job *r = job_row(m, run);

    return r->state == JOB_RUNNING && r->priority <= job_row(m, job)->priority &&
           job_is_elastic(m, run);
}

/* The seats of the podset that go first: the highest pod numbers, so many of them. */
static uint32_t last_seats(const struct model *m, uint32_t run, uint32_t podset, uint32_t count,
                           uint32_t *ret_seat)
{
    uint32_t found = 0;

    for (uint32_t s = job_row(m, run)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        uint32_t at;

        if (seat_row(m, s)->podset != podset)
            continue;
        if (found == count && seat_row(m, ret_seat[found - 1])->pod > seat_row(m, s)->pod)
            continue;
        found -= found == count;
        for (at = found++; at > 0 && seat_row(m, ret_seat[at - 1])->pod < seat_row(m, s)->pod; at--)
            ret_seat[at] = ret_seat[at - 1];
        ret_seat[at] = s;
    }
    return found;
}

/* Would the job fit if every run gave back all that it may? Its seats then are left in place for
 * the caller to look at and roll back. */
static bool fits_after_all(struct model *m, uint32_t job, uint32_t *scratch)
{
    struct view v = view_of(m, job);
    struct plan plan;

    for (uint32_t run = 0; run < model_count(m, TABLE_JOB); run++) {
        if (!may_yield(m, run, job))
            continue;
        for (uint32_t p = job_row(m, run)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next) {
            uint32_t count = surplus(m, run, p);

            count = count ? last_seats(m, run, p, count, scratch) : 0;
            for (uint32_t n = 0; n < count; n++)
                host_vacate(m, scratch[n]);
        }
    }
    return gang_plan(m, &v, &plan) == VERDICT_FITS;
}

/* Places that the job would take, by host; one per host, devices together. */
struct want {
    uint32_t host;
    uint16_t devices, pad;
};

static uint32_t wants_of(const struct model *m, uint32_t job, struct want *ret, uint32_t limit)
{
    uint32_t count = 0;

    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        const struct seat *x = seat_row(m, s);
        uint32_t n = 0;

        while (n < count && ret[n].host != x->host)
            n++;
        if (n == limit)
            return 0;
        if (n == count)
            ret[count++] = (struct want){.host = x->host};
        ret[n].devices |= x->devices;
    }
    return count;
}

/* Is the seat in the way of what the job would take? */
static bool in_the_way(const struct seat *x, const struct want *want, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        if (want[n].host == x->host)
            return x->devices == 0 || (x->devices & want[n].devices) != 0;
    return false;
}

#define WANTS_MAX 512

bool elastic_yield(struct model *m, uint32_t job,
                   void (*tell)(void *context, uint32_t run, const uint32_t *seat, uint32_t count),
                   bool (*delays)(void *context, int64_t before_ns, int64_t after_ns),
                   void *context)
{
    struct want want[WANTS_MAX];
    uint32_t seat[SEATS_MAX], given[SEATS_MAX];
    uint32_t wants, runs = 0, pods = 0, most = config_row(m)->gang_pods_max;
    struct view v = view_of(m, job);

    model_begin(m);
    wants = fits_after_all(m, job, seat) ? wants_of(m, job, want, WANTS_MAX) : 0;
    model_rollback(m);
    if (wants == 0)
        return false;
    for (uint32_t run = 0; run < model_count(m, TABLE_JOB); run++) {
        int64_t end_ns = job_row(m, run)->end_ns;
        uint32_t gives = 0;

        if (!may_yield(m, run, job))
            continue;
        for (uint32_t p = job_row(m, run)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next) {
            uint32_t count = surplus(m, run, p);

            count = count ? last_seats(m, run, p, count, seat) : 0;
            for (uint32_t n = 0; n < count && gives < SEATS_MAX; n++)
                if (in_the_way(seat_row(m, seat[n]), want, wants))
                    given[gives++] = seat[n];
        }
        if (gives == 0)
            continue;
        pods += gives;
        if (++runs > SHRINKS_MAX || pods > most)
            return false;
        tell(context, run, given, gives);
        for (uint32_t n = 0; n < gives; n++)
            host_give(m, given[n]);
        job_resized(m, run, -(int32_t)gives);
        if (delays(context, end_ns, job_row(m, run)->end_ns))
            return false;
    }
    return runs > 0 && gang_fits(&v) == VERDICT_FITS;
}
