/* frag.h - fragmentation of a host against the task mix
 *
 * Weng et al., "Beware of Fragmentation" (USENIX ATC'23): for a class of the mix, free GPU that a
 * task of it could not use is fragmented: all of a host's free GPU if the task cannot run there at
 * all, else what is free on devices too small for it. The host's fragmentation is the mean over
 * the mix, by popularity. As published, a class without GPUs counts all free GPU, and memory is
 * ignored.
 *
 * Units   milli-GPU times the class's count: divide by config.mix_total for milli-GPU.
 */
#ifndef PLACE_FRAG_H
#define PLACE_FRAG_H

#include <stdint.h>

#include "core/model/model.h"

/* What fragmentation sees of a host: filled from a row, then changed by what a placement takes. */
struct frag_host {
    int64_t cpu_free_milli;
    uint32_t model, gpus;
    uint16_t free_milli[GPUS_MAX];
};

struct frag_host frag_host(const struct model *m, const struct host *h);
/* The same host after a pod took its CPU and its share of the devices. */
struct frag_host frag_after(const struct frag_host *before, const struct podset *p, int64_t milli,
                            uint16_t devices);
int64_t frag_of(const struct model *m, const struct frag_host *h);

#endif
