/* Labels of hosts: chains of levels by the presets of providers and tools, and what labels say of
 * GPUs. Chains list the widest level first, whatever way their keys count. */
#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

#define CHAIN_MAX  5u
#define LABELS_MAX 512u

struct chain {
    const char *name;
    enum topo_fabric_kind kind;
    struct {
        const char *key, *word;
    } level[CHAIN_MAX];
};

static const struct chain chains[] = {
    {"gke",
     TOPO_FABRIC_TREE,
     {{"cloud.google.com/gce-topology-block", "block"},
      {"cloud.google.com/gce-topology-subblock", "subblock"}}},
    {"oke",
     TOPO_FABRIC_TREE,
     {{"oci.oraclecloud.com/rdma.hpc_island_id", "island"},
      {"oci.oraclecloud.com/rdma.network_block_id", "network block"},
      {"oci.oraclecloud.com/rdma.local_block_id", "local block"}}},
    {"oke host",
     TOPO_FABRIC_TREE,
     {{"oci.oraclecloud.com/host.network_block_id", "network block"},
      {"oci.oraclecloud.com/host.rack_id", "rack"}}},
    {"eks",
     TOPO_FABRIC_TREE,
     {{"topology.k8s.aws/network-node-layer-1", "layer 1"},
      {"topology.k8s.aws/network-node-layer-2", "layer 2"},
      {"topology.k8s.aws/network-node-layer-3", "layer 3"},
      {"topology.k8s.aws/network-node-layer-4", "layer 4"}}},
    {"eks ultraserver", TOPO_FABRIC_LINKS, {{"topology.k8s.aws/ultraserver-id", "ultraserver"}}},
    {"coreweave",
     TOPO_FABRIC_TREE,
     {{"ib.coreweave.cloud/fabric", "fabric"},
      {"ib.coreweave.cloud/superpod", "superpod"},
      {"ib.coreweave.cloud/leafgroup", "leaf group"}}},
    {"coreweave rack", TOPO_FABRIC_TREE, {{"node.coreweave.cloud/rack", "rack"}}},
    {"topograph",
     TOPO_FABRIC_TREE,
     {{"fabric.topograph.run/tier-4", "tier 4"},
      {"fabric.topograph.run/tier-3", "tier 3"},
      {"fabric.topograph.run/tier-2", "tier 2"},
      {"fabric.topograph.run/tier-1", "tier 1"},
      {"fabric.topograph.run/tier-0", "tier 0"}}},
    {"topograph before 1.0",
     TOPO_FABRIC_TREE,
     {{"network.topology.nvidia.com/datacenter", "datacenter"},
      {"network.topology.nvidia.com/core", "core"},
      {"network.topology.nvidia.com/spine", "spine"},
      {"network.topology.nvidia.com/leaf", "leaf"},
      {"network.topology.nvidia.com/block", "block"}}},
    {"topograph accelerator",
     TOPO_FABRIC_LINKS,
     {{"accelerator.topograph.run/domain", "domain"},
      {"accelerator.topograph.run/sub-domain", "sub-domain"}}},
    {"topograph accelerator before 1.0",
     TOPO_FABRIC_LINKS,
     {{"network.topology.nvidia.com/accelerator", "domain"}}},
    {"provider",
     TOPO_FABRIC_TREE,
     {{"cloud.provider.com/topology-block", "block"},
      {"cloud.provider.com/topology-rack", "rack"}}},
    {"zones",
     TOPO_FABRIC_TREE,
     {{"topology.kubernetes.io/region", "region"}, {"topology.kubernetes.io/zone", "zone"}}},
};

static const char clique_key[] = "nvidia.com/gpu.clique";

const char *topo_label_find(const struct topo_label *label, uint32_t count, const char *key)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(label[i].key, key) == 0)
            return label[i].value;
    return NULL;
}

/* Providers write a word where they know nothing; it is no domain that hosts share. */
static bool is_placeholder(const char *value)
{
    return *value == '\0' || strcmp(value, "no-imds-data") == 0 || strcmp(value, "none") == 0;
}

static struct topo_fabric *fabric_of(struct topo *t, const char *name, enum topo_fabric_kind kind,
                                     uint32_t line)
{
    for (size_t f = 0; f < t->fabric_count; f++)
        if (t->fabric[f].kind == kind && t->fabric[f].name && strcmp(t->fabric[f].name, name) == 0)
            return &t->fabric[f];
    return topo_fabric_add(t, kind, name, line);
}

static int32_t level_of(struct topo *t, struct topo_fabric *f, const char *word)
{
    if (!f->level)
        f->level = topo_take(t, CHAIN_MAX * sizeof(*f->level));
    for (uint32_t l = 0; l < f->level_count; l++)
        if (strcmp(f->level[l], word) == 0)
            return (int32_t)l;
    f->level[f->level_count] = word;
    return (int32_t)f->level_count++;
}

/* The domain `value` below `parent`, made if it is new; TOPO_NONE: no more names fit. */
static int32_t domain_of(struct topo *t, struct topo_fabric *f, int32_t parent, const char *value,
                         uint32_t line)
{
    struct out key = {0};
    bool is_new;
    uint32_t d;

    if (!t->known)
        t->known = memory_zeroed(sizeof(*t->known));
    out_format(&key, "%s %d ", f->name, parent);
    out_add(&key, value);
    d = topo_names_put(t->known, topo_keep(t, key.bytes, key.length), f->domain_count, &is_new);
    out_free(&key);
    if (is_new && !topo_domain_add(t, f, value, line, &d))
        return TOPO_NONE;
    f->domain[d].parent = parent;
    return (int32_t)d;
}

/* Puts the host below the values of a chain; words[i] NULL: a level without a name. */
static void add_way(struct topo *t, const struct topo_host *h, const char *name,
                    enum topo_fabric_kind kind, const char *const *words, const char *const *values,
                    uint32_t count)
{
    struct topo_fabric *f = NULL;
    int32_t at = TOPO_NONE;

    for (uint32_t i = 0; i < count; i++) {
        if (!values[i])
            continue;
        if (!f)
            f = fabric_of(t, name, kind, h->line);
        int32_t level = level_of(t, f, words[i]);

        at = domain_of(t, f, at, values[i], h->line);
        if (at == TOPO_NONE)
            return;
        f->domain[at].level = level;
    }
    if (f)
        (void)topo_place_add(t, f, h->name ? h->name : "this host", (uint32_t)at, h->line);
}

static void add_chain(struct topo *t, const struct topo_host *h, const struct chain *c,
                      const struct topo_label *label, uint32_t count)
{
    const char *words[CHAIN_MAX], *values[CHAIN_MAX];

    for (uint32_t i = 0; i < CHAIN_MAX; i++) {
        words[i] = c->level[i].word;
        values[i] = words[i] ? topo_label_find(label, count, c->level[i].key) : NULL;
        if (!values[i] || !is_placeholder(values[i]))
            continue;
        topo_remark(t, h->line, "%s is \"%s\": unknown, and no domain", c->level[i].key,
                    SHOWN(values[i]));
        values[i] = NULL;
    }
    add_way(t, h, c->name, c->kind, words, values, CHAIN_MAX);
}

/* <ClusterUUID>.<CliqueID>: a rack joined by links, and a partition of it. */
static void add_clique(struct topo *t, const struct topo_host *h, const char *clique)
{
    static const char *const words[] = {"domain", "clique"};
    const char *dot = strrchr(clique, '.');

    if (is_placeholder(clique) || !dot || dot == clique) {
        topo_remark(t, h->line, "%s is \"%s\": no domain", clique_key, SHOWN(clique));
        return;
    }

    const char *values[] = {topo_keep(t, clique, (size_t)(dot - clique)), clique};
    add_way(t, h, "clique", TOPO_FABRIC_LINKS, words, values, 2);
}

void topo_labels_add(struct topo *t, const struct topo_host *host, const struct topo_label *label,
                     uint32_t count)
{
    const char *clique = topo_label_find(label, count, clique_key);

    if (clique)
        add_clique(t, host, clique);
    for (size_t c = 0; c < sizeof(chains) / sizeof(chains[0]); c++)
        add_chain(t, host, &chains[c], label, count);
}

void topo_labels_gpus(struct topo *t, struct topo_host *h, const struct topo_label *label,
                      uint32_t count)
{
    const char *gpus = topo_label_find(label, count, "nvidia.com/gpu.count");
    const char *product = topo_label_find(label, count, "nvidia.com/gpu.product");
    const char *memory = topo_label_find(label, count, "nvidia.com/gpu.memory");
    const char *strategy = topo_label_find(label, count, "nvidia.com/mig.strategy");
    const char *capable = topo_label_find(label, count, "nvidia.com/mig.capable");
    int64_t value;

    if (!product)
        product = topo_label_find(label, count, "amd.com/gpu.product-name");
    if (!product)
        product = topo_label_find(label, count, "cloud.google.com/gke-accelerator");
    if (gpus && topo_number(gpus, strlen(gpus), 4096, &value))
        h->gpus_stated = value;
    else if (gpus)
        topo_remark(t, h->line, "nvidia.com/gpu.count is no number: %s", SHOWN(gpus));
    if (memory && topo_number(memory, strlen(memory), INT64_C(100000000), &value))
        h->memory_mib = value;
    h->model = topo_keep_some(t, product);
    if (capable && strcmp(capable, "false") == 0)
        return;
    if (strategy && *strategy && strcmp(strategy, "none") != 0)
        h->slices = topo_keep_string(t, strategy);
    else if (capable && strcmp(capable, "true") == 0)
        h->slices = "capable";
}

bool topo_label_line(const char *line, struct topo_label *ret_label, struct topo *t)
{
    const char *at = line + strspn(line, " \t");
    const char *equal = strchr(at, '='), *slash = strchr(at, '/');
    size_t length = strcspn(at, " \t");

    if (!equal || !slash || slash > equal || (size_t)(equal - at) >= length || *at == '#')
        return false;
    if (ret_label) {
        ret_label->key = topo_keep(t, at, (size_t)(equal - at));
        ret_label->value = topo_keep(t, equal + 1, length - (size_t)(equal - at) - 1);
    }
    return true;
}

enum part { PART_NONE, PART_LABELS, PART_TAINTS, PART_OTHER };

/* The head of a section of kubectl describe, and what stands behind it on the line. */
static enum part part_of(const char *line, enum part now, const char **ret_rest)
{
    size_t word = strcspn(line, ": \t");

    *ret_rest = line;
    if (word == 0 || line[word] != ':')
        return now;
    *ret_rest = line + word + 1;
    if (strncmp(line, "Labels:", 7) == 0)
        return PART_LABELS;
    return strncmp(line, "Taints:", 7) == 0 ? PART_TAINTS : PART_OTHER;
}

int topo_read_labels(struct topo *t, const struct page *p, struct err *err)
{
    struct topo_label *label = topo_take(t, LABELS_MAX * sizeof(*label));
    struct topo_host *h = topo_host_add(t, NULL, p->first_line);
    enum part part = PART_NONE;
    uint32_t count = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        const char *rest, *line = p->line[i].text;

        if (strncmp(line, "Name:", 5) == 0 && part != PART_NONE) {
            topo_remark(t, p->first_line + i,
                        "a second object is left out: kubectl get nodes "
                        "-o json gives all of them");
            break;
        }
        part = part_of(line, part, &rest);
        if (strncmp(line, "Name:", 5) == 0) {
            rest += strspn(rest, " \t");
            h->name = topo_keep_some(t, topo_keep(t, rest, strcspn(rest, " \t")));
        } else if (part == PART_TAINTS && strstr(rest, "node.kubernetes.io/not-ready")) {
            h->ready = 0;
        } else if ((part == PART_LABELS || part == PART_NONE) && count < LABELS_MAX &&
                   topo_label_line(rest, &label[count], t)) {
            label[count++].line = p->first_line + i;
        }
    }
    if (count == 0)
        return topo_bad(err, t, 0, "found no label like example.com/key=value, expected some");
    topo_labels_gpus(t, h, label, count);
    topo_labels_add(t, h, label, count);
    for (size_t f = 0; f < t->fabric_count; f++)
        topo_fabric_close(t, &t->fabric[f]);
    return ERR_NONE;
}
