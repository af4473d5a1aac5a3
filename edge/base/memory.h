/* memory.h - memory that is there or ends the program
 *
 * A reader that is out of memory has nothing sensible left to do, and a check at every call would
 * hide the checks that matter. The program says so on standard error and exits with ERR_TROUBLE.
 *
 * Owner   The caller: free() as usual.
 */
#ifndef EDGE_BASE_MEMORY_H
#define EDGE_BASE_MEMORY_H

#include <stddef.h>

/* realloc() that does not fail; old may be NULL. */
void *memory_grow(void *old, size_t bytes) __attribute__((returns_nonnull));
/* Zeroed. */
void *memory_zeroed(size_t bytes) __attribute__((returns_nonnull));

#endif
