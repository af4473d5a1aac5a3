/* What was read, in statements: the same words for the same facts, whatever tool wrote them. */
#include "edge/base/text.h"
#include "edge/topo/text_parts.h"

#include <string.h>

#define HOSTS_SHOWN 16u

static const char *const path_names[TOPO_PATH_COUNT] = {
    "unknown", "X",   "NV",  "XGMI", "HCCS", "MX",   "SIO", "UB",
    "PIX",     "PXB", "PHB", "NODE", "SYS",  "PCIE", "ETH",
};

const char *topo_path_name(enum topo_path path)
{
    return path_names[path];
}

const char *topo_kind_name(enum topo_kind kind)
{
    static const char *const names[] = {
        [TOPO_EMPTY] = "nothing",
        [TOPO_MATRIX] = "nvidia-smi topo -m",
        [TOPO_MATRIX_MP] = "nvidia-smi topo -mp",
        [TOPO_P2P] = "nvidia-smi topo -p2p",
        [TOPO_NPU] = "npu-smi info -t topo",
        [TOPO_MX] = "mx-smi topo -m",
        [TOPO_ROCM] = "rocm-smi --showtopo",
        [TOPO_NCCL] = "NCCL topology",
        [TOPO_NCCL_GRAPH] = "NCCL graph",
        [TOPO_HWLOC] = "hwloc XML",
        [TOPO_LSTOPO] = "lstopo text",
        [TOPO_SLURM] = "Slurm topology.conf",
        [TOPO_SLURM_YAML] = "Slurm topology.yaml",
        [TOPO_GRES] = "Slurm gres.conf",
        [TOPO_IBNET] = "ibnetdiscover",
        [TOPO_TOPOGRAPH] = "Topograph model",
        [TOPO_HIVED] = "HiveD configuration",
        [TOPO_KUBE] = "Kubernetes objects",
        [TOPO_LABELS] = "labels",
        [TOPO_PRESET] = "preset",
    };

    return names[kind];
}

/* Outside text, safe to print, whatever its length. */
static void out_safe(struct out *out, const char *text)
{
    char shown[256];

    out_add(out, text_shown(shown, sizeof(shown), text, strlen(text)));
}

void topo_text_many(struct out *out, int64_t count, const char *word)
{
    out_integer(out, count);
    out_format(out, " %s%s", word, count == 1 ? "" : "s");
}

static bool same_place(const struct topo_host *h, uint32_t d, uint32_t like)
{
    const struct topo_device *a = &h->device[d], *b = &h->device[like];

    return a->numa == b->numa && a->numa_said == b->numa_said && topo_text_same(a->cpus, b->cpus) &&
           a->numa_by_paths == b->numa_by_paths;
}

static bool has_place(const struct topo_device *d)
{
    return d->numa_by_paths || (!d->cut && (d->numa_said || d->cpus));
}

static void out_affinity(struct out *out, const struct topo *t, const struct topo_host *h)
{
    bool any = false, memory = false, cut = false;

    for (uint32_t d = 0; d < h->gpu_count; d++) {
        const struct topo_device *device = &h->device[d];

        memory = memory || device->memory_numa != TOPO_NONE;
        cut = cut || device->cut;
        if (!has_place(device) || !topo_text_first(h, d, same_place))
            continue;
        out_add(out, any ? " " : "; affinity ");
        any = true;
        topo_text_set(out, h, d, same_place);
        out_char(out, ':');
        if (device->numa != TOPO_NONE)
            out_format(out, "NUMA %d", device->numa);
        else if (device->numa_said)
            out_add(out, "NUMA N/A");
        if (device->numa_by_paths)
            out_add(out, " by its paths");
        if (device->cpus) {
            out_format(out, "%sCPU ", device->numa_said ? " " : "");
            out_safe(out, *device->cpus ? device->cpus : "(empty)");
        }
    }
    if (!any && !cut && !h->abilities && h->gpu_count &&
        (t->kind == TOPO_MATRIX || t->kind == TOPO_MATRIX_MP))
        out_add(out, "; no affinity columns");
    for (uint32_t d = 0; d < h->gpu_count && memory; d++) {
        out_format(out, "%s", d ? "," : "; memory NUMA ");
        out_integer(out, h->device[d].memory_numa);
    }
    for (uint32_t d = 0, first = 1; d < h->gpu_count && cut; d++)
        if (h->device[d].cut) {
            out_format(out, "%s%u", first ? "; row cut: " : ",", d);
            first = 0;
        }
}

static void out_counts(struct out *out, const struct topo_count *count, uint32_t counts,
                       const char *title)
{
    for (uint32_t i = 0; i < counts; i++) {
        out_add(out, i ? ", " : title);
        out_safe(out, count[i].name);
        out_format(out, " x%lld", (long long)count[i].count);
        if (count[i].mixed)
            out_add(out, " of mixed types");
    }
}

/* "; 9 PCI devices of unknown kind, NUMA 0:4 1:5", in the order of the file. */
static void out_others(struct out *out, const struct topo_host *h, uint32_t others)
{
    out_format(out, "; %u PCI devices of unknown kind", others);
    for (uint32_t d = h->gpu_count, first = 1; d < h->device_count; d++) {
        uint32_t count = 0;
        bool told = false;

        if (h->device[d].kind != TOPO_DEVICE_OTHER)
            continue;
        for (uint32_t e = h->gpu_count; e < h->device_count; e++) {
            if (h->device[e].kind != TOPO_DEVICE_OTHER || h->device[e].numa != h->device[d].numa)
                continue;
            told = told || e < d;
            count++;
        }
        if (told || h->device[d].numa == TOPO_NONE)
            continue;
        out_format(out, "%s%d:%u", first ? ", NUMA " : " ", h->device[d].numa, count);
        first = 0;
    }
}

/* What devices say of themselves: models, memory, slices. */
static void out_models(struct out *out, const struct topo_host *h)
{
    uint32_t slices = 0, others = 0, roots = 0;
    const struct topo_device *first = h->gpu_count ? &h->device[0] : NULL;
    const char *model = first && first->model ? first->model : h->model;
    int64_t memory = first && first->memory_mib != TOPO_NONE ? first->memory_mib : h->memory_mib;

    for (uint32_t d = h->gpu_count; h->device && d < h->device_count; d++) {
        slices += h->device[d].kind == TOPO_DEVICE_SLICE;
        others += h->device[d].kind == TOPO_DEVICE_OTHER;
        if (!model && h->device[d].kind == TOPO_DEVICE_SLICE)
            model = h->device[d].model;
    }
    if (others)
        out_others(out, h, others);
    if (model) {
        out_add(out, "; ");
        out_safe(out, model);
    }
    if (memory != TOPO_NONE)
        out_format(out, "; %lld MiB each", (long long)memory);
    if (slices) {
        out_add(out, "; ");
        topo_text_many(out, slices, "slice");
        for (uint32_t d = h->gpu_count; d < h->device_count; d++)
            if (h->device[d].profile) {
                out_char(out, ' ');
                out_safe(out, h->device[d].profile);
            }
    }
    for (uint32_t d = 0; d < h->gpu_count; d++) {
        bool known = !h->device[d].pcie_root;

        for (uint32_t e = 0; e < d && !known; e++)
            known = topo_text_same(h->device[e].pcie_root, h->device[d].pcie_root);
        roots += !known;
    }
    if (roots)
        out_format(out, "; PCIe roots %u", roots);
    if (h->slices) {
        out_add(out, "; slices: ");
        out_safe(out, h->slices);
    }
}

static void out_devices(struct out *out, const struct topo_host *h)
{
    uint32_t npus = 0, ports = 0;
    bool others = false;

    for (uint32_t d = 0; d < h->gpu_count; d++)
        npus += h->device[d].kind == TOPO_DEVICE_NPU;
    for (uint32_t d = h->gpu_count; d < h->device_count; d++)
        others = others || h->device[d].kind == TOPO_DEVICE_OTHER;
    if (h->gpu_count == 0 && h->gpus_stated == TOPO_NONE && (h->device_count == 0 || others))
        out_add(out, "GPUs unknown");
    else if (npus)
        topo_text_many(out, h->gpu_count, "NPU");
    else
        topo_text_many(out,
                       h->gpu_count                  ? h->gpu_count
                       : h->gpus_stated == TOPO_NONE ? 0
                                                     : h->gpus_stated,
                       "GPU");
    if (h->gpu_count && h->device[0].vendor)
        out_format(out, " (%s)", h->device[0].vendor);
    for (uint32_t d = h->gpu_count; d < h->gpu_count + h->nic_count; d++)
        ports += h->device[d].ports;
    if (h->nic_count) {
        out_add(out, "; ");
        topo_text_many(out, h->nic_count, "NIC");
        if (ports)
            out_format(out, " with %u port%s", ports, ports == 1 ? "" : "s");
    }
}

static void out_host(struct out *out, const struct topo *t, const struct topo_host *h)
{
    out_devices(out, h);
    out_models(out, h);
    topo_text_between(out, t, h);
    topo_text_bridges(h, out);
    out_affinity(out, t, h);
    if (h->packages != TOPO_NONE)
        out_format(out, "; packages %d", h->packages);
    if (h->numa_nodes != TOPO_NONE)
        out_format(out, "; NUMA nodes %d", h->numa_nodes);
    out_counts(out, h->backend, h->backend_count, "; backends ");
    out_counts(out, h->distance, h->distance_count, "; distances ");
    out_counts(out, h->resource, h->resource_count, "; ");
    if (h->autodetect) {
        out_add(out, "; AutoDetect ");
        out_safe(out, h->autodetect);
    }
    if (h->taint) {
        out_add(out, "; taint ");
        out_safe(out, h->taint);
    }
    if (h->ready == 0)
        out_add(out, "; not ready");
    if (!h->complete)
        out_add(out, "; incomplete");
}

/* Equal hosts in a row are told once. */
static void out_hosts(const struct topo *t, struct out *out)
{
    struct out now = {0}, before = {0};
    size_t first = 0, told = 0;

    for (size_t h = 0; h <= t->host_count; h++) {
        out_clear(&now);
        if (h < t->host_count)
            out_host(&now, t, &t->host[h]);
        if (h > 0 && h < t->host_count && now.length == before.length &&
            memcmp(now.bytes, before.bytes, now.length) == 0)
            continue;
        if (h > 0) {
            if (told++ == HOSTS_SHOWN) {
                out_add(out, " | and more hosts");
                break;
            }
            out_add(out, told > 1 ? " | " : "");
            if (t->host[first].name) {
                out_safe(out, t->host[first].name);
                if (h - first > 1) {
                    out_add(out, h - first == 2 ? ", " : " to ");
                    out_safe(out, t->host[h - 1].name ? t->host[h - 1].name : "?");
                }
                out_add(out, ": ");
            } else if (t->kind == TOPO_GRES) {
                out_add(out, "all other hosts: ");
            } else if (h - first > 1) {
                topo_text_many(out, (int64_t)(h - first), "host");
                out_add(out, ": ");
            }
            out_bytes(out, before.bytes, before.length);
        }
        first = h;
        out_clear(&before);
        if (h < t->host_count)
            out_bytes(&before, now.bytes, now.length);
    }
    out_free(&now);
    out_free(&before);
}

void topo_text(const struct topo *t, struct out *out)
{
    out_add(out, "");
    out_hosts(t, out);
    topo_text_fabrics(t, out);
    topo_text_asks(t, out);
    if (t->host_count + t->fabric_count + t->ask_count == 0)
        out_add(out, "nothing");
}
