/* report_map.h - what every device carried over a run, kept as changes; for report*.c alone
 *
 * Devices are cells, numbered by domain, host and device, so that a gang that sits close together
 * is a short list of runs. A change says that from t on `count` cells from `cell` have `value`.
 * The page gets moments of it: map_at() walks through them in order.
 *
 * Units   t_ns since the run's zero.
 * Owner   map_open() or map_copy() to map_close(). A map holds all the names that it needs.
 */
#ifndef EDGE_SIM_REPORT_MAP_H
#define EDGE_SIM_REPORT_MAP_H

#include "edge/base/out.h"
#include "edge/sim/record.h"

/* A cell's value: state in the top bits, and who sits there: nobody, several jobs, or job + 2. */
enum map_state { MAP_UP, MAP_FAILED, MAP_DRAINED };
#define MAP_STATE(value) ((value) >> 30)
#define MAP_WHO(value)   ((value)&0x3FFFFFFFu)
#define MAP_SEVERAL      1u

struct map_change {
    int64_t t_ns;
    uint32_t cell, count, value;
};
struct map_host {
    uint32_t name, world, domain, cell; /* name: a place in map.text; domain: MAP order */
    uint8_t gpus;
};
struct map_domain {
    uint32_t name, first_host, host_count;
};
struct map_job {
    uint32_t name, team, gpus, pods; /* team: WORLD_NONE if it has none; gpus rounded up */
    bool seen;
};
struct map {
    uint32_t level_name, host_count, domain_count, cell_count, job_count, team_count;
    struct map_host *host;
    struct map_domain *domain;
    struct map_job *job; /* as in the world */
    uint32_t *team;      /* names */
    struct map_change *change;
    size_t change_count, change_limit;
    struct out text;
    int64_t start_ns, end_ns; /* the first and the last record */
    struct map_live *live;    /* while the run goes; copies have none */
};

struct map *map_open(const struct world *w);
void map_take(struct map *m, const struct record *r);
struct map *map_copy(const struct map *m);
void map_close(struct map *m);
const char *map_text(const struct map *m, uint32_t at);

/* Cells as they are after every change up to t_ns; *next is the walk's place, 0 at its start. */
void map_at(const struct map *m, uint32_t *cell, size_t *next, int64_t t_ns);

/* --- drawing --- */

#define MAP_COLOURS   12   /* the last one collects the teams that are not told apart */
#define MAP_CELLS_MAX 8192 /* beyond, single GPUs are too small to be seen */

struct map_place { /* where a host's first cell is drawn */
    double x, y;
};
struct map_layout {
    double cell, height; /* pitch of cells, and of the whole drawing */
    struct map_place *host, *label;
    uint32_t *columns; /* hosts side by side in each domain */
};
struct map_layout map_layout(const struct map *m);
void map_layout_free(struct map_layout *l);

/* Colour of each team: the teams that held most have their own. */
void map_team_colours(const struct map *const *map, uint32_t count, uint8_t *ret_colour);
/* Hosts over time: one static drawing. */
void map_strip(struct out *out, const struct map *m, const char *policy, int64_t from_ns,
               int64_t to_ns, const char *unit, double unit_ns);
/* GPUs at one moment: the drawing that the script takes over. */
void map_still(struct out *out, const struct map *m, const struct map_layout *l,
               const uint8_t *colour, const char *policy, int64_t t_ns);
/* The moments as text, `,` between them; job numbers by `number`. */
void map_encode(struct out *out, const struct map *m, const int64_t *t_ns, uint32_t count,
                const uint32_t *number);

#endif
