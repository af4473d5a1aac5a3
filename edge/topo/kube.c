#include "edge/topo/kube.h"

#include <string.h>

const struct tree *kube_find(const struct tree *object, const char *first, const char *second)
{
    return tree_find(tree_find(object, first), second);
}

const char *kube_name(const struct tree *object)
{
    const char *name = topo_tree_word(tree_find(object, "metadata"), "name");

    /* A sketch that the API server would refuse: the name stands at the top. */
    return name ? name : topo_tree_word(object, "name");
}

const char *kube_annotation(const struct tree *object, const char *key)
{
    return topo_tree_word(kube_find(object, "metadata", "annotations"), key);
}

int64_t kube_mib(const char *quantity)
{
    static const struct {
        const char *unit;
        unsigned shift_up, shift_down;
    } known[] = {{"Ki", 0, 10}, {"Mi", 0, 0}, {"Gi", 10, 0}, {"Ti", 20, 0}, {"", 0, 20}};
    size_t digits = quantity ? strspn(quantity, "0123456789") : 0;
    int64_t value;

    if (!quantity || !topo_number(quantity, digits, INT64_C(999999999999999), &value))
        return TOPO_NONE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(quantity + digits, known[i].unit) == 0 &&
            (value << known[i].shift_up) >> known[i].shift_up == value)
            return (value << known[i].shift_up) >> known[i].shift_down;
    return TOPO_NONE;
}

struct kind {
    const char *kind;
    int (*read)(struct topo *, const struct tree *, struct err *);
};

static const struct kind kinds[] = {
    {"Node", kube_node},
    {"ResourceSlice", kube_slice},
    {"Topology", kube_levels},
    {"HyperNode", kube_hypernode},
    {"ConfigMap", kube_config_map},
    {"Cluster", kube_kind_cluster},
    {"Pod", kube_pod},
    {"PodGroup", kube_pod_group},
    {"Queue", kube_queue},
};

static int read_object(struct topo *t, const struct tree *object, struct err *err)
{
    const char *kind = topo_tree_word(object, "kind");
    size_t asks = t->ask_count;
    int code;

    if (!kind) {
        if (!kube_fragment(t, object))
            topo_remark(t, object->line, "a value without kind, which says nothing of topology");
        return ERR_NONE;
    }
    if (!tree_find(object, "apiVersion"))
        topo_remark(t, object->line, "%s has no apiVersion: the API server would refuse it",
                    SHOWN(kind));
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].read(t, object, err);
    code = kube_hived_pods(t, object, err);
    if (!code && asks == t->ask_count)
        topo_remark(t, object->line, "%s is not read: it says nothing of topology", SHOWN(kind));
    return code;
}

int topo_read_kube(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *items = tree_find(object, "items");
    int code = ERR_NONE;

    if (object->kind == TREE_LIST) {
        if (tree_find(object->child, "attributes")) {
            kube_devices(t, topo_host_add(t, NULL, object->line), object);
            return ERR_NONE;
        }
        items = object;
    }
    if (!items)
        return object->kind == TREE_MAP ? read_object(t, object, err)
                                        : topo_bad(err, t, object->line,
                                                   "found a bare value, expected objects or a "
                                                   "topology");
    for (const struct tree *c = items->child; c && !code; c = c->next)
        if (c->kind == TREE_MAP)
            code = read_object(t, c, err);
    return code;
}

/* HyperNodes name each other in any order: members become children or hosts at the end. */
static void join_members(struct topo *t)
{
    struct topo_names names = {0};
    uint32_t missing = 0;
    bool is_new;

    for (const struct member *m = t->member; m; m = m->next) {
        struct topo_fabric *f = &t->fabric[m->fabric];

        if (names.count == 0)
            for (uint32_t d = 0; d < f->domain_count; d++)
                if (f->domain[d].name)
                    (void)topo_names_put(&names, f->domain[d].name, d, &is_new);

        uint32_t d;
        bool known = topo_names_find(&names, m->name, &d);
        if (m->is_node || (!known && !m->is_domain)) {
            (void)topo_place_add(t, f, m->name, m->domain, m->line);
            continue;
        }
        if (!known) {
            missing++;
            f->complete = false;
            if (!topo_domain_add(t, f, m->name, 0, &d))
                break;
            (void)topo_names_put(&names, f->domain[d].name, d, &is_new);
        }
        if (f->domain[d].parent != TOPO_NONE && f->domain[d].parent != (int32_t)m->domain)
            topo_remark(t, m->line, "%s is a member twice: the first counts", SHOWN(m->name));
        else if (d != m->domain)
            f->domain[d].parent = (int32_t)m->domain;
    }
    t->member = t->member_last = NULL;
    topo_names_free(&names);
    if (missing)
        topo_remark(t, 0, "%u HyperNodes are members and stand nowhere in the file", missing);
}

void topo_kube_close(struct topo *t)
{
    if (t->embedded)
        return;
    join_members(t);
    for (size_t f = 0; f < t->fabric_count; f++)
        if (!t->fabric[f].closed)
            topo_fabric_close(t, &t->fabric[f]);
    for (size_t h = 0; h < t->host_count; h++)
        if (!t->host[h].link && t->host[h].gpu_count == 0)
            topo_host_sort(t, &t->host[h], NULL);
}
