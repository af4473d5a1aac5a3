/* The door: which format, what is no format, and what an enemy sends. Bounded, in words, invented
 * nowhere. */
#include "edge/base/memory.h"
#include "tests/memfile.h"
#include "tests/topo_reading.h"
#include "tests/topo_sound.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void the_content_tells_the_format(void **state)
{
    static const struct {
        const char *why, *text;
        enum topo_kind kind;
    } row[] = {
        {"nothing", "", TOPO_EMPTY},
        {"comments only", "# a\n\n---\n# b\n", TOPO_EMPTY},
        {"a matrix", "GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 X\n", TOPO_MATRIX},
        {"a matrix behind a prompt with a colon",
         "Output: here\nGPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 X\n", TOPO_MATRIX},
        {"NPUs", "NPU0 NPU1\nNPU0 X HCCS\nNPU1 HCCS X\n", TOPO_NPU},
        {"MetaX", "Device link type matrix\nGPU0 GPU1\nGPU0 X MX\nGPU1 MX X\n", TOPO_MX},
        {"the PCIe view", "GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX X\nLegend:\n X = Self\n",
         TOPO_MATRIX_MP},
        {"abilities", "GPU0 GPU1\nGPU0 X OK\nGPU1 OK X\n", TOPO_P2P},
        {"AMD", "= Hops between two GPUs =\nGPU0 GPU1\nGPU0 0 1\nGPU1 1 0\n", TOPO_ROCM},
        {"NCCL", "<system><cpu><pci busid=\"a\"/></cpu></system>", TOPO_NCCL},
        {"NCCL's graphs", "<graphs><graph/></graphs>", TOPO_NCCL_GRAPH},
        {"hwloc", "<topology><object type=\"Machine\"/></topology>", TOPO_HWLOC},
        {"lstopo", "Machine (1GB)\n  Package L#0\n", TOPO_LSTOPO},
        {"Slurm's tree", "# c\nSwitchName=a Nodes=b\n", TOPO_SLURM},
        {"Slurm's devices", "# c\nAutoDetect=nvml\n", TOPO_GRES},
        {"Slurm's yaml", "---\n- topology: t\n  flat: true\n", TOPO_SLURM_YAML},
        {"InfiniBand", "#\nvendid=0x2c9\nSwitch\t1 \"S-1\"\t# \"a\"\n", TOPO_IBNET},
        {"Topograph", "switches:\n  a: {switches: [b]}\n", TOPO_TOPOGRAPH},
        {"HiveD", "physicalCluster: {}\n", TOPO_HIVED},
        {"an object in YAML", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", TOPO_KUBE},
        {"the same in JSON",
         "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"a\"}}", TOPO_KUBE},
        {"labels", "nvidia.com/gpu.count=8\n", TOPO_LABELS},
        {"a description", "Name: a\nLabels: nvidia.com/gpu.count=8\n", TOPO_LABELS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct topo *t;
        struct err err = {""};

        if (topo_open_text(&t, "F", row[i].text, strlen(row[i].text), &err))
            fail_msg("%s: %s", row[i].why, err.text);
        if (t->kind != row[i].kind)
            fail_msg("%s: %s", row[i].why, topo_kind_name(t->kind));
        topo_close(t);
    }
}

static void what_is_no_topology_is_said(void **state)
{
    static const struct {
        const char *why, *text, *error;
    } row[] = {
        {"a page of HTML", "<!DOCTYPE html>\n<html>",
         "F:1: found a page of HTML, expected a topology: a server answered with an error or a "
         "login page"},
        {"a table of kubectl", "NAME   STATUS   ROLES   AGE   VERSION\nn1   Ready   <none>   1d\n",
         "F:1: found a table of kubectl, expected objects: run kubectl get nodes -o json"},
        {"prose", "Dear all,\nthe cluster is down.\n",
         "F:1: found no format that is known here, expected the output of a tool such as "
         "nvidia-smi topo -m, XML, YAML or JSON"},
        {"a bare value", "\"hello\": \"world\"\n", NULL},
        {"cut JSON", "{\"kind\":\"Node\",\n\"metadata\":{",
         "F:3: found broken JSON at byte 1 of the line (parse error: premature EOF), expected one "
         "complete JSON value"},
        {"YAML that is none, in the third document",
         "kind: A\napiVersion: b\n---\nkind: A\napiVersion: b\n---\nkind: [\n",
         "F:8: found broken YAML (did not find expected node content), expected one YAML document"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++)
        if (row[i].error)
            topo_row_fails(row[i].why, row[i].text, row[i].error);
        else
            topo_row_reads(row[i].why, row[i].text, "nothing", "says nothing of topology");
    topo_rows_done();
}

static void a_nul_byte_is_no_text(void **state)
{
    static const char text[] = "GPU0 GPU1\nGPU0 X\0NV1\n";
    struct topo *t;
    struct err err = {""};

    (void)state;
    assert_int_equal(topo_open_text(&t, "F", text, sizeof(text) - 1, &err), ERR_INPUT);
    assert_string_equal(err.text, "F:2: found a NUL byte, expected text");
}

/* Names with control characters are kept as they are and printed safely. */
static void control_characters_do_not_reach_a_terminal(void **state)
{
    static const struct {
        const char *why, *text, *reading;
    } row[] = {
        {"a bell in a name of a host", "SwitchName=a Nodes=n\a1\n",
         "tree: 1 domain; 1 host; a {n?1}"},
        {"half an escape code",
         "SwitchName=a Nodes=n\x9B"
         "1\n",
         "tree: 1 domain; 1 host; a {n?1}"},
        {"a title of a window in a label", "Name: a\bb\nLabels: nvidia.com/gpu.product=x\ay\n",
         "a?b: GPUs unknown; x?y"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        topo_row_reads(row[i].why, row[i].text, row[i].reading, NULL);
        topo_sound((const uint8_t *)row[i].text, strlen(row[i].text), NULL);
    }
    topo_rows_done();
}

static void add_times(struct out *out, const char *text, unsigned times)
{
    while (times-- > 0)
        out_add(out, text);
}

/* What an enemy sends: every one bounded in time and memory, and sound. */
static void bombs_do_not_go_off(void **state)
{
    static const struct {
        const char *why, *head, *again;
        unsigned times;
        const char *tail;
    } row[] = {
        {"a line of 40 MB", "GPU0 GPU1\nGPU0 ", "X", 40000000, "\n"},
        {"a million rows of nothing", "GPU0 GPU1\n", "GPU0 X NV1\n", 200000, ""},
        {"twenty thousand hosts of many devices", "",
         "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7 GPU8 GPU9 NIC0 NIC1 NIC2 NIC3 NIC4 NIC5\n", 20000,
         ""},
        {"nested lists", "", "[", 100000, ""},
        {"nested maps", "", "{\"a\":", 100000, ""},
        {"nested elements", "<system>", "<a>", 100000, ""},
        {"many elements", "<system>", "<pci/>", 1200000, "</system>"},
        {"aliases of aliases",
         "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
         "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
         "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
         "", 0, ""},
        {"entities of entities",
         "<!DOCTYPE s [<!ENTITY a \"xxxxxxxxxx\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>\n<s>&b;</s>",
         "", 0, ""},
        {"many documents", "", "---\nkind: A\napiVersion: b\n", 20000, ""},
        {"many blank documents", "kind: A\n", "---\n", 200000, ""},
        {"ranges on ranges", "", "SwitchName=a[1] Nodes=n[1-99999]\n", 30, ""},
        {"ranges that repeat each other", "", "SwitchName=a Switches=s[1-50000]\n", 1000, ""},
        {"nodes that repeat each other", "", "NodeName=n[1-9999] Name=gpu File=/dev/x0\n", 2000,
         ""},
        {"every node has every device", "NodeName=n[1-9999] Name=gpu File=/dev/x[0-511]\n", "", 0,
         ""},
        {"many values of one matrix",
         "<topology><object type=\"Machine\"/><distances2hetero nbobjs=\"1200\" "
         "name=\"NVLinkBandwidth\"><indexes>",
         "OSDev:1 ", 100000, "</indexes></distances2hetero></topology>"},
        {"a switch above all others", "SwitchName=a Switches=s[1-200000]\n", "", 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out text = {0};

        out_add(&text, row[i].head);
        add_times(&text, row[i].again, row[i].times);
        out_add(&text, row[i].tail);
        topo_sound((const uint8_t *)text.bytes, text.length, NULL);
        out_free(&text);
    }
}

static void files_are_plain_or_zipped(void **state)
{
    static const char text[] = "GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 X\n";
    char path[] = "/tmp/topo-XXXXXX";
    int fd = mkstemp(path);
    gzFile zipped;
    struct topo *t;
    struct memfile f;
    struct err err = {""};

    (void)state;
    assert_true(fd >= 0);
    zipped = gzdopen(fd, "wb");
    assert_int_equal(gzwrite(zipped, text, sizeof(text) - 1), (int)sizeof(text) - 1);
    assert_int_equal(gzclose(zipped), Z_OK);
    assert_int_equal(topo_open(&t, path, &err), ERR_NONE);
    assert_int_equal(topo_link(&t->host[0], 0, 1)->path, TOPO_PATH_NVLINK);
    topo_close(t);
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(topo_open(&t, path, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "a gzip file that is cut"));
    (void)unlink(path);
    assert_int_equal(topo_open(&t, path, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "found no such file"));

    memfile_open(&f);
    memfile_set(&f, "\xEF\xBB\xBFGPU0 GPU1\r\nGPU0 X NV1\r\nGPU1 NV1 X\r\n", 38);
    assert_int_equal(topo_open(&t, f.path, &err), ERR_NONE);
    assert_int_equal(topo_link(&t->host[0], 0, 1)->links, 1);
    topo_close(t);
    memfile_close(&f);
}

/* A line over 16 MiB in a file is refused with its number, however long the file is. */
static void a_long_line_of_a_file_is_refused(void **state)
{
    struct out text = {0};
    struct memfile f;
    struct topo *t;
    struct err err = {""};

    (void)state;
    out_add(&text, "GPU0 GPU1\nGPU0 ");
    add_times(&text, "XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX", 1600000);
    memfile_open(&f);
    memfile_set(&f, text.bytes, text.length);
    assert_int_equal(topo_open(&t, f.path, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ":2: found a line longer than 16 MiB, expected less"));
    memfile_close(&f);
    out_free(&text);
}

static void a_missing_pair_is_unknown(void **state)
{
    static const struct topo_host none = {0};

    (void)state;
    assert_int_equal(topo_link(&none, 0, 1)->path, TOPO_PATH_UNKNOWN);
    assert_false(topo_path_joins(TOPO_PATH_PIX));
    assert_true(topo_path_joins(TOPO_PATH_NVLINK));
    assert_string_equal(topo_path_name(TOPO_PATH_SYS), "SYS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_content_tells_the_format),
        cmocka_unit_test(what_is_no_topology_is_said),
        cmocka_unit_test(a_nul_byte_is_no_text),
        cmocka_unit_test(control_characters_do_not_reach_a_terminal),
        cmocka_unit_test(bombs_do_not_go_off),
        cmocka_unit_test(files_are_plain_or_zipped),
        cmocka_unit_test(a_long_line_of_a_file_is_refused),
        cmocka_unit_test(a_missing_pair_is_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
