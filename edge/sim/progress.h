/* progress.h - how far, how fast, how long still: on standard error, never in the way
 *
 * On a terminal one line is redrawn at most ten times a second and wiped at the end; elsewhere a
 * plain line is written every ten seconds, so that logs of a build stay readable. Quick runs say
 * nothing at all. Workers may count from several threads.
 *
 * Owner   The caller's struct, from progress_begin() to progress_end(). One at a time.
 * Threads progress_add() from any; the others from one.
 */
#ifndef EDGE_SIM_PROGRESS_H
#define EDGE_SIM_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* a static word: "arrivals" */
    uint64_t total;
    _Atomic uint64_t done;
    atomic_flag drawing; /* who has it may write; others count and go on */
    int64_t start_ns;
    _Atomic int64_t shown_ns;
    int fd;
    bool terminal;
    _Atomic bool silent;
};

/* silent: count, but show nothing. */
void progress_begin(struct progress *p, const char *what, uint64_t total, bool silent);
void progress_add(struct progress *p, uint64_t count);
/* Wipes the line. Safe to call after a signal has stopped the work half way. */
void progress_end(struct progress *p);

/* One state as text without line ends, at most columns wide; what progress_add() would show. */
struct out;
void progress_line(struct out *out, const char *what, uint64_t done, uint64_t total,
                   int64_t elapsed_ns, unsigned columns);

#endif
