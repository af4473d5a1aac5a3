/* ways.h - pods that may run in one of several ways: how many of them in which
 *
 * A podset may be followed by others that are ways for the same pods (struct podset, way): a MIG
 * slice of one profile or of another, so many devices or others. As many pods as can be run in the
 * first way, of the rest as many as can in the second, and so on, so long as the gang's minimum
 * runs. What was decided stands in the rows themselves: their pods and pods_min, which add up to
 * what was asked.
 *
 * Order   Splits of the minimum, the most of the first way first; of several such podsets the first
 *         matters most. What an elastic gang asks beyond its minimum goes to the first way that has
 *         some of it.
 * Misuse  Rows are split anew only for a job without seats.
 */
#ifndef POLICY_WAYS_H
#define POLICY_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/model.h"

/* Splits that are tried for one job at most. */
#define WAYS_TRIES_MAX 1024

/* True if the job's pods have several ways and may still be split: none of them is done, and no
 * room of a former run waits for them. */
bool ways_open(const struct model *m, uint32_t job);

/* Split the pods: the best split, the next one after that which stands, the last. False: what
 * stands now is the last. */
bool ways_first(struct model *m, uint32_t job);
bool ways_next(struct model *m, uint32_t job);
void ways_last(struct model *m, uint32_t job);

#endif
