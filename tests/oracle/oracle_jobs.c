#include "tests/oracle/oracle.h"

#include <stddef.h>
#include <string.h>

/* Only whole slices run. */
static uint32_t least_pods(const struct o_podset *p)
{
    uint32_t pods = p->pods_min;

    while (p->slice_pods && pods % p->slice_pods)
        pods++;
    return pods;
}

int64_t oracle_ask_milli(const struct o_job *j, bool minimum)
{
    int64_t sum = 0;

    for (uint32_t s = 0; s < j->podsets; s++)
        sum += (int64_t)j->podset[s].gpus * (j->podset[s].gpus == 1 ? j->podset[s].milli : 1000) *
               (minimum ? least_pods(&j->podset[s]) : j->podset[s].pods);
    return sum;
}

static bool team_below(const struct o_world *w, uint32_t team, uint32_t above)
{
    for (; team != O_NONE; team = w->team[team].parent)
        if (team == above)
            return true;
    return false;
}

int64_t oracle_team_held(const struct o_world *w, uint32_t team)
{
    int64_t sum = 0;

    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *j = &w->job[n];

        for (unsigned s = 0; s < j->seats && j->live && j->runs; s++) {
            const struct o_podset *p = &j->podset[j->seat[s].podset];

            if (team_below(w, j->team, team))
                sum += (int64_t)p->gpus * (p->gpus == 1 ? p->milli : 1000);
        }
    }
    return sum;
}

bool oracle_team_allows(const struct o_world *w, uint32_t team, int64_t milli)
{
    for (; team != O_NONE; team = w->team[team].parent)
        if (oracle_team_held(w, team) + milli > w->team[team].limit)
            return false;
    return true;
}

bool oracle_inexact(const struct o_job *j)
{
    for (uint32_t s = 0; s < j->podsets; s++)
        if (j->podset[s].mib || j->podset[s].profile != O_NONE)
            return true;
    return false;
}

void oracle_copy(struct o_world *to, const struct o_world *from)
{
    memcpy(to, from, offsetof(struct o_world, job) + from->jobs * sizeof(from->job[0]));
}

struct o_job *oracle_job(struct o_world *w, uint32_t key)
{
    for (unsigned n = 0; n < w->jobs; n++)
        if (w->job[n].live && w->job[n].key == key)
            return &w->job[n];
    return NULL;
}

bool oracle_unknown(const struct o_world *w)
{
    for (unsigned n = 0; n < w->jobs; n++)
        for (unsigned s = 0; s < w->job[n].seats && w->job[n].live; s++)
            if (w->job[n].seat[s].devices == 0 && w->job[n].podset[w->job[n].seat[s].podset].gpus)
                return true;
    return false;
}
