/* tally.h - how many pods of a set each host and each domain of one chain holds
 *
 * The tree that baselines count on: hosts at depth 0, above them the levels of a chain, the
 * smallest first. A host that lacks a domain of one of these levels stands outside, as it does for
 * them.
 *
 * Units   pods, and whole slices of them (a slice is one pod where the set has none).
 * Owner   Everything lies in the model's scratch memory, behind the portions of the answer.
 */
#ifndef PLACE_RULES_TALLY_H
#define PLACE_RULES_TALLY_H

#include "core/place/rules/rules.h"

#define DEPTHS_MAX (LEVELS_MAX + 1)
#define DEPTH_NONE UINT32_MAX

struct tally_node {
    uint64_t key;    /* a rule's own: what it sorts by */
    int64_t free;    /* the same */
    uint32_t id, up; /* host or domain; node above, ROW_NONE: in the largest level */
    uint32_t pods, slices;
    uint32_t cut;  /* slices that a rule leaves, or a place in its order */
    uint32_t give; /* slices, or below the slices' level pods, that it gets */
};

struct tally {
    struct view *v;
    const struct podset *p;
    struct tally_node *node; /* by depth, in id order: depth d has first[d]..first[d + 1] - 1 */
    uint32_t first[DEPTHS_MAX + 1];
    uint32_t *list;                         /* room for as many nodes as a depth has */
    uint16_t *table;                        /* the rest of the memory */
    uint64_t table_count;                   /* entries */
    uint8_t level[LEVELS_MAX];              /* of depth d + 1 */
    unsigned levels;                        /* depths above the hosts */
    uint32_t slice_pods;                    /* 1: none */
    uint32_t slice_depth;                   /* where whole slices are counted */
    uint32_t preferred_depth, needed_depth; /* what the gang asks for, or DEPTH_NONE */
};

/* False: the ask has no meaning on one chain. */
bool tally_make(struct view *v, const struct podset *p, struct tally *t);

static inline uint32_t tally_count(const struct tally *t, uint32_t depth)
{
    return t->first[depth + 1] - t->first[depth];
}

/* All nodes of a depth, or those under a node of the depth above it, into t->list. */
uint32_t tally_list(struct tally *t, uint32_t depth);

typedef bool tally_order(const struct tally_node *a, const struct tally_node *b);
/* Sorts node numbers; a strict order, so that the result is one. */
void tally_sort(const struct tally *t, uint32_t *list, uint32_t count, tally_order *before);

/* What the hosts were given, as portions. */
uint32_t tally_portions(const struct tally *t, struct portion *ret);

#endif
