/* run.h - one seed from beginning to end, and the smallest history that still fails
 *
 * Owner   The tally is the caller's and is added to.
 */
#ifndef ORACLE_RUN_H
#define ORACLE_RUN_H

#include "tests/oracle/check.h"
#include "tests/oracle/history.h"

enum {
    RUN_DEEP = 1,   /* compare with the oracle's search */
    RUN_STOPS = 2,  /* what sits on failed devices is stopped in the same batch, as edges do */
    RUN_TABLES = 4, /* after each batch: every row valid, index and digest as if made anew */
    RUN_REPLAY = 8, /* the same batches with ample limits: same decisions, same digest */
    RUN_CALM = 16,  /* at the end faults stop, and all that fits must start */
};

/* True if all was well. Else prints what was wrong and the command line of `program` that shows it
 * again, for the shortest history that still fails. */
bool run_seed(uint64_t seed, const struct style *s, unsigned flags, struct tally *tally,
              const char *program);

/* Runs a history; false: ret_wrong (of size bytes) says what was wrong. */
bool run_history(const struct history *h, unsigned flags, struct tally *tally, char *ret_wrong,
                 size_t size);

#endif
