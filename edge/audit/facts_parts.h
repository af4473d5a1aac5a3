/* facts_parts.h - what the files of the facts share; private to facts*.c */
#ifndef EDGE_AUDIT_FACTS_PARTS_H
#define EDGE_AUDIT_FACTS_PARTS_H

#include "edge/audit/facts.h"

const struct tree *facts_field(const struct tree *map, const char *key);
/* The string, or NULL. */
const char *facts_string(const struct tree *map, const char *key);
/* A string, or a number as it is written, or NULL. */
const char *facts_plain(const struct tree *map, const char *key);

/* Cards that an annotation of HAMi names. */
struct facts_cards {
    int64_t all, healthy, shares; /* shares: that each is cut into */
    char type[64];
};
/* False: the node has no such annotation. */
bool facts_hami(const struct tree *annotations, struct facts_cards *ret);

/* The row that stands for "prefix:name", or FACTS_NONE; facts_row_put() makes it stand. */
uint32_t facts_row(const struct facts *f, char prefix, const char *name);
void facts_row_put(struct facts *f, char prefix, const char *name, uint32_t row);

/* Reads map[key] as a quantity times 10^decimals; false: it is not there. */
bool facts_quantity(struct facts *f, const struct tree *map, const char *key, unsigned decimals,
                    int64_t *ret);
bool facts_memory(struct facts *f, const struct tree *map, bool up, int64_t *ret_mib);

/* Order of preference of a resource that counts devices; -1: it counts none. */
int facts_device_rank(const struct facts *f, const char *resource);
/* The devices among these quantities: the resource preferred most. NULL: none. */
const char *facts_devices(struct facts *f, const struct tree *quantities, int64_t *ret_count);

void facts_add_node(struct facts *f, const struct tree *node);
void facts_add_pod(struct facts *f, const struct tree *pod);
void facts_add_group(struct facts *f, const struct tree *group);

/* The job of that name, made if it is new. */
uint32_t facts_job_put(struct facts *f, const char *space, const char *kind, const char *name,
                       bool gang);
/* The job that a pod belongs to, by its labels, annotations and owners. */
uint32_t facts_job_of(struct facts *f, const struct tree *metadata, const struct tree *spec,
                      struct facts_pod *pod);

/* Selectors and tolerations of a waiting pod. */
void facts_take_needs(struct facts *f, struct facts_pod *pod, const struct tree *spec);

int facts_levels(struct facts *f, const char *levels, struct err *err);
/* The value of the node's label, or FACTS_NONE. */
uint32_t facts_label(const struct facts *f, const struct facts_node *n, uint32_t key);

#endif
