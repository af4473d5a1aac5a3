/* room.h - a host as a search may imagine it: what would be left after some pods of a gang
 *
 * A copy of what matters of a host, with the dropped limits already applied, so that the search can
 * put pods in and take them out without touching the model.
 */
#ifndef PLACE_ROOM_H
#define PLACE_ROOM_H

#include "core/place/view.h"

struct room {
    int64_t cpu_milli, mem_mib, pods;
    int64_t extra[EXTRAS_MAX];
    uint32_t host, kind;
    uint32_t mib[GPUS_MAX], mig[GPUS_MAX];
    uint16_t milli[GPUS_MAX];
    uint8_t sharers[GPUS_MAX];
    uint16_t usable;     /* devices in service and inside the region */
    uint16_t gang_cards; /* devices on which a share of this gang sits */
    uint8_t gpus, unknown;
    uint8_t pad[2];
    uint32_t gang_pods; /* pods of this gang in it now */
    uint32_t twin;      /* the room before it, in the search's order, that is just like it */
};

struct room room_of(const struct view *v, uint32_t host, uint16_t within);

/* Devices that one pod of the set may take in the room, after the set before (0: the first one):
 * sets that differ only by interchangeable devices are given once. The set, or 0 when there are no
 * more. parts: partitions whose parts tell devices apart. For a pod without devices *ret_more says
 * whether it fits. */
uint16_t room_next(const struct view *v, const struct room *r, const struct podset *p,
                   uint64_t parts, uint16_t before);
/* True if the pod's counts (CPU, memory, ...) fit. */
bool room_counts(const struct view *v, const struct room *r, const struct podset *p);

/* Devices that nobody holds now. */
uint32_t room_whole(const struct room *r);

/* Pods of the set that the room would hold now if they were alone, at most: exact for whole
 * devices, a bound for shares. */
uint32_t room_pods(const struct view *v, const struct room *r, const struct podset *p);

/* Puts a pod in; returns the MIG slot it got. room_give() with the same arguments takes it out. */
uint8_t room_take(const struct view *v, struct room *r, const struct podset *p, uint16_t devices);
void room_give(const struct view *v, struct room *r, const struct podset *p, uint16_t devices,
               uint8_t slot, bool card_was_ours);

#endif
