#include "edge/audit/names.h"

#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)256 << 10)

static uint32_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32);
}

static const char *keep(struct names *n, const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *at;

    if (n->block_size - n->block_used < bytes) {
        n->block_size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        n->block_used = 0;
        n->block = memory_grow(NULL, n->block_size);
        n->blocks = out_grow(n->blocks, n->block_count, &n->block_limit, sizeof(*n->blocks));
        n->blocks[n->block_count++] = n->block;
    }
    at = n->block + n->block_used;
    memcpy(at, text, bytes);
    n->block_used += bytes;
    return at;
}

static uint32_t *slot_of(const struct names *n, const char *text)
{
    uint32_t at = hash_of(text) & (n->slots - 1);

    while (n->slot[at] && strcmp(n->text[n->slot[at] - 1], text) != 0)
        at = (at + 1) & (n->slots - 1);
    return &n->slot[at];
}

static void grow(struct names *n)
{
    free(n->slot);
    n->slots *= 2;
    n->slot = memory_zeroed(n->slots * sizeof(*n->slot));
    for (uint32_t i = 0; i < n->count; i++)
        *slot_of(n, n->text[i]) = i + 1;
}

void names_open(struct names *n)
{
    *n = (struct names){.slots = 1024};
    n->slot = memory_zeroed(n->slots * sizeof(*n->slot));
    (void)names_put(n, "");
}

void names_close(struct names *n)
{
    for (size_t i = 0; i < n->block_count; i++)
        free(n->blocks[i]);
    free(n->blocks);
    free(n->text);
    free(n->slot);
    *n = (struct names){.text = NULL};
}

uint32_t names_put(struct names *n, const char *text)
{
    uint32_t *slot;

    if (!text)
        return 0;
    slot = slot_of(n, text);
    if (*slot)
        return *slot - 1;
    if (n->count * 2 >= n->slots) {
        grow(n);
        slot = slot_of(n, text);
    }
    n->text = out_grow(n->text, n->count, &n->limit, sizeof(*n->text));
    n->text[n->count] = keep(n, text);
    *slot = ++n->count;
    return n->count - 1;
}

uint32_t names_find(const struct names *n, const char *text)
{
    uint32_t found = *slot_of(n, text);

    return found ? found - 1 : UINT32_MAX;
}
