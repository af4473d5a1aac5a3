/* Kubernetes objects: what nodes, slices and schedulers say of GPUs and topology, and nothing more.
 */
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct read_row {
    const char *why, *text, *reading, *remark; /* as topo_row_reads() takes them */
};

static const struct read_row nodes_are_read_rows[] = {
    {"a plain node",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {}\n"
     "status: {allocatable: {cpu: \"8\", nvidia.com/gpu: \"8\"}}\n",
     "n1: 8 GPUs; nvidia.com/gpu x8", ""},
    {"other vendors count too",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {}\n"
     "status: {allocatable: {amd.com/gpu: \"4\"}}\n",
     "n1: 4 GPUs; amd.com/gpu x4", ""},
    {"MIG: the label counts the GPUs, allocatable the slices",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {nvidia.com/gpu.count: \"1\", nvidia.com/mig.strategy: mixed, "
     "nvidia.com/gpu.memory: \"40960\", nvidia.com/gpu.product: A100}\n"
     "status: {allocatable: {nvidia.com/gpu: \"0\", nvidia.com/mig-1g.5gb: \"2\"}}\n",
     "n1: 1 GPU; A100; 40960 MiB each; slices: mixed; nvidia.com/gpu x0, "
     "nvidia.com/mig-1g.5gb x2",
     ""},
    {"a strategy on a GPU that cannot",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {nvidia.com/gpu.count: \"2\", nvidia.com/mig.strategy: mixed, "
     "nvidia.com/mig.capable: \"false\"}\n"
     "status: {allocatable: {}}\n",
     "n1: 2 GPUs", ""},
    {"label and allocatable differ",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {nvidia.com/gpu.count: \"8\"}\n"
     "status: {allocatable: {nvidia.com/gpu: \"7\"}}\n",
     "n1: 8 GPUs; nvidia.com/gpu x7", "nvidia.com/gpu.count is 8 and 7 GPUs are allocatable"},
    {"nothing is said",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {}\n"
     "status: {allocatable: {}}\n",
     "n1: GPUs unknown", ""},
    {"not ready, and a taint",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata: {name: n1}\n"
     "spec: {taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]}\n"
     "status: {conditions: [{type: Ready, status: \"False\"}]}\n",
     "n1: GPUs unknown; taint nvidia.com/gpu=present:NoSchedule; not ready", ""},
    {"a list in JSON",
     "{\"kind\":\"List\",\"items\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadat"
     "a\":{\"name\":\"a\"},\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"1\"}}},{"
     "\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"},\"status\""
     ":{\"allocatable\":{\"nvidia.com/gpu\":\"1\"}}}]}",
     "a, b: 1 GPU; nvidia.com/gpu x1", ""},
    {"a count that is none",
     "apiVersion: v1\n"
     "kind: Node\n"
     "metadata:\n"
     "  name: n1\n"
     "  labels: {nvidia.com/gpu.count: many}\n"
     "status: {allocatable: {}}\n",
     "n1: GPUs unknown", "is no number: many"},
};

static void nodes_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(nodes_are_read_rows); i++) {
        const struct read_row *r = &nodes_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row slices_are_read_rows[] = {
    {"slices of one node are one host, channels are none",
     "apiVersion: v1\n"
     "items:\n"
     "- {apiVersion: r, kind: ResourceSlice, spec: {driver: "
     "compute-domain.nvidia.com, nodeName: n, devices: [{name: channel-0}]}}\n"
     "- {apiVersion: r, kind: ResourceSlice, spec: {driver: gpu.nvidia.com, nodeName: "
     "n, devices: [{name: gpu-1, attributes: {type: {string: gpu}, "
     "resource.kubernetes.io/pcieRoot: {string: \"pci0000:55\"}}, capacity: {memory: "
     "{value: 80Gi}}}]}}\n"
     "- {apiVersion: r, kind: ResourceSlice, spec: {driver: gpu.nvidia.com, nodeName: "
     "n, devices: [{name: gpu-0, attributes: {type: {string: gpu}, "
     "resource.kubernetes.io/pcieRoot: {string: \"pci0000:65\"}}, capacity: {memory: "
     "{value: 80Gi}}}]}}\n",
     "n: 2 GPUs; 81920 MiB each; PCIe roots 2", "has no GPUs"},
    {"a MIG instance is part of a GPU",
     "- attributes: {type: {string: mig}, profile: {string: 1g.5gb}, productName: "
     "{string: A100}}\n"
     "  capacity: {memory: {value: 4864Mi}}\n"
     "  name: gpu-0-mig-1g.5gb-0\n",
     "0 GPUs; A100; 1 slice 1g.5gb", ""},
    {"devices on shared counters do not add up",
     "apiVersion: r\n"
     "kind: ResourceSlice\n"
     "spec:\n"
     "  nodeName: n\n"
     "  devices:\n"
     "  - {name: g, capacity: {memory: {value: 40Gi}}, consumesCounters: "
     "[{counterSet: c}]}\n"
     "  - {name: p, capacity: {memory: {value: 10Gi}}, consumesCounters: "
     "[{counterSet: c}]}\n",
     "n: 1 GPU; 40960 MiB each; 1 slice; slices: shared counters", ""},
};

static void slices_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(slices_are_read_rows); i++) {
        const struct read_row *r = &slices_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row levels_are_read_rows[] = {
    {"levels, widest first",
     "apiVersion: k\n"
     "kind: Topology\n"
     "metadata: {name: t}\n"
     "spec: {levels: [{nodeLabel: a/block}, {nodeLabel: kubernetes.io/hostname}]}\n",
     "levels t: a/block > kubernetes.io/hostname", ""},
    {"HyperNodes name each other in any order",
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: top}\n"
     "spec: {tier: 2, members: [{type: HyperNode, selector: {exactMatch: {name: "
     "low}}}]}\n"
     "---\n"
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: low}\n"
     "spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}\n",
     "tree HyperNodes: 1 > 1 domains; 1 host; top tier 2; low tier 1 in top {n1}", ""},
    {"members without a type, a name outside metadata",
     "version: k\n"
     "kind: HyperNode\n"
     "name: top\n"
     "spec: {tier: 2, members: [{name: low}]}\n"
     "---\n"
     "version: k\n"
     "kind: HyperNode\n"
     "name: low\n"
     "spec: {tier: 1, members: [{name: n1}]}\n",
     "tree HyperNodes: 1 > 1 domains; 1 host; top tier 2; low tier 1 in top {n1}",
     "would refuse it"},
    {"a member that stands nowhere",
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: top}\n"
     "spec: {tier: 2, members: [{type: HyperNode, name: low}]}\n",
     "tree HyperNodes: 1 > 1 domains; 0 hosts; top tier 2; low in top; incomplete",
     "stand nowhere"},
    {"HyperNodes in a circle",
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: a}\n"
     "spec: {members: [{type: HyperNode, name: b}]}\n"
     "---\n"
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: b}\n"
     "spec: {members: [{type: HyperNode, name: a}]}\n",
     "tree HyperNodes: 1 > 1 domains; 0 hosts; a in b; b; incomplete", "is above itself"},
    {"members by labels",
     "apiVersion: k\n"
     "kind: HyperNode\n"
     "metadata: {name: r}\n"
     "spec: {tier: 1, tierName: rack, members: [{type: Node, selector: {labelMatch: "
     "{matchLabels: {a: b}}}}]}\n",
     "tree HyperNodes: 1 domain; 0 hosts; levels rack; rack r tier 1 by labels", ""},
    {"a file in a ConfigMap",
     "apiVersion: v1\n"
     "kind: ConfigMap\n"
     "metadata: {name: c}\n"
     "data:\n"
     "  topology.conf: |\n"
     "    SwitchName=a Switches=b\n"
     "    SwitchName=b Nodes=n[1-2]\n"
     "  other: hello\n",
     "tree: 1 > 1 domains; 2 hosts; a; b in a {n1,n2}", ""},
    {"nodes of a cluster of containers",
     "kind: Cluster\n"
     "apiVersion: kind.x-k8s.io/v1alpha4\n"
     "nodes:\n"
     "- role: worker\n"
     "  labels: {nvidia.com/gpu.clique: \"ab.0\"}\n"
     "  kubeadmConfigPatches:\n"
     "  - |\n"
     "    kind: JoinConfiguration\n"
     "    nodeRegistration:\n"
     "      name: w0\n",
     "w0: GPUs unknown | links clique: 1 > 1 domains; 1 host; levels domain > clique; "
     "domain ab; clique ab.0 in ab {w0}",
     ""},
};

static void levels_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(levels_are_read_rows); i++) {
        const struct read_row *r = &levels_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row asks_are_read_rows[] = {
    {"queues, no limit",
     "apiVersion: s\n"
     "kind: Queue\n"
     "metadata: {name: q}\n"
     "spec: {parentQueue: p, resources: {gpu: {quota: 0.5, limit: -1}}}\n",
     "queue q of p: quota 0.5 limit unlimited", ""},
    {"half a GPU",
     "apiVersion: v1\n"
     "kind: Pod\n"
     "metadata: {name: p, annotations: {gpu-fraction: \"0.5\"}}\n"
     "spec: {}\n",
     "pod p: 0.5 GPU", ""},
    {"whole GPUs of two containers",
     "apiVersion: v1\n"
     "kind: Pod\n"
     "metadata: {name: p}\n"
     "spec: {containers: [{resources: {limits: {nvidia.com/gpu: 2}}}, {resources: "
     "{limits: {nvidia.com/gpu: \"1\"}}}]}\n",
     "pod p: 3 GPU", ""},
    {"a slice in an annotation",
     "apiVersion: v1\n"
     "kind: Pod\n"
     "metadata: {name: p, annotations: {nvidia.com/mig-1g.5gb: \"1\"}}\n"
     "spec: {}\n",
     "pod p: x1 slice 1g.5gb", ""},
    {"groups of one PodGroup",
     "apiVersion: s\n"
     "kind: PodGroup\n"
     "metadata: {name: g}\n"
     "spec: {subGroups: [{name: a, minMember: 3, topologyConstraint: {topology: t, "
     "requiredTopologyLevel: l/rack}}, {name: b, topologyConstraint: {topology: t, "
     "preferredTopologyLevel: l/zone}}]}\n",
     "group a of g: required in t at l/rack x3 | group b of g: preferred in t at "
     "l/zone",
     ""},
    {"annotations alone",
     "kai.scheduler/topology: t\n"
     "kai.scheduler/topology-required-placement: l/rack\n",
     "group: required in t at l/rack", ""},
    {"a piece of a job", "spec: {networkTopology: {mode: hard, highestTierAllowed: 2}}\n",
     "group: hard up to tier 2", ""},
    {"sources of discovery",
     "networkTopologyDiscovery:\n"
     "- {source: ufm, enabled: true, interval: 1h30m}\n"
     "- {source: label, enabled: false, config: {networkTopologyTypes: {x: "
     "[{nodeLabel: a}, {nodeLabel: b}]}}}\n",
     "levels x: a > b | source ufm: on every 5400 s | source label: off", ""},
    {"HiveD's wish in an annotation",
     "apiVersion: f\n"
     "kind: Framework\n"
     "metadata: {name: f}\n"
     "spec: {task: {pod: {metadata: {annotations: "
     "{hivedscheduler.microsoft.com/pod-scheduling-spec: \"virtualCluster: "
     "v\\nleafCellType: K80\\nleafCellNumber: 2\\n\"}}}}}\n",
     "pod f of v: at K80 2 GPU", ""},
    {"what nobody reads is said",
     "apiVersion: v1\n"
     "kind: Secret\n"
     "metadata: {name: s}\n",
     "nothing", "Secret is not read"},
};

static void asks_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(asks_are_read_rows); i++) {
        const struct read_row *r = &asks_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_read),
        cmocka_unit_test(slices_are_read),
        cmocka_unit_test(levels_are_read),
        cmocka_unit_test(asks_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
