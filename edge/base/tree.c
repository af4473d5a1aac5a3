#include "edge/base/tree.h"

#include "edge/base/memory.h"
#include "edge/base/text.h"
#include "edge/base/tree_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define SHOWN_BYTES 80

struct block {
    struct block *next;
    size_t size, used;
    max_align_t bytes[];
};

struct tree_memory {
    struct block *first, *now;
};

struct tree_memory *tree_memory_open(void)
{
    return memory_zeroed(sizeof(struct tree_memory));
}

void tree_memory_reset(struct tree_memory *m)
{
    for (struct block *b = m->first; b; b = b->next)
        b->used = 0;
    m->now = m->first;
}

void tree_memory_close(struct tree_memory *m)
{
    if (!m)
        return;
    while (m->first) {
        struct block *next = m->first->next;

        free(m->first);
        m->first = next;
    }
    free(m);
}

void *tree_memory_take(struct tree_memory *m, size_t bytes)
{
    size_t need = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    while (m->now && m->now->size - m->now->used < need && m->now->next)
        m->now = m->now->next;
    if (!m->now || m->now->size - m->now->used < need) {
        size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
        struct block *b = memory_grow(NULL, sizeof(*b) + size);

        *b = (struct block){.size = size};
        if (m->now)
            m->now->next = b;
        else
            m->first = b;
        m->now = b;
    }

    unsigned char *at = (unsigned char *)m->now->bytes + m->now->used;
    m->now->used += need;
    memset(at, 0, bytes);
    return at;
}

char *tree_memory_text(struct tree_memory *m, const char *text, size_t length)
{
    char *copy = tree_memory_take(m, length + 1);

    memcpy(copy, text, length);
    return copy;
}

bool tree_build_bad(struct tree_build *b, uint32_t line, const char *found, const char *expected)
{
    if (!b->code)
        b->code = err_set(b->err, ERR_INPUT, "%s:%u: found %s, expected %s", b->name, line, found,
                          expected);
    return false;
}

static bool text_fine(struct tree_build *b, uint32_t line, const char *text, size_t length)
{
    if (memchr(text, '\0', length))
        return tree_build_bad(b, line, "a NUL character", "text without one");
    if (!text_is_utf8(text, length))
        return tree_build_bad(b, line, "bytes that are not UTF-8", "UTF-8 text");
    return true;
}

struct tree *tree_build_add(struct tree_build *b, enum tree_kind kind, uint32_t line,
                            const char *text, size_t length)
{
    if (b->code || (text && !text_fine(b, line, text, length)))
        return NULL;
    if (++b->nodes > TREE_NODES_MAX) {
        (void)tree_build_bad(b, line, "more than 2097152 values", "a smaller text");
        return NULL;
    }

    struct tree *t = tree_memory_take(b->m, sizeof(*t));
    t->kind = kind;
    t->line = line;
    t->key = b->key;
    if (text)
        t->text = tree_memory_text(b->m, text, length);
    b->key = NULL;
    if (b->depth == 0) {
        b->root = t;
    } else {
        b->open[b->depth - 1]->count++;
        *b->tail[b->depth - 1] = t;
        b->tail[b->depth - 1] = &t->next;
    }
    return t;
}

bool tree_build_key(struct tree_build *b, uint32_t line, const char *text, size_t length)
{
    if (b->code || !text_fine(b, line, text, length))
        return false;
    b->key = tree_memory_text(b->m, text, length);
    return true;
}

bool tree_build_open(struct tree_build *b, enum tree_kind kind, uint32_t line)
{
    if (b->depth == TREE_DEPTH_MAX)
        return tree_build_bad(b, line, "lists or maps nested deeper than 64",
                              "at most 64 of them inside each other");

    struct tree *t = tree_build_add(b, kind, line, NULL, 0);
    if (!t)
        return false;
    b->open[b->depth] = t;
    b->tail[b->depth] = &t->child;
    b->depth++;
    return true;
}

static uint32_t key_hash(const char *key)
{
    uint32_t hash = 2166136261u;

    for (; *key; key++)
        hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash ^ hash >> 15;
}

/* The first key that stands twice, or NULL. */
static const struct tree *key_twice(const struct tree *map)
{
    uint32_t size = 16;
    const struct tree *twice = NULL;

    while (size < map->count * 2)
        size *= 2;

    const struct tree **slot = memory_zeroed(size * sizeof(*slot));
    for (const struct tree *t = map->child; t && !twice; t = t->next) {
        uint32_t at = key_hash(t->key) & (size - 1);

        while (slot[at] && strcmp(slot[at]->key, t->key) != 0)
            at = (at + 1) & (size - 1);
        if (slot[at])
            twice = t;
        slot[at] = t;
    }
    free(slot);
    return twice;
}

bool tree_build_close(struct tree_build *b)
{
    const struct tree *t = b->open[--b->depth];

    if (b->code)
        return false;
    if (t->kind == TREE_MAP && t->count > 1) {
        const struct tree *twice = key_twice(t);

        if (twice) {
            char shown[SHOWN_BYTES], found[SHOWN_BYTES + 40];

            (void)text_shown(shown, sizeof(shown), twice->key, strlen(twice->key));
            (void)snprintf(found, sizeof(found), "the key \"%s\" a second time", shown);
            return tree_build_bad(b, twice->line, found, "every key once");
        }
    }
    return true;
}

const struct tree *tree_find(const struct tree *map, const char *key)
{
    if (!map || map->kind != TREE_MAP)
        return NULL;
    for (const struct tree *t = map->child; t; t = t->next)
        if (strcmp(t->key, key) == 0)
            return t;
    return NULL;
}

/* A number as sign x digits x 10^scale, with no zeros at either end of the digits. */
struct decimal {
    bool negative;
    uint64_t digits;
    int64_t scale;
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The part before the exponent. The digits of a run of zeros are added only once another digit
 * follows, so that 1000...0 and 0.5000...0 stay within the range. */
static bool mantissa(const char **at, struct decimal *d)
{
    bool point = false;
    int64_t zeros = 0;

    for (; digit(**at) || (**at == '.' && !point); (*at)++) {
        if (**at == '.') {
            point = true;
            continue;
        }
        d->scale -= point;
        zeros++;
        if (**at == '0')
            continue;
        for (; zeros > 0 && d->digits; zeros--)
            if (__builtin_mul_overflow(d->digits, 10u, &d->digits))
                return false;
        zeros = 0;
        if (__builtin_add_overflow(d->digits, (uint64_t)(**at - '0'), &d->digits))
            return false;
    }
    d->scale += zeros;
    return true;
}

static bool exponent(const char *at, int64_t *scale)
{
    int64_t value = 0;
    bool negative = false;

    if (*at == '\0')
        return true;
    if (*at != 'e' && *at != 'E')
        return false;
    at++;
    if (*at == '+' || *at == '-')
        negative = *at++ == '-';
    if (!digit(*at))
        return false;
    for (; digit(*at); at++)
        if (value < 1000000000)
            value = value * 10 + (*at - '0');
    *scale += negative ? -value : value;
    return *at == '\0';
}

bool tree_decimal(const struct tree *number, unsigned decimals, int64_t *ret_value)
{
    struct decimal d = {0};
    uint64_t limit = INT64_MAX;

    if (!number || number->kind != TREE_NUMBER)
        return false;

    const char *at = number->text;
    if (*at == '-') {
        d.negative = true;
        limit++;
        at++;
    }
    if (!digit(*at) || !mantissa(&at, &d) || !exponent(at, &d.scale))
        return false;
    d.scale += decimals;
    if (d.digits == 0) {
        *ret_value = 0;
        return true;
    }
    if (d.scale < 0 || d.scale > 19)
        return false;
    for (; d.scale > 0; d.scale--)
        if (__builtin_mul_overflow(d.digits, 10u, &d.digits))
            return false;
    if (d.digits > limit)
        return false;
    *ret_value = d.negative ? (int64_t)(0 - d.digits) : (int64_t)d.digits;
    return true;
}
