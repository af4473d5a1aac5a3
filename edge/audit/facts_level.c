/* Levels above the host: chains of label keys by the presets of providers and tools, or as the
 * user names them. A domain is known by the labels of its own level and of all larger ones, since
 * values such as "r1" repeat in every block. */
#include "edge/audit/facts_parts.h"

#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

/* Small to large; the chains that say most about links first. */
static const char preset_keys[] =
    "nvidia.com/gpu.clique;"
    "accelerator.topograph.run/sub-domain,accelerator.topograph.run/domain;"
    "network.topology.nvidia.com/accelerator;"
    "topology.k8s.aws/ultraserver-id;"
    "ds.coreweave.com/nvlink.domain;"
    "fabric.topograph.run/tier-0,fabric.topograph.run/tier-1,fabric.topograph.run/tier-2,"
    "fabric.topograph.run/tier-3,fabric.topograph.run/tier-4;"
    "network.topology.nvidia.com/leaf,network.topology.nvidia.com/block,"
    "network.topology.nvidia.com/spine,network.topology.nvidia.com/core,"
    "network.topology.nvidia.com/datacenter;"
    "topology.k8s.aws/network-node-layer-4,topology.k8s.aws/network-node-layer-3,"
    "topology.k8s.aws/network-node-layer-2,topology.k8s.aws/network-node-layer-1;"
    "cloud.google.com/gce-topology-host,cloud.google.com/gce-topology-subblock,"
    "cloud.google.com/gce-topology-block;"
    "oci.oraclecloud.com/rdma.local_block_id,oci.oraclecloud.com/rdma.network_block_id,"
    "oci.oraclecloud.com/rdma.hpc_island_id;"
    "oci.oraclecloud.com/host.rack_id,oci.oraclecloud.com/host.network_block_id;"
    "ib.coreweave.cloud/leafgroup,ib.coreweave.cloud/superpod,ib.coreweave.cloud/fabric;"
    "node.coreweave.cloud/rack;"
    "cloud.provider.com/topology-rack,cloud.provider.com/topology-block;"
    "volcano.sh/tor;volcano.sh/hypernode,volcano.sh/hypercluster;"
    "topology.kubernetes.io/rack;"
    "topology.kubernetes.io/zone,topology.kubernetes.io/region";

static uint32_t lacking(const struct facts *f, uint32_t key)
{
    uint32_t none = 0;

    for (size_t n = 0; n < f->node_count; n++)
        if (f->node[n].model != FACTS_NONE && facts_label(f, &f->node[n], key) == FACTS_NONE)
            none++;
    return none;
}

/* The chain of the level that has this rank, or FACTS_NONE. */
static uint32_t level_at(const struct facts *f, unsigned chain, unsigned rank)
{
    for (uint32_t l = 0; l < f->level_count; l++)
        if (f->level[l].chain == chain && f->level[l].rank == rank)
            return l;
    return FACTS_NONE;
}

/* The label's value and those of all larger levels; false: the node lacks this one. */
static bool path_of(const struct facts *f, const struct facts_node *n, uint32_t level,
                    struct out *path)
{
    const struct facts_level *x = &f->level[level];
    uint32_t own = facts_label(f, n, x->key);

    out_clear(path);
    if (own == FACTS_NONE)
        return false;
    out_format(path, "%u:%s", level, facts_name(f, own));
    for (unsigned rank = x->rank + 1u;; rank++) {
        uint32_t above = level_at(f, x->chain, rank), value;

        if (above == FACTS_NONE)
            return true;
        value = facts_label(f, n, f->level[above].key);
        out_format(path, "\n%s", value == FACTS_NONE ? "" : facts_name(f, value));
    }
}

static void number_domains(struct facts *f, uint32_t level)
{
    struct out path = {NULL, 0, 0};

    for (size_t n = 0; n < f->node_count; n++) {
        struct facts_node *x = &f->node[n];
        uint32_t row;

        if (x->model == FACTS_NONE)
            continue;
        if (!path_of(f, x, level, &path)) {
            if (f->level[level].lacking < f->gpu_nodes)
                facts_odd(f, ODD_NO_LEVEL, x->name, x->capacity);
            continue;
        }
        row = facts_row(f, 'd', path.bytes);
        if (row == FACTS_NONE) {
            row = f->level[level].domains++;
            facts_row_put(f, 'd', path.bytes, row);
        }
        x->domain[level] = row;
    }
    out_free(&path);
}

/* One chain, "key,key": levels that some node has. Keys are cut in place. */
static void add_chain(struct facts *f, char *keys, unsigned chain, bool named)
{
    char *rest = NULL;
    unsigned rank = 0;

    for (char *key = strtok_r(keys, ",", &rest); key; key = strtok_r(NULL, ",", &rest)) {
        uint32_t number = names_put(&f->names, key), none = lacking(f, number);

        if ((none == f->gpu_nodes && !named) || f->level_count == FACTS_LEVELS_MAX)
            continue;
        f->level[f->level_count++] = (struct facts_level){
            .key = number, .chain = (uint8_t)chain, .rank = (uint8_t)rank++, .lacking = none};
    }
}

int facts_levels(struct facts *f, const char *levels, struct err *err)
{
    char *text = strdup(levels ? levels : preset_keys), *rest = NULL;
    unsigned chain = 0;

    if (!text)
        return err_set(err, ERR_TROUBLE, "no memory for the names of levels");
    f->level_count = 0;
    for (char *keys = strtok_r(text, ";", &rest); keys; keys = strtok_r(NULL, ";", &rest)) {
        uint32_t before = f->level_count;

        add_chain(f, keys, chain, levels != NULL);
        chain += f->level_count > before;
    }
    free(text);
    for (uint32_t l = 0; l < f->level_count; l++)
        number_domains(f, l);
    for (uint32_t l = 0; l < f->level_count; l++)
        if (levels && f->gpu_nodes && f->level[l].lacking == f->gpu_nodes)
            return err_set(err, ERR_INPUT, "--levels: no node with GPUs has the label %s",
                           facts_name(f, f->level[l].key));
    return 0;
}
