/* words.h - a decision of the core as a record: codes become sentences
 *
 * One renderer serves the log, the terminal and the report. The sentences stand in the table of
 * core/model/reason.h; here their words are filled in.
 *
 * Owner   Texts lie in the caller's struct words until it renders the next decision.
 */
#ifndef EDGE_SIM_WORDS_H
#define EDGE_SIM_WORDS_H

#include <stdio.h>

#include "core/engine/sched.h"
#include "edge/base/out.h"
#include "edge/sim/record.h"

struct words {
    struct out text, cure;
};

void words_free(struct words *t);

/* Fills the record's fits, final and reason from a refusal. */
void words_refusal(struct words *t, const struct world *w, const struct decision *d,
                   struct record *r);
/* Fills the record's reason from a start whose pods are in the record. */
void words_start(struct words *t, const struct world *w, const struct decision *d,
                 struct record *r);

/* docs/reference/reasons.md */
void words_reference(FILE *out);

#endif
