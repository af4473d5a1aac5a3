/* text_parts.h - parts of topo_text(); private to text*.c */
#ifndef EDGE_TOPO_TEXT_PARTS_H
#define EDGE_TOPO_TEXT_PARTS_H

#include "edge/topo/topo_parts.h"

/* Is this accelerator like that one, in whatever a statement is about? */
typedef bool pick_fn(const struct topo_host *h, uint32_t device, uint32_t like);

/* {0-3,5}: the accelerators like one of them, by their place. */
void topo_text_set(struct out *out, const struct topo_host *h, uint32_t like, pick_fn *pick);
/* True if no earlier accelerator is like d. */
bool topo_text_first(const struct topo_host *h, uint32_t d, pick_fn *pick);
bool topo_text_same(const char *a, const char *b); /* NULL equals NULL */
void topo_text_many(struct out *out, int64_t count, const char *word);

/* Links, paths, islands, abilities. */
void topo_text_between(struct out *out, const struct topo *t, const struct topo_host *h);
void topo_text_bridges(const struct topo_host *h, struct out *out);

#endif
