#include "edge/sim/read.h"

#include "edge/base/lines.h"
#include "edge/sim/read_parts.h"

#include <stdio.h>
#include <string.h>

#define FORMAT "dovetail-cluster/2"

static bool level_is_free(const struct world *w, const char *name)
{
    static const char *const taken[] = {"node", "cluster", "island", "numa", "pcie", NULL};

    for (const char *const *t = taken; *t; t++)
        if (strcmp(*t, name) == 0)
            return false;
    for (uint32_t l = 0; l < w->level_count; l++)
        if (strcmp(w->level[l].name, name) == 0)
            return false;
    return true;
}

static bool chain(struct reader *r, const struct tree *list)
{
    struct world *w = r->w;
    uint8_t rank = 0;

    if (!reader_is(r, list, TREE_LIST, "a list of levels, small to large"))
        return false;
    if (w->chain_count == WORLD_CHAINS_MAX)
        return reader_say(r, list->line, "found more than %d chains, expected fewer",
                          WORLD_CHAINS_MAX);
    for (const struct tree *t = list->child; t; t = t->next) {
        if (!reader_name_fine(r, t))
            return false;
        if (!level_is_free(w, t->text))
            return reader_wrong(r, t,
                                "a level name that is used once, and is not one of node "
                                "cluster island numa pcie");
        if (w->level_count == WORLD_LEVELS_MAX)
            return reader_say(r, t->line, "found more than %d levels, expected fewer",
                              WORLD_LEVELS_MAX);
        w->level[w->level_count++] =
            (struct world_level){.name = world_string(w, t->text, strlen(t->text)),
                                 .chain = (uint8_t)w->chain_count,
                                 .rank = rank++};
    }
    w->chain[w->chain_count++] = world_string(w, list->key, strlen(list->key));
    return true;
}

bool read_chains(struct reader *r, const struct tree *chains)
{
    for (const struct tree *t = chains->child; t; t = t->next)
        if (!chain(r, t))
            return false;
    return true;
}

/* A host that shares a domain shares, or lacks, the domains of the chain's larger levels. The first
 * host of each domain stands for all of them. */
static bool nesting(struct reader *r, const struct tree *at, const struct world_node *node)
{
    const struct world *w = r->w;

    for (uint32_t l = 0; l < w->level_count; l++) {
        if (node->domain[l] == WORLD_NONE)
            continue;
        const struct world_node *first = &w->node[r->first[l][node->domain[l]]];
        for (uint32_t up = 0; up < w->level_count; up++) {
            const struct world_level *low = &w->level[l], *high = &w->level[up];
            uint32_t mine = node->domain[up], its = first->domain[up];

            if (high->chain != low->chain || high->rank <= low->rank || mine == its)
                continue;
            return reader_say(
                r, at->line,
                "found node \"%s\" of %s \"%s\" in %s \"%s\", expected \"%s\" as for node \"%s\": "
                "a %s lies in one %s",
                node->name, low->name, low->domain[node->domain[l]], high->name,
                mine == WORLD_NONE ? "(none)" : high->domain[mine],
                its == WORLD_NONE ? "(none)" : high->domain[its], first->name, low->name,
                high->name);
        }
    }
    return true;
}

static bool level_unknown(struct reader *r, const struct tree *t)
{
    const struct tree name = {.kind = TREE_STRING, .line = t->line, .text = t->key};
    char known[200] = "a level of the chains:";

    for (uint32_t l = 0; l < r->w->level_count; l++) {
        size_t used = strlen(known);

        (void)snprintf(known + used, sizeof(known) - used, " %s", r->w->level[l].name);
    }
    return reader_wrong(r, &name, r->w->level_count ? known : "no domains, for want of chains");
}

static bool domains(struct reader *r, const struct tree *map, struct world_node *node)
{
    struct world *w = r->w;

    for (const struct tree *t = map->child; t; t = t->next) {
        uint32_t l = 0;

        while (l < w->level_count && strcmp(w->level[l].name, t->key) != 0)
            l++;
        if (l == w->level_count)
            return level_unknown(r, t);
        if (t->kind == TREE_NULL) { /* of a change: the label is taken away */
            node->domain[l] = WORLD_NONE;
            continue;
        }
        if (!reader_name_fine(r, t))
            return false;

        uint32_t domain = world_domain_find(w, l, t->text);
        if (domain == WORLD_NONE) {
            struct world_level *level = &w->level[l];

            domain = level->domain_count;
            *(const char **)world_row(w, &level->domain, &level->domain_count,
                                      sizeof(*level->domain)) =
                world_string(w, t->text, strlen(t->text));
        }
        node->domain[l] = domain;
    }
    return true;
}

static bool device(struct reader *r, const struct tree *map, struct world_node *node,
                   uint32_t *seen)
{
    static const char *const keys[] = {"index", "uuid", "pci", NULL};

    if (!reader_is(r, map, TREE_MAP, "a map with index, uuid and pci") ||
        !reader_keys(r, map, keys, NULL))
        return false;

    int64_t index = reader_int(r, map, "index", (struct span){0, node->gpus - 1, READ_REQUIRED});
    const char *uuid = reader_name(r, map, "uuid", false);
    const char *pci = reader_name(r, map, "pci", false);
    if (r->code)
        return false;
    if (*seen >> index & 1)
        return reader_say(r, map->line, "found device %d twice, expected it once", (int)index);
    *seen |= 1u << index;
    node->device[index].uuid = uuid ? world_string(r->w, uuid, strlen(uuid)) : NULL;
    node->device[index].pci = pci ? world_string(r->w, pci, strlen(pci)) : NULL;
    return true;
}

static bool devices(struct reader *r, const struct tree *map, struct world_node *node)
{
    const struct tree *list = reader_list(r, map, "devices");
    uint32_t seen = 0;

    if (!list || list->count == 0)
        return !r->code;
    if (node->gpus == 0)
        return reader_wrong(r, list, "no devices on a node without GPUs");
    node->device = world_alloc(r->w, node->gpus * sizeof(*node->device));
    for (const struct tree *t = list->child; t; t = t->next)
        if (!device(r, t, node, &seen))
            return false;
    return true;
}

static bool shape_of(struct reader *r, const struct tree *map, struct world_node *node)
{
    const struct world *w = r->w;
    const struct tree *t = reader_get(map, "shape");

    if (t && !reader_name_fine(r, t))
        return false;
    if (t) {
        node->shape = world_shape_find(w, t->text);
        if (node->shape == WORLD_NONE)
            return reader_wrong(r, t, "a shape that was described before the nodes");
    }
    if (node->shape != WORLD_NONE && w->shape[node->shape].gpus != node->gpus)
        return reader_say(r, map->line, "found %u GPUs with shape \"%s\", expected its %u",
                          node->gpus, w->shape[node->shape].name, w->shape[node->shape].gpus);
    return true;
}

bool read_node_fields(struct reader *r, const struct tree *map, struct world_node *node)
{
    const struct tree *model = reader_get(map, "model"), *in = reader_map(r, map, "domains");

    node->gpus = (uint8_t)reader_int(r, map, "gpus", (struct span){0, WORLD_GPUS_MAX, node->gpus});
    node->gpu_mem_mib =
        reader_int(r, map, "gpu_mem_mib", (struct span){1, READ_DEVICE_MAX, node->gpu_mem_mib});
    node->cpu_milli =
        reader_int(r, map, "cpu_milli", (struct span){0, READ_AMOUNT_MAX, node->cpu_milli});
    node->mem_mib = reader_int(r, map, "mem_mib", (struct span){0, READ_AMOUNT_MAX, node->mem_mib});
    node->pods = reader_int(r, map, "pods", (struct span){0, READ_COUNT_MAX, node->pods});
    if (model && reader_is(r, model, TREE_STRING, "the name of a model") &&
        (model->text[0] == '\0' || reader_name_fine(r, model)))
        node->model = world_model(r->w, model->text);
    return !r->code && shape_of(r, map, node) && (!in || domains(r, in, node));
}

/* Remembers the first node of every domain that this node is the first of. */
static void note_first(struct reader *r, uint32_t id)
{
    const struct world_node *node = &r->w->node[id];

    for (uint32_t l = 0; l < r->w->level_count; l++)
        if (node->domain[l] != WORLD_NONE && node->domain[l] >= r->first_count[l])
            *(uint32_t *)world_row(r->w, &r->first[l], &r->first_count[l], sizeof(uint32_t)) = id;
}

bool read_node(struct reader *r, const struct tree *map, const char *name)
{
    struct world *w = r->w;
    struct world_node node = {.model = WORLD_NONE,
                              .shape = WORLD_NONE,
                              .cpu_milli = WORLD_UNLIMITED,
                              .mem_mib = WORLD_UNLIMITED,
                              .pods = WORLD_UNLIMITED};

    if (r->code)
        return false;
    if (world_node_find(w, name) != WORLD_NONE)
        return reader_say(r, map->line, "found node \"%s\" a second time, expected it once", name);
    if (w->node_count == READ_NODES_MAX)
        return reader_say(r, map->line, "found more than %d nodes, expected fewer", READ_NODES_MAX);
    if (!reader_get(map, "gpus"))
        return reader_absent(r, map, "gpus", "the number of devices (0 if there are none)");
    memset(node.domain, 0xFF, sizeof(node.domain));
    node.name = world_string(w, name, strlen(name));
    if (!read_node_fields(r, map, &node) || !devices(r, map, &node))
        return false;
    if (node.model == WORLD_NONE)
        node.model = world_model(w, "");

    uint32_t id = w->node_count;
    *(struct world_node *)world_row(w, &w->node, &w->node_count, sizeof(node)) = node;
    note_first(r, id);
    return nesting(r, map, &w->node[id]);
}

static bool header(struct reader *r, const struct tree *o, const char *kind)
{
    const char *format = reader_name(r, o, "format", true);
    const char *name = reader_name(r, o, "name", true);
    const struct tree *chains = reader_map(r, o, "chains");

    if (strcmp(kind, "cluster") != 0)
        return reader_say(r, o->line,
                          "found kind \"%s\", expected the header of a cluster: kind \"cluster\" "
                          "and format \"" FORMAT "\"",
                          kind);
    if (r->code)
        return false;
    if (strcmp(format, FORMAT) != 0)
        return reader_wrong(r, tree_find(o, "format"), "\"" FORMAT "\"");
    r->w->cluster_name = world_string(r->w, name, strlen(name));
    r->stage = STAGE_HEAD;
    return !chains || read_chains(r, chains);
}

bool read_cluster_object(struct reader *r, const struct tree *o)
{
    if (!reader_is(r, o, TREE_MAP, "an object with a kind"))
        return false;
    const char *kind = reader_name(r, o, "kind", true);

    if (!kind)
        return false;
    if (r->stage == STAGE_HEADER)
        return header(r, o, kind);
    if (strcmp(kind, "node") == 0) {
        const char *name = reader_name(r, o, "node", true);

        r->stage = STAGE_BODY;
        return name && read_node(r, o, name);
    }
    if (strcmp(kind, "shape") != 0 && strcmp(kind, "mig") != 0)
        return reader_wrong(r, tree_find(o, "kind"),
                            strcmp(kind, "cluster") == 0 ? "one header, in the first line"
                                                         : "one of shape mig node");
    if (r->stage == STAGE_BODY)
        return reader_wrong(r, tree_find(o, "kind"), "shapes and migs before the nodes");
    if (strcmp(kind, "mig") == 0)
        return read_mig(r, o);
    return reader_name(r, o, "shape", true) && read_shape(r, o, tree_find(o, "shape"));
}

bool read_cluster_end(struct reader *r)
{
    if (r->code)
        return false;
    if (r->stage == STAGE_HEADER)
        return reader_say(r, 0, "found no line, expected a cluster in the format " FORMAT);
    if (r->w->node_count == 0)
        return reader_say(r, 0, "found no node, expected at least one (is the file cut?)");
    return true;
}

int read_json_lines(struct reader *r, bool (*object)(struct reader *, const struct tree *),
                    bool (*end)(struct reader *))
{
    struct tree_memory *m = tree_memory_open();
    struct lines *l = NULL;
    char *text;
    size_t length;
    uint32_t number;
    int more = 0;

    r->code = lines_open(&l, r->path, r->err);
    while (!r->code && (more = lines_next(l, &text, &length, &number, r->err)) > 0) {
        struct tree *o;

        tree_memory_reset(m);
        r->code = tree_from_json(m, r->path, number, text, length, &o, r->err);
        if (!r->code)
            (void)object(r, o);
    }
    if (!r->code)
        r->code = -more;
    if (!r->code)
        (void)end(r);
    lines_close(l);
    tree_memory_close(m);
    return r->code;
}

int read_cluster(struct world *w, const char *path, struct err *err)
{
    struct reader r = {.w = w, .path = path, .err = err};

    if (read_json_lines(&r, read_cluster_object, read_cluster_end)) {
        world_free(w);
        world_init(w);
    }
    return r.code;
}
