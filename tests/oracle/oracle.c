#include "tests/oracle/oracle.h"

#include <string.h>

/* What is left of a host, as a search imagines it. */
struct o_room {
    int64_t cpu, mem, pods, extra[2];
    uint32_t milli[O_GPUS], slots[O_GPUS];
    int64_t mib[O_GPUS];
    unsigned holders[O_GPUS], of_gang[O_GPUS];
    unsigned unknown;
};

struct place {
    uint32_t podset, host;
    uint16_t devices;
    uint8_t slot;
};

struct hunt {
    const struct o_world *w;
    const struct o_job *j;
    unsigned dropped;
    uint64_t steps;
    struct o_room room[O_HOSTS];
    unsigned pods;
    uint32_t podset_of[O_PODS];
    struct place place[O_PODS];
};

static const struct o_mig *mig_of(const struct o_world *w, uint32_t profile, unsigned model)
{
    for (unsigned g = 0; g < w->migs; g++)
        if (w->mig[g].profile == profile && w->mig[g].model == model)
            return &w->mig[g];
    return NULL;
}

static bool is_share(const struct o_podset *p)
{
    return p->gpus > 0 && (p->milli < 1000 || p->mib || p->profile != O_NONE);
}

static uint32_t slot_bits(const struct o_mig *g, unsigned slot)
{
    return g ? (uint32_t)((((uint64_t)1 << g->slots) - 1) << slot) : 0;
}

/* Adds a pod to the room (sign 1) or takes it out (-1). */
static void room_add(struct hunt *h, const struct o_podset *p, const struct place *t, int sign)
{
    struct o_room *r = &h->room[t->host];

    r->cpu -= sign * p->cpu;
    r->mem -= sign * p->mem;
    r->pods -= sign;
    r->extra[0] -= sign * p->extra[0];
    r->extra[1] -= sign * p->extra[1];
    for (unsigned d = 0; d < O_GPUS; d++) {
        if (!(t->devices >> d & 1))
            continue;
        r->holders[d] = (unsigned)((int)r->holders[d] + sign);
        if (p->profile != O_NONE)
            r->slots[d] ^= slot_bits(mig_of(h->w, p->profile, h->w->host[t->host].model), t->slot);
        else if (p->mib)
            r->mib[d] += sign * (int64_t)p->mib;
        else
            r->milli[d] = (uint32_t)((int64_t)r->milli[d] + sign * (int64_t)p->milli);
    }
}

static void hunt_start(struct hunt *h, const struct o_world *w, const struct o_job *j,
                       unsigned dropped, uint64_t steps)
{
    memset(h, 0, sizeof(*h));
    h->w = w;
    h->j = j;
    h->dropped = dropped;
    h->steps = steps;
    for (unsigned n = 0; n < w->hosts; n++)
        h->room[n] = (struct o_room){.cpu = w->host[n].cpu,
                                     .mem = w->host[n].mem,
                                     .pods = w->host[n].pods,
                                     .extra = {w->host[n].extra[0], w->host[n].extra[1]}};
    for (unsigned n = 0; n < w->jobs && !(dropped & O_BUSY); n++)
        for (unsigned s = 0; s < w->job[n].seats && w->job[n].live; s++) {
            const struct o_seat *seat = &w->job[n].seat[s];
            const struct o_podset *p = &w->job[n].podset[seat->podset];
            struct place t = {seat->podset, seat->host, seat->devices, seat->slot};

            room_add(h, p, &t, 1);
            if (seat->devices == 0)
                h->room[seat->host].unknown += p->gpus;
        }
}

/* ---- rules ---- */

static bool host_open(const struct hunt *h, const struct o_podset *p, const struct o_host *o)
{
    const struct o_class *c = &h->w->class[p->class_id];

    if (o->state == O_ABSENT)
        return false;
    if (!(h->dropped & O_HEALTH)) {
        if (o->state != O_UP)
            return false;
        if (o->leave_at_ns != INT64_MAX &&
            (h->j->est_ns < 0 || h->w->now_ns + h->j->est_ns > o->leave_at_ns))
            return false;
    }
    if (!(h->dropped & O_MODEL) && !(c->models >> o->model & 1))
        return false;
    return (h->dropped & O_CLASS) || (c->nodes[o->node_class / 64] >> o->node_class % 64 & 1);
}

static bool counts_fit(const struct hunt *h, const struct o_podset *p, const struct o_room *r)
{
    if (!(h->dropped & O_CPU) && p->cpu > 0 && p->cpu > r->cpu)
        return false;
    if (!(h->dropped & O_MEM) && p->mem > 0 && p->mem > r->mem)
        return false;
    if (!(h->dropped & O_PODLIMIT) && r->pods < 1)
        return false;
    for (unsigned x = 0; x < 2 && !(h->dropped & O_EXTRA); x++)
        if (p->extra[x] > 0 && p->extra[x] > r->extra[x])
            return false;
    return true;
}

static bool device_fits(const struct hunt *h, const struct o_podset *p, uint32_t host, unsigned d,
                        unsigned slot)
{
    const struct o_host *o = &h->w->host[host];
    const struct o_room *r = &h->room[host];

    if (!(h->dropped & O_HEALTH) && (o->failed >> d & 1))
        return false;
    if (!is_share(p))
        return r->holders[d] == 0;
    if (!(h->dropped & O_TOPOLOGY) && !h->j->share_card && r->of_gang[d])
        return false;
    if (p->profile != O_NONE) {
        const struct o_mig *g = mig_of(h->w, p->profile, o->model);

        return g && r->milli[d] == 0 && r->mib[d] == 0 && slot + g->slots <= g->device_slots &&
               (g->starts >> slot & 1) && !(r->slots[d] & slot_bits(g, slot));
    }
    if (r->slots[d])
        return false;

    int64_t milli = (int64_t)r->milli[d] + (p->mib ? 0 : p->milli), mib = r->mib[d] + p->mib;

    if (mib > 0 && o->gpu_mib <= 0)
        return false;
    return mib > 0 ? milli * o->gpu_mib + 1000 * mib <= 1000 * o->gpu_mib : milli <= 1000;
}

/* Is there one domain of the scope that contains both? devices: of all pods in question. */
static bool contained(const struct o_world *w, unsigned scope, const struct place *const *pod,
                      unsigned pods)
{
    uint16_t devices = 0;

    if (scope >= O_CLUSTER)
        return true;
    if (scope >= O_LEVEL) {
        uint32_t domain = w->host[pod[0]->host].domain[scope - O_LEVEL];

        for (unsigned n = 0; n < pods; n++)
            if (domain == O_NONE || w->host[pod[n]->host].domain[scope - O_LEVEL] != domain)
                return false;
        return true;
    }
    for (unsigned n = 0; n < pods; n++) {
        if (pod[n]->host != pod[0]->host)
            return false;
        devices |= pod[n]->devices;
    }
    if (scope == O_HOST)
        return true;
    if (w->host[pod[0]->host].shape == O_NONE)
        return false;

    const struct o_shape *s = &w->shape[w->host[pod[0]->host].shape];

    for (unsigned part = 0; part < 255; part++) {
        uint16_t mask = 0;

        for (unsigned d = 0; d < s->gpus; d++)
            mask |= (uint16_t)((s->part[scope][d] == part) << d);
        if (mask && (devices & ~mask) == 0)
            return true;
    }
    return false;
}

static bool scopes_hold(const struct hunt *h, uint64_t scopes, const struct place *const *pod,
                        unsigned pods)
{
    for (unsigned s = 0; s < O_CLUSTER && pods; s++)
        if ((scopes >> s & 1) && !contained(h->w, s, pod, pods))
            return false;
    return true;
}

/* Required levels of the podset and of the gang, for the pods placed so far. */
static bool required_hold(const struct hunt *h, unsigned placed, uint32_t podset)
{
    const struct place *all[O_PODS], *own[O_PODS];
    unsigned n_own = 0;

    if (h->dropped & O_TOPOLOGY)
        return true;
    for (unsigned n = 0; n < placed; n++) {
        all[n] = &h->place[n];
        if (h->place[n].podset == podset)
            own[n_own++] = &h->place[n];
    }
    return scopes_hold(h, h->j->required, all, placed) &&
           scopes_hold(h, h->j->podset[podset].required, own, n_own);
}

/* The domain of the slice level that contains the pod, as a number unique over hosts; O_NONE. */
static uint32_t slice_domain(const struct o_world *w, unsigned scope, const struct place *t)
{
    if (scope >= O_CLUSTER)
        return 0;
    if (scope >= O_LEVEL)
        return w->host[t->host].domain[scope - O_LEVEL];
    if (scope == O_HOST)
        return t->host;
    if (!contained(w, scope, &t, 1) || !t->devices)
        return O_NONE;
    for (unsigned d = 0; d < O_GPUS; d++)
        if (t->devices >> d & 1)
            return t->host * 256 + w->shape[w->host[t->host].shape].part[scope][d];
    return O_NONE;
}

/* Whole slices: the pods of each domain of the slice level are a multiple of the slice. */
static bool slices_hold(const struct hunt *h, uint32_t podset, unsigned placed)
{
    const struct o_podset *p = &h->j->podset[podset];

    if (!p->slice_pods || (h->dropped & O_TOPOLOGY))
        return true;
    for (unsigned a = 0; a < placed; a++) {
        uint32_t domain, count = 0;

        if (h->place[a].podset != podset)
            continue;
        domain = slice_domain(h->w, p->slice_scope, &h->place[a]);
        if (domain == O_NONE)
            return false;
        for (unsigned b = 0; b < placed; b++)
            count += h->place[b].podset == podset &&
                     slice_domain(h->w, p->slice_scope, &h->place[b]) == domain;
        if (count % p->slice_pods)
            return false;
    }
    return true;
}

/* ---- search ---- */

static bool all_slices_hold(const struct hunt *h)
{
    for (uint32_t n = 0; n < h->j->podsets; n++)
        if (!slices_hold(h, n, h->pods))
            return false;
    return true;
}

static bool set_fits(const struct hunt *h, const struct o_podset *p, const struct place *t)
{
    for (unsigned d = 0; d < O_GPUS; d++)
        if ((t->devices >> d & 1) && !device_fits(h, p, t->host, d, t->slot))
            return false;
    return true;
}

static void put(struct hunt *h, const struct o_podset *p, unsigned n, const struct place *t,
                int sign)
{
    h->place[n] = *t;
    room_add(h, p, t, sign);
    for (unsigned d = 0; d < O_GPUS && is_share(p); d++)
        if (t->devices >> d & 1)
            h->room[t->host].of_gang[d] = (unsigned)((int)h->room[t->host].of_gang[d] + sign);
}

static unsigned count_bits(uint32_t set)
{
    unsigned count = 0;

    for (; set; set &= set - 1)
        count++;
    return count;
}

/* The next larger number with as many bits; 0 has none. */
static uint32_t next_set(uint32_t set)
{
    uint32_t low = set & (~set + 1), ripple = set + low;

    return set ? ripple | (set ^ ripple) / low >> 2 : UINT32_MAX;
}

static enum o_answer descend(struct hunt *h, unsigned n);

/* All slots of one device set on one host. */
static enum o_answer try_set(struct hunt *h, unsigned n, const struct o_podset *p, struct place t)
{
    const struct o_mig *g = mig_of(h->w, p->profile, h->w->host[t.host].model);
    unsigned slots = p->profile == O_NONE ? 1 : g ? g->device_slots : 0;
    bool again = n > 0 && h->place[n - 1].podset == t.podset && h->place[n - 1].host == t.host &&
                 h->place[n - 1].devices == t.devices;

    for (unsigned slot = again && p->profile != O_NONE ? h->place[n - 1].slot + 1u : 0;
         slot < slots; slot++) {
        enum o_answer answer;

        t.slot = (uint8_t)slot;
        if (h->steps == 0)
            return O_TOO_LARGE;
        h->steps--;
        if (!set_fits(h, p, &t))
            continue;
        put(h, p, n, &t, 1);
        answer = required_hold(h, n + 1, t.podset) ? descend(h, n + 1) : O_NO;
        put(h, p, n, &t, -1);
        if (answer != O_NO)
            return answer;
    }
    return O_NO;
}

static enum o_answer descend(struct hunt *h, unsigned n)
{
    if (n == h->pods)
        return all_slices_hold(h) ? O_YES : O_NO;

    uint32_t podset = h->podset_of[n];
    const struct o_podset *p = &h->j->podset[podset];
    bool follows = n > 0 && h->podset_of[n - 1] == podset; /* equal pods: in rising order */

    for (uint32_t host = follows ? h->place[n - 1].host : 0; host < h->w->hosts; host++) {
        const struct o_host *o = &h->w->host[host];
        uint32_t first = (1u << p->gpus) - 1;

        if (follows && host == h->place[n - 1].host)
            first = h->place[n - 1].devices;

        if (!host_open(h, p, o) || !counts_fit(h, p, &h->room[host]))
            continue;
        for (uint32_t set = first; set < 1u << o->gpus; set = next_set(set)) {
            struct place t = {.podset = podset, .host = host, .devices = (uint16_t)set};
            enum o_answer answer = try_set(h, n, p, t);

            if (answer != O_NO)
                return answer;
        }
    }
    return O_NO;
}

static enum o_answer hunt_for(const struct o_world *w, const struct o_job *j, unsigned dropped,
                              uint32_t first_pods, uint64_t steps)
{
    static struct hunt h;

    hunt_start(&h, w, j, dropped, steps);
    for (uint32_t s = 0; s < j->podsets; s++) {
        bool slices = !(dropped & O_TOPOLOGY);
        uint32_t pods = oracle_least_pods(j, s, slices);

        if (s == 0 && first_pods)
            pods = first_pods;
        if (pods > oracle_most_pods(j, s, slices))
            return O_NO;
        if (h.pods + pods > O_PODS)
            return O_TOO_LARGE;
        for (uint32_t n = 0; n < pods; n++)
            h.podset_of[h.pods++] = s;
    }
    return descend(&h, 0);
}

enum o_answer oracle_fits(const struct o_world *w, const struct o_job *j, unsigned dropped,
                          uint64_t steps)
{
    return hunt_for(w, j, dropped, 0, steps);
}

enum o_answer oracle_fits_pods(const struct o_world *w, const struct o_job *j, uint32_t pods,
                               uint64_t steps)
{
    return hunt_for(w, j, 0, pods, steps);
}

/* ---- starts ---- */

static const char *numbers_wrong(const struct o_job *j, const struct o_seat *seat, unsigned seats)
{
    uint32_t first = 0;

    for (uint32_t s = 0; s < j->podsets; s++) {
        const struct o_podset *p = &j->podset[s];
        uint32_t count = 0;

        for (unsigned n = 0; n < seats; n++) {
            if (seat[n].podset != s)
                continue;
            if (seat[n].pod < first || seat[n].pod >= first + p->pods)
                return "a pod's number is outside its podset";
            if ((j->done | j->away) >> seat[n].pod & 1)
                return "a pod that is not there to be placed";
            count++;
        }
        if (count < oracle_least_pods(j, s, true))
            return "fewer pods than the minimum";
        first += p->pods;
    }
    for (unsigned n = 0; n < seats; n++)
        for (unsigned o = 0; o < n; o++)
            if (seat[o].pod == seat[n].pod)
                return "two pods of one number";
    return NULL;
}

static const char *seat_wrong(struct hunt *h, const struct o_seat *seat, unsigned n)
{
    const struct o_podset *p = &h->j->podset[seat->podset];
    struct place t = {seat->podset, seat->host, seat->devices, seat->slot};

    if (seat->host >= h->w->hosts || !host_open(h, p, &h->w->host[seat->host]))
        return "a host that is not open to it";
    if (!counts_fit(h, p, &h->room[seat->host]))
        return "CPU, memory, pods or another count overrun";
    if (count_bits(seat->devices) != p->gpus || seat->devices >> h->w->host[seat->host].gpus)
        return "a wrong number of devices";
    if (!set_fits(h, p, &t))
        return "a device that is taken, failed or too small";
    put(h, p, n, &t, 1);
    return NULL;
}

/* Seats that nobody can place need free devices: a start must not break the last of them. */
static bool unknown_overrun(const struct hunt *h, const struct o_seat *seat, unsigned seats)
{
    for (unsigned n = 0; n < seats; n++) {
        const struct o_room *r = &h->room[seat[n].host];
        unsigned free = 0;
        bool breaks = false;

        for (unsigned d = 0; d < h->w->host[seat[n].host].gpus; d++) {
            unsigned ours = 0;

            for (unsigned o = 0; o < seats; o++)
                ours += seat[o].host == seat[n].host && (seat[o].devices >> d & 1);
            free += r->holders[d] == 0;
            breaks |= ours > 0 && ours == r->holders[d];
        }
        if (breaks && free < r->unknown)
            return true;
    }
    return false;
}

const char *oracle_start_wrong(const struct o_world *w, const struct o_job *j,
                               const struct o_seat *seat, unsigned seats)
{
    static struct hunt h;
    const char *wrong = numbers_wrong(j, seat, seats);

    if (seats > O_PODS)
        return "more pods than the oracle knows";
    hunt_start(&h, w, j, 0, 0);
    for (unsigned n = 0; n < seats && !wrong; n++)
        wrong = seat_wrong(&h, &seat[n], n);
    if (wrong)
        return wrong;
    h.pods = seats;
    for (uint32_t s = 0; s < j->podsets; s++)
        if (!required_hold(&h, seats, s))
            return "a required level does not contain it";
    if (!all_slices_hold(&h))
        return "slices are broken";
    return unknown_overrun(&h, seat, seats) ? "devices that unplaced seats may hold" : NULL;
}

const char *oracle_grow_wrong(const struct o_world *w, const struct o_job *j,
                              const struct o_seat *seat, unsigned seats)
{
    static struct hunt h;
    const char *wrong = NULL;

    if (j->seats + seats > O_PODS)
        return "more pods than the oracle knows";
    hunt_start(&h, w, j, 0, 0);
    for (unsigned n = 0; n < j->seats; n++) {
        const struct o_seat *s = &j->seat[n];

        h.place[n] = (struct place){s->podset, s->host, s->devices, s->slot};
        for (unsigned d = 0; d < O_GPUS && is_share(&j->podset[s->podset]); d++)
            h.room[s->host].of_gang[d] += s->devices >> d & 1;
    }
    for (unsigned n = 0; n < seats && !wrong; n++)
        wrong = seat_wrong(&h, &seat[n], j->seats + n);
    if (wrong)
        return wrong;
    h.pods = j->seats + seats;
    for (uint32_t s = 0; s < j->podsets; s++)
        if (!required_hold(&h, h.pods, s))
            return "a required level does not contain what it has become";
    return unknown_overrun(&h, seat, seats) ? "devices that unplaced seats may hold" : NULL;
}

/* ---- figures ---- */

int64_t oracle_free_milli(const struct o_world *w, const struct o_job *j)
{
    static struct hunt h;
    uint64_t models = 0;
    int64_t sum = 0;

    hunt_start(&h, w, j, 0, 0);
    for (uint32_t s = 0; s < j->podsets; s++)
        models |= j->podset[s].gpus ? w->class[j->podset[s].class_id].models : 0;
    for (uint32_t n = 0; n < w->hosts; n++)
        for (unsigned d = 0; d < w->host[n].gpus; d++)
            if (w->host[n].state == O_UP && (models >> w->host[n].model & 1) &&
                !(w->host[n].failed >> d & 1))
                sum += 1000 - (int64_t)h.room[n].milli[d];
    return sum;
}

bool oracle_sane(const struct o_world *w)
{
    static struct hunt h;
    static bool whole[O_HOSTS][O_GPUS];
    static uint32_t slots[O_HOSTS][O_GPUS];

    hunt_start(&h, w, &w->job[0], 0, 0);
    memset(whole, 0, sizeof(whole));
    memset(slots, 0, sizeof(slots));
    for (unsigned n = 0; n < w->jobs; n++)
        for (unsigned s = 0; s < w->job[n].seats && w->job[n].live; s++) {
            const struct o_seat *t = &w->job[n].seat[s];
            const struct o_podset *p = &w->job[n].podset[t->podset];

            for (unsigned d = 0; d < O_GPUS; d++) {
                if (!(t->devices >> d & 1))
                    continue;
                whole[t->host][d] |= !is_share(p);
                if (p->profile == O_NONE)
                    continue;

                uint32_t bits = slot_bits(mig_of(w, p->profile, w->host[t->host].model), t->slot);

                if (slots[t->host][d] & bits)
                    return false;
                slots[t->host][d] |= bits;
            }
        }
    for (unsigned n = 0; n < w->hosts; n++)
        for (unsigned d = 0; d < O_GPUS; d++) {
            const struct o_room *r = &h.room[n];

            if (whole[n][d] && r->holders[d] > 1)
                return false;
            if (r->milli[d] > 1000 || (slots[n][d] && (r->milli[d] || r->mib[d])))
                return false;
            if (r->mib[d] && (int64_t)r->milli[d] * w->host[n].gpu_mib + 1000 * r->mib[d] >
                                 1000 * w->host[n].gpu_mib)
                return false;
        }
    return true;
}
