#include "core/model/model.h"

#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/index.h"

#define ALIGN            64u
#define TRANSACTIONS_MAX 8u
#define DIRTY            ((uint64_t)1 << 63) /* in a row's stamp: waits for the next digest */

static const uint32_t row_bytes[TABLE_COUNT] = {
#define TABLE_BYTES(name, type) (uint32_t)sizeof(type),
    TABLE_MAP(TABLE_BYTES)};

#define TABLE_WHOLE(name, type) _Static_assert(sizeof(type) % 8 == 0, #type " hashes by words");
TABLE_MAP(TABLE_WHOLE)

struct undo {
    uint32_t table, id;
    uint64_t at; /* of the old image in the undo bytes */
};

static inline uint64_t carve(uint64_t *end, uint64_t bytes)
{
    uint64_t at = *end;

    *end += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static inline void *at(struct model *m, uint64_t offset)
{
    return (char *)m + offset;
}

static inline struct undo *undo_row(struct model *m, uint32_t n)
{
    return (struct undo *)at(m, m->undo_at) + n;
}

static inline void *row_at(struct model *m, enum table table, uint32_t id)
{
    return (char *)m + m->store[table].rows_at + (uint64_t)id * m->store[table].row_bytes;
}

static inline uint64_t *stamp_at(struct model *m, enum table table, uint32_t id)
{
    return (uint64_t *)at(m, m->store[table].stamp_at) + id;
}

/* The row waits for the next digest. */
static void mark_dirty(struct model *m, enum table table, uint32_t id)
{
    uint64_t *stamp = stamp_at(m, table, id);

    if (*stamp & DIRTY)
        return;
    must(m->dirty_count < m->dirty_limit);
    ((uint64_t *)at(m, m->dirty_at))[m->dirty_count++] = (uint64_t)table << 32 | id;
    *stamp |= DIRTY;
}

void limits_fix(struct limits *l)
{
    l->rows[TABLE_CONFIG] = 1;
    l->rows[TABLE_HEAD] = TABLE_COUNT;
    l->rows[TABLE_LEVEL] = LEVELS_MAX;
    if (l->rows[TABLE_PRICE] < MODELS_MAX)
        l->rows[TABLE_PRICE] = MODELS_MAX;
    if (l->rows[TABLE_LOSS] < LOSS_ROWS)
        l->rows[TABLE_LOSS] = LOSS_ROWS;
    l->rows[TABLE_BOARD] = l->rows[TABLE_HOST];
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        if (l->rows[t] < 4)
            l->rows[t] = 4;
    if (l->undo_rows < 2048)
        l->undo_rows = 2048;
    if (l->cells < 16)
        l->cells = 16;
    if (l->seats_out < 64)
        l->seats_out = 64;
    if (l->decisions < 64)
        l->decisions = 64;
    if (l->depth < 64)
        l->depth = 64;
}

/* Where everything lies; returns the bytes of the whole. */
uint64_t model_layout(struct model *m, const struct limits *l)
{
    uint64_t end = 0, rows = 0, widest = 0;

    carve(&end, sizeof(struct model));
    m->limits = *l;
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        struct table_store *s = &m->store[t];

        s->row_bytes = row_bytes[t];
        s->limit = l->rows[t];
        s->rows_at = carve(&end, (uint64_t)s->row_bytes * s->limit);
        s->hash_at = carve(&end, (uint64_t)s->limit * sizeof(uint64_t));
        s->stamp_at = carve(&end, (uint64_t)s->limit * sizeof(uint64_t));
        rows += s->limit;
        if (s->row_bytes > widest && t != TABLE_SHAPE)
            widest = s->row_bytes;
    }
    m->index_at = carve(&end, index_bytes(l));
    m->undo_at = carve(&end, (uint64_t)l->undo_rows * sizeof(struct undo));
    m->undo_bytes_limit =
        (uint64_t)l->undo_rows * widest + (uint64_t)l->rows[TABLE_SHAPE] * row_bytes[TABLE_SHAPE];
    m->undo_bytes_at = carve(&end, m->undo_bytes_limit);
    must(rows < UINT32_MAX);
    m->dirty_limit = (uint32_t)rows;
    m->dirty_at = carve(&end, rows * sizeof(uint64_t));
    m->scratch_bytes = (uint64_t)l->depth * 320 +
                       ((uint64_t)l->rows[TABLE_HOST] + l->rows[TABLE_DOMAIN]) * 64 + 65536;
    m->scratch_at = carve(&end, m->scratch_bytes);
    /* What a policy remembers through a what-if: ends of runs, and places of one gang. */
    m->ends_at = carve(&end, ((uint64_t)l->rows[TABLE_JOB] + RESERVES_MAX) * 16);
    m->spots_at = carve(&end, (uint64_t)l->seats_out * 16);
    return end;
}

size_t model_bytes(const struct limits *l)
{
    struct model probe;

    return (size_t)model_layout(&probe, l);
}

struct model *model_init(void *block, const struct limits *l)
{
    struct model *m = block;
    uint64_t bytes;

    must(((uintptr_t)block & (ALIGN - 1)) == 0);
    memset(m, 0, sizeof(*m));
    bytes = model_layout(m, l);
    memset((char *)block + sizeof(*m), 0, (size_t)bytes - sizeof(*m));
    m->bytes = bytes;
    for (uint32_t t = 0; t < TABLE_COUNT; t++)
        ((struct head *)row_at(m, TABLE_HEAD, t))->free_head = ROW_NONE;
    ((struct head *)row_at(m, TABLE_HEAD, TABLE_HEAD))->count = TABLE_COUNT;
    index_init(m);
    model_begin(m);
    for (uint32_t t = 0; t < TABLE_COUNT; t++)
        (void)model_edit(m, TABLE_HEAD, t);
    model_reach(m, TABLE_CONFIG, 0);
    config_edit(m)->budget_steps = 20000;
    model_commit(m);
    return m;
}

struct model *model_move(const struct model *from, void *block, const struct limits *l)
{
    struct model *m = block;

    must(from->depth == 0);
    must(((uintptr_t)block & (ALIGN - 1)) == 0);
    memset(m, 0, sizeof(*m));
    uint64_t bytes = model_layout(m, l);
    memset((char *)block + sizeof(*m), 0, (size_t)bytes - sizeof(*m));
    m->bytes = bytes;
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        const struct table_store *old = &from->store[t];
        const struct table_store *new = &m->store[t];
        uint32_t count = t == TABLE_HEAD ? TABLE_COUNT : model_count(from, t);

        must(count <= new->limit);
        memcpy(at(m, new->rows_at), (const char *)from + old->rows_at,
               (size_t)count * new->row_bytes);
        memcpy(at(m, new->hash_at), (const char *)from + old->hash_at, (size_t)count * 8);
        memcpy(at(m, new->stamp_at), (const char *)from + old->stamp_at, (size_t)count * 8);
    }
    m->digest = from->digest;
    m->transaction = from->transaction;
    m->dirty_count = from->dirty_count;
    memcpy(at(m, m->dirty_at), (const char *)from + from->dirty_at,
           (size_t)from->dirty_count * sizeof(uint64_t));
    index_init(m);
    index_rebuild(m);
    return m;
}

void model_begin(struct model *m)
{
    must(m->depth < TRANSACTIONS_MAX);
    if (m->depth == 0) {
        m->undo_count = 0;
        m->undo_bytes = 0;
    }
    m->begin_undo[m->depth] = m->undo_count;
    m->begin_bytes[m->depth] = m->undo_bytes;
    m->transaction++;
    m->depth++;
}

void model_commit(struct model *m)
{
    must(m->depth > 0);
    m->depth--;
    /* Inside an outer transaction the stamps of the inner one are newer than the outer serial:
     * rows are then saved a second time at worst, which rollback undoes in the right order. */
    m->transaction++;
}

void model_rollback(struct model *m)
{
    must(m->depth > 0);
    m->depth--;
    for (uint32_t n = m->undo_count; n-- > m->begin_undo[m->depth];) {
        const struct undo *u = undo_row(m, n);

        memcpy(row_at(m, u->table, u->id), (char *)at(m, m->undo_bytes_at) + u->at,
               m->store[u->table].row_bytes);
        mark_dirty(m, u->table, u->id); /* a digest may have been asked in between */
    }
    for (uint32_t n = m->begin_undo[m->depth]; n < m->undo_count; n++) {
        const struct undo *u = undo_row(m, n);

        if (u->table == TABLE_HOST)
            index_sync_host(m, u->id);
        else if (u->table == TABLE_JOB)
            index_sync_job(m, u->id);
    }
    m->undo_count = m->begin_undo[m->depth];
    m->undo_bytes = m->begin_bytes[m->depth];
    m->transaction++;
}

void *model_edit(struct model *m, enum table table, uint32_t id)
{
    uint64_t *stamp = stamp_at(m, table, id);
    void *row = row_at(m, table, id);

    must(m->depth > 0);
    must(id < m->store[table].limit);
    if ((*stamp & ~DIRTY) != m->transaction) {
        uint32_t bytes = m->store[table].row_bytes;

        must(m->undo_count < m->limits.undo_rows);
        must(m->undo_bytes + bytes <= m->undo_bytes_limit);
        *undo_row(m, m->undo_count++) = (struct undo){table, id, m->undo_bytes};
        memcpy((char *)at(m, m->undo_bytes_at) + m->undo_bytes, row, bytes);
        m->undo_bytes += bytes;
        mark_dirty(m, table, id);
        *stamp = m->transaction | DIRTY;
    }
    return row;
}

uint32_t model_add(struct model *m, enum table table)
{
    struct head *h = model_edit(m, TABLE_HEAD, table);
    uint32_t id = h->free_head;

    if (id == ROW_NONE) {
        must(h->count < m->store[table].limit);
        id = h->count++;
    } else {
        memcpy(&h->free_head, row_at(m, table, id), sizeof(h->free_head));
    }
    h->live++;
    memset(model_edit(m, table, id), 0, m->store[table].row_bytes);
    return id;
}

void model_drop(struct model *m, enum table table, uint32_t id)
{
    struct head *h = model_edit(m, TABLE_HEAD, table);
    void *row = model_edit(m, table, id);

    must(id < h->count && h->live > 0);
    memset(row, 0, m->store[table].row_bytes);
    memcpy(row, &h->free_head, sizeof(h->free_head));
    h->free_head = id;
    h->live--;
}

void model_reach(struct model *m, enum table table, uint32_t id)
{
    if (id < model_count(m, table))
        return;

    struct head *h = model_edit(m, TABLE_HEAD, table);

    must(id < m->store[table].limit && h->free_head == ROW_NONE);
    while (h->count <= id) {
        memset(model_edit(m, table, h->count), 0, m->store[table].row_bytes);
        h->count++;
        h->live++;
    }
}

static uint64_t row_hash(const struct model *m, enum table table, uint32_t id)
{
    const void *row = model_row(m, table, id);

    return hash_words(row, m->store[table].row_bytes / 8, (uint64_t)table << 32 | id);
}

uint64_t model_digest(struct model *m)
{
    const uint64_t *dirty = at(m, m->dirty_at);

    for (uint32_t n = 0; n < m->dirty_count; n++) {
        enum table table = (enum table)(dirty[n] >> 32);
        uint32_t id = (uint32_t)dirty[n];
        uint64_t *hash = (uint64_t *)at(m, m->store[table].hash_at) + id;
        uint32_t count = table == TABLE_HEAD ? TABLE_COUNT : model_count(m, table);

        m->digest -= *hash;
        *hash = id < count ? row_hash(m, table, id) : 0;
        m->digest += *hash;
        *stamp_at(m, table, id) &= ~DIRTY;
    }
    m->dirty_count = 0;
    return m->digest;
}

uint64_t model_digest_anew(const struct model *m)
{
    uint64_t sum = 0;

    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        uint32_t count = t == TABLE_HEAD ? TABLE_COUNT : model_count(m, t);

        for (uint32_t id = 0; id < count; id++)
            sum += row_hash(m, t, id);
    }
    return sum;
}

void *model_raw_row(struct model *m, enum table table, uint32_t id)
{
    must(m->depth == 0 && id < m->store[table].limit);
    return row_at(m, table, id);
}

uint64_t model_restored(struct model *m, uint64_t expected)
{
    m->digest = 0;
    m->dirty_count = 0;
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        uint32_t count = t == TABLE_HEAD ? TABLE_COUNT : model_count(m, t);

        for (uint32_t id = 0; id < count; id++) {
            uint64_t hash = row_hash(m, t, id);

            ((uint64_t *)at(m, m->store[t].hash_at))[id] = hash;
            *stamp_at(m, t, id) = 0;
            m->digest += hash;
        }
    }
    m->transaction = 1;
    /* Rows that are not what was stored may point anywhere: the index would follow them. */
    if (m->digest == expected)
        index_rebuild(m);
    return m->digest;
}
