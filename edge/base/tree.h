/* tree.h - JSON and YAML as one small tree
 *
 * Both formats become the same nodes, so that a cluster reads alike from a JSON line, a scenario
 * or a Kubernetes manifest. Numbers stay text until somebody asks for one in a unit: nothing is
 * rounded on the way in. Duplicate keys, a nesting deeper than 64, invalid UTF-8 and aliases
 * beyond a budget of 10,000 nodes are errors of the reader.
 *
 * Owner   Nodes and strings live in one arena of struct tree_memory; all are freed together.
 * Order   Members keep the order of the text.
 */
#ifndef EDGE_BASE_TREE_H
#define EDGE_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/base/err.h"

enum tree_kind { TREE_NULL, TREE_BOOL, TREE_NUMBER, TREE_STRING, TREE_LIST, TREE_MAP };

struct tree {
    enum tree_kind kind;
    uint32_t line;    /* 1-based */
    bool truth;       /* TREE_BOOL */
    const char *text; /* TREE_STRING, TREE_NUMBER: NUL-terminated; no NUL inside */
    const char *key;  /* inside a map */
    uint32_t count;   /* of children */
    struct tree *child, *next;
};

struct tree_memory; /* an arena */
struct tree_memory *tree_memory_open(void);
void tree_memory_reset(struct tree_memory *m); /* keeps the blocks for the next text */
void tree_memory_close(struct tree_memory *m);

/* One JSON value or one YAML document. name and first_line speak in errors only. */
int tree_from_json(struct tree_memory *m, const char *name, uint32_t first_line, const char *text,
                   size_t length, struct tree **ret_tree, struct err *err);
int tree_from_yaml(struct tree_memory *m, const char *name, const char *text, size_t length,
                   struct tree **ret_tree, struct err *err);

const struct tree *tree_find(const struct tree *map, const char *key); /* NULL: none */

/* A decimal number with at most `decimals` decimals, times 10^decimals, exactly. False: not one,
 * out of the range of int64, or more decimals. JSON exponents are accepted where exact. */
bool tree_decimal(const struct tree *number, unsigned decimals, int64_t *ret_value);

#endif
