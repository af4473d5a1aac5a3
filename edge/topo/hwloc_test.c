/* hwloc of three versions: devices, nodes, matrices of links; duplicates of libraries are one GPU.
 */
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD     "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define TWO_GPUS                                                                                   \
    "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"Bridge\" "                         \
    "bridge_type=\"1-1\"><object type=\"Bridge\" bridge_type=\"1-1\"><object "                     \
    "type=\"PCIDev\" gp_index=\"1\" pci_busid=\"01:00.0\" pci_type=\"0302 "                        \
    "[10de:2330] [0000:0000] a1 00\"><object type=\"OSDev\" gp_index=\"11\" "                      \
    "name=\"nvml0\" osdev_type=\"12\"><info name=\"NVIDIAUUID\" "                                  \
    "value=\"GPU-1\"/><info name=\"GPUModel\" value=\"H1\"/></object></object>\n"                  \
    "</object>\n"                                                                                  \
    "<object type=\"Bridge\" bridge_type=\"1-1\"><object type=\"PCIDev\" "                         \
    "gp_index=\"2\" pci_busid=\"02:00.0\" pci_type=\"0302 [10de:2330] [0000:0000] a1 "             \
    "00\"><object type=\"OSDev\" gp_index=\"12\" name=\"nvml1\" "                                  \
    "osdev_type=\"12\"></object></object>\n"                                                       \
    "</object>\n"                                                                                  \
    "</object>\n"                                                                                  \
    "</object>\n"
#define PLACE "affinity {0-1}:NUMA 0 CPU 0-7"
#define TAIL  "; packages 1; NUMA nodes 1; backends nvml x2"
#define GPUS  "2 GPUs (NVIDIA); H1"
#define PACKAGE                                                                                    \
    "<object type=\"Package\" cpuset=\"0xff\" gp_index=\"100\"><object "                           \
    "type=\"NUMANode\" os_index=\"0\" cpuset=\"0xff\"/>"

struct read_row {
    const char *why, *text, *reading, *remark; /* as topo_row_reads() takes them */
};

struct fail_row {
    const char *why, *text, *error;
};

static const struct read_row machines_are_read_rows[] = {
    {"two GPUs behind one switch",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object></topology>\n",
     GPUS "; no GPU links described; PIX x1; PCIe switches {0-1}; " PLACE TAIL, ""},
    {"several libraries list one GPU",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE
          "<object type=\"PCIDev\" gp_index=\"1\" pci_busid=\"1\" pci_type=\"0302 "
          "[10de:2330] [0000:0000] a1 00\"><object type=\"OSDev\" gp_index=\"11\" "
          "name=\"cuda0\" osdev_type=\"12\"></object><object type=\"OSDev\" "
          "gp_index=\"12\" name=\"nvml0\" osdev_type=\"12\"></object><object "
          "type=\"OSDev\" gp_index=\"13\" name=\"opencl0d0\" "
          "osdev_type=\"12\"></object><object type=\"OSDev\" gp_index=\"14\" "
          "name=\"card0\" osdev_type=\"12\"></object></object>\n"
          "</object>\n"
          "</object></topology>\n",
     "1 GPU (NVIDIA); no GPU links described; affinity {0}:NUMA 0 CPU 0-7; packages "
     "1; NUMA nodes 1; backends cuda x1, nvml x1, opencl x1",
     ""},
    {"two packages",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\"><object type=\"Package\" cpuset=\"0x0f\" "
          "gp_index=\"100\"><object type=\"NUMANode\" os_index=\"0\" "
          "cpuset=\"0x0f\"/><object type=\"Bridge\" bridge_type=\"0-1\"><object "
          "type=\"PCIDev\" gp_index=\"1\" pci_busid=\"1\" pci_type=\"0302 [10de:2330] "
          "[0000:0000] a1 00\"></object>\n"
          "</object>\n"
          "</object>\n"
          "<object type=\"Package\" cpuset=\"0xf0\" gp_index=\"101\"><object "
          "type=\"NUMANode\" os_index=\"1\" cpuset=\"0xf0\"/><object type=\"Bridge\" "
          "bridge_type=\"0-1\"><object type=\"PCIDev\" gp_index=\"2\" pci_busid=\"2\" "
          "pci_type=\"0302 [10de:2330] [0000:0000] a1 00\"></object>\n"
          "</object>\n"
          "</object>\n"
          "</object></topology>\n",
     "2 GPUs (NVIDIA); no GPU links described; SYS x1; affinity {0}:NUMA 0 CPU 0-3 "
     "{1}:NUMA 1 CPU 4-7; packages 2; NUMA nodes 2",
     ""},
    {"two host bridges of one node",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\"><object type=\"Package\" cpuset=\"0x0f\" "
          "gp_index=\"100\"><object type=\"NUMANode\" os_index=\"0\" "
          "cpuset=\"0x0f\"/><object type=\"Bridge\" bridge_type=\"0-1\"><object "
          "type=\"PCIDev\" gp_index=\"1\" pci_busid=\"1\" pci_type=\"0380 [1002:740f] "
          "[0000:0000] 00 00\"></object>\n"
          "</object>\n"
          "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"PCIDev\" "
          "gp_index=\"2\" pci_busid=\"2\" pci_type=\"0380 [1002:740f] [0000:0000] 00 "
          "00\"></object>\n"
          "</object>\n"
          "</object>\n"
          "</object></topology>\n",
     "2 GPUs (AMD); no GPU links described; NODE x1; affinity {0-1}:NUMA 0 CPU 0-3; "
     "packages 1; NUMA nodes 1",
     ""},
    {"a NIC with its two names",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\"><object type=\"Package\" cpuset=\"0xf\" "
          "gp_index=\"100\"><object type=\"NUMANode\" os_index=\"0\" "
          "cpuset=\"0xf\"/><object type=\"Bridge\" bridge_type=\"0-1\"><object "
          "type=\"Bridge\" bridge_type=\"1-1\"><object type=\"PCIDev\" gp_index=\"1\" "
          "pci_busid=\"1\" pci_type=\"0302 [10de:2330] [0000:0000] a1 00\"></object>\n"
          "<object type=\"PCIDev\" gp_index=\"2\" pci_busid=\"2\" pci_type=\"0207 "
          "[15b3:1021] [0000:0000] 00 00\"><object type=\"OSDev\" gp_index=\"3\" "
          "name=\"ib0\" osdev_type=\"2\"></object><object type=\"OSDev\" gp_index=\"4\" "
          "name=\"mlx5_0\" osdev_type=\"3\"></object></object>\n"
          "</object>\n"
          "</object>\n"
          "</object>\n"
          "</object></topology>\n",
     "1 GPU (NVIDIA); 1 NIC; no GPU links described; affinity {0}:NUMA 0 CPU 0-3; "
     "packages 1; NUMA nodes 1",
     ""},
    {"version 1: the node is above the socket",
     "<topology><object type=\"Machine\"><distances nbobjs=\"2\"/><object "
     "type=\"NUMANode\" os_index=\"8\" cpuset=\"0xf,,0x1\"><object "
     "type=\"Socket\"/><object type=\"PCIDev\" gp_index=\"1\" pci_busid=\"1\" "
     "pci_type=\"0302 [10de:2330] [0000:0000] a1 00\"></object>\n"
     "</object><object type=\"NUMANode\" os_index=\"252\" "
     "cpuset=\"0x0\"/></object></topology>",
     "1 GPU (NVIDIA); no GPU links described; affinity {0}:NUMA 8 CPU 0,64-67; "
     "packages 1; NUMA nodes 2; distances old-style latency x2",
     "1 NUMA nodes have no CPUs"},
    {"a console is no accelerator",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\"><object type=\"Package\" cpuset=\"0xf\" "
          "gp_index=\"100\"><object type=\"NUMANode\" os_index=\"0\" "
          "cpuset=\"0xf\"/><object type=\"PCIDev\" gp_index=\"1\" pci_busid=\"1\" "
          "pci_type=\"0300 [1a03:2000] [0000:0000] 00 00\"></object>\n"
          "</object>\n"
          "</object></topology>\n",
     "GPUs unknown; packages 1; NUMA nodes 1", "1 display devices of other vendors"},
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

static const struct read_row matrices_of_links_are_read_rows[] = {
    {"GPU to GPU and to the package",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2hetero nbobjs=\"3\" kind=\"25\" "
          "name=\"NVLinkBandwidth\"><indexes length=\"9\">OSDev:11 OSDev:12 Package:100 "
          "</indexes><u64values length=\"9\">1000000 40000 40000 40000 1000000 40000 40000 "
          "40000 1000000 </u64values></distances2hetero></topology>\n",
     GPUS "; NV 40000 MB/s on all 1 pair; islands {0-1}; PCIe switches {0-1}; " PLACE TAIL
          "; distances NVLinkBandwidth x3 of mixed types",
     "CPU packages"},
    {"through a switch whose class is hidden",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS
          "<object type=\"PCIDev\" gp_index=\"9\" pci_busid=\"9\" pci_type=\"0000 "
          "[0000:0000] [0000:0000] 00 00\"></object>\n"
          "</object>\n"
          "</object><distances2hetero nbobjs=\"3\" kind=\"25\" "
          "name=\"NVLinkBandwidth\"><indexes length=\"9\">OSDev:11 OSDev:12 PCIDev:9 "
          "</indexes><u64values length=\"9\">0 0 25000 0 0 25000 25000 25000 0 "
          "</u64values></distances2hetero></topology>\n",
     GPUS "; links to 1 switch; islands {0-1}; PCIe switches {0-1}; " PLACE TAIL
          "; distances NVLinkBandwidth x3 of mixed types",
     ""},
    {"a switch each: what joins switches is out of sight",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS
          "<object type=\"PCIDev\" gp_index=\"8\" pci_busid=\"8\" pci_type=\"0680 "
          "[10de:1ac2] [0000:0000] a1 00\"></object>\n"
          "<object type=\"PCIDev\" gp_index=\"9\" pci_busid=\"9\" pci_type=\"0680 "
          "[10de:1ac2] [0000:0000] a1 00\"></object>\n"
          "</object>\n"
          "</object><distances2hetero nbobjs=\"4\" kind=\"25\" "
          "name=\"NVLinkBandwidth\"><indexes length=\"9\">OSDev:11 OSDev:12 PCIDev:8 "
          "PCIDev:9 </indexes><u64values length=\"9\">0 0 25 0 0 0 0 25 25 0 0 0 0 25 0 0 "
          "</u64values></distances2hetero></topology>\n",
     GPUS "; links to 2 switches; PCIe switches {0-1}; " PLACE TAIL
          "; distances NVLinkBandwidth x4 of mixed types",
     "links between switches are not listed"},
    {"one type for all objects",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2 type=\"OSDev\" nbobjs=\"2\" name=\"XGMIBandwidth\" "
          "indexing=\"gp\"><indexes>11 12</indexes><u64values>0 50 50 "
          "0</u64values></distances2></topology>\n",
     GPUS "; XGMI 50 MB/s on all 1 pair; islands {0-1}; PCIe switches {0-1}; " PLACE TAIL
          "; distances XGMIBandwidth x2",
     ""},
    {"latency is no link",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2 type=\"NUMANode\" nbobjs=\"1\" name=\"NUMALatency\" "
          "indexing=\"os\"><indexes>0</indexes><u64values>10</u64values></distances2></topo"
          "logy>\n",
     GPUS "; no GPU links described; PIX x1; PCIe switches {0-1}; " PLACE TAIL
          "; distances NUMALatency x1",
     ""},
    {"fewer values than the size says",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2hetero nbobjs=\"2\" kind=\"25\" "
          "name=\"NVLinkBandwidth\"><indexes length=\"9\">OSDev:11 OSDev:12 "
          "</indexes><u64values length=\"9\">0 7 </u64values></distances2hetero></topology>\n",
     GPUS "; NV 7 MB/s on all 1 pair; islands {0-1}; PCIe switches {0-1}; " PLACE TAIL
          "; distances NVLinkBandwidth x2; incomplete",
     "has 2 of 4 values"},
    {"fewer names than the size says",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2hetero nbobjs=\"3\" "
          "name=\"NVLinkBandwidth\"><indexes>OSDev:11</indexes></distances2hetero></topolog"
          "y>\n",
     GPUS "; no GPU links described; PIX x1; PCIe switches {0-1}; " PLACE TAIL
          "; distances NVLinkBandwidth x3; incomplete",
     "names fewer objects"},
    {"a size out of all bounds",
     HEAD "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
          "<topology version=\"2.0\">\n"
          "<object type=\"Machine\">" PACKAGE TWO_GPUS "</object>\n"
          "</object><distances2 type=\"NUMANode\" nbobjs=\"99999999\" "
          "name=\"NUMALatency\"/></topology>\n",
     GPUS "; no GPU links described; PIX x1; PCIe switches {0-1}; " PLACE TAIL,
     "without a size, or one too many"},
};

static void matrices_of_links_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(matrices_of_links_are_read_rows); i++) {
        const struct read_row *r = &matrices_of_links_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_is_no_machine_is_refused_rows[] = {
    {"no object",
     "<topology version=\"2.0\">\n"
     "</topology>",
     "F:1: found no <object> in <topology>, expected a machine"},
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
        cmocka_unit_test(matrices_of_links_are_read),
        cmocka_unit_test(what_is_no_machine_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
