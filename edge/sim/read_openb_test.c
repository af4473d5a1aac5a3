/* The published tables: two nodes, four pods, two seeds of which one is shorter. */
#include "edge/sim/read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NODES                                                                                      \
    "sn,cpu_milli,memory_mib,gpu,model\n"                                                          \
    "n0,64000,262144,2,P100\n"                                                                     \
    "n1,96000,393216,8,G2\n"
#define PODS                                                                                       \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"                                   \
    "p0,12000,16384,1,1000,,LS\n"                                                                  \
    "p1,6000,12288,1,460,V100M16|G2|G2,BE\n"                                                       \
    "p2,8000,0,0,0,,BE\n"                                                                          \
    "p3,8000,1,8,1000,T4,LS\n"
#define ARRIVALS "s42,s7\n3,0\n0,0\n1,\n2,\n"

static char folder[300];

static void file_path(char out[400], const char *name)
{
    (void)snprintf(out, 400, "%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
    char path[400];
    FILE *file;

    file_path(path, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static void take_away(const char *name)
{
    char path[400];

    file_path(path, name);
    assert_true(remove(path) == 0 || errno == ENOENT);
}

static void put_zipped(const char *name, const char *text)
{
    char path[400];

    file_path(path, name);
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static int open_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    char path[400];

    (void)state;
    (void)snprintf(folder, sizeof(folder), "%s/openb-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        return -1;
    file_path(path, "arrival-order");
    return mkdir(path, 0700);
}

static const char *const files[] = {
    "openb_node_list_gpu_node.csv", "openb_node_list_gpu_node.csv.gz",
    "openb_pod_list_default.csv",   "openb_pod_list_default.csv.gz",
    "openb_pod_list_gpuspec05.csv", "openb_pod_list_cpu037.csv",
    "arrival-order/default.csv",    "arrival-order/default.csv.gz",
};

static int clear(void **state)
{
    (void)state;
    for (size_t f = 0; f < COUNT(files); f++)
        take_away(files[f]);
    return 0;
}

static int close_folder(void **state)
{
    (void)clear(state);
    take_away("arrival-order");
    return rmdir(folder);
}

static void put_all(const char *nodes, const char *pods, const char *arrivals)
{
    put(files[0], nodes);
    put(files[2], pods);
    put(files[6], arrivals);
}

static void check_world(const struct world *w)
{
    static const uint32_t first[] = {3, 0, 1, 2}, second[] = {0, 0};

    assert_string_equal(w->cluster_name, "openb");
    assert_int_equal(w->node_count, 2);
    assert_int_equal(w->node[1].gpus, 8);
    assert_int_equal(w->node[1].mem_mib, 393216);
    assert_int_equal(w->node[0].shape, WORLD_NONE);
    assert_int_equal(w->node[0].pods, WORLD_UNLIMITED);
    assert_int_equal(w->job_count, 4);
    assert_string_equal(w->job[1].name, "p1");
    assert_int_equal(w->job[0].podset_count, 1);
    assert_int_equal(w->job[0].podset[0].milli, 1000);
    assert_int_equal(w->job[1].podset[0].milli, 460);
    assert_int_equal(w->job[1].podset[0].model_count, 2);
    assert_string_equal(w->model[w->job[1].podset[0].model[1]], "G2");
    assert_int_equal(w->job[2].podset[0].gpus, 0);
    assert_int_equal(w->job[2].podset[0].mem_mib, 0);
    assert_int_equal(w->job[3].podset[0].gpus, 8);
    assert_int_equal(w->openb->row_count, 4);
    assert_int_equal(w->openb->seed_count, 2);
    assert_int_equal(w->openb->seed[1], 7);
    assert_int_equal(w->openb->arrival_count[0], 4);
    assert_memory_equal(w->openb->arrival[0], first, sizeof(first));
    assert_int_equal(w->openb->arrival_count[1], 2);
    assert_memory_equal(w->openb->arrival[1], second, sizeof(second));
}

static void tables_are_read(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    put_all(NODES, PODS, ARRIVALS);
    world_init(&w);
    if (read_openb(&w, folder, "default", &err))
        fail_msg("%s", err.text);
    check_world(&w);
    assert_string_equal(w.workload_name, "default");
    world_free(&w);
}

static void zipped_tables_are_read(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    put_zipped(files[1], "\xEF\xBB\xBF" NODES);
    put_zipped(files[3], PODS);
    put_zipped(files[7], ARRIVALS);
    world_init(&w);
    if (read_openb(&w, folder, "default", &err))
        fail_msg("%s", err.text);
    check_world(&w);
    world_free(&w);
}

/* The lists with another gpu_spec share the order of the default list; no other list may. */
static void orders_are_shared_by_gpuspec_lists(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    put_all(NODES, PODS, ARRIVALS);
    put(files[4], PODS);
    put(files[5], PODS);
    world_init(&w);
    assert_int_equal(read_openb(&w, folder, "gpuspec05", &err), 0);
    check_world(&w);
    assert_string_equal(w.workload_name, "gpuspec05");
    world_free(&w);
    world_init(&w);
    assert_int_equal(read_openb(&w, folder, "cpu037", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "found no arrival order for list cpu037"));
    world_free(&w);
}

#define NODE(row) "sn,cpu_milli,memory_mib,gpu,model\n" row "\n"
#define POD(row)  "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n" row "\n"

static const struct {
    const char *why, *nodes, *pods, *arrivals, *said;
} wrong[] = {
    {"no nodes at all", "", PODS, ARRIVALS, "gpu_node.csv: found no line"},
    {"only a header of nodes", NODE(""), PODS, ARRIVALS,
     "gpu_node.csv:2: found 1 cells, expected 5"},
    {"a cut header", "sn,cpu_milli,memory_mib,gpu,model\n", PODS, ARRIVALS,
     "gpu_node.csv: found no node"},
    {"another table", PODS, PODS, ARRIVALS,
     "gpu_node.csv:1: found \"name\" as column 1 of the header, expected \"sn\""},
    {"a column missing", "sn,cpu_milli,memory_mib,gpu\n", PODS, ARRIVALS,
     ":1: found \"nothing\" as column 5 of the header, expected \"model\""},
    {"a node twice", NODE("a,1,1,1,T4\na,1,1,1,T4"), PODS, ARRIVALS,
     ":3: found node \"a\" a second"},
    {"a row cut", NODE("a,1,1"), PODS, ARRIVALS, ":2: found 3 cells, expected 5"},
    {"a row too long", NODE("a,1,1,1,T4,x"), PODS, ARRIVALS, ":2: found 6 cells, expected 5"},
    {"a node without a name", NODE(",1,1,1,T4"), PODS, ARRIVALS, ":2: found \"sn\": \"\""},
    {"negative GPUs", NODE("a,1,1,-1,T4"), PODS, ARRIVALS,
     ":2: found gpu \"-1\", expected a whole number from 0 to 16"},
    {"too many GPUs", NODE("a,1,1,17,T4"), PODS, ARRIVALS, ":2: found gpu \"17\""},
    {"no number", NODE("a,1,1,,T4"), PODS, ARRIVALS, ":2: found gpu \"\""},
    {"a number with spaces", NODE("a, 1,1,1,T4"), PODS, ARRIVALS, ":2: found cpu_milli \" 1\""},
    {"a huge number", NODE("a,1,99999999999999999999999,1,T4"), PODS, ARRIVALS,
     ":2: found memory_mib \"9999"},
    {"not UTF-8", NODE("\xFF,1,1,1,T4"), PODS, ARRIVALS, ":2: found bytes that are not UTF-8"},
    {"quotes", NODE("\"a\",1,1,1,T4"), PODS, ARRIVALS, ":2: found a quote"},
    {"no pods", NODES, "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n", ARRIVALS,
     "default.csv: found no pod"},
    {"another sixth column", NODES,
     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos\np,1,1,0,0,LS\n", ARRIVALS,
     ":1: found another column 6 of the header, expected \"gpu_spec\""},
    {"a pod twice", NODES, POD("a,1,1,0,0,\na,1,1,0,0,"), ARRIVALS, ":3: found pod \"a\" a second"},
    {"half a GPU", NODES, POD("a,1,1,0.5,0,"), ARRIVALS, ":2: found num_gpu \"0.5\""},
    {"GPUs in words", NODES, POD("a,1,1,one,0,"), ARRIVALS, ":2: found num_gpu \"one\""},
    {"milli over 1000", NODES, POD("a,1,1,1,1001,"), ARRIVALS,
     ":2: found gpu_milli \"1001\", expected a whole number from 1 to 1000"},
    {"a share of nothing", NODES, POD("a,1,1,1,0,"), ARRIVALS, ":2: found gpu_milli \"0\""},
    {"a share without a GPU", NODES, POD("a,1,1,0,500,"), ARRIVALS,
     ":2: found gpu_milli 500 with num_gpu 0, expected 0"},
    {"a share of two", NODES, POD("a,1,1,2,500,"), ARRIVALS,
     ":2: found gpu_milli 500 with num_gpu 2, expected 1000"},
    {"more GPUs than any node", NODES, POD("a,1,1,1,1000,\nb,1,1,9,1000,"), ARRIVALS,
     ":3: found num_gpu 9, expected at most 8, the GPUs of the largest node"},
    {"an empty model", NODES, POD("a,1,1,1,1000,T4||G2"), ARRIVALS,
     ":2: found an empty or overlong"},
    {"a model missing at the end", NODES, POD("a,1,1,1,1000,T4|"), ARRIVALS, ":2: found an empty"},
    {"no seeds", NODES, PODS, "", "order/default.csv: found no line"},
    {"a header without seeds", NODES, PODS, "3,0\n", ":1: found \"3\" in the header"},
    {"a seed twice", NODES, PODS, "s1,s1\n0,0\n", ":1: found seed 1 twice"},
    {"a seed that is no number", NODES, PODS, "sx\n0\n", ":1: found seed \"x\""},
    {"no arrivals", NODES, PODS, "s1\n", "found no arrival of seed 1"},
    {"no arrivals of one seed", NODES, PODS, "s1,s2\n0,\n", "found no arrival of seed 2"},
    {"an arrival of no row", NODES, PODS, "s1\n4\n",
     ":2: found row of the pod list \"4\", expected a whole number from 0 to 3"},
    {"a negative row", NODES, PODS, "s1\n-1\n", ":2: found row of the pod list \"-1\""},
    {"a gap", NODES, PODS, "s1,s2\n0,0\n0,\n0,0\n", ":4: found an arrival of seed 2 after a blank"},
};

static void wrong_tables_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct world w;
        struct err err = {""};

        put_all(wrong[i].nodes, wrong[i].pods, wrong[i].arrivals);
        world_init(&w);
        if (read_openb(&w, folder, "default", &err) != ERR_INPUT)
            fail_msg("%s: not refused", wrong[i].why);
        if (!strstr(err.text, wrong[i].said) || !strstr(err.text, ", expected "))
            fail_msg("%s: %s", wrong[i].why, err.text);
        assert_int_equal(w.node_count, 0);
        world_free(&w);
    }
}

static void folders_and_lists_are_checked(void **state)
{
    static const char long_name[] =
        "a-name-of-more-than-sixty-four-characters-is-not-the-name-of-a-list";
    static const char *const lists[] = {"", "../x", "a b", "a/b", "default.csv", long_name};
    struct world w;
    struct err err = {""};

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < COUNT(lists); i++) {
        assert_int_equal(read_openb(&w, folder, lists[i], &err), ERR_INPUT);
        assert_non_null(strstr(err.text, "found the list"));
    }
    assert_int_equal(read_openb(&w, folder, "default", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "gpu_node.csv.gz: found no such file"));
    assert_int_equal(read_openb(&w, "no/such/folder", "default", &err), ERR_INPUT);
    world_free(&w);
}

/* A table of the wrong kind fails in its first lines, however long it is. */
static void garbage_fails_early(void **state)
{
    size_t length = 3000000;
    char *text = malloc(length + 1);
    struct world w;
    struct err err = {""};

    (void)state;
    memset(text, '\n', length);
    text[length] = '\0';
    memcpy(text, POD("a,1,1,0,0,"), strlen(POD("a,1,1,0,0,")));
    put_all(NODES, text, ARRIVALS);
    world_init(&w);
    assert_int_equal(read_openb(&w, folder, "default", &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ":3: found 1 cells, expected 6"));
    world_free(&w);
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(tables_are_read, clear),
        cmocka_unit_test_setup(zipped_tables_are_read, clear),
        cmocka_unit_test_setup(orders_are_shared_by_gpuspec_lists, clear),
        cmocka_unit_test_setup(wrong_tables_are_named, clear),
        cmocka_unit_test_setup(folders_and_lists_are_checked, clear),
        cmocka_unit_test_setup(garbage_fails_early, clear),
    };

    return cmocka_run_group_tests_name("read_openb", tests, open_folder, close_folder);
}
