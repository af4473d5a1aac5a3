#include "core/place/mixed.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/job.h"
#include "core/place/equal.h"
#include "core/place/relax.h"
#include "core/place/room.h"

/* One pod of the descent: where it sits now, and how to try the next place. */
struct step {
    uint32_t podset, order; /* row id; position within its podset */
    uint32_t room;          /* index of the room it sits in */
    uint16_t devices;
    uint8_t slot;
    bool placed, card_was_ours;
    uint32_t group_first, group_pods; /* first step of its podset, and its steps */
    uint32_t slice_first;             /* first step of its slice */
};

struct search {
    struct view *v;
    struct room *room;
    struct step *step;
    uint32_t rooms, steps;
    uint64_t parts; /* partitions that some set names */
    bool shares;    /* some set asks for a part of a device */
    bool all_hosts; /* no usable host was left out for lack of memory */
};

/* Scratch is carved anew for every search: rooms, then steps. */
static uint32_t carve(struct search *s)
{
    struct model *m;
    union {
        const struct model *in;
        struct model *out;
    } door = {.in = s->v->m};
    uint32_t depth = s->v->m->limits.depth;

    m = door.out; /* scratch is no fact */
    s->room = (struct room *)(void *)((char *)m + m->scratch_at);
    s->step = (struct step *)(void *)(s->room + depth);
    must((uint64_t)depth * (sizeof(struct room) + sizeof(struct step) + sizeof(struct mixed_pod)) <=
         m->scratch_bytes);
    return depth;
}

/* Larger asks first; equal ones in the order of the ask. */
static bool before(const struct podset *a, const struct podset *b)
{
    if (a->gpus != b->gpus)
        return a->gpus > b->gpus;
    if (podset_is_share(a) != podset_is_share(b))
        return !podset_is_share(a);
    if (a->slice_pods != b->slice_pods)
        return a->slice_pods > b->slice_pods;
    if (bits_count64(a->required) != bits_count64(b->required))
        return bits_count64(a->required) > bits_count64(b->required);
    return a->cpu_milli > b->cpu_milli;
}

static unsigned sorted_sets(const struct view *v, uint32_t *ret_sets)
{
    unsigned count = 0;

    for (uint32_t p = job_row(v->m, v->job)->podset_head; p != ROW_NONE;
         p = podset_row(v->m, p)->next) {
        unsigned at = count++;

        while (at > 0 && before(podset_row(v->m, p), podset_row(v->m, ret_sets[at - 1]))) {
            ret_sets[at] = ret_sets[at - 1];
            at--;
        }
        ret_sets[at] = p;
    }
    return count;
}

static bool plan_steps(struct search *s, bool full, uint32_t depth)
{
    uint32_t sets[PODSETS_MAX];
    unsigned count = sorted_sets(s->v, sets);

    for (unsigned n = 0; n < count; n++) {
        const struct podset *p = podset_row(s->v->m, sets[n]);
        uint32_t pods = full ? podset_most(s->v, p) : podset_least(s->v, p);
        uint32_t slice = view_minds(s->v, LIMIT(TOPOLOGY)) ? p->slice_pods : 0;
        uint32_t first = s->steps;

        if (podset_least(s->v, p) > podset_most(s->v, p) || s->steps + pods > depth)
            return false;
        for (uint32_t i = 0; i < pods; i++)
            s->step[s->steps++] =
                (struct step){.podset = sets[n],
                              .order = i,
                              .group_first = first,
                              .group_pods = pods,
                              .slice_first = slice ? first + i / slice * slice : first};
        s->shares |= podset_is_share(p);
        if (view_minds(s->v, LIMIT(TOPOLOGY))) {
            s->parts |= p->required & SCOPE_PARTS;
            if (slice && p->slice_scope < SHAPE_PART_COUNT)
                s->parts |= SCOPE_BIT(p->slice_scope);
        }
    }
    return true;
}

/* Hosts of the region that hold at least one pod of some set, the fullest first. */
static void fill_rooms(struct search *s, const struct region *r, uint32_t depth)
{
    uint32_t at = 0;

    s->all_hosts = true;
    for (uint32_t h = region_host(s->v, r, &at); h != ROW_NONE; h = region_host(s->v, r, &at)) {
        bool useful = false;
        struct room room;
        uint32_t to;

        s->v->steps++;
        for (uint32_t p = job_row(s->v->m, s->v->job)->podset_head; p != ROW_NONE && !useful;
             p = podset_row(s->v->m, p)->next)
            useful = view_open(s->v, h, podset_row(s->v->m, p)) &&
                     view_pods(s->v, h, podset_row(s->v->m, p), r->within) > 0;
        if (!useful)
            continue;
        if (s->rooms == ROOMS_MAX) {
            s->all_hosts = false;
            return;
        }
        must(s->rooms < depth);
        room = room_of(s->v, h, r->within);
        to = s->rooms++;
        while (to > 0 && room_whole(&s->room[to - 1]) > room_whole(&room)) {
            s->room[to] = s->room[to - 1];
            to--;
        }
        s->room[to] = room;
    }
}

/* What tells two rooms apart: what is left in them, and the domains and kind of their hosts. */
static uint64_t likeness(const struct search *s, const struct room *r)
{
    struct room same = *r;
    uint64_t word[sizeof(struct room) / 8];
    uint64_t hash;

    same.host = same.twin = 0;
    _Static_assert(sizeof(same) % 8 == 0, "rooms hash by words");
    memcpy(word, &same, sizeof(same));
    hash = hash_words(word, sizeof(word) / 8, r->kind);
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        hash = hash_mix(hash ^ board_row(s->v->m, r->host)->domain[l]);
    return hash_mix(hash ^ host_row(s->v->m, r->host)->state ^
                    (uint64_t)host_row(s->v->m, r->host)->leave_at_ns << 3);
}

/* Links each room to the nearest one before it that is just like it: of untouched twins only the
 * first is tried, since any answer with another is the same answer by another name. */
static void find_twins(struct search *s)
{
    enum { SEEN = 1024 };
    uint32_t last[SEEN];
    uint64_t hash[SEEN];

    for (unsigned n = 0; n < SEEN; n++)
        last[n] = ROW_NONE;
    for (uint32_t n = 0; n < s->rooms; n++) {
        uint64_t h = likeness(s, &s->room[n]);
        unsigned at = (unsigned)(h % SEEN);

        s->room[n].twin = last[at] != ROW_NONE && hash[at] == h ? last[at] : ROW_NONE;
        last[at] = n;
        hash[at] = h;
    }
}

/* Same domain of the scope for two placed pods, devices of either may be none. */
static bool together(const struct search *s, unsigned scope, const struct step *a,
                     const struct step *b)
{
    uint32_t ha = s->room[a->room].host, hb = s->room[b->room].host;

    if (scope >= SCOPE_OF_LEVEL)
        return scope == SCOPE_OF_CLUSTER ||
               board_row(s->v->m, ha)->domain[scope - SCOPE_OF_LEVEL] ==
                   board_row(s->v->m, hb)->domain[scope - SCOPE_OF_LEVEL];
    return ha == hb;
}

static bool in_one_part(const struct search *s, unsigned scope, const struct step *t,
                        uint16_t devices)
{
    const struct host *h = host_row(s->v->m, s->room[t->room].host);
    uint32_t shape = kind_row(s->v->m, h->kind)->shape;
    uint16_t masks[GPUS_MAX];

    if (devices == 0) /* any part will do, but there must be one */
        return view_masks(s->v, s->room[t->room].host, SCOPE_BIT(scope), masks) > 0;
    return shape != ROW_NONE &&
           shape_part_contains(&shape_row(s->v->m, shape)->shape, (enum shape_part)scope, devices);
}

/* Does the step keep to the scope with all steps of its group before it? */
static bool keeps(const struct search *s, unsigned scope, uint32_t first, uint32_t n)
{
    const struct step *t = &s->step[n];
    uint16_t devices = t->devices;

    if (scope >= SCOPE_OF_LEVEL && scope < SCOPE_OF_CLUSTER &&
        board_row(s->v->m, s->room[t->room].host)->domain[scope - SCOPE_OF_LEVEL] == ROW_NONE)
        return false;
    if (first < n && !together(s, scope, &s->step[first], t))
        return false;
    for (uint32_t e = first; e < n && scope < SHAPE_PART_COUNT; e++)
        devices |= s->step[e].devices;
    return scope >= SHAPE_PART_COUNT || in_one_part(s, scope, t, devices);
}

static bool keeps_all(const struct search *s, uint32_t n)
{
    const struct step *t = &s->step[n];
    const struct podset *p = podset_row(s->v->m, t->podset);

    if (!view_minds(s->v, LIMIT(TOPOLOGY)))
        return true;
    for (uint64_t scopes = p->required; scopes; scopes = bits_drop_low(scopes))
        if (!keeps(s, bits_low(scopes), t->group_first, n))
            return false;
    return !p->slice_pods || keeps(s, p->slice_scope, t->slice_first, n);
}

/* Pods that the group of the step still needs after it, and where they may go: a domain that is too
 * small is left at once, not after its last host was tried. */
static bool rest_has_room(const struct search *s, uint32_t n)
{
    const struct step *t = &s->step[n];
    const struct podset *p = podset_row(s->v->m, t->podset);
    bool slice = p->slice_pods && n == t->slice_first && p->slice_scope >= SCOPE_OF_HOST;
    uint64_t scopes = p->required & ~SCOPE_PARTS, need, have = 0;

    if (!view_minds(s->v, LIMIT(TOPOLOGY)) || (n != t->group_first && !slice))
        return true;
    if (slice)
        scopes |= SCOPE_BIT(p->slice_scope);
    need = slice ? p->slice_pods - 1 : t->group_pods - 1;
    for (uint32_t r = 0; r < s->rooms && have < need && scopes; r++) {
        struct step probe = {.room = r};
        bool in = view_open(s->v, s->room[r].host, p);

        for (uint64_t left = scopes; left && in; left = bits_drop_low(left))
            in = together(s, bits_low(left), t, &probe);
        have += in ? room_pods(s->v, &s->room[r], p) : 0;
    }
    return !scopes || have >= need;
}

/* Moves the step to its next place; false: there is none. */
static bool advance(struct search *s, uint32_t n)
{
    struct step *t = &s->step[n];
    const struct podset *p = podset_row(s->v->m, t->podset);
    uint16_t from = 0;

    if (t->placed) {
        room_give(s->v, &s->room[t->room], p, t->devices, t->slot, t->card_was_ours);
        t->placed = false;
        from = t->devices;
        if (p->gpus == 0)
            t->room++;
    } else if (n > t->slice_first) {
        /* Equal pods of one slice: not before the room of the one before. */
        t->room = s->step[n - 1].room;
    } else {
        t->room = 0;
    }
    for (; t->room < s->rooms; t->room++, from = 0) {
        struct room *r = &s->room[t->room];

        if (r->gang_pods == 0 && r->twin != ROW_NONE && s->room[r->twin].gang_pods == 0)
            continue;
        if (!view_open(s->v, r->host, p) || !room_counts(s->v, r, p))
            continue;
        /* A part of the host may be the one where the seats sit that nobody can place. */
        if (r->unknown && s->parts && p->gpus && view_minds(s->v, LIMIT(UNKNOWN)))
            continue;
        for (;;) {
            s->v->steps++;
            t->devices = room_next(s->v, r, p, s->parts, from);
            if (p->gpus && !t->devices)
                break;
            from = t->devices;
            if (keeps_all(s, n)) {
                t->card_was_ours = (r->gang_cards & t->devices) != 0;
                t->slot = room_take(s->v, r, p, t->devices);
                t->placed = true;
                if (rest_has_room(s, n))
                    return true;
                room_give(s->v, r, p, t->devices, t->slot, t->card_was_ours);
                t->placed = false;
            }
            if (p->gpus == 0 || s->v->steps > s->v->steps_max)
                break;
        }
        if (s->v->steps > s->v->steps_max)
            return false;
    }
    return false;
}

/* Takes the steps from..to-1 back. */
static void take_back(struct search *s, uint32_t from, uint32_t to)
{
    while (to-- > from) {
        struct step *t = &s->step[to];

        if (t->placed)
            room_give(s->v, &s->room[t->room], podset_row(s->v->m, t->podset), t->devices, t->slot,
                      t->card_was_ours);
        t->placed = false;
    }
}

/* Where a descent that stands still at step n goes back to. Quick: to the first pod of the podset,
 * or of the one before it: what matters most is in which domain a podset stands. */
static uint32_t back_from(struct search *s, uint32_t n, bool quick)
{
    uint32_t to = n - 1;

    if (quick) {
        to = s->step[n].group_first < n ? s->step[n].group_first : s->step[n - 1].group_first;
        take_back(s, to + 1, n);
    }
    return to;
}

/* Quick: looks at few alternatives and proves nothing by failing. */
static enum verdict descend(struct search *s, bool quick)
{
    uint32_t n = 0;

    while (n < s->steps) {
        if (advance(s, n)) {
            n++;
            continue;
        }
        if (n == 0 || s->v->steps > s->v->steps_max)
            break;
        n = back_from(s, n, quick);
    }
    if (n == s->steps)
        return VERDICT_FITS;
    take_back(s, 0, s->steps);
    if (s->v->steps > s->v->steps_max || quick || !s->all_hosts)
        return VERDICT_UNPROVEN;
    return VERDICT_NO;
}

/* A quick descent first; if that finds nothing, the complete one with the rest of the budget. */
static enum verdict search_pods(struct search *s)
{
    uint64_t steps_max = s->v->steps_max;
    enum verdict verdict;

    if (s->v->steps < steps_max)
        s->v->steps_max = s->v->steps + (steps_max - s->v->steps) / 2;
    verdict = descend(s, true);
    s->v->steps_max = steps_max;
    return verdict == VERDICT_FITS ? verdict : descend(s, false);
}

/* Each set alone, and all of them by the domains they name: cheap proofs of a no. */
static bool hopeless(struct search *s, const struct region *r, bool full)
{
    for (uint32_t id = job_row(s->v->m, s->v->job)->podset_head; id != ROW_NONE;
         id = podset_row(s->v->m, id)->next) {
        const struct podset *p = podset_row(s->v->m, id);
        uint32_t pods = full ? podset_most(s->v, p) : podset_least(s->v, p);

        if (p->required == 0 && equal_in_region(s->v, r, p, pods) < pods)
            return true;
    }
    return s->all_hosts && relax_hopeless(s->v, s->room, s->rooms, full);
}

enum verdict mixed_search(struct view *v, const struct region *r, bool full, struct mixed *ret)
{
    struct search s = {.v = v};
    uint32_t depth = carve(&s);
    struct mixed_pod *pod = (struct mixed_pod *)(void *)(s.step + depth);
    enum verdict verdict;

    if (!plan_steps(&s, full, depth))
        return s.steps > 0 && full ? VERDICT_UNPROVEN : VERDICT_NO;
    fill_rooms(&s, r, depth);
    find_twins(&s);
    if (hopeless(&s, r, full))
        return VERDICT_NO;
    verdict = search_pods(&s);
    if (verdict != VERDICT_FITS)
        return verdict;
    for (uint32_t n = 0; n < s.steps; n++)
        pod[n] = (struct mixed_pod){.podset = s.step[n].podset,
                                    .host = s.room[s.step[n].room].host,
                                    .devices = s.step[n].devices,
                                    .slot = s.step[n].slot};
    *ret =
        (struct mixed){.pod_count = s.steps, .pod = pod, .exact_devices = s.parts != 0 || s.shares};
    return VERDICT_FITS;
}
