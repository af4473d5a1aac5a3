/* metrics_fit.h - how an empty host takes pods; for metrics_fit.c and metrics_region.c alone */
#ifndef EDGE_SIM_METRICS_FIT_H
#define EDGE_SIM_METRICS_FIT_H

#include "edge/sim/metrics_parts.h"

/* A host while pods are packed into it. */
struct fit_room {
    int64_t cpu_milli, mem_mib, pods;
    uint16_t allowed; /* devices that may be used */
    uint32_t used_nano[WORLD_GPUS_MAX], slots[WORLD_GPUS_MAX];
};

struct fit_room fit_room(const struct world *w, uint32_t node, uint16_t allowed);
/* Packs up to limit pods into the room; returns how many went in. */
uint32_t fit_pack(const struct world *w, const struct world_job *job, uint32_t podset,
                  uint32_t node, struct fit_room *r, uint32_t limit);

/* The part of each device at a level below the host; NULL: unknown. */
const uint8_t *fit_parts(const struct world *w, uint8_t scope, uint32_t node);
/* The devices of one device's part; 0: it is in none. */
uint16_t fit_part(const uint8_t *part, unsigned device);

#endif
