/* read.h - the readers: files and texts into a struct world
 *
 * Every reader checks what it reads at the door and says file, line, what was found and what was
 * expected; after an error the world is empty again. Nothing is half-read: lines that a reader may
 * skip (none today) would be counted and listed.
 *
 * Errors  ERR_INPUT with `FILE:LINE: found X, expected Y`; ERR_TROUBLE where the system refuses.
 *         Files may be gzipped; their first bytes tell, not their names.
 */
#ifndef EDGE_SIM_READ_H
#define EDGE_SIM_READ_H

#include "edge/base/err.h"
#include "edge/sim/world.h"

/* The generic files, version 2. The workload's reader needs the cluster read before it. */
int read_cluster(struct world *w, const char *path, struct err *err);
int read_workload(struct world *w, const char *path, struct err *err);

/* The openb tables of a folder, for one list; the arrival order of every seed of its file. */
int read_openb(struct world *w, const char *folder, const char *list, struct err *err);

/* "spine:2 leaf:16 host:8 island:2 gpu:4": each number is per parent; `host` is the node level.
 * Overrides in brackets after a number hold for every member of that level:
 * "leaf:2 host:4[model=H100 cpu=192000 mem=2097152 pods=110 gpu_mem=81559] gpu:8". A second
 * cluster after a comma is appended: "leaf:1 host:2 gpu:8, leaf:1 host:4 gpu:4". */
int read_synthetic(struct world *w, const char *text, struct err *err);

/* A file of small worlds, one {"world":n,"cluster":[...],"workload":[...]} per line. Calls each
 * with every world in turn, which it frees afterwards; stops at the first result that is not 0. */
int read_worlds(const char *path, int (*each)(void *context, uint32_t number, struct world *w),
                void *context, struct err *err);

#endif
