/* Nodes: GPUs by label and by allocatable, slices, readiness, levels by labels. */
#include "edge/topo/kube.h"

#include <string.h>

#define LABELS_MAX    512u
#define RESOURCES_MAX 32u

static uint32_t take_labels(const struct tree *map, struct topo_label *label)
{
    uint32_t count = 0;

    for (const struct tree *c = map ? map->child : NULL; c && count < LABELS_MAX; c = c->next)
        if (c->key && c->kind == TREE_STRING)
            label[count++] = (struct topo_label){.key = c->key, .value = c->text, .line = c->line};
    return count;
}

/* Is it a whole GPU (1), a slice of one (2) or none (0)? */
static int gpu_resource(const char *name)
{
    static const char *const whole[] = {
        "nvidia.com/gpu",        "amd.com/gpu",          "gpu.intel.com/i915",
        "gpu.intel.com/xe",      "huawei.com/Ascend910", "huawei.com/Ascend310",
        "huawei.com/Ascend310P", "metax-tech.com/gpu",   "cambricon.com/mlu",
        "mthreads.com/gpu",      "hygon.com/dcu",        "iluvatar.com/gpu",
    };

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
        if (strcmp(name, whole[i]) == 0)
            return 1;
    return strncmp(name, "nvidia.com/mig-", 15) == 0 ? 2 : 0;
}

/* Fills host.resource; returns whole GPUs, or TOPO_NONE where none are listed. */
static int64_t take_resources(struct topo *t, struct topo_host *h, const struct tree *map)
{
    int64_t whole = TOPO_NONE;

    for (const struct tree *c = map ? map->child : NULL; c; c = c->next) {
        int what = c->key ? gpu_resource(c->key) : 0;
        int64_t count;

        if (what == 0 || !c->text || h->resource_count == RESOURCES_MAX)
            continue;
        if (!topo_number(c->text, strlen(c->text), 1000000, &count)) {
            topo_remark(t, c->line, "%s is no whole number: %s", SHOWN(c->key), SHOWN(c->text));
            continue;
        }
        if (!h->resource)
            h->resource = topo_take(t, RESOURCES_MAX * sizeof(*h->resource));
        h->resource[h->resource_count++] =
            (struct topo_count){.name = topo_keep_string(t, c->key), .count = count};
        if (what == 1)
            whole = (whole == TOPO_NONE ? 0 : whole) + count;
    }
    return whole;
}

static int32_t ready_of(const struct tree *object)
{
    const struct tree *conditions = kube_find(object, "status", "conditions");

    for (const struct tree *c = conditions ? conditions->child : NULL; c; c = c->next) {
        const char *type = topo_tree_word(c, "type"), *status = topo_tree_word(c, "status");

        if (type && status && strcmp(type, "Ready") == 0)
            return strcmp(status, "True") == 0;
    }
    return TOPO_NONE;
}

static const char *gpu_taint(struct topo *t, const struct tree *object)
{
    const struct tree *taints = kube_find(object, "spec", "taints");

    for (const struct tree *c = taints ? taints->child : NULL; c; c = c->next) {
        const char *key = topo_tree_word(c, "key"), *value = topo_tree_word(c, "value");
        const char *effect = topo_tree_word(c, "effect");

        if (!key || !effect || gpu_resource(key) != 1)
            continue;
        struct out text = {0};

        out_add(&text, key);
        if (value && *value)
            out_format(&text, "=%s", value);
        out_format(&text, ":%s", effect);
        const char *kept = topo_keep(t, text.bytes, text.length);
        out_free(&text);
        return kept;
    }
    return NULL;
}

int kube_node(struct topo *t, const struct tree *object, struct err *err)
{
    struct topo_label label[LABELS_MAX];
    uint32_t count = take_labels(kube_find(object, "metadata", "labels"), label);
    struct topo_host *h;
    int64_t whole;

    if (t->host_count == TOPO_HOSTS_MAX)
        return topo_bad(err, t, object->line, "found more than %u hosts, expected fewer",
                        TOPO_HOSTS_MAX);
    h = topo_host_add(t, kube_name(object), object->line);
    topo_labels_gpus(t, h, label, count);
    whole = take_resources(t, h, kube_find(object, "status", "allocatable"));
    h->ready = ready_of(object);
    h->taint = gpu_taint(t, object);
    if (h->gpus_stated == TOPO_NONE)
        h->gpus_stated = whole;
    else if (whole != TOPO_NONE && whole != h->gpus_stated && !h->slices)
        topo_remark(t, h->line, "nvidia.com/gpu.count is %lld and %lld GPUs are allocatable",
                    (long long)h->gpus_stated, (long long)whole);
    topo_labels_add(t, h, label, count);
    return ERR_NONE;
}

/* ---- kind: clusters of containers, whose configuration gives nodes their labels */

/* The name that a patch for kubeadm gives a node. */
static const char *patched_name(struct topo *t, const struct tree *node)
{
    const struct tree *patches = tree_find(node, "kubeadmConfigPatches");
    const char *name = NULL;

    for (const struct tree *c = patches ? patches->child : NULL; c && !name; c = c->next) {
        struct tree_memory *m;
        struct tree *patch;
        struct err err;

        if (c->kind != TREE_STRING)
            continue;
        m = tree_memory_open();
        if (tree_from_yaml(m, t->file, c->text, strlen(c->text), &patch, &err) == ERR_NONE)
            name = topo_keep_some(t, topo_tree_word(tree_find(patch, "nodeRegistration"), "name"));
        tree_memory_close(m);
    }
    return name;
}

int kube_kind_cluster(struct topo *t, const struct tree *object, struct err *err)
{
    const char *version = topo_tree_word(object, "apiVersion");
    const struct tree *nodes = tree_find(object, "nodes");

    if (!version || strncmp(version, "kind.x-k8s.io/", 14) != 0) {
        topo_remark(t, object->line, "a Cluster of %s is not read", SHOWN(version ? version : "?"));
        return ERR_NONE;
    }
    for (const struct tree *c = nodes ? nodes->child : NULL; c; c = c->next) {
        struct topo_label label[LABELS_MAX];
        uint32_t count = take_labels(tree_find(c, "labels"), label);
        struct topo_host *h;

        if (t->host_count == TOPO_HOSTS_MAX)
            return topo_bad(err, t, c->line, "found more than %u hosts, expected fewer",
                            TOPO_HOSTS_MAX);
        h = topo_host_add(t, patched_name(t, c), c->line);
        topo_labels_gpus(t, h, label, count);
        topo_labels_add(t, h, label, count);
    }
    return ERR_NONE;
}
