/* Matrices as tools print them and as people paste them: every cell in its place, or not trusted.
 */
#include "tests/topo_reading.h"
#include "tests/topo_sound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define LEGEND   "\nLegend:\n\n  X    = Self\n  PIX  = one bridge\n"
#define NVLINKS  "  NV#  = bonded set of # NVLinks\n"

static void tables_are_read(void **state)
{
    static const struct {
        const char *why, *text, *reading, *remark;
    } row[] = {
        {"tabs, as the tool prints them",
         "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-7\t0\nGPU1\tNV4\t X "
         "\t8-15\t1\n",
         "2 GPUs; NV4 on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 CPU 0-7 {1}:NUMA 1 CPU "
         "8-15",
         ""},
        {"blanks, indented, as in a list of Markdown",
         "    GPU0 GPU1 CPU Affinity\n    GPU0  X  PIX  0-3\n    GPU1 PIX  X   0-3\n" LEGEND
             NVLINKS,
         "2 GPUs; no NVLink; PIX x1; PCIe switches {0-1}; affinity {0-1}:CPU 0-3", ""},
        {"a prompt and a title in front",
         "[root@n1 ~]# nvidia-smi topo -m\n\tGPU0\tCPU Affinity\nGPU0\t X \t0-3\n",
         "1 GPU; no NVLink; affinity {0}:CPU 0-3", "there is no legend"},
        {"an empty CPU list between tabs is not the next column",
         "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\tX\tNV1\t0\t0\t\tN/A\n"
         "GPU1\tNV1\tX\t\t1\t\tN/A\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 CPU 0 {1}:NUMA 1 CPU "
         "(empty)",
         ""},
        {"short values filled up with tabs, as some drivers do",
         "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
         "GPU0\tX\tPHB\t0-7\t\t0\t\tN/A\nGPU1\tPHB\tX\t8-15\t\tN/A\t\tN/A\n" LEGEND NVLINKS,
         "2 GPUs; no NVLink; PHB x1; affinity {0}:NUMA 0 CPU 0-7 {1}:NUMA N/A CPU 8-15", ""},
        {"a list of nodes: the first has the CPUs, the GPU's memory is another",
         "\tGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\tX\t0-71\t0,2-9\t\t4\n" LEGEND
             NVLINKS,
         "1 GPU; no NVLink; affinity {0}:NUMA 0 CPU 0-71; memory NUMA 4", ""},
        {"no node is not node 0",
         "GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X SYS 0-3 N/A\nGPU1 SYS X 0-3 N/A\n" LEGEND
             NVLINKS,
         "2 GPUs; no NVLink; SYS x1; affinity {0-1}:NUMA N/A CPU 0-3", ""},
        {"the columns of another vendor stand in another order",
         "GPU0 GPU1 Node Affinity CPU Affinity\nGPU0 X MX 1 0-3\nGPU1 MX X 1 0-3\n",
         "2 GPUs; MX on all 1 pair; islands {0-1}; affinity {0-1}:NUMA 1 CPU 0-3", ""},
        {"NPUs, with a switch between some and dies of one package",
         "\tNPU0\tNPU1\tNPU2\nNPU0\tX\tSIO\tHCCS_SW\nNPU1\tSIO\tX\tNA\nNPU2\tHCCS_SW\tNA\tX\n",
         "3 NPUs; HCCS on 0-2; SIO on 0-1; islands {0-2}", ""},
        {"old drivers say SOC for SYS", "GPU0 GPU1\nGPU0 X SOC\nGPU1 SOC X\n" LEGEND NVLINKS,
         "2 GPUs; no NVLink; SYS x1; no affinity columns", ""},
        {"a bridge joins two of three",
         "GPU0 GPU1 GPU2\nGPU0 X NV4 PHB\nGPU1 NV4 X PHB\nGPU2 PHB PHB X\n",
         "3 GPUs; NV4 on 0-1; islands {0-1}; outside any island: 2; no affinity columns", ""},
        {"a NIC joins two GPUs behind switches",
         "GPU0 GPU1 NIC0\nGPU0 X NV2 PXB\nGPU1 NV2 X PXB\nNIC0 PXB PXB X\n",
         "2 GPUs; 1 NIC; NV2 on all 1 pair; islands {0-1}; PCIe trees {0-1}; no affinity columns",
         ""},
        {"two hosts in one paste are two hosts",
         "GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 X\n\nGPU0 GPU1\nGPU0 X NV2\nGPU1 NV2 X\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; no affinity columns | "
         "2 GPUs; NV2 on all 1 pair; islands {0-1}; no affinity columns",
         ""},
        {"escape codes are no part of a name",
         "\t\x1B[4mGPU0\tGPU1\x1B[0m\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; no affinity columns", "escape codes"},
        {"carriage returns come from Windows",
         "GPU0 GPU1 CPU Affinity\nGPU0 X NV1 0-3\nGPU1 NV1 X 0-3\n```\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; affinity {0-1}:CPU 0-3", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        topo_row_reads(row[i].why, row[i].text, row[i].reading, row[i].remark);
    topo_rows_done();
}

static void what_hides_links_is_said(void **state)
{
    static const struct {
        const char *why, *text, *reading, *remark;
    } row[] = {
        {"-mp: the legend knows no NV#", "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\n" LEGEND,
         "2 GPUs; links out of sight; PIX x1; PCIe switches {0-1}; no affinity columns",
         "topo -mp) hides links"},
        {"-p2p looks like a matrix and is none",
         " \tGPU0\tGPU1\t\n GPU0\tX\tOK\t\n GPU1\tOK\tX\t\n",
         "2 GPUs; no link information; P2P OK on all 1 pair", "shows no links"},
        {"-p2p of three, not all alike",
         "GPU0 GPU1 GPU2\nGPU0 X OK NS\nGPU1 OK X NS\nGPU2 NS NS X\n\nLegend:\n\n  GNS = no\n",
         "3 GPUs; no link information; P2P OK on 0-1; P2P NS on 0-2 1-2", "shows no links"},
        {"a matrix and the abilities of the same devices in one paste are one host",
         "GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n\n GPU0 GPU1\n GPU0 X OK\n GPU1 OK X\n",
         "2 GPUs; NV4 on all 1 pair; islands {0-1}; P2P OK on all 1 pair; no affinity columns",
         NULL},
        {"those of other devices are another",
         "GPU0 GPU1\nGPU0 X NV4\nGPU1 NV4 X\n\n GPU0 GPU2\n GPU0 X OK\n GPU2 OK X\n",
         "2 GPUs; NV4 on all 1 pair; islands {0-1}; no affinity columns | 2 GPUs; no link "
         "information; P2P OK on all 1 pair",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        topo_row_reads(row[i].why, row[i].text, row[i].reading, row[i].remark);
    topo_rows_done();
}

static void what_is_cut_or_odd_is_not_trusted(void **state)
{
    static const struct {
        const char *why, *text, *reading, *remark;
    } row[] = {
        {"a CPU list that ends early still looks like one",
         "GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X NV1 0-3,8-11 0\nGPU1 NV1 X 0",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 CPU 0-3,8-11; row cut: 1; "
         "incomplete",
         "the row of GPU1 has 1 of 2 values"},
        {"so does one between tabs",
         "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNV1\t0-3\t0\nGPU1\tNV1\tX\t0",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 CPU 0-3; row cut: 1; "
         "incomplete",
         "ends before its last column"},
        {"the last word of a short row may be half a word: NV1 of NV12",
         "GPU0 GPU1 GPU2\nGPU0 X NV12 NV12\nGPU1 NV12 X NV12\nGPU2 NV1",
         "3 GPUs; NV12 on all 3 pairs; islands {0-2}; row cut: 2; incomplete",
         "the row of GPU2 has 1 of 3 links"},
        {"rows that are missing leave their pairs unknown",
         "GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\n",
         "4 GPUs; NV4 on 0-1 0-2 0-3; islands {0-3}; row cut: 1,2,3; incomplete",
         "rows of devices that are cut or missing: 3"},
        {"the node of a cut row follows from paths that leave no node",
         "GPU0 GPU1 NIC0 CPU Affinity NUMA Affinity\nGPU0 X SYS NODE 0-3 1\nGPU1 SYS X SYS 4-7 0\n"
         "NIC0 NODE SYS X\n\n\nGPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X NODE 0-3 1\n"
         "GPU1 NODE X 0",
         "2 GPUs; 1 NIC; no NVLink; SYS x1; affinity {0}:NUMA 1 CPU 0-3 {1}:NUMA 0 CPU 4-7 | "
         "2 GPUs; no NVLink; NODE x1; affinity {0}:NUMA 1 CPU 0-3 {1}:NUMA 1 by its paths; row "
         "cut: 1; incomplete",
         "follows from its paths"},
        {"the halves contradict each other: neither is believed",
         "GPU0 GPU1 GPU2\nGPU0 X NV1 NV1\nGPU1 NV1 X NV2\nGPU2 NV1 NV4 X\n",
         "3 GPUs; NV1 on 0-1 0-2; islands {0-2}; no affinity columns; incomplete",
         "GPU1 and GPU2 contradict each other"},
        {"an X off the diagonal: the row has slipped", "GPU0 GPU1\nGPU0 NV1 X\nGPU1 NV1 X\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; no affinity columns; incomplete",
         "the X of GPU0 is not on the diagonal"},
        {"a second row is ignored", "GPU0 GPU1\nGPU0 X NV1\nGPU0 X NV9\nGPU1 NV1 X\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; no affinity columns",
         "a second row of GPU0 is ignored"},
        {"a word that no tool prints",
         "GPU0 GPU1 GPU2\nGPU0 X NV1 FOO\nGPU1 NV1 X PHB\nGPU2 FOO PHB X\n",
         "3 GPUs; NV1 on 0-1; islands {0-1}; outside any island: 2; no affinity columns",
         "is no known word: FOO"},
        {"columns that trail off in the middle of a table are empty, not cut",
         "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\nGPU0\tX\tNV1\t0-3\t0\n"
         "GPU1\tNV1\tX\t4-7\t1\t\tN/A\n",
         "2 GPUs; NV1 on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 CPU 0-3 {1}:NUMA 1 CPU 4-7",
         ""},
        {"rows are missing and the text ends in a value that looks whole",
         "GPU0 GPU1 NIC0 CPU Affinity\nGPU0 X NV1 PIX 0-3,8-11\nGPU1 NV1 X PIX 0-3,8-1\n",
         "2 GPUs; 1 NIC; NV1 on all 1 pair; islands {0-1}; PCIe switches {0-1}; affinity "
         "{0}:CPU 0-3,8-11; row cut: 1; incomplete",
         "the text ends in the row of GPU1"},
        {"a CPU list that is none", "GPU0 CPU Affinity\nGPU0 X 7-3\n" LEGEND NVLINKS,
         "1 GPU; no NVLink; no affinity columns", "is no list of CPUs: 7-3"},
        {"rows of NICs that were left out", "GPU0 GPU1 NIC0\nGPU0 X NV1 PIX\nGPU1 NV1 X PIX\n",
         "2 GPUs; 1 NIC; NV1 on all 1 pair; islands {0-1}; PCIe switches {0-1}; no affinity "
         "columns; "
         "incomplete",
         "rows of NICs that are missing: 1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        topo_row_reads(row[i].why, row[i].text, row[i].reading, row[i].remark);
    topo_rows_done();
}

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    topo_row_fails("a name twice", "title\nGPU0 GPU1 GPU0\nGPU0 X NV1 NV1\n",
                   "F:2: found the device GPU0 twice, expected each once");
    topo_row_fails("NICs in front would number the GPUs anew", "GPU0 NIC0 GPU1\nGPU0 X PIX SYS\n",
                   "F:1: found a GPU behind a NIC, expected the GPUs first");
    topo_rows_done();
}

/* 600 devices in a header. */
static void too_many_devices_are_refused(void **state)
{
    struct out text = {0};

    (void)state;
    for (int i = 0; i < 600; i++)
        out_format(&text, "GPU%d ", i);
    out_add(&text, "\n");
    topo_row_fails("a host has a limit", text.bytes,
                   "F:1: found more than 512 devices, expected fewer");
    topo_rows_done();
    out_free(&text);
}

/* What a cut table says of device a is what the whole one says, or nothing. */
static void nothing_is_made_up(const struct topo_host *h, uint32_t a, size_t cut)
{
    const struct topo_device *d = &h->device[a];
    const struct topo_link *link = topo_link(h, a, (a + 1) % 3);

    if (link->path != TOPO_PATH_UNKNOWN &&
        link->path != (a == 0 ? TOPO_PATH_NVLINK : TOPO_PATH_SYS))
        fail_msg("cut at %zu: GPU%u has a link that nobody wrote", cut, a);
    if (link->path == TOPO_PATH_NVLINK && link->links != 12)
        fail_msg("cut at %zu: a count of links was cut", cut);
    if (d->numa != TOPO_NONE && d->numa != (a < 2 ? 0 : 12))
        fail_msg("cut at %zu: GPU%u has the node %d", cut, a, d->numa);
    if (d->cpus && strcmp(d->cpus, a < 2 ? "0-11,24-35" : "12-23,36-47") != 0)
        fail_msg("cut at %zu: GPU%u has the CPUs %s", cut, a, d->cpus);
}

/* Every cut of a table, byte by byte, is read soundly or refused in words; a link that is not in
 * the whole table never appears. */
static void every_cut_is_sound(void **state)
{
    static const char *const whole[] = {
        "\tGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
        "GPU0\t X \tNV12\tSYS\tPIX\t0-11,24-35\t0\t\tN/A\n"
        "GPU1\tNV12\t X \tSYS\tPIX\t0-11,24-35\t0\t\tN/A\n"
        "GPU2\tSYS\tSYS\t X \tSYS\t12-23,36-47\t12\t\tN/A\n"
        "NIC0\tPIX\tPIX\tSYS\t X \t\t\t\n" LEGEND NVLINKS,
        "     GPU0 GPU1 GPU2 NIC0  CPU Affinity\n"
        "GPU0  X   NV12 SYS  PIX   0-11,24-35\n"
        "GPU1 NV12  X   SYS  PIX   0-11,24-35\n"
        "GPU2 SYS  SYS   X   SYS   12-23,36-47\n"
        "NIC0 PIX  PIX  SYS   X\n" LEGEND NVLINKS,
    };

    (void)state;
    for (size_t w = 0; w < COUNT(whole); w++)
        for (size_t cut = strcspn(whole[w], "\n") + 1; cut <= strlen(whole[w]); cut++) {
            struct topo *t;
            struct err err = {""};

            topo_sound((const uint8_t *)whole[w], cut, NULL);
            if (topo_open_text(&t, "F", whole[w], cut, &err))
                fail_msg("cut at %zu: %s", cut, err.text);
            for (uint32_t a = 0; a < 3; a++)
                nothing_is_made_up(&t->host[0], a, cut);
            topo_close(t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(what_hides_links_is_said),
        cmocka_unit_test(what_is_cut_or_odd_is_not_trusted),
        cmocka_unit_test(what_is_no_table_is_refused),
        cmocka_unit_test(too_many_devices_are_refused),
        cmocka_unit_test(every_cut_is_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
