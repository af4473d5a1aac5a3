/* The text of lstopo, old and new: PCIe and nodes, never links. */
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

static const struct read_row machines_are_read_rows[] = {
    {"version 2: nodes are children of what they belong to",
     "Machine (64GB total)\n"
     "  Package L#0\n"
     "    NUMANode L#0 (P#0 32GB)\n"
     "    L3 L#0 (16MB)\n"
     "      Core L#0 + PU L#0 (P#0)\n"
     "    HostBridge\n"
     "      PCIBridge\n"
     "        PCIBridge\n"
     "          PCI 18:00.0 (3D)\n"
     "            GPU(NVML) \"nvml0\"\n"
     "        PCIBridge\n"
     "          PCI 19:00.0 (3D)\n"
     "        PCIBridge\n"
     "          PCI 1a:00.0 (InfiniBand)\n"
     "            Net \"ib0\"\n"
     "            OpenFabrics \"mlx5_0\"\n"
     "    HostBridge\n"
     "      PCI 1b:00.0 (3D)\n"
     "  Package L#1\n"
     "    NUMANode L#1 (P#1 32GB)\n"
     "    HostBridge\n"
     "      PCIBridge\n"
     "        PCI 3b:00.0 (VGA)\n"
     "          CoProc(CUDA) \"cuda3\"\n"
     "      PCIBridge\n"
     "        PCI 3c:00.0 (VGA)\n",
     "4 GPUs; 1 NIC; no GPU links described; NODE x2, PIX x1, SYS x3; PCIe switches "
     "{0-1}; affinity {0-2}:NUMA 0 {3}:NUMA 1; packages 2; NUMA nodes 2",
     "1 VGA devices without a library"},
    {"version 1: nodes stand above, types have other names",
     "Machine (P#0 64GB)\n"
     "  NUMANode L#0 (P#1)\n"
     "    Socket L#0\n"
     "    Bridge Host->PCI L#0\n"
     "      Bridge PCI->PCI\n"
     "        PCI 10de:1db8\n"
     "          CoProc L#0 \"cuda0\"\n"
     "      Bridge PCI->PCI\n"
     "        PCI 10de:1db8\n",
     "2 GPUs; no GPU links described; PHB x1; affinity {0-1}:NUMA 1; packages 1; NUMA "
     "nodes 1",
     "out of sight"},
    {"two nodes below one package: which one is not said",
     "Machine (1GB)\n"
     "  Package L#0\n"
     "    NUMANode L#0 (P#0 1GB)\n"
     "    NUMANode L#1 (P#1 1GB)\n"
     "    HostBridge\n"
     "      PCI 01:00.0 (3D)\n"
     "      PCI 02:00.0 (3D)\n",
     "2 GPUs; no GPU links described; PHB x1; affinity {0-1}:NUMA N/A; packages 1; "
     "NUMA nodes 2",
     "out of sight"},
    {"the verbose form",
     "Machine (P#0 total=1KB)\n"
     "  Package L#0 (CPUModel=x)\n"
     "    NUMANode L#0 (P#0 local=1KB)\n"
     "    HostBridge L#0 (buses=0000:[00-02])\n"
     "      PCI L#0 (busid=0000:01:00.0 id=10de:2330 class=0302(3D) link=63.02GB/s)\n",
     "1 GPU; no GPU links described; affinity {0}:NUMA 0; packages 1; NUMA nodes 1",
     "out of sight"},
    {"several switches below one bridge",
     "Machine (1GB)\n"
     "  Package L#0\n"
     "    HostBridge\n"
     "      PCIBridge\n"
     "        PCIBridge\n"
     "          PCIBridge\n"
     "            PCI 01:00.0 (3D)\n"
     "        PCIBridge\n"
     "          PCIBridge\n"
     "            PCI 02:00.0 (3D)\n",
     "2 GPUs; no GPU links described; PXB x1; PCIe trees {0-1}; affinity {0-1}:NUMA "
     "N/A; packages 1; NUMA nodes 0",
     "out of sight"},
};

static void machines_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(machines_are_read_rows); i++) {
        const struct read_row *r = &machines_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_is_no_machine_is_refused_rows[] = {
    {"a title alone",
     "Machine (64GB)\n"
     "  L3 L#0\n",
     "F:1: found no package and no device, expected the text of lstopo"},
};

static void what_is_no_machine_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_is_no_machine_is_refused_rows); i++) {
        const struct fail_row *r = &what_is_no_machine_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_are_read),
        cmocka_unit_test(what_is_no_machine_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
