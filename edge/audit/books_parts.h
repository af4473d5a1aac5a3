/* books_parts.h - what the files of the books share; private to books*.c */
#ifndef EDGE_AUDIT_BOOKS_PARTS_H
#define EDGE_AUDIT_BOOKS_PARTS_H

#include "edge/audit/books.h"

/* Adds to the batch that the core will be given. */
void books_event(struct books *b, const struct event *e);

/* Tells the core of all classes of pods, and says which node class each host is of. */
void books_classes(struct books *b, uint8_t *ret_node_class);

#endif
