/* HiveD's configuration: types of cells, each so many of a smaller type, and the physical cells by
 * their addresses. A cell whose type has isNodeLevel is a host. */
#include "edge/base/tree.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

#define CHAIN_MAX 16u

struct chain {
    const char *type[CHAIN_MAX]; /* widest first; the last is the device */
    int64_t number[CHAIN_MAX];   /* of the next type in one of these */
    uint32_t count;
    uint32_t node; /* which is the host; CHAIN_MAX: none */
};

/* The types below `type`, itself first; false: a cycle, or too long. */
static bool find_chain(const struct tree *types, const char *type, struct chain *c)
{
    *c = (struct chain){.node = CHAIN_MAX};
    while (type && c->count < CHAIN_MAX) {
        const struct tree *entry = tree_find(types, type);
        const struct tree *is_node = tree_find(entry, "isNodeLevel");

        c->type[c->count] = type;
        c->number[c->count] = entry ? topo_tree_count(entry, "childCellNumber") : TOPO_NONE;
        if (is_node && is_node->kind == TREE_BOOL && is_node->truth)
            c->node = c->count;
        c->count++;
        type = entry ? topo_tree_word(entry, "childCellType") : NULL;
    }
    return type == NULL;
}

/* Devices in one host of the chain, or TOPO_NONE. */
static int64_t devices_of(const struct chain *c)
{
    int64_t devices = 1;

    for (uint32_t i = c->node; i + 1 < c->count; i++) {
        if (c->number[i] < 1 || devices * c->number[i] > 4096)
            return TOPO_NONE;
        devices *= c->number[i];
    }
    return devices;
}

static bool add_node(struct topo *t, struct topo_fabric *f, const struct chain *c,
                     const struct tree *cell, int32_t domain)
{
    const char *address = topo_tree_word(cell, "cellAddress");

    if (t->host_count == TOPO_HOSTS_MAX)
        return false;
    if (!address)
        topo_remark(t, cell->line, "a host without cellAddress has no name");

    struct topo_host *h = topo_host_add(t, address, cell->line);
    h->gpus_stated = devices_of(c);
    h->model = topo_keep_string(t, c->type[c->count - 1]);
    return domain == TOPO_NONE ||
           topo_place_add(t, f, address ? address : "?", (uint32_t)domain, cell->line);
}

/* One physical cell and those inside it, down to the hosts. The walk is as deep as the chain. */
static bool add_cell(struct topo *t, struct topo_fabric *f, const struct chain *c, uint32_t depth,
                     const struct tree *cell, int32_t parent)
{
    const struct tree *children = tree_find(cell, "cellChildren");
    uint32_t domain;

    if (depth == c->node)
        return add_node(t, f, c, cell, parent);
    if (depth + 1 >= c->count)
        return true;
    if (!topo_domain_add(t, f, topo_tree_word(cell, "cellAddress"), cell->line, &domain))
        return false;
    f->domain[domain].parent = parent;
    f->domain[domain].level = (int32_t)depth;
    if (c->number[depth] != TOPO_NONE &&
        c->number[depth] != (children ? (int64_t)children->count : 0)) {
        topo_remark(t, cell->line, "a %s should have %lld cells and lists %u",
                    SHOWN(c->type[depth]), (long long)c->number[depth],
                    children ? children->count : 0);
        f->complete = false;
    }
    for (const struct tree *k = children ? children->child : NULL; k; k = k->next)
        if (!add_cell(t, f, c, depth + 1, k, (int32_t)domain))
            return false;
    return true;
}

static int read_physical(struct topo *t, const struct tree *physical, struct err *err)
{
    const struct tree *types = tree_find(physical, "cellTypes");
    const struct tree *cells = tree_find(physical, "physicalCells");

    for (const struct tree *k = cells ? cells->child : NULL; k; k = k->next) {
        const char *type = topo_tree_word(k, "cellType");
        struct topo_fabric *f;
        struct chain c;

        if (!type || !find_chain(types, type, &c) || c.node == CHAIN_MAX) {
            topo_remark(t, k->line,
                        "a cell whose type has no host below it, or is below itself, "
                        "is ignored");
            continue;
        }
        f = topo_fabric_add(t, TOPO_FABRIC_CELLS, type, k->line);
        f->level = topo_take(t, CHAIN_MAX * sizeof(*f->level));
        for (uint32_t i = 0; i < c.count; i++)
            f->level[f->level_count++] = topo_keep_string(t, c.type[i]);
        if (!add_cell(t, f, &c, 0, k, TOPO_NONE))
            return topo_bad(err, t, k->line,
                            "found more hosts or names than this program holds, "
                            "expected fewer");
        topo_fabric_close(t, f);
    }
    if (!cells && tree_find(physical, "leafCellTypes"))
        topo_remark(t, physical->line, "types of devices without cells: no topology");
    return ERR_NONE;
}

/* jobVC, taskRoles: a request to HiveD's server. */
static void read_request(struct topo *t, const struct tree *root)
{
    const struct tree *roles = tree_find(root, "taskRoles");

    for (const struct tree *r = roles ? roles->child : NULL; r; r = r->next) {
        struct topo_ask *a =
            topo_ask_add(t, TOPO_ASK_POD, topo_tree_word(root, "jobName"), r->line);
        int64_t cells = topo_tree_count(r, "leafCellNumber");

        a->parent = topo_keep_some(t, topo_tree_word(root, "jobVC"));
        a->count = topo_tree_count(r, "taskNumber");
        a->gpu_milli = cells >= 0 && cells <= 1000000 ? cells * 1000 : TOPO_NONE;
        a->level = topo_keep_some(t, topo_tree_word(r, "leafCellType"));
        a->topology = topo_keep_some(t, topo_tree_word(r, "pinnedCellId"));
        a->mode = topo_keep_some(t, topo_tree_word(r, "affinityGroupName"));
    }
}

int topo_read_hived(struct topo *t, const struct tree *root, struct err *err)
{
    const struct tree *physical = tree_find(root, "physicalCluster");

    if (tree_find(root, "jobVC"))
        read_request(t, root);
    return physical ? read_physical(t, physical, err) : ERR_NONE;
}
