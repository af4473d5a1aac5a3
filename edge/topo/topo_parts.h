/* topo_parts.h - what the readers of edge/topo share; private to this folder
 *
 * A page is the whole file as lines, without escape codes of terminals. Readers take a page and
 * fill the topo; they run once the detector has chosen them.
 *
 * Owner   The page lives in the arena of the topo. Texts that are kept go through topo_keep().
 * Errors  topo_bad() says `FILE:LINE: found X, expected Y` and returns ERR_INPUT; outside bytes in
 *         X go through topo_shown() first.
 */
#ifndef EDGE_TOPO_TOPO_PARTS_H
#define EDGE_TOPO_TOPO_PARTS_H

#include "edge/base/err.h"
#include "edge/topo/topo.h"

struct tree;

struct topo_label {
    const char *key, *value;
    uint32_t line;
};

struct page_line {
    const char *text; /* NUL-terminated, no NUL inside */
    size_t length;
};

struct page {
    const char *file;
    uint32_t first_line; /* of line[0] in the file */
    struct page_line *line;
    uint32_t count;
    const char *text; /* all lines, each with a line feed */
    size_t length;
    bool coloured;
};

/* ---- memory and words */
void *topo_take(struct topo *t, size_t bytes); /* zeroed */
const char *topo_keep(struct topo *t, const char *text, size_t length);
const char *topo_keep_string(struct topo *t, const char *string);
/* An empty text is NULL. */
const char *topo_keep_some(struct topo *t, const char *string);
void topo_remark(struct topo *t, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct shown {
    char text[64];
};
/* A form of outside text that is safe in a message: topo_shown(&(struct shown){0}, ...). */
const char *topo_shown(struct shown *s, const char *text, size_t length);
#define SHOWN(string)          topo_shown(&(struct shown){{0}}, (string), strlen(string))
#define SHOWN_N(text_, length) topo_shown(&(struct shown){{0}}, (text_), (length))

int topo_bad(struct err *err, const struct topo *t, uint32_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- rows */
struct topo_host *topo_host_add(struct topo *t, const char *name, uint32_t line);
/* NULL: the host or the file has too many, which is remarked. */
struct topo_device *topo_device_add(struct topo *t, struct topo_host *h, enum topo_device_kind kind,
                                    uint32_t line);
/* Sorts the devices by kind and counts them. ret_where, if not NULL, gets the new number of each.
 */
void topo_host_sort(struct topo *t, struct topo_host *h, uint32_t *ret_where);
/* All pairs unknown; no matrix at all, and a remark, once the file has too many pairs. */
void topo_links_make(struct topo *t, struct topo_host *h);
void topo_link_set(struct topo_host *h, uint32_t a, uint32_t b, struct topo_link link);
/* Connected parts of the link matrix: bridges and roots while it holds paths over PCIe, islands
 * once it holds links, which stand in the place of those. */
void topo_bridges_find(struct topo *t, struct topo_host *h);
void topo_islands_find(struct topo *t, struct topo_host *h);

struct topo_fabric *topo_fabric_add(struct topo *t, enum topo_fabric_kind kind, const char *name,
                                    uint32_t line);
/* Both return false once the file has more than TOPO_NAMES_MAX names. */
bool topo_domain_add(struct topo *t, struct topo_fabric *f, const char *name, uint32_t line,
                     uint32_t *ret_domain);
bool topo_place_add(struct topo *t, struct topo_fabric *f, const char *name, uint32_t domain,
                    uint32_t line);
/* Depths and counts of children from the parents; a cycle is cut with a remark. Hosts in two
 * domains are remarked. */
void topo_fabric_close(struct topo *t, struct topo_fabric *f);

struct topo_ask *topo_ask_add(struct topo *t, enum topo_ask_kind kind, const char *name,
                              uint32_t line);

/* A decimal number that takes the whole text; false: not one, or over limit. */
bool topo_number(const char *text, size_t length, int64_t limit, int64_t *ret_value);
/* "0-3,8": numbers and ranges only, none beyond limit, none backward. */
bool topo_is_ranges(const char *text, int64_t limit);
/* A mask of CPUs, words of hex digits with the highest first ("00ff,ffff0000", "0xf,,0x1"), as
 * ranges; NULL: not one. */
const char *topo_mask_ranges(struct topo *t, const char *mask);
bool topo_text_equal(const char *text, size_t length, const char *word); /* ASCII case is free */

/* ---- names to numbers, for fabrics of many names */
struct topo_names {
    const char **key;
    uint32_t *value;
    uint32_t size, count;
};
/* The value of the name, or adds it with `value` and answers that; *ret_new says which. */
uint32_t topo_names_put(struct topo_names *n, const char *key, uint32_t value, bool *ret_new);
bool topo_names_find(const struct topo_names *n, const char *key, uint32_t *ret_value);
void topo_names_free(struct topo_names *n);

/* "node[01-03,7]b[1-2],x": every name in order. False: broken, or each() said so; *ret_why says how
 * in words. */
#define SPELLED_MAX TOPO_NAMES_MAX /* of a file; a range may repeat what another said */
typedef bool hostlist_fn(void *data, const char *name, size_t length);
bool hostlist_each(const char *text, size_t length, hostlist_fn *each, void *data,
                   const char **ret_why);

/* ---- a fabric that names its switches in any order */
struct grow {
    struct topo *t;
    struct topo_fabric *f;
    struct err *err;
    struct topo_names names;
    uint32_t line, domain; /* what children and hosts go to */
    int code;              /* of the first error; all calls then do nothing */
};
void grow_open(struct grow *g, struct topo *t, struct topo_fabric *f, struct err *err);
void grow_domain(struct grow *g, const char *name, size_t length, uint32_t line);
void grow_children(struct grow *g, const char *list, size_t length);
void grow_hosts(struct grow *g, const char *list, size_t length);
/* Depths, counts and remarks; returns the code. */
int grow_close(struct grow *g);

/* ---- a text taken apart */
int topo_page_open(struct topo *t, const char *path, struct page *ret_page, struct err *err);
int topo_page_text(struct topo *t, const char *text, size_t length, struct page *ret_page,
                   struct err *err);

/* ---- parts of topo_text() */
void topo_text_fabrics(const struct topo *t, struct out *out);
void topo_text_asks(const struct topo *t, struct out *out);

/* ---- the readers */
int topo_read(struct topo *t, const struct page *p, struct err *err);
int topo_read_matrix(struct topo *t, const struct page *p, struct err *err);
int topo_read_rocm(struct topo *t, const struct page *p, struct err *err);
int topo_read_xml(struct topo *t, const struct page *p, struct err *err);
int topo_read_lstopo(struct topo *t, const struct page *p, struct err *err);
int topo_read_slurm(struct topo *t, const struct page *p, struct err *err);
int topo_read_gres(struct topo *t, const struct page *p, struct err *err);
int topo_read_ibnet(struct topo *t, const struct page *p, struct err *err);
int topo_read_labels(struct topo *t, const struct page *p, struct err *err);
int topo_read_trees(struct topo *t, const struct page *p, struct err *err);

/* Is this line the header of a matrix of devices? */
bool topo_matrix_header(const char *line);
/* Does this line belong into a list of labels, key=value? The value is behind the equals sign. */
bool topo_label_line(const char *line, struct topo_label *ret_label, struct topo *t);

/* Text inside an object, such as a file in a ConfigMap: read if it is one of the formats above,
 * else ignored. */
int topo_read_embedded(struct topo *t, const char *text, uint32_t first_line, struct err *err);

/* ---- of one YAML or JSON value each; *_close() once after the last */
const char *topo_tree_word(const struct tree *map, const char *key); /* text of a scalar, or NULL */
int64_t topo_tree_count(const struct tree *map, const char *key); /* whole and >= 0, or TOPO_NONE */
int topo_read_slurm_yaml(struct topo *t, const struct tree *root, struct err *err);
int topo_read_topograph(struct topo *t, const struct tree *root, struct err *err);
int topo_read_hived(struct topo *t, const struct tree *root, struct err *err);
int topo_read_kube(struct topo *t, const struct tree *object, struct err *err);
void topo_kube_close(struct topo *t);
/* Levels that the labels of a host name, by the presets of cloud providers and tools. */
void topo_labels_add(struct topo *t, const struct topo_host *host, const struct topo_label *label,
                     uint32_t count);
const char *topo_label_find(const struct topo_label *label, uint32_t count, const char *key);
/* What labels say of the GPUs themselves: count, product, memory, MIG. */
void topo_labels_gpus(struct topo *t, struct topo_host *h, const struct topo_label *label,
                      uint32_t count);

#endif
