#include "core/policy/patience.h"

static int64_t patience_of(const struct model *m, const struct job *j)
{
    if (j->preferred_count == 0 || j->pods < 2)
        return 0;
    return j->patience_ns >= 0 ? j->patience_ns : config_row(m)->patience_ns;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* chance_ns: when the gang could first have started. */
static int64_t until(const struct job *j, int64_t patience_ns, int64_t chance_ns)
{
    int64_t ret = j->submit_ns + patience_ns;

    if (chance_ns != INT64_MAX)
        ret = later(ret, chance_ns + patience_ns / PATIENCE_CHANCE_PART);
    return ret < j->by_ns ? ret : j->by_ns;
}

int64_t patience_until(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    int64_t patience = patience_of(m, j);

    return patience > 0 ? until(j, patience, j->chance_ns) : INT64_MIN;
}

bool patience_holds(const struct model *m, uint32_t job, const struct plan *plan)
{
    const struct job *j = job_row(m, job);
    int64_t patience = patience_of(m, j), now = config_row(m)->now_ns;
    int64_t chance = j->chance_ns == INT64_MAX ? now : j->chance_ns;

    return plan->wish > 0 && patience > 0 && until(j, patience, chance) > now &&
           gang_better_exists(m, job, plan);
}

void patience_note(struct model *m, uint32_t job)
{
    struct job *j;

    if (job_row(m, job)->chance_ns != INT64_MAX)
        return;
    model_begin(m);
    j = model_edit(m, TABLE_JOB, job);
    j->chance_ns = config_row(m)->now_ns;
    model_commit(m);
}
