/* preset.h - what hosts of a product usually look like, where nobody has measured them
 *
 * A node's labels give a product and a number of GPUs, never their links. For products that are
 * sold on one board only, or that have no links at all, these two are enough for a guess, and a
 * guess it stays: the topo says TOPO_PRESET, names the preset, and carries a remark. NUMA nodes,
 * PCIe switches and NICs depend on the machine and stay unknown; so does the number of links, where
 * no published matrix shows it.
 *
 * Order   The first row that fits; rows differ in product or number.
 * Misuse  A product that is sold both with and without bridges (H100 NVL, A100 PCIe, A40) has no
 *         preset: there is nothing to guess from.
 */
#ifndef EDGE_TOPO_PRESET_H
#define EDGE_TOPO_PRESET_H

#include <stdbool.h>
#include <stdint.h>

#include "edge/topo/topo.h"

struct preset {
    const char *name;    /* "8 H100 on one NVSwitch board" */
    const char *words;   /* all stand in the product */
    const char * not ;   /* none of these does */
    uint32_t gpus;       /* 0: any number */
    enum topo_path path; /* of every pair; TOPO_PATH_UNKNOWN: none has links */
    uint32_t links;      /* bonded, of every pair; 0: not known */
};

/* product as labels write it (NVIDIA-H100-80GB-HBM3, nvidia-tesla-t4, AMD_Instinct_MI300X_OAM),
 * with -SHARED or not. NULL: no preset. A product with -MIG- has none: its number counts slices. */
const struct preset *preset_find(const char *product, uint32_t gpus);

/* One host of the preset with so many GPUs; topo_close() frees it. */
struct topo *preset_open(const struct preset *p, uint32_t gpus);

#endif
