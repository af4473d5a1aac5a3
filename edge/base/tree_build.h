/* tree_build.h - how a reader of JSON or YAML grows a tree; private to tree*.c
 *
 * The readers report what they see in order; the builder hangs it together and keeps the promises
 * that both formats share: the depth, the number of values, unique keys, no NUL, UTF-8.
 *
 * Owner   Everything lives in the arena m. The builder stands on the reader's stack.
 * Errors  The first one fills err and sets code; every later call then answers false.
 */
#ifndef EDGE_BASE_TREE_BUILD_H
#define EDGE_BASE_TREE_BUILD_H

#include "edge/base/tree.h"

#define TREE_DEPTH_MAX 64u
#define TREE_NODES_MAX (2u << 20)

struct tree_build {
    struct tree_memory *m;
    const char *name;
    struct err *err;
    int code;
    uint32_t depth, nodes;
    struct tree *open[TREE_DEPTH_MAX];
    struct tree **tail[TREE_DEPTH_MAX];
    const char *key; /* of the next value, inside a map */
    struct tree *root;
};

void *tree_memory_take(struct tree_memory *m, size_t bytes);
char *tree_memory_text(struct tree_memory *m, const char *text, size_t length);

/* Says `NAME:LINE: found X, expected Y` once; always false. */
bool tree_build_bad(struct tree_build *b, uint32_t line, const char *found, const char *expected);

/* A value in its place; NULL after an error. text may be NULL for kinds without one. */
struct tree *tree_build_add(struct tree_build *b, enum tree_kind kind, uint32_t line,
                            const char *text, size_t length);
bool tree_build_key(struct tree_build *b, uint32_t line, const char *text, size_t length);
/* A list or a map, until it is closed; what follows goes into it. */
bool tree_build_open(struct tree_build *b, enum tree_kind kind, uint32_t line);
bool tree_build_close(struct tree_build *b);

#endif
