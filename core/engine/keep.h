/* keep.h - for whom room is kept, and for how long: what a pass does with a refused job
 *
 * The first job that fits nowhere gets room and a date (of each set of models under easy, each job
 * under conservative; core/policy/backfill finds them). Room that stands is given up for an earlier
 * date only, and each pass tries that for the first few of the queue; room that no longer stands,
 * or whose job something else holds back for good, is given up.
 */
#ifndef ENGINE_KEEP_H
#define ENGINE_KEEP_H

#include "core/engine/sched.h"
#include "core/policy/backfill/reserve.h"

/* What a refusal is known by before it is explained: the code, or REASON_COUNT where the search's
 * verdict decides it, and the team whose limit it is. */
struct cause {
    enum verdict verdict;
    enum reason_code code;
    uint32_t team;
};

/* A pass over the queue: asks that were refused in it, since starting others frees nothing. */
struct pass {
    uint64_t number; /* of the notes that it writes */
    uint32_t starts; /* so far */
    struct reserves kept;
    uint64_t heads; /* models of jobs that room is kept for, so far in the queue */
};

/* After the job was refused: keeps room for it, betters its date, or gives its room up. */
void keep_room(struct sched *s, struct pass *pass, uint32_t job, const struct cause *cause);
/* Every waiting job with kept room into the pass; what was kept for too long is given up. */
void keep_gather(struct sched *s, struct pass *pass);

#endif
