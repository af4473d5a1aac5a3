/* Nodes: devices, what stands beside them, labels, taints, state. */
#include "edge/audit/facts_parts.h"

#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 16 /* as the core has them per host */

uint32_t facts_label(const struct facts *f, const struct facts_node *n, uint32_t key)
{
    for (uint32_t l = 0; l < n->label_count; l++)
        if (f->label[n->label_first + l].key == key)
            return f->label[n->label_first + l].value;
    return FACTS_NONE;
}

static void take_labels(struct facts *f, struct facts_node *n, const struct tree *labels)
{
    n->label_first = (uint32_t)f->label_count;
    for (const struct tree *t = labels && labels->kind == TREE_MAP ? labels->child : NULL; t;
         t = t->next) {
        if (t->kind != TREE_STRING && t->kind != TREE_NUMBER)
            continue;
        f->label = out_grow(f->label, f->label_count, &f->label_limit, sizeof(*f->label));
        f->label[f->label_count++] =
            (struct facts_label){names_put(&f->names, t->key), names_put(&f->names, t->text)};
        n->label_count++;
    }
}

static uint8_t effect_of(const char *text)
{
    if (!text || !*text)
        return EFFECT_ANY;
    return strcmp(text, "NoExecute") == 0          ? EFFECT_NO_EXECUTE
           : strcmp(text, "PreferNoSchedule") == 0 ? EFFECT_PREFER
                                                   : EFFECT_NO_SCHEDULE;
}

/* Taints that stand for the node's state are read as that state, not as taints. */
static bool is_state(const char *key)
{
    static const char prefix[] = "node.kubernetes.io/";

    return strncmp(key, prefix, sizeof(prefix) - 1) == 0;
}

static void take_taints(struct facts *f, struct facts_node *n, const struct tree *taints)
{
    n->taint_first = (uint32_t)f->taint_count;
    for (const struct tree *t = taints && taints->kind == TREE_LIST ? taints->child : NULL; t;
         t = t->next) {
        const char *key = facts_string(t, "key");
        uint8_t effect = effect_of(facts_string(t, "effect"));

        if (!key || effect == EFFECT_PREFER)
            continue;
        if (is_state(key)) {
            if (strstr(key, "/unschedulable"))
                n->cordoned = true;
            else if (strstr(key, "/not-ready") || strstr(key, "/unreachable"))
                n->ready = false;
            continue;
        }
        f->taint = out_grow(f->taint, f->taint_count, &f->taint_limit, sizeof(*f->taint));
        f->taint[f->taint_count++] = (struct facts_taint){
            names_put(&f->names, key), names_put(&f->names, facts_plain(t, "value")), effect};
        n->taint_count++;
    }
}

static bool is_ready(const struct tree *conditions)
{
    for (const struct tree *t = conditions && conditions->kind == TREE_LIST ? conditions->child
                                                                            : NULL;
         t; t = t->next) {
        const char *type = facts_string(t, "type"), *status = facts_string(t, "status");

        if (type && strcmp(type, "Ready") == 0)
            return status && strcmp(status, "True") == 0;
    }
    return true; /* nothing is said: a node that was just made up, or a shortened dump */
}

static uint32_t model_put(struct facts *f, uint32_t resource, uint32_t product, int64_t mem_mib)
{
    for (uint32_t m = 0; m < f->model_count; m++)
        if (f->model[m].resource == resource && f->model[m].product == product)
            return m;
    if (f->model_count == FACTS_MODELS_MAX) {
        facts_odd(f, ODD_MODELS, product, 0);
        return FACTS_MODELS_MAX - 1;
    }
    f->model[f->model_count] = (struct facts_model){resource, product, mem_mib};
    return f->model_count++;
}

/* The label that names the model, by vendor and provider. */
static const char *product_of(const struct tree *labels)
{
    static const char *const keys[] = {"nvidia.com/gpu.product",
                                       "amd.com/gpu.product-name",
                                       "beta.amd.com/gpu.product-name",
                                       "node.kubernetes.io/npu.chip.name",
                                       "cloud.google.com/gke-accelerator",
                                       "karpenter.k8s.aws/instance-gpu-name",
                                       "k8s.amazonaws.com/accelerator",
                                       "gpu.nvidia.com/model",
                                       "gpu.nvidia.com/class",
                                       "alibabacloud.com/gpu-card-model",
                                       "aliyun.accelerator/nvidia_name",
                                       "accelerator-type",
                                       "accelerator"};

    for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++) {
        const char *value = facts_string(labels, keys[n]);

        if (value && *value)
            return value;
    }
    return NULL;
}

static void count_mig(struct facts *f, struct facts_node *n, const struct tree *allocatable)
{
    uint64_t before = f->mig_slices;

    for (const struct tree *t = allocatable && allocatable->kind == TREE_MAP ? allocatable->child
                                                                             : NULL;
         t; t = t->next) {
        int64_t count = 0;

        if (strncmp(t->key, "nvidia.com/mig-", 15) == 0 &&
            facts_quantity(f, allocatable, t->key, 0, &count))
            f->mig_slices += (uint64_t)count;
    }
    if (f->mig_slices > before)
        facts_odd(f, ODD_MIG_NODE, n->name, 0);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What a node says of its devices: counted in shares, where it has any. */
struct devices {
    const char *resource, *product;
    int64_t all, usable, replicas;
    struct facts_cards cards;
};

static void read_devices(struct facts *f, struct devices *d, const struct tree *meta,
                         const struct tree *capacity, const struct tree *allocatable)
{
    const struct tree *labels = facts_field(meta, "labels");

    d->replicas = 1;
    d->product = product_of(labels);
    if (facts_hami(facts_field(meta, "annotations"), &d->cards)) {
        d->resource = "nvidia.com/gpu";
        d->replicas = d->cards.shares;
        d->all = d->cards.all * d->replicas;
        d->usable = d->cards.healthy * d->replicas;
        d->product = d->product ? d->product : d->cards.type;
        return;
    }
    d->resource = facts_devices(f, capacity, &d->all);
    if (!d->resource)
        d->resource = facts_devices(f, allocatable, &d->all);
    if (!d->resource)
        return;
    d->usable = d->all;
    if (allocatable && !facts_quantity(f, allocatable, d->resource, 0, &d->usable))
        d->usable = 0;
    (void)facts_quantity(f, labels, "nvidia.com/gpu.replicas", 0, &d->replicas);
    if (strcmp(d->resource, "nvidia.com/gpu") != 0 || d->replicas < 1 || d->all % d->replicas != 0)
        d->replicas = 1;
}

/* Devices and their model; a node without any keeps FACTS_NONE. */
static void take_devices(struct facts *f, struct facts_node *n, const struct tree *meta,
                         const struct tree *capacity, const struct tree *allocatable)
{
    const struct tree *labels = facts_field(meta, "labels");
    struct devices d = {.resource = NULL};
    int64_t all, usable, mem_mib = 0;

    count_mig(f, n, allocatable ? allocatable : capacity);
    read_devices(f, &d, meta, capacity, allocatable);
    if (!d.resource)
        return;
    if (d.product && strstr(d.product, "-MIG-")) { /* strategy single: the count is of slices */
        f->mig_slices += (uint64_t)d.usable;
        facts_odd(f, ODD_MIG_NODE, n->name, 0);
        return;
    }
    all = d.all / d.replicas;
    usable = d.usable / d.replicas;
    if (d.replicas > 1)
        facts_odd(f, ODD_SHARED_NODE, n->name, all);
    if (usable > all)
        facts_odd(f, ODD_OVER_CAPACITY, n->name, usable - all);
    if (usable < all)
        facts_odd(f, ODD_UNHEALTHY, n->name, all - usable);
    all = usable > all ? usable : all;
    if (all > GPUS_MAX)
        facts_odd(f, ODD_LARGE_NODE, n->name, all - GPUS_MAX);
    n->capacity = (uint32_t)least(all, GPUS_MAX);
    n->allocatable = (uint32_t)least(usable, n->capacity);
    n->replicas = (uint32_t)least(d.replicas, 1000);
    (void)facts_quantity(f, labels, "nvidia.com/gpu.memory", 0, &mem_mib);
    n->model =
        model_put(f, names_put(&f->names, d.resource), names_put(&f->names, d.product), mem_mib);
    f->gpu_nodes++;
    if (!d.product)
        facts_odd(f, ODD_NO_PRODUCT, n->name, n->capacity);
    if (!n->ready)
        facts_odd(f, ODD_NOT_READY, n->name, n->capacity);
}

/* What beside devices is said twice. */
static void compare(struct facts *f, const struct facts_node *n, const struct tree *capacity)
{
    int64_t all;

    if ((facts_quantity(f, capacity, "cpu", 3, &all) && n->cpu_milli > all) ||
        (facts_memory(f, capacity, false, &all) && n->mem_mib > all))
        facts_odd(f, ODD_OVER_CAPACITY, n->name, 0);
}

/* False: it is known already. */
static bool is_new(struct facts *f, const char *name, uint32_t uid)
{
    uint32_t row = facts_row(f, 'n', name);

    if (row == FACTS_NONE)
        return true;
    facts_odd(f, uid != f->node[row].uid ? ODD_TWO_CLUSTERS : ODD_TWICE, f->node[row].name, 0);
    return false;
}

void facts_add_node(struct facts *f, const struct tree *node)
{
    const struct tree *meta = facts_field(node, "metadata"), *spec = facts_field(node, "spec"),
                      *status = facts_field(node, "status"),
                      *capacity = facts_field(status, "capacity"),
                      *allocatable = facts_field(status, "allocatable"),
                      *room = allocatable ? allocatable : capacity, *cordon;
    const char *name = facts_string(meta, "name");
    struct facts_node n = {
        .model = FACTS_NONE, .replicas = 1, .cpu_milli = -1, .mem_mib = -1, .pods = -1};

    if (!name)
        name = "(a node without a name)";
    n.name = names_put(&f->names, name);
    n.uid = names_put(&f->names, facts_string(meta, "uid"));
    if (!is_new(f, name, n.uid))
        return;
    n.ready = is_ready(facts_field(status, "conditions"));
    cordon = facts_field(spec, "unschedulable");
    n.cordoned = cordon && cordon->kind == TREE_BOOL && cordon->truth;
    take_labels(f, &n, facts_field(meta, "labels"));
    take_taints(f, &n, facts_field(spec, "taints"));
    take_devices(f, &n, meta, capacity, allocatable);
    (void)facts_quantity(f, room, "cpu", 3, &n.cpu_milli);
    (void)facts_memory(f, room, false, &n.mem_mib);
    (void)facts_quantity(f, room, "pods", 0, &n.pods);
    compare(f, &n, capacity);
    for (unsigned l = 0; l < FACTS_LEVELS_MAX; l++)
        n.domain[l] = FACTS_NONE;
    f->node = out_grow(f->node, f->node_count, &f->node_limit, sizeof(*f->node));
    f->node[f->node_count] = n;
    facts_row_put(f, 'n', name, (uint32_t)f->node_count++);
}
