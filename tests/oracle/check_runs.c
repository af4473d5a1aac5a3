#include "tests/oracle/check_parts.h"
#include "tests/oracle/promise.h"

unsigned check_seats(struct check *c, const struct decision *d, const struct o_job *j,
                     struct o_seat *ret)
{
    if (d->seat_count > O_PODS || d->seat_count == 0) {
        check_wrong(c, "job %u: a decision of %u pods", d->key, d->seat_count);
        return 0;
    }
    for (uint32_t n = 0; n < d->seat_count; n++) {
        const struct decision_seat *t = &c->d.s.seat[d->seat_first + n];

        if (t->podset >= j->podsets || (n && t->pod <= t[-1].pod)) {
            check_wrong(c, "job %u: podset %u, pod %u is none of its own or out of order", d->key,
                        t->podset, t->pod);
            return 0;
        }
        ret[n] = (struct o_seat){t->podset, t->pod, t->host, t->devices, t->slot};
    }
    return d->seat_count;
}

bool check_limits(struct check *c, const struct o_job *j)
{
    if (oracle_inexact(j) || oracle_held_milli(j) == 0)
        return true;
    for (uint32_t t = j->team; t != O_NONE; t = c->w.team[t].parent)
        if (oracle_team_held(&c->w, t) > c->w.team[t].limit)
            return check_wrong(c, "job %u runs over the limit of team %u", j->key, t);
    return true;
}

static bool numbers_new(const struct o_job *j, const struct o_seat *seat, unsigned seats)
{
    for (unsigned n = 0; n < seats; n++) {
        uint32_t first = 0;

        for (uint32_t s = 0; s < seat[n].podset; s++)
            first += j->podset[s].pods;
        if (seat[n].pod < first || seat[n].pod >= first + j->podset[seat[n].podset].pods ||
            ((j->done | j->away) >> seat[n].pod & 1))
            return false;
        for (unsigned o = 0; o < j->seats; o++)
            if (j->seat[o].pod == seat[n].pod)
                return false;
    }
    return true;
}

bool check_grow(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);
    struct o_seat seat[O_PODS];
    const char *wrong;
    unsigned seats;

    c->tally->grows++;
    if (!j || !j->runs)
        return check_wrong(c, "job %u grew, which does not run", d->key);
    seats = check_seats(c, d, j, seat);
    if (seats == 0)
        return false;
    if (!numbers_new(j, seat, seats))
        return check_wrong(c, "job %u grew by pods that it has, or has not", d->key);
    wrong = oracle_grow_wrong(&c->w, j, seat, seats);
    if (wrong)
        return check_wrong(c, "job %u grew: %s", d->key, wrong);
    mirror_grow(&c->w, j, seat, seats);
    rooms_taken(c, j, seat, seats);
    for (uint32_t s = 0; s < j->podsets; s++)
        if (oracle_seats(j, s) + oracle_of_set(j, s, j->done) > j->podset[s].pods)
            return check_wrong(c, "job %u grew beyond its size", d->key);
    return check_limits(c, j);
}

bool check_shrink(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key), *by = oracle_job(&c->w, d->by);
    struct o_seat seat[O_PODS];
    unsigned seats;

    c->tally->shrinks++;
    if (!j || !j->runs || !by || by->runs)
        return check_wrong(c, "job %u shrank for job %u: which runs for which?", d->key, d->by);
    if (by->priority < j->priority)
        return check_wrong(c, "job %u shrank for job %u of a lower priority", d->key, d->by);
    if (c->yielded_to != O_NONE && c->yielded_to != d->by)
        return check_wrong(c, "runs shrank for job %u, which did not start", c->yielded_to);
    if (c->yielded_to == O_NONE && c->deep && !oracle_unknown(&c->w) && !promise_vague(&c->w) &&
        promise_fits_now(&c->w, by, c->search_steps) == O_YES &&
        oracle_team_allows(&c->w, by->team, oracle_inexact(by) ? 0 : oracle_ask_milli(by, true)))
        return check_wrong(c, "job %u shrank for job %u, which fits without", d->key, d->by);
    c->yielded_to = d->by;
    seats = check_seats(c, d, j, seat);
    if (seats && !mirror_shrink(&c->w, j, seat, seats))
        return check_wrong(c, "job %u gave a pod that it has not", d->key);
    for (uint32_t s = 0; s < j->podsets; s++)
        if (oracle_seats(j, s) + oracle_of_set(j, s, j->done) < j->podset[s].pods_min)
            return check_wrong(c, "job %u shrank below its minimum", d->key);
    return seats > 0;
}

bool check_yielded(struct check *c, const struct decision *d)
{
    if (c->yielded_to == O_NONE || (d && d->kind == DECISION_SHRINK))
        return true;
    if (!d || d->kind != DECISION_START || d->key != c->yielded_to)
        return check_wrong(c, "runs shrank for job %u, which did not start", c->yielded_to);
    c->yielded_to = O_NONE;
    return true;
}

bool check_break(struct check *c, const struct decision *d)
{
    struct o_job *j = oracle_job(&c->w, d->key);

    c->tally->breaks++;
    if (!j || !j->runs)
        return check_wrong(c, "job %u was broken off, which does not run", d->key);
    if (j->breach_ns > c->w.now_ns)
        return check_wrong(c, "job %u was broken off before its time", d->key);
    mirror_stop(j);
    c->w.excused = c->w.number;
    return true;
}
