/* check_parts.h - the parts of check.h: runs that change their size, and rooms that are kept
 *
 * Misuse  Called by check.c alone, in the order of the decisions.
 */
#ifndef ORACLE_CHECK_PARTS_H
#define ORACLE_CHECK_PARTS_H

#include "tests/oracle/check.h"

/* Copies the seats of a decision; 0 and a note of what is wrong if they are none of the job's. */
unsigned check_seats(struct check *c, const struct decision *d, const struct o_job *j,
                     struct o_seat *ret);

bool check_grow(struct check *c, const struct decision *d);
bool check_shrink(struct check *c, const struct decision *d);
bool check_break(struct check *c, const struct decision *d);
/* What runs gave back was given to this job, or to nobody. */
bool check_yielded(struct check *c, const struct decision *d);
/* No run holds more than the limits of its teams. */
bool check_limits(struct check *c, const struct o_job *j);

/* Before the decisions of a batch. */
void rooms_begin(void);
/* The job has just been seated or grown on these seats: is that somebody else's room? */
void rooms_taken(struct check *c, const struct o_job *j, const struct o_seat *seat, unsigned seats);
/* The job starts: in time? Before it is followed. */
bool rooms_start(struct check *c, const struct o_job *j);
bool check_promise(struct check *c, const struct decision *d);
/* After the decisions of a batch: judges what was noted, and takes the rooms as the core has them.
 */
bool rooms_end(struct check *c);

#endif
