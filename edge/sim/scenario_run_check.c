/* What must be true at every step of every scenario. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"
#include "core/place/gang.h"
#include "edge/base/memory.h"

#define MILLI_NANO 1000000ll

/* ---- starts ---- */

int64_t play_together(const struct world *w, struct world_where where,
                      const struct record_pod *pods, uint32_t count)
{
    bool below =
        where.scope == SCOPE_ISLAND || where.scope == SCOPE_NUMA || where.scope == SCOPE_PCIE;
    struct record_pod all = pods[0];
    int64_t domain;

    for (uint32_t n = 1; n < count && below; n++) {
        if (pods[n].node != all.node)
            return -1;
        all.devices |= pods[n].devices;
    }
    domain = fit_domain(w, where, &all);
    for (uint32_t n = 1; n < count && domain >= 0 && !below; n++)
        if (fit_domain(w, where, &pods[n]) != domain)
            return -1;
    return domain;
}

/* The level contains all pods; one without devices is in every part of its host. */
static bool contained(const struct play *p, struct world_where where, const struct record_pod *pods,
                      uint32_t count)
{
    bool bare =
        where.scope == SCOPE_ISLAND || where.scope == SCOPE_NUMA || where.scope == SCOPE_PCIE;

    for (uint32_t n = 0; n < count; n++)
        bare &= pods[n].devices == 0;
    if (bare)
        where.scope = SCOPE_NODE;
    return play_together(p->w, where, pods, count) >= 0;
}

/* Whole slices: of each domain of their level a multiple. */
static bool slices_whole(const struct play *p, const struct world_podset *set,
                         const struct record_pod *pods, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++) {
        int64_t domain = fit_domain(p->w, set->slice_level, &pods[n]);
        uint32_t same = 0;

        for (uint32_t other = 0; other < count; other++)
            same += fit_domain(p->w, set->slice_level, &pods[other]) == domain;
        if (domain < 0 || same % set->slice_pods != 0)
            return false;
    }
    return count > 0;
}

/* Pods stand in the order of their podsets: those of one set, and how many. */
static const struct record_pod *pods_of_set(const struct record_pod *pods, uint32_t count,
                                            uint32_t set, uint32_t *ret_count)
{
    uint32_t first = 0, last;

    while (first < count && pods[first].podset != set)
        first++;
    for (last = first; last < count && pods[last].podset == set;)
        last++;
    *ret_count = last - first;
    return pods + first;
}

/* NULL, or the hard rule that the podset's pods break. */
static const char *set_broken(const struct play *p, const struct world_podset *set,
                              const struct record_pod *pods, uint32_t count, uint32_t least)
{
    if (count < least || count > set->pods)
        return "a gang that is neither whole nor absent";
    for (unsigned r = 0; r < set->required_count && count > 0; r++)
        if (!contained(p, set->required[r], pods, count))
            return "pods that are not in one domain of the required level";
    if (set->slice_pods && !slices_whole(p, set, pods, count))
        return "a slice that is not in one domain of its level";
    for (uint32_t n = 0; n < count; n++)
        if ((unsigned)__builtin_popcount(pods[n].devices) != set->gpus)
            return "a pod with another number of devices than it asks";
    return NULL;
}

static const char *cards_shared(const struct world_job *job, const struct record_pod *pods,
                                uint32_t count)
{
    for (uint32_t a = 0; a < count && !job->share_card; a++)
        for (uint32_t b = a + 1; b < count; b++)
            if (pods[a].node == pods[b].node && (pods[a].devices & pods[b].devices))
                return "two pods of the gang on one card";
    return NULL;
}

static const char *host_shut(const struct play *p, const struct world_job *job,
                             const struct record_pod *pod)
{
    const struct play_node *x = &p->node[pod->node];

    if (x->state != HOST_UP)
        return "a node that is drained";
    if (pod->devices & (x->sick | x->closed))
        return "a device that is sick or drained";
    if (x->leave_ns != INT64_MAX && (job->est_ns < 0 || p->now_ns + job->est_ns > x->leave_ns))
        return "a node that leaves before the job is expected to end";
    return NULL;
}

/* What runs may stay where nothing new may come. */
static bool is_there(const struct live *l, const struct record_pod *pod)
{
    for (uint32_t n = 0; n < l->pod_count; n++)
        if (l->pod[n].pod == pod->pod)
            return true;
    return false;
}

void play_check_start(struct play *p, uint32_t job, const struct record_pod *pods, uint32_t count,
                      bool whole)
{
    const struct world_job *j = &p->w->job[job];
    const char *wrong = count == 0 ? "no pods" : cards_shared(j, pods, count);
    uint32_t seen = 0;

    for (uint32_t s = 0; s < j->podset_count && !wrong; s++) {
        uint32_t of_set, done = play_done_pods(p, job, s), least = j->podset[s].pods_min;
        const struct record_pod *first = pods_of_set(pods, count, s, &of_set);

        least = whole && least > done ? least - done : 0;
        wrong = set_broken(p, &j->podset[s], first, of_set, least);
        seen += of_set;
    }
    for (unsigned r = 0; r < j->required_count && !wrong; r++)
        if (!contained(p, j->required[r], pods, count))
            wrong = "pods that are not in one domain of the level that the job requires";
    for (uint32_t n = 0; n < count && !wrong; n++) {
        if (whole || !is_there(&p->job[job].live, &pods[n]))
            wrong = host_shut(p, j, &pods[n]);
        for (uint32_t other = 0; other < n && !wrong; other++)
            if (pods[other].pod == pods[n].pod)
                wrong = "one pod twice";
    }
    if (!wrong && seen != count)
        wrong = "pods of no podset";
    if (wrong)
        play_broken(p, "a start within the hard rules", "%s with %s", j->name, wrong);
}

/* ---- the books ---- */

static void check_model(struct play *p)
{
    struct model *m = p->driver.sched.m;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (!host_valid(m, h))
            play_broken(p, "books that equal a recount", "wrong figures of node %s",
                        h < p->w->node_count ? p->w->node[p->node_of[h]].name : "?");
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        if (!job_valid(m, j))
            play_broken(p, "books that equal a recount", "wrong figures of the job in row %u", j);
    if (!index_valid(m))
        play_broken(p, "books that equal a recount", "an index that a rebuild would change");
    if (model_digest(m) != model_digest_anew(m))
        play_broken(p, "books that equal a recount", "another digest than that of all rows");
    if (!p->faulty && config_row(m)->ignored_count > 0)
        play_broken(p, "facts that the core understands", "%llu that it passed over",
                    (unsigned long long)config_row(m)->ignored_count);
}

/* Does the core's row say the same as the truth? */
static bool same_seats(const struct play *p, const struct live *l, const struct job *row)
{
    const struct model *m = p->driver.sched.m;
    uint32_t count = 0;

    for (uint32_t s = row->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job, count++) {
        const struct seat *seat = seat_row(m, s);
        uint32_t n = 0;

        while (n < l->pod_count && l->pod[n].pod != seat->pod)
            n++;
        if (n == l->pod_count || p->host_of[l->pod[n].node] != seat->host ||
            play_slots_of(p, l->pod[n].node, l->pod[n].devices) != seat->devices)
            return false;
    }
    return count == l->pod_count;
}

static void check_job(struct play *p, uint32_t job)
{
    const struct model *m = p->driver.sched.m;
    const struct play_job *j = &p->job[job];
    uint32_t id = j->key == WORLD_NONE ? ROW_NONE : index_job_find(m, j->key);
    bool runs = j->live.state == LIVE_RUNNING;

    if (j->live.state != LIVE_WAITING && !runs)
        return;
    if (id == ROW_NONE || job_row(m, id)->state != (runs ? JOB_RUNNING : JOB_WAITING))
        play_broken(p, "books that equal the truth", "%s, which %s, %s", p->w->job[job].name,
                    runs ? "runs" : "waits", id == ROW_NONE ? "unknown to it" : "in another state");
    else if (runs && !same_seats(p, &j->live, job_row(m, id)))
        play_broken(p, "books that equal the truth", "other seats of %s", p->w->job[job].name);
}

static bool is_under(const struct world *w, uint32_t team, uint32_t above)
{
    while (team != WORLD_NONE && team != above)
        team = w->team[team].parent;
    return team == above;
}

static int64_t held_nano(const struct play *p, uint32_t team, int64_t *ret_slack)
{
    int64_t sum = 0;

    *ret_slack = 0;
    for (uint32_t job = 0; job < p->w->job_count; job++) {
        const struct live *l = &p->job[job].live;

        for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
            if (is_under(p->w, p->w->job[job].team, team)) {
                sum += fit_pod_nano(p->w, &p->w->job[job], l->pod[n].podset);
                *ret_slack += MILLI_NANO;
            }
    }
    for (size_t g = 0; g < p->ghost_count; g++)
        for (uint32_t n = 0; n < p->ghost[g].pod_count; n++)
            if (is_under(p->w, p->w->job[p->ghost[g].job].team, team)) {
                sum += fit_pod_nano(p->w, &p->w->job[p->ghost[g].job], p->ghost[g].pod[n].podset);
                *ret_slack += MILLI_NANO;
            }
    return sum;
}

static void check_truth(struct play *p)
{
    const struct model *m = p->driver.sched.m;
    uint32_t live = 0;

    for (uint32_t job = 0; job < p->w->job_count; job++) {
        check_job(p, job);
        live += p->job[job].live.state == LIVE_WAITING || p->job[job].live.state == LIVE_RUNNING;
    }
    if (model_head(m, TABLE_JOB)->live != live + p->ghost_count)
        play_broken(p, "books that equal the truth", "%u jobs instead of %u",
                    model_head(m, TABLE_JOB)->live, live + (uint32_t)p->ghost_count);
    for (uint32_t t = 0; t < p->w->team_count; t++) {
        int64_t slack, nano = held_nano(p, t, &slack);

        if (llabs(team_row(m, t)->held_milli * MILLI_NANO - nano) > slack)
            play_broken(p, "books that equal the truth", "%lld milli held by team %s",
                        (long long)team_row(m, t)->held_milli, p->w->team[t].name);
    }
}

/* What was told to go may still sit on what failed. */
static void check_down(struct play *p)
{
    for (uint32_t job = 0; job < p->w->job_count; job++) {
        const struct live *l = &p->job[job].live;

        for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++) {
            const struct play_node *x = &p->node[l->pod[n].node];

            if (x->state == HOST_DOWN || (l->pod[n].devices & x->down))
                play_broken(p, "no device in use that is down", "%s on node %s",
                            p->w->job[job].name, p->w->node[l->pod[n].node].name);
        }
    }
}

/* Nothing is given twice, whatever the core believes. */
static void check_devices(struct play *p)
{
    struct play_use *use = play_use_all(p);

    for (uint32_t n = 0; n < p->w->node_count; n++) {
        const struct play_use *u = &use[n];
        const char *name = p->w->node[n].name;

        if (u->wrong)
            play_broken(p, "no device given twice", "%s on node %s, device %u", u->wrong, name,
                        u->wrong_device);
    }
    free(use);
}

/* ---- reasons ---- */

static void check_reason(struct play *p, uint32_t id)
{
    struct model *m = p->driver.sched.m;
    const struct job *j = job_row(m, id);
    const char *name = p->w->job[p->job_of_key[j->key]].name;
    struct view v = view_of(m, id);
    enum verdict now;
    uint32_t team;

    if (!j->told.known) {
        play_broken(p, "a reason why every job waits", "none for %s", name);
        return;
    }
    now = gang_fits(&v);
    if (j->told.fits == VERDICT_FITS) {
        if ((j->told.code == WHY_QUOTA || j->told.code == WHY_NEVER_QUOTA) &&
            team_allows(m, j->team, job_least_milli(m, id), &team))
            play_broken(p, "reasons that hold", "%s held back by a limit that allows it", name);
    } else if (now == VERDICT_FITS && team_allows(m, j->team, job_least_milli(m, id), &team)) {
        play_broken(p, "reasons that hold", "room for %s, which was told that there is none", name);
    } else if (j->told.fits == VERDICT_NO && now == VERDICT_UNPROVEN) {
        play_broken(p, "reasons that hold", "%s was told that it cannot fit, which is not proven",
                    name);
    }
}

void play_check(struct play *p)
{
    const struct model *m = p->driver.sched.m;

    if (p->broken)
        return;
    check_devices(p);
    check_down(p);
    check_model(p);
    if (!play_behind(p))
        check_truth(p);
    for (uint32_t id = 0; id < model_count(m, TABLE_JOB) && !p->broken; id++)
        if (job_row(m, id)->state == JOB_WAITING)
            check_reason(p, id);
}
