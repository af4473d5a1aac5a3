/* A fabric whose file names switches in any order: a switch may be a child before it has a line of
 * its own. */
#include "edge/topo/topo_parts.h"

#include <string.h>

void grow_open(struct grow *g, struct topo *t, struct topo_fabric *f, struct err *err)
{
    *g = (struct grow){.t = t, .f = f, .err = err};
}

static bool too_many(struct grow *g)
{
    g->code =
        topo_bad(g->err, g->t, g->line, "found more than %u names, expected fewer", TOPO_NAMES_MAX);
    return false;
}

void grow_domain(struct grow *g, const char *name, size_t length, uint32_t line)
{
    bool is_new;
    const char *kept;

    if (g->code)
        return;
    g->line = line;
    if (length == 0 || length > 253) {
        g->code =
            topo_bad(g->err, g->t, line, "found a name of %zu bytes, expected 1 to 253", length);
        return;
    }
    kept = topo_keep(g->t, name, length);
    g->domain = topo_names_put(&g->names, kept, g->f->domain_count, &is_new);
    if (is_new && !topo_domain_add(g->t, g->f, kept, line, &g->domain)) {
        (void)too_many(g);
        return;
    }
    if (!is_new && g->f->domain[g->domain].line != 0)
        topo_remark(g->t, line, "%s is defined a second time: both count", SHOWN(kept));
    g->f->domain[g->domain].line = line;
    g->f->domain[g->domain].unsorted = strcmp(kept, "none") == 0;
}

static bool add_host(void *data, const char *name, size_t length)
{
    struct grow *g = data;

    (void)length;
    return g->t->spelled++ < SPELLED_MAX && topo_place_add(g->t, g->f, name, g->domain, g->line);
}

static bool add_child(void *data, const char *name, size_t length)
{
    struct grow *g = data;
    bool is_new;
    const char *kept;
    uint32_t d;
    struct topo_domain *child;

    if (g->t->spelled++ >= SPELLED_MAX)
        return false;
    kept = topo_keep(g->t, name, length);
    d = topo_names_put(&g->names, kept, g->f->domain_count, &is_new);
    if (is_new && !topo_domain_add(g->t, g->f, kept, 0, &d))
        return false;
    child = &g->f->domain[d];
    if (d == g->domain) {
        topo_remark(g->t, g->line, "%s lists itself", SHOWN(kept));
        g->f->complete = false;
    } else if (child->parent != TOPO_NONE && child->parent != (int32_t)g->domain) {
        topo_remark(g->t, g->line, "%s is below %s already and not put below %s", SHOWN(kept),
                    SHOWN(g->f->domain[child->parent].name), SHOWN(g->f->domain[g->domain].name));
        g->f->complete = false;
    } else {
        child->parent = (int32_t)g->domain;
    }
    return true;
}

static void add_list(struct grow *g, const char *list, size_t length, hostlist_fn *each)
{
    const char *why = NULL;

    if (g->code || hostlist_each(list, length, each, g, &why))
        return;
    g->code = topo_bad(g->err, g->t, g->line, "found %s in %s, expected names like node[1-3,7]",
                       why, SHOWN_N(list, length));
}

void grow_children(struct grow *g, const char *list, size_t length)
{
    add_list(g, list, length, add_child);
}

void grow_hosts(struct grow *g, const char *list, size_t length)
{
    add_list(g, list, length, add_host);
}

static void remark_shape(struct grow *g)
{
    uint32_t undefined = 0, leaves = 0, roots = 0, least = UINT32_MAX, most = 0;

    for (uint32_t d = 0; d < g->f->domain_count; d++) {
        const struct topo_domain *domain = &g->f->domain[d];

        undefined += domain->line == 0;
        roots += domain->parent == TOPO_NONE;
        if (domain->unsorted)
            topo_remark(g->t, domain->line,
                        "\"none\" collects hosts without a place: it is no "
                        "domain");
        if (domain->children || domain->unsorted)
            continue;
        leaves++;
        least = domain->depth < least ? domain->depth : least;
        most = domain->depth > most ? domain->depth : most;
    }
    if (undefined) {
        topo_remark(g->t, 0, "%u switches are named as children and have no entry of their own",
                    undefined);
        g->f->complete = false;
    }
    if (g->f->kind != TOPO_FABRIC_TREE)
        return;
    if (roots > 1)
        topo_remark(g->t, g->f->line, "there is no top switch: %u trees", roots);
    if (leaves && least != most)
        topo_remark(g->t, g->f->line, "leaves have %u to %u switches above them", least, most);
}

int grow_close(struct grow *g)
{
    if (!g->code) {
        topo_fabric_close(g->t, g->f);
        remark_shape(g);
    }
    topo_names_free(&g->names);
    return g->code;
}
