/* feed.h - a world's facts as events: names become numbers here
 *
 * Domains are numbered level by level, in the order of the world's tables; pod classes are the
 * distinct sets of models that podsets name. Everything else keeps the position it has in the
 * world.
 *
 * Errors  ERR_INPUT where the world has more of something than the core numbers (models, levels).
 */
#ifndef EDGE_SIM_FEED_H
#define EDGE_SIM_FEED_H

#include "edge/sim/driver.h"
#include "edge/sim/mix.h"
#include "edge/sim/world.h"

struct feed {
    const struct world *w;
    struct driver *d;
    uint32_t domain_first[WORLD_LEVELS_MAX];
    uint64_t *class_models; /* by pod class */
    uint32_t class_count;
    size_t class_limit;
    uint32_t identities; /* of devices, numbered from 1 as they are told */
};

struct feed_options {
    enum scorer_id scorer;
    enum order order;
    uint64_t seed;
    uint32_t budget_steps; /* 0: the default */
    bool drop_never, scan_all;
    int64_t patience_ns; /* for jobs that state none */
    int64_t inherit_ns;  /* how long a gang's room is kept for its next incarnation */
    int64_t breach_ns;   /* how long a gang may run below its minimum */
};

/* Sends configuration, levels, shapes, hosts, teams and the mix, as one batch of time 0. */
int feed_open(struct feed *f, const struct world *w, struct driver *d,
              const struct feed_options *options, struct err *err);
void feed_close(struct feed *f);

/* One job under the given key, which names it from then on. */
void feed_job(struct feed *f, int64_t at_ns, const struct world_job *job, uint32_t key);
void feed_host(struct feed *f, int64_t at_ns, uint32_t node);
void feed_team(struct feed *f, int64_t at_ns, uint32_t team);

/* A scope of the core as people name it; level and domain of the world for SCOPE_OF_LEVEL. */
const char *feed_scope_name(const struct world *w, unsigned scope);
uint8_t feed_scope(struct world_where where);

#endif
