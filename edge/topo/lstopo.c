/* lstopo's text: one object a line, deeper ones indented by two blanks. Object types have changed
 * names over time; what matters here is Package (Socket), NUMANode, HostBridge, PCIBridge, PCI. */
#include "edge/topo/topo_parts.h"

#include <string.h>

#define DEPTH_MAX 128u

enum object { OBJECT_OTHER, OBJECT_PACKAGE, OBJECT_NUMA, OBJECT_HOST_BRIDGE, OBJECT_BRIDGE };

/* The way from the machine down to the line at hand. */
struct level {
    uint32_t indent;
    enum object object;
    uint32_t id;    /* of the line: equal ids mean one object */
    int32_t numa;   /* its own, or that of the only node below it */
    uint32_t nodes; /* NUMA nodes below it that are told by lines of their own */
};

struct place {
    struct level way[DEPTH_MAX];
    uint32_t depth;
};

struct lstopo {
    struct topo *t;
    struct topo_host *h;
    struct place now;
    const struct place *place[TOPO_DEVICES_MAX]; /* of each device */
    bool in_device;
    bool deep;
};

static const char *skip(const char *at, const char *word)
{
    size_t length = strlen(word);

    return strncmp(at, word, length) == 0 ? at + length : NULL;
}

static enum object object_of(const char *at)
{
    static const struct {
        const char *word;
        enum object object;
    } known[] = {
        {"Package", OBJECT_PACKAGE},
        {"Socket", OBJECT_PACKAGE},
        {"NUMANode", OBJECT_NUMA},
        {"HostBridge", OBJECT_HOST_BRIDGE},
        {"Bridge Host->PCI", OBJECT_HOST_BRIDGE},
        {"PCIBridge", OBJECT_BRIDGE},
        {"Bridge PCI->PCI", OBJECT_BRIDGE},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (skip(at, known[i].word))
            return known[i].object;
    return OBJECT_OTHER;
}

/* "NUMANode L#0 (P#0 64GB)": the number behind P#; older: "NUMANode P#0". */
static int32_t number_of(const char *at)
{
    const char *p = strstr(at, "P#");
    int64_t number;

    if (!p || !topo_number(p + 2, strspn(p + 2, "0123456789"), 4095, &number))
        return TOPO_NONE;
    return (int32_t)number;
}

/* "PCI 3b:00.0 (3D)", "PCI 10de:1db8": the kind by the word in brackets, the vendor by its id. */
static bool device_of(const char *at, enum topo_device_kind *ret_kind)
{
    if (strstr(at, "(3D)") || strstr(at, "(Display)") || strstr(at, "(ProcessingAccelerator)") ||
        skip(at, "PCI 10de:"))
        *ret_kind = TOPO_DEVICE_GPU;
    else if (strstr(at, "(InfiniBand)") || strstr(at, "(Ethernet)") || skip(at, "PCI 15b3:"))
        *ret_kind = TOPO_DEVICE_NIC;
    else if (strstr(at, "(VGA)"))
        *ret_kind = TOPO_DEVICE_OTHER;
    else
        return false;
    return true;
}

static void add_device(struct lstopo *l, const char *at, enum topo_device_kind kind, uint32_t line)
{
    struct topo_device *d = topo_device_add(l->t, l->h, kind, line);
    const char *id = at + strlen("PCI ");

    l->in_device = d != NULL;
    if (!d)
        return;
    if (strstr(at, "busid=")) { /* the verbose form: PCI L#0 (busid=0000:18:00.0 id=...) */
        id = strstr(at, "busid=") + strlen("busid=");
        d->pci = topo_keep(l->t, id, strcspn(id, " )"));
    } else if (!skip(at, "PCI 10de:") && !skip(at, "PCI 15b3:"))
        d->pci = topo_keep(l->t, id, strcspn(id, " ("));
    d->numa_said = true;
    for (uint32_t i = l->now.depth; i-- > 0 && d->numa == TOPO_NONE && l->now.way[i].nodes < 2;)
        d->numa = l->now.way[i].numa;
    struct place *place = topo_take(l->t, sizeof(*place));
    *place = l->now;
    l->place[l->h->device_count - 1] = place;
}

/* "GPU(NVML) "nvml0"", "OpenFabrics L#1 "mlx5_0"": an OS device of the PCI device above. */
static void read_os_device(struct lstopo *l, const char *at)
{
    struct topo_device *d = &l->h->device[l->h->device_count - 1];
    const char *from = strchr(at, '"'), *to = from ? strchr(from + 1, '"') : NULL;

    if (!to)
        return;
    const char *name = topo_keep(l->t, from + 1, (size_t)(to - from - 1));
    if (strncmp(name, "cuda", 4) == 0 || strncmp(name, "nvml", 4) == 0 ||
        strncmp(name, "rsmi", 4) == 0 || strncmp(name, "opencl", 6) == 0) {
        /* The libraries see what the class does not say: a VGA card that computes. */
        if (d->kind == TOPO_DEVICE_OTHER)
            d->kind = TOPO_DEVICE_GPU;
        if (!d->name)
            d->name = name;
    } else if (d->kind == TOPO_DEVICE_NIC) {
        if (!d->name || skip(at, "OpenFabrics")) {
            d->alias = d->name;
            d->name = name;
        } else {
            d->alias = name;
        }
    }
}

static void read_line(struct lstopo *l, const char *line, uint32_t number)
{
    uint32_t indent = (uint32_t)strspn(line, " ");
    const char *at = line + indent;
    enum topo_device_kind kind;

    if (*at == '\0')
        return;
    while (l->now.depth && l->now.way[l->now.depth - 1].indent >= indent)
        l->now.depth--;
    if (l->now.depth == DEPTH_MAX) {
        l->deep = true;
        return;
    }

    struct level *level = &l->now.way[l->now.depth++];
    *level =
        (struct level){.indent = indent, .object = object_of(at), .id = number, .numa = TOPO_NONE};
    if (level->object == OBJECT_PACKAGE)
        l->h->packages++;
    if (level->object == OBJECT_NUMA) {
        l->h->numa_nodes++;
        level->numa = number_of(at);
        /* Version 2 lists the node as a child of what it belongs to. */
        if (l->now.depth > 1) {
            struct level *parent = &l->now.way[l->now.depth - 2];

            parent->numa = parent->nodes++ ? TOPO_NONE : level->numa;
        }
    }
    if (skip(at, "PCI ") && device_of(at, &kind))
        add_device(l, at, kind, number);
    else if (skip(at, "PCI ") || level->object != OBJECT_OTHER)
        l->in_device = false;
    else if (l->in_device)
        read_os_device(l, at);
}

static enum topo_path path_between(const struct place *a, const struct place *b, int32_t numa_a,
                                   int32_t numa_b)
{
    uint32_t common = 0, bridges_a = 0, bridges_b = 0;
    enum object object = OBJECT_OTHER;

    if (!a || !b)
        return TOPO_PATH_UNKNOWN;
    /* The last level of a place is the device itself. */
    while (common + 1 < a->depth && common + 1 < b->depth && a->way[common].id == b->way[common].id)
        object = a->way[common++].object;
    for (uint32_t i = common; i + 1 < a->depth; i++)
        bridges_a += a->way[i].object == OBJECT_BRIDGE;
    for (uint32_t i = common; i + 1 < b->depth; i++)
        bridges_b += b->way[i].object == OBJECT_BRIDGE;
    if (object == OBJECT_BRIDGE)
        return bridges_a <= 1 && bridges_b <= 1 ? TOPO_PATH_PIX : TOPO_PATH_PXB;
    if (object == OBJECT_HOST_BRIDGE)
        return TOPO_PATH_PHB;
    if (numa_a == TOPO_NONE || numa_b == TOPO_NONE)
        return TOPO_PATH_UNKNOWN;
    return numa_a == numa_b ? TOPO_PATH_NODE : TOPO_PATH_SYS;
}

/* Displays that no library claims are consoles. */
static void drop_consoles(struct lstopo *l)
{
    uint32_t kept = 0;

    for (uint32_t d = 0; d < l->h->device_count; d++) {
        if (l->h->device[d].kind == TOPO_DEVICE_OTHER)
            continue;
        l->place[kept] = l->place[d];
        l->h->device[kept++] = l->h->device[d];
    }
    if (kept < l->h->device_count)
        topo_remark(l->t, 0, "%u VGA devices without a library are no accelerators",
                    l->h->device_count - kept);
    l->h->device_count = kept;
}

int topo_read_lstopo(struct topo *t, const struct page *p, struct err *err)
{
    struct lstopo l = {.t = t};
    uint32_t where[TOPO_DEVICES_MAX];

    l.h = topo_host_add(t, NULL, p->first_line);
    l.h->packages = l.h->numa_nodes = 0;
    for (uint32_t i = 0; i < p->count; i++)
        read_line(&l, p->line[i].text, p->first_line + i);
    if (l.h->packages == 0 && l.h->device_count == 0)
        return topo_bad(err, t, p->first_line,
                        "found no package and no device, expected the text "
                        "of lstopo");
    if (l.deep)
        topo_remark(t, 0, "lines nested deeper than %u are left out", DEPTH_MAX);
    drop_consoles(&l);
    topo_host_sort(t, l.h, where);
    topo_links_make(t, l.h);
    for (uint32_t a = 0; a < l.h->device_count; a++)
        for (uint32_t b = a + 1; b < l.h->device_count; b++)
            topo_link_set(l.h, where[a], where[b],
                          (struct topo_link){.path = path_between(l.place[a], l.place[b],
                                                                  l.h->device[where[a]].numa,
                                                                  l.h->device[where[b]].numa)});
    topo_remark(t, 0, "lstopo's text shows PCIe only: links between GPUs are out of sight");
    topo_bridges_find(t, l.h);
    return ERR_NONE;
}
