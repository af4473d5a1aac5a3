/* Slurm's topology.yaml (several topologies of several plugins in one file) and Topograph's model
 * files (a tree of switches, blocks of hosts with their accelerator domain). */
#include "edge/base/tree.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

const char *topo_tree_word(const struct tree *map, const char *key)
{
    const struct tree *value = tree_find(map, key);

    return value && (value->kind == TREE_STRING || value->kind == TREE_NUMBER) ? value->text : NULL;
}

int64_t topo_tree_count(const struct tree *map, const char *key)
{
    const char *text = topo_tree_word(map, key);
    int64_t value;

    return text && topo_number(text, strlen(text), INT64_MAX, &value) ? value : TOPO_NONE;
}

/* A text, or a list of texts: names in Slurm's way. */
static void add_names(struct grow *g, const struct tree *names,
                      void (*add)(struct grow *, const char *, size_t))
{
    if (!names)
        return;
    if (names->kind == TREE_STRING || names->kind == TREE_NUMBER)
        add(g, names->text, strlen(names->text));
    for (const struct tree *c = names->child; c && names->kind == TREE_LIST; c = c->next)
        if (c->kind == TREE_STRING || c->kind == TREE_NUMBER)
            add(g, c->text, strlen(c->text));
}

/* A list of maps, each a domain named by `key`. */
static void add_domains(struct grow *g, const struct tree *list, const char *key)
{
    for (const struct tree *c = list ? list->child : NULL; c && !g->code; c = c->next) {
        const char *name = topo_tree_word(c, key);

        if (!name) {
            topo_remark(g->t, c->line, "an entry without \"%s\" is ignored", key);
            continue;
        }
        grow_domain(g, name, strlen(name), c->line);
        add_names(g, tree_find(c, "children"), grow_children);
        add_names(g, tree_find(c, "nodes"), grow_hosts);
    }
}

static void add_sizes(struct grow *g, const struct tree *list)
{
    if (!list || list->kind != TREE_LIST)
        return;
    g->f->size = topo_take(g->t, (list->count + (size_t)1) * sizeof(*g->f->size));
    for (const struct tree *c = list->child; c; c = c->next)
        if (c->kind == TREE_NUMBER &&
            topo_number(c->text, strlen(c->text), 1000000000, &g->f->size[g->f->size_count]))
            g->f->size_count++;
        else
            topo_remark(g->t, c->line, "a block size that is no number");
}

/* A torus gives its dimensions; its hosts, if any, stand in one domain. */
static void add_toruses(struct grow *g, const struct tree *list)
{
    static const char *const axis[] = {"x", "y", "z"};

    for (const struct tree *c = list ? list->child : NULL; c && !g->code; c = c->next) {
        const char *name = topo_tree_word(c, "name");
        const struct tree *dims = tree_find(c, "dims");

        if (!name)
            continue;
        grow_domain(g, name, strlen(name), c->line);
        add_names(g, tree_find(c, "nodes"), grow_hosts);
        for (int a = 0; a < 3 && dims; a++)
            if (g->f->dim[a] == TOPO_NONE)
                g->f->dim[a] = topo_tree_count(dims, axis[a]);
            else if (g->f->dim[a] != topo_tree_count(dims, axis[a]))
                topo_remark(g->t, c->line, "a torus of another size: the first is kept");
    }
}

int topo_read_slurm_yaml(struct topo *t, const struct tree *root, struct err *err)
{
    static const struct {
        const char *plugin, *list, *key;
        enum topo_fabric_kind kind;
    } known[] = {
        {"tree", "switches", "switch", TOPO_FABRIC_TREE},
        {"block", "blocks", "block", TOPO_FABRIC_BLOCK},
        {"flat", NULL, NULL, TOPO_FABRIC_FLAT},
        {"ring", "rings", "ring", TOPO_FABRIC_RING},
        {"torus3d", "toruses", NULL, TOPO_FABRIC_TORUS},
    };

    for (const struct tree *c = root->child; c; c = c->next) {
        const char *name = topo_tree_word(c, "topology");
        const struct tree *is_default = tree_find(c, "cluster_default");
        bool found = false;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && name && !found; i++) {
            const struct tree *plugin = tree_find(c, known[i].plugin);
            struct grow g;
            int code;

            if (!plugin)
                continue;
            found = true;
            grow_open(&g, t, topo_fabric_add(t, known[i].kind, name, c->line), err);
            g.f->is_default = is_default && is_default->kind == TREE_BOOL && is_default->truth;
            add_sizes(&g, tree_find(plugin, "block_sizes"));
            if (known[i].key)
                add_domains(&g, tree_find(plugin, known[i].list), known[i].key);
            else if (known[i].list)
                add_toruses(&g, tree_find(plugin, known[i].list));
            code = grow_close(&g);
            if (code)
                return code;
        }
        if (!found)
            topo_remark(t, c->line, "a topology without a known plugin is ignored");
    }
    return ERR_NONE;
}

static void add_switches(struct grow *g, const struct tree *switches)
{
    for (const struct tree *c = switches ? switches->child : NULL; c && !g->code; c = c->next) {
        if (!c->key)
            continue;
        grow_domain(g, c->key, strlen(c->key), c->line);
        add_names(g, tree_find(c, "switches"), grow_children);
    }
}

/* The annotation that names the domain of links; its prefix is the site's own. */
static const struct tree *link_domain(const struct tree *block)
{
    const struct tree *annotations = tree_find(block, "annotations");

    for (const struct tree *c = annotations ? annotations->child : NULL; c; c = c->next) {
        const char *slash = c->key ? strrchr(c->key, '/') : NULL;

        if (slash && strcmp(slash, "/domain") == 0 && c->kind == TREE_STRING)
            return c;
    }
    return NULL;
}

int topo_read_topograph(struct topo *t, const struct tree *root, struct err *err)
{
    const struct tree *blocks = tree_find(root, "blocks");
    bool links = false;
    struct grow g;
    int code;

    grow_open(&g, t, topo_fabric_add(t, TOPO_FABRIC_TREE, "switches", root->line), err);
    add_switches(&g, tree_find(root, "switches"));
    for (const struct tree *c = blocks ? blocks->child : NULL; c && !g.code; c = c->next) {
        const char *name = topo_tree_word(c, "switch");

        links = links || link_domain(c);
        if (!name) {
            topo_remark(t, c->line, "a block without a switch is in no tree");
            continue;
        }
        grow_domain(&g, name, strlen(name), c->line);
        add_names(&g, tree_find(c, "nodes"), grow_hosts);
    }
    code = grow_close(&g);
    if (code || !links)
        return code;

    grow_open(&g, t, topo_fabric_add(t, TOPO_FABRIC_LINKS, "accelerators", root->line), err);
    for (const struct tree *c = blocks->child; c && !g.code; c = c->next) {
        const struct tree *domain = link_domain(c);

        if (!domain)
            continue;
        grow_domain(&g, domain->text, strlen(domain->text), domain->line);
        add_names(&g, tree_find(c, "nodes"), grow_hosts);
    }
    return grow_close(&g);
}
