/* Any bytes as JSON: a tree or an error with a line, never anything else. */
#include "edge/base/tree.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads all that a tree says of itself. */
static size_t walk(const struct tree *t)
{
    size_t sum = t->line + (t->key ? strlen(t->key) : 0) + (t->text ? strlen(t->text) : 0);
    uint32_t count = 0;
    int64_t value;

    if (t->kind == TREE_NUMBER && tree_decimal(t, 6, &value))
        sum += (size_t)(value & 1);
    for (const struct tree *c = t->child; c; c = c->next, count++)
        sum += walk(c);
    if (count != t->count)
        abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *t = NULL;
    struct err err = {""};
    int code = tree_from_json(m, "F", 1, (const char *)data, size, &t, &err);

    if (code == ERR_NONE ? walk(t) == 0 : strncmp(err.text, "F:", 2) != 0)
        abort();
    tree_memory_close(m);
    return 0;
}
