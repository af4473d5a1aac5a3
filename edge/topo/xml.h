/* xml.h - a small tree of an XML text, for descriptions of machines; private to edge/topo
 *
 * Names, attributes, children and the text of each element; comments and processing instructions
 * are left out. A document type is skipped and never loaded.
 *
 * Owner   Everything lives in the arena of the topo.
 * Errors  `FILE:LINE: found X, expected Y`: broken or cut XML, declarations of its own, an element
 *         deeper than 256, more than a million elements.
 */
#ifndef EDGE_TOPO_XML_H
#define EDGE_TOPO_XML_H

#include "edge/topo/topo_parts.h"

struct xml {
    const char *name;
    const char **attribute; /* name, value, name, value, ..., NULL */
    struct xml *child, *last, *next, *parent;
    const char *text; /* without the children's; NULL: none */
    uint32_t line, depth;
};

int xml_open(struct topo *t, const struct page *p, struct xml **ret_root, struct err *err);

const char *xml_find(const struct xml *x, const char *attribute); /* NULL: none */
/* The element after x in the order of the text, within root; NULL: none. */
const struct xml *xml_after(const struct xml *root, const struct xml *x);
bool xml_is(const struct xml *x, const char *name);
/* A whole decimal attribute; false: none or no such number. */
bool xml_number(const struct xml *x, const char *attribute, int64_t limit, int64_t *ret_value);

int topo_read_nccl(struct topo *t, const struct xml *root, struct err *err);
int topo_read_nccl_graph(struct topo *t, const struct xml *root, struct err *err);
int topo_read_hwloc(struct topo *t, const struct xml *root, struct err *err);

#endif
