/* reader.h - the fields of a map, checked while they are taken; private to the readers
 *
 * A reader takes what it needs from a map by name, unit and range, and asks once at the end whether
 * all was well: the first trouble is kept in the reader and everything after it is harmless.
 * A null stands for a missing field.
 *
 * Units   reader_time() answers ns; reader_decimal() the number times 10^decimals.
 * Owner   Strings that are answered belong to the tree; copy with world_string() what stays.
 * Errors  `FILE:LINE: found X, expected Y` in err, ERR_INPUT in code.
 */
#ifndef EDGE_SIM_READER_H
#define EDGE_SIM_READER_H

#include "edge/base/err.h"
#include "edge/base/tree.h"
#include "edge/sim/world.h"

#define READ_REQUIRED   INT64_MIN /* as span.missing: the field has to be there */
#define READ_COUNT_MAX  1000000   /* pods, pieces */
#define READ_NODES_MAX  4194304
#define READ_AMOUNT_MAX 1000000000000       /* CPU in milli, MiB */
#define READ_DEVICE_MAX INT32_MAX           /* MiB of one device: the core keeps them in 32 bits */
#define READ_NS_MAX     2000000000000000000 /* 2,000,000,000 s, over 63 years: four of them add up */

struct span {
    int64_t min, max, missing;
};

/* A name whose row is known only when the whole text is read. */
struct reader_later {
    const char *name;
    uint32_t row, line;
};

enum reader_stage { STAGE_HEADER, STAGE_HEAD, STAGE_BODY };

struct reader {
    struct world *w;
    const char *path;
    struct err *err;
    int code;
    bool strict;   /* unknown keys are errors, and the further keys of scenarios are known */
    uint8_t stage; /* enum reader_stage, of the file at hand */
    int64_t submit_ns, event_ns;       /* the latest so far */
    uint32_t *first[WORLD_LEVELS_MAX]; /* by level and domain: its first node */
    uint32_t first_count[WORLD_LEVELS_MAX];
    uint32_t parent_count, cancel_count;
    struct reader_later *parent, *cancel; /* teams' parents; cancel events' jobs */
    /* scenarios hear of every further key */
    void (*further)(void *context, uint32_t line, const char *key);
    void *context;
};

/* All false, so that `return reader_say(...)` reads well. */
bool reader_say(struct reader *r, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool reader_wrong(struct reader *r, const struct tree *value, const char *expected);
bool reader_absent(struct reader *r, const struct tree *map, const char *key, const char *expected);

/* A value as it stands in messages; out is returned. */
const char *reader_shown(char out[96], const struct tree *value);

/* In strict reading: is every key in one of the two lists (NULL-terminated; more may be NULL)? */
bool reader_keys(struct reader *r, const struct tree *map, const char *const *keys,
                 const char *const *more);

const struct tree *reader_get(const struct tree *map, const char *key);
const struct tree *reader_list(struct reader *r, const struct tree *map, const char *key);
const struct tree *reader_map(struct reader *r, const struct tree *map, const char *key);
bool reader_is(struct reader *r, const struct tree *value, enum tree_kind kind,
               const char *expected);

int64_t reader_int(struct reader *r, const struct tree *map, const char *key, struct span s);
int64_t reader_decimal(struct reader *r, const struct tree *map, const char *key, unsigned decimals,
                       struct span s);
int64_t reader_time(struct reader *r, const struct tree *map, const char *key, struct span s);
bool reader_bool(struct reader *r, const struct tree *map, const char *key, bool missing);
/* The position in words, or missing (READ_REQUIRED is allowed). */
int64_t reader_choice(struct reader *r, const struct tree *map, const char *key,
                      const char *const *words, int64_t missing);
/* NULL: not there, or not well. A name is not empty, has no control characters, and is short. */
const char *reader_name(struct reader *r, const struct tree *map, const char *key, bool required);
bool reader_name_fine(struct reader *r, const struct tree *value);

/* Values that stand alone. */
bool reader_number(struct reader *r, const struct tree *value, unsigned decimals, struct span s,
                   int64_t *ret_number);
struct world_where reader_where(struct reader *r, const struct tree *level);
/* A level or a list of them, each once; how many. */
uint8_t reader_wheres(struct reader *r, const struct tree *map, const char *key,
                      struct world_where where[WORLD_LEVELS_MAX]);

#endif
