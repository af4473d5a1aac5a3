#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"
#include "tests/oracle/check_parts.h"
#include "tests/oracle/promise.h"

#define PENDING_MAX 6
#define TAKEN_MAX   64

/* A promise of this batch, and the world in which it was given. */
struct pending {
    struct o_world w;
    uint32_t key;
};

/* Somebody sat down on a room that binds him, if the room is what was last heard of it. */
struct taken {
    struct o_job room;
    uint32_t by;
};

static struct pending pending[PENDING_MAX];
static struct taken taken[TAKEN_MAX];
static unsigned pendings, takens;

void rooms_begin(void)
{
    pendings = takens = 0;
}

void rooms_taken(struct check *c, const struct o_job *j, const struct o_seat *seat, unsigned seats)
{
    for (unsigned n = 0; n < c->w.jobs && !promise_vague(&c->w); n++) {
        const struct o_job *k = &c->w.job[n];
        bool same = false;

        if (!promise_binds(&c->w, j, k, c->w.now_ns))
            continue;
        for (unsigned a = 0; a < seats; a++)
            for (unsigned b = 0; b < k->rooms; b++)
                same |= seat[a].host == k->room[b].host && (seat[a].devices & k->room[b].devices);
        if (same && takens < TAKEN_MAX)
            taken[takens++] = (struct taken){*k, j->key};
    }
}

bool rooms_start(struct check *c, const struct o_job *j)
{
    if (!j->promised)
        return true;
    if (c->w.now_ns <= j->by_ns)
        c->tally->kept++;
    else if (promise_excused(&c->w, j))
        c->tally->excused++;
    else
        return check_wrong(c, "job %u starts at %lld, promised by %lld, without an excuse", j->key,
                           (long long)c->w.now_ns, (long long)j->by_ns);
    return true;
}

bool check_promise(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);
    struct o_seat seat[O_PODS];
    unsigned seats;

    c->tally->promises++;
    if (!j || j->runs)
        return check_wrong(c, "job %u was promised a start, which does not wait", d->key);
    if (d->by_ns <= c->w.now_ns)
        return check_wrong(c, "job %u was promised a time that is over", d->key);
    if (j->promised && d->by_ns > j->by_ns && !promise_excused(&c->w, j))
        return check_wrong(c, "job %u is promised %lld after %lld, without an excuse", d->key,
                           (long long)d->by_ns, (long long)j->by_ns);
    seats = check_seats(c, d, j, seat);
    if (seats == 0)
        return false;
    if (c->deep && !oracle_unknown(&c->w) && pendings < PENDING_MAX) {
        oracle_copy(&pending[pendings].w, &c->w);
        pending[pendings++].key = d->key;
    }
    j->promised = true;
    j->outranked = false;
    j->by_ns = d->by_ns;
    j->promised_at = ++c->w.number;
    j->keep = O_KEEP_DATED;
    j->room_ns = d->by_ns;
    j->rooms = seats;
    memcpy(j->room, seat, seats * sizeof(*seat));
    if (pendings && pending[pendings - 1].key == d->key) {
        struct o_job *then = oracle_job(&pending[pendings - 1].w, d->key);

        then->keep = O_KEEP_DATED;
        then->room_ns = d->by_ns;
        then->rooms = seats;
        memcpy(then->room, seat, seats * sizeof(*seat));
    }
    return true;
}

/* Rooms change without a word where no date is promised: a promise is judged where those of all
 * others are known to have been what was heard of them. */
static bool rooms_known(const struct check *c, const struct pending *p)
{
    for (unsigned n = 0; n < p->w.jobs; n++) {
        const struct o_job *then = &p->w.job[n], *now = &c->w.job[n];

        if (then->live && then->runs && then->vague)
            return false;
        if (!then->live || then->runs || then->key == p->key)
            continue;
        if (!now->live || now->key != then->key || now->runs)
            return false;
        if (!mirror_room_equal(then, c->d.s.m) &&
            !(then->rooms == 0 && now->promised_at > p->w.number))
            return false;
    }
    return true;
}

static bool judge(struct check *c, const struct pending *p)
{
    const struct o_job *j = NULL;
    const char *wrong;
    enum o_answer answer;
    int64_t date = 0;

    for (unsigned n = 0; n < p->w.jobs; n++)
        if (p->w.job[n].live && p->w.job[n].key == p->key)
            j = &p->w.job[n];
    if (!j || oracle_inexact(j) || promise_vague(&p->w) || !rooms_known(c, p))
        return true;
    wrong = promise_room_wrong(&p->w, j);
    if (wrong)
        return check_wrong(c, "job %u: room kept for it: %s", j->key, wrong);
    answer = promise_date(&p->w, j, c->search_steps, &date);
    if (answer == O_TOO_LARGE)
        return true;
    c->tally->dated++;
    /* A job with wishes may be promised a later date in a better place. */
    if (answer == O_NO || date > j->room_ns || (date < j->room_ns && j->wishes == 0))
        return check_wrong(c, "job %u is promised %lld, the earliest date is %lld", j->key,
                           (long long)j->room_ns, answer == O_NO ? -1 : (long long)date);
    return true;
}

/* Rooms at the end of a batch will be there when their time comes. */
static bool check_rooms(struct check *c)
{
    for (unsigned n = 0; n < c->w.jobs; n++) {
        const struct o_job *j = &c->w.job[n];
        const char *wrong;

        if (!j->live || j->runs || !j->promised || promise_excused(&c->w, j))
            continue;
        if (j->by_ns < c->w.now_ns)
            return check_wrong(c, "job %u was promised by %lld and waits still", j->key,
                               (long long)j->by_ns);
        if (j->keep != O_KEEP_DATED || oracle_unknown(&c->w) || promise_vague(&c->w))
            continue;
        c->tally->rooms++;
        wrong = promise_room_wrong(&c->w, j);
        if (wrong)
            return check_wrong(c, "job %u: the room kept for it will not be there: %s", j->key,
                               wrong);
    }
    return true;
}

bool rooms_end(struct check *c)
{
    for (unsigned n = 0; n < takens; n++) {
        const struct o_job *k = oracle_job(&c->w, taken[n].room.key);

        if (k && !k->runs && mirror_room_equal(&taken[n].room, c->d.s.m))
            return check_wrong(c, "job %u took room that is kept for job %u", taken[n].by, k->key);
    }
    for (unsigned n = 0; n < pendings; n++)
        if (!judge(c, &pending[n]))
            return false;
    mirror_adopt_rooms(&c->w, c->d.s.m);
    return check_rooms(c);
}
