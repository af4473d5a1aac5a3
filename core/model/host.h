/* host.h - hosts and their devices: capacity, health, and who sits where
 *
 * A host's free figures are always capacity less what its seats hold; host_valid() recomputes them.
 * A device's share is a vector: compute milli and memory MiB of one device add up to at most the
 * whole, exactly (milli / 1000 + MiB / device MiB <= 1), and a device that is cut for MIG holds
 * nothing else. free_milli is that rest rounded down to a milli: a bound, confirmed by
 * host_share_fits().
 *
 * What is known has a grade. A seat of grade unknown holds a number of devices that nobody can
 * name: any of the free ones may be meant, so each takes one from what may be promised.
 *
 * Order   Seats of a host: newest first.  Misuse  A seat that does not fit: must().
 */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/model.h"

struct host_spec {
    int64_t cpu_milli, mem_mib, pods; /* UNLIMITED: no limit */
    int64_t extra[EXTRAS_MAX];
    int64_t gpu_mem_mib;             /* 0: unknown */
    uint32_t class_id, model, shape; /* shape ROW_NONE: unknown */
    uint32_t gpus;
    uint32_t domain[LEVELS_MAX]; /* ROW_NONE: in none */
};

enum device_state { DEVICE_UP, DEVICE_DOWN };

/* A new host, or new facts about one; seats that it has stay, even beyond its capacity. */
void host_put(struct model *m, uint32_t host, const struct host_spec *spec);
/* Gone for good; it must hold no seats. */
void host_remove(struct model *m, uint32_t host);
void host_set_state(struct model *m, uint32_t host, enum host_state state);
void host_set_leave(struct model *m, uint32_t host, int64_t leave_at_ns);
void host_set_device(struct model *m, uint32_t host, unsigned device, enum device_state state);
void host_set_uuid(struct model *m, uint32_t host, unsigned device, uint32_t uuid);

/* Seats a pod; devices 0 with GPUs asked: grade unknown. Returns the seat. */
uint32_t host_take(struct model *m, uint32_t host, uint32_t job, uint32_t podset, uint32_t pod,
                   uint16_t devices, uint8_t slot, enum grade grade);
void host_give(struct model *m, uint32_t seat);
/* An edge saw where the seat really is: host_lift() takes its hold off the books, host_confirm()
 * puts it on these devices, which must have room for it. */
void host_lift(struct model *m, uint32_t seat);
/* The same for good, in a what-if: the seat stays in its lists and holds nothing. */
void host_vacate(struct model *m, uint32_t seat);
/* Takes what hold_row(hold) says (took_*) off its host's books, and puts it back. */
void host_hold(struct model *m, uint32_t hold);
void host_unhold(struct model *m, uint32_t hold);
void host_confirm(struct model *m, uint32_t seat, uint16_t devices);

/* True if what the device holds leaves room for a share of the podset, exactly, whatever its
 * health; and the same of a device in service. */
bool host_share_room(const struct model *m, uint32_t host, unsigned device,
                     const struct podset *ask);
bool host_share_fits(const struct model *m, uint32_t host, unsigned device,
                     const struct podset *ask);
/* First slot for the profile on the device, or -1; used: slots taken so far. */
int host_mig_slot(const struct mig *mig, uint32_t used);
/* The row of a profile for a model, or NULL: the model cannot be cut so. */
const struct mig *host_mig(const struct model *m, uint32_t profile, uint32_t model);

/* True if the job may start here now and end, by its own estimate, before the host leaves. */
static inline bool host_stays(const struct host *h, int64_t now_ns, int64_t est_ns)
{
    return h->leave_at_ns == INT64_MAX || (est_ns >= 0 && now_ns + est_ns <= h->leave_at_ns);
}

bool host_valid(const struct model *m, uint32_t host);

#endif
