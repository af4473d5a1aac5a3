/* Follows a run's devices. A device's value is kept from sums over those who sit on it: all of them
 * are one job exactly if count * squares = sum * sum. */
#include "edge/sim/report_map.h"

#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <stdlib.h>
#include <string.h>

struct cell {
    uint64_t count, sum, squares; /* of job + 2 */
    uint32_t value;               /* as last written */
    bool touched;
};
struct place { /* of a host, by its number in the world */
    uint32_t cell;
    uint8_t state; /* enum world_state */
    bool leaving;
    uint16_t down, drain; /* a bit per device */
};
struct pods {
    struct record_pod *pod;
    size_t count, limit;
};
struct map_live {
    const struct world *world;
    struct cell *cell;
    struct place *place;
    struct pods *pods; /* by job */
    uint32_t *touched; /* cells, each once */
    size_t touched_count, touched_limit;
    bool any;
};

static uint32_t add_text(struct map *m, const char *text)
{
    size_t at = m->text.length;

    out_bytes(&m->text, text, strlen(text) + 1);
    return (uint32_t)at;
}

const char *map_text(const struct map *m, uint32_t at)
{
    return m->text.bytes + at;
}

/* --- layout of cells --- */

/* The level that most jobs speak of, or the first chain's smallest; -1: the cluster has none. */
static int best_level(const struct world *w)
{
    uint32_t named[WORLD_LEVELS_MAX] = {0};
    int best = found_level(w, 0);

    for (uint32_t i = 0; i < w->job_count; i++) {
        const struct world_job *job = &w->job[i];

        for (uint32_t k = 0; k < job->required_count + (uint32_t)job->preferred_count; k++) {
            struct world_where at = k < job->required_count
                                        ? job->required[k]
                                        : job->preferred[k - job->required_count];

            if (at.scope == SCOPE_LEVEL)
                named[at.level]++;
        }
    }
    for (int l = 0; l < (int)w->level_count; l++)
        if (w->level[l].rank == 0 && (best < 0 || named[l] > named[best]))
            best = l;
    return best;
}

struct sorted_host {
    uint32_t parent, domain, node;
};

static int by_place(const void *a, const void *b)
{
    const struct sorted_host *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->domain != y->domain)
        return x->domain < y->domain ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Domains of the level above stay together; hosts without a domain come last. */
static struct sorted_host *sort_hosts(const struct world *w, int level)
{
    struct sorted_host *host = memory_zeroed(sizeof(*host) * (w->node_count + 1));
    int above = -1;

    for (int l = 0; level >= 0 && l < (int)w->level_count; l++)
        if (w->level[l].chain == w->level[level].chain && w->level[l].rank == 1)
            above = l;
    for (uint32_t n = 0; n < w->node_count; n++) {
        host[n].node = n;
        host[n].domain = level < 0 ? WORLD_NONE : w->node[n].domain[level];
        host[n].parent = above < 0 ? 0 : w->node[n].domain[above];
    }
    qsort(host, w->node_count, sizeof(*host), by_place);
    return host;
}

static void lay_hosts(struct map *m, const struct world *w, int level)
{
    struct sorted_host *sorted = sort_hosts(w, level);

    m->host = memory_zeroed(sizeof(*m->host) * (w->node_count + 1));
    m->domain = memory_zeroed(sizeof(*m->domain) * (w->node_count + 1));
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct world_node *node = &w->node[sorted[n].node];
        struct map_host *host = &m->host[m->host_count++];

        if (n == 0 || sorted[n].domain != sorted[n - 1].domain)
            m->domain[m->domain_count++] = (struct map_domain){
                .name = add_text(m, sorted[n].domain == WORLD_NONE
                                        ? (level < 0 ? "all hosts" : "no domain")
                                        : w->level[level].domain[sorted[n].domain]),
                .first_host = n};
        m->domain[m->domain_count - 1].host_count++;
        host->name = add_text(m, node->name);
        host->world = sorted[n].node;
        host->domain = m->domain_count - 1;
        host->cell = m->cell_count;
        host->gpus = node->gpus;
        m->live->place[host->world].cell = host->cell;
        m->cell_count += node->gpus;
    }
    free(sorted);
}

static void name_jobs(struct map *m, const struct world *w)
{
    m->team_count = w->team_count;
    m->team = memory_zeroed(sizeof(*m->team) * (w->team_count + 1));
    for (uint32_t i = 0; i < w->team_count; i++)
        m->team[i] = add_text(m, w->team[i].name);
    m->job_count = w->job_count;
    m->job = memory_zeroed(sizeof(*m->job) * (w->job_count + 1));
    for (uint32_t i = 0; i < w->job_count; i++) {
        const struct world_job *job = &w->job[i];
        uint64_t milli = 0;

        m->job[i].name = add_text(m, job->name);
        m->job[i].team = job->team;
        for (uint32_t k = 0; k < job->podset_count; k++) {
            const struct world_podset *set = &job->podset[k];

            m->job[i].pods += set->pods;
            milli += set->gpus == 1 ? (uint64_t)set->milli * set->pods
                                    : (uint64_t)1000 * set->gpus * set->pods;
        }
        m->job[i].gpus = (uint32_t)((milli + 999) / 1000);
    }
}

struct map *map_open(const struct world *w)
{
    struct map *m = memory_zeroed(sizeof(*m));
    int level = best_level(w);

    m->live = memory_zeroed(sizeof(*m->live));
    m->live->world = w;
    m->live->place = memory_zeroed(sizeof(*m->live->place) * (w->node_count + 1));
    m->level_name = add_text(m, level < 0 ? "cluster" : w->level[level].name);
    lay_hosts(m, w, level);
    name_jobs(m, w);
    m->live->cell = memory_zeroed(sizeof(*m->live->cell) * (m->cell_count + 1));
    m->live->pods = memory_zeroed(sizeof(*m->live->pods) * (w->job_count + 1));
    return m;
}

void map_close(struct map *m)
{
    for (uint32_t i = 0; m->live && i < m->job_count; i++)
        free(m->live->pods[i].pod);
    if (m->live) {
        free(m->live->cell);
        free(m->live->place);
        free(m->live->pods);
        free(m->live->touched);
    }
    free(m->live);
    free(m->host);
    free(m->domain);
    free(m->job);
    free(m->team);
    free(m->change);
    out_free(&m->text);
    free(m);
}

static void *twin(const void *table, size_t count, size_t row_bytes)
{
    void *copy = memory_zeroed((count + 1) * row_bytes);

    return count ? memcpy(copy, table, count * row_bytes) : copy;
}

struct map *map_copy(const struct map *m)
{
    struct map *c = memory_zeroed(sizeof(*c));

    *c = *m;
    c->live = NULL;
    c->host = twin(m->host, m->host_count, sizeof(*m->host));
    c->domain = twin(m->domain, m->domain_count, sizeof(*m->domain));
    c->job = twin(m->job, m->job_count, sizeof(*m->job));
    c->team = twin(m->team, m->team_count, sizeof(*m->team));
    c->change = twin(m->change, m->change_count, sizeof(*m->change));
    c->text = (struct out){0};
    out_bytes(&c->text, m->text.bytes, m->text.length);
    return c;
}

/* --- the run --- */

static void touch(struct map *m, uint32_t cell)
{
    struct map_live *l = m->live;

    if (l->cell[cell].touched)
        return;
    l->cell[cell].touched = true;
    l->touched = out_grow(l->touched, l->touched_count, &l->touched_limit, sizeof(*l->touched));
    l->touched[l->touched_count++] = cell;
}

static void change_pod(struct map *m, uint32_t job, const struct record_pod *pod, bool take)
{
    uint64_t who = (uint64_t)job + 2;

    for (unsigned d = 0; d < m->live->world->node[pod->node].gpus; d++) {
        uint32_t at = m->live->place[pod->node].cell + d;
        struct cell *cell = &m->live->cell[at];

        if (!((uint32_t)pod->devices >> d & 1u))
            continue;
        cell->count += take ? 1 : UINT64_MAX; /* sums wrap back */
        cell->sum += take ? who : 0 - who;
        cell->squares += take ? who * who : 0 - who * who;
        touch(m, at);
    }
    m->job[job].seen = true;
}

static void add_pods(struct map *m, const struct record *r)
{
    struct pods *p = &m->live->pods[r->job];

    for (uint32_t i = 0; i < r->pod_count; i++) {
        p->pod = out_grow(p->pod, p->count, &p->limit, sizeof(*p->pod));
        p->pod[p->count++] = r->pods[i];
        change_pod(m, r->job, &r->pods[i], true);
    }
}

static void drop_pods(struct map *m, const struct record *r)
{
    struct pods *p = &m->live->pods[r->job];

    for (uint32_t i = 0; i < r->pod_count; i++)
        for (size_t k = 0; k < p->count; k++)
            if (p->pod[k].pod == r->pods[i].pod) {
                change_pod(m, r->job, &p->pod[k], false);
                p->pod[k] = p->pod[--p->count];
                break;
            }
}

static void drop_all(struct map *m, uint32_t job)
{
    struct pods *p = &m->live->pods[job];

    for (size_t k = 0; k < p->count; k++)
        change_pod(m, job, &p->pod[k], false);
    p->count = 0;
}

/* What the event says of a host: its devices keep what was said of each of them. */
static void event(struct map *m, const struct world_event *e)
{
    struct place *p;
    uint16_t bit;

    if (e->kind == WEV_CANCEL)
        drop_all(m, e->target);
    if (e->kind != WEV_NODE && e->kind != WEV_GPU)
        return;
    p = &m->live->place[e->target];
    if (e->kind == WEV_NODE && e->state == STATE_LEAVE) {
        p->leaving = true;
    } else if (e->kind == WEV_NODE) {
        p->state = e->state;
        p->leaving = false;
    } else {
        bit = (uint16_t)(1u << e->gpu);
        p->down = (uint16_t)(e->state == STATE_DOWN ? p->down | bit : p->down & ~bit);
        p->drain = (uint16_t)(e->state == STATE_DRAIN ? p->drain | bit : p->drain & ~bit);
    }
    for (unsigned d = 0; d < m->live->world->node[e->target].gpus; d++)
        touch(m, p->cell + d);
}

static const struct map_host *host_of(const struct map *m, uint32_t cell)
{
    uint32_t low = 0, high = m->host_count - 1;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;

        if (m->host[middle].cell <= cell)
            low = middle;
        else
            high = middle - 1;
    }
    return &m->host[low];
}

static uint32_t value_of(const struct map *m, uint32_t at)
{
    const struct cell *c = &m->live->cell[at];
    const struct map_host *host = host_of(m, at);
    const struct place *p = &m->live->place[host->world];
    uint32_t bit = 1u << (at - host->cell), state = MAP_UP;
    uint64_t who = 0;

    if (p->state == STATE_DOWN || (p->down & bit))
        state = MAP_FAILED;
    else if (p->state == STATE_DRAIN || p->leaving || (p->drain & bit))
        state = MAP_DRAINED;
    if (c->count > 0)
        who = c->count * c->squares == c->sum * c->sum ? c->sum / c->count : MAP_SEVERAL;
    return state << 30 | (uint32_t)who;
}

static int by_cell(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Writes what became of the touched cells, neighbours of one value as one change. */
static void write_changes(struct map *m, int64_t t_ns)
{
    struct map_live *l = m->live;
    struct map_change *last = NULL;

    qsort(l->touched, l->touched_count, sizeof(*l->touched), by_cell);
    for (size_t i = 0; i < l->touched_count; i++) {
        uint32_t at = l->touched[i], value = value_of(m, at);

        l->cell[at].touched = false;
        if (value == l->cell[at].value)
            continue;
        l->cell[at].value = value;
        if (last && last->value == value && last->cell + last->count == at) {
            last->count++;
            continue;
        }
        m->change = out_grow(m->change, m->change_count, &m->change_limit, sizeof(*m->change));
        last = &m->change[m->change_count++];
        *last = (struct map_change){.t_ns = t_ns, .cell = at, .count = 1, .value = value};
    }
    l->touched_count = 0;
}

void map_take(struct map *m, const struct record *r)
{
    if (!m->live->any)
        m->start_ns = r->t_ns;
    m->live->any = true;
    m->end_ns = r->t_ns;
    switch (r->kind) {
    case RECORD_MOVE:
        drop_all(m, r->job);
        add_pods(m, r);
        break;
    case RECORD_START:
    case RECORD_GROW:
        add_pods(m, r);
        break;
    case RECORD_SHRINK:
        drop_pods(m, r);
        break;
    case RECORD_PREEMPT:
    case RECORD_FAIL:
    case RECORD_FINISH:
        drop_all(m, r->job);
        break;
    case RECORD_EVENT:
        event(m, &m->live->world->event[r->event]);
        break;
    case RECORD_SUBMIT:
    case RECORD_REFUSE:
    case RECORD_PROMISE:
        break;
    }
    if (m->live->touched_count > 0)
        write_changes(m, r->t_ns);
}

void map_at(const struct map *m, uint32_t *cell, size_t *next, int64_t t_ns)
{
    for (; *next < m->change_count && m->change[*next].t_ns <= t_ns; ++*next)
        for (uint32_t i = 0; i < m->change[*next].count; i++)
            cell[m->change[*next].cell + i] = m->change[*next].value;
}
