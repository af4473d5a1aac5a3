#include "edge/sim/reader.h"

#include "edge/base/text.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 1024u

bool reader_say(struct reader *r, uint32_t line, const char *format, ...)
{
    char text[sizeof(r->err->text)];
    va_list args;

    if (r->code)
        return false;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (line == 0)
        r->code = err_set(r->err, ERR_INPUT, "%s: %s", r->path, text);
    else
        r->code = err_set(r->err, ERR_INPUT, "%s:%u: %s", r->path, line, text);
    return false;
}

const char *reader_shown(char out[96], const struct tree *value)
{
    char text[64];

    switch (value->kind) {
    case TREE_NULL:
        (void)snprintf(out, 96, "null");
        break;
    case TREE_BOOL:
        (void)snprintf(out, 96, value->truth ? "true" : "false");
        break;
    case TREE_NUMBER:
        (void)text_shown(out, 64, value->text, strlen(value->text));
        break;
    case TREE_STRING:
        (void)text_shown(text, sizeof(text), value->text, strlen(value->text));
        (void)snprintf(out, 96, "\"%s\"", text);
        break;
    case TREE_LIST:
        (void)snprintf(out, 96, "a list of %u", value->count);
        break;
    case TREE_MAP:
        (void)snprintf(out, 96, "a map of %u", value->count);
        break;
    }
    return out;
}

bool reader_wrong(struct reader *r, const struct tree *value, const char *expected)
{
    char shown[96], key[64];

    (void)reader_shown(shown, value);
    if (!value->key)
        return reader_say(r, value->line, "found %s, expected %s", shown, expected);
    (void)text_shown(key, sizeof(key), value->key, strlen(value->key));
    return reader_say(r, value->line, "found \"%s\": %s, expected %s", key, shown, expected);
}

bool reader_absent(struct reader *r, const struct tree *map, const char *key, const char *expected)
{
    return reader_say(r, map->line, "found no \"%s\", expected %s", key, expected);
}

static bool is_in(const char *const *keys, const char *key)
{
    for (; keys && *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

bool reader_keys(struct reader *r, const struct tree *map, const char *const *keys,
                 const char *const *more)
{
    char key[64], known[200] = "";
    size_t used = 0;

    if (!r->strict)
        return !r->code;
    for (const struct tree *t = map->child; t; t = t->next) {
        if (is_in(keys, t->key) || is_in(more, t->key))
            continue;
        for (unsigned pass = 0; pass < 2; pass++)
            for (const char *const *k = pass ? more : keys; k && *k; k++) {
                int more_bytes = snprintf(known + used, sizeof(known) - used, " %s", *k);

                used += more_bytes > 0 ? (size_t)more_bytes : 0;
                used = used < sizeof(known) ? used : sizeof(known) - 1;
            }
        (void)text_shown(key, sizeof(key), t->key, strlen(t->key));
        return reader_say(r, t->line, "found the unknown key \"%s\", expected one of%s", key,
                          known);
    }
    return !r->code;
}

const struct tree *reader_get(const struct tree *map, const char *key)
{
    const struct tree *t = tree_find(map, key);

    return t && t->kind != TREE_NULL ? t : NULL;
}

bool reader_is(struct reader *r, const struct tree *value, enum tree_kind kind,
               const char *expected)
{
    if (value->kind != kind)
        return reader_wrong(r, value, expected);
    return !r->code;
}

const struct tree *reader_list(struct reader *r, const struct tree *map, const char *key)
{
    const struct tree *t = reader_get(map, key);

    return t && reader_is(r, t, TREE_LIST, "a list") ? t : NULL;
}

const struct tree *reader_map(struct reader *r, const struct tree *map, const char *key)
{
    const struct tree *t = reader_get(map, key);

    return t && reader_is(r, t, TREE_MAP, "a map") ? t : NULL;
}

/* A number times 10^decimals as people write it. */
static const char *decimal_text(char out[32], int64_t value, unsigned decimals)
{
    uint64_t unit = 1, size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    const char *sign = value < 0 ? "-" : "";

    for (unsigned d = 0; d < decimals; d++)
        unit *= 10;
    if (size % unit == 0)
        (void)snprintf(out, 32, "%s%llu", sign, (unsigned long long)(size / unit));
    else
        (void)snprintf(out, 32, "%s%llu.%0*llu", sign, (unsigned long long)(size / unit),
                       (int)decimals, (unsigned long long)(size % unit));
    return out;
}

bool reader_number(struct reader *r, const struct tree *value, unsigned decimals, struct span s,
                   int64_t *ret_number)
{
    char low[32], high[32], expected[120];
    int64_t number;

    if (tree_decimal(value, decimals, &number) && number >= s.min && number <= s.max) {
        *ret_number = number;
        return !r->code;
    }
    (void)decimal_text(low, s.min, decimals);
    (void)decimal_text(high, s.max, decimals);
    if (decimals == 0)
        (void)snprintf(expected, sizeof(expected), "a whole number from %s to %s", low, high);
    else
        (void)snprintf(expected, sizeof(expected),
                       "a number from %s to %s with at most %u decimals", low, high, decimals);
    return reader_wrong(r, value, expected);
}

int64_t reader_decimal(struct reader *r, const struct tree *map, const char *key, unsigned decimals,
                       struct span s)
{
    const struct tree *t = reader_get(map, key);
    int64_t number = s.min;

    if (t) {
        (void)reader_number(r, t, decimals, s, &number);
        return number;
    }
    if (s.missing != READ_REQUIRED)
        return s.missing;
    (void)reader_absent(r, map, key, "it as a number");
    return s.min;
}

int64_t reader_int(struct reader *r, const struct tree *map, const char *key, struct span s)
{
    return reader_decimal(r, map, key, 0, s);
}

int64_t reader_time(struct reader *r, const struct tree *map, const char *key, struct span s)
{
    const struct tree *t = reader_get(map, key);
    struct span micro = {s.min < 0 ? s.min / 1000 : (s.min + 999) / 1000, s.max / 1000, s.missing};
    int64_t number = 0;

    if (t)
        return reader_number(r, t, 6, micro, &number) ? number * 1000 : s.min;
    if (s.missing != READ_REQUIRED)
        return s.missing;
    (void)reader_absent(r, map, key, "it as a number of seconds");
    return s.min;
}

bool reader_bool(struct reader *r, const struct tree *map, const char *key, bool missing)
{
    const struct tree *t = reader_get(map, key);

    if (!t)
        return missing;
    (void)reader_is(r, t, TREE_BOOL, "true or false");
    return t->truth;
}

int64_t reader_choice(struct reader *r, const struct tree *map, const char *key,
                      const char *const *words, int64_t missing)
{
    const struct tree *t = reader_get(map, key);
    char expected[160] = "one of";
    size_t used = strlen(expected);

    if (!t && missing != READ_REQUIRED)
        return missing;
    for (int64_t i = 0; words[i]; i++) {
        if (t && t->kind == TREE_STRING && strcmp(t->text, words[i]) == 0)
            return i;
        int more = snprintf(expected + used, sizeof(expected) - used, " %s", words[i]);
        used += more > 0 && (size_t)more < sizeof(expected) - used ? (size_t)more : 0;
    }
    if (t)
        (void)reader_wrong(r, t, expected);
    else
        (void)reader_absent(r, map, key, expected);
    return 0;
}

bool reader_name_fine(struct reader *r, const struct tree *value)
{
    if (value->kind == TREE_NUMBER || value->kind == TREE_BOOL)
        return reader_wrong(r, value, "a name (in quotes, so that it is text)");
    if (value->kind != TREE_STRING)
        return reader_wrong(r, value, "a name");
    if (value->text[0] == '\0')
        return reader_wrong(r, value, "a name that is not empty");
    if (strlen(value->text) > NAME_BYTES_MAX)
        return reader_wrong(r, value, "a name of at most 1024 bytes");
    for (const char *c = value->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return reader_wrong(r, value, "a name without control characters");
    return !r->code;
}

const char *reader_name(struct reader *r, const struct tree *map, const char *key, bool required)
{
    const struct tree *t = reader_get(map, key);

    if (t)
        return reader_name_fine(r, t) ? t->text : NULL;
    if (required)
        (void)reader_absent(r, map, key, "it as a name");
    return NULL;
}

struct world_where reader_where(struct reader *r, const struct tree *level)
{
    static const struct {
        const char *name;
        enum world_scope scope;
    } fixed[] = {
        {"island", SCOPE_ISLAND}, {"numa", SCOPE_NUMA},       {"pcie", SCOPE_PCIE},
        {"node", SCOPE_NODE},     {"cluster", SCOPE_CLUSTER},
    };
    char expected[220] = "one of the levels island numa pcie node";
    struct world_where where = {SCOPE_NONE, 0};

    if (!reader_name_fine(r, level))
        return where;
    for (size_t f = 0; f < sizeof(fixed) / sizeof(fixed[0]); f++)
        if (strcmp(level->text, fixed[f].name) == 0)
            return (struct world_where){(uint8_t)fixed[f].scope, 0};
    for (uint32_t l = 0; l < r->w->level_count; l++) {
        size_t used = strlen(expected);

        if (strcmp(level->text, r->w->level[l].name) == 0)
            return (struct world_where){SCOPE_LEVEL, (uint8_t)l};
        (void)snprintf(expected + used, sizeof(expected) - used, " %s", r->w->level[l].name);
    }
    (void)snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), " cluster");
    (void)reader_wrong(r, level, expected);
    return where;
}

static void where_add(struct reader *r, const struct tree *level,
                      struct world_where where[WORLD_LEVELS_MAX], uint8_t *count)
{
    struct world_where one = reader_where(r, level);

    for (uint8_t i = 0; i < *count; i++)
        if (where[i].scope == one.scope && where[i].level == one.level)
            return;
    if (*count == WORLD_LEVELS_MAX)
        (void)reader_wrong(r, level, "at most 12 levels");
    else
        where[(*count)++] = one;
}

uint8_t reader_wheres(struct reader *r, const struct tree *map, const char *key,
                      struct world_where where[WORLD_LEVELS_MAX])
{
    const struct tree *t = reader_get(map, key);
    uint8_t count = 0;

    if (!t)
        return 0;
    if (t->kind != TREE_LIST) {
        where_add(r, t, where, &count);
        return count;
    }
    for (const struct tree *level = t->child; level && !r->code; level = level->next)
        where_add(r, level, where, &count);
    return count;
}
