/* read_parts.h - the parts of a text that several readers share; private to the readers
 *
 * A node, a shape, a team or a job reads alike from a JSON line, a line of small worlds and a
 * scenario: each function takes one map and adds one row to the reader's world.
 *
 * Errors  As in reader.h: false or WORLD_NONE, and the reader's code is set.
 */
#ifndef EDGE_SIM_READ_PARTS_H
#define EDGE_SIM_READ_PARTS_H

#include "edge/sim/reader.h"

/* Any kind of line of the generic files, header first; then the end of the text. */
bool read_cluster_object(struct reader *r, const struct tree *object);
bool read_cluster_end(struct reader *r);
bool read_workload_object(struct reader *r, const struct tree *object);
bool read_workload_end(struct reader *r);

bool read_chains(struct reader *r, const struct tree *chains);
bool read_shape(struct reader *r, const struct tree *map, const struct tree *name);
bool read_mig(struct reader *r, const struct tree *map);
bool read_node(struct reader *r, const struct tree *map, const char *name);
/* The fields of a node that a later change may name too; node is changed where they stand. */
bool read_node_fields(struct reader *r, const struct tree *map, struct world_node *node);
bool read_team(struct reader *r, const struct tree *map);
bool read_teams_end(struct reader *r);
uint32_t read_guarantees(struct reader *r, const struct tree *list,
                         struct world_guarantee **ret_guarantee);
/* more: keys that a strict reader accepts besides those of a job. Returns the job's row. */
uint32_t read_job(struct reader *r, const struct tree *map, int64_t submit_ns,
                  const char *const *more);
bool read_synthetic_text(struct reader *r, uint32_t line, const char *text);

/* Every line of a file goes to object() as one map; end() checks the whole. */
int read_json_lines(struct reader *r, bool (*object)(struct reader *, const struct tree *),
                    bool (*end)(struct reader *));

#endif
