/* NCCL's and RCCL's XML: <cpu> holds <pci> trees, a GPU has <gpu> with <nvlink> or <xgmi>, a NIC
 * has <nic>. Hand-written files have PCI classes only, or not even those. */
#include "edge/topo/xml.h"

#include <string.h>

struct nccl {
    struct topo *t;
    struct topo_host *h;
    const struct xml *node[TOPO_DEVICES_MAX]; /* of a device: its <pci>, or <nic> without one */
    uint32_t where[TOPO_DEVICES_MAX];         /* after sorting */
    uint32_t self_links, nets;
    bool any_link;
};

/* The CPU above an element. */
static const struct xml *cpu_of(const struct xml *x)
{
    while (x && !xml_is(x, "cpu"))
        x = x->parent;
    return x;
}

static const struct xml *child_find(const struct xml *x, const char *name)
{
    for (const struct xml *c = x->child; c; c = c->next)
        if (xml_is(c, name))
            return c;
    return NULL;
}

/* What a <pci> is; false: a bridge, or nothing that matters here. */
static bool kind_of(const struct xml *pci, enum topo_device_kind *ret_kind)
{
    static const struct {
        const char *class;
        enum topo_device_kind kind;
    } known[] = {
        {"0x0300", TOPO_DEVICE_GPU}, {"0x0302", TOPO_DEVICE_GPU},    {"0x0380", TOPO_DEVICE_GPU},
        {"0x1200", TOPO_DEVICE_GPU}, {"0x0200", TOPO_DEVICE_NIC},    {"0x0207", TOPO_DEVICE_NIC},
        {"0x0280", TOPO_DEVICE_NIC}, {"0x0680", TOPO_DEVICE_SWITCH},
    };
    const char *class = xml_find(pci, "class");

    *ret_kind = TOPO_DEVICE_OTHER;
    if (child_find(pci, "gpu")) {
        *ret_kind = TOPO_DEVICE_GPU;
        return true;
    }
    if (child_find(pci, "nic")) {
        *ret_kind = TOPO_DEVICE_NIC;
        return true;
    }
    if (!class || !*class)
        return !child_find(pci, "pci");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strncmp(class, known[i].class, strlen(known[i].class)) == 0) {
            *ret_kind = known[i].kind;
            return true;
        }
    return false;
}

static void add_nets(struct nccl *n, struct topo_device *d, const struct xml *nic)
{
    for (const struct xml *net = nic->child; net; net = net->next) {
        if (!xml_is(net, "net"))
            continue;
        n->nets++;
        d->ports++;
        if (!d->name)
            d->name = topo_keep_some(n->t, xml_find(net, "name"));
    }
}

static void add_device(struct nccl *n, const struct xml *x, enum topo_device_kind kind)
{
    const struct xml *cpu = cpu_of(x), *gpu = child_find(x, "gpu");
    const struct xml *nic = xml_is(x, "nic") ? x : child_find(x, "nic");
    const char *pci = topo_keep_some(n->t, xml_find(x, "busid"));
    const char *affinity = cpu ? xml_find(cpu, "affinity") : NULL;
    int64_t number;

    for (uint32_t i = 0; pci && i < n->h->device_count; i++)
        if (n->h->device[i].pci && strcmp(n->h->device[i].pci, pci) == 0) {
            topo_remark(n->t, x->line, "a second device at %s is ignored", SHOWN(pci));
            return;
        }

    struct topo_device *d = topo_device_add(n->t, n->h, kind, x->line);
    if (!d)
        return;
    n->node[n->h->device_count - 1] = x;
    d->pci = pci;
    if (cpu && xml_number(cpu, "numaid", 4095, &number)) {
        d->numa = (int32_t)number;
        d->numa_said = true;
    }
    if (affinity && *affinity) {
        d->cpus = topo_mask_ranges(n->t, affinity);
        if (!d->cpus)
            topo_remark(n->t, cpu->line, "the affinity is no mask of CPUs: %s", SHOWN(affinity));
    }
    if (gpu && xml_number(gpu, "dev", 4095, &number))
        d->index = (int32_t)number;
    if (nic)
        add_nets(n, d, nic);
}

static void add_devices(struct nccl *n, const struct xml *root)
{
    enum topo_device_kind kind;

    for (const struct xml *x = root; x; x = xml_after(root, x)) {
        if (xml_is(x, "pci") && kind_of(x, &kind))
            add_device(n, x, kind);
        else if (xml_is(x, "nic") && x->parent && !xml_is(x->parent, "pci"))
            add_device(n, x, TOPO_DEVICE_NIC);
    }
}

/* The devices that links lead to and the file does not list, if they are switches. */
static void add_switches(struct nccl *n, const struct xml *root)
{
    for (const struct xml *x = root; x; x = xml_after(root, x)) {
        const char *target, *class;
        bool known = false;

        if (!xml_is(x, "nvlink"))
            continue;
        target = xml_find(x, "target");
        class = xml_find(x, "tclass");
        if (!target || !*target || !class || strcmp(class, "0x068000") != 0)
            continue;
        for (uint32_t d = 0; d < n->h->device_count && !known; d++)
            known = n->h->device[d].pci && strcmp(n->h->device[d].pci, target) == 0;
        if (known)
            continue;
        struct topo_device *d = topo_device_add(n->t, n->h, TOPO_DEVICE_SWITCH, x->line);
        if (!d)
            return;
        n->node[n->h->device_count - 1] = NULL;
        d->pci = topo_keep_string(n->t, target);
    }
}

/* How many PCI elements stand above x, itself not counted. */
static uint32_t pci_above(const struct xml *x)
{
    uint32_t count = 0;

    for (x = x->parent; x && xml_is(x, "pci"); x = x->parent)
        count++;
    return count;
}

/* The path between two places of the PCI trees. */
static enum topo_path pci_path(const struct xml *a, const struct xml *b)
{
    const struct xml *cpu_a = cpu_of(a), *cpu_b = cpu_of(b);
    uint32_t above_a = pci_above(a), above_b = pci_above(b), bridges = above_a + above_b;

    if (!cpu_a || !cpu_b)
        return TOPO_PATH_UNKNOWN;
    if (cpu_a != cpu_b)
        return TOPO_PATH_SYS;
    while (above_a > above_b) {
        a = a->parent;
        above_a--;
    }
    while (above_b > above_a) {
        b = b->parent;
        above_b--;
    }
    while (above_a > 0 && a->parent != b->parent) {
        a = a->parent;
        b = b->parent;
        above_a--;
    }
    if (above_a == 0)
        return TOPO_PATH_PHB;
    /* above_a bridges are common; of those one is on the way. */
    return bridges - 2 * above_a + 1 == 1 ? TOPO_PATH_PIX : TOPO_PATH_PXB;
}

static void set_pci_paths(struct nccl *n)
{
    for (uint32_t a = 0; a < n->h->device_count; a++)
        for (uint32_t b = a + 1; b < n->h->device_count; b++)
            if (n->node[a] && n->node[b])
                topo_link_set(n->h, n->where[a], n->where[b],
                              (struct topo_link){.path = pci_path(n->node[a], n->node[b])});
}

static int32_t device_at(const struct nccl *n, const char *pci)
{
    for (uint32_t d = 0; d < n->h->device_count; d++)
        if (n->h->device[d].pci && strcmp(n->h->device[d].pci, pci) == 0)
            return (int32_t)d;
    return TOPO_NONE;
}

/* One <nvlink> or <xgmi> of the device at place d of the sorted table. */
static void add_link(struct nccl *n, uint32_t d, const struct xml *x, enum topo_path path)
{
    const char *target = xml_find(x, "target");
    struct topo_device *device = &n->h->device[d];
    int64_t links;

    if (!target || !*target || !xml_number(x, "count", 999, &links) || links == 0) {
        topo_remark(n->t, x->line, "a link without a target or a count is ignored");
        return;
    }

    int32_t to = device_at(n, target);
    if (to == (int32_t)d) {
        n->self_links++;
        return;
    }
    if (to == TOPO_NONE || n->h->device[to].kind != TOPO_DEVICE_GPU) {
        device->links_out += (uint32_t)links;
        device->links_out_ends++;
    }
    if (to == TOPO_NONE)
        return;

    struct topo_link old = *topo_link(n->h, d, (uint32_t)to);
    if (old.path == path && old.links != (uint32_t)links)
        topo_remark(n->t, x->line, "the two ends of a link count %u and %lld: the first is kept",
                    old.links, (long long)links);
    else
        topo_link_set(n->h, d, (uint32_t)to,
                      (struct topo_link){.path = path, .links = (uint32_t)links});
    n->any_link = true;
}

static void add_links(struct nccl *n)
{
    const struct xml *node[TOPO_DEVICES_MAX] = {0};

    for (uint32_t d = 0; d < n->h->device_count; d++)
        node[n->where[d]] = n->node[d];
    for (uint32_t d = 0; d < n->h->device_count; d++) {
        const struct xml *gpu = node[d] ? child_find(node[d], "gpu") : NULL;

        for (const struct xml *x = gpu ? gpu->child : NULL; x; x = x->next) {
            if (xml_is(x, "nvlink"))
                add_link(n, d, x, TOPO_PATH_NVLINK);
            else if (xml_is(x, "xgmi"))
                add_link(n, d, x, TOPO_PATH_XGMI);
        }
    }
}

static void finish(struct nccl *n)
{
    uint32_t others = 0;

    for (uint32_t d = 0; d < n->h->device_count; d++)
        others += n->h->device[d].kind == TOPO_DEVICE_OTHER;
    n->h->links_known = n->any_link;
    if (n->self_links) {
        n->h->self_links = true;
        topo_remark(n->t, 0,
                    "%u links lead from a GPU to itself and are ignored: pairs are not "
                    "described",
                    n->self_links);
    }
    if (others)
        topo_remark(n->t, 0, "%u PCI devices have no class: GPUs and NICs cannot be told apart",
                    others);
    topo_islands_find(n->t, n->h);
}

int topo_read_nccl(struct topo *t, const struct xml *root, struct err *err)
{
    struct nccl n = {.t = t};

    t->kind = TOPO_NCCL;
    n.h = topo_host_add(t, NULL, root->line);
    add_devices(&n, root);
    if (n.h->device_count == 0)
        return topo_bad(err, t, root->line, "found no <pci> device in <system>, expected some");
    add_switches(&n, root);
    topo_host_sort(t, n.h, n.where);
    topo_links_make(t, n.h);
    set_pci_paths(&n);
    topo_bridges_find(t, n.h);
    add_links(&n);
    finish(&n);
    return ERR_NONE;
}

/* A dump of rings and trees: it names GPUs and shows no links. */
int topo_read_nccl_graph(struct topo *t, const struct xml *root, struct err *err)
{
    struct topo_host *h = topo_host_add(t, NULL, root->line);
    uint32_t graphs = 0;
    int64_t dev;

    t->kind = TOPO_NCCL_GRAPH;
    for (const struct xml *x = root; x; x = xml_after(root, x)) {
        bool known = false;

        graphs += xml_is(x, "graph");
        if (!xml_is(x, "gpu") || !xml_number(x, "dev", 4095, &dev))
            continue;
        for (uint32_t d = 0; d < h->device_count && !known; d++)
            known = h->device[d].index == dev;
        struct topo_device *d = known ? NULL : topo_device_add(t, h, TOPO_DEVICE_GPU, x->line);
        if (d)
            d->index = (int32_t)dev;
    }
    if (graphs == 0)
        return topo_bad(err, t, root->line, "found no <graph> in <graphs>, expected one");
    topo_host_sort(t, h, NULL);
    topo_remark(t, root->line,
                "a dump of %u graphs shows which way data goes, not which links "
                "there are; NCCL_TOPO_DUMP_FILE writes those",
                graphs);
    return ERR_NONE;
}
