/* topology.conf and gres.conf: names in ranges, keys in any case, nothing lost and nothing twice.
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
    {"a tree, leaves first",
     "SwitchName=s0 Nodes=dev[0-5]\n"
     "SwitchName=s1 Nodes=dev[6-11]\n"
     "SwitchName=s3 Switches=s[0-1]\n",
     "tree: 1 > 2 domains; 12 hosts, 6 in each of 2; s0 in s3 {dev0..dev5}; s1 in s3 "
     "{dev6..dev11}; s3",
     ""},
    {"keys in any case, comments, joined lines, padded numbers",
     "# x\n"
     "switchname=a NODES=n[01-02],\\\n"
     "m7 # y\n",
     "tree: 1 domain; 3 hosts; a {n01..m7}", ""},
    {"blocks and their sizes",
     "BlockName=b1 Nodes=n[1-2]\n"
     "BlockName=b2 Nodes=n[3-4]\n"
     "BlockSizes=2,4\n",
     "block: 2 domains; 4 hosts, 2 in each of 2; sizes 2,4; b1 {n1,n2}; b2 {n3,n4}", ""},
    {"two roots",
     "SwitchName=a Nodes=n1\n"
     "SwitchName=b Nodes=n2\n",
     "tree: 2 domains; 2 hosts, 1 in each of 2; a {n1}; b {n2}", "no top switch: 2 trees"},
    {"leaves at two depths",
     "SwitchName=r Switches=a,b\n"
     "SwitchName=a Nodes=n1\n"
     "SwitchName=b Switches=c\n"
     "SwitchName=c Nodes=n2\n",
     "tree: 1 > 2 > 1 domains; 2 hosts, 1 in each of 2; r; a in r {n1}; b in r; c in "
     "b {n2}",
     "leaves have 1 to 2 switches above"},
    {"hosts without a place are no domain",
     "SwitchName=r Switches=a,none\n"
     "SwitchName=a Nodes=n1\n"
     "SwitchName=none Nodes=n2\n",
     "tree: 1 > 2 domains; 2 hosts, 1 in each of 2; r; a in r {n1}; none in r (no "
     "domain) {n2}",
     "it is no domain"},
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

static const struct read_row contradictions_are_said_rows[] = {
    {"a child that has no line",
     "SwitchName=r Switches=a,b\n"
     "SwitchName=a Nodes=n1\n",
     "tree: 1 > 2 domains; 1 host; r; a in r {n1}; b in r; incomplete",
     "1 switches are named as children"},
    {"two parents",
     "SwitchName=r Switches=a\n"
     "SwitchName=q Switches=a\n"
     "SwitchName=a Nodes=n1\n",
     "tree: 2 > 1 domains; 1 host; r; a in r {n1}; q; incomplete",
     "a is below r already and not put below q"},
    {"a circle",
     "SwitchName=a Switches=b\n"
     "SwitchName=b Switches=c\n"
     "SwitchName=c Switches=a\n",
     "tree: 1 > 1 > 1 domains; 0 hosts; a in c; b; c in b; incomplete", "is above itself"},
    {"its own child", "SwitchName=a Switches=a Nodes=n1\n",
     "tree: 1 domain; 1 host; a {n1}; incomplete", "a lists itself"},
    {"a host in two leaves",
     "SwitchName=a Nodes=n1\n"
     "SwitchName=b Nodes=n1\n",
     "tree: 2 domains; 2 hosts, 1 in each of 2; a {n1}; b {n1}", "1 hosts stand in two domains"},
    {"a switch twice",
     "SwitchName=a Nodes=n1\n"
     "SwitchName=a Nodes=n2\n",
     "tree: 1 domain; 2 hosts; a {n1,n2}", "defined a second time"},
    {"a word without a key", "SwitchName=a Nodes=n1 fast\n", "tree: 1 domain; 1 host; a {n1}",
     "not like Key=Value: fast"},
};

static void contradictions_are_said(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(contradictions_are_said_rows); i++) {
        const struct read_row *r = &contradictions_are_said_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct read_row devices_are_read_rows[] = {
    {"files in ranges, cores as they are", "Name=gpu Type=t File=/dev/nvidia[0,2-3] COREs=0,1\n",
     "all other hosts: 3 GPUs; t; affinity {0-2}:CPU 0,1", ""},
    {"nodes with exceptions",
     "NodeName=a[0-1] Name=gpu File=/dev/nvidia[0-3]\n"
     "NodeName=a2 Name=gpu File=/dev/nvidia0\n",
     "a0, a1: 4 GPUs | a2: 1 GPU", ""},
    {"what finds devices by itself",
     "NodeName=a0 AutoDetect=nvml\n"
     "NodeName=a1 AutoDetect=off Name=gpu File=/dev/nvidia0\n",
     "a0: GPUs unknown; AutoDetect nvml | a1: 1 GPU; AutoDetect off", ""},
    {"shares beside devices",
     "AutoDetect=nvml\n"
     "Name=gpu File=/dev/nvidia0\n"
     "Name=mps Count=100 File=/dev/nvidia0\n",
     "all other hosts: 1 GPU; mps x100; AutoDetect nvml", ""},
    {"links by device",
     "Name=gpu File=/dev/nvidia0 Links=-1,4,0\n"
     "Name=gpu File=/dev/nvidia1 Links=4,-1,0\n"
     "Name=gpu File=/dev/nvidia2 Links=0,0,-1\n",
     "all other hosts: 3 GPUs; NV4 on 0-1; islands {0-1}; outside any island: 2", ""},
    {"links of AMD",
     "NodeName=a AutoDetect=rsmi Name=gpu File=/dev/d0 Links=-1,2\n"
     "NodeName=a Name=gpu File=/dev/d1 Links=2,-1\n",
     "a: 2 GPUs; XGMI x2 on all 1 pair; islands {0-1}; AutoDetect rsmi", ""},
    {"links that contradict each other",
     "Name=gpu File=/dev/nvidia0 Links=-1,4\n"
     "Name=gpu File=/dev/nvidia1 Links=2,-1\n",
     "all other hosts: 2 GPUs; NV4 on all 1 pair; islands {0-1}", "contradict each other"},
    {"links of some devices only: the rest is unknown",
     "Name=gpu File=/dev/nvidia0 Links=-1,4,4\n"
     "Name=gpu File=/dev/nvidia[1-2]\n",
     "all other hosts: 3 GPUs; NV4 on 0-1 0-2; no GPU links described", ""},
    {"links without a -1 for itself",
     "Name=gpu File=/dev/nvidia0 Links=12,4\n"
     "Name=gpu File=/dev/nvidia1 Links=4,-1\n",
     "all other hosts: 2 GPUs; NV4 on all 1 pair; no GPU links described", "-1 for itself"},
    {"links that do not fit the devices",
     "Name=gpu File=/dev/nvidia0 Links=-1,4,4\n"
     "Name=gpu File=/dev/nvidia1 Links=4,-1\n",
     "all other hosts: 2 GPUs; NV4 on all 1 pair; no GPU links described",
     "not one number for each of 2 devices"},
    {"one file twice", "Name=gpu File=/dev/nvidia[0,0]\n", "all other hosts: 1 GPU",
     "a second time"},
    {"cores that are none", "Name=gpu File=/dev/nvidia0 Cores=all\n", "all other hosts: 1 GPU",
     "no list of cores: all"},
};

static void devices_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(devices_are_read_rows); i++) {
        const struct read_row *r = &devices_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row broken_lines_are_refused_rows[] = {
    {"a bracket that stays open",
     "\n"
     "SwitchName=a Nodes=n[1-3\n",
     "F:2: found a bracket that is not closed in n[1-3, expected names like "
     "node[1-3,7]"},
    {"a range that runs back", "SwitchName=a Nodes=n[3-1]\n",
     "F:1: found a range that is not like [1-3,7] in n[3-1], expected names like "
     "node[1-3,7]"},
    {"names beyond counting", "SwitchName=a Nodes=n[1-99999999]\n",
     "F:1: found more names than this program holds in n[1-99999999], expected names "
     "like node[1-3,7]"},
    {"brackets that multiply beyond counting", "SwitchName=a Nodes=n[1-9999]m[1-9999]\n",
     "F:1: found more names than this program holds in n[1-9999]m[1-9999], expected "
     "names like node[1-3,7]"},
    {"a switch without a name", "SwitchName= Nodes=n1\n",
     "F:1: found a name of 0 bytes, expected 1 to 253"},
    {"sizes alone", "BlockSizes=1,2\n",
     "F: found no SwitchName= or BlockName=, expected a topology.conf"},
    {"hosts beyond counting", "NodeName=n[1-9999999] Name=gpu File=/dev/x0\n",
     "F:1: found more names than this program holds in NodeName=, expected names like "
     "node[1-3,7]"},
};

static void broken_lines_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(broken_lines_are_refused_rows); i++) {
        const struct fail_row *r = &broken_lines_are_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topologies_are_read),
        cmocka_unit_test(contradictions_are_said),
        cmocka_unit_test(devices_are_read),
        cmocka_unit_test(broken_lines_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
