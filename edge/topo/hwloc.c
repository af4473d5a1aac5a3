/* hwloc's XML, versions 1 to 3: nested <object>s, PCI devices with their OS devices, and matrices
 * of distances, of which those of link bandwidth are read. */
#include "edge/base/memory.h"
#include "edge/topo/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX   1200u /* of a matrix of distances */
#define DISTANCES_MAX 32u
#define BACKENDS_MAX  8u

struct hwloc {
    struct topo *t;
    struct topo_host *h;
    const struct xml *node[TOPO_DEVICES_MAX];
    uint32_t where[TOPO_DEVICES_MAX];
    struct topo_names objects; /* "OSDev:802" to a device before sorting */
    struct topo_names ends;    /* objects that a matrix of link bandwidth names */
    uint32_t displays;         /* of other vendors */
    bool any_link, links_to_cpu;
};

static bool is_type(const struct xml *x, const char *type)
{
    const char *is = xml_is(x, "object") ? xml_find(x, "type") : NULL;

    return is && strcmp(is, type) == 0;
}

static const char *info(const struct xml *x, const char *name)
{
    for (const struct xml *c = x->child; c; c = c->next) {
        const char *key = xml_is(c, "info") ? xml_find(c, "name") : NULL;

        if (key && strcmp(key, name) == 0)
            return xml_find(c, "value");
    }
    return NULL;
}

static bool has_cpus(const struct xml *x)
{
    const char *set = xml_find(x, "cpuset");

    return set && set[strspn(set, "0x,")] != '\0';
}

/* A NUMA node that only stands for its memory, as versions 2 and 3 write it. */
static bool is_memory_child(const struct xml *x)
{
    if (!is_type(x, "NUMANode") || !has_cpus(x))
        return false;
    for (const struct xml *c = x->child; c; c = c->next)
        if (xml_is(c, "object"))
            return false;
    return true;
}

/* The NUMA node of what hangs below x: in version 1 it is above, in version 2 beside. */
static int32_t numa_of(const struct xml *x)
{
    int64_t node = TOPO_NONE;

    for (x = x->parent; x; x = x->parent) {
        uint32_t count = 0;

        if (is_type(x, "NUMANode"))
            return xml_number(x, "os_index", 4095, &node) ? (int32_t)node : TOPO_NONE;
        for (const struct xml *c = x->child; c; c = c->next)
            if (is_memory_child(c) && xml_number(c, "os_index", 4095, &node))
                count++;
        if (count)
            return count == 1 ? (int32_t)node : TOPO_NONE;
    }
    return TOPO_NONE;
}

static bool is_link_matrix(const struct xml *x)
{
    const char *name = xml_find(x, "name");

    return strncmp(x->name, "distances", 9) == 0 && name &&
           (strcmp(name, "NVLinkBandwidth") == 0 || strcmp(name, "XGMIBandwidth") == 0);
}

/* A switch may hide its class; that links end there tells it. */
static bool is_link_end(struct hwloc *w, const struct xml *x)
{
    const char *gp = xml_find(x, "gp_index");
    char key[48];
    uint32_t value;

    if (!gp || strlen(gp) > 20)
        return false;
    (void)snprintf(key, sizeof(key), "PCIDev:%s", gp);
    return topo_names_find(&w->ends, key, &value);
}

/* "0302 [10de:1db8] ...": the kind of a PCI device; false: none that matters. */
static bool kind_of(struct hwloc *w, const struct xml *x, enum topo_device_kind *ret_kind,
                    const char **ret_vendor)
{
    static const struct {
        const char *id, *name;
    } vendor[] = {{"[10de:", "NVIDIA"}, {"[1002:", "AMD"}, {"[8086:", "Intel"}};
    const char *type = xml_find(x, "pci_type");

    *ret_vendor = NULL;
    if (!type || strlen(type) < 11)
        return false;
    for (size_t i = 0; i < sizeof(vendor) / sizeof(vendor[0]); i++)
        if (strncmp(type + 5, vendor[i].id, 6) == 0)
            *ret_vendor = vendor[i].name;
    if (strncmp(type, "0302", 4) == 0 || strncmp(type, "0380", 4) == 0 ||
        strncmp(type, "1200", 4) == 0 || strncmp(type, "0300", 4) == 0) {
        *ret_kind = TOPO_DEVICE_GPU;
        w->displays += !*ret_vendor;
        return *ret_vendor != NULL;
    }
    *ret_kind = TOPO_DEVICE_NIC;
    if (strncmp(type, "0200", 4) == 0 || strncmp(type, "0207", 4) == 0)
        return true;
    *ret_kind = TOPO_DEVICE_SWITCH;
    return strncmp(type, "0680 [10de:", 11) == 0 || is_link_end(w, x);
}

/* One of the libraries that list GPUs a second time: cuda0, nvml0, opencl0d0. */
static void count_backend(struct hwloc *w, const char *name)
{
    static const char *const known[] = {"cuda", "nvml", "opencl", "rsmi", "ze"};
    size_t letters = strcspn(name, "0123456789");
    struct topo_host *h = w->h;

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strlen(known[i]) != letters || strncmp(name, known[i], letters) != 0)
            continue;
        for (uint32_t b = 0; b < h->backend_count; b++)
            if (strcmp(h->backend[b].name, known[i]) == 0) {
                h->backend[b].count++;
                return;
            }
        if (!h->backend)
            h->backend = topo_take(w->t, BACKENDS_MAX * sizeof(*h->backend));
        h->backend[h->backend_count++] = (struct topo_count){.name = known[i], .count = 1};
        return;
    }
}

static void note_object(struct hwloc *w, const struct xml *x, const char *type, uint32_t device)
{
    const char *gp = xml_find(x, "gp_index");
    char key[48];
    bool is_new;

    if (!gp || strlen(gp) > 20)
        return;
    (void)snprintf(key, sizeof(key), "%s:%s", type, gp);
    (void)topo_names_put(&w->objects, topo_keep_string(w->t, key), device, &is_new);
}

static void read_os_device(struct hwloc *w, struct topo_device *d, const struct xml *x)
{
    const char *name = xml_find(x, "name"), *type = xml_find(x, "osdev_type");
    bool fabric = type && (strcmp(type, "3") == 0 || strcmp(type, "16") == 0);

    note_object(w, x, "OSDev", w->h->device_count - 1);
    if (!name || !*name)
        return;
    if (d->kind == TOPO_DEVICE_GPU) {
        count_backend(w, name);
        if (!d->uuid)
            d->uuid = topo_keep_some(w->t, info(x, "NVIDIAUUID"));
        if (!d->uuid)
            d->uuid = topo_keep_some(w->t, info(x, "AMDUUID"));
        if (!d->model)
            d->model = topo_keep_some(w->t, info(x, "GPUModel"));
    } else if (fabric || !d->name) {
        if (fabric)
            d->alias = d->name;
        d->name = topo_keep_string(w->t, name);
    } else {
        d->alias = topo_keep_string(w->t, name);
    }
}

static void add_device(struct hwloc *w, const struct xml *x, enum topo_device_kind kind,
                       const char *vendor)
{
    struct topo_device *d = topo_device_add(w->t, w->h, kind, x->line);

    if (!d)
        return;
    w->node[w->h->device_count - 1] = x;
    d->pci = topo_keep_some(w->t, xml_find(x, "pci_busid"));
    d->vendor = vendor;
    d->numa = numa_of(x);
    d->numa_said = true;
    for (const struct xml *up = x->parent; up && !d->cpus; up = up->parent)
        if (xml_find(up, "cpuset"))
            d->cpus = topo_mask_ranges(w->t, xml_find(up, "cpuset"));
    note_object(w, x, "PCIDev", w->h->device_count - 1);
    for (const struct xml *c = x->child; c; c = c->next)
        if (is_type(c, "OSDev"))
            read_os_device(w, d, c);
    if (!d->model)
        d->model = topo_keep_some(w->t, xml_find(x, "name"));
}

static void read_objects(struct hwloc *w, const struct xml *root)
{
    struct topo_host *h = w->h;
    enum topo_device_kind kind;
    const char *vendor;

    h->packages = h->numa_nodes = h->numa_memory = 0;
    for (const struct xml *x = root; x; x = xml_after(root, x)) {
        if (is_type(x, "PCIDev") && kind_of(w, x, &kind, &vendor))
            add_device(w, x, kind, vendor);
        else if (is_type(x, "Package") || is_type(x, "Socket"))
            h->packages++;
        else if (is_type(x, "Machine") && !h->name)
            h->name = topo_keep_some(w->t, info(x, "HostName"));
        if (is_type(x, "NUMANode")) {
            h->numa_nodes++;
            h->numa_memory += !has_cpus(x);
        }
    }
}

static const char *bridge_of(const struct xml *x)
{
    return is_type(x, "Bridge") ? xml_find(x, "bridge_type") : NULL;
}

/* The path over PCIe, by the nearest object above both. */
static enum topo_path pci_path(const struct hwloc *w, uint32_t a, uint32_t b)
{
    const struct xml *x = w->node[a], *y = w->node[b];
    uint32_t bridges_x = 0, bridges_y = 0;
    const struct topo_device *da = &w->h->device[w->where[a]], *db = &w->h->device[w->where[b]];

    x = x->parent;
    y = y->parent;
    while (x && y && x != y) {
        if (x->depth >= y->depth) {
            bridges_x += bridge_of(x) != NULL;
            x = x->parent;
        } else {
            bridges_y += bridge_of(y) != NULL;
            y = y->parent;
        }
    }
    const char *bridge = x && x == y ? bridge_of(x) : NULL;
    if (bridge && strcmp(bridge, "1-1") == 0)
        return bridges_x <= 1 && bridges_y <= 1 ? TOPO_PATH_PIX : TOPO_PATH_PXB;
    if (bridge)
        return TOPO_PATH_PHB;
    if (da->numa == TOPO_NONE || db->numa == TOPO_NONE)
        return TOPO_PATH_UNKNOWN;
    return da->numa == db->numa ? TOPO_PATH_NODE : TOPO_PATH_SYS;
}

/* The texts of all children of that name behind each other; the caller frees. */
static void gather(const struct xml *x, const char *name, struct out *all)
{
    out_add(all, "");
    for (const struct xml *c = x->child; c; c = c->next)
        if (xml_is(c, name) && c->text) {
            out_add(all, c->text);
            out_char(all, ' ');
        }
}

/* The objects of a matrix as devices, TOPO_NONE for what is none; false: not that many. */
static bool read_indexes(struct hwloc *w, const struct xml *x, uint32_t count, int32_t *device,
                         bool *ret_mixed)
{
    const char *type = xml_find(x, "type");
    struct out all = {0};
    uint32_t found = 0;
    char first[32] = "";

    gather(x, "indexes", &all);
    for (const char *at = all.bytes; at && found < count;) {
        at += strspn(at, " \n\t\r");
        size_t length = strcspn(at, " \n\t\r");
        char key[48];
        uint32_t d;

        if (length == 0 || length > 40)
            break;
        if (type)
            (void)snprintf(key, sizeof(key), "%.20s:%.*s", type, (int)(length > 20 ? 20 : length),
                           at);
        else
            (void)snprintf(key, sizeof(key), "%.*s", (int)length, at);
        size_t word = strcspn(key, ":");
        if (!first[0])
            (void)snprintf(first, sizeof(first), "%.*s", (int)(word < 30 ? word : 30), key);
        *ret_mixed = *ret_mixed || strlen(first) != word || strncmp(first, key, word) != 0;
        w->links_to_cpu = w->links_to_cpu || strncmp(key, "Package:", 8) == 0;
        device[found++] = topo_names_find(&w->objects, key, &d) ? (int32_t)w->where[d] : TOPO_NONE;
        at += length;
    }
    out_free(&all);
    return found == count;
}

/* Values in rows of count; a pair takes the larger of its two directions. */
static void read_values(struct hwloc *w, const struct xml *x, uint32_t count, const int32_t *device,
                        enum topo_path path)
{
    struct out all = {0};
    const char *at;
    uint64_t cell = 0, cells = (uint64_t)count * count;

    gather(x, "u64values", &all);
    for (at = all.bytes; at && cell < cells; cell++) {
        at += strspn(at, " \n\t\r");
        size_t length = strcspn(at, " \n\t\r");
        int32_t a = device[cell / count], b = device[cell % count];
        int64_t value;

        if (length == 0 || !topo_number(at, length, UINT32_MAX, &value))
            break;
        at += length;
        if (a == TOPO_NONE || b == TOPO_NONE || a == b || value == 0)
            continue;

        struct topo_link link = *topo_link(w->h, (uint32_t)a, (uint32_t)b);
        if (link.path == path && (int64_t)link.mbyte_s >= value)
            continue;
        topo_link_set(w->h, (uint32_t)a, (uint32_t)b,
                      (struct topo_link){.path = path, .mbyte_s = (uint32_t)value});
        w->any_link = true;
    }
    if (cell < cells) {
        topo_remark(w->t, x->line, "the matrix %s has %llu of %llu values",
                    SHOWN(xml_find(x, "name") ? xml_find(x, "name") : "?"),
                    (unsigned long long)cell, (unsigned long long)cells);
        w->h->complete = false;
    }
    out_free(&all);
}

/* The objects that matrices of link bandwidth name, before any device is read. */
static void find_link_ends(struct hwloc *w, const struct xml *root)
{
    for (const struct xml *x = root; x; x = xml_after(root, x)) {
        struct out all = {0};

        if (!is_link_matrix(x))
            continue;
        gather(x, "indexes", &all);
        for (const char *at = all.bytes; w->ends.count < OBJECTS_MAX;) {
            bool is_new;

            at += strspn(at, " \n\t\r");
            size_t length = strcspn(at, " \n\t\r");
            if (length == 0)
                break;
            (void)topo_names_put(&w->ends, topo_keep(w->t, at, length), 0, &is_new);
            at += length;
        }
        out_free(&all);
    }
}

/* Islands that meet at switches may be joined further, where no tool looks. */
static void remark_trunks(struct hwloc *w)
{
    const struct topo_host *h = w->h;
    int32_t first = TOPO_NONE;
    bool parted = false;

    for (uint32_t d = 0; d < h->device_count; d++) {
        if (h->device[d].kind != TOPO_DEVICE_SWITCH || h->device[d].island == TOPO_NONE)
            continue;
        parted = parted || (first != TOPO_NONE && h->device[d].island != first);
        first = h->device[d].island;
    }
    if (parted)
        topo_remark(w->t, 0,
                    "links between switches are not listed: islands may be joined by "
                    "them");
}

static void read_matrix(struct hwloc *w, const struct xml *x)
{
    const char *name = xml_find(x, "name");
    struct topo_host *h = w->h;
    int64_t count = 0;
    bool mixed = false;
    enum topo_path path = TOPO_PATH_UNKNOWN;

    if (!xml_number(x, "nbobjs", OBJECTS_MAX, &count) || h->distance_count == DISTANCES_MAX) {
        topo_remark(w->t, x->line,
                    "a matrix of distances without a size, or one too many, is "
                    "ignored");
        return;
    }
    if (xml_is(x, "distances"))
        name = "old-style latency";
    if (name && strcmp(name, "NVLinkBandwidth") == 0)
        path = TOPO_PATH_NVLINK;
    else if (name && strcmp(name, "XGMIBandwidth") == 0)
        path = TOPO_PATH_XGMI;
    if (path != TOPO_PATH_UNKNOWN) {
        int32_t *device = memory_zeroed(((size_t)count + 1) * sizeof(*device));

        if (read_indexes(w, x, (uint32_t)count, device, &mixed)) {
            read_values(w, x, (uint32_t)count, device, path);
        } else {
            topo_remark(w->t, x->line, "the matrix %s names fewer objects than it has", name);
            h->complete = false;
        }
        free(device);
    }
    if (!h->distance)
        h->distance = topo_take(w->t, DISTANCES_MAX * sizeof(*h->distance));
    h->distance[h->distance_count++] = (struct topo_count){
        .name = topo_keep_string(w->t, name ? name : "unnamed"), .count = count, .mixed = mixed};
}

int topo_read_hwloc(struct topo *t, const struct xml *root, struct err *err)
{
    struct hwloc w = {.t = t};
    bool machine = false;

    t->kind = TOPO_HWLOC;
    for (const struct xml *x = root->child; x && !machine; x = x->next)
        machine = xml_is(x, "object");
    if (!machine)
        return topo_bad(err, t, root->line, "found no <object> in <%s>, expected a machine",
                        SHOWN(root->name));
    w.h = topo_host_add(t, NULL, root->line);
    find_link_ends(&w, root);
    read_objects(&w, root);
    topo_host_sort(t, w.h, w.where);
    topo_links_make(t, w.h);
    for (uint32_t a = 0; a < w.h->device_count; a++)
        for (uint32_t b = a + 1; b < w.h->device_count; b++)
            topo_link_set(w.h, w.where[a], w.where[b],
                          (struct topo_link){.path = pci_path(&w, a, b)});
    topo_bridges_find(t, w.h);
    for (const struct xml *x = root; x; x = xml_after(root, x))
        if (strncmp(x->name, "distances", 9) == 0 && xml_find(x, "nbobjs"))
            read_matrix(&w, x);
    w.h->links_known = w.any_link;
    if (w.links_to_cpu)
        topo_remark(t, 0, "links between GPUs and CPU packages are listed too");
    if (w.displays)
        topo_remark(t, 0, "%u display devices of other vendors are no accelerators", w.displays);
    if (w.h->numa_memory)
        topo_remark(t, 0, "%d NUMA nodes have no CPUs: they are memory, such as that of GPUs",
                    w.h->numa_memory);
    topo_islands_find(t, w.h);
    remark_trunks(&w);
    topo_names_free(&w.ends);
    topo_names_free(&w.objects);
    return ERR_NONE;
}
