/* gang.h - the one question of the scheduler: does this job fit now, and where best
 *
 * A job is a gang from the start: all pods or none, an elastic one at least its minimum. One pod
 * goes where its scorer says. Equal pods are a matter of counting: the tightest domain that holds
 * them all is chosen first (the levels that the job prefers, else host, then each level of the
 * first chain, small to large), and within it the fewest hosts. Unlike pods are searched.
 *
 * A plan is made by doing: the seats are taken in the caller's transaction, which then stands or is
 * rolled back. Nothing else writes.
 *
 * Order   Domains by the least room left over, then the lowest id; pods are numbered along the
 *         hosts in id order, so that neighbouring ranks share a host and a domain.
 */
#ifndef PLACE_GANG_H
#define PLACE_GANG_H

#include "core/place/score.h"

struct plan {
    uint32_t pods;            /* seats taken */
    uint8_t scope;            /* smallest scope of the ladder that contains the gang */
    uint8_t wish;             /* the wish that was met, 0: the strictest */
    struct spot best, second; /* of the only pod, for gangs of one; else host ROW_NONE */
};

/* Does the gang's minimum fit? */
enum verdict gang_fits(struct view *v);

/* Takes the best seats. On anything but VERDICT_FITS nothing is taken that a rollback would not
 * give back: the caller rolls back. */
enum verdict gang_plan(struct model *m, struct view *v, struct plan *ret_plan);

/* The strictest wish that could be met were nothing running; 0: none can. */
uint64_t gang_best_wish(const struct model *m, uint32_t job);
/* True if a stricter wish than the one that was met could be met were nothing running. */
bool gang_better_exists(const struct model *m, uint32_t job, const struct plan *plan);

#endif
