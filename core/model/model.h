/* model.h - all tables in one block, and the one door through which they are written
 *
 * Every write goes through model_edit(), which hands out a row inside a transaction and keeps the
 * old image on first touch. What-if is then begin, try, read, roll back: its cost is the rows
 * touched, with no undo written by hand and no copy of the cluster. The same door marks rows for
 * the digest. Transactions nest; an inner one that commits becomes part of the outer one.
 *
 * The digest is the sum over all used rows of a hash of (table, id, bytes), modulo 2^64: rows
 * touched since it was last asked are hashed again, nothing else.
 *
 * Owner   The caller gives one block of model_bytes(limits) bytes, aligned to 64, and keeps it. The
 *         model holds no pointer that outlives a move: model_move() carries it into a larger block.
 * Order   Dropped rows are reused last in, first out; ids below head.count exist or once did.
 * Misuse  Writing outside a transaction, an id out of range, more rows than the limits: must().
 *         The engine asks model_short() before it applies a batch, so that none of that can happen.
 */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/model/rows.h"

struct limits {
    uint32_t rows[TABLE_COUNT]; /* CONFIG and HEAD are set by limits_fix() */
    uint32_t undo_rows;         /* first touches within one outermost transaction */
    uint32_t cells;             /* (domain, model) pairs that the index counts */
    uint32_t seats_out;         /* seats that one batch of decisions may name */
    uint32_t decisions;         /* decisions of one batch */
    uint32_t depth;             /* levels of the placement search: hosts and pods of one gang */
};

/* Sets the tables of fixed size and raises every limit to the least that works. */
void limits_fix(struct limits *l);

struct table_store {
    uint64_t rows_at;  /* offset of row 0 in the block */
    uint64_t hash_at;  /* of each row as last added to the digest */
    uint64_t stamp_at; /* the transaction that saved it last, and the dirty mark */
    uint32_t row_bytes, limit;
};

struct index; /* index.h */

struct model {
    uint64_t bytes; /* of the whole block */
    struct limits limits;
    struct table_store store[TABLE_COUNT];
    uint64_t index_at, undo_at, undo_bytes_at, dirty_at, scratch_at, ends_at, spots_at;
    uint64_t scratch_bytes;
    uint64_t undo_bytes_limit, undo_bytes;
    uint32_t undo_count, dirty_count, dirty_limit;
    uint32_t depth; /* open transactions */
    uint32_t begin_undo[8];
    uint64_t begin_bytes[8];
    uint64_t transaction; /* serial of the innermost open one */
    uint64_t digest;
};

size_t model_bytes(const struct limits *l);
struct model *model_init(void *block, const struct limits *l);

/* A copy in a block made for larger limits; the old block is untouched. No transaction open. */
struct model *model_move(const struct model *from, void *block, const struct limits *l);

void model_begin(struct model *m);
void model_commit(struct model *m);
void model_rollback(struct model *m);

/* The row for writing, saved first. For hosts use host.h, which keeps the index in step. */
void *model_edit(struct model *m, enum table table, uint32_t id);
/* A new row, zeroed, and its id; a dropped one. The row must be in use. */
uint32_t model_add(struct model *m, enum table table);
void model_drop(struct model *m, enum table table, uint32_t id);
/* Makes ids 0..id exist (tables that the edge numbers). */
void model_reach(struct model *m, enum table table, uint32_t id);

/* For restore alone: a row's bytes, without a transaction; model_restored() then hashes every row,
 * makes the index anew, and returns the digest. Where it is not the one that was stored the rows
 * are strangers' bytes, and the model must be thrown away. */
void *model_raw_row(struct model *m, enum table table, uint32_t id);
uint64_t model_restored(struct model *m, uint64_t expected);
/* Where everything would lie for these limits; returns the bytes of the block. */
uint64_t model_layout(struct model *m, const struct limits *l);

uint64_t model_digest(struct model *m);
/* Recomputes it from every row: for tests and for restore. */
uint64_t model_digest_anew(const struct model *m);

static inline const void *model_row(const struct model *m, enum table table, uint32_t id)
{
    const struct table_store *t = &m->store[table];

    return (const char *)m + t->rows_at + (uint64_t)id * t->row_bytes;
}

static inline const struct head *model_head(const struct model *m, enum table table)
{
    return (const struct head *)model_row(m, TABLE_HEAD, table);
}

static inline uint32_t model_count(const struct model *m, enum table table)
{
    return model_head(m, table)->count;
}

/* host_row(m, id), job_row(m, id), ...: rows for reading. */
#define MODEL_GETTER(name, TABLE, type)                                                            \
    static inline const type *name##_row(const struct model *m, uint32_t id)                       \
    {                                                                                              \
        return (const type *)model_row(m, TABLE_##TABLE, id);                                      \
    }
MODEL_GETTER(level, LEVEL, struct level)
MODEL_GETTER(domain, DOMAIN, struct domain)
MODEL_GETTER(shape, SHAPE, struct shape_row)
MODEL_GETTER(mig, MIG, struct mig)
MODEL_GETTER(kind, KIND, struct kind)
MODEL_GETTER(host, HOST, struct host)
MODEL_GETTER(board, BOARD, struct board)
MODEL_GETTER(class, CLASS, struct class_row)
MODEL_GETTER(team, TEAM, struct team)
MODEL_GETTER(job, JOB, struct job)
MODEL_GETTER(podset, PODSET, struct podset)
MODEL_GETTER(seat, SEAT, struct seat)
MODEL_GETTER(hold, HOLD, struct hold)
MODEL_GETTER(mix, MIX, struct mix)
MODEL_GETTER(price, PRICE, struct price)
MODEL_GETTER(loss, LOSS, struct loss)
MODEL_GETTER(balance, BALANCE, struct balance)

static inline const struct config *config_row(const struct model *m)
{
    return (const struct config *)model_row(m, TABLE_CONFIG, 0);
}

static inline struct config *config_edit(struct model *m)
{
    return (struct config *)model_edit(m, TABLE_CONFIG, 0);
}

#endif
