/* books.h - the facts of a dump on the books of the scheduler's core, and questions to it
 *
 * Nodes with GPUs become hosts, what runs on them becomes seats, and every question that the report
 * asks is then the scheduler's own: does this gang fit, how many such pods does this host hold,
 * which limit is it. Nothing here decides anything: nobody waits in the core, and a question is
 * asked inside a transaction that is rolled back.
 *
 * What the core cannot hold (more GPUs on a node than it has, more CPU than is left) is cut to what
 * is there; the facts have counted it as odd. Pods of DaemonSets and static pods belong to the
 * node: they are taken off its capacity, since the emptiest cluster has them too.
 *
 * Owner   books_open() to books_close(); the facts must outlive it.
 */
#ifndef EDGE_AUDIT_BOOKS_H
#define EDGE_AUDIT_BOOKS_H

#include "core/engine/sched.h"
#include "core/place/explain.h"
#include "edge/audit/facts.h"

struct books {
    struct facts *f;
    struct sched sched;
    void *block;
    uint8_t *batch;
    size_t batch_size, batch_limit;
    uint32_t *node_of; /* by host */
    uint32_t *host_of; /* by node; FACTS_NONE: it has no GPUs */
    uint32_t hosts;
    uint32_t domain_first[FACTS_LEVELS_MAX];
    uint32_t *class_of; /* by pod that waits: its class in the core */
    uint32_t classes;
};

/* Pods that ask nothing but GPUs, of any model, and tolerate taints that keep others off them. */
#define BOOKS_ANYBODY 0u
/* The same, tolerating every taint. */
#define BOOKS_EVERYWHERE 1u
/* The same on hosts of one GPU model only. */
#define BOOKS_MODEL 2u /* + the model */

int books_open(struct books *b, struct facts *f, struct err *err);
void books_close(struct books *b);

static inline const struct model *books_model(const struct books *b)
{
    return b->sched.m;
}

/* A job that stands on the books until books_unask(); returns its row. */
uint32_t books_ask(struct books *b, const struct job_spec *spec);
void books_unask(struct books *b);

/* An ask of so many equal pods and nothing special. */
struct job_spec books_spec(uint32_t pods, uint32_t gpus, int64_t cpu_milli, int64_t mem_mib,
                           uint32_t class_id);

/* The level of a scope as people name it: "host", a label's key, "cluster". */
const char *books_scope(const struct books *b, unsigned scope);

#endif
