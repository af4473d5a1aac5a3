#include "core/place/rules/kueue.h"

#include "core/base/must.h"

bool kueue_roomy(const struct tally_node *a, const struct tally_node *b)
{
    if (a->cut != b->cut)
        return a->cut > b->cut;
    if (a->pods != b->pods)
        return a->pods < b->pods;
    return a->key != b->key ? a->key < b->key : a->id < b->id;
}

static bool scanty(const struct tally_node *a, const struct tally_node *b)
{
    if (a->cut != b->cut)
        return a->cut < b->cut;
    if (a->pods != b->pods)
        return a->pods < b->pods;
    return a->id < b->id;
}

static bool more_pods(const struct tally_node *a, const struct tally_node *b)
{
    return a->pods != b->pods ? a->pods > b->pods : a->id < b->id;
}

static bool fewer_pods(const struct tally_node *a, const struct tally_node *b)
{
    return a->pods != b->pods ? a->pods < b->pods : a->id < b->id;
}

/* What a node holds: whole slices, or below their level pods. */
static uint32_t holds(const struct tally *t, uint32_t depth, uint32_t node)
{
    return depth < t->slice_depth ? t->node[node].pods : t->node[node].cut;
}

/* The nodes of the list, sorted here, get what is needed: in turn, and by best fit the last one is
 * the smallest that holds the rest. Returns what is left over. */
static uint32_t fill(struct tally *t, uint32_t depth, uint32_t *list, uint32_t count, uint32_t need,
                     bool best_fit)
{
    bool below = depth < t->slice_depth;

    tally_sort(t, list, count,
               best_fit ? (below ? more_pods : kueue_roomy) : (below ? fewer_pods : scanty));
    for (uint32_t n = 0; n < count && need; n++) {
        uint32_t last = n;

        if (holds(t, depth, list[n]) < need) {
            t->node[list[n]].give = holds(t, depth, list[n]);
            need -= t->node[list[n]].give;
            continue;
        }
        for (uint32_t i = n + 1; i < count && best_fit; i++)
            if (holds(t, depth, list[i]) >= need &&
                holds(t, depth, list[i]) < holds(t, depth, list[last]))
                last = i;
        t->node[list[last]].give = need;
        return 0;
    }
    return need;
}

/* Nodes of the depth under nodes that got something; only under one of them if it is named. */
static uint32_t list_below(struct tally *t, uint32_t depth, uint32_t parent)
{
    uint32_t count = 0;

    for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++) {
        uint32_t up = t->node[n].up; /* none: no host in it has all the levels */

        if (up != ROW_NONE && t->node[up].give && (parent == ROW_NONE || up == parent))
            t->list[count++] = n;
    }
    return count;
}

void kueue_descend(struct tally *t, uint32_t depth, uint32_t slices, bool best_fit, bool pooled)
{
    for (; depth > 0; depth--) {
        uint32_t unit = depth == t->slice_depth ? t->slice_pods : 1;

        if (pooled && depth > t->slice_depth) {
            fill(t, depth - 1, t->list, list_below(t, depth - 1, ROW_NONE), slices, best_fit);
            continue;
        }
        for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++)
            if (t->node[n].give)
                fill(t, depth - 1, t->list, list_below(t, depth - 1, n), t->node[n].give * unit,
                     best_fit);
    }
}

bool kueue_gather(struct tally *t, uint32_t depth, uint32_t slices)
{
    return fill(t, depth, t->list, tally_list(t, depth), slices, true) == 0;
}

/* The smallest node of the depth that holds all, or ROW_NONE. */
static uint32_t one_for_all(struct tally *t, uint32_t depth, uint32_t slices)
{
    uint32_t best = ROW_NONE;

    for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++)
        if (t->node[n].cut >= slices && (best == ROW_NONE || scanty(&t->node[n], &t->node[best])))
            best = n;
    return best;
}

uint32_t kueue_spread(struct tally *t, uint32_t pods, bool best_fit, struct portion *ret)
{
    bool preferred = t->preferred_depth != DEPTH_NONE, needed = t->needed_depth != DEPTH_NONE;
    uint32_t slices = pods / t->slice_pods, depth, top, one;

    depth = preferred ? t->preferred_depth : needed ? t->needed_depth : t->slice_depth;
    top = needed ? t->needed_depth : preferred ? t->levels : depth;
    if (depth < t->slice_depth) /* a wish that no whole slice could meet */
        depth = t->slice_depth;
    if (top < depth)
        return 0;
    while ((one = one_for_all(t, depth, slices)) == ROW_NONE && depth < top)
        depth++;
    if (one != ROW_NONE)
        t->node[one].give = slices;
    else if (needed || fill(t, depth, t->list, tally_list(t, depth), slices, best_fit))
        return 0;
    kueue_descend(t, depth, slices, best_fit, true);
    return tally_portions(t, ret);
}

static bool speaks_of_levels(const struct tally *t)
{
    return t->preferred_depth != DEPTH_NONE || t->needed_depth != DEPTH_NONE;
}

uint32_t rule_kueue_like(struct view *v, const struct podset *p, uint32_t pods, struct portion *ret)
{
    struct tally t;

    return tally_make(v, p, &t) ? kueue_spread(&t, pods, speaks_of_levels(&t), ret) : 0;
}

uint32_t rule_kueue_like_least_free(struct view *v, const struct podset *p, uint32_t pods,
                                    struct portion *ret)
{
    struct tally t;

    return tally_make(v, p, &t) ? kueue_spread(&t, pods, false, ret) : 0;
}
