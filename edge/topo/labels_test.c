/* Labels name levels by the presets of providers; a placeholder is no domain. */
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

struct fail_row {
    const char *why, *text, *error;
};

static const struct read_row chains_are_read_rows[] = {
    {"Google",
     "cloud.google.com/gce-topology-block=b1\n"
     "cloud.google.com/gce-topology-subblock=s1\n",
     "GPUs unknown | tree gke: 1 > 1 domains; 1 host; levels block > subblock; block "
     "b1; subblock s1 in b1 {this host}",
     ""},
    {"Amazon counts from the top",
     "topology.k8s.aws/network-node-layer-3=c\n"
     "topology.k8s.aws/network-node-layer-1=a\n"
     "topology.k8s.aws/network-node-layer-2=b\n",
     "GPUs unknown | tree eks: 1 > 1 > 1 domains; 1 host; levels layer 1 > layer 2 > "
     "layer 3; layer 1 a; layer 2 b in a; layer 3 c in b {this host}",
     ""},
    {"Topograph counts from the host",
     "fabric.topograph.run/tier-0=a\n"
     "fabric.topograph.run/tier-1=b\n",
     "GPUs unknown | tree topograph: 1 > 1 domains; 1 host; levels tier 1 > tier 0; "
     "tier 1 b; tier 0 a in b {this host}",
     ""},
    {"Oracle writes a word where it knows nothing",
     "oci.oraclecloud.com/rdma.hpc_island_id=no-imds-data\n"
     "oci.oraclecloud.com/rdma.network_block_id=nb\n",
     "GPUs unknown | tree oke: 1 domain; 1 host; levels network block; network block "
     "nb {this host}",
     "unknown, and no domain"},
    {"a rack joined by links, and its partition",
     "nvidia.com/gpu.clique=aa-bb.7\n"
     "nvidia.com/gpu.count=4\n",
     "4 GPUs | links clique: 1 > 1 domains; 1 host; levels domain > clique; domain "
     "aa-bb; clique aa-bb.7 in aa-bb {this host}",
     ""},
    {"an empty clique is no domain",
     "nvidia.com/gpu.clique=\n"
     "nvidia.com/gpu.count=4\n",
     "4 GPUs", "no domain"},
};

static void chains_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(chains_are_read_rows); i++) {
        const struct read_row *r = &chains_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row descriptions_are_read_rows[] = {
    {"kubectl describe",
     "Name:               g1\n"
     "Roles:              <none>\n"
     "Labels:             nvidia.com/gpu.count=8\n"
     "                    nvidia.com/gpu.memory=81559\n"
     "                    nvidia.com/mig.capable=true\n"
     "Annotations:        nvidia.com/other=9\n"
     "Taints:             node.kubernetes.io/not-ready:NoSchedule\n",
     "g1: 8 GPUs; 81559 MiB each; slices: capable; not ready", ""},
    {"a part of one",
     "...\n"
     "                    nvidia.com/gpu.count=8\n",
     "8 GPUs", ""},
    {"two of them: the first is read",
     "Name: a\n"
     "Labels: nvidia.com/gpu.count=8\n"
     "Name: b\n"
     "Labels: nvidia.com/gpu.count=4\n",
     "a: 8 GPUs", "a second object is left out"},
};

static void descriptions_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(descriptions_are_read_rows); i++) {
        const struct read_row *r = &descriptions_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_has_no_labels_is_refused_rows[] = {
    {"a head alone",
     "Name: a\n"
     "Labels: <none>\n",
     "F: found no label like example.com/key=value, expected some"},
};

static void what_has_no_labels_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_has_no_labels_is_refused_rows); i++) {
        const struct fail_row *r = &what_has_no_labels_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_read),
        cmocka_unit_test(descriptions_are_read),
        cmocka_unit_test(what_has_no_labels_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
