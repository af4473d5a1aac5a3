/* Runs small enough to count by hand.
 *
 *     leaf a ─┬─ n0 [0 1 2 3]        leaf b ─┬─ n2 [0 1 2 3]
 *             └─ n1 [0 1 2 3]                └─ n3 [0 1 2 3]
 */
#include "edge/sim/metrics.h"

#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000LL
#define UNKNOWN  (-12345.0)

#define NODE(name, leaf)                                                                           \
    "{\"kind\":\"node\",\"node\":\"" name                                                          \
    "\",\"gpus\":4,\"model\":\"A\",\"gpu_mem_mib\":9000,\"domains\":{\"leaf\":\"" leaf "\"}}\n"
#define WORKLOAD                                                                                   \
    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"

static const char cluster[] =
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\","
    "\"chains\":{\"net\":[\"leaf\"]}}\n" NODE("n0", "a") NODE("n1", "a") NODE("n2", "b")
        NODE("n3", "b");

static void read_world(struct world *w, const char *workload)
{
    struct memfile f;
    struct err err = {""};

    memfile_open(&f);
    world_init(w);
    memfile_set(&f, cluster, strlen(cluster));
    if (read_cluster(w, f.path, &err))
        fail_msg("%s", err.text);
    memfile_set(&f, workload, strlen(workload));
    if (read_workload(w, f.path, &err))
        fail_msg("%s", err.text);
    memfile_close(&f);
}

/* --- a run as rows --- */

struct row {
    int64_t t_s;
    enum record_kind kind;
    uint32_t job; /* or event */
    uint32_t pod_count;
    struct record_pod pods[4];
    uint32_t by1; /* 1 + the job it is for; 0: nobody */
    const char *cause;
    bool saved, final;
    enum record_fits fits;
    int64_t by_s;
};

static void play(struct metrics *m, const struct row *row, size_t count)
{
    struct sink sink = metrics_sink(m);

    for (size_t i = 0; i < count; i++) {
        struct record r = {.kind = row[i].kind,
                           .t_ns = row[i].t_s * SECOND,
                           .job = row[i].job,
                           .event = row[i].job,
                           .arrival = WORLD_NONE,
                           .pod_count = row[i].pod_count,
                           .pods = row[i].pods,
                           .by = row[i].by1 ? row[i].by1 - 1 : WORLD_NONE,
                           .cause = row[i].cause,
                           .saved = row[i].saved,
                           .final = row[i].final,
                           .fits = row[i].fits,
                           .by_ns = row[i].by_s * SECOND,
                           .decide_ns = -1};

        sink.take(sink.context, &r);
    }
}

struct figure {
    const char *name;
    double value;
};

static void check(struct metrics *m, const struct figure *want, size_t count)
{
    const struct metric_value *value;
    uint32_t values = metrics_values(m, &value);

    for (size_t i = 0; i < count; i++) {
        const struct metric_value *got = metrics_find(value, values, want[i].name);

        if (want[i].value == UNKNOWN) {
            if (got && got->known)
                fail_msg("%s is %f, there was nothing to measure", want[i].name, got->value);
            continue;
        }
        if (!got || !got->known)
            fail_msg("%s is missing", want[i].name);
        else if (fabs(got->value - want[i].value) > 1e-6)
            fail_msg("%s is %f, counted by hand: %f", want[i].name, got->value, want[i].value);
    }
}

static void run(const char *workload, const struct row *row, size_t rows, const struct figure *want,
                size_t figures)
{
    struct world w;
    struct metrics *m;

    read_world(&w, workload);
    m = metrics_open(&w, WORLD_NONE);
    play(m, row, rows);
    check(m, want, figures);
    check(m, want, figures); /* asking changes nothing */
    metrics_close(m);
    world_free(&w);
}

#define ON(n, mask, p)                                                                             \
    {                                                                                              \
        .pod = (p), .node = (n), .devices = (mask)                                                 \
    }

static void a_preempted_gang(void **state)
{
    static const char workload[] =
        WORKLOAD "{\"kind\":\"team\",\"team\":\"a\",\"guarantee\":[{\"gpus\":8}]}\n"
                 "{\"kind\":\"job\",\"job\":\"j0\",\"submit_s\":0,\"team\":\"a\",\"pods\":2,"
                 "\"gpus\":4,\"run_s\":100,\"preferred\":\"leaf\",\"ckpt_s\":30,"
                 "\"restart_s\":10}\n"
                 "{\"kind\":\"job\",\"job\":\"j1\",\"submit_s\":10,\"gpus\":2,\"run_s\":50}\n";
    static const struct row row[] = {
        {0, RECORD_SUBMIT, 0, .by1 = 0},
        {0, RECORD_START, 0, .pod_count = 2,
         .pods = {ON(0, 0xF, 0), ON(2, 0xF, 1)}}, /* two leaves: a miss */
        {10, RECORD_SUBMIT, 1, .by1 = 0},
        {10, RECORD_REFUSE, 1, .fits = RECORD_FITS_YES},
        {20, RECORD_START, 1, .pod_count = 1, .pods = {ON(1, 0x3, 0)}},
        {40, RECORD_PREEMPT, 0, .by1 = 2, .cause = "reclaim"}, /* 10 s after its checkpoint */
        {50, RECORD_START, 0, .pod_count = 2, .pods = {ON(2, 0xF, 0), ON(3, 0xF, 1)}},
        {70, RECORD_FINISH, 1, .by1 = 0},
        {130, RECORD_FINISH, 0, .by1 = 0},
    };
    static const struct figure want[] = {
        {"jobs", 2},
        {"finished", 2},
        {"starts", 3},
        {"preemptions", 1},
        {"refusals", 1},
        {"refusals_null", 0},
        {"jobs_2-7", 1},
        {"jobs_8", 1},
        {"jobs_16+", 0},
        {"wait_s_mean", 5},
        {"wait_s_max", 10},
        {"wait_s_p50", 0},
        {"wait_s_p90", 10},
        {"wait_s_p50_8", 0},
        {"wait_s_p99_2-7", 10},
        {"wait_s_p50_1", UNKNOWN},
        {"jct_s_mean", 95},
        {"jct_s_p50", 60},
        {"jct_s_p99", 130},
        {"slowdown_mean", 1.25},
        {"slowdown_p99", 1.3},
        {"makespan_s", 130},
        {"gar_mean_pct", 50},
        {"gar_backlog_pct", 31.25},
        {"sor_pct", 100 * 1060.0 / 2080},
        {"lost_gpu_h", 160.0 / 3600},
        {"goodput_pct", 100 * 900.0 / 2080},
        {"preemptions_per_1000", 1000.0 / 3},
        {"stranded_8", (60 + 10 * (1 - 8.0 / 14)) / 130},
        {"stranded_64", 1},
        {"hit_jobs", 1},
        {"hit_pct", 0},
        {"hit_gpuh_pct", 100 * 640.0 / 960},
        {"nnd_mean", 1},
        {"ngd_mean", 4.0 / 3},
        {"ngd_gpuh", 1380.0 / 1060},
        {"preempt_unused", 1},
        {"reclaim_s_p50", UNKNOWN},
        {"violation_gpu_h", 80.0 / 3600},
        {"violation_gpu_h_a", 80.0 / 3600},
        {"guarantee_unsafe", 0},
        {"promises", 0},
        {"bound_volume_s", 56.25},
        {"bound_longest_s", 100},
        {"bound_srpt_jct_s", 31.25},
        {"bound_srpt_makespan_s", 56.25},
        {"makespan_over_bound", 1.3},
        {"jct_over_bound", 95 / 31.25},
        {"false_refusals", 0},
    };

    (void)state;
    run(workload, row, COUNT(row), want, COUNT(want));
}

static void elastic_gangs_and_failures(void **state)
{
    static const char workload[] =
        WORKLOAD "{\"kind\":\"job\",\"job\":\"j0\",\"submit_s\":0,\"pods\":3,\"min_pods\":1,"
                 "\"gpus\":4,\"run_s\":100,\"est_s\":100}\n"
                 "{\"kind\":\"job\",\"job\":\"j1\",\"submit_s\":0,\"pods\":5,\"gpus\":4,"
                 "\"run_s\":9}\n"
                 "{\"kind\":\"job\",\"job\":\"j2\",\"submit_s\":5,\"gpus\":1,\"run_s\":9,"
                 "\"priority\":3}\n"
                 "{\"kind\":\"event\",\"t_s\":20,\"node\":\"n1\",\"state\":\"down\"}\n"
                 "{\"kind\":\"event\",\"t_s\":30,\"job\":\"j2\",\"state\":\"cancel\"}\n";
    static const struct row row[] = {
        {0, RECORD_SUBMIT, 0, .by1 = 0},
        {0, RECORD_START, 0, .pod_count = 1, .pods = {ON(0, 0xF, 0)}},
        {0, RECORD_SUBMIT, 1, .by1 = 0},
        {0, RECORD_REFUSE, 1, .final = true},
        {5, RECORD_SUBMIT, 2, .by1 = 0},
        {5, RECORD_REFUSE, 2, .fits = RECORD_FITS_NO}, /* though twelve are free */
        {5, RECORD_PROMISE, 2, .by_s = 15},
        {10, RECORD_GROW, 0, .pod_count = 1, .pods = {ON(1, 0xF, 1)}},
        {15, RECORD_START, 2, .pod_count = 1, .pods = {ON(2, 0x1, 0)}}, /* in time */
        {18, RECORD_SHRINK, 0, .pod_count = 1, .pods = {ON(0, 0, 0)}, .by1 = 3,
         .cause = "priority"},
        {20, RECORD_EVENT, 0, .by1 = 0},
        {20, RECORD_FAIL, 0, .by1 = 0}, /* no checkpoint: all is lost */
        {20, RECORD_PROMISE, 0, .by_s = 21},
        {25, RECORD_START, 0, .pod_count = 1,
         .pods = {ON(3, 0xF, 0)}}, /* late; j2 gave no estimate */
        {30, RECORD_EVENT, 1, .by1 = 0},
    };
    /* held: 10 s x 4, 8 s x 8, 2 s x 4, then 5 s x 4; j2 15 s x 1 */
    static const struct figure want[] = {
        {"jobs", 3},
        {"finished", 0},
        {"dropped", 1},
        {"cancelled", 1},
        {"starts", 3},
        {"grows", 1},
        {"shrinks", 1},
        {"failures", 1},
        {"refusals", 2},
        {"false_refusals", 1},
        {"lost_gpu_h", 112.0 / 3600},
        {"promises", 2},
        {"promises_kept", 1},
        {"promises_excused", 1},
        {"gar_mean_pct", 25},
        /* 20 s of 16 in service, then 10 s of 12 */
        {"sor_pct", 100 * ((10 * 4 + 5 * 8 + 3 * 9 + 2 * 5) / 16.0 + (5 * 1 + 5 * 5) / 12.0) / 30},
        {"wait_s_mean", UNKNOWN},
        {"makespan_s", UNKNOWN},
        {"bound_volume_s", UNKNOWN},
        {"preempt_unused", 0},
    };

    (void)state;
    run(workload, row, COUNT(row), want, COUNT(want));
}

static void moves_save_and_guarantees_have_shapes(void **state)
{
    static const char workload[] =
        WORKLOAD "{\"kind\":\"team\",\"team\":\"a\",\"guarantee\":[{\"level\":\"node\",\"gpus\":4,"
                 "\"count\":2}]}\n"
                 "{\"kind\":\"team\",\"team\":\"b\"}\n"
                 "{\"kind\":\"job\",\"job\":\"j0\",\"submit_s\":0,\"team\":\"b\",\"gpus\":2,"
                 "\"pods\":3,\"run_s\":50,\"preemptible\":false}\n"
                 "{\"kind\":\"job\",\"job\":\"j1\",\"submit_s\":0,\"gpus\":1,"
                 "\"mem_share_mib\":3000,\"run_s\":50,\"signal_save\":true,\"restart_s\":5}\n";
    static const struct row row[] = {
        {0, RECORD_SUBMIT, 0, .by1 = 0},
        /* three hosts chipped by a job that never yields: one whole host is left, two are owed */
        {0, RECORD_START, 0, .pod_count = 3, .pods = {ON(0, 0x3, 0), ON(1, 0x3, 1), ON(2, 0x3, 2)}},
        {0, RECORD_SUBMIT, 1, .by1 = 0},
        {0, RECORD_START, 1, .pod_count = 1, .pods = {ON(3, 0x1, 0)}},
        {10, RECORD_MOVE, 1, .pod_count = 1, .pods = {ON(0, 0x4, 0)}, .cause = "defrag",
         .saved = true},
        {50, RECORD_FINISH, 0, .by1 = 0},
        {55, RECORD_FINISH, 1, .by1 = 0},
    };
    static const struct figure want[] = {
        {"guarantee_unsafe", 1},
        {"moves", 1},
        {"lost_gpu_h", 5.0 / 3 / 3600}, /* the restart alone, a third of a GPU */
        {"nnd_mean", 1.5},              /* three hosts where two suffice; a third is no gang */
        {"violation_gpu_h_a", 0},
        {"violation_gpu_h_b", UNKNOWN},
        {"jobs_1", 1},
        {"jobs_2-7", 1},
    };

    (void)state;
    run(workload, row, COUNT(row), want, COUNT(want));
}

/* --- arrivals --- */

static struct world_podset podset(uint8_t gpus, uint32_t milli)
{
    return (struct world_podset){.pods = 1,
                                 .pods_min = 1,
                                 .gpus = gpus,
                                 .milli = milli,
                                 .cpu_milli = 1000,
                                 .mem_mib = 10,
                                 .mig = WORLD_NONE};
}

static void arrive(struct metrics *m, uint32_t k, uint32_t row, uint32_t node, uint16_t devices)
{
    struct sink sink = metrics_sink(m);
    struct record_pod at = {.node = node, .devices = devices};
    struct record r = {.kind = RECORD_SUBMIT, .t_ns = k * SECOND, .job = row, .arrival = k};

    sink.take(sink.context, &r);
    r.kind = node == WORLD_NONE ? RECORD_REFUSE : RECORD_START;
    r.pods = &at;
    r.pod_count = node != WORLD_NONE;
    sink.take(sink.context, &r);
}

/* A host of two GPUs and one of one; three of four rows ask half a GPU, one asks two. */
static void arrivals_at_a_load(void **state)
{
    struct world_podset set[4];
    struct world_job job[4];
    struct world_node node[2] = {
        {.name = "x", .gpus = 2, .cpu_milli = 8000, .mem_mib = 100, .pods = WORLD_UNLIMITED},
        {.name = "y", .gpus = 1, .cpu_milli = 8000, .mem_mib = 100, .pods = WORLD_UNLIMITED}};
    struct world_openb openb = {.row_count = 4};
    struct world w = {.node_count = 2, .node = node, .job_count = 4, .job = job, .openb = &openb};
    /* one half on x leaves 0.5 + 1: lost to the pair, as is all of y: (1.5 + 1) / 4 */
    static const struct figure want[] = {
        {"gar_50_pct", 100.0 / 6},
        {"frag_50_pct", 62.5 / 3},
        {"frag_idle_50_pct", 25},
        {"gfr_50_pct", 50},
        {"stranded8_50", 1},
        {"gar_90_pct", 100.0 / 6},
        {"gar_100_pct", 100.0 / 6},
        {"pub_gar_50_pct", UNKNOWN},
        {"pub_gar_100_pct", 100.0 / 6},
        {"pub_frag_100_pct", 62.5 / 3},
        {"pub_frag_idle_100_pct", 25},
        {"arrivals", 3},
        {"placed", 1},
        {"refused", 2},
        {"refused_2", 1},
        {"refused_share", 1},
        {"refused_cpu", 0},
        {"arrived_pct", 100},
        {"false_refusals", 1},
    };
    struct metrics *m;
    struct metrics_now now;

    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        set[i] = i < 3 ? podset(1, 500) : podset(2, 1000);
        job[i] = (struct world_job){.name = "r", .podset_count = 1, .podset = &set[i]};
    }
    m = metrics_open(&w, 0);
    now = metrics_now(m);
    assert_true(fabs(now.frag_pct - 25.0 / 3) < 1e-9); /* y alone, to a quarter of the rows */
    arrive(m, 0, 0, 0, 0x1);
    arrive(m, 1, 3, WORLD_NONE, 0); /* true: one whole GPU on each */
    arrive(m, 2, 1, WORLD_NONE, 0); /* false: there is room for a half */
    check(m, want, COUNT(want));
    metrics_close(m);
}

static void the_reference_lists_all(void **state)
{
    char text[32768];
    FILE *out = fmemopen(text, sizeof(text), "w");
    char name[80];

    (void)state;
    metrics_reference(out);
    fclose(out);
    for (uint32_t i = 0; i < metrics_row_count(); i++) {
        snprintf(name, sizeof(name), "| `%s` | %s |", metrics_row_name(i), metrics_row_unit(i));
        if (!strstr(text, name))
            fail_msg("%s is not in the reference", metrics_row_name(i));
        assert_int_equal(metrics_row_text(i)[strlen(metrics_row_text(i)) - 1], '.');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_preempted_gang),
        cmocka_unit_test(elastic_gangs_and_failures),
        cmocka_unit_test(moves_save_and_guarantees_have_shapes),
        cmocka_unit_test(arrivals_at_a_load),
        cmocka_unit_test(the_reference_lists_all),
    };

    return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
