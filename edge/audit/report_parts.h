/* report_parts.h - what the files of the report share; private to report*.c */
#ifndef EDGE_AUDIT_REPORT_PARTS_H
#define EDGE_AUDIT_REPORT_PARTS_H

#include "edge/audit/report.h"

#define SHOWN_BYTES 160

/* A name of the dump, safe to print; long ones are cut. out has SHOWN_BYTES. */
const char *report_name(const struct report *r, uint32_t name, char *out);
/* "H100-SXM" or the resource where no product is said. */
const char *report_model(const struct report *r, uint32_t model, char *out);
/* "3 h 20 min" */
void report_age(struct out *out, int64_t seconds);
void report_share(struct out *out, int64_t part, int64_t all);
/* Why the job waits, in a sentence without a full stop. */
void report_why(const struct report *r, const struct figures_waiting *w, struct out *out);

#endif
