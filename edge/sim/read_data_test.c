/* The real files, where somebody has them: DOVETAIL_DATA=DIR holds traces/ and workloads/. Every
 * workload is read on a cluster that has its levels, every list of openb that has an order. The
 * lists that the repository bundles are read always. */
#include "edge/sim/read.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *folder(void)
{
    const char *data = getenv("DOVETAIL_DATA");

    if (!data || !*data) {
        print_message("SKIP: DOVETAIL_DATA is not set, so the real files are not read\n");
        skip();
    }
    return data;
}

static glob_t all(const char *data, const char *pattern)
{
    char path[4096];
    glob_t found;

    (void)snprintf(path, sizeof(path), "%s/%s", data, pattern);
    if (glob(path, 0, NULL, &found) != 0)
        fail_msg("nothing matches %s", path);
    return found;
}

static void clusters_are_read(void **state)
{
    const char *data = folder();
    glob_t found = all(data, "workloads/cluster-*.jsonl.gz");

    (void)state;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct world w;
        struct err err = {""};

        world_init(&w);
        if (read_cluster(&w, found.gl_pathv[i], &err))
            fail_msg("%s", err.text);
        assert_true(w.node_count > 40);
        world_free(&w);
    }
    globfree(&found);
}

static void workloads_are_read(void **state)
{
    static const struct {
        const char *pattern, *cluster;
        uint32_t jobs_min;
    } row[] = {
        {"philly-*", "48x8", 15264},         {"acme-*", "256x8", 3000},
        {"helios-*", "lingjun-2048", 20000}, {"unlike-nvl72-*", "nvl72x8", 1000},
        {"openb-dep-*", "openb", 20000},
    };
    const char *data = folder();

    (void)state;
    for (size_t r = 0; r < sizeof(row) / sizeof(row[0]); r++) {
        char cluster[4096], pattern[200];

        (void)snprintf(cluster, sizeof(cluster), "%s/workloads/cluster-%s.jsonl.gz", data,
                       row[r].cluster);
        (void)snprintf(pattern, sizeof(pattern), "workloads/%s.jsonl.gz", row[r].pattern);
        glob_t found = all(data, pattern);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            struct world w;
            struct err err = {""};

            world_init(&w);
            if (read_cluster(&w, cluster, &err) || read_workload(&w, found.gl_pathv[i], &err))
                fail_msg("%s", err.text);
            assert_true(w.job_count >= row[r].jobs_min);
            world_free(&w);
        }
        globfree(&found);
    }
}

static int count_world(void *context, uint32_t number, struct world *w)
{
    uint32_t *count = context;

    assert_int_equal(number, ++*count);
    assert_true(w->node_count > 0 && w->job_count > 0);
    return 0;
}

static void small_worlds_are_read(void **state)
{
    char path[4096];
    uint32_t count = 0;
    struct err err = {""};

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/workloads/small-worlds.jsonl.gz", folder());
    if (read_worlds(path, count_world, &count, &err))
        fail_msg("%s", err.text);
    assert_int_equal(count, 300);
}

static void openb_lists_are_read(void **state)
{
    static const char *const lists[] = {
        "default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",     "gpushare40",
        "gpushare60", "gpushare80", "gpushare100", "gpuspec05",  "gpuspec10",  "gpuspec20",
        "gpuspec25",  "gpuspec33",  "multigpu20",  "multigpu30", "multigpu40", "multigpu50",
    };
    char path[4096];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/traces/openb-2023", folder());
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct world w;
        struct err err = {""};

        world_init(&w);
        if (read_openb(&w, path, lists[i], &err))
            fail_msg("%s", err.text);
        assert_int_equal(w.node_count, 1213);
        assert_int_equal(w.openb->seed_count, 10);
        assert_true(w.openb->arrival_count[9] > 5000);
        world_free(&w);
    }
}

/* What the repository itself brings along; paths are from its root. */
static void bundled_lists_are_read(void **state)
{
    static const char *const lists[] = {"default", "gpuspec33", "gpushare100"};

    (void)state;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        struct world w;
        struct err err = {""};

        world_init(&w);
        if (read_openb(&w, "data/openb", lists[i], &err))
            fail_msg("%s", err.text);
        assert_int_equal(w.node_count, 1213);
        assert_int_equal(w.openb->seed[0], 42);
        world_free(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundled_lists_are_read), cmocka_unit_test(clusters_are_read),
        cmocka_unit_test(workloads_are_read),     cmocka_unit_test(small_worlds_are_read),
        cmocka_unit_test(openb_lists_are_read),
    };

    return cmocka_run_group_tests_name("read_data", tests, NULL, NULL);
}
