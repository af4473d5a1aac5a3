/* report.h - the figures of an audit as people and programs read them
 *
 * Text comes in the order of what matters: a paragraph in plain words, capacity, fragmentation,
 * owners, waiting jobs, running gangs, and what is odd about the dump. JSON has the same figures
 * under the format "dovetail-audit/1": new fields may come, none changes its meaning.
 *
 * Names come from the dump and may hold anything: control characters are shown as '?'.
 */
#ifndef EDGE_AUDIT_REPORT_H
#define EDGE_AUDIT_REPORT_H

#include "edge/audit/figures.h"
#include "edge/audit/stream.h"
#include "edge/base/out.h"

#define REPORT_FORMAT "dovetail-audit/1"

struct report {
    const struct facts *f;
    const struct books *b;
    const struct figures *g;
    const struct stream *s;
    bool colour;
};

void report_text(const struct report *r, struct out *out);
void report_json(const struct report *r, struct out *out);
/* The first paragraph alone. */
void report_story(const struct report *r, struct out *out);

/* A figure by the name it has under --fail-if; false: there is none. */
bool report_figure(const struct report *r, const char *name, double *ret_value);

#endif
