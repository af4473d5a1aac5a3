#include "core/base/bits.h"
#include "core/model/job.h"
#include "core/place/rules/tally.h"
#include "core/place/score.h"

/* Room over is compared by the resource that the gang would fill most. */
__extension__ typedef __int128 wide;

/* asked / free, times 2^16: the higher, the fuller the gang makes it. */
static uint64_t ratio(int64_t asked, int64_t pods, int64_t free)
{
    wide all = (wide)asked * pods << 16;

    if (asked == 0)
        return 0;
    if (free <= 0)
        return (uint64_t)1000 << 16;
    all /= free;
    return all > INT64_MAX ? INT64_MAX : (uint64_t)all;
}

enum resource { OF_GPU, OF_CPU, OF_MEM, RESOURCES };

/* Sums stay in range. */
static int64_t bounded(int64_t free)
{
    return free < 0 ? 0 : free < UNLIMITED >> 24 ? free : UNLIMITED >> 24;
}

static int64_t free_on(const struct tally *t, uint32_t host, enum resource r)
{
    const struct host *h = host_row(t->v->m, host);

    if (r == OF_GPU)
        return (int64_t)MILLI_FULL * bits_count16(h->whole); /* fractions are not counted */
    return bounded(r == OF_CPU ? h->cpu_free_milli : h->mem_free_mib);
}

static int64_t asked_of(const struct tally *t, enum resource r)
{
    const struct podset *p = t->p;

    return r == OF_GPU ? (p->milli * p->gpus) : r == OF_CPU ? p->cpu_milli : p->mem_mib;
}

/* key: how full the gang would make it. */
static void weigh(struct tally *t, uint32_t pods)
{
    uint32_t nodes = t->first[t->levels + 1];

    for (enum resource r = OF_GPU; r < RESOURCES; r++) {
        for (uint32_t n = 0; n < nodes; n++)
            t->node[n].free = 0;
        for (uint32_t n = 0; n < nodes; n++) {
            struct tally_node *x = &t->node[n];
            uint64_t key;

            if (n < t->first[1])
                x->free = free_on(t, x->id, r);
            if (x->up != ROW_NONE)
                t->node[x->up].free += x->free;
            key = ratio(asked_of(t, r), pods, x->free);
            x->key = key > x->key ? key : x->key;
        }
    }
}

/* The order of a tree whose branches are sorted, the fullest first: cut is the place of the node
 * above, then of the node itself. */
static bool fuller(const struct tally_node *a, const struct tally_node *b)
{
    if (a->cut != b->cut)
        return a->cut < b->cut;
    return a->key != b->key ? a->key > b->key : a->id < b->id;
}

static void order_tree(struct tally *t, uint32_t lowest)
{
    for (uint32_t depth = t->levels + 1; depth-- > lowest;) {
        uint32_t count = tally_list(t, depth);

        for (uint32_t n = 0; n < count; n++) {
            uint32_t up = t->node[t->list[n]].up;

            t->node[t->list[n]].cut = up == ROW_NONE ? 0 : t->node[up].cut;
        }
        tally_sort(t, t->list, count, fuller);
        for (uint32_t n = 0; n < count; n++)
            t->node[t->list[n]].cut = n;
    }
}

/* The first node, in the order of the tree and of rising levels, that holds the gang; ROW_NONE:
 * only the whole does, or, where a level is needed, nothing. */
static uint32_t first_that_fits(const struct tally *t, uint32_t lowest, uint32_t pods)
{
    uint32_t highest = t->needed_depth == DEPTH_NONE ? t->levels : t->needed_depth;
    uint32_t best = ROW_NONE;

    for (uint32_t d = lowest; d <= highest && best == ROW_NONE; d++)
        for (uint32_t n = t->first[d]; n < t->first[d + 1]; n++)
            if (t->node[n].pods >= pods && (best == ROW_NONE || t->node[n].cut < t->node[best].cut))
                best = n;
    return best;
}

static uint32_t above(const struct tally *t, uint32_t node, uint32_t depth)
{
    while (depth-- > 0)
        node = t->node[node].up;
    return node;
}

/* Tenths that a host's preferred domain has gone through the order of such domains, as its score is
 * rounded. */
static uint32_t tenths(const struct tally *t, uint32_t node)
{
    if (t->preferred_depth == DEPTH_NONE)
        return 0;
    return (t->node[above(t, node, t->preferred_depth)].cut + 1) * 10 /
           tally_count(t, t->preferred_depth);
}

static bool packs_before(const struct tally_node *a, const struct tally_node *b)
{
    if (a->slices != b->slices)
        return a->slices > b->slices;
    return a->free != b->free ? a->free < b->free : a->id < b->id;
}

/* What a host has free of all it has once so much more is taken, in parts of a million. */
static int64_t spare_ppm(const struct tally *t, const struct tally_node *x, int64_t taken)
{
    const struct kind *k = kind_row(t->v->m, host_row(t->v->m, x->id)->kind);
    int64_t all = t->p->gpus ? (int64_t)k->gpus * MILLI_FULL : bounded(k->cpu_milli);

    return all > 0 && x->free > taken ? (x->free - taken) * 1000000 / all : 0;
}

/* Pod by pod to the host that is free most of all, for its size. False: no room for all. */
static bool spread_out(struct tally *t, uint32_t count, uint32_t pods)
{
    int64_t each = asked_of(t, t->p->gpus ? OF_GPU : OF_CPU), most = 0;

    for (; pods > 0; pods--) {
        struct tally_node *best = 0;

        for (uint32_t n = 0; n < count; n++) {
            struct tally_node *x = &t->node[t->list[n]];
            int64_t spare = spare_ppm(t, x, each * x->give);

            if (x->give < x->pods && (!best || x->slices > best->slices ||
                                      (x->slices == best->slices && spare > most))) {
                best = x;
                most = spare;
            }
        }
        if (!best)
            return false;
        best->give++;
    }
    return true;
}

/* The fullest hosts first, each as full as it gets. False: no room for all. */
static bool pack_in(struct tally *t, uint32_t count, uint32_t pods)
{
    tally_sort(t, t->list, count, packs_before);
    for (uint32_t n = 0; n < count && pods > 0; n++) {
        struct tally_node *x = &t->node[t->list[n]];

        x->give = x->pods < pods ? x->pods : pods;
        pods -= x->give;
    }
    return pods == 0;
}

static uint32_t kai(struct view *v, const struct podset *p, uint32_t pods, bool pack,
                    struct portion *ret)
{
    uint32_t count = 0, lowest, domain = ROW_NONE;
    struct tally t;

    if (p->slice_pods || !tally_make(v, p, &t))
        return 0;
    lowest = t.preferred_depth != DEPTH_NONE ? t.preferred_depth : t.needed_depth;
    if (lowest != DEPTH_NONE) {
        weigh(&t, pods);
        order_tree(&t, lowest);
        domain = first_that_fits(&t, lowest, pods);
        if (domain == ROW_NONE && t.needed_depth != DEPTH_NONE)
            return 0;
    }
    for (uint32_t n = 0; n < t.first[1]; n++) {
        uint32_t up = n;

        while (up != ROW_NONE && up != domain)
            up = t.node[up].up;
        if (up != domain || t.node[n].pods == 0)
            continue;
        t.node[n].slices = lowest == DEPTH_NONE ? 0 : tenths(&t, n);
        t.node[n].free = !p->gpus ? free_on(&t, t.node[n].id, OF_CPU)
                         : pack   ? free_on(&t, t.node[n].id, OF_GPU)
                                  : score_free_milli(host_row(v->m, t.node[n].id));
        t.list[count++] = n;
    }
    if (!(pack ? pack_in(&t, count, pods) : spread_out(&t, count, pods)))
        return 0;
    return tally_portions(&t, ret);
}

uint32_t rule_kai_like(struct view *v, const struct podset *p, uint32_t pods, struct portion *ret)
{
    return kai(v, p, pods, true, ret);
}

uint32_t rule_kai_like_spread(struct view *v, const struct podset *p, uint32_t pods,
                              struct portion *ret)
{
    return kai(v, p, pods, false, ret);
}
