/* force.h - kept room in force: what is off the books while somebody is asked
 *
 * A room binds a job whose run would be in its way: that might last beyond the room's date. What is
 * kept on a host is what its pods will need there beyond what runs give back by the date, each
 * given thing counted once: rooms are put in force by their dates, and a later one does not count
 * on what an earlier one needs. Room for the next incarnation of a gang is needed at once.
 *
 * Order   By date, then the lowest job row: what is taken depends on the set alone.
 * Owner   Uses the model's scratch memory, which no search may be using at the time.
 */
#ifndef POLICY_FORCE_H
#define POLICY_FORCE_H

#include "core/policy/backfill/reserve.h"

/* What the seats of a host give back. */
struct gives {
    int64_t cpu_milli, mem_mib, pods, extra[EXTRAS_MAX];
};

/* When the run of the seat is taken to end: by its estimate, or never where that is over. */
int64_t force_seat_end(const struct model *m, const struct seat *s);
/* What ends on a host after from_ns and until until_ns gives back. */
struct gives force_gives(const struct model *m, uint32_t host, int64_t from_ns, int64_t until_ns);

/* How long a run of the waiting job, which has an estimate, may take: as small as it may be, and
 * with the dead time of a run that is not its first. */
int64_t force_longest_ns(const struct model *m, uint32_t job);
/* Until when a run of the job from from_ns on may last; INT64_MAX: nobody knows. */
int64_t force_until_ns(const struct model *m, uint32_t job, int64_t from_ns);

/* Would a run of the job from from_ns until until_ns be in the way of the other's kept room? */
bool force_binds(const struct model *m, uint32_t job, uint32_t other, int64_t from_ns,
                 int64_t until_ns);

/* Puts rooms in force as somebody sees them who starts at from_ns: what ends by then is off the
 * books. bound: which of them, in the order of the list. None is in force before. */
void force_put(struct model *m, const struct reserves *r, const uint8_t *bound, int64_t from_ns);
void force_lift(struct model *m, uint32_t job);

/* True if the room kept for the job will still be there at its date, by estimates. */
bool force_stands(struct model *m, uint32_t job);

#endif
