/* mix.h - the task mix of a workload, and the integers that the core scores with
 *
 * The mix is what an operator knows without seeing the future: which asks are popular. Classes are
 * the distinct asks (CPU, GPUs, share, models) of the list's pods, the most popular first, up to
 * 95 % of the rows: those of the published fragmentation measure. From them come the tables of the
 * dovetail scorer, by small integer sums, once per mix.
 *
 * Order   Classes by count, then by the first pod that asks so.
 */
#ifndef EDGE_SIM_MIX_H
#define EDGE_SIM_MIX_H

#include "core/model/rows.h"
#include "edge/sim/world.h"

struct mix_table {
    uint32_t class_count;
    struct mix *class; /* counts as in the list; models by the world's numbers */
    int64_t scarce_micro[MODELS_MAX];
    struct loss loss[LOSS_ROWS];
    struct balance balance;
};

/* The models that a podset allows, a bit each; all bits where it names none. */
uint64_t mix_models(const struct world_podset *p);

struct mix_table *mix_open(const struct world *w);
void mix_close(struct mix_table *t);

#endif
