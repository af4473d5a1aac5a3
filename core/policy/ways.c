#include "core/policy/ways.h"

#include "core/base/must.h"
#include "core/model/job.h"

/* The ways of one podset, and the split of its minimum. */
struct group {
    uint32_t row[PODSETS_MAX];
    uint32_t least[PODSETS_MAX];
    unsigned count;
    uint32_t pods, pods_min;
};

bool ways_open(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);

    return (j->flags & JOB_HAS_WAYS) && j->done_pods == 0 && j->keep != KEEP_INHERITED &&
           j->seat_head == ROW_NONE;
}

/* The podset at the row with all its ways; returns the row after them. */
static uint32_t read_group(const struct model *m, uint32_t row, struct group *g)
{
    *g = (struct group){.count = 0};
    do {
        const struct podset *p = podset_row(m, row);

        g->row[g->count] = row;
        g->least[g->count++] = p->pods_min;
        g->pods += p->pods;
        g->pods_min += p->pods_min;
        row = p->next;
    } while (row != ROW_NONE && podset_row(m, row)->way);
    return row;
}

static void write_group(struct model *m, const struct group *g)
{
    uint32_t extra = g->pods - g->pods_min;
    unsigned first = 0;

    while (first + 1 < g->count && g->least[first] == 0)
        first++;
    if (g->pods_min == 0)
        first = 0;
    for (unsigned n = 0; n < g->count; n++) {
        const struct podset *p = podset_row(m, g->row[n]);
        uint32_t pods = g->least[n] + (n == first ? extra : 0);

        if (p->pods == pods && p->pods_min == g->least[n])
            continue;
        ((struct podset *)model_edit(m, TABLE_PODSET, g->row[n]))->pods = pods;
        ((struct podset *)model_edit(m, TABLE_PODSET, g->row[n]))->pods_min = g->least[n];
    }
}

static void set_all_in(struct group *g, unsigned way)
{
    for (unsigned n = 0; n < g->count; n++)
        g->least[n] = n == way ? g->pods_min : 0;
}

static bool is_last(const struct group *g)
{
    return g->least[g->count - 1] == g->pods_min;
}

/* The split with one pod less in the last way but one that has any, and all behind it anew. */
static bool advance(struct group *g)
{
    unsigned at = g->count - 1;
    uint32_t rest = g->least[at] + 1;

    if (is_last(g))
        return false;
    do {
        at--;
    } while (g->least[at] == 0);
    g->least[at]--;
    for (unsigned n = at + 1; n < g->count; n++)
        g->least[n] = n == at + 1 ? rest : 0;
    return true;
}

/* GPUs that the job asks follow from its ways. */
static void sum_up(struct model *m, uint32_t job)
{
    int64_t milli = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        milli += podset_charge_milli(m, podset_row(m, p)) * podset_row(m, p)->pods;
    ((struct job *)model_edit(m, TABLE_JOB, job))->gang_milli =
        milli > UINT32_MAX ? UINT32_MAX : (uint32_t)milli;
}

static bool all_last(const struct model *m, uint32_t job)
{
    struct group g;

    for (uint32_t row = job_row(m, job)->podset_head; row != ROW_NONE;) {
        row = read_group(m, row, &g);
        if (!is_last(&g))
            return false;
    }
    return true;
}

static void set_ends(struct model *m, uint32_t job, bool last)
{
    struct group g;

    must(job_row(m, job)->seat_head == ROW_NONE);
    for (uint32_t row = job_row(m, job)->podset_head; row != ROW_NONE;) {
        row = read_group(m, row, &g);
        set_all_in(&g, last ? g.count - 1 : 0);
        write_group(m, &g);
    }
    sum_up(m, job);
}

bool ways_first(struct model *m, uint32_t job)
{
    set_ends(m, job, false);
    return !all_last(m, job);
}

void ways_last(struct model *m, uint32_t job)
{
    if (!all_last(m, job))
        set_ends(m, job, true);
}

bool ways_next(struct model *m, uint32_t job)
{
    uint32_t head[PODSETS_MAX];
    unsigned count = 0;
    struct group g;

    must(job_row(m, job)->seat_head == ROW_NONE);
    for (uint32_t row = job_row(m, job)->podset_head; row != ROW_NONE;) {
        head[count++] = row;
        row = read_group(m, row, &g);
    }
    while (count-- > 0) {
        bool moved;

        read_group(m, head[count], &g);
        moved = advance(&g);
        if (!moved)
            set_all_in(&g, 0);
        write_group(m, &g);
        if (moved) {
            sum_up(m, job);
            return !all_last(m, job);
        }
    }
    ways_last(m, job); /* it stood there before */
    return false;
}
