/* Small runs as a page: it holds what was found, loads nothing, and is well formed. */
#include "edge/sim/report.h"

#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000LL

static char path[64];

static char *saved(void)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");
    size_t length;

    assert_non_null(in);
    length = fread(text, 1, sizeof(text) - 1, in);
    assert_true(length < sizeof(text) - 1);
    text[length] = '\0';
    fclose(in);
    unlink(path);
    return text;
}

/* Every element that is opened is closed, in order; no attribute holds a bare `<`. */
static void check_well_formed(const char *text)
{
    static const char *const empty[] = {"meta", "line", "circle", "rect", "polygon", "!doctype"};
    char open[64][16];
    unsigned depth = 0;

    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        const char *name = at + 1 + (at[1] == '/'), *end = strchr(at, '>');
        size_t length = strcspn(name, " />");
        bool is_empty = end[-1] == '/';

        assert_true(length < 16);
        for (size_t i = 0; i < COUNT(empty) && !is_empty; i++)
            is_empty = (i == 0 || i == 5) && strncmp(name, empty[i], length) == 0;
        if (at[1] == '/') {
            assert_true(depth > 0);
            if (strlen(open[depth - 1]) != length || strncmp(open[depth - 1], name, length) != 0)
                fail_msg("%s is closed by %.*s", open[depth - 1], (int)length, name);
            depth--;
        } else if (!is_empty) {
            assert_true(depth < 64);
            memcpy(open[depth], name, length);
            open[depth++][length] = '\0';
        }
    }
    assert_int_equal(depth, 0);
}

static void expect(const char *text, const char *const *part, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strstr(text, part[i]))
            fail_msg("%s is not in the page", part[i]);
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "<script"));
    assert_null(strstr(text, "nan"));
    check_well_formed(text);
}

static void add(struct report *r, struct summary *s, struct metrics *m, const char *workload,
                const char *policy, int64_t seed, const struct series *series)
{
    const struct metric_value *value;
    uint32_t count = metrics_values(m, &value);

    summary_add(s, workload, policy, seed, value, count);
    report_add(r, workload, policy, seed, series);
}

static void send(struct metrics *m, struct series *s, const struct record *r)
{
    struct sink first = metrics_sink(m), second = series_sink(s);

    first.take(first.context, r);
    second.take(second.context, r);
}

/* One host of 8 GPUs; whole ones arrive until 13 were asked. */
static void arrive(struct world *w, struct report *r, struct summary *s, const char *policy,
                   uint32_t seed)
{
    struct metrics *m = metrics_open(w, 0);
    struct series *series = series_open(w, 0, m);

    for (uint32_t k = 0; k < 13; k++) {
        struct record_pod at = {.devices = (uint16_t)(1u << (k & 7))};
        struct record line = {.kind = k < 8 - seed ? RECORD_START : RECORD_REFUSE,
                              .arrival = k,
                              .t_ns = k * SECOND,
                              .pod_count = 1,
                              .pods = &at,
                              .fits = RECORD_FITS_YES,
                              .reason = {.code = k % 2 ? "shortage" : "<odd>"}};

        send(m, series, &line);
    }
    add(r, s, m, "list & co", policy, seed, series);
    series_close(series);
    metrics_close(m);
}

static void arrivals_are_drawn(void **state)
{
    static const char *const part[] = {"list &amp; co",
                                       "Allocation against arrived load",
                                       "Fragmented GPUs against",
                                       "Refusals by reason",
                                       "&lt;odd&gt;",
                                       "shortage",
                                       "(baseline)",
                                       "class=\"b c0\"",
                                       "gar_130_pct",
                                       "prefers-color-scheme",
                                       "GPUs allocated over all, when"};
    struct world_podset set = {
        .pods = 1, .pods_min = 1, .gpus = 1, .milli = 1000, .mig = WORLD_NONE};
    struct world_job job = {.name = "p", .podset_count = 1, .podset = &set};
    struct world_node node = {
        .name = "n", .gpus = 8, .cpu_milli = 9, .mem_mib = 9, .pods = WORLD_UNLIMITED};
    struct world_openb openb = {.row_count = 1};
    struct world w = {.node_count = 1, .node = &node, .job_count = 1, .job = &job, .openb = &openb};
    struct report *r = report_open("0.1.0");
    struct summary *s = summary_open();
    struct err err = {""};

    (void)state;
    for (uint32_t seed = 0; seed < 2; seed++) {
        arrive(&w, r, s, "dovetail", seed);
        arrive(&w, r, s, "fgd", seed);
    }
    assert_int_equal(report_save(r, s, "fgd", path, &err), ERR_NONE);
    expect(saved(), part, COUNT(part));
    assert_int_equal(report_save(r, s, "fgd", "/nowhere/report.html", &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "/nowhere/report.html"));
    report_close(r);
    summary_close(s);
}

static void read_world(struct world *w)
{
    static const char cluster[] =
        "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}\n"
        "{\"kind\":\"node\",\"node\":\"n\",\"gpus\":8}\n";
    static const char workload[] =
        "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"
        "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":0,\"gpus\":8,\"run_s\":400000,"
        "\"preferred\":\"node\"}\n";
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

static void gangs_are_drawn_over_time(void **state)
{
    static const char *const part[] = {"GPUs allocated over time",
                                       "Jobs that wait over time",
                                       "Topology hits",
                                       "Wait by GPUs asked",
                                       ">days<",
                                       "of GPU time allocated",
                                       "others",
                                       "reason-03"};
    static const struct record_pod at = {.devices = 0xFF};
    struct world w;
    struct metrics *m;
    struct series *series;
    struct report *r = report_open("0.1.0");
    struct summary *s = summary_open();
    struct err err = {""};
    struct record line = {.kind = RECORD_SUBMIT, .arrival = WORLD_NONE, .by = WORLD_NONE};
    char code[16];

    (void)state;
    read_world(&w);
    m = metrics_open(&w, WORLD_NONE);
    series = series_open(&w, WORLD_NONE, m);
    send(m, series, &line);
    line.kind = RECORD_REFUSE;
    line.fits = RECORD_FITS_YES;
    for (unsigned i = 0; i < 40; i++) { /* more reasons than a chart can tell apart */
        snprintf(code, sizeof(code), "reason-%02u", i);
        line.reason.code = code;
        send(m, series, &line);
    }
    line = (struct record){.kind = RECORD_START,
                           .t_ns = 100 * SECOND,
                           .arrival = WORLD_NONE,
                           .by = WORLD_NONE,
                           .pod_count = 1,
                           .pods = &at};
    send(m, series, &line);
    line.kind = RECORD_FINISH;
    line.t_ns = 400100 * SECOND;
    send(m, series, &line);
    add(r, s, m, "w", "dovetail", 1, series);
    assert_int_equal(report_save(r, s, NULL, path, &err), ERR_NONE);
    expect(saved(), part, COUNT(part));
    series_close(series);
    metrics_close(m);
    report_close(r);
    summary_close(s);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_drawn),
        cmocka_unit_test(gangs_are_drawn_over_time),
    };

    snprintf(path, sizeof(path), "%s/report_test_%ld.html", P_tmpdir, (long)getpid());
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
