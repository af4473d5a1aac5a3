#include "core/place/relax.h"

#include "core/base/bits.h"
#include "core/model/job.h"

#define LOOKS_MAX 400000 /* rooms looked at in one proof */

/* A podset and the domain that is tried for it. */
struct demand {
    const struct podset *p;
    uint32_t pods;
    unsigned scope;       /* the level it names; SCOPE_OF_CLUSTER: none above the devices */
    uint32_t room;        /* the domain is that of this room; ROW_NONE: none tried yet */
    uint32_t gpus_needed; /* of wholly free devices */
};

struct proof {
    struct view *v;
    const struct room *room;
    uint32_t rooms, sets;
    struct demand set[PODSETS_MAX];
    uint64_t looks;
};

static bool same_domain(const struct proof *x, unsigned scope, uint32_t a, uint32_t b)
{
    if (scope == SCOPE_OF_CLUSTER)
        return true;
    if (scope <= SCOPE_OF_HOST)
        return a == b;
    return board_row(x->v->m, x->room[a].host)->domain[scope - SCOPE_OF_LEVEL] ==
           board_row(x->v->m, x->room[b].host)->domain[scope - SCOPE_OF_LEVEL];
}

/* Does the set alone fit into the domain, and with those that were put there before it? */
static bool passes(struct proof *x, uint32_t n)
{
    const struct demand *d = &x->set[n];
    uint64_t pods = 0, devices = 0, needed = d->gpus_needed;

    for (uint32_t e = 0; e < n; e++)
        if (x->set[e].scope == d->scope && same_domain(x, d->scope, x->set[e].room, d->room))
            needed += x->set[e].gpus_needed;
    for (uint32_t r = 0; r < x->rooms && (pods < d->pods || devices < needed); r++) {
        x->looks++;
        if (!same_domain(x, d->scope, d->room, r))
            continue;
        devices += room_whole(&x->room[r]);
        if (pods < d->pods && view_open(x->v, x->room[r].host, d->p))
            pods += room_pods(x->v, &x->room[r], d->p);
    }
    return pods >= d->pods && devices >= needed;
}

/* The room is the first of its domain, and the domain exists. */
static bool leads_domain(struct proof *x, unsigned scope, uint32_t room)
{
    if (scope >= SCOPE_OF_LEVEL && scope < SCOPE_OF_CLUSTER &&
        board_row(x->v->m, x->room[room].host)->domain[scope - SCOPE_OF_LEVEL] == ROW_NONE)
        return false;
    if (scope <= SCOPE_OF_HOST)
        return true;
    for (uint32_t r = 0; r < room; r++) {
        x->looks++;
        if (same_domain(x, scope, r, room))
            return false;
    }
    return true;
}

/* The next domain for the set that passes; equal sets keep the order of their domains. */
static bool advance(struct proof *x, uint32_t n)
{
    struct demand *d = &x->set[n];
    uint32_t from = d->room == ROW_NONE ? 0 : d->room + 1;

    if (d->room == ROW_NONE && n > 0 && x->set[n - 1].scope == d->scope &&
        podset_alike(x->set[n - 1].p, d->p))
        from = x->set[n - 1].room;
    for (d->room = from; d->room < x->rooms && x->looks < LOOKS_MAX; d->room++)
        if (leads_domain(x, d->scope, d->room) && passes(x, n))
            return true;
    d->room = ROW_NONE;
    return false;
}

static bool list_sets(struct proof *x, bool full)
{
    uint64_t needed = 0, devices = 0;

    for (uint32_t id = job_row(x->v->m, x->v->job)->podset_head; id != ROW_NONE;
         id = podset_row(x->v->m, id)->next) {
        const struct podset *p = podset_row(x->v->m, id);
        struct demand *d = &x->set[x->sets++];
        uint64_t levels = view_minds(x->v, LIMIT(TOPOLOGY)) ? p->required & ~SCOPE_PARTS : 0;

        levels &= SCOPE_BIT(SCOPE_OF_CLUSTER) - 1;
        d->p = p;
        d->pods = full ? podset_most(x->v, p) : podset_least(x->v, p);
        d->scope = levels ? bits_low(levels) : SCOPE_OF_CLUSTER;
        d->room = ROW_NONE;
        d->gpus_needed = podset_is_share(p) ? 0 : d->pods * p->gpus;
        needed += d->gpus_needed;
    }
    for (uint32_t r = 0; r < x->rooms && devices < needed; r++)
        devices += room_whole(&x->room[r]);
    return devices >= needed;
}

bool relax_hopeless(struct view *v, const struct room *rooms, uint32_t room_count, bool full)
{
    struct proof x = {.v = v, .room = rooms, .rooms = room_count};
    uint32_t n = 0;

    if (!list_sets(&x, full))
        return true;
    while (n < x.sets) {
        if (x.set[n].pods == 0) {
            /* Nothing to place: any domain will do. Coming back to it means there is no other. */
            if (x.set[n].room == ROW_NONE) {
                x.set[n++].room = 0;
                continue;
            }
            x.set[n].room = ROW_NONE;
        } else if (advance(&x, n)) {
            n++;
            continue;
        }
        if (n == 0 || x.looks >= LOOKS_MAX)
            break;
        n--;
    }
    v->steps += x.looks / 64;
    return n < x.sets && x.looks < LOOKS_MAX;
}
