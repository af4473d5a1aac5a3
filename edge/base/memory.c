#include "edge/base/memory.h"

#include "edge/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *memory_grow(void *old, size_t bytes)
{
    void *block = realloc(old, bytes ? bytes : 1);

    if (!block) {
        (void)fprintf(stderr, "out of memory: %zu more bytes were refused\n", bytes);
        exit(ERR_TROUBLE);
    }
    return block;
}

void *memory_zeroed(size_t bytes)
{
    void *block = memory_grow(NULL, bytes);

    memset(block, 0, bytes);
    return block;
}
