#include "tests/oracle/promise.h"

#include <stddef.h>

static bool is_over(const struct o_world *w, const struct o_job *j)
{
    return j->end_ns == O_NEVER || j->end_ns <= w->now_ns;
}

bool promise_vague(const struct o_world *w)
{
    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *j = &w->job[n];
        bool elastic = false;

        for (uint32_t s = 0; s < j->podsets; s++)
            elastic |= oracle_least_pods(j, s, true) < j->podset[s].pods;
        if (j->live && (j->runs ? j->vague : elastic && oracle_inexact(j)))
            return true;
    }
    return false;
}

/* Running time that the job may need at most: as small as it may run, and the dead time of a
 * further run. */
static int64_t longest_ns(const struct o_job *j)
{
    int64_t milli = oracle_ask_milli(j, false), most = 0, least = 0;
    __extension__ __int128 est = j->est_ns;

    if (j->est_ns < 0)
        return O_NEVER / 4;
    for (uint32_t s = 0; s < j->podsets; s++) {
        const struct o_podset *p = &j->podset[s];
        int64_t each = milli == 0 ? 1 : (int64_t)p->gpus * p->milli;

        most += each * p->pods;
        least += each * oracle_least_pods(j, s, true);
    }
    if (least > 0 && least < most)
        est = (est * most + least - 1) / least;
    return (int64_t)est + (j->ran ? j->restart_ns : 0);
}

/* Until when a run of the job from that time on lasts. */
static int64_t until_ns(const struct o_world *w, const struct o_job *j, int64_t from_ns)
{
    if (j->runs)
        return is_over(w, j) ? O_NEVER / 2 : j->end_ns;
    return from_ns + longest_ns(j);
}

/* A job that came after the promise and stands above it may take the room. */
static bool outranks(const struct o_world *w, const struct o_job *j, const struct o_job *k)
{
    if (!w->by_priority || j->priority <= k->priority)
        return false;
    return !k->promised || j->submitted_at > k->promised_at;
}

bool promise_binds(const struct o_world *w, const struct o_job *j, const struct o_job *other,
                   int64_t from_ns)
{
    const struct o_job *k = other;

    if (k == j || k->key == j->key || !k->live || k->runs || k->rooms == 0 || outranks(w, j, k))
        return false;
    if (k->keep == O_KEEP_INHERITED)
        return k->room_ns > from_ns;
    /* It will have started and be gone by then. */
    if (k->est_ns >= 0 && k->room_ns > w->now_ns && k->room_ns + longest_ns(k) <= from_ns)
        return false;
    return until_ns(w, j, from_ns) > k->room_ns;
}

/* What a host gives back after one time and until another. */
struct gives {
    int64_t cpu, mem, pods, extra[2];
};

static struct gives gives_of(const struct o_world *w, uint32_t host, int64_t from_ns, int64_t to_ns)
{
    struct gives g = {.pods = 0};

    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *j = &w->job[n];

        if (!j->live || !j->runs || is_over(w, j) || j->end_ns <= from_ns || j->end_ns > to_ns)
            continue;
        for (unsigned s = 0; s < j->seats; s++) {
            const struct o_podset *p = &j->podset[j->seat[s].podset];

            if (j->seat[s].host != host)
                continue;
            g.cpu += p->cpu;
            g.mem += p->mem;
            g.pods++;
            g.extra[0] += p->extra[0];
            g.extra[1] += p->extra[1];
        }
    }
    return g;
}

/* Takes what it can from what is given back and nobody counts on; returns the rest. */
static int64_t beyond(int64_t need, int64_t gives, int64_t *counted)
{
    int64_t rest = gives > *counted ? gives - *counted : 0;
    int64_t covered = need < rest ? need : rest;

    *counted += covered;
    return need - covered;
}

/* Takes a kept room out of the world, as somebody sees it who starts at that time. counted: by host
 * what rooms of earlier dates count on. */
static void take_room(struct o_world *to, const struct o_world *w, const struct o_job *k,
                      int64_t from_ns, struct gives *counted)
{
    for (uint32_t h = 0; h < to->hosts; h++) {
        struct gives g = gives_of(w, h, from_ns, k->room_ns), *c = &counted[h];
        struct o_host *o = &to->host[h];

        if (k->keep == O_KEEP_INHERITED)
            g = (struct gives){.pods = 0}; /* it is needed at once */
        for (unsigned s = 0; s < k->rooms; s++) {
            const struct o_podset *p = &k->podset[k->room[s].podset];

            if (k->room[s].host != h)
                continue;
            o->failed |= k->room[s].devices;
            o->cpu -= beyond(p->cpu, g.cpu, &c->cpu);
            o->mem -= beyond(p->mem, g.mem, &c->mem);
            o->pods -= beyond(1, g.pods, &c->pods);
            o->extra[0] -= beyond(p->extra[0], g.extra[0], &c->extra[0]);
            o->extra[1] -= beyond(p->extra[1], g.extra[1], &c->extra[1]);
        }
    }
}

static void age(struct o_world *to, const struct o_world *w, int64_t at_ns)
{
    oracle_copy(to, w);
    to->now_ns = at_ns;
    for (unsigned n = 0; n < w->jobs; n++)
        if (w->job[n].live && w->job[n].runs && !is_over(w, &w->job[n]) &&
            w->job[n].end_ns <= at_ns) {
            to->job[n].runs = false;
            to->job[n].seats = 0;
        }
}

void promise_world(struct o_world *to, const struct o_world *w, const struct o_job *j,
                   int64_t at_ns)
{
    struct gives counted[O_HOSTS] = {{0}};
    bool done[O_JOBS] = {false};

    age(to, w, at_ns);
    for (;;) {
        unsigned next = O_JOBS;

        for (unsigned n = 0; n < w->jobs; n++)
            if (!done[n] && promise_binds(w, j, &w->job[n], at_ns) &&
                (next == O_JOBS || w->job[n].room_ns < w->job[next].room_ns))
                next = n;
        if (next == O_JOBS)
            return;
        done[next] = true;
        take_room(to, w, &w->job[next], at_ns, counted);
    }
}

/* What the rooms that bind the job will hold of a team's limit. */
static int64_t team_rooms(const struct o_world *w, uint32_t team, const struct o_job *j,
                          int64_t at_ns)
{
    int64_t sum = 0;

    for (unsigned n = 0; n < w->jobs; n++)
        if (promise_binds(w, j, &w->job[n], at_ns) && oracle_team_below(w, w->job[n].team, team))
            sum += oracle_ask_milli(&w->job[n], false);
    return sum;
}

static bool teams_allow(const struct o_world *to, const struct o_world *w, const struct o_job *j,
                        int64_t at_ns)
{
    for (uint32_t t = j->team; t != O_NONE && oracle_ask_milli(j, true) > 0; t = w->team[t].parent)
        if (w->team[t].limit < INT64_MAX / 4 &&
            oracle_team_held(to, t) + team_rooms(w, t, j, at_ns) + oracle_ask_milli(j, true) >
                w->team[t].limit)
            return false;
    return true;
}

enum o_answer promise_fits_now(const struct o_world *w, const struct o_job *j, uint64_t steps)
{
    static struct o_world now;

    promise_world(&now, w, j, w->now_ns);
    for (uint32_t t = j->team; t != O_NONE && oracle_ask_milli(j, true) > 0; t = w->team[t].parent)
        if (team_rooms(w, t, j, w->now_ns) > 0 && w->team[t].limit < INT64_MAX / 4)
            return O_TOO_LARGE; /* what a limit lends is judged elsewhere */
    return oracle_fits(&now, j, 0, steps);
}

static enum o_answer fits_at(const struct o_world *w, const struct o_job *j, int64_t at_ns,
                             uint64_t steps)
{
    static struct o_world then;

    promise_world(&then, w, j, at_ns);
    return teams_allow(&then, w, j, at_ns) ? oracle_fits(&then, j, 0, steps) : O_NO;
}

enum o_answer promise_date(const struct o_world *w, const struct o_job *j, uint64_t steps,
                           int64_t *ret_ns)
{
    int64_t last = w->now_ns;

    for (;;) {
        int64_t next = O_NEVER;
        enum o_answer answer;

        for (unsigned n = 0; n < w->jobs; n++) {
            const struct o_job *k = &w->job[n];
            int64_t end = O_NEVER;

            if (!k->live || k == j)
                continue;
            if (k->runs)
                end = k->end_ns;
            else if (k->rooms && k->key != j->key)
                end = k->keep == O_KEEP_INHERITED                ? k->room_ns
                      : k->est_ns >= 0 && k->room_ns > w->now_ns ? k->room_ns + longest_ns(k)
                                                                 : O_NEVER;
            if (end > last && end < next)
                next = end;
        }
        if (next == O_NEVER)
            return O_NO;
        answer = fits_at(w, j, next, steps);
        if (answer != O_NO) {
            *ret_ns = next;
            return answer;
        }
        last = next;
    }
}

/* Only rooms that are taken by then: those of later dates mind this one. What has an excuse may be
 * broken already. */
const char *promise_room_wrong(const struct o_world *w, const struct o_job *j)
{
    static struct o_world then, before;

    oracle_copy(&before, w);
    for (unsigned n = 0; n < w->jobs; n++)
        if (w->job[n].keep != O_KEEP_INHERITED &&
            (w->job[n].room_ns > j->room_ns || promise_excused(w, &w->job[n])))
            before.job[n].rooms = 0;
    promise_world(&then, &before, j, j->room_ns);
    if (!oracle_inexact(j) && !teams_allow(&then, &before, j, j->room_ns))
        return "its team will be at its limit";
    return oracle_start_wrong(&then, j, j->room, j->rooms);
}

bool promise_excused(const struct o_world *w, const struct o_job *j)
{
    if (w->excused > j->promised_at || j->outranked)
        return true;
    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *k = &w->job[n];

        if (k->live && k->runs && is_over(w, k))
            return true;
    }
    return false;
}
