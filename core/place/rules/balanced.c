/* balanced - Kueue's balanced rule (KEP-2724, "Balanced placement"), for a preferred level
 *
 * In each domain above the preferred level that holds the gang: the fewest domains below that level
 * which hold it, and the most, T, that each of them could get at least. The domain with the highest
 * T is taken, then the one that needs fewest domains of the preferred level. What holds less than T
 * is left out; of the rest the smallest set with the least room over is chosen, first on the
 * preferred level (equal ones by the entropy of what lies below), then under it; each member gets
 * T, and what is left goes to the largest. Where no single domain above holds the gang the answer
 * is best fit.
 */
#include "core/place/rules/kueue.h"

#define SUMS_MAX (UINT64_C(1) << 24) /* sums that one choice of a set looks at */

/* One look at the tree: the preferred depth, the one below it that is balanced, and the domain. */
struct balance_at {
    uint32_t depth, low, upper; /* upper ROW_NONE: all of the depth */
    uint32_t threshold, domains;
};

static void reset(struct tally *t)
{
    for (uint32_t n = 0; n < t->first[t->levels + 1]; n++) {
        t->node[n].cut = t->node[n].slices;
        t->node[n].give = 0;
    }
}

static bool inside(const struct tally *t, const struct balance_at *b, uint32_t depth, uint32_t n)
{
    uint32_t up = b->upper == ROW_NONE ? ROW_NONE : t->node[n].up;

    if (up != ROW_NONE && depth < b->depth)
        up = t->node[up].up;
    return up == b->upper;
}

static uint32_t list_inside(struct tally *t, const struct balance_at *b, uint32_t depth)
{
    uint32_t count = 0;

    for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++)
        if (inside(t, b, depth, n))
            t->list[count++] = n;
    return count;
}

/* Its own name for the order: the address of another file's function is no constant of this one. */
static bool roomy(const struct tally_node *a, const struct tally_node *b)
{
    return kueue_roomy(a, b);
}

/* How many of the largest hold the need, and what the last of them holds; 0: all do not. */
static uint32_t greedy(struct tally *t, uint32_t count, uint32_t need, uint32_t *ret_last)
{
    uint64_t sum = 0;

    tally_sort(t, t->list, count, roomy);
    for (uint32_t n = 0; n < count; n++) {
        sum += t->node[t->list[n]].cut;
        *ret_last = t->node[t->list[n]].cut;
        if (sum >= need)
            return n + 1;
    }
    return 0;
}

/* Leaves out what holds less than the threshold. */
static void prune(struct tally *t, const struct balance_at *b)
{
    for (uint32_t n = t->first[b->depth]; n < t->first[b->depth + 1] && b->low < b->depth; n++)
        if (inside(t, b, b->depth, n))
            t->node[n].cut = 0;
    for (uint32_t n = t->first[b->low]; n < t->first[b->low + 1]; n++) {
        if (!inside(t, b, b->low, n))
            continue;
        if (t->node[n].slices < b->threshold)
            t->node[n].cut = 0;
        if (b->low < b->depth)
            t->node[t->node[n].up].cut += t->node[n].cut;
    }
}

static void look(struct tally *t, struct balance_at *b, struct balance_at *best, uint32_t need)
{
    uint32_t last = 0, used = greedy(t, list_inside(t, b, b->low), need, &last);

    if (used == 0)
        return;
    b->threshold = need / used < last ? need / used : last;
    if (b->threshold < best->threshold)
        return;
    prune(t, b);
    b->domains = greedy(t, list_inside(t, b, b->depth), need, &last);
    if (b->domains && (b->threshold > best->threshold || b->domains < best->domains))
        *best = *b;
    reset(t);
}

/* ---- a set of nodes ---- */

/* log2 in units of 2^-16. */
static uint64_t log2_q16(uint32_t x)
{
    unsigned whole = 31 - (unsigned)__builtin_clz(x);
    uint64_t y = (uint64_t)x << (31 - whole), ret = whole;

    for (unsigned bit = 0; bit < 16; bit++) {
        y = y * y >> 31;
        ret = ret << 1 | y >> 32;
        y >>= y >> 32;
    }
    return ret;
}

/* The entropy of what the nodes under it hold, into key. */
static void weigh(struct tally *t, const struct balance_at *b)
{
    for (uint32_t n = t->first[b->depth]; n < t->first[b->depth + 1]; n++)
        t->node[n].key = 0;
    for (uint32_t n = t->first[b->low]; n < t->first[b->low + 1]; n++)
        if (t->node[n].cut)
            t->node[t->node[n].up].key += t->node[n].cut * log2_q16(t->node[n].cut);
    for (uint32_t n = t->first[b->depth]; n < t->first[b->depth + 1]; n++)
        if (t->node[n].cut)
            t->node[n].key = log2_q16(t->node[n].cut) - t->node[n].key / t->node[n].cut;
}

static bool roomy_then_even(const struct tally_node *a, const struct tally_node *b)
{
    if (a->cut != b->cut)
        return a->cut > b->cut;
    return a->key != b->key ? a->key > b->key : a->id < b->id;
}

static bool by_id(const struct tally_node *a, const struct tally_node *b)
{
    return a->id < b->id;
}

/* Of the sets of `size` members of the list that hold the need the one with the least room over,
 * the first found: moved to the front of the list. row i, column s of the table: the last member,
 * by its place + 1, of the first set of i that holds s. False: too much to look at. */
static bool choose(struct tally *t, uint32_t count, uint32_t size, uint32_t need)
{
    uint64_t entries = (uint64_t)size * need, least = UINT64_MAX;
    uint32_t last = 0, sum = 0;
    uint16_t *table = t->table;

    if (entries > t->table_count || entries * count > SUMS_MAX || count >= UINT16_MAX)
        return false;
    for (uint64_t n = 0; n < entries; n++)
        table[n] = 0;
    table[0] = 1; /* row 0: nothing yet */
    for (uint32_t n = 0; n < count; n++) {
        uint32_t cut = t->node[t->list[n]].cut;

        for (uint32_t i = size; i > 0 && cut; i--)
            for (uint32_t s = 0; s < need; s++) {
                uint64_t to = (uint64_t)s + cut;

                if (!table[(uint64_t)(i - 1) * need + s])
                    continue;
                if (to < need && i < size && !table[(uint64_t)i * need + to])
                    table[(uint64_t)i * need + to] = (uint16_t)(n + 1);
                if (to >= need && i == size && to - need < least) {
                    least = to - need;
                    last = n;
                    sum = s;
                }
            }
    }
    if (least == UINT64_MAX)
        return false;
    for (uint32_t i = size; i-- > 0;) {
        t->node[t->list[last]].give = 1;
        if (i == 0)
            break;
        last = table[(uint64_t)i * need + sum] - 1u;
        sum -= t->node[t->list[last]].cut;
    }
    for (uint32_t n = 0, to = 0; n < count; n++)
        if (t->node[t->list[n]].give) {
            t->node[t->list[n]].give = 0;
            t->list[to++] = t->list[n];
        }
    return true;
}

/* Each member of the list gets the threshold, the largest what is left. */
static bool hand_out(struct tally *t, const struct balance_at *b, uint32_t size, uint32_t need)
{
    uint64_t least = (uint64_t)size * b->threshold;
    uint32_t extra = need - (uint32_t)least;

    if (least > need)
        return false;
    tally_sort(t, t->list, size, roomy);
    for (uint32_t n = 0; n < size; n++) {
        struct tally_node *x = &t->node[t->list[n]];
        uint32_t more = x->cut - b->threshold < extra ? x->cut - b->threshold : extra;

        x->give = b->threshold + more;
        extra -= more;
    }
    return extra == 0;
}

static bool apply(struct tally *t, const struct balance_at *b, uint32_t need)
{
    uint32_t count, size, last = 0;

    prune(t, b);
    count = list_inside(t, b, b->depth);
    if (b->low < b->depth) {
        weigh(t, b);
        size = greedy(t, count, need, &last);
        tally_sort(t, t->list, count, roomy_then_even);
        if (!choose(t, count, size, need))
            return false;
        for (uint32_t n = 0; n < size; n++)
            t->node[t->list[n]].give = 1;
        count = 0;
        for (uint32_t n = t->first[b->low]; n < t->first[b->low + 1]; n++)
            if (t->node[t->node[n].up].give && inside(t, b, b->low, n))
                t->list[count++] = n;
        for (uint32_t n = t->first[b->depth]; n < t->first[b->depth + 1]; n++)
            t->node[n].give = 0;
    }
    size = greedy(t, count, need, &last);
    tally_sort(t, t->list, count, by_id);
    if (size == 0 || !choose(t, count, size, need) || !hand_out(t, b, size, need))
        return false;
    kueue_descend(t, b->low, need, true, false);
    return true;
}

static bool balance(struct tally *t, uint32_t need)
{
    struct balance_at best = {.threshold = 1, .domains = UINT32_MAX}, b = {0};

    b.depth = t->preferred_depth;
    b.low = b.depth > t->slice_depth ? b.depth - 1 : b.depth;
    b.upper = ROW_NONE;
    if (b.depth < t->slice_depth)
        return false;
    if (b.depth == t->levels)
        look(t, &b, &best, need);
    for (uint32_t n = 0; b.depth < t->levels && n < tally_count(t, b.depth + 1); n++) {
        b.upper = t->first[b.depth + 1] + n;
        look(t, &b, &best, need);
    }
    return best.domains != UINT32_MAX && apply(t, &best, need);
}

uint32_t rule_kueue_like_balanced(struct view *v, const struct podset *p, uint32_t pods,
                                  struct portion *ret)
{
    struct tally t;

    if (!tally_make(v, p, &t))
        return 0;
    if (t.preferred_depth == DEPTH_NONE)
        return kueue_spread(&t, pods, t.needed_depth != DEPTH_NONE, ret);
    if (t.needed_depth == DEPTH_NONE && balance(&t, pods / t.slice_pods))
        return tally_portions(&t, ret);
    reset(&t);
    return kueue_spread(&t, pods, true, ret);
}
