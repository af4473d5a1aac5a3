/* Small questions about numbers, and names as numbers. */
#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <stdlib.h>
#include <string.h>

bool topo_number(const char *text, size_t length, int64_t limit, int64_t *ret_value)
{
    int64_t value = 0;

    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *ret_value = value;
    return value <= limit;
}

bool topo_is_ranges(const char *text, int64_t limit)
{
    int64_t low, high;

    for (;;) {
        size_t digits = strspn(text, "0123456789");

        if (!topo_number(text, digits, limit, &low))
            return false;
        text += digits;
        if (*text == '-') {
            digits = strspn(++text, "0123456789");
            if (!topo_number(text, digits, limit, &high) || high < low)
                return false;
            text += digits;
        }
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
}

#define MASK_WORDS_MAX 2048u

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The words of a mask, lowest first; 0: not a mask. */
static uint32_t mask_words(const char *mask, uint32_t *word)
{
    const char *end = mask + strlen(mask);
    uint32_t count = 0;

    while (end > mask && count < MASK_WORDS_MAX) {
        const char *from = end;

        while (from > mask && from[-1] != ',')
            from--;
        const char *at = from + (end - from > 2 && from[0] == '0' && (from[1] | 32) == 'x' ? 2 : 0);
        if (end - at > 8)
            return 0;
        word[count] = 0;
        for (; at < end; at++) {
            if (hex(*at) < 0)
                return 0;
            word[count] = word[count] << 4 | (uint32_t)hex(*at);
        }
        count++;
        if (from == mask)
            return count;
        end = from - 1;
    }
    return 0;
}

const char *topo_mask_ranges(struct topo *t, const char *mask)
{
    uint32_t word[MASK_WORDS_MAX], count = mask_words(mask, word);
    struct out ranges = {0};
    const char *kept;

    if (count == 0)
        return NULL;
    out_add(&ranges, "");
    for (uint32_t bit = 0; bit < count * 32; bit++) {
        uint32_t from = bit;

        while (bit < count * 32 && (word[bit / 32] >> bit % 32 & 1u))
            bit++;
        if (bit == from)
            continue;
        if (ranges.length)
            out_char(&ranges, ',');
        out_integer(&ranges, from);
        if (bit - from > 1) {
            out_char(&ranges, '-');
            out_integer(&ranges, bit - 1);
        }
    }
    kept = topo_keep(t, ranges.bytes ? ranges.bytes : "", ranges.length);
    out_free(&ranges);
    return kept;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool topo_text_equal(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (lower(text[i]) != lower(word[i]))
            return false;
    return true;
}

static uint32_t hash(const char *key)
{
    uint32_t h = 2166136261u;

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 16777619u;
    return h ^ h >> 15;
}

/* Where the key is, or would be. */
static uint32_t slot(const struct topo_names *n, const char *key)
{
    uint32_t at = hash(key) & (n->size - 1);

    while (n->key[at] && strcmp(n->key[at], key) != 0)
        at = (at + 1) & (n->size - 1);
    return at;
}

static void grow(struct topo_names *n)
{
    struct topo_names old = *n;

    n->size = old.size ? old.size * 2 : 64;
    n->key = memory_zeroed(n->size * sizeof(*n->key));
    n->value = memory_zeroed(n->size * sizeof(*n->value));
    for (uint32_t i = 0; i < old.size; i++) {
        if (!old.key[i])
            continue;
        uint32_t at = slot(n, old.key[i]);

        n->key[at] = old.key[i];
        n->value[at] = old.value[i];
    }
    free(old.key);
    free(old.value);
}

uint32_t topo_names_put(struct topo_names *n, const char *key, uint32_t value, bool *ret_new)
{
    if (n->count * 2 >= n->size)
        grow(n);

    uint32_t at = slot(n, key);
    *ret_new = !n->key[at];
    if (*ret_new) {
        n->key[at] = key;
        n->value[at] = value;
        n->count++;
    }
    return n->value[at];
}

bool topo_names_find(const struct topo_names *n, const char *key, uint32_t *ret_value)
{
    uint32_t at;

    if (n->size == 0)
        return false;
    at = slot(n, key);
    if (n->key[at])
        *ret_value = n->value[at];
    return n->key[at] != NULL;
}

void topo_names_free(struct topo_names *n)
{
    free(n->key);
    free(n->value);
    *n = (struct topo_names){0};
}
