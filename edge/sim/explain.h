/* explain.h - the story of one job, from the decision log alone
 *
 * Why it was placed where it was, with the score's terms beside the runner-up's; or why it was
 * refused, with the limits that bind, the numbers, and what would change it; and everything else
 * that happened to it, in time order. Only the log is read: what it does not say is not guessed.
 *
 * A log whose end is cut off, as a stopped run leaves it, is explained as far as it goes, and the
 * answer says so.
 *
 * Names   The job's id as in the log. For openb the pod's name alone is enough where it arrived
 *         only once: "openb-pod-0255" finds "17:openb-pod-0255".
 * Errors  ERR_INPUT: no decision log, a broken line about the job, or no such job, then with the
 *         nearest names. ERR_TROUBLE: the file cannot be read.
 */
#ifndef EDGE_SIM_EXPLAIN_H
#define EDGE_SIM_EXPLAIN_H

#include <stdbool.h>

#include "edge/base/err.h"
#include "edge/base/out.h"

enum explain_form { EXPLAIN_TEXT, EXPLAIN_JSON };

int explain(const char *path, const char *job, enum explain_form form, struct out *out,
            struct err *err);

#endif
