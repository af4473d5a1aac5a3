/* reserve.h - room kept for a job that fits nowhere now: exact places, and the date they are for
 *
 * Backfill needs to know what it must not delay. For the first job that fits nowhere the runs are
 * taken off the books one after the other, in the order in which their estimates say they end,
 * until the gang fits: that is its date, and the places it would get then are kept for it (EASY:
 * Lifka 1995; for many jobs, conservative: Mu'alem and Feitelson 2001). Unlike theirs, what is kept
 * is devices and not nodes, so that a job on the other half of a host delays nobody.
 *
 * A hold in force takes off its host's books what the kept pod needs there beyond what will have
 * ended by its date: devices that are free now (as if out of service), and CPU, memory and pods.
 * Every search then avoids them without knowing. Holds are in force only while the engine asks
 * about one job, and never between steps.
 *
 * Dates   KEEP_DATED: every run that must end first has an estimate. KEEP_GUESSED: some have none,
 *         or are beyond it; they are taken to run as long again as they have. KEEP_INHERITED: a
 *         gang's room until its next incarnation comes, reserve_ns says until when.
 * Order   Runs by the end they are taken to have, then the lowest id. Of two dates the earlier; the
 *         places at it are those that gang_plan() would choose then.
 * Misuse  A job with holds in force is not searched for itself; the engine lifts them first.
 */
#ifndef POLICY_RESERVE_H
#define POLICY_RESERVE_H

#include "core/place/gang.h"

/* Jobs with kept room that a pass has come by, in the order of the queue. */
struct reserves {
    uint32_t count;
    uint32_t job[RESERVES_MAX];
    uint8_t in_force[RESERVES_MAX];
    uint64_t wished; /* where a date is looked for: scopes that must contain the job then */
};

/* What reserve_find() found; the places lie in the model's memory until the next search. */
struct kept {
    enum keep keep; /* KEEP_NONE: nothing */
    int64_t at_ns;
    uint32_t pods;
};

/* GPU models that pods of the job may use, of those that the cluster has. */
uint64_t reserve_models(const struct model *m, uint32_t job);

void reserve_add(struct reserves *r, uint32_t job);
void reserve_cut(struct reserves *r, uint32_t job);

/* Puts in force what binds a job that would start now, and lifts the rest: the kept room of every
 * other job that it could delay. least_only may be NULL. Returns a number that is equal for equal
 * sets in force, 0 for none. */
uint64_t reserve_bind(struct model *m, struct reserves *r, uint32_t job);
void reserve_lift(struct model *m, struct reserves *r);

/* True if so much more may be held by the job's team without delaying a job in force. */
bool reserve_quota(const struct model *m, const struct reserves *r, uint32_t job, int64_t milli);

/* The earliest date for the job, in one domain of each scope wished, before before_ns (INT64_MAX:
 * any, a guess if need be), minding the kept room of the others. Nothing is in force before and
 * after. */
struct kept reserve_find(struct model *m, struct reserves *others, uint32_t job, uint64_t wished,
                         int64_t before_ns);
/* Writes what was just found into the job's row and holds. */
void reserve_keep(struct model *m, uint32_t job, const struct kept *k);

/* Seats the job on the room kept for it; false: it is not all free, and the caller rolls back. */
bool reserve_take(struct model *m, uint32_t job);

#endif
