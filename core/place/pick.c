#include "core/place/pick.h"

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/place/pick_view.h"

#include <stdbool.h>

#define BIT(device) ((uint16_t)(1u << (device)))

/* Lanes of the word that weighs a set's own links, from the lowest: pairs by what they share, as in
 * the pair word but counted down from PAIRS_FULL; weakest link; sum of link; tier. */
#define OWN_MIN    23
#define OWN_SUM    39
#define OWN_TIER   62
#define PAIRS_FULL ((UINT64_C(1) << 21) - 1)

/* A set on its way to the asked size. */
struct step {
    uint16_t set;
    uint64_t pairs;                /* sum of the pair words */
    uint64_t keep, near;           /* the view's words less what the devices cost */
    uint64_t gain[SHAPE_GPUS_MAX]; /* what each device would add to pairs; unset where even */
};

/* Depth first over the numbers taken of each class of twins, since of twins the lowest are taken.
 * Of two classes that could be swapped, the lower one must give as many, since the mask decides. */
struct search {
    struct pick_view view;
    unsigned gpus, count;
    uint8_t device[SHAPE_GPUS_MAX]; /* the candidates, twins side by side and rising */
    uint8_t next[SHAPE_GPUS_MAX];   /* the place behind the last twin of this one */
    uint16_t needs[SHAPE_GPUS_MAX]; /* what must be taken before this one */
    uint16_t best;                  /* 0: none yet */
    bool best_grouped;              /* its group is in keep, which happens once a tie asks for it */
    uint64_t best_own, best_keep, best_near;
    struct step step[SHAPE_GPUS_MAX + 1];
};

/* The last of the earlier classes that could be swapped with this one and lies wholly below it. In
 * a small mesh the look costs more than it spares. */
static uint16_t class_before(const struct search *f, const uint16_t *class, unsigned classes)
{
    uint16_t this = class[classes];

    if (!f->view.flat && f->view.shape->gpus <= 8)
        return 0;
    for (unsigned i = classes; i-- > 0;)
        if (class[i] < (this & ~(this - 1u)) && pick_view_alike(&f->view, class[i], this))
            return class[i];
    return 0;
}

static void classes_init(struct search *f, uint16_t pool)
{
    uint16_t class[SHAPE_GPUS_MAX];
    unsigned classes = 0;

    f->count = 0;
    while (pool != 0) {
        class[classes] = pick_view_twins(&f->view, bits_low(pool), pool);
        pool &= (uint16_t) ~class[classes];
        uint64_t before = class_before(f, class, classes);
        unsigned place = f->count;

        f->count += bits_count16(class[classes]);
        for (uint64_t m = class[classes++]; m != 0; m = bits_drop_low(m), place++) {
            f->device[place] = (uint8_t)bits_low(m);
            f->next[place] = (uint8_t)f->count;
            f->needs[place] = (uint16_t)(before & ~(before - 1));
            before = bits_drop_low(before);
        }
    }
}

/* A pod of one is quicker tried on every device than sorted into classes. */
static void singles_init(struct search *f, uint16_t pool)
{
    unsigned place = 0;

    f->count = bits_count16(pool);
    for (uint64_t m = pool; m != 0; m = bits_drop_low(m)) {
        f->device[place] = (uint8_t)bits_low(m);
        f->needs[place] = 0;
        f->next[place] = (uint8_t)(place + 1);
        place++;
    }
}

static void search_init(struct search *f, unsigned gpus, uint16_t pool)
{
    struct step *empty = &f->step[0];

    f->gpus = gpus;
    f->best = 0;
    f->best_own = 0;
    if (gpus == 1)
        singles_init(f, pool);
    else
        classes_init(f, pool);
    empty->set = 0;
    empty->pairs = 0;
    empty->keep = f->view.keep;
    empty->near = NEAR_FULL;
    if (!f->view.even)
        for (unsigned i = 0; i < SHAPE_GPUS_MAX; i++)
            empty->gain[i] = 0;
}

static void step_near(const struct pick_view *v, const struct step *from, unsigned device,
                      struct step *to)
{
    uint16_t set = from->set;

    to->set = set | BIT(device);
    to->near = from->near - BIT(device);
    if ((v->peers[SHAPE_NUMA][device] & set) == 0)
        to->near -= v->cost[SHAPE_NUMA][device];
    if ((v->peers[SHAPE_PCIE][device] & set) == 0)
        to->near -= v->cost[SHAPE_PCIE][device];
}

static void step_links(const struct pick_view *v, const struct step *from, unsigned device,
                       struct step *to)
{
    uint64_t gain = from->gain[device];

    to->pairs = from->pairs + gain;
    to->keep = from->keep - (v->degree[device] - (gain & PAIR_LINK));
    if ((v->peers[SHAPE_ISLAND][device] & from->set) == 0)
        to->keep -= v->cost[SHAPE_ISLAND][device];
}

static void add_eight(uint64_t *restrict to, const uint64_t *restrict a, const uint64_t *restrict b)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = a[i] + b[i];
}

static void step_gain(const struct pick_view *v, const struct step *from, unsigned device,
                      struct step *to)
{
    const uint64_t *row = v->pair[device];

    add_eight(to->gain, from->gain, row);
    if (v->shape->gpus > 8)
        add_eight(to->gain + 8, from->gain + 8, row + 8);
}

/* 3: every pair inside one island, to 0: some pair shares only the host. */
static uint64_t tier_of(uint64_t pairs)
{
    if (pairs >> PAIR_HOST)
        return 0;
    if (pairs >> PAIR_NUMA)
        return 1;
    return pairs >> PAIR_PCIE ? 2 : 3;
}

static uint64_t own_word(uint64_t pairs, uint32_t weakest)
{
    return (tier_of(pairs) << OWN_TIER) + ((pairs & PAIR_LINK) << OWN_SUM) +
           ((uint64_t)weakest << OWN_MIN) + (PAIRS_FULL - (pairs >> PAIR_PCIE));
}

static uint32_t link_min(const struct pick_view *v, uint16_t set)
{
    uint64_t weakest = PAIR_LINK;

    for (uint64_t m = set; m != 0; m = bits_drop_low(m)) {
        const uint64_t *row = v->pair[bits_low(m)];

        for (uint64_t other = bits_drop_low(m); other != 0; other = bits_drop_low(other)) {
            uint64_t link = row[bits_low(other)] & PAIR_LINK;

            weakest = link < weakest ? link : weakest;
        }
    }
    return weakest == PAIR_LINK ? 0 : (uint32_t)weakest;
}

/* The most that the devices still to be taken, those from this place on, can add to the sum of
 * link: each its gain, and what they have among themselves. */
static uint64_t sum_room(const struct search *f, const struct step *from, unsigned place,
                         unsigned have)
{
    const struct pick_view *v = &f->view;
    const uint64_t *row = v->pair[f->device[place]];
    uint64_t want = f->gpus - have, top = 0;
    uint64_t by_degree = want * v->degree_max, among = want * (want - 1) / 2 * v->link_max;

    for (unsigned i = place + 1; i < f->count; i++) {
        unsigned device = f->device[i];
        uint64_t gain = (from->gain[device] + row[device]) & PAIR_LINK;

        top = gain > top ? gain : top;
    }
    among = among < by_degree / 2 ? among : by_degree / 2;
    uint64_t by_gain = want * top + among;

    return by_gain < by_degree ? by_gain : by_degree;
}

/* The own word as good as it can be once the device at this place and more are taken. */
static uint64_t own_room(const struct search *f, const struct step *from, unsigned place,
                         unsigned have)
{
    const struct pick_view *v = &f->view;
    uint64_t pairs = from->pairs + from->gain[f->device[place]];
    bool split = pairs >> PAIR_PCIE != 0;
    uint64_t room = v->link_max == 0 ? 0 : sum_room(f, from, place, have);

    return own_word(pairs + room, v->flat && split ? 0 : v->link_max);
}

static uint64_t group_lane(struct search *f, uint16_t set)
{
    return (uint64_t)pick_view_group(&f->view, f->view.free & (uint16_t)~set) << KEEP_GROUP;
}

/* Compares the lanes above the group first, since a group is dear. */
static int compare_keep(struct search *f, const struct step *at, uint64_t *ret_keep,
                        bool *ret_grouped)
{
    uint64_t high = at->keep >> KEEP_HEALTHY, best_high = f->best_keep >> KEEP_HEALTHY;

    *ret_keep = at->keep;
    *ret_grouped = false;
    if (high != best_high)
        return high > best_high ? 1 : -1;
    if (!f->best_grouped) {
        f->best_keep += group_lane(f, f->best);
        f->best_grouped = true;
    }
    *ret_keep += group_lane(f, at->set);
    *ret_grouped = true;
    return (*ret_keep > f->best_keep) - (*ret_keep < f->best_keep);
}

/* Whether keep, as good as it can still be once the set is complete, beats the best's: 1, 0, -1. */
static int compare_keep_room(const struct search *f, const struct step *at)
{
    uint64_t high = at->keep >> KEEP_HEALTHY, best_high = f->best_keep >> KEEP_HEALTHY;

    if (high != best_high)
        return high > best_high ? 1 : -1;
    return f->view.groups == 0 && f->view.flat ? 0 : 1;
}

/* Takes the device at this place if some set that contains it then could still beat the best. */
static bool step_take(struct search *f, unsigned have, unsigned place)
{
    const struct pick_view *v = &f->view;
    const struct step *from = &f->step[have];
    struct step *to = &f->step[have + 1];
    unsigned device = f->device[place];
    uint64_t own = 0;

    if (!v->even) {
        own = own_room(f, from, place, have + 1);
        if (own < f->best_own)
            return false;
        step_links(v, from, device, to);
    }
    step_near(v, from, device, to);
    if (f->best != 0 && own == f->best_own) {
        int order = v->even ? 0 : compare_keep_room(f, to);

        if (order < 0 || (order == 0 && to->near < f->best_near))
            return false;
    }
    if (!v->even)
        step_gain(v, from, device, to);
    return true;
}

static void offer_even(struct search *f, const struct step *from, unsigned device)
{
    struct step to;

    step_near(&f->view, from, device, &to);
    if (f->best == 0 || to.near > f->best_near) {
        f->best = to.set;
        f->best_near = to.near;
    }
}

/* The last device of a set: most sets fall at the first comparison. */
static void offer(struct search *f, const struct step *from, unsigned device)
{
    const struct pick_view *v = &f->view;
    bool grouped = false;
    struct step to;

    if (v->even) {
        offer_even(f, from, device);
        return;
    }
    uint64_t pairs = from->pairs + from->gain[device];
    uint64_t own = own_word(pairs, 0), keep;

    if (own >> OWN_SUM < f->best_own >> OWN_SUM)
        return;
    step_near(v, from, device, &to);
    step_links(v, from, device, &to);
    if (!v->flat)
        own += (uint64_t)link_min(v, to.set) << OWN_MIN;
    else if (pairs >> PAIR_PCIE == 0)
        own += (uint64_t)v->link_max << OWN_MIN;
    if (own < f->best_own)
        return;
    keep = to.keep;
    if (own == f->best_own) {
        int order = compare_keep(f, &to, &keep, &grouped);

        if (order < 0 || (order == 0 && to.near < f->best_near))
            return;
    }
    f->best = to.set;
    f->best_own = own;
    f->best_keep = keep;
    f->best_grouped = grouped;
    f->best_near = to.near;
}

static void search_run(struct search *f)
{
    uint8_t taken[SHAPE_GPUS_MAX]; /* places in device[] */
    unsigned have = 0, place = 0;

    for (;;) {
        if (f->count - place < f->gpus - have) {
            if (have == 0)
                return;
            place = f->next[taken[--have]];
        } else if (f->needs[place] & ~f->step[have].set) {
            place = f->next[place];
        } else if (have + 1 == f->gpus) {
            offer(f, &f->step[have], f->device[place]);
            place = f->next[place];
        } else if (step_take(f, have, place)) {
            taken[have++] = (uint8_t)place++;
        } else {
            place = f->next[place];
        }
    }
}

uint16_t pick_whole(const struct shape *s, unsigned gpus, uint16_t healthy, uint16_t free,
                    uint16_t within)
{
    uint16_t pool = free & within;
    struct search f;

    must(gpus >= 1);
    must(free >> s->gpus == 0);
    must((free & ~healthy) == 0);
    if (bits_count16(pool) <= gpus)
        return bits_count16(pool) == gpus ? pool : 0;
    pick_view_init(&f.view, s, healthy, free);
    search_init(&f, gpus, pool);
    search_run(&f);
    must(f.best != 0);
    return f.best;
}

/* Parts of the devices, one of no part counting as one. */
static unsigned parts_touched(const struct shape *s, enum shape_part part, uint16_t devices)
{
    unsigned touched = 0;

    while (devices != 0) {
        unsigned first = bits_low(devices);

        devices &= (uint16_t) ~(shape_part_mask(s, part, first) | BIT(first));
        touched++;
    }
    return touched;
}

static unsigned islands_opened(const struct shape *s, uint16_t healthy, uint16_t free,
                               uint16_t devices)
{
    unsigned opened = 0;

    while (devices != 0) {
        unsigned first = bits_low(devices);
        uint16_t island = shape_part_mask(s, SHAPE_ISLAND, first) & healthy;

        devices &= (uint16_t) ~(island | BIT(first));
        opened += bits_count16(island) > 1 && (island & ~free) == 0;
    }
    return opened;
}

struct pick_worth pick_worth(const struct shape *s, uint16_t healthy, uint16_t free,
                             uint16_t devices)
{
    struct pick_worth worth = {0};
    bool paired = false;

    must(devices >> s->gpus == 0);
    for (uint64_t m = devices; m != 0; m = bits_drop_low(m))
        for (uint64_t other = bits_drop_low(m); other != 0; other = bits_drop_low(other)) {
            uint32_t link = pick_view_link(s, bits_low(m), bits_low(other));

            worth.link_sum += link;
            if (!paired || link < worth.link_min)
                worth.link_min = link;
            paired = true;
        }
    worth.islands = parts_touched(s, SHAPE_ISLAND, devices);
    worth.islands_broken = islands_opened(s, healthy, free, devices);
    worth.numas = parts_touched(s, SHAPE_NUMA, devices);
    worth.switches = parts_touched(s, SHAPE_PCIE, devices);
    return worth;
}
