#include "core/place/ranks.h"

#include "core/base/bits.h"
#include "core/base/must.h"

/* How the seats of one podset are laid out. */
struct path {
    const struct model *m;
    uint8_t level[LEVELS_MAX]; /* the largest first */
    unsigned levels;
    uint8_t part[SHAPE_PART_COUNT]; /* partitions inside a host, the slice's first */
};

static bool is_level(unsigned scope)
{
    return scope >= SCOPE_OF_LEVEL && scope < SCOPE_OF_CLUSTER;
}

static unsigned chain_of(const struct model *m, const struct job *j, const struct podset *p)
{
    uint64_t required = (j->required | p->required) & SCOPE_LEVELS;
    unsigned scope = SCOPE_OF_CLUSTER;

    if (p->slice_pods && is_level(p->slice_scope))
        scope = p->slice_scope;
    else if (j->preferred_count && is_level(j->preferred[0]))
        scope = j->preferred[0];
    else if (required)
        scope = bits_low(required);
    return is_level(scope) ? level_row(m, scope - SCOPE_OF_LEVEL)->chain : 0;
}

static struct path path_of(const struct model *m, const struct job *j, const struct podset *p)
{
    bool in_parts = p->slice_pods && p->slice_scope < SHAPE_PART_COUNT;
    unsigned chain = chain_of(m, j, p), parts = 0;
    struct path ret = {.m = m};

    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        unsigned at = ret.levels;

        if (!level_row(m, l)->used || level_row(m, l)->chain != chain)
            continue;
        for (; at > 0 && level_row(m, ret.level[at - 1])->rank <= level_row(m, l)->rank; at--)
            ret.level[at] = ret.level[at - 1];
        ret.level[at] = (uint8_t)l;
        ret.levels++;
    }
    if (in_parts)
        ret.part[parts++] = p->slice_scope;
    for (unsigned s = 0; s < SHAPE_PART_COUNT && parts < SHAPE_PART_COUNT; s++)
        if (!in_parts || s != p->slice_scope)
            ret.part[parts++] = (uint8_t)s;
    must(parts == SHAPE_PART_COUNT);
    return ret;
}

static bool device_before(const struct path *x, const struct seat *a, const struct seat *b)
{
    uint32_t shape = kind_row(x->m, host_row(x->m, a->host)->kind)->shape;
    unsigned d, e;

    if (!a->devices || !b->devices || a->devices == b->devices)
        return a->devices != b->devices ? a->devices != 0
               : a->slot != b->slot     ? a->slot < b->slot
                                        : a->pod < b->pod;
    d = bits_low(a->devices);
    e = bits_low(b->devices);
    for (unsigned n = 0; n < SHAPE_PART_COUNT && shape != ROW_NONE; n++) {
        const uint8_t *part = shape_row(x->m, shape)->shape.part[x->part[n]];

        if (part[d] != part[e])
            return part[d] < part[e];
    }
    return a->devices != b->devices && d == e ? a->devices < b->devices : d < e;
}

/* Of one podset by where they sit; podsets by their numbers, which do not mix. */
static bool before(const struct path *x, const struct seat *a, const struct seat *b)
{
    if (a->podset != b->podset)
        return a->pod < b->pod;
    for (unsigned l = 0; l < x->levels && a->host != b->host; l++) {
        uint32_t c = board_row(x->m, a->host)->domain[x->level[l]];
        uint32_t d = board_row(x->m, b->host)->domain[x->level[l]];

        if (c != d)
            return c < d; /* ROW_NONE is the largest number */
    }
    return a->host != b->host ? a->host < b->host : device_before(x, a, b);
}

static void sink(const struct path *x, uint32_t *list, uint32_t count, uint32_t at)
{
    uint32_t moved = list[at];

    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count &&
            before(x, seat_row(x->m, list[child]), seat_row(x->m, list[child + 1])))
            child++;
        if (!before(x, seat_row(x->m, moved), seat_row(x->m, list[child])))
            break;
        list[at] = list[child];
        at = child;
    }
    list[at] = moved;
}

static void sort(const struct path *x, uint32_t *list, uint32_t count)
{
    for (uint32_t n = count / 2; n-- > 0;)
        sink(x, list, count, n);
    for (uint32_t n = count; n > 1; n--) {
        uint32_t last = list[n - 1];

        list[n - 1] = list[0];
        list[0] = last;
        sink(x, list, n - 1, 0);
    }
}

/* The seats of one podset, which have the numbers in the list of numbers. */
static void lay(struct model *m, const struct path *x, uint32_t *seat, uint32_t *number,
                uint32_t count)
{
    bool laid = true;

    for (uint32_t n = 1; n < count && laid; n++)
        laid = before(x, seat_row(m, seat[n - 1]), seat_row(m, seat[n]));
    if (laid)
        return;
    for (uint32_t n = 0; n < count; n++)
        number[n] = seat_row(m, seat[n])->pod;
    sort(x, seat, count);
    for (uint32_t n = 0; n < count; n++)
        if (seat_row(m, seat[n])->pod != number[n])
            ((struct seat *)model_edit(m, TABLE_SEAT, seat[n]))->pod = number[n];
}

void ranks_lay(struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    uint32_t *seat = (uint32_t *)(void *)((char *)m + m->scratch_at), *number;
    uint32_t count = 0, at, first = 0;

    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        count++;
    if (count < 2 || (uint64_t)count * 2 * sizeof(*seat) > m->scratch_bytes)
        return;
    at = count;
    number = seat + count;
    /* The list is newest first: turned round it goes by rising numbers, podset by podset. */
    for (uint32_t s = j->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        seat[--at] = s;
    for (uint32_t n = 1; n <= count; n++) {
        uint32_t podset = seat_row(m, seat[first])->podset;

        if (n < count && seat_row(m, seat[n])->podset == podset)
            continue;

        struct path x = path_of(m, j, podset_row(m, podset));

        lay(m, &x, seat + first, number, n - first);
        first = n;
    }
}
