/* ladder - our own way with a gang that its wishes did not place: up the levels, then down
 *
 * From the level that it prefers most, else from the host, upwards to the first level of which one
 * domain holds the gang; the domain with the least room over, and of equal ones the one whose
 * larger domains have the least. Downwards every domain is filled by the fewest of those in it: the
 * largest first, the last one the smallest that holds the rest. Each keeps to what it was given, so
 * that a rest stays whole where it is.
 */
#include "core/place/rules/kueue.h"

/* Less room in the domain, else in those around it, else the lower id. */
static bool tighter(const struct tally *t, uint32_t a, uint32_t b)
{
    uint32_t x = a, y = b;

    while (x != ROW_NONE && y != ROW_NONE && x != y) {
        if (t->node[x].pods != t->node[y].pods)
            return t->node[x].pods < t->node[y].pods;
        x = t->node[x].up;
        y = t->node[y].up;
    }
    return t->node[a].id < t->node[b].id;
}

static uint32_t tightest(const struct tally *t, uint32_t depth, uint32_t slices)
{
    uint32_t best = ROW_NONE;

    for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++)
        if (t->node[n].slices >= slices && (best == ROW_NONE || tighter(t, n, best)))
            best = n;
    return best;
}

/* key: hosts of a node that hold something. Of equal ones the one with fewer is taken first. */
static void count_hosts(struct tally *t)
{
    for (uint32_t n = 0; n < t->first[t->levels + 1]; n++) {
        struct tally_node *x = &t->node[n];

        if (n < t->first[1])
            x->key = x->pods > 0;
        if (x->up != ROW_NONE)
            t->node[x->up].key += x->key;
    }
}

uint32_t rule_ladder(struct view *v, const struct podset *p, uint32_t pods, struct portion *ret)
{
    uint32_t depth, top, one = ROW_NONE, slices;
    struct tally t;

    if (!tally_make(v, p, &t))
        return 0;
    count_hosts(&t);
    slices = pods / t.slice_pods;
    depth = t.preferred_depth != DEPTH_NONE ? t.preferred_depth : 0;
    depth = depth < t.slice_depth ? t.slice_depth : depth;
    top = t.needed_depth != DEPTH_NONE ? t.needed_depth : t.levels;
    for (; depth <= top && one == ROW_NONE; depth += one == ROW_NONE)
        one = tightest(&t, depth, slices);
    if (one != ROW_NONE)
        t.node[one].give = slices;
    else if (t.needed_depth != DEPTH_NONE || !kueue_gather(&t, depth = t.levels, slices))
        return 0;
    kueue_descend(&t, depth, slices, true, false);
    return tally_portions(&t, ret);
}
