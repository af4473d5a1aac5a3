/* Tables of rocm-smi: each may be missing, and what is missing stays unknown. */
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

static const struct read_row tables_are_read_rows[] = {
    {"three tables and the nodes",
     "=== ROCm System Management Interface ===\n"
     "=== Weight between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  15\n"
     "GPU1   15  0\n"
     "\n"
     "=== Hops between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  1\n"
     "GPU1   1  0\n"
     "\n"
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  XGMI\n"
     "GPU1   XGMI  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 1\n",
     "2 GPUs; XGMI weight 15 1 hop on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 "
     "{1}:NUMA 1",
     ""},
    {"PCIe makes no island",
     "=== ROCm System Management Interface ===\n"
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  PCIE\n"
     "GPU1   PCIE  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 0\n",
     "2 GPUs; no NVLink; PCIE x1; affinity {0-1}:NUMA 0", ""},
    {"the list of nodes alone",
     "=== ROCm System Management Interface ===\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[0]\t\t: (Topology) Numa Affinity: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 1\n",
     "2 GPUs; affinity {0}:NUMA 0 {1}:NUMA 1", "the table of link types is missing"},
    {"a node of -1 is unknown",
     "=== ROCm System Management Interface ===\n"
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  XGMI\n"
     "GPU1   XGMI  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: -1\n"
     "GPU[1]\t\t: (Topology) Numa Node: -1\n",
     "2 GPUs; XGMI on all 1 pair; islands {0-1}; incomplete", "0 of 2 GPUs have a NUMA node"},
};

static void tables_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tables_are_read_rows); i++) {
        const struct read_row *r = &tables_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row what_is_cut_stays_unknown_rows[] = {
    {"no table of link types",
     "=== ROCm System Management Interface ===\n"
     "=== Weight between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  15\n"
     "GPU1   15  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 0\n",
     "2 GPUs; unknown weight 15 on all 1 pair; no GPU links described; affinity "
     "{0-1}:NUMA 0",
     "the table of link types is missing"},
    {"cut inside a row",
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0     XGMI\n"
     "GPU1",
     "2 GPUs; XGMI on all 1 pair; islands {0-1}; row cut: 1; incomplete",
     "the row of GPU1 has 0 of 2 cells"},
    {"cut before the last row",
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0     XGMI\n",
     "2 GPUs; XGMI on all 1 pair; no GPU links described; incomplete", "a table has 1 of 2 rows"},
    {"a link type of tomorrow",
     "=== ROCm System Management Interface ===\n"
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  CXL\n"
     "GPU1   CXL  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 0\n",
     "2 GPUs; no NVLink; affinity {0-1}:NUMA 0", "no known word: CXL"},
    {"a node of a GPU that no table has",
     "=== ROCm System Management Interface ===\n"
     "=== Weight between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  15\n"
     "GPU1   15  0\n"
     "\n"
     "=== Hops between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  1\n"
     "GPU1   1  0\n"
     "\n"
     "=== Link Type between two GPUs ===\n"
     "       GPU0  GPU1\n"
     "GPU0   0  XGMI\n"
     "GPU1   XGMI  0\n"
     "\n"
     "=== Numa Nodes ===\n"
     "GPU[0]\t\t: (Topology) Numa Node: 0\n"
     "GPU[1]\t\t: (Topology) Numa Node: 1\n"
     "GPU[7]\t: (Topology) Numa Node: 3\n",
     "2 GPUs; XGMI weight 15 1 hop on all 1 pair; islands {0-1}; affinity {0}:NUMA 0 "
     "{1}:NUMA 1",
     "which no table has"},
};

static void what_is_cut_stays_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_is_cut_stays_unknown_rows); i++) {
        const struct read_row *r = &what_is_cut_stays_unknown_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_is_no_table_is_refused_rows[] = {
    {"a title alone", "=== ROCm System Management Interface ===\n",
     "F: found no table of GPUs, expected the output of rocm-smi --showtopo"},
};

static void what_is_no_table_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_is_no_table_is_refused_rows); i++) {
        const struct fail_row *r = &what_is_no_table_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_read),
        cmocka_unit_test(what_is_cut_stays_unknown),
        cmocka_unit_test(what_is_no_table_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
