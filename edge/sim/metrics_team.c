/* What teams were owed. The packing of shaped guarantees is greedy: the smallest domains and the
 * largest pieces first, each into the fullest domain that still holds it. Within one chain that
 * fails only where a cleverer choice of equal domains would matter. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKED (WORLD_NONE - 1)

struct team_row {
    int64_t asked_nano, held_nano, guarantee_nano;
    int64_t since_ns;
    wide missed; /* NANO x ns */
    uint32_t piece_count;
    const struct world_guarantee *piece;
    bool guaranteed; /* at any time */
};

struct team_part {
    const struct world *world;
    struct team_row *team;
    bool *counted; /* its pieces take part in the packing */
    bool shaped;
};

static bool has_shape(const struct team_row *t)
{
    for (uint32_t i = 0; i < t->piece_count; i++)
        if (t->piece[i].level.scope != SCOPE_NONE && t->piece[i].level.scope != SCOPE_CLUSTER)
            return true;
        else if (t->piece[i].model != WORLD_NONE)
            return true;
    return false;
}

/* Teams with a shape, less those above another such team. */
static void count_shapes(struct team_part *p)
{
    const struct world *w = p->world;

    p->shaped = false;
    for (uint32_t i = 0; i < w->team_count; i++)
        p->counted[i] = has_shape(&p->team[i]);
    for (uint32_t i = 0; i < w->team_count; i++) {
        uint32_t up = w->team[i].parent;

        for (uint32_t steps = 0; has_shape(&p->team[i]) && up != WORLD_NONE; steps++) {
            p->counted[up] = false;
            up = steps < w->team_count ? w->team[up].parent : WORLD_NONE;
        }
    }
    for (uint32_t i = 0; i < w->team_count; i++)
        p->shaped |= p->counted[i];
}

static void set_guarantee(struct team_row *t, const struct world_guarantee *piece, uint32_t count)
{
    t->piece = piece;
    t->piece_count = count;
    t->guarantee_nano = 0;
    for (uint32_t i = 0; i < count; i++)
        t->guarantee_nano += piece[i].gpus * piece[i].count * NANO;
    t->guaranteed |= t->guarantee_nano > 0;
}

struct team_part *team_part_open(const struct world *w)
{
    struct team_part *p = memory_zeroed(sizeof(*p));

    p->world = w;
    p->team = memory_zeroed(sizeof(*p->team) * (w->team_count + 1));
    p->counted = memory_zeroed(sizeof(*p->counted) * (w->team_count + 1));
    for (uint32_t i = 0; i < w->team_count; i++)
        set_guarantee(&p->team[i], w->team[i].guarantee, w->team[i].guarantee_count);
    count_shapes(p);
    return p;
}

void team_part_close(struct team_part *p)
{
    free(p->team);
    free(p->counted);
    free(p);
}

static void settle(struct team_row *t, int64_t t_ns)
{
    int64_t owed = t->guarantee_nano < t->asked_nano ? t->guarantee_nano : t->asked_nano;

    if (owed > t->held_nano)
        t->missed += (wide)(owed - t->held_nano) * (t_ns - t->since_ns);
    t->since_ns = t_ns;
}

void team_part_change(struct team_part *p, uint32_t team, int64_t t_ns, int64_t asked_nano,
                      int64_t held_nano)
{
    for (uint32_t steps = 0; team != WORLD_NONE && steps <= p->world->team_count; steps++) {
        struct team_row *t = &p->team[team];

        settle(t, t_ns);
        t->asked_nano += asked_nano;
        t->held_nano += held_nano;
        team = p->world->team[team].parent;
    }
}

void team_part_event(struct team_part *p, const struct world_event *event, int64_t t_ns)
{
    struct team_row *t;

    if (event->kind != WEV_TEAM || !event->sets_guarantee)
        return;
    t = &p->team[event->target];
    settle(t, t_ns);
    set_guarantee(t, event->guarantee, event->guarantee_count);
    count_shapes(p);
}

void team_part_put(struct team_part *p, struct metrics *m, int64_t t_ns)
{
    static const wide gpu_hour = (wide)NANO * NANO * 3600;
    wide all = 0;
    bool any = false;

    for (uint32_t i = 0; i < p->world->team_count; i++) {
        settle(&p->team[i], t_ns);
        all += p->team[i].missed;
        any |= p->team[i].guaranteed;
    }
    metric_put(m, METRIC_VIOLATION, NULL, (double)all / (double)gpu_hour, any);
    for (uint32_t i = 0; i < p->world->team_count; i++)
        if (p->team[i].guaranteed)
            metric_ratio(m, METRIC_VIOLATION_TEAM, p->world->team[i].name, p->team[i].missed,
                         gpu_hour, 1);
}

bool team_part_shaped(const struct team_part *p)
{
    return p->shaped;
}

/* --- the packing --- */

/* holder: WORLD_NONE: for whoever needs it; a team: for its pieces alone; BLOCKED. */
struct pool {
    const struct world *world;
    uint32_t (*holder)[WORLD_GPUS_MAX];
    int64_t *room; /* by domain */
};

struct piece {
    uint32_t team, model;
    int64_t gpus;
    struct world_where level;
    unsigned order; /* of its level: small domains first */
};

static bool own(const struct world *w, uint32_t team, uint32_t of_job)
{
    for (uint32_t steps = 0; of_job != WORLD_NONE && steps <= w->team_count; steps++) {
        if (of_job == team)
            return true;
        of_job = w->team[of_job].parent;
    }
    return false;
}

static void hold(uint32_t *holder, uint32_t team, bool first)
{
    uint32_t mine = team == WORLD_NONE ? BLOCKED : team;

    *holder = first || *holder == mine ? mine : BLOCKED;
}

static void mark_free(struct pool *pool, const struct place_part *place)
{
    for (uint32_t n = 0; n < pool->world->node_count; n++) {
        uint32_t healthy = place_healthy(place, n);

        for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
            pool->holder[n][d] = healthy >> d & 1u && (uint32_t)place->node[n].whole >> d & 1u
                                     ? WORLD_NONE
                                     : BLOCKED;
    }
}

/* Devices of preemptible jobs serve anyone, others and those of drained hosts their own team. */
static void mark_held(struct pool *pool, const struct place_part *place,
                      const struct running *running, uint32_t count)
{
    for (unsigned pass = 0; pass < 2; pass++) /* others' claims come last, so that they stand */
        for (uint32_t i = 0; i < count; i++) {
            const struct world_job *job = &pool->world->job[running[i].job];

            for (uint32_t k = 0; k < running[i].pod_count; k++) {
                const struct record_pod *pod = &running[i].pods[k];
                const struct place_node *node = &place->node[pod->node];
                uint32_t healthy = place_healthy(place, pod->node);

                for (unsigned d = 0; d < WORLD_GPUS_MAX; d++) {
                    uint32_t *holder = &pool->holder[pod->node][d];
                    bool bound = !job->preemptible || node->state == STATE_DRAIN ||
                                 (uint32_t)node->gpu_drain >> d & 1u;

                    if (!((uint32_t)pod->devices >> d & 1u) || !(healthy >> d & 1u) ||
                        bound != (pass == 1))
                        continue;
                    if (bound)
                        hold(holder, job->team, *holder == WORLD_NONE || *holder == BLOCKED);
                    else
                        *holder = WORLD_NONE;
                }
            }
        }
}

static int64_t domain_of(const struct pool *pool, const struct piece *piece, uint32_t node,
                         unsigned device)
{
    struct record_pod pod = {.node = node, .devices = (uint16_t)(1u << device)};

    return fit_domain(pool->world, piece->level, &pod);
}

static bool serves(const struct pool *pool, const struct piece *piece, uint32_t node, unsigned d)
{
    uint32_t holder = pool->holder[node][d];

    if (piece->model != WORLD_NONE && pool->world->node[node].model != piece->model)
        return false;
    return holder == WORLD_NONE || (holder != BLOCKED && own(pool->world, piece->team, holder));
}

static void take_room(struct pool *pool, const struct piece *piece, int64_t domain)
{
    int64_t left = piece->gpus;

    for (unsigned pass = 0; pass < 2; pass++) /* what serves nobody else first */
        for (uint32_t n = 0; n < pool->world->node_count; n++)
            for (unsigned d = 0; d < pool->world->node[n].gpus && left > 0; d++) {
                uint32_t *holder = &pool->holder[n][d];

                if ((pass == 0) == (*holder == WORLD_NONE) || !serves(pool, piece, n, d) ||
                    domain_of(pool, piece, n, d) != domain)
                    continue;
                *holder = BLOCKED;
                left--;
            }
}

static bool pack_piece(struct pool *pool, const struct piece *piece)
{
    int64_t domains = 0, best = -1;

    for (uint32_t n = 0; n < pool->world->node_count; n++)
        for (unsigned d = 0; d < pool->world->node[n].gpus; d++) {
            int64_t domain = domain_of(pool, piece, n, d);

            for (; domain >= domains; domains++)
                pool->room[domains] = 0;
            if (domain >= 0 && serves(pool, piece, n, d))
                pool->room[domain]++;
        }
    for (int64_t i = 0; i < domains; i++)
        if (pool->room[i] >= piece->gpus && (best < 0 || pool->room[i] < pool->room[best]))
            best = i;
    if (best >= 0)
        take_room(pool, piece, best);
    return best >= 0;
}

static int by_need(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->gpus != y->gpus)
        return x->gpus > y->gpus ? -1 : 1;
    return (x->team > y->team) - (x->team < y->team);
}

static size_t pieces_of(const struct team_part *p, struct piece **ret_piece)
{
    struct piece *piece = NULL;
    size_t count = 0, limit = 0;

    for (uint32_t t = 0; t < p->world->team_count; t++)
        for (uint32_t i = 0; p->counted[t] && i < p->team[t].piece_count; i++)
            for (uint32_t k = 0; k < p->team[t].piece[i].count; k++) {
                const struct world_guarantee *g = &p->team[t].piece[i];
                struct world_where level = g->level;

                if (level.scope == SCOPE_NONE)
                    level.scope = SCOPE_CLUSTER;
                piece = out_grow(piece, count, &limit, sizeof(*piece));
                piece[count++] = (struct piece){
                    .team = t,
                    .model = g->model,
                    .gpus = g->gpus,
                    .level = level,
                    .order = level.scope * 256u +
                             (level.scope == SCOPE_LEVEL ? p->world->level[level.level].rank : 0u)};
            }
    if (count > 0)
        qsort(piece, count, sizeof(*piece), by_need);
    *ret_piece = piece;
    return count;
}

bool team_part_packs(const struct team_part *p, const struct place_part *place,
                     const struct running *running, uint32_t count)
{
    struct pool pool = {.world = p->world};
    struct piece *piece;
    size_t pieces = pieces_of(p, &piece), domains = p->world->node_count * WORLD_GPUS_MAX + 1u;
    bool all = true;

    for (uint32_t l = 0; l < p->world->level_count; l++)
        if (p->world->level[l].domain_count > domains)
            domains = p->world->level[l].domain_count;
    pool.holder = memory_zeroed(sizeof(*pool.holder) * (p->world->node_count + 1));
    pool.room = memory_zeroed(sizeof(*pool.room) * (domains + 1));
    mark_free(&pool, place);
    mark_held(&pool, place, running, count);
    for (size_t i = 0; i < pieces && all; i++)
        all = pack_piece(&pool, &piece[i]);
    free(piece);
    free(pool.holder);
    free(pool.room);
    return all;
}
