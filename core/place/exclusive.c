#include "core/place/exclusive.h"

#include "core/model/index.h"

/* A seat of another job on the host that may not be beside this one: any, for a job that is
 * exclusive at the scope; else one of a job that is. */
static bool has_stranger(const struct view *v, uint32_t host, unsigned scope)
{
    bool mine = job_row(v->m, v->job)->exclusive == scope;

    for (uint32_t s = host_row(v->m, host)->seat_head; s != ROW_NONE;
         s = seat_row(v->m, s)->next_of_host) {
        uint32_t job = seat_row(v->m, s)->job;

        if (job != v->job && (mine || job_row(v->m, job)->exclusive == scope))
            return true;
    }
    return false;
}

static bool has_stranger_in(const struct view *v, uint32_t domain, unsigned scope)
{
    uint32_t count = 0;
    const uint32_t *host = index_members(v->m, domain, &count);

    for (uint32_t n = 0; n < count; n++)
        if (has_stranger(v, host[n], scope))
            return true;
    return false;
}

/* Is somebody exclusive at the scope: this job, or one that runs? */
static bool is_used(const struct view *v, unsigned scope)
{
    return config_row(v->m)->exclusive_at[scope - SCOPE_OF_HOST] > 0 ||
           job_row(v->m, v->job)->exclusive == scope;
}

bool exclusive_allows(const struct view *v, uint32_t host)
{
    if (is_used(v, SCOPE_OF_HOST) && has_stranger(v, host, SCOPE_OF_HOST))
        return false;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint32_t domain = board_row(v->m, host)->domain[l];
        unsigned scope = SCOPE_OF_LEVEL + l;

        if (!is_used(v, scope))
            continue;
        if (domain == ROW_NONE ? job_row(v->m, v->job)->exclusive == scope
                               : has_stranger_in(v, domain, scope))
            return false;
    }
    return true;
}

bool exclusive_kept(const struct model *m, uint32_t job)
{
    struct view v = view_of(m, job);

    if (!exclusive_matters(&v))
        return true;
    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        if (!exclusive_allows(&v, seat_row(m, s)->host))
            return false;
    return true;
}

static bool together(const struct model *m, unsigned scope, uint32_t a, uint32_t b)
{
    if (scope == SCOPE_OF_HOST)
        return a == b;
    return board_row(m, a)->domain[scope - SCOPE_OF_LEVEL] ==
           board_row(m, b)->domain[scope - SCOPE_OF_LEVEL];
}

bool exclusive_meets(const struct model *m, uint32_t job, uint32_t other)
{
    const struct job *j = job_row(m, job);

    for (uint32_t s = j->seat_head; s != ROW_NONE && j->exclusive; s = seat_row(m, s)->next_of_job)
        for (uint32_t h = job_row(m, other)->hold_head; h != ROW_NONE; h = hold_row(m, h)->next)
            if (hold_row(m, h)->host != ROW_NONE &&
                together(m, j->exclusive, seat_row(m, s)->host, hold_row(m, h)->host))
                return true;
    return false;
}
