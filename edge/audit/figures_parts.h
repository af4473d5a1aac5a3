/* figures_parts.h - what the files of the figures share; private to figures*.c */
#ifndef EDGE_AUDIT_FIGURES_PARTS_H
#define EDGE_AUDIT_FIGURES_PARTS_H

#include "edge/audit/figures.h"

void figures_shapes(struct figures *g, struct books *b);
void figures_owners(struct figures *g, struct books *b);
void figures_waits(struct figures *g, struct books *b, int64_t now_s);
void figures_runs(struct figures *g, struct books *b);

/* An ask of the pods of a job in that phase; pods that ask the same are one podset. False: there
 * are none. */
bool figures_ask(const struct books *b, uint32_t job, enum facts_phase phase, uint32_t only,
                 struct job_spec *ret_spec);

/* True if both ask for the same pods in the same scope. */
bool figures_alike(const struct job_spec *a, const struct job_spec *b);

#endif
