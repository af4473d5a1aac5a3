#include "core/engine/keep.h"

#include "core/engine/answer.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/policy/backfill/force.h"
#include "core/policy/patience.h"

#define IMPROVED_MAX 8 /* jobs whose date one pass tries to better: the first of the queue */

/* May room be kept for the refused job? */
static bool deserves_room(const struct model *m, const struct pass *pass, uint32_t job,
                          const struct cause *cause)
{
    const struct config *c = config_row(m);
    const struct job *j = job_row(m, job);

    if (j->keep == KEEP_INHERITED && j->reserve_ns > c->now_ns)
        return false; /* it has some */
    if (j->exclusive)
        return false; /* others may be put beside what is kept: no promise would hold */
    if (c->reserves_max == 0 || cause->verdict == VERDICT_UNPROVEN || !j->told.known ||
        j->told.code <= WHY_NEVER_SIZE || j->told.code == WHY_NEVER_QUOTA ||
        j->told.code == WHY_PATIENCE)
        return false;
    if (j->hold_head != ROW_NONE)
        return true; /* a limit that is used up until its date takes nothing from it */
    if (j->told.code == WHY_QUOTA)
        return false;
    if (pass->kept.count >= c->reserves_max || pass->kept.count >= RESERVES_MAX)
        return false;
    return c->order == ORDER_CONSERVATIVE || !(reserve_models(m, job) & pass->heads);
}

/* Is what was found worth changing the kept room for? */
static bool is_better(struct model *m, uint32_t job, const struct kept *found)
{
    const struct job *j = job_row(m, job);

    if (j->hold_head == ROW_NONE || j->keep == KEEP_INHERITED)
        return true;
    if (found->keep < j->keep) /* a date instead of a guess */
        return true;
    if (found->keep == j->keep && found->at_ns < j->reserve_ns &&
        j->reserve_ns > config_row(m)->now_ns)
        return true;
    /* A guess that has passed stays: from now on nobody overtakes. */
    if (j->keep == KEEP_GUESSED && j->reserve_ns <= config_row(m)->now_ns)
        return false;
    return !force_stands(m, job);
}

/* Room that cannot be what it was kept for, or for a job that something else holds back. */
static void give_up(struct sched *s, struct pass *pass, uint32_t job)
{
    reserve_lift(s->m, &pass->kept);
    reserve_cut(&pass->kept, job);
    model_begin(s->m);
    job_release_kept(s->m, job);
    model_commit(s->m);
    s->room_came_back = true;
    pass->number = index_pass_next(s->m);
}

static void keep_found(struct sched *s, struct pass *pass, uint32_t job, const struct kept *found)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);

    s->room_came_back |= j->hold_head != ROW_NONE;
    pass->number = index_pass_next(m); /* what was refused because of the old room */
    if (j->hold_head == ROW_NONE)
        reserve_add(&pass->kept, job);
    model_begin(m);
    reserve_keep(m, job, found);
    if (found->keep == KEEP_DATED && found->at_ns != j->by_ns) {
        struct job *edit = model_edit(m, TABLE_JOB, job);

        edit->by_ns = found->at_ns;
        edit->promised_order = config_row(m)->submit_count;
        answer_promise(s, job);
    }
    model_commit(m);
}

/* A job that may wait for a better place gets a date in the best there is, if that comes in time;
 * else the earliest. */
static struct kept find_date(struct model *m, struct pass *pass, uint32_t job, int64_t before_ns)
{
    int64_t until_ns = patience_until(m, job);
    struct kept found = {.keep = KEEP_NONE};
    uint64_t wished = until_ns > config_row(m)->now_ns ? gang_best_wish(m, job) : 0;

    if (wished)
        found =
            reserve_find(m, &pass->kept, job, wished, until_ns < before_ns ? until_ns : before_ns);
    return found.keep == KEEP_NONE ? reserve_find(m, &pass->kept, job, 0, before_ns) : found;
}

void keep_room(struct sched *s, struct pass *pass, uint32_t job, const struct cause *cause)
{
    struct model *m = s->m;
    const struct job *j = job_row(m, job);
    bool has = j->hold_head != ROW_NONE && j->keep != KEEP_INHERITED, stands;
    struct kept found;

    if (!deserves_room(m, pass, job, cause)) {
        if (has && cause->verdict != VERDICT_UNPROVEN && j->told.code != WHY_PATIENCE)
            give_up(s, pass, job);
        return;
    }
    reserve_lift(m, &pass->kept);
    /* Room that stands is given up for an earlier date only. */
    stands = j->hold_head != ROW_NONE && j->keep == KEEP_DATED && force_stands(m, job);
    if (stands && s->improved++ >= IMPROVED_MAX)
        return;
    found = find_date(m, pass, job, stands ? j->reserve_ns : INT64_MAX);
    if (found.keep != KEEP_NONE && is_better(m, job, &found))
        keep_found(s, pass, job, &found);
    else if (found.keep == KEEP_NONE && has && !stands)
        give_up(s, pass, job);
}

void keep_gather(struct sched *s, struct pass *pass)
{
    struct model *m = s->m;
    uint32_t count, left = config_row(m)->kept_jobs;
    const uint32_t *waiting = index_waiting(m, &count);

    for (uint32_t n = 0; n < count && left; n++) {
        const struct job *j = job_row(m, waiting[n]);

        if (j->hold_head == ROW_NONE)
            continue;
        left--;
        if (pass->kept.count == RESERVES_MAX ||
            (j->keep == KEEP_INHERITED && j->reserve_ns <= config_row(m)->now_ns)) {
            model_begin(m);
            job_release_kept(m, waiting[n]);
            model_commit(m);
        } else {
            reserve_add(&pass->kept, waiting[n]);
        }
    }
}
