#include "core/place/pick_view.h"

#include "core/base/bits.h"
#include "core/base/must.h"

#define BIT(device) ((uint16_t)(1u << (device)))

uint32_t pick_view_link(const struct shape *s, unsigned a, unsigned b)
{
    if (s->links_known)
        return s->link[a][b];
    return a != b && s->part[SHAPE_ISLAND][a] != SHAPE_NO_PART &&
           s->part[SHAPE_ISLAND][a] == s->part[SHAPE_ISLAND][b];
}

/* What touching a part of so many healthy and free devices costs, but for its NICs. */
static uint64_t part_cost(enum shape_part part, uint64_t healthy, uint64_t free)
{
    uint64_t whole = free == healthy && free > 1;

    if (part == SHAPE_ISLAND)
        return (whole << KEEP_WHOLE) + (free << KEEP_FREE) + (healthy << KEEP_HEALTHY);
    if (part == SHAPE_NUMA)
        return (UINT64_C(1) << NEAR_NUMA) + (whole << NEAR_NUMA_WHOLE) + (free << NEAR_NUMA_FREE);
    return (UINT64_C(1) << NEAR_PCIE) + (whole << NEAR_PCIE_WHOLE) + (free << NEAR_PCIE_FREE);
}

static uint64_t nics_cost(const struct shape *s, unsigned device)
{
    uint8_t number = s->part[SHAPE_PCIE][device];

    must(number < SHAPE_GPUS_MAX);
    return (uint64_t)s->nics[number] << NEAR_NICS;
}

static void alone_init(struct pick_view *v, enum shape_part part)
{
    const uint64_t cost = part_cost(part, 1, 1);
    uint16_t alone = 0;

    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m)) {
        unsigned device = bits_low(m);

        if (v->shape->part[part][device] != SHAPE_NO_PART)
            continue;
        alone |= BIT(device);
        v->peers[part][device] = BIT(device);
        v->cost[part][device] = cost;
    }
    v->alone[part] = alone;
}

static void part_init(struct pick_view *v, enum shape_part part, uint16_t healthy)
{
    uint16_t todo = v->free & (uint16_t)~v->alone[part];

    while (todo != 0) {
        unsigned first = bits_low(todo);
        uint16_t all = shape_part_mask(v->shape, part, first);
        uint16_t peers = all & v->free;
        uint64_t cost = part_cost(part, bits_count16(all & healthy), bits_count16(peers));

        if (part == SHAPE_PCIE)
            cost += nics_cost(v->shape, first);
        todo &= (uint16_t)~peers;
        for (uint64_t m = peers; m != 0; m = bits_drop_low(m)) {
            v->peers[part][bits_low(m)] = peers;
            v->cost[part][bits_low(m)] = cost;
        }
    }
}

/* True if one island holds every free device and all their pairs have the same link. */
static bool links_even(const struct pick_view *v)
{
    uint64_t rest = bits_drop_low(v->free);

    if (rest == 0)
        return true;
    unsigned first = bits_low(v->free);
    uint16_t unit = v->shape->link[first][bits_low(rest)];

    if (v->peers[SHAPE_ISLAND][first] != v->free)
        return false;
    if (!v->shape->links_known)
        return true;
    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m)) {
        const uint16_t *row = v->shape->link[bits_low(m)];

        for (uint64_t later = bits_drop_low(m); later != 0; later = bits_drop_low(later))
            if (row[bits_low(later)] != unit)
                return false;
    }
    return true;
}

/* What a pair shares where it is not an island. */
static uint64_t pair_lane(const struct pick_view *v, unsigned a, unsigned b)
{
    if (bits_has(v->peers[SHAPE_PCIE][a], b))
        return UINT64_C(1) << PAIR_PCIE;
    if (bits_has(v->peers[SHAPE_NUMA][a], b))
        return UINT64_C(1) << PAIR_NUMA;
    return UINT64_C(1) << PAIR_HOST;
}

/* Links inside islands, for flat: all alike if low is high; across: any of the others. */
struct links_met {
    uint32_t low, high, across;
};

static void row_init(struct pick_view *v, unsigned a, struct links_met *met)
{
    uint16_t island = v->peers[SHAPE_ISLAND][a];
    uint64_t later = v->free & ~(((uint64_t)BIT(a) << 1) - 1);

    for (; later != 0; later = bits_drop_low(later)) {
        unsigned b = bits_low(later);
        bool inside = bits_has(island, b);
        uint32_t link = v->shape->links_known ? v->shape->link[a][b] : inside;

        v->degree[a] += link;
        v->degree[b] += link;
        if (inside) {
            met->low = link < met->low ? link : met->low;
            met->high = link > met->high ? link : met->high;
        } else {
            met->across = link > met->across ? link : met->across;
        }
        v->pair[a][b] = link + (inside ? 0 : pair_lane(v, a, b));
        v->pair[b][a] = v->pair[a][b];
    }
}

static void pairs_init(struct pick_view *v)
{
    struct links_met met = {.low = UINT32_MAX};
    uint64_t twice = 0;

    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m)) {
        v->degree[bits_low(m)] = 0;
        for (unsigned i = 0; i < SHAPE_GPUS_MAX; i++)
            v->pair[bits_low(m)][i] = 0;
    }
    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m))
        row_init(v, bits_low(m), &met);
    v->flat = met.across == 0 && met.low >= met.high;
    v->link_max = met.high > met.across ? met.high : met.across;
    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m)) {
        unsigned a = bits_low(m);

        twice += v->degree[a];
        if (v->degree[a] > v->degree_max)
            v->degree_max = v->degree[a];
        if (v->flat && v->degree[a] > 0 && a == bits_low(v->peers[SHAPE_ISLAND][a]))
            v->group[v->groups++] = v->peers[SHAPE_ISLAND][a];
    }
    v->keep += twice / 2;
}

void pick_view_init(struct pick_view *v, const struct shape *s, uint16_t healthy, uint16_t free)
{
    v->shape = s;
    v->free = free;
    v->degree_max = 0;
    v->link_max = 0;
    v->groups = 0;
    v->keep = KEEP_FULL;
    for (unsigned part = 0; part < SHAPE_PART_COUNT; part++) {
        alone_init(v, (enum shape_part)part);
        part_init(v, (enum shape_part)part, healthy);
    }
    v->even = links_even(v);
    v->flat = true;
    if (!v->even)
        pairs_init(v);
    v->grouped = v->flat;
}

/* True if two devices have the same links to all free ones but those of skip. */
static bool links_alike(const struct pick_view *v, unsigned a, unsigned b, uint16_t skip)
{
    uint64_t others = v->free & ~(uint64_t)skip;

    while (others != 0 &&
           v->shape->link[a][bits_low(others)] == v->shape->link[b][bits_low(others)])
        others = bits_drop_low(others);
    return others == 0;
}

uint16_t pick_view_twins(const struct pick_view *v, unsigned device, uint16_t pool)
{
    uint16_t twins = pool;

    for (unsigned part = 0; part < SHAPE_PART_COUNT; part++)
        twins &= bits_has(v->alone[part], device) ? v->alone[part] : v->peers[part][device];
    if (v->flat)
        return twins;
    for (uint64_t m = twins & ~BIT(device); m != 0; m = bits_drop_low(m)) {
        unsigned twin = bits_low(m);

        if (!links_alike(v, device, twin, BIT(device) | BIT(twin)))
            twins &= (uint16_t)~BIT(twin);
    }
    return twins;
}

bool pick_view_alike(const struct pick_view *v, uint16_t a, uint16_t b)
{
    unsigned first = bits_low(a), other = bits_low(b);

    if (bits_count16(a) != bits_count16(b))
        return false;
    for (unsigned part = 0; part < SHAPE_PART_COUNT; part++) {
        if (v->peers[part][first] == v->peers[part][other])
            continue;
        bool alone = bits_has(v->alone[part], first) && bits_has(v->alone[part], other);
        bool whole = v->peers[part][first] == a && v->peers[part][other] == b;

        if (!(alone || whole) || v->cost[part][first] != v->cost[part][other])
            return false;
    }
    if (v->flat)
        return true;
    if (bits_drop_low(a) != 0 && v->shape->link[first][bits_low(bits_drop_low(a))] !=
                                     v->shape->link[other][bits_low(bits_drop_low(b))])
        return false;
    return links_alike(v, first, other, a | b);
}

/* One level of the clique search: the clique so far can grow by any of some; what it was grown by
 * before is in tried, and todo is what is left to try here. */
struct grown {
    uint16_t some, tried, todo;
};

/* Any maximal clique leaves out a device that it could not have been grown by: it is enough to try
 * the lowest one and those it is not linked to (Bron and Kerbosch, 1973, with a pivot). */
static uint16_t to_try(const uint16_t *linked, uint16_t some)
{
    return some & (uint16_t)~linked[bits_low(some)];
}

static void groups_find(struct pick_view *v, const uint16_t *linked)
{
    struct grown level[SHAPE_GPUS_MAX + 1];
    uint16_t member[SHAPE_GPUS_MAX + 1];
    unsigned depth = 0;

    member[0] = 0;
    level[0] = (struct grown){.some = v->free, .todo = to_try(linked, v->free)};
    for (;;) {
        struct grown *at = &level[depth];

        if (at->todo == 0) {
            if (depth-- == 0)
                return;
            continue;
        }
        unsigned device = bits_low(at->todo);
        uint16_t some = at->some & linked[device], tried = at->tried & linked[device];

        at->todo &= (uint16_t)~BIT(device);
        at->some &= (uint16_t)~BIT(device);
        at->tried |= BIT(device);
        member[depth + 1] = member[depth] | BIT(device);
        if (some != 0) {
            depth++;
            level[depth] = (struct grown){some, tried, to_try(linked, some)};
        } else if (tried == 0) {
            must(v->groups < PICK_GROUPS_MAX);
            v->group[v->groups++] = member[depth + 1];
        }
    }
}

/* A mask's largest group lacks its highest device or consists of it and some it is linked to. */
static void largest_find(struct pick_view *v, const uint16_t *linked)
{
    v->largest[0] = 0;
    for (unsigned top = 0; top < 8; top++) {
        uint8_t *with = v->largest + (1u << top);

        for (unsigned rest = 0; rest < 1u << top; rest++) {
            uint8_t joined = (uint8_t)(v->largest[rest & linked[top]] + 1);

            with[rest] = joined > v->largest[rest] ? joined : v->largest[rest];
        }
    }
}

static void group_init(struct pick_view *v)
{
    uint16_t linked[SHAPE_GPUS_MAX] = {0};

    for (uint64_t m = v->free; m != 0; m = bits_drop_low(m)) {
        unsigned device = bits_low(m);

        for (uint64_t later = bits_drop_low(m); later != 0; later = bits_drop_low(later)) {
            unsigned other = bits_low(later);
            unsigned link = v->shape->link[device][other] != 0;

            linked[device] |= (uint16_t)(link << other);
            linked[other] |= (uint16_t)(link << device);
        }
    }
    if (v->shape->gpus <= 8)
        largest_find(v, linked);
    else
        groups_find(v, linked);
    v->grouped = true;
}

unsigned pick_view_group(struct pick_view *v, uint16_t left)
{
    unsigned largest = left != 0, most = bits_count16(left);

    if (!v->grouped)
        group_init(v);
    if (!v->flat && v->shape->gpus <= 8)
        return v->largest[left];
    for (unsigned i = 0; i < v->groups && largest < most; i++) {
        unsigned count = bits_count16(v->group[i] & left);

        if (count > largest)
            largest = count;
    }
    return largest;
}
