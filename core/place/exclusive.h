/* exclusive.h - gangs that have a domain to themselves
 *
 * A job may ask for a level at which no other job sits beside it: it starts only in domains of that
 * level that hold no other job's pods, and while it runs, nobody else is placed where it sits. Both
 * follow from the seats alone, so that nothing has to be kept in step: a host is closed to a job if
 * its domain has a seat that may not be beside it.
 *
 * Units   A level is a scope: the host, or a declared level. A host outside that level is closed to
 *         a job that is exclusive there: who is beside it is not known.
 * Misuse  The public format has no word for it: a refusal for this alone is told as a rule
 *         (WHY_EXCLUSIVE), and whoever explains a refusal asks with view.beside set.
 */
#ifndef PLACE_EXCLUSIVE_H
#define PLACE_EXCLUSIVE_H

#include "core/place/view.h"

/* True if the rule has a say at all: it costs nothing where no job asks for it. */
static inline bool exclusive_matters(const struct view *v)
{
    return !v->beside && view_minds(v, LIMIT(BUSY)) &&
           (config_row(v->m)->exclusive_jobs > 0 || job_row(v->m, v->job)->exclusive != 0);
}

/* May the job be placed on the host, as far as exclusive jobs go? Asked where the rule matters. */
bool exclusive_allows(const struct view *v, uint32_t host);

/* Do the job's own seats, taken by whatever way, keep the rule? */
bool exclusive_kept(const struct model *m, uint32_t job);

/* Would the job, seated, close a domain in which room is kept for the other? */
bool exclusive_meets(const struct model *m, uint32_t job, uint32_t other);

#endif
