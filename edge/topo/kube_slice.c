/* ResourceSlices: devices with typed attributes. Slices of one node become one host. Devices that
 * draw on shared counters overlap: the one that takes a whole set is the GPU, the others are slices
 * of it, and nothing is added up. */
#include "edge/topo/kube.h"

#include <string.h>

/* An attribute is a union: string, int, bool or version. */
static const char *attribute(const struct tree *device, const char *name)
{
    const struct tree *all = tree_find(device, "attributes");
    const struct tree *value = tree_find(all, name);

    /* v1alpha3 to v1beta1 wrap the device once more. */
    if (!all)
        value = tree_find(kube_find(device, "basic", "attributes"), name);
    return value && value->child && value->child->text ? value->child->text : NULL;
}

static int64_t memory_of(const struct tree *device)
{
    const struct tree *capacity = tree_find(device, "capacity");
    const struct tree *memory;

    if (!capacity)
        capacity = kube_find(device, "basic", "capacity");
    memory = tree_find(capacity, "memory");
    if (!memory)
        memory = tree_find(capacity, "addressableMemory");
    if (memory && memory->kind == TREE_MAP)
        return kube_mib(topo_tree_word(memory, "value"));
    return memory && memory->text ? kube_mib(memory->text) : TOPO_NONE;
}

static void fill_device(struct topo *t, struct topo_device *d, const struct tree *device)
{
    const char *numa = attribute(device, "numa"), *name = topo_tree_word(device, "name");
    const char *pci = attribute(device, "resource.kubernetes.io/pciBusID");
    int64_t number;
    size_t digits = 0, length = name ? strlen(name) : 0;

    while (digits < length && name[length - 1 - digits] >= '0' && name[length - 1 - digits] <= '9')
        digits++;
    d->name = topo_keep_some(t, name);
    if (d->kind == TOPO_DEVICE_GPU && digits &&
        topo_number(name + length - digits, digits, 4095, &number))
        d->index = (int32_t)number;
    d->uuid = topo_keep_some(t, attribute(device, "uuid"));
    d->parent_uuid = topo_keep_some(t, attribute(device, "parentUUID"));
    d->profile = topo_keep_some(t, attribute(device, "profile"));
    d->model = topo_keep_some(t, attribute(device, "productName"));
    d->pci = topo_keep_some(t, pci ? pci : attribute(device, "pciAddr"));
    d->pcie_root = topo_keep_some(t, attribute(device, "resource.kubernetes.io/pcieRoot"));
    d->memory_mib = memory_of(device);
    if (numa && topo_number(numa, strlen(numa), 4095, &number)) {
        d->numa = (int32_t)number;
        d->numa_said = true;
    }
}

/* A device without attributes that takes part of a counter set. */
static bool takes_counters(const struct tree *device)
{
    const struct tree *consumes = tree_find(device, "consumesCounters");

    return consumes && consumes->child;
}

void kube_devices(struct topo *t, struct topo_host *h, const struct tree *list)
{
    uint32_t others = 0;
    int64_t most = TOPO_NONE;

    /* Of those on shared counters, the largest are the devices themselves. */
    for (const struct tree *c = list->child; c; c = c->next)
        if (takes_counters(c) && memory_of(c) > most)
            most = memory_of(c);
    for (const struct tree *c = list->child; c; c = c->next) {
        const char *type = attribute(c, "type");
        enum topo_device_kind kind = TOPO_DEVICE_GPU;
        struct topo_device *d;

        if (type && strcmp(type, "mig") == 0)
            kind = TOPO_DEVICE_SLICE;
        else if (type && strcmp(type, "gpu") != 0 && strcmp(type, "vfio") != 0 &&
                 strcmp(type, "amdgpu") != 0)
            kind = TOPO_DEVICE_OTHER;
        else if (!type && takes_counters(c) && memory_of(c) < most)
            kind = TOPO_DEVICE_SLICE;
        if (kind == TOPO_DEVICE_OTHER) {
            others++;
            continue;
        }
        d = topo_device_add(t, h, kind, c->line);
        if (!d)
            return;
        fill_device(t, d, c);
        if (kind == TOPO_DEVICE_SLICE && !d->profile)
            h->slices = "shared counters";
    }
    if (others)
        topo_remark(t, list->line, "%u devices are no GPUs and left out", others);
}

static struct topo_host *host_of(struct topo *t, const char *name, uint32_t line)
{
    /* Slices of one node stand close together. */
    for (size_t h = t->host_count; h-- > 0 && t->host_count - h < 64;)
        if (t->host[h].name && strcmp(t->host[h].name, name) == 0)
            return &t->host[h];
    return t->host_count == TOPO_HOSTS_MAX ? NULL : topo_host_add(t, name, line);
}

int kube_slice(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *spec = tree_find(object, "spec"), *devices = tree_find(spec, "devices");
    const char *node = topo_tree_word(spec, "nodeName"), *driver = topo_tree_word(spec, "driver");
    struct topo_host *h;

    if (driver && strcmp(driver, "compute-domain.nvidia.com") == 0) {
        topo_remark(t, object->line,
                    "a slice of channels of compute-domain.nvidia.com has no GPUs");
        return ERR_NONE;
    }
    if (!devices || devices->kind != TREE_LIST) {
        topo_remark(t, object->line,
                    tree_find(spec, "sharedCounters")
                        ? "a slice of shared counters: they bound what devices "
                          "add up to"
                        : "a slice without devices");
        return ERR_NONE;
    }
    if (!node) {
        topo_remark(t, object->line,
                    "a slice without nodeName is not read: its devices hang on "
                    "several nodes");
        return ERR_NONE;
    }
    h = host_of(t, node, object->line);
    if (!h)
        return topo_bad(err, t, object->line, "found more than %u hosts, expected fewer",
                        TOPO_HOSTS_MAX);
    kube_devices(t, h, devices);
    return ERR_NONE;
}
