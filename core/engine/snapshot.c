#include "core/engine/snapshot.h"

#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/index.h"

#define RUN_MIN 4 /* zero bytes that are worth a run */

static size_t zeros_at(const uint8_t *row, size_t from, size_t bytes)
{
    size_t n = from;

    while (n < bytes && row[n] == 0)
        n++;
    return n - from;
}

/* A row as pairs: so many bytes as they are, then so many zeros. */
static void put_row(struct wire_out *w, const uint8_t *row, size_t bytes)
{
    size_t at = 0;

    while (at < bytes) {
        size_t plain = at, zeros = 0;

        while (plain < bytes) {
            zeros = zeros_at(row, plain, bytes);
            if (zeros >= RUN_MIN || plain + zeros == bytes)
                break;
            plain += zeros + 1;
            zeros = 0;
        }
        wire_put(w, plain - at);
        wire_put(w, zeros);
        if (w->full || plain - at > w->limit - w->size) {
            w->full = true;
            return;
        }
        memcpy(w->byte + w->size, row + at, plain - at);
        w->size += plain - at;
        at = plain + zeros;
    }
}

static bool get_row(struct wire_in *r, uint8_t *row, size_t bytes)
{
    size_t at = 0;

    while (at < bytes) {
        uint64_t plain = wire_get(r), zeros = wire_get(r);

        if (r->bad || plain + zeros == 0 || plain > bytes - at || zeros > bytes - at - plain ||
            plain > (uint64_t)(r->end - r->byte))
            return false;
        memcpy(row + at, r->byte, (size_t)plain);
        r->byte += plain;
        memset(row + at + plain, 0, (size_t)zeros);
        at += (size_t)(plain + zeros);
    }
    return true;
}

static uint32_t rows_of(const struct model *m, uint32_t table)
{
    return table == TABLE_HEAD ? TABLE_COUNT : model_count(m, (enum table)table);
}

/* The digest speaks of the rows alone; where the step stood is mixed in. */
static uint64_t closing(uint64_t digest, uint32_t resume)
{
    return digest ^ hash_mix((uint64_t)resume + 1);
}

void snapshot_put(struct sched *s, struct wire_out *w)
{
    const struct model *m = s->m;
    uint64_t digest = model_digest(s->m);

    must(m->depth == 0);
    wire_put(w, SNAPSHOT_FORMAT);
    wire_put(w, TABLE_COUNT);
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        wire_put(w, m->store[t].row_bytes);
        wire_put(w, rows_of(m, t));
    }
    for (uint32_t t = 0; t < TABLE_COUNT; t++)
        for (uint32_t id = 0; id < rows_of(m, t) && !w->full; id++)
            put_row(w, model_row(m, (enum table)t, id), m->store[t].row_bytes);
    wire_put(w, s->resume);
    wire_put(w, closing(digest, s->resume));
}

/* Format, and per table width and rows. */
static bool get_head(struct wire_in *r, uint32_t *rows)
{
    struct model probe;
    struct limits l = {.rows = {0}};

    limits_fix(&l);
    model_layout(&probe, &l);
    if (wire_get(r) != SNAPSHOT_FORMAT || wire_get(r) != TABLE_COUNT)
        return false;
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        if (wire_get(r) != probe.store[t].row_bytes)
            return false;
        rows[t] = (uint32_t)wire_get_bits(r, 30);
    }
    return !r->bad && rows[TABLE_HEAD] == TABLE_COUNT && rows[TABLE_CONFIG] == 1;
}

/* Each host is counted once per level and once in all, and no domain has more models than there
 * are. */
static uint32_t cells_bound(const uint32_t *rows)
{
    uint64_t by_host = (uint64_t)rows[TABLE_HOST] * (rows[TABLE_LEVEL] + 1);
    uint64_t by_domain = ((uint64_t)rows[TABLE_DOMAIN] + 1) * MODELS_MAX;
    uint64_t least = by_host < by_domain ? by_host : by_domain;

    return least < UINT32_MAX / 4 ? (uint32_t)least + 64 : UINT32_MAX / 4;
}

bool snapshot_limits(const uint8_t *bytes, size_t size, struct limits *ret_limits)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct limits l = sched_limits_small();
    uint32_t rows[TABLE_COUNT];

    if (!get_head(&in, rows))
        return false;
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        if (rows[t] > size) /* each row takes a byte at least */
            return false;
        /* With some room beyond them, or the first step would move everything again. */
        if (l.rows[t] < rows[t] + rows[t] / 4 + 8)
            l.rows[t] = rows[t] + rows[t] / 4 + 8;
    }
    l.cells = cells_bound(rows);
    limits_fix(&l);
    *ret_limits = l;
    return true;
}

bool snapshot_get(struct sched *s, const uint8_t *bytes, size_t size)
{
    struct wire_in in = {.byte = bytes, .end = bytes + size};
    struct model *m = s->m;
    uint32_t rows[TABLE_COUNT];
    uint64_t sum;

    if (!get_head(&in, rows))
        return false;
    for (uint32_t t = 0; t < TABLE_COUNT; t++) {
        if (rows[t] > m->store[t].limit)
            return false;
        for (uint32_t id = 0; id < rows[t]; id++)
            if (!get_row(&in, model_raw_row(m, (enum table)t, id), m->store[t].row_bytes))
                return false;
    }
    s->resume = (uint32_t)wire_get_bits(&in, 32);
    sum = wire_get(&in);
    for (uint32_t t = 0; t < TABLE_COUNT; t++)
        if (!in.bad && t != TABLE_HEAD && model_count(m, (enum table)t) != rows[t])
            return false;
    return !in.bad && in.byte == in.end &&
           model_restored(m, sum ^ hash_mix((uint64_t)s->resume + 1)) ==
               (sum ^ hash_mix((uint64_t)s->resume + 1));
}
