/* Slurm's topology.conf (trees and blocks) and gres.conf (devices of nodes). Lines of Key=Value,
 * keys in any case, # starts a comment, a backslash at the end joins lines. */
#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 64u

struct pair {
    const char *key, *value;
    size_t key_length, value_length;
};

/* One logical line, joined and without its comment. */
struct joined {
    struct out text;
    uint32_t next; /* line of the page */
    uint32_t number;
};

static bool next_line(const struct page *p, struct joined *j)
{
    bool more = true;

    if (j->next == p->count)
        return false;
    out_clear(&j->text);
    out_add(&j->text, "");
    j->number = p->first_line + j->next;
    while (more && j->next < p->count) {
        const struct page_line *line = &p->line[j->next++];
        size_t length = strcspn(line->text, "#");

        while (length && (line->text[length - 1] == ' ' || line->text[length - 1] == '\t'))
            length--;
        more = length && line->text[length - 1] == '\\';
        out_bytes(&j->text, line->text, more ? length - 1 : length);
    }
    return true;
}

/* The pairs of a line; words without = are remarked. */
static unsigned take_pairs(struct topo *t, const struct joined *j, struct pair *pair)
{
    const char *at = j->text.bytes;
    unsigned count = 0;

    for (;;) {
        at += strspn(at, " \t");
        size_t length = strcspn(at, " \t");
        const char *equal = memchr(at, '=', length);

        if (length == 0)
            return count;
        if (!equal || equal == at || count == PAIRS_MAX) {
            topo_remark(t, j->number, "not like Key=Value: %s", SHOWN_N(at, length));
        } else {
            pair[count++] = (struct pair){.key = at,
                                          .key_length = (size_t)(equal - at),
                                          .value = equal + 1,
                                          .value_length = length - (size_t)(equal - at) - 1};
        }
        at += length;
    }
}

static const struct pair *pair_find(const struct pair *pair, unsigned count, const char *key)
{
    for (unsigned i = 0; i < count; i++)
        if (topo_text_equal(pair[i].key, pair[i].key_length, key))
            return &pair[i];
    return NULL;
}

/* ---- topology.conf */

static void add_sizes(struct grow *b, const struct pair *sizes, uint32_t line)
{
    const char *at = sizes->value, *end = sizes->value + sizes->value_length;

    b->f->size = topo_take(b->t, (sizes->value_length / 2 + 1) * sizeof(*b->f->size));
    b->f->size_count = 0;
    while (at < end) {
        size_t length = 0;

        while (at + length < end && at[length] != ',')
            length++;
        if (!topo_number(at, length, 1000000000, &b->f->size[b->f->size_count])) {
            topo_remark(b->t, line, "a block size that is no number: %s", SHOWN_N(at, length));
            return;
        }
        b->f->size_count++;
        at += length + 1;
    }
}

int topo_read_slurm(struct topo *t, const struct page *p, struct err *err)
{
    struct grow g;
    struct joined j = {0};
    struct pair pair[PAIRS_MAX];
    int code;

    grow_open(&g, t, topo_fabric_add(t, TOPO_FABRIC_TREE, NULL, p->first_line), err);
    while (!g.code && next_line(p, &j)) {
        unsigned count = take_pairs(t, &j, pair);
        const struct pair *name = pair_find(pair, count, "SwitchName");
        const struct pair *block = pair_find(pair, count, "BlockName");
        const struct pair *sizes = pair_find(pair, count, "BlockSizes");
        const struct pair *children = pair_find(pair, count, "Switches");
        const struct pair *nodes = pair_find(pair, count, "Nodes");

        if (sizes)
            add_sizes(&g, sizes, j.number);
        if (block)
            g.f->kind = TOPO_FABRIC_BLOCK;
        if (!name)
            name = block;
        if (name)
            grow_domain(&g, name->value, name->value_length, j.number);
        else if (count && !sizes)
            topo_remark(t, j.number, "a line without a switch or a block is ignored");
        if (name && children)
            grow_children(&g, children->value, children->value_length);
        if (name && nodes)
            grow_hosts(&g, nodes->value, nodes->value_length);
    }
    if (!g.code && g.f->domain_count == 0)
        g.code =
            topo_bad(err, t, 0, "found no SwitchName= or BlockName=, expected a topology.conf");
    code = grow_close(&g);
    out_free(&j.text);
    return code;
}

/* ---- gres.conf */

struct gres {
    struct topo *t;
    struct err *err;
    const char *autodetect; /* of all nodes */
    struct topo_names hosts;
    uint32_t line, any; /* any: the host that stands for all nodes, or UINT32_MAX */
    int code;
    /* what the line says */
    const struct pair *pair;
    unsigned count;
    uint32_t host;
};

static const char *text_of(struct gres *g, const char *key)
{
    const struct pair *p = pair_find(g->pair, g->count, key);

    return p ? topo_keep(g->t, p->value, p->value_length) : NULL;
}

static bool add_file(void *data, const char *name, size_t length)
{
    struct gres *g = data;
    struct topo_host *h = &g->t->host[g->host];
    const char *cores = text_of(g, "Cores");
    size_t digits = 0;
    int64_t index;

    if (g->t->spelled++ >= SPELLED_MAX)
        return false;
    for (uint32_t d = 0; d < h->device_count; d++)
        if (strcmp(h->device[d].name, name) == 0) {
            topo_remark(g->t, g->line, "%s is given a second time to one node", SHOWN(name));
            return true;
        }
    struct topo_device *d = topo_device_add(g->t, h, TOPO_DEVICE_GPU, g->line);
    if (!d)
        return false;
    while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
        digits++;
    if (topo_number(name + length - digits, digits, 4095, &index))
        d->index = (int32_t)index;
    d->name = topo_keep(g->t, name, length);
    d->model = text_of(g, "Type");
    d->links = text_of(g, "Links");
    if (cores && topo_is_ranges(cores, 65535))
        d->cpus = cores;
    else if (cores)
        topo_remark(g->t, g->line, "Cores= is no list of cores: %s", SHOWN(cores));
    return true;
}

/* The numbers of Links=, as many as the host has devices, with -1 at its own place; false: not so.
 */
static bool links_of(const struct topo_device *d, uint32_t self, uint32_t count,
                     uint32_t *ret_links)
{
    const char *at = d->links;

    for (uint32_t i = 0; i < count; i++) {
        size_t length = strcspn(at, ",");
        int64_t links = 0;

        if (i == self ? length != 2 || strncmp(at, "-1", 2) != 0
                      : !topo_number(at, length, 999, &links))
            return false;
        ret_links[i] = (uint32_t)links;
        at += length;
        if (*at == ',' && i + 1 < count)
            at++;
    }
    return *at == '\0';
}

/* Links= of all devices of a host as its matrix. */
static void read_links(struct topo *t, struct topo_host *h)
{
    uint32_t links[TOPO_DEVICES_MAX] = {0}, given = 0;
    bool valid[TOPO_DEVICES_MAX] = {0}, xgmi = h->autodetect && strcmp(h->autodetect, "rsmi") == 0;

    for (uint32_t d = 0; d < h->device_count; d++)
        given += h->device[d].links != NULL;
    if (given == 0)
        return;
    topo_links_make(t, h);
    if (!h->link)
        return;
    h->links_known = given == h->device_count;
    for (uint32_t d = 0; d < h->device_count; d++) {
        if (!h->device[d].links)
            continue;
        if (!links_of(&h->device[d], d, h->device_count, links)) {
            topo_remark(t, h->device[d].line,
                        "Links= of %s are not one number for each of %u "
                        "devices, -1 for itself: they are ignored",
                        SHOWN(h->device[d].name), h->device_count);
            h->links_known = false;
            continue;
        }
        valid[d] = true;
        for (uint32_t e = 0; e < h->device_count; e++) {
            if (e == d || (valid[e] && topo_link(h, d, e)->links == links[e]))
                continue;
            if (valid[e])
                topo_remark(t, h->device[d].line,
                            "Links= of %s and %s contradict each other: the first is kept",
                            SHOWN(h->device[d].name), SHOWN(h->device[e].name));
            else if (links[e])
                topo_link_set(h, d, e,
                              (struct topo_link){.path = xgmi ? TOPO_PATH_XGMI : TOPO_PATH_NVLINK,
                                                 .links = links[e]});
        }
    }
    topo_islands_find(t, h);
}

/* A resource of the host by its name and count: mps, or a gpu without files. */
static void add_resource(struct gres *g, struct topo_host *h, const char *name, const char *count)
{
    int64_t value = 1;
    size_t digits = count ? strspn(count, "0123456789") : 0;

    if (count && !topo_number(count, digits, 1000000000, &value)) {
        topo_remark(g->t, g->line, "Count= is no number: %s", SHOWN(count));
        return;
    }
    for (uint32_t r = 0; r < h->resource_count; r++)
        if (strcmp(h->resource[r].name, name) == 0) {
            h->resource[r].count += value;
            return;
        }
    if (h->resource_count == 16) {
        topo_remark(g->t, g->line, "more than 16 kinds of resources: %s is left out", SHOWN(name));
        return;
    }
    if (!h->resource)
        h->resource = topo_take(g->t, 16 * sizeof(*h->resource));
    h->resource[h->resource_count++] = (struct topo_count){.name = name, .count = value};
}

/* The line for one node; name NULL: for all that have no line of their own. */
static bool add_node(void *data, const char *name, size_t length)
{
    struct gres *g = data;
    const char *autodetect = text_of(g, "AutoDetect"), *what = text_of(g, "Name");
    const struct pair *files = pair_find(g->pair, g->count, "File");
    const char *why = NULL;
    bool is_new = g->any == UINT32_MAX;

    if (g->t->spelled++ >= SPELLED_MAX)
        return false;

    if (name)
        g->host = topo_names_put(&g->hosts, topo_keep(g->t, name, length),
                                 (uint32_t)g->t->host_count, &is_new);
    else
        g->host = is_new ? (uint32_t)g->t->host_count : g->any;
    if (is_new) {
        if (g->t->host_count == TOPO_HOSTS_MAX)
            return false;
        (void)topo_host_add(g->t, name, g->line);
        if (!name)
            g->any = g->host;
    }

    struct topo_host *h = &g->t->host[g->host];
    if (autodetect)
        h->autodetect = autodetect;
    if (!what)
        return true;
    if (strcmp(what, "gpu") != 0 || !files) {
        add_resource(g, h, what, text_of(g, "Count"));
        return true;
    }
    if (hostlist_each(files->value, files->value_length, add_file, g, &why))
        return true;
    g->code = topo_bad(g->err, g->t, g->line,
                       "found %s in File=, expected devices like "
                       "/dev/nvidia[0-3]",
                       why);
    return false;
}

static void read_gres_line(struct gres *g)
{
    const struct pair *nodes = pair_find(g->pair, g->count, "NodeName");
    const char *why = NULL;

    if (!nodes) {
        if (g->count == 1 && pair_find(g->pair, g->count, "AutoDetect"))
            g->autodetect = text_of(g, "AutoDetect");
        else
            (void)add_node(g, NULL, 0);
        return;
    }
    if (!hostlist_each(nodes->value, nodes->value_length, add_node, g, &why) && !g->code)
        g->code = topo_bad(g->err, g->t, g->line,
                           "found %s in NodeName=, expected names like "
                           "node[1-3,7]",
                           why);
}

int topo_read_gres(struct topo *t, const struct page *p, struct err *err)
{
    struct gres g = {.t = t, .err = err, .any = UINT32_MAX};
    struct joined j = {0};
    struct pair pair[PAIRS_MAX];

    g.pair = pair;
    while (!g.code && next_line(p, &j)) {
        g.count = take_pairs(t, &j, pair);
        g.line = j.number;
        if (g.count)
            read_gres_line(&g);
    }
    /* What all nodes look at by themselves is said once; a node's own word beats it. */
    if (!g.code && g.autodetect && g.any == UINT32_MAX) {
        g.any = (uint32_t)t->host_count;
        (void)topo_host_add(t, NULL, p->first_line);
    }
    for (size_t h = 0; h < t->host_count && !g.code; h++) {
        if (g.autodetect && !t->host[h].autodetect)
            t->host[h].autodetect = g.autodetect;
        topo_host_sort(t, &t->host[h], NULL);
        read_links(t, &t->host[h]);
    }
    if (!g.code && t->host_count == 0)
        g.code = topo_bad(err, t, 0, "found no resources, expected a gres.conf");
    topo_names_free(&g.hosts);
    out_free(&j.text);
    return g.code;
}
