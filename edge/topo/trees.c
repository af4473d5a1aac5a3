/* JSON and YAML: one value or many documents, each by the keys it has. */
#include "edge/base/tree.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

#define DEPTH_MAX 66 /* of trees, whose reader stops at 64 */

/* Moves a value to the lines of the file. */
static void move_lines(struct tree *root, uint32_t by)
{
    struct tree *way[DEPTH_MAX], *at = root;
    unsigned depth = 0;

    while (at) {
        at->line += by;
        if (at->child && depth < DEPTH_MAX) {
            way[depth++] = at;
            at = at->child;
            continue;
        }
        while (at && !at->next && depth > 0)
            at = way[--depth];
        at = at == root ? NULL : at->next;
    }
}

/* "FILE:LINE: ..." of a piece becomes that of the file. */
static int move_error(struct err *err, const char *name, int code, uint32_t by)
{
    size_t length = strlen(name), digits;
    struct err old = *err;
    const char *at = old.text + length + 1;
    int64_t line;

    if (by == 0 || strncmp(old.text, name, length) != 0 || old.text[length] != ':')
        return code;
    digits = strspn(at, "0123456789");
    if (!topo_number(at, digits, UINT32_MAX, &line))
        return code;
    return err_set(err, code, "%s:%lld%s", name, (long long)line + by, at + digits);
}

static bool only_scalars(const struct tree *map)
{
    for (const struct tree *c = map->child; c; c = c->next)
        if (c->kind == TREE_LIST || c->kind == TREE_MAP)
            return false;
    return map->count > 0;
}

static bool is_topograph(const struct tree *root)
{
    const struct tree *blocks = tree_find(root, "blocks"), *switches = tree_find(root, "switches");

    return (blocks && blocks->kind == TREE_LIST) || (switches && switches->kind == TREE_MAP);
}

static bool is_hived(const struct tree *root)
{
    return tree_find(root, "physicalCluster") || tree_find(root, "virtualClusters") ||
           tree_find(root, "jobVC");
}

static int read_value(struct topo *t, const struct tree *root, struct err *err)
{
    const struct tree *first = root->kind == TREE_LIST ? root->child : NULL;

    if (first && tree_find(first, "topology")) {
        t->kind = TOPO_SLURM_YAML;
        return topo_read_slurm_yaml(t, root, err);
    }
    if (root->kind == TREE_MAP && is_topograph(root)) {
        t->kind = TOPO_TOPOGRAPH;
        return topo_read_topograph(t, root, err);
    }
    if (root->kind == TREE_MAP && is_hived(root)) {
        t->kind = TOPO_HIVED;
        return topo_read_hived(t, root, err);
    }
    if (root->kind == TREE_MAP && tree_find(root, "kubeApiServerAddress") && only_scalars(root))
        return ERR_NONE;
    return topo_read_kube(t, root, err);
}

/* A line that ends a document; the rest of it may begin the next. */
static bool is_mark(const struct page_line *line)
{
    return strncmp(line->text, "---", 3) == 0 &&
           (line->text[3] == '\0' || line->text[3] == ' ' || line->text[3] == '\t');
}

static bool is_blank(const char *at, size_t length)
{
    bool comment = false, fresh = true;

    for (size_t i = 0; i < length; i++) {
        if (at[i] == '\n') {
            comment = false;
            fresh = true;
        } else if (fresh && at[i] == '#') {
            comment = true;
        } else if (!comment && at[i] != ' ' && at[i] != '\t') {
            if (!(fresh && (strncmp(at + i, "---", 3) == 0 || strncmp(at + i, "...", 3) == 0)))
                return false;
            i += 2;
        }
        if (at[i] != '\n' && at[i] != ' ' && at[i] != '\t')
            fresh = false;
    }
    return true;
}

static int read_documents(struct topo *t, const struct page *p, struct tree_memory *m,
                          struct err *err)
{
    const char *from = p->text, *at = p->text;
    uint32_t first = 0;
    int code = ERR_NONE;

    for (uint32_t i = 0; i <= p->count && !code; i++) {
        bool last = i == p->count;

        if (last || (is_mark(&p->line[i]) && i > 0)) {
            struct tree *root = NULL;
            uint32_t by = p->first_line - 1 + first;

            if (!is_blank(from, (size_t)(at - from))) {
                tree_memory_reset(m);
                code = tree_from_yaml(m, t->file, from, (size_t)(at - from), &root, err);
                if (code)
                    return move_error(err, t->file, code, by);
                move_lines(root, by);
                code = read_value(t, root, err);
            }
            from = at;
            first = i;
        }
        if (!last)
            at += p->line[i].length + 1;
    }
    return code;
}

int topo_read_trees(struct topo *t, const struct page *p, struct err *err)
{
    struct tree_memory *m = tree_memory_open();
    const char *at = p->text + strspn(p->text, " \t\r\n");
    struct tree *root = NULL;
    size_t hosts = t->host_count, fabrics = t->fabric_count, asks = t->ask_count;
    int code;

    if (*at == '{' || *at == '[') {
        code = tree_from_json(m, t->file, p->first_line, p->text, p->length, &root, err);
        if (!code)
            code = read_value(t, root, err);
    } else {
        code = read_documents(t, p, m, err);
    }
    tree_memory_close(m);
    if (!code)
        topo_kube_close(t);
    if (!code && !t->embedded && hosts == t->host_count && fabrics == t->fabric_count &&
        asks == t->ask_count)
        topo_remark(t, 0, "nothing in this file speaks of topology");
    return code;
}
