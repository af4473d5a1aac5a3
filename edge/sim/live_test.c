/* What a run takes and keeps, to the nanosecond, and where the numbers of a file end. */
#include "edge/sim/live.h"

#include "edge/sim/read.h"
#include "tests/kit/check.h"
#include "tests/memfile.h"

#include <stdio.h>

#define S 1000000000ll

static const struct {
    const char *why, *fields; /* of the job, which asks 2 pods of 1 GPU */
    int64_t t_ns;
    uint32_t pods;
    int64_t finish_ns, kept_ns; /* kept: after a stop 7 s later */
} run_row[] = {
    {"at full size", "\"run_s\":10", 5 * S, 2, 15 * S, 0},
    {"with half its pods", "\"run_s\":10,\"min_pods\":1", 5 * S, 1, 25 * S, 0},
    {"slower in this place, rounded up", "\"run_s\":10,\"slow\":{\"node\":1.000001}", 0, 2,
     10 * S + 10000, 0},
    {"all is kept", "\"run_s\":10,\"ckpt_s\":0,\"slow\":{\"node\":2}", 0, 2, 20 * S, 7 * S / 2},
    {"kept at checkpoints", "\"run_s\":10,\"ckpt_s\":3", 0, 2, 10 * S, 6 * S},
    {"the longest run of a file", "\"run_s\":2000000000", 0, 2, 2000000000 * S, 0},
    {"three times as long", "\"run_s\":2000000000,\"slow\":{\"node\":3}", 0, 2, 6000000000 * S, 0},
    {"one step longer has no end", "\"run_s\":2000000000,\"slow\":{\"node\":3}", 1, 2, INT64_MAX,
     0},
    {"a thousand times as long", "\"run_s\":2000000000,\"ckpt_s\":0,\"slow\":{\"node\":1000}", 0, 1,
     INT64_MAX, 7 * S / 2000},
};

static void test_runs(void **state)
{
    static const struct record_pod pods[2] = {{.pod = 0, .devices = 1}, {.pod = 1, .devices = 2}};

    (void)state;
    for (size_t n = 0; n < ROWS(run_row); n++) {
        struct live l = {.state = LIVE_WAITING};
        struct memfile jobs;
        struct world w;
        struct err err;
        char text[512];
        int length = snprintf(text, sizeof(text),
                              "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\","
                              "\"name\":\"w\"}\n{\"kind\":\"job\",\"job\":\"a\",\"submit_s\":0,"
                              "\"pods\":2,\"gpus\":1,%s}\n",
                              run_row[n].fields);

        memfile_open(&jobs);
        memfile_set(&jobs, text, (size_t)length);
        world_init(&w);
        assert_int_equal(read_synthetic(&w, "host:1 gpu:4", &err), 0);
        assert_int_equal(read_workload(&w, jobs.path, &err), 0);
        live_start(&l, &w, &w.job[0], run_row[n].t_ns, pods, run_row[n].pods);
        CHECK_INT(run_row[n].why, l.finish_ns, run_row[n].finish_ns);
        live_stop(&l, &w.job[0], run_row[n].t_ns + 7 * S, false);
        CHECK_INT(run_row[n].why, l.kept_ns, run_row[n].kept_ns);
        free(l.pod);
        world_free(&w);
        memfile_close(&jobs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_runs)};

    return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
