/* Clusters as files say them, and every way in which a file may be wrong.
 *
 * The good world: two leaves in one spine, a rack that crosses them, a host in no domain.
 *
 *     spine s   leaf a: n0 n1    rack r: n1 n2
 *               leaf b: n2       n3 in none
 */
#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define HEADER                                                                                     \
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\",\"chains\":"           \
    "{\"net\":[\"leaf\",\"spine\"],\"acc\":[\"rack\"]}}\n"
#define NODE "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":2}\n"

static const char good[] = HEADER
    "{\"kind\":\"shape\",\"shape\":\"mesh\",\"gpus\":5,\"unit\":\"links\",\"links\":"
    "[[0,1,0,0,0],[1,0,2,0,0],[0,2,0,0,0],[0,0,0,0,1],[0,0,0,1,0]],\"numa\":[[0,1],[2]],"
    "\"pcie\":[{\"gpus\":[0,1],\"nics\":2},{\"gpus\":[4]}],\"colour\":\"ignored\"}\n"
    "{\"kind\":\"shape\",\"shape\":\"singles\",\"gpus\":2,\"islands\":[[1],[0]]}\n"
    "{\"kind\":\"mig\",\"model\":\"A\",\"slots\":8,\"profiles\":{\"1g\":{\"slots\":1,\"at\":[0,6]},"
    "\"4g\":{\"slots\":4,\"at\":[0,4]}}}\n"
    "{\"node\":\"n0\",\"kind\":\"node\",\"gpus\":5,\"model\":\"A\",\"shape\":\"mesh\","
    "\"domains\":{\"leaf\":\"a\",\"spine\":\"s\"},\"gpu_mem_mib\":81920,\"cpu_milli\":64000,"
    "\"mem_mib\":1000,\"pods\":110}\n"
    "{\"kind\":\"node\",\"node\":\"n1\",\"gpus\":2,\"shape\":\"singles\",\"domains\":{\"spine\":"
    "\"s\","
    "\"leaf\":\"a\",\"rack\":\"r\"},\"devices\":[{\"index\":1,\"uuid\":\"GPU-1\"},{\"index\":0,"
    "\"pci\":\"0000:01:00.0\"}]}\n"
    "{\"kind\":\"node\",\"node\":\"n2\",\"gpus\":0,\"domains\":{\"leaf\":\"b\",\"spine\":\"s\","
    "\"rack\":\"r\"}}\n"
    "{\"kind\":\"node\",\"node\":\"n3\",\"gpus\":16,\"model\":\"B\",\"domains\":{\"leaf\":null}}\n";

static int read_text(struct world *w, const char *text, size_t length, struct err *err)
{
    struct memfile f;
    int code;

    memfile_open(&f);
    memfile_set(&f, text, length);
    world_init(w);
    code = read_cluster(w, f.path, err);
    memfile_close(&f);
    return code;
}

static void a_cluster_is_read(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    if (read_text(&w, good, strlen(good), &err))
        fail_msg("%s", err.text);
    assert_string_equal(w.cluster_name, "c");
    assert_int_equal(w.chain_count, 2);
    assert_string_equal(w.chain[1], "acc");
    assert_int_equal(w.level_count, 3);
    assert_string_equal(w.level[1].name, "spine");
    assert_int_equal(w.level[1].rank, 1);
    assert_int_equal(w.level[2].chain, 1);
    assert_int_equal(w.level[2].rank, 0);
    assert_int_equal(w.level[0].domain_count, 2);
    assert_int_equal(w.node_count, 4);
    assert_int_equal(w.node[0].domain[0], w.node[1].domain[0]);
    assert_int_equal(w.node[0].domain[2], WORLD_NONE);
    assert_int_equal(w.node[2].domain[2], 0);
    assert_int_equal(w.node[3].domain[0], WORLD_NONE);
    assert_int_equal(w.node[0].gpu_mem_mib, 81920);
    assert_int_equal(w.node[0].pods, 110);
    assert_int_equal(w.node[1].cpu_milli, WORLD_UNLIMITED);
    assert_int_equal(w.node[1].gpu_mem_mib, 0);
    assert_string_equal(w.model[w.node[1].model], "");
    assert_string_equal(w.model[w.node[3].model], "B");
    assert_int_equal(w.node[2].shape, WORLD_NONE);
    assert_string_equal(w.node[1].device[1].uuid, "GPU-1");
    assert_null(w.node[1].device[0].uuid);
    assert_null(w.node[0].device);
    world_free(&w);
}

static void the_inside_of_hosts_is_read(void **state)
{
    static const uint8_t island[] = {0, 0, 0, 1, 1, 0xFF}, numa[] = {0, 0, 1, 0xFF, 0xFF, 0xFF};
    static const uint8_t pcie[] = {0, 0, 0xFF, 0xFF, 1};
    struct world w;
    struct err err = {""};

    (void)state;
    assert_int_equal(read_text(&w, good, strlen(good), &err), 0);

    const struct world_shape *s = &w.shape[0];
    assert_true(s->links_known && !s->links_in_gbps);
    assert_int_equal(s->link[1][2], 2);
    assert_int_equal(s->island_count, 2);
    assert_memory_equal(s->island, island, sizeof(island));
    assert_memory_equal(s->numa, numa, sizeof(numa));
    assert_memory_equal(s->pcie, pcie, sizeof(pcie));
    assert_int_equal(s->pcie_nics[0], 2);
    assert_int_equal(s->pcie_nics[1], 0);
    assert_int_equal(w.shape[1].island[1], 0);
    assert_int_equal(w.shape[1].island[0], 1);
    assert_int_equal(w.shape[1].numa_count, 0);
    assert_false(w.shape[1].links_known);
    assert_int_equal(w.mig_count, 1);
    assert_string_equal(w.model[w.mig[0].model], "A");
    assert_int_equal(w.mig[0].profile_count, 2);
    assert_string_equal(w.mig[0].profile[1].name, "4g");
    assert_int_equal(w.mig[0].profile[1].starts, 0x11);
    assert_int_equal(w.mig[0].profile[0].starts, 0x41);
    world_free(&w);
}

#define SHAPE(rest) HEADER "{\"kind\":\"shape\",\"shape\":\"s\"," rest "}\n" NODE
#define MIG(rest)   HEADER "{\"kind\":\"mig\",\"model\":\"A\"," rest "}\n" NODE
#define ONE(rest)   HEADER "{\"kind\":\"node\",\"node\":\"n0\"," rest "}\n"
#define CHAINS(rest)                                                                               \
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\",\"chains\":" rest      \
    "}\n" NODE

static const struct {
    const char *why, *text, *said;
} wrong[] = {
    {"an empty file", "", ": found no line, expected a cluster"},
    {"only a header", HEADER, ": found no node"},
    {"another kind of file",
     "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\","
     "\"name\":\"w\"}\n",
     ":1: found kind \"workload\", expected the header of a cluster"},
    {"no header", NODE, ":1: found"},
    {"another version", "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/1\",\"name\":\"c\"}",
     ":1: found \"format\": \"dovetail-cluster/1\", expected \"dovetail-cluster/2\""},
    {"no name", "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\"}",
     ":1: found no \"name\""},
    {"a CSV file", "sn,cpu_milli\n", ":1: found broken JSON"},
    {"not an object", "[]\n", ":1: found a list of 0"},
    {"a header twice", HEADER HEADER, ":2: found \"kind\": \"cluster\", expected one header"},
    {"an unknown kind", HEADER "{\"kind\":\"rack\"}\n",
     ":2: found \"kind\": \"rack\", expected "
     "one of shape mig node"},
    {"no kind", HEADER "{}\n", ":2: found no \"kind\""},
    {"a kind that is no text", HEADER "{\"kind\":7}\n", ":2: found \"kind\": 7"},
    {"cut in a line", HEADER "{\"kind\":\"node\",\"no", ":2: found broken JSON"},
    {"an empty line", HEADER "\n" NODE, ":2: found broken JSON"},
    {"not UTF-8", HEADER "{\"kind\":\"n\xFF\"}\n", ":2: found broken JSON"},
    {"chains of texts", CHAINS("{\"net\":\"leaf\"}"),
     ":1: found \"net\": \"leaf\", expected a list"},
    {"a level twice", CHAINS("{\"a\":[\"x\"],\"b\":[\"x\"]}"), ":1: found \"x\", expected a level"},
    {"a level that exists", CHAINS("{\"a\":[\"node\"]}"), ":1: found \"node\", expected a level"},
    {"a level without a name", CHAINS("{\"a\":[\"\"]}"), "a name that is not empty"},
    {"too many levels",
     CHAINS("{\"a\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"10\",\"11\",\"12\","
            "\"13\"]}"),
     ":1: found more than 12 levels"},
    {"too many chains", CHAINS("{\"a\":[],\"b\":[],\"c\":[],\"d\":[],\"e\":[],\"f\":[],\"g\":[]}"),
     ":1: found more than 6 chains"},
    {"a shape after the nodes", HEADER NODE "{\"kind\":\"shape\",\"shape\":\"s\",\"gpus\":2}\n",
     ":3: found \"kind\": \"shape\", expected shapes and migs before"},
    {"a shape without devices", SHAPE("\"gpus\":0"),
     ":2: found \"gpus\": 0, expected a whole "
     "number from 1 to 16"},
    {"a shape of 17", SHAPE("\"gpus\":17"), ":2: found \"gpus\": 17"},
    {"a shape without a size", SHAPE("\"numa\":[]"), ":2: found no \"gpus\""},
    {"a shape twice", SHAPE("\"gpus\":2}\n{\"kind\":\"shape\",\"shape\":\"s\",\"gpus\":2"),
     ":3: found shape \"s\" a second time"},
    {"a device in two islands", SHAPE("\"gpus\":2,\"islands\":[[0,1],[1]]"),
     ":2: found device 1 in two parts"},
    {"a device beyond the shape", SHAPE("\"gpus\":2,\"islands\":[[0,2]]"),
     ":2: found 2, expected a whole number from 0 to 1"},
    {"an empty part", SHAPE("\"gpus\":2,\"numa\":[[]]"), ":2: found a list of 0"},
    {"a part that is no list", SHAPE("\"gpus\":2,\"numa\":[0]"), ":2: found 0, expected a list"},
    {"links of another size", SHAPE("\"gpus\":2,\"unit\":\"links\",\"links\":[[0]]"),
     ":2: found 1 rows of links, expected 2"},
    {"a short row of links", SHAPE("\"gpus\":2,\"unit\":\"links\",\"links\":[[0],[0,0]]"),
     ":2: found a row of 1 links, expected 2"},
    {"links that differ", SHAPE("\"gpus\":2,\"unit\":\"links\",\"links\":[[0,1],[2,0]]"),
     ":2: found links 0 to 1: 1 and back: 2"},
    {"a link to itself", SHAPE("\"gpus\":2,\"unit\":\"links\",\"links\":[[1,0],[0,0]]"),
     ":2: found a link of device 0 to itself"},
    {"links without a unit", SHAPE("\"gpus\":2,\"links\":[[0,1],[1,0]]"),
     ":2: found no \"unit\", expected one of GBps links"},
    {"another unit", SHAPE("\"gpus\":2,\"unit\":\"TB\",\"links\":[[0,1],[1,0]]"),
     ":2: found \"unit\": \"TB\""},
    {"a negative link", SHAPE("\"gpus\":2,\"unit\":\"links\",\"links\":[[0,-1],[-1,0]]"),
     ":2: found -1, expected a whole number from 0"},
    {"a switch without devices", SHAPE("\"gpus\":2,\"pcie\":[{\"nics\":1}]"),
     ":2: found no \"gpus\", expected the device numbers"},
    {"half a NIC", SHAPE("\"gpus\":2,\"pcie\":[{\"gpus\":[0],\"nics\":0.5}]"),
     ":2: found \"nics\": 0.5"},
    {"a mig without profiles", MIG("\"slots\":8"), ":2: found no \"profiles\""},
    {"too many slots", MIG("\"slots\":33,\"profiles\":{}"), ":2: found \"slots\": 33"},
    {"a profile that is too long", MIG("\"slots\":8,\"profiles\":{\"p\":{\"slots\":9,\"at\":[0]}}"),
     ":2: found \"slots\": 9, expected a whole number from 1 to 8"},
    {"a start from which it overhangs",
     MIG("\"slots\":8,\"profiles\":{\"p\":{\"slots\":4,\"at\":[5]}}"),
     ":2: found 5, expected a whole number from 0 to 4"},
    {"a start twice", MIG("\"slots\":8,\"profiles\":{\"p\":{\"slots\":4,\"at\":[4,4]}}"),
     ":2: found first slot 4 twice"},
    {"no starts", MIG("\"slots\":8,\"profiles\":{\"p\":{\"slots\":4}}"), ":2: found no \"at\""},
    {"a node twice", HEADER NODE NODE, ":3: found node \"n0\" a second time"},
    {"a node without a name", HEADER "{\"kind\":\"node\",\"gpus\":1}\n", ":2: found no \"node\""},
    {"a node without gpus", ONE("\"model\":\"A\""), ":2: found no \"gpus\""},
    {"negative gpus", ONE("\"gpus\":-1"), ":2: found \"gpus\": -1, expected a whole number from 0"},
    {"many gpus", ONE("\"gpus\":17"), ":2: found \"gpus\": 17"},
    {"huge gpus", ONE("\"gpus\":99999999999999999999"), ":2: found \"gpus\": 99999"},
    {"gpus as text", ONE("\"gpus\":\"8\""), ":2: found \"gpus\": \"8\""},
    {"part of a gpu", ONE("\"gpus\":1.5"), ":2: found \"gpus\": 1.5"},
    {"a huge cpu", ONE("\"gpus\":1,\"cpu_milli\":1e15"), ":2: found \"cpu_milli\": 1e15"},
    {"no memory in a device", ONE("\"gpus\":1,\"gpu_mem_mib\":0"), ":2: found \"gpu_mem_mib\": 0"},
    {"more memory in a device than the core counts", ONE("\"gpus\":1,\"gpu_mem_mib\":2147483648"),
     ":2: found \"gpu_mem_mib\": 2147483648"},
    {"an unknown shape", ONE("\"gpus\":1,\"shape\":\"s\""), ":2: found \"shape\": \"s\""},
    {"a shape of another size",
     SHAPE("\"gpus\":2}\n{\"kind\":\"node\",\"node\":\"m\",\"gpus\":3,\"shape\":\"s\""),
     ":3: found 3 GPUs with shape \"s\", expected its 2"},
    {"an unknown level", ONE("\"gpus\":1,\"domains\":{\"leef\":\"a\"}"),
     ":2: found \"leef\", expected a level of the chains: leaf spine rack"},
    {"a domain that is a number", ONE("\"gpus\":1,\"domains\":{\"leaf\":3}"),
     ":2: found \"leaf\": 3, expected a name"},
    {"a leaf in two spines",
     ONE("\"gpus\":1,\"domains\":{\"leaf\":\"a\",\"spine\":\"s\"}}\n{\"kind\":\"node\","
         "\"node\":\"n1\",\"gpus\":1,\"domains\":{\"leaf\":\"a\",\"spine\":\"t\"}"),
     ":3: found node \"n1\" of leaf \"a\" in spine \"t\", expected \"s\" as for node \"n0\""},
    {"a leaf half in a spine",
     ONE("\"gpus\":1,\"domains\":{\"leaf\":\"a\"}}\n{\"kind\":\"node\","
         "\"node\":\"n1\",\"gpus\":1,\"domains\":{\"leaf\":\"a\",\"spine\":\"t\"}"),
     ":3: found node \"n1\" of leaf \"a\" in spine \"t\", expected \"(none)\""},
    {"a device twice", ONE("\"gpus\":2,\"devices\":[{\"index\":1},{\"index\":1}]"),
     ":2: found device 1 twice"},
    {"a device beyond the node", ONE("\"gpus\":2,\"devices\":[{\"index\":2}]"),
     ":2: found \"index\": 2"},
    {"a device without an index", ONE("\"gpus\":2,\"devices\":[{}]"), ":2: found no \"index\""},
    {"devices of no GPUs", ONE("\"gpus\":0,\"devices\":[{\"index\":0}]"), ":2: found \"devices\""},
    {"a name with a line end", HEADER "{\"kind\":\"node\",\"node\":\"a\\nb\",\"gpus\":1}\n",
     ":2: found \"node\": \"a?b\", expected a name without control characters"},
};

static void wrong_files_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct world w;
        struct err err = {""};

        if (read_text(&w, wrong[i].text, strlen(wrong[i].text), &err) != ERR_INPUT)
            fail_msg("%s: not refused", wrong[i].why);
        if (!strstr(err.text, wrong[i].said) || strncmp(err.text, "/proc/self/fd/", 14) != 0 ||
            !strstr(err.text, ", expected "))
            fail_msg("%s: %s", wrong[i].why, err.text);
        assert_int_equal(w.node_count, 0);
        world_free(&w);
    }
}

/* Wherever a file is cut, it is refused or it ended with a whole line. */
static void cut_files_are_refused(void **state)
{
    size_t header = (size_t)(strchr(good, '\n') - good) + 1;

    (void)state;
    for (size_t length = 0; length < strlen(good); length++) {
        struct world w;
        struct err err = {""};
        int code = read_text(&w, good, length, &err);

        if (code == 0)
            assert_true(length > header && (good[length] == '\n' || good[length - 1] == '\n'));
        else
            assert_int_equal(code, ERR_INPUT);
        world_free(&w);
    }
}

static void other_systems_are_read(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}\r\n"
        "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":2}\r\n";
    struct world w;
    struct err err = {""};

    (void)state;
    assert_int_equal(read_text(&w, text, strlen(text), &err), 0);
    assert_int_equal(w.node_count, 1);
    world_free(&w);
    world_init(&w);
    assert_int_equal(read_cluster(&w, "/", &err), ERR_INPUT);
    assert_int_equal(read_cluster(&w, "no/such/file", &err), ERR_INPUT);
    assert_string_equal(
        err.text, "no/such/file: found no such file, expected one; check the path and the folder");
    world_free(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_is_read),      cmocka_unit_test(the_inside_of_hosts_is_read),
        cmocka_unit_test(wrong_files_are_named),  cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(other_systems_are_read),
    };

    return cmocka_run_group_tests_name("read_cluster", tests, NULL, NULL);
}
