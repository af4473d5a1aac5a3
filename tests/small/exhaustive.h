/* exhaustive.h - every world of 2 hosts with 3 devices each and 4 jobs, up to symmetry */
#ifndef SMALL_EXHAUSTIVE_H
#define SMALL_EXHAUSTIVE_H

/* Returns the exit code; prints the count. */
int exhaustive_run(void);

#endif
