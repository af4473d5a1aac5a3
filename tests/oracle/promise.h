/* promise.h - dates and kept rooms by brute force
 *
 * What core/policy/backfill/reserve.h describes, said a second time: the world as the estimates
 * make it at a later time, with the rooms of others taken out of it, and the earliest end of a run
 * after which a job fits.
 *
 * Misuse  Worlds with seats of unknown devices are not judged.
 */
#ifndef ORACLE_PROMISE_H
#define ORACLE_PROMISE_H

#include "tests/oracle/oracle.h"

/* True if how long some job lasts depends on what shares of memory count, which is not said here.
 */
bool promise_vague(const struct o_world *w);

/* Would a run of the job from that time on be in the way of the room kept for the other? */
bool promise_binds(const struct o_world *w, const struct o_job *j, const struct o_job *other,
                   int64_t from_ns);

/* The world at that time: what ends by then by its estimate is gone, and the rooms that bind the
 * job are taken out. */
void promise_world(struct o_world *to, const struct o_world *w, const struct o_job *j,
                   int64_t at_ns);

/* Does the minimum fit now beside the rooms that bind it? */
enum o_answer promise_fits_now(const struct o_world *w, const struct o_job *j, uint64_t steps);

/* The earliest date by estimates. O_NO: there is none. */
enum o_answer promise_date(const struct o_world *w, const struct o_job *j, uint64_t steps,
                           int64_t *ret_ns);

/* NULL if the room kept for the job will be a legal start at its date. */
const char *promise_room_wrong(const struct o_world *w, const struct o_job *j);

/* Has something happened since the promise that excuses a later one, or a late start? */
bool promise_excused(const struct o_world *w, const struct o_job *j);

#endif
