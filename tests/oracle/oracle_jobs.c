#include "tests/oracle/oracle.h"

#include <stddef.h>
#include <string.h>

unsigned oracle_of_set(const struct o_job *j, uint32_t podset, uint32_t set)
{
    unsigned first = 0, count = 0;

    for (uint32_t s = 0; s < podset; s++)
        first += j->podset[s].pods;
    for (unsigned n = 0; n < j->podset[podset].pods; n++)
        count += set >> (first + n) & 1;
    return count;
}

static uint32_t up_to_slice(const struct o_podset *p, uint32_t pods, bool slices)
{
    while (slices && p->slice_pods && pods % p->slice_pods)
        pods++;
    return pods;
}

uint32_t oracle_least_pods(const struct o_job *j, uint32_t podset, bool slices)
{
    const struct o_podset *p = &j->podset[podset];
    uint32_t gone = oracle_of_set(j, podset, j->done | j->away);
    uint32_t least = up_to_slice(p, p->pods_min, slices);

    if (gone == 0)
        return least;
    return up_to_slice(p, least > gone ? least - gone : p->pods > gone, slices);
}

uint32_t oracle_most_pods(const struct o_job *j, uint32_t podset, bool slices)
{
    const struct o_podset *p = &j->podset[podset];
    uint32_t most = p->pods - oracle_of_set(j, podset, j->done | j->away);

    return slices && p->slice_pods ? most / p->slice_pods * p->slice_pods : most;
}

/* What counts against a team: pods that are only away do. */
static uint32_t charged_least(const struct o_job *j, uint32_t podset)
{
    uint32_t least = up_to_slice(&j->podset[podset], j->podset[podset].pods_min, true);
    uint32_t done = oracle_of_set(j, podset, j->done);

    /* What is left of it runs, if only by one pod. */
    return least > done ? least - done : done && j->podset[podset].pods > done;
}

int64_t oracle_ask_milli(const struct o_job *j, bool minimum)
{
    int64_t sum = 0;

    for (uint32_t s = 0; s < j->podsets; s++)
        sum += (int64_t)j->podset[s].gpus * j->podset[s].milli *
               (minimum ? charged_least(j, s) : j->podset[s].pods);
    return sum;
}

bool oracle_team_below(const struct o_world *w, uint32_t team, uint32_t above)
{
    for (; team != O_NONE; team = w->team[team].parent)
        if (team == above)
            return true;
    return false;
}

unsigned oracle_seats(const struct o_job *j, uint32_t podset)
{
    unsigned count = 0;

    for (unsigned s = 0; s < j->seats; s++)
        count += j->seat[s].podset == podset;
    return count;
}

int64_t oracle_held_milli(const struct o_job *j)
{
    int64_t sum = 0;

    for (unsigned s = 0; s < j->seats; s++) {
        const struct o_podset *p = &j->podset[j->seat[s].podset];

        sum += (int64_t)p->gpus * p->milli;
    }
    return sum;
}

int64_t oracle_team_held(const struct o_world *w, uint32_t team)
{
    int64_t sum = 0;

    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *j = &w->job[n];

        if (j->live && j->runs && oracle_team_below(w, j->team, team))
            sum += oracle_held_milli(j);
    }
    return sum;
}

bool oracle_team_allows(const struct o_world *w, uint32_t team, int64_t milli)
{
    for (; team != O_NONE && milli > 0; team = w->team[team].parent)
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
