/* matrix.h - a matrix of link names while it is read; private to matrix*.c
 *
 * matrix.c takes lines apart, matrix_finish.c makes a host of what they said.
 */
#ifndef EDGE_TOPO_MATRIX_H
#define EDGE_TOPO_MATRIX_H

#include "edge/topo/topo_parts.h"

enum column { COLUMN_CPU, COLUMN_NUMA, COLUMN_MEMORY, COLUMN_COUNT };

struct cut_text {
    const char *text;
    size_t length;
};

struct matrix {
    struct topo *t;
    struct topo_host *h;
    uint32_t count;
    struct topo_link *raw; /* as written, row by row */
    bool *row_seen;
    enum column column[COLUMN_COUNT];
    unsigned columns;
    bool has[COLUMN_COUNT];
    uint32_t last_line; /* of the text, blank ones aside */
    bool p2p, legend, legend_links, any_link;
    struct cut_text *field; /* of one line */
    uint32_t field_limit;
};

/* Both halves as one, the kind of table, parts, remarks. */
void matrix_finish(struct matrix *m);
/* Abilities of the devices of the matrix in front belong to that host. */
void matrix_join_abilities(struct topo *t);
/* What the whole file is: what most is told by. */
void matrix_name_kind(struct topo *t);

#endif
