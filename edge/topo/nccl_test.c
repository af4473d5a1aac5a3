/* NCCL topologies: dumps with links, hand-written ones without, and graphs, which are neither. */
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

static const struct read_row topologies_are_read_rows[] = {
    {"two GPUs with links to each other",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"b\" count=\"4\" "
     "tclass=\"0x030200\"/></gpu></pci><pci busid=\"b\" class=\"0x030200\"><gpu "
     "dev=\"1\"><nvlink target=\"a\" count=\"4\" "
     "tclass=\"0x030200\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "2 GPUs; NV4 on all 1 pair; islands {0-1}; affinity {0-1}:NUMA 0 CPU 0-7", ""},
    {"a blank line before the root",
     "\n"
     "\n"
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci></cpu>\n"
     "</system>\n",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0 CPU 0-7", ""},
    {"a comment before the root",
     "<!-- licence -->\n"
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci></cpu>\n"
     "</system>\n",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0 CPU 0-7", ""},
    {"AMD counts and classes",
     "<system version=\"2\"><cpu numaid=\"1\"><pci busid=\"a\" "
     "class=\"0x038000\"><gpu dev=\"0\"><xgmi target=\"b\" "
     "count=\"2\"/></gpu></pci><pci busid=\"b\" class=\"0x120000\"><gpu "
     "dev=\"1\"><xgmi target=\"a\" count=\"2\"/></gpu></pci></cpu></system>",
     "2 GPUs; XGMI x2 on all 1 pair; islands {0-1}; affinity {0-1}:NUMA 1", ""},
    {"all links go to switches: they make the island",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"s1\" count=\"5\" "
     "tclass=\"0x068000\"/><nvlink target=\"s2\" count=\"4\" "
     "tclass=\"0x068000\"/></gpu></pci><pci busid=\"b\" class=\"0x030200\"><gpu "
     "dev=\"1\"><nvlink target=\"s1\" count=\"5\" tclass=\"0x068000\"/><nvlink "
     "target=\"s2\" count=\"4\" tclass=\"0x068000\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "2 GPUs; 9 links of each GPU to 2 switches; islands {0-1}; affinity {0-1}:NUMA 0 "
     "CPU 0-7",
     ""},
    {"links to a CPU make none",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"x\" count=\"3\" "
     "tclass=\"0x068001\"/></gpu></pci><pci busid=\"b\" class=\"0x030200\"><gpu "
     "dev=\"1\"><nvlink target=\"x\" count=\"3\" "
     "tclass=\"0x068001\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "2 GPUs; no GPU links described; PHB x1; affinity {0-1}:NUMA 0 CPU 0-7", ""},
    {"one switch, several, none: as the trees say",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"r\" "
     "class=\"0x060400\"><pci busid=\"s\" class=\"0x060400\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci><pci busid=\"b\" class=\"0x030200\"></pci></pci><pci "
     "busid=\"u\" class=\"0x060400\"><pci busid=\"c\" "
     "class=\"0x030200\"></pci></pci></pci><pci busid=\"d\" "
     "class=\"0x030200\"></pci></cpu>\n"
     "</system>\n",
     "4 GPUs; no GPU links described; PHB x3, PIX x1, PXB x2; PCIe switches {0-1}; "
     "PCIe trees {0-2}; affinity {0-3}:NUMA 0 CPU 0-7",
     ""},
    {"a NIC with two ports, and one without a PCI device",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci><pci busid=\"n\" class=\"0x020700\"><nic><net "
     "name=\"mlx5_0\"/><net name=\"mlx5_1\"/></nic></pci><nic><net "
     "name=\"eth0\"/></nic></cpu>\n"
     "</system>\n",
     "1 GPU; 2 NICs with 3 ports; no GPU links described; affinity {0}:NUMA 0 CPU 0-7", ""},
    {"no class: nobody can tell",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\"></pci><pci "
     "busid=\"b\"></pci></cpu>\n"
     "</system>\n",
     "GPUs unknown; 2 PCI devices of unknown kind, NUMA 0:2", "cannot be told apart"},
    {"numaid -1 is unknown",
     "<system><cpu numaid=\"-1\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci></cpu></system>",
     "1 GPU; no GPU links described", ""},
};

static void topologies_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(topologies_are_read_rows); i++) {
        const struct read_row *r = &topologies_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row odd_links_are_said_rows[] = {
    {"a link to itself",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"a\" count=\"12\" "
     "tclass=\"0x030200\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "1 GPU; links of a GPU to itself ignored; no GPU links described; affinity "
     "{0}:NUMA 0 CPU 0-7",
     "1 links lead from a GPU to itself"},
    {"the ends disagree",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"b\" count=\"4\" "
     "tclass=\"0x030200\"/></gpu></pci><pci busid=\"b\" class=\"0x030200\"><gpu "
     "dev=\"1\"><nvlink target=\"a\" count=\"2\" "
     "tclass=\"0x030200\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "2 GPUs; NV4 on all 1 pair; islands {0-1}; affinity {0-1}:NUMA 0 CPU 0-7", "count 4 and 2"},
    {"a link without a count",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"><gpu dev=\"0\"><nvlink target=\"b\"/></gpu></pci></cpu>\n"
     "</system>\n",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0 CPU 0-7", "without a target or a count"},
    {"one address twice",
     "<system version=\"1\">\n"
     "<cpu numaid=\"0\" affinity=\"000000ff\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci><pci busid=\"a\" class=\"0x030200\"></pci></cpu>\n"
     "</system>\n",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0 CPU 0-7",
     "a second device at a is ignored"},
    {"an affinity that is no mask",
     "<system><cpu numaid=\"0\" affinity=\"all\"><pci busid=\"a\" "
     "class=\"0x030200\"></pci></cpu></system>",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0", "is no mask of CPUs: all"},
    {"a graph shows the way of data, not links",
     "<graphs version=\"1\"><graph id=\"0\"><channel><gpu dev=\"0\"/><gpu "
     "dev=\"1\"/></channel></graph><graph id=\"1\"><channel><gpu "
     "dev=\"1\"/></channel></graph></graphs>",
     "2 GPUs", "a dump of 2 graphs shows which way data goes"},
};

static void odd_links_are_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(odd_links_are_said_rows); i++) {
        const struct read_row *r = &odd_links_are_said_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_is_no_topology_is_refused_rows[] = {
    {"no devices",
     "<system version=\"1\">\n"
     "</system>",
     "F:1: found no <pci> device in <system>, expected some"},
    {"no graph", "<graphs/>", "F:1: found no <graph> in <graphs>, expected one"},
};

static void what_is_no_topology_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_is_no_topology_is_refused_rows); i++) {
        const struct fail_row *r = &what_is_no_topology_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_read),
        cmocka_unit_test(odd_links_are_said),
        cmocka_unit_test(what_is_no_topology_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
