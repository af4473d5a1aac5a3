/* names.h - strings as numbers: equal strings, equal numbers
 *
 * A dump says the same label key ten thousand times. Every string is kept once; what is kept per
 * node and pod are numbers. Number 0 is the empty string.
 *
 * Owner   names_open() to names_close(); the text of a number stays where it is until then.
 * Order   Numbers count up in the order in which strings are first seen.
 */
#ifndef EDGE_AUDIT_NAMES_H
#define EDGE_AUDIT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct names {
    const char **text; /* by number */
    uint32_t count;
    size_t limit;
    uint32_t *slot; /* number + 1; 0: none */
    uint32_t slots; /* a power of two */
    char *block;
    size_t block_used, block_size;
    char **blocks;
    size_t block_count, block_limit;
};

void names_open(struct names *n);
void names_close(struct names *n);

uint32_t names_put(struct names *n, const char *text); /* NULL: the empty string */
/* The number of a string that was seen, or UINT32_MAX. */
uint32_t names_find(const struct names *n, const char *text);

#endif
