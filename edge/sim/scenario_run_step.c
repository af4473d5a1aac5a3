/* The steps of a timeline. */
#include "edge/sim/scenario_run_parts.h"

#include <string.h>

/* Keys of the format's further ones that this build acts on. */
static const char *const known_further[] = {"outside",
                                            "reject",
                                            "notready",
                                            "sick",
                                            "expect sick",
                                            "expect rejected",
                                            "expect broken",
                                            "expect decide_ms",
                                            "back_s",
                                            "force",
                                            "expect waiting free_gpus",
                                            "expect waiting best_pods",
                                            "finish of one pod",
                                            "fail of one pod",
                                            "expect repaired",
                                            "gpus with a share",
                                            "or",
                                            "expect granted",
                                            NULL};

/* The core holds whole devices only for those that nobody can place. */
static bool has_vague_share(const struct scenario *s, const struct scenario_running *r)
{
    const struct world_job *job = &s->world.job[r->job];

    for (uint32_t n = 0; n < job->podset_count; n++) {
        const struct world_podset *p = &job->podset[n];

        if (p->gpus > 0 && (p->milli < 1000 || p->mem_share_mib > 0 || p->mig != WORLD_NONE))
            for (uint32_t seat = 0; seat < r->seat_count; seat++)
                if (!r->seat[seat].devices_known)
                    return true;
    }
    return false;
}

const char *play_lacks(const struct scenario *s, uint32_t *ret_line)
{
    *ret_line = 1;
    for (uint32_t n = 0; n < s->running_count; n++)
        if (has_vague_share(s, &s->running[n]))
            return "a share on a device that nobody knows";
    for (uint32_t f = 0; f < s->further_count; f++) {
        const char *const *known = known_further;

        while (*known && strcmp(*known, s->further[f].key) != 0)
            known++;
        *ret_line = s->further[f].line;
        if (!*known)
            return s->further[f].key;
    }
    for (uint32_t n = 0; n < s->step_count; n++) {
        const struct step *step = &s->step[n];

        *ret_line = step->line;
        if (step->kind == STEP_OUTSIDE && has_vague_share(s, step->outside))
            return "a share on a device that nobody knows";
    }
    return NULL;
}

static struct reader reader_for(struct play *p, struct err *err)
{
    return (struct reader){.w = p->w, .path = p->s->path, .err = err};
}

/* Devices whose numbers are beyond the new count are gone for whoever comes new; what sits there
 * keeps them. */
static void set_node(struct play *p, const struct step *step)
{
    struct world_node *n = &p->w->node[step->node], changed = *n;
    struct err err;
    struct reader r = reader_for(p, &err);
    uint32_t shape = changed.shape;

    changed.shape = WORLD_NONE;
    if (!read_node_fields(&r, step->change, &changed)) {
        play_broken(p, "a change that makes sense", "%s", err.text);
        return;
    }
    if (!reader_get(step->change, "shape") && changed.gpus <= n->gpus)
        changed.shape = shape;
    *n = changed;
    play_view_node(p, step->node);
    play_fact_begin(p);
    play_tell_node(p, step->node);
    play_fact_end(p, OBJECT_NODE, step->node);
}

/* The core knows no change of a gang's size: the job is told anew, in its old place, with what it
 * has of pods. */
static void resize(struct play *p, const struct step *step, struct reader *r)
{
    struct world_podset *set = &p->w->job[step->job].podset[0];
    struct play_job *j = &p->job[step->job];
    struct event e = play_event(p, EVENT_END);
    bool rigid = set->pods_min == set->pods;
    uint32_t pods =
        (uint32_t)reader_int(r, step->change, "pods", (struct span){1, READ_COUNT_MAX, set->pods});
    uint32_t least = (uint32_t)reader_int(
        r, step->change, "min_pods",
        (struct span){1, pods, rigid || set->pods_min > pods ? pods : set->pods_min});

    if (r->code)
        return;
    play_fact_begin(p);
    e.end.key = j->key;
    if (j->live.state == LIVE_WAITING || j->live.state == LIVE_RUNNING)
        driver_event(&p->driver, &e);
    play_renumber(p, step->job, pods);
    set->pods = pods;
    set->pods_min = least;
    if (j->live.state == LIVE_WAITING || j->live.state == LIVE_RUNNING) {
        j->key = play_new_key(p, step->job);
        j->promised_ns = INT64_MAX;
        play_tell_job(p, step->job);
    }
    play_fact_end(p, OBJECT_JOB, step->job);
    play_tell_ghosts(p);
}

static void set_job(struct play *p, const struct step *step)
{
    struct world_job *job = &p->w->job[step->job];
    struct play_job *j = &p->job[step->job];
    struct err err;
    struct reader r = reader_for(p, &err);
    struct event e = play_event(p, EVENT_JOB_SET);

    job->priority = (int32_t)reader_int(&r, step->change, "priority",
                                        (struct span){INT32_MIN, INT32_MAX, job->priority});
    job->est_ns =
        reader_time(&r, step->change, "est_s", (struct span){0, READ_NS_MAX, job->est_ns});
    if (reader_get(step->change, "last_ckpt_s"))
        j->last_ckpt_ns =
            reader_time(&r, step->change, "last_ckpt_s", (struct span){-READ_NS_MAX, p->now_ns, 0});
    if (reader_get(step->change, "pods") || reader_get(step->change, "min_pods"))
        resize(p, step, &r);
    if (r.code)
        play_broken(p, "a change that makes sense", "%s", err.text);
    if (j->key == WORLD_NONE || j->live.state == LIVE_UNBORN)
        return;
    play_fact_begin(p);
    e.job_set = (struct event_job_set){j->key, job->priority, job->est_ns};
    driver_event(&p->driver, &e);
    play_fact_end(p, OBJECT_JOB, step->job);
}

static void set_team(struct play *p, const struct step *step)
{
    struct world_team *t = &p->w->team[step->team];
    const struct tree *list = reader_get(step->change, "guarantee");
    struct world_event note = {.kind = WEV_TEAM, .target = step->team};
    struct err err;
    struct reader r = reader_for(p, &err);

    t->weight_micro = reader_decimal(&r, step->change, "weight", 6,
                                     (struct span){0, READ_AMOUNT_MAX, t->weight_micro});
    if (tree_find(step->change, "limit_gpus")) /* null takes the limit away */
        t->limit_gpu_milli = reader_decimal(&r, step->change, "limit_gpus", 3,
                                            (struct span){0, READ_AMOUNT_MAX, WORLD_UNLIMITED});
    if (list)
        t->guarantee_count = read_guarantees(&r, list, &t->guarantee);
    note.sets_weight = note.sets_limit = note.sets_guarantee = true;
    note.weight_micro = t->weight_micro;
    note.limit_gpu_milli = t->limit_gpu_milli;
    note.guarantee_count = t->guarantee_count;
    note.guarantee = t->guarantee;
    play_note(p, note);
    play_fact_begin(p);
    feed_team(&p->feed, p->now_ns, step->team);
    play_fact_end(p, OBJECT_TEAM, step->team);
}

static void set_watch(struct play *p, const struct step *step)
{
    play_excuse(p);
    p->delay_ns = step->length_ns;
    p->twice = step->twice;
    p->reorder = step->reorder_seed != 0;
    prng_init(&p->jitter, step->reorder_seed);
    p->drop = step->times;
    if (p->lost && p->relist_ns == INT64_MAX)
        p->relist_ns = p->now_ns + PLAY_SECOND;
    p->faulty = true;
}

static void restart(struct play *p, const struct step *step)
{
    struct err err;

    play_excuse(p);
    if (!step->empty)
        play_restart(p);
    else if (!play_restart_empty(p, &err))
        play_broken(p, "a cluster that can be listed", "%s", err.text);
}

/* Passes until five in a row change nothing. */
static void settle(struct play *p, uint32_t passes)
{
    unsigned quiet = 0;

    for (uint32_t n = 0; n < passes && quiet < 5 && !p->broken; n++) {
        uint64_t before = p->changes;

        play_deliver(p, true);
        play_turn(p);
        quiet = p->changes == before ? quiet + 1 : 0;
    }
}

static void look(struct play *p, const struct step *step)
{
    if (step->settle)
        settle(p, step->settle);
    if (step->expect && !p->broken)
        (void)play_expect(p, step->expect);
}

static void change(struct play *p, const struct step *step)
{
    play_excuse(p);
    if (step->kind == STEP_SET_NODE)
        set_node(p, step);
    else if (step->kind == STEP_SET_JOB)
        set_job(p, step);
    else
        set_team(p, step);
}

static void end_job(struct play *p, const struct step *step)
{
    if (step->kind == STEP_CANCEL)
        play_cancel(p, step->job);
    else if (step->kind == STEP_RECREATE)
        play_recreate(p, step->job);
    else if (step->kind == STEP_DELETE_POD)
        play_delete_pod(p, step);
    else if (!step->pod_given)
        play_finish(p, step->job);
    else if (step->kind == STEP_FINISH)
        play_finish_pod(p, step->job, step->pod);
    else
        play_fail_pod(p, step->job, step->pod);
}

static void reject(struct play *p, const struct step *step)
{
    play_excuse(p);
    if (step->node != WORLD_NONE)
        p->node[step->node].rejects = step->times;
    else
        p->job[step->job].rejects = step->times;
}

void play_step(struct play *p, const struct step *step)
{
    switch ((enum step_kind)step->kind) {
    case STEP_SUBMIT:
        play_submit(p, step->job);
        break;
    case STEP_STATE:
        if (step->gpu_given)
            play_device_state(p, step->node, step->gpu, step->state);
        else
            play_node_state(p, step->node, step->state, step->length_ns);
        break;
    case STEP_SET_NODE:
    case STEP_SET_JOB:
    case STEP_SET_TEAM:
        change(p, step);
        break;
    case STEP_FINISH:
    case STEP_FAIL:
    case STEP_CANCEL:
    case STEP_RECREATE:
    case STEP_DELETE_POD:
        end_job(p, step);
        break;
    case STEP_TERMINATE:
        p->job[step->job].terminate_ns = step->length_ns;
        break;
    case STEP_RESTART:
        restart(p, step);
        break;
    case STEP_WATCH:
        set_watch(p, step);
        break;
    case STEP_OUTSIDE:
        play_seated(p, step->outside);
        break;
    case STEP_REJECT:
        reject(p, step);
        break;
    case STEP_BIND: /* not in this build, told before the run */
        break;
    case STEP_EXPECT:
        look(p, step);
        break;
    }
}
