/* profile.h - how a gang talks, and what that makes of a gang that names no level
 *
 * A job may say how its ranks communicate. Where it prefers levels itself, those are tried and the
 * profile adds nothing. Where it prefers none, the profile gives the ladder of scopes, the
 * strictest first, in which the gang is looked for whole. Nothing is weighed by a gain that nobody
 * measured: each rung stands on a published figure, which the table names.
 *
 * Order   Expert: levels of all chains by how many hosts their domains have, fewest first, then by
 *         id. Others: the first chain, the smallest level first.
 */
#ifndef PLACE_PROFILE_H
#define PLACE_PROFILE_H

#include "core/model/model.h"

#define PROFILE_SCOPES_MAX (LEVELS_MAX + 2)

struct profile {
    const char *name, *does, *helps_when, *hurts_when, *source;
};

const struct profile *profile_get(unsigned profile); /* enum comm_profile */

/* The scopes to try for a gang that prefers none; the cluster is not among them. */
unsigned profile_ladder(const struct model *m, unsigned profile, uint8_t *ret_scope);

#endif
