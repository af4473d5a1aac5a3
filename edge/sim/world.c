#include "edge/sim/world.h"

#include "edge/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)
#define LARGE_BYTES ((size_t)4 << 10) /* a table from this size on is a block of its own */

/* Small things share chunks; a table that has grown is a block that realloc() may move. Both hang
 * in one list, so that world_free() needs to know nothing else. */
struct block {
    struct block *previous, *next;
    max_align_t bytes[];
};

/* Rows of a table by name, brought up to date when somebody asks. */
struct names {
    uint32_t *slot; /* row + 1, 0: empty; size is a power of two */
    uint32_t size, known;
};

struct world_memory {
    struct block *first;
    unsigned char *chunk;
    size_t chunk_left;
    struct names node, job, team, shape, model, mig_name, domain[WORLD_LEVELS_MAX];
};

void world_init(struct world *w)
{
    *w = (struct world){.seed = -1};
    w->memory = memory_zeroed(sizeof(*w->memory));
}

void world_free(struct world *w)
{
    struct world_memory *m = w->memory;

    if (!m)
        return;
    while (m->first) {
        struct block *next = m->first->next;

        free(m->first);
        m->first = next;
    }
    free(m->node.slot);
    free(m->job.slot);
    free(m->team.slot);
    free(m->shape.slot);
    free(m->model.slot);
    free(m->mig_name.slot);
    for (unsigned l = 0; l < WORLD_LEVELS_MAX; l++)
        free(m->domain[l].slot);
    free(m);
    *w = (struct world){.seed = -1};
}

/* A block with room for so many bytes; old is one that grows, or NULL. */
static void *block_grow(struct world_memory *m, void *old, size_t bytes)
{
    struct block *b = old ? (struct block *)((unsigned char *)old - sizeof(struct block)) : NULL;
    struct block *previous = b ? b->previous : NULL, *next = b ? b->next : m->first;

    b = memory_grow(b, sizeof(*b) + bytes);
    b->previous = previous;
    b->next = next;
    if (previous)
        previous->next = b;
    else
        m->first = b;
    if (next)
        next->previous = b;
    return b->bytes;
}

void *world_alloc(struct world *w, size_t bytes)
{
    struct world_memory *m = w->memory;
    size_t need = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    if (need > LARGE_BYTES) {
        void *own = block_grow(m, NULL, need);

        memset(own, 0, need);
        return own;
    }
    if (need > m->chunk_left) {
        m->chunk = block_grow(m, NULL, CHUNK_BYTES);
        m->chunk_left = CHUNK_BYTES;
    }

    void *at = m->chunk;
    m->chunk += need;
    m->chunk_left -= need;
    memset(at, 0, need);
    return at;
}

/* The room of a table is the power of two from its count on, so that nobody has to store it. */
void *world_row(struct world *w, void *table, uint32_t *count, size_t row_bytes)
{
    unsigned char *rows;
    uint32_t used = *count;

    memcpy(&rows, table, sizeof(rows));
    if (used == 0 || (used & (used - 1)) == 0) {
        size_t room = used ? (size_t)used * 2 : 1, bytes = room * row_bytes;
        size_t old_bytes = used * row_bytes;

        if (old_bytes > LARGE_BYTES) {
            rows = block_grow(w->memory, rows, bytes);
        } else {
            unsigned char *fresh = world_alloc(w, bytes);

            if (used)
                memcpy(fresh, rows, old_bytes);
            rows = fresh;
        }
        memcpy(table, &rows, sizeof(rows));
    }

    void *row = rows + used * row_bytes;
    memset(row, 0, row_bytes);
    (*count)++;
    return row;
}

const char *world_string(struct world *w, const char *text, size_t length)
{
    char *copy = world_alloc(w, length + 1);

    memcpy(copy, text, length);
    return copy;
}

static uint32_t name_hash(const char *name)
{
    uint64_t hash = 14695981039346656037u;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* A table of names seen from the index: where the name of a row stands. */
struct table {
    const void *rows;
    size_t row_bytes; /* the name is the first member of every row */
    uint32_t count;
};

static const char *table_name(const struct table *t, uint32_t row)
{
    const char *name;

    memcpy(&name, (const unsigned char *)t->rows + (size_t)row * t->row_bytes, sizeof(name));
    return name;
}

static void names_put(struct names *n, const struct table *t, uint32_t row)
{
    uint32_t at = name_hash(table_name(t, row)) & (n->size - 1);

    while (n->slot[at])
        at = (at + 1) & (n->size - 1);
    n->slot[at] = row + 1;
}

static void names_catch_up(struct names *n, const struct table *t)
{
    if (t->count > n->size / 2) {
        n->size = n->size ? n->size : 16;
        while (n->size / 2 < t->count)
            n->size *= 2;
        free(n->slot);
        n->slot = memory_zeroed(n->size * sizeof(*n->slot));
        n->known = 0;
    }
    for (; n->known < t->count; n->known++)
        names_put(n, t, n->known);
}

static uint32_t names_find(struct names *n, struct table t, const char *name)
{
    if (t.count == 0)
        return WORLD_NONE;
    names_catch_up(n, &t);
    for (uint32_t at = name_hash(name) & (n->size - 1); n->slot[at]; at = (at + 1) & (n->size - 1))
        if (strcmp(table_name(&t, n->slot[at] - 1), name) == 0)
            return n->slot[at] - 1;
    return WORLD_NONE;
}

uint32_t world_node_find(const struct world *w, const char *name)
{
    return names_find(&w->memory->node, (struct table){w->node, sizeof(*w->node), w->node_count},
                      name);
}

uint32_t world_job_find(const struct world *w, const char *name)
{
    return names_find(&w->memory->job, (struct table){w->job, sizeof(*w->job), w->job_count}, name);
}

uint32_t world_team_find(const struct world *w, const char *name)
{
    return names_find(&w->memory->team, (struct table){w->team, sizeof(*w->team), w->team_count},
                      name);
}

uint32_t world_shape_find(const struct world *w, const char *name)
{
    return names_find(&w->memory->shape,
                      (struct table){w->shape, sizeof(*w->shape), w->shape_count}, name);
}

uint32_t world_domain_find(const struct world *w, uint32_t level, const char *name)
{
    const struct world_level *l = &w->level[level];

    return names_find(&w->memory->domain[level],
                      (struct table){l->domain, sizeof(*l->domain), l->domain_count}, name);
}

uint32_t world_model(struct world *w, const char *name)
{
    uint32_t id = names_find(&w->memory->model,
                             (struct table){w->model, sizeof(*w->model), w->model_count}, name);

    if (id == WORLD_NONE) {
        id = w->model_count;
        *(const char **)world_row(w, &w->model, &w->model_count, sizeof(*w->model)) =
            world_string(w, name, strlen(name));
    }
    return id;
}

uint32_t world_mig_name(struct world *w, const char *name)
{
    uint32_t id =
        names_find(&w->memory->mig_name,
                   (struct table){w->mig_name, sizeof(*w->mig_name), w->mig_name_count}, name);

    if (id == WORLD_NONE) {
        id = w->mig_name_count;
        *(const char **)world_row(w, &w->mig_name, &w->mig_name_count, sizeof(*w->mig_name)) =
            world_string(w, name, strlen(name));
    }
    return id;
}
