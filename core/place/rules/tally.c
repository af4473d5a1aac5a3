#include "core/place/rules/tally.h"

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/index.h"
#include "core/place/census.h"

/* ---- what is asked ---- */

static bool is_level(unsigned scope)
{
    return scope >= SCOPE_OF_LEVEL && scope < SCOPE_OF_CLUSTER;
}

/* The chain of the level that the gang requires, else prefers, else slices by, else the first. */
static unsigned chain_of(const struct view *v, const struct podset *p)
{
    const struct job *j = job_row(v->m, v->job);
    uint64_t levels = view_required(v, p) & SCOPE_LEVELS;
    unsigned scope = SCOPE_OF_CLUSTER;

    if (levels)
        scope = bits_low(levels);
    else if (j->preferred_count && is_level(j->preferred[0]))
        scope = j->preferred[0];
    else if (p->slice_pods)
        scope = p->slice_scope;
    return is_level(scope) ? level_row(v->m, scope - SCOPE_OF_LEVEL)->chain : 0;
}

/* The depth of a scope, DEPTH_NONE: the chain has no such level. */
static uint32_t depth_of(const struct tally *t, unsigned scope)
{
    if (scope <= SCOPE_OF_HOST)
        return scope == SCOPE_OF_HOST ? 0 : DEPTH_NONE;
    for (uint32_t d = 0; d < t->levels; d++)
        if (is_level(scope) && t->level[d] == scope - SCOPE_OF_LEVEL)
            return d + 1;
    return DEPTH_NONE;
}

/* Levels of the chain by rank, and what is asked of them. False: more than a chain can say. */
static bool learn(struct view *v, const struct podset *p, struct tally *t)
{
    const struct job *j = job_row(v->m, v->job);
    uint64_t required = view_required(v, p) & ~SCOPE_BIT(SCOPE_OF_CLUSTER);
    unsigned chain = chain_of(v, p);

    *t = (struct tally){.v = v, .p = p, .slice_pods = 1};
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        unsigned at = t->levels;

        if (!level_row(v->m, l)->used || level_row(v->m, l)->chain != chain)
            continue;
        for (; at > 0 && level_row(v->m, t->level[at - 1])->rank > level_row(v->m, l)->rank; at--)
            t->level[at] = t->level[at - 1];
        t->level[at] = (uint8_t)l;
        t->levels++;
    }
    t->preferred_depth = j->preferred_count ? depth_of(t, j->preferred[0]) : DEPTH_NONE;
    if (j->preferred_count && t->preferred_depth == DEPTH_NONE &&
        j->preferred[0] != SCOPE_OF_CLUSTER)
        return false;
    t->needed_depth = DEPTH_NONE;
    for (; required; required = bits_drop_low(required)) {
        uint32_t depth = depth_of(t, bits_low(required));

        if (depth == DEPTH_NONE)
            return false;
        t->needed_depth = depth < t->needed_depth ? depth : t->needed_depth;
    }
    if (t->needed_depth != DEPTH_NONE && t->preferred_depth != DEPTH_NONE &&
        t->preferred_depth > t->needed_depth)
        t->preferred_depth = DEPTH_NONE; /* met by what is required */
    if (p->slice_pods) {
        t->slice_pods = p->slice_pods;
        t->slice_depth = p->slice_scope < SCOPE_OF_HOST ? 0 : depth_of(t, p->slice_scope);
    }
    return t->slice_depth != DEPTH_NONE;
}

/* ---- counting ---- */

/* Memory: portions, nodes, a list of nodes, the node of each domain, and what is left. */
static uint32_t *carve(struct tally *t)
{
    const struct model *m = t->v->m;
    union {
        const struct model *in;
        struct model *out;
    } door = {.in = m};
    uint32_t hosts = model_count(m, TABLE_HOST), domains = model_count(m, TABLE_DOMAIN);
    char *at = (char *)door.out + m->scratch_at, *end = at + m->scratch_bytes; /* no fact */
    uint32_t *node_of;

    t->node = (struct tally_node *)(void *)(at + (uint64_t)hosts * sizeof(struct portion));
    t->list = (uint32_t *)(void *)(t->node + hosts + domains);
    node_of = t->list + hosts + domains;
    t->table = (uint16_t *)(void *)(node_of + domains);
    must((char *)t->table <= end);
    t->table_count = (uint64_t)(end - (char *)t->table) / sizeof(*t->table);
    return node_of;
}

static bool in_chain(const struct tally *t, uint32_t host)
{
    for (unsigned l = 0; l < t->levels; l++)
        if (board_row(t->v->m, host)->domain[t->level[l]] == ROW_NONE)
            return false;
    return true;
}

static void add_nodes(struct tally *t, uint32_t *node_of)
{
    const struct model *m = t->v->m;
    uint32_t count = 0;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (host_row(m, h)->state != HOST_ABSENT && in_chain(t, h))
            t->node[count++] = (struct tally_node){.id = h, .up = ROW_NONE};
    t->first[1] = count;
    for (unsigned l = 0; l < t->levels; l++) {
        for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++) {
            uint32_t members = 0;

            if (!domain_row(m, d)->used || domain_row(m, d)->level != t->level[l])
                continue;
            index_members(m, d, &members);
            if (members == 0)
                continue;
            node_of[d] = count;
            t->node[count++] = (struct tally_node){.id = d, .up = ROW_NONE};
        }
        t->first[l + 2] = count;
    }
}

static void count_pods(struct tally *t, const uint32_t *node_of)
{
    const struct model *m = t->v->m;
    struct census c = census_of(t->v, t->p);

    for (uint32_t n = 0; n < t->first[1]; n++) {
        struct tally_node *x = &t->node[n];
        uint32_t host = x->id, pods = census_host(&c, host);

        x->pods = pods;
        for (unsigned l = 0; l < t->levels; l++) {
            x->up = node_of[board_row(m, host)->domain[t->level[l]]];
            x = &t->node[x->up];
            x->pods += pods;
        }
    }
    for (uint32_t d = t->slice_depth; d <= t->levels; d++)
        for (uint32_t n = t->first[d]; n < t->first[d + 1]; n++) {
            struct tally_node *x = &t->node[n];

            if (d == t->slice_depth)
                x->slices = x->pods / t->slice_pods;
            x->cut = x->slices;
            if (x->up != ROW_NONE)
                t->node[x->up].slices += x->slices;
        }
}

bool tally_make(struct view *v, const struct podset *p, struct tally *t)
{
    uint32_t *node_of;

    if (!learn(v, p, t))
        return false;
    node_of = carve(t);
    add_nodes(t, node_of);
    count_pods(t, node_of);
    return true;
}

uint32_t tally_list(struct tally *t, uint32_t depth)
{
    uint32_t count = 0;

    for (uint32_t n = t->first[depth]; n < t->first[depth + 1]; n++)
        t->list[count++] = n;
    return count;
}

static void sink(const struct tally *t, uint32_t *list, uint32_t count, uint32_t at,
                 tally_order *before)
{
    uint32_t moved = list[at];

    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && before(&t->node[list[child]], &t->node[list[child + 1]]))
            child++;
        if (!before(&t->node[moved], &t->node[list[child]]))
            break;
        list[at] = list[child];
        at = child;
    }
    list[at] = moved;
}

void tally_sort(const struct tally *t, uint32_t *list, uint32_t count, tally_order *before)
{
    for (uint32_t n = count / 2; n-- > 0;)
        sink(t, list, count, n, before);
    for (uint32_t n = count; n > 1; n--) {
        uint32_t last = list[n - 1];

        list[n - 1] = list[0];
        list[0] = last;
        sink(t, list, n - 1, 0, before);
    }
}

uint32_t tally_portions(const struct tally *t, struct portion *ret)
{
    uint32_t count = 0, unit = t->slice_depth == 0 ? t->slice_pods : 1;

    for (uint32_t n = 0; n < t->first[1]; n++)
        if (t->node[n].give)
            ret[count++] = (struct portion){t->node[n].id, t->node[n].give * unit};
    return count;
}
