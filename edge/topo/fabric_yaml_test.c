/* topology.yaml and Topograph models: every plugin, every tree, and the domains of links beside it.
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

struct fail_row {
    const char *why, *text, *error;
};

static const struct read_row topologies_are_read_rows[] = {
    {"a tree, the default",
     "- topology: t1\n"
     "  cluster_default: true\n"
     "  tree:\n"
     "    switches:\n"
     "      - switch: r\n"
     "        children: s[1-2]\n"
     "      - switch: s1\n"
     "        nodes: n[01-02]\n"
     "      - switch: s2\n"
     "        nodes: n[03-04]\n",
     "tree t1 (default): 1 > 2 domains; 4 hosts, 2 in each of 2; r; s1 in r "
     "{n01,n02}; s2 in r {n03,n04}",
     ""},
    {"blocks with sizes, and those without a place",
     "- topology: t2\n"
     "  block:\n"
     "    block_sizes: [2, 4]\n"
     "    blocks:\n"
     "      - {block: b1, nodes: \"n[1-2]\"}\n"
     "      - {block: none, nodes: c1}\n",
     "block t2: 2 domains; 3 hosts, 1 to 2 in each of 2; sizes 2,4; b1 {n1,n2}; none "
     "(no domain) {c1}",
     "it is no domain"},
    {"flat has no domains",
     "- topology: t3\n"
     "  flat: true\n",
     "flat t3: no domains", ""},
    {"rings and a torus",
     "- topology: t4\n"
     "  ring: {rings: [{ring: r0, nodes: \"n[1-8]\"}]}\n"
     "- topology: t5\n"
     "  torus3d: {toruses: [{name: p, dims: {x: 2, y: 3, z: 4}, nodes: \"n[1-24]\"}]}\n",
     "ring t4: 1 domain; 8 hosts; r0 {n1..n8} | torus t5: 1 domain; 24 hosts; 2x3x4; "
     "p {n1..n24}",
     ""},
    {"a plugin of tomorrow",
     "- topology: t6\n"
     "  dragonfly: {}\n",
     "nothing", "without a known plugin"},
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

static const struct read_row models_are_read_rows[] = {
    {"switches and accelerators",
     "switches:\n"
     "  s1:\n"
     "    switches: [s2, s3]\n"
     "blocks:\n"
     "- switch: s2\n"
     "  nodes: [\"i[21-22]\", i25]\n"
     "  annotations: {site/domain: nvl2}\n"
     "- switch: s3\n"
     "  nodes: [j1]\n",
     "tree switches: 1 > 2 domains; 4 hosts, 1 to 3 in each of 2; s1; s2 in s1 "
     "{i21..i25}; s3 in s1 {j1} | links accelerators: 1 domain; 3 hosts; nvl2 "
     "{i21..i25}",
     ""},
    {"names that are numbers only",
     "switches: {a: {switches: [b]}}\n"
     "blocks:\n"
     "- {switch: b, nodes: [\"[1101-1102]\"]}\n",
     "tree switches: 1 > 1 domains; 2 hosts; a; b in a {1101,1102}", ""},
    {"a block without a switch",
     "blocks:\n"
     "- {nodes: [n1]}\n"
     "- {switch: b, nodes: [n2]}\n",
     "tree switches: 1 domain; 1 host; b {n2}", "a block without a switch"},
};

static void models_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(models_are_read_rows); i++) {
        const struct read_row *r = &models_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row broken_ones_are_refused_rows[] = {
    {"a range that is none",
     "- topology: t\n"
     "  tree:\n"
     "    switches:\n"
     "      - switch: s\n"
     "        nodes: n[1-\n",
     "F:4: found a bracket that is not closed in n[1-, expected names like node[1-3,7]"},
};

static void broken_ones_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(broken_ones_are_refused_rows); i++) {
        const struct fail_row *r = &broken_ones_are_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_read),
        cmocka_unit_test(models_are_read),
        cmocka_unit_test(broken_ones_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
