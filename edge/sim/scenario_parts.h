/* scenario_parts.h - how the reader of scenarios is cut into files; private to scenario*.c
 *
 * A scene is a reader with the scenario it fills. The world comes first (scenario.c), then the jobs
 * of the whole file, so that a step may speak of a job that comes later, then the steps
 * (scenario_step.c) with their expectations (scenario_expect.c).
 *
 * Errors  As in reader.h: false, and the reader's code is set.
 */
#ifndef EDGE_SIM_SCENARIO_PARTS_H
#define EDGE_SIM_SCENARIO_PARTS_H

#include "edge/sim/read_parts.h"
#include "edge/sim/scenario.h"

struct scene {
    struct reader r;
    struct scenario *s;
};

/* Notes a key that a build may lack. The reader calls it through reader.further. */
void scene_further(void *scene, uint32_t line, const char *key);

/* Ids by a name that stands as a value; WORLD_NONE after an error. */
uint32_t scene_job(struct scene *c, const struct tree *name);
uint32_t scene_node(struct scene *c, const struct tree *name);

/* The seats of a job that runs already: `node` and `devices`, or `at`. */
bool scene_running(struct scene *c, const struct tree *map, uint32_t job,
                   struct scenario_running *running);
extern const char *const scene_running_keys[];

/* The first pass over the timeline makes the jobs, the second the steps. */
bool scene_timeline_jobs(struct scene *c, const struct tree *list);
bool scene_timeline_steps(struct scene *c, const struct tree *list);

/* Are the names and values of an expectation well? */
bool scene_expect(struct scene *c, const struct tree *expect, bool inside_never);

#endif
