/* HiveD: hosts are the cells of the node level, GPUs follow from the numbers of the types. */
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

static const struct read_row cells_are_read_rows[] = {
    {"a pool of two hosts",
     "physicalCluster:\n"
     "  cellTypes:\n"
     "    A2: {childCellType: A, childCellNumber: 2}\n"
     "    N: {childCellType: A2, childCellNumber: 2, isNodeLevel: true}\n"
     "    P: {childCellType: N, childCellNumber: 2}\n"
     "    L: {childCellType: L, childCellNumber: 2}\n"
     "  physicalCells:\n"
     "  - cellType: P\n"
     "    cellChildren: [{cellAddress: h1}, {cellAddress: h2, pinnedCellId: x}]\n",
     "h1, h2: 4 GPUs; A | cells P: 1 domain; 2 hosts; levels P > N > A2 > A; P {h1,h2}", ""},
    {"a host alone",
     "physicalCluster:\n"
     "  cellTypes:\n"
     "    A2: {childCellType: A, childCellNumber: 2}\n"
     "    N: {childCellType: A2, childCellNumber: 2, isNodeLevel: true}\n"
     "    P: {childCellType: N, childCellNumber: 2}\n"
     "    L: {childCellType: L, childCellNumber: 2}\n"
     "  physicalCells:\n"
     "  - {cellType: N, cellAddress: h1}\n",
     "h1: 4 GPUs; A | cells N: N > A2 > A", ""},
    {"fewer cells than the type says",
     "physicalCluster:\n"
     "  cellTypes:\n"
     "    A2: {childCellType: A, childCellNumber: 2}\n"
     "    N: {childCellType: A2, childCellNumber: 2, isNodeLevel: true}\n"
     "    P: {childCellType: N, childCellNumber: 2}\n"
     "    L: {childCellType: L, childCellNumber: 2}\n"
     "  physicalCells:\n"
     "  - cellType: P\n"
     "    cellChildren: [{cellAddress: h1}]\n",
     "h1: 4 GPUs; A | cells P: 1 domain; 1 host; levels P > N > A2 > A; P {h1}; "
     "incomplete",
     "a P should have 2 cells and lists 1"},
    {"a type that is below itself",
     "physicalCluster:\n"
     "  cellTypes:\n"
     "    A2: {childCellType: A, childCellNumber: 2}\n"
     "    N: {childCellType: A2, childCellNumber: 2, isNodeLevel: true}\n"
     "    P: {childCellType: N, childCellNumber: 2}\n"
     "    L: {childCellType: L, childCellNumber: 2}\n"
     "  physicalCells:\n"
     "  - cellType: L\n",
     "nothing", "is below itself"},
    {"a type that nobody knows",
     "physicalCluster:\n"
     "  cellTypes:\n"
     "    A2: {childCellType: A, childCellNumber: 2}\n"
     "    N: {childCellType: A2, childCellNumber: 2, isNodeLevel: true}\n"
     "    P: {childCellType: N, childCellNumber: 2}\n"
     "    L: {childCellType: L, childCellNumber: 2}\n"
     "  physicalCells:\n"
     "  - cellType: Q\n",
     "nothing", "has no host below it"},
    {"a request",
     "jobVC: v\n"
     "jobName: j\n"
     "taskRoles: {a: {taskNumber: 5, leafCellType: K80, leafCellNumber: 2}}\n",
     "pod j of v: at K80 x5 2 GPU", ""},
};

static void cells_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cells_are_read_rows); i++) {
        const struct read_row *r = &cells_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
