#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <stdlib.h>
#include <string.h>

struct topo_fabric *topo_fabric_add(struct topo *t, enum topo_fabric_kind kind, const char *name,
                                    uint32_t line)
{
    t->fabric = out_grow(t->fabric, t->fabric_count, &t->fabric_limit, sizeof(*t->fabric));

    struct topo_fabric *f = &t->fabric[t->fabric_count++];
    *f = (struct topo_fabric){
        .name = topo_keep_some(t, name),
        .kind = kind,
        .complete = true,
        .dim = {TOPO_NONE, TOPO_NONE, TOPO_NONE},
        .line = line,
    };
    return f;
}

bool topo_domain_add(struct topo *t, struct topo_fabric *f, const char *name, uint32_t line,
                     uint32_t *ret_domain)
{
    if (t->names == TOPO_NAMES_MAX)
        return false;
    t->names++;
    f->domain = out_grow(f->domain, f->domain_count, &f->domain_limit, sizeof(*f->domain));
    *ret_domain = f->domain_count;
    f->domain[f->domain_count++] = (struct topo_domain){
        .name = topo_keep_some(t, name),
        .parent = TOPO_NONE,
        .level = TOPO_NONE,
        .tier = TOPO_NONE,
        .line = line,
    };
    return true;
}

bool topo_place_add(struct topo *t, struct topo_fabric *f, const char *name, uint32_t domain,
                    uint32_t line)
{
    if (t->names == TOPO_NAMES_MAX)
        return false;
    t->names++;
    f->host = out_grow(f->host, f->host_count, &f->host_limit, sizeof(*f->host));
    f->host[f->host_count++] =
        (struct topo_place){.name = topo_keep_string(t, name), .domain = domain, .line = line};
    f->domain[domain].hosts++;
    return true;
}

/* Walks up from d to a domain whose depth is known, a root, or one already on the way. */
static void find_depth(struct topo *t, struct topo_fabric *f, uint32_t d, uint32_t *way,
                       uint8_t *state)
{
    uint32_t count = 0, depth = 0;

    while (state[d] == 0) {
        state[d] = 1;
        way[count++] = d;
        if (f->domain[d].parent == TOPO_NONE)
            break;

        uint32_t up = (uint32_t)f->domain[d].parent;
        if (state[up] == 1) {
            topo_remark(t, f->domain[d].line, "%s is above itself: that tie is left out",
                        SHOWN(f->domain[d].name ? f->domain[d].name : "a domain"));
            f->domain[d].parent = TOPO_NONE;
            f->complete = false;
            break;
        }
        d = up;
    }
    if (state[d] == 2)
        depth = f->domain[d].depth + 1;
    while (count-- > 0) {
        f->domain[way[count]].depth = depth++;
        state[way[count]] = 2;
    }
}

static void remark_doubles(struct topo *t, struct topo_fabric *f)
{
    struct topo_names names = {0};
    uint32_t doubles = 0, first = 0;

    for (uint32_t h = 0; h < f->host_count; h++) {
        bool is_new;
        uint32_t domain = topo_names_put(&names, f->host[h].name, f->host[h].domain, &is_new);

        if (is_new || domain == f->host[h].domain)
            continue;
        if (doubles++ == 0)
            first = h;
    }
    if (doubles)
        topo_remark(t, f->host[first].line, "%u hosts stand in two domains of one fabric, %s first",
                    doubles, SHOWN(f->host[first].name));
    topo_names_free(&names);
}

void topo_fabric_close(struct topo *t, struct topo_fabric *f)
{
    uint32_t *way = memory_zeroed((f->domain_count + (size_t)1) * sizeof(*way));
    uint8_t *state = memory_zeroed(f->domain_count + (size_t)1);

    f->closed = true;
    for (uint32_t d = 0; d < f->domain_count; d++)
        find_depth(t, f, d, way, state);
    for (uint32_t d = 0; d < f->domain_count; d++)
        if (f->domain[d].parent != TOPO_NONE)
            f->domain[f->domain[d].parent].children++;
    /* The fabric of cables has no hosts in two places by mistake: every port is a place. */
    if (f->kind != TOPO_FABRIC_CLOS)
        remark_doubles(t, f);
    free(way);
    free(state);
}
