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

/* Every element that is opened is closed, in order; no attribute holds a bare `<`. A script's text
 * ends at the first `</script`. */
static void check_well_formed(const char *text)
{
    static const char *const empty[] = {"meta", "input", "!doctype"};
    char open[64][16];
    unsigned depth = 0;

    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        const char *name = at + 1 + (at[1] == '/'), *end = strchr(at, '>');
        size_t length = strcspn(name, " />");
        bool is_empty = end[-1] == '/';

        assert_true(length < 16);
        for (size_t i = 0; i < COUNT(empty) && !is_empty; i++)
            is_empty = strncmp(name, empty[i], length) == 0;
        if (at[1] == '/') {
            assert_true(depth > 0);
            if (strlen(open[depth - 1]) != length || strncmp(open[depth - 1], name, length) != 0)
                fail_msg("%s is closed by %.*s", open[depth - 1], (int)length, name);
            depth--;
        } else if (!is_empty) {
            assert_true(depth < 64);
            memcpy(open[depth], name, length);
            open[depth++][length] = '\0';
            if (strcmp(open[depth - 1], "script") == 0) {
                end = strstr(at, "</script>");
                assert_non_null(end);
                at = end - 1;
            }
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
    assert_null(strstr(text, " src="));
    assert_null(strstr(text, "url("));
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

static void read_world(struct world *w, const char *cluster, const char *workload)
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

/* A gang run whose records a test feeds by hand, and its page. */
struct feed {
    struct world w;
    struct metrics *m;
    struct series *series;
};

static void feed_open(struct feed *f, const char *cluster, const char *workload)
{
    read_world(&f->w, cluster, workload);
    f->m = metrics_open(&f->w, WORLD_NONE);
    f->series = series_open(&f->w, WORLD_NONE, f->m);
}

static void feed_at(struct feed *f, double t_s, struct record r)
{
    r.t_ns = (int64_t)(t_s * 1e9);
    r.arrival = WORLD_NONE;
    send(f->m, f->series, &r);
}

static char *feed_page(struct feed *f)
{
    struct report *r = report_open("0.1.0");
    struct summary *s = summary_open();
    struct err err = {""};

    add(r, s, f->m, "w", "dovetail", 1, f->series);
    series_close(f->series);
    metrics_close(f->m);
    world_free(&f->w); /* a report keeps nothing of it */
    assert_int_equal(report_save(r, s, NULL, path, &err), ERR_NONE);
    report_close(r);
    summary_close(s);
    return saved();
}

static const char one_host[] =
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}\n"
    "{\"kind\":\"node\",\"node\":\"n\",\"gpus\":8}\n";

static void gangs_are_drawn_over_time(void **state)
{
    static const char *const part[] = {"GPUs allocated over time",
                                       "Jobs that wait over time",
                                       "Topology hits",
                                       "Wait by size",
                                       ">days since the run",
                                       "of GPU time allocated",
                                       "others",
                                       "reason-03",
                                       "No run gave a promise",
                                       "No gang of several pods",
                                       "\\u003c/script>",
                                       "all 3 moments at which"};
    static const char workload[] =
        "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"
        "{\"kind\":\"job\",\"job\":\"</script>\",\"submit_s\":0,\"gpus\":8,\"run_s\":400000,"
        "\"preferred\":\"node\"}\n";
    static const struct record_pod at = {.devices = 0xFF};
    struct feed f;
    char code[16];

    (void)state;
    feed_open(&f, one_host, workload);
    feed_at(&f, 0, (struct record){.kind = RECORD_SUBMIT});
    for (unsigned i = 0; i < 40; i++) { /* more reasons than a chart can tell apart */
        snprintf(code, sizeof(code), "reason-%02u", i);
        feed_at(
            &f, 0,
            (struct record){.kind = RECORD_REFUSE, .fits = RECORD_FITS_YES, .reason.code = code});
    }
    feed_at(&f, 100, (struct record){.kind = RECORD_START, .pod_count = 1, .pods = &at});
    feed_at(&f, 400100, (struct record){.kind = RECORD_FINISH});
    expect(feed_page(&f), part, COUNT(part));
}

/* Four jobs of one GPU each: started before, at and after their dates, and never. The late one has
 * an excuse in the first run only: a device that failed between. */
static void promise_run(struct feed *f, bool excuse)
{
    static const char workload[] =
        "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"
        "{\"kind\":\"job\",\"job\":\"a\",\"submit_s\":0,\"gpus\":1,\"run_s\":9999,\"est_s\":9999}\n"
        "{\"kind\":\"job\",\"job\":\"b\",\"submit_s\":0,\"gpus\":1,\"run_s\":9999,\"est_s\":9999}\n"
        "{\"kind\":\"job\",\"job\":\"c\",\"submit_s\":0,\"gpus\":1,\"run_s\":9999,\"est_s\":9999}\n"
        "{\"kind\":\"job\",\"job\":\"d\",\"submit_s\":0,\"gpus\":1,\"run_s\":9999,\"est_s\":9999}\n"
        "{\"kind\":\"event\",\"t_s\":50,\"node\":\"n\",\"gpu\":7,\"state\":\"down\"}\n";
    static const int64_t by_s[] = {500, 100, 60, 1000};

    feed_open(f, one_host, workload);
    for (uint32_t j = 0; j < 4; j++)
        feed_at(f, 0, (struct record){.kind = RECORD_SUBMIT, .job = j});
    for (uint32_t j = 0; j < 4; j++)
        feed_at(f, 1, (struct record){.kind = RECORD_PROMISE, .job = j, .by_ns = by_s[j] * SECOND});
    feed_at(f, 2, (struct record){.kind = RECORD_PROMISE, .by_ns = 400 * SECOND}); /* moves a */
    if (excuse)
        feed_at(f, 50, (struct record){.kind = RECORD_EVENT});
    for (uint32_t j = 0; j < 3; j++) {
        struct record_pod at = {.devices = (uint16_t)(1u << j)};

        feed_at(f, 100,
                (struct record){.kind = RECORD_START, .job = j, .pod_count = 1, .pods = &at});
    }
}

static void promises_stand_beside_starts(void **state)
{
    static const char *const kept[] = {
        "<th>all</th><td>4</td>",
        "<th>kept, earlier than promised</th><td class=\"\">1</td>",
        "<th>kept, within a second</th><td class=\"\">1</td>",
        "<th>late, with an excuse</th><td class=\"\">1</td>",
        "<th>late, without an excuse</th><td class=\"\">0</td>",
        "<th>no start by the end of the run</th><td class=\"\">1</td>",
        "<th>times that one moved</th><td>1</td>",
        "Promised and real wait",
        "1-10 min early",
        "as promised",
        "1-60 s late",
        "class=\"x late\"",
        "<dt>promises kept</dt><dd>2 of 4</dd>"};
    static const char *const broken[] = {"<th>late, with an excuse</th><td class=\"\">0</td>",
                                         "<th>late, without an excuse</th><td class=\"bad\">1</td>",
                                         "class=\"x bad\""};
    struct feed f;

    (void)state;
    promise_run(&f, true);
    expect(feed_page(&f), kept, COUNT(kept));
    promise_run(&f, false);
    expect(feed_page(&f), broken, COUNT(broken));
}

/* Two leaves of two hosts. One gang sits in one leaf, the other in two without need. */
static void gangs_are_counted_by_domain(void **state)
{
    static const char cluster[] =
        "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\",\"chains\":{"
        "\"network\":[\"leaf\"]}}\n"
        "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":8,\"domains\":{\"leaf\":\"l0\"}}\n"
        "{\"kind\":\"node\",\"node\":\"n1\",\"gpus\":8,\"domains\":{\"leaf\":\"l0\"}}\n"
        "{\"kind\":\"node\",\"node\":\"n2\",\"gpus\":8,\"domains\":{\"leaf\":\"l1\"}}\n"
        "{\"kind\":\"node\",\"node\":\"n3\",\"gpus\":8,\"domains\":{\"leaf\":\"l1\"}}\n";
    static const char workload[] =
        "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"
        "{\"kind\":\"team\",\"team\":\"red\"}\n{\"kind\":\"team\",\"team\":\"blue\"}\n"
        "{\"kind\":\"job\",\"job\":\"near\",\"submit_s\":0,\"pods\":2,\"gpus\":4,\"run_s\":3600,"
        "\"team\":\"red\",\"preferred\":\"leaf\"}\n"
        "{\"kind\":\"job\",\"job\":\"far\",\"submit_s\":0,\"pods\":2,\"gpus\":4,\"run_s\":3600,"
        "\"team\":\"blue\",\"preferred\":\"leaf\"}\n";
    static const char *const part[] = {"1 of 2 gangs of several pods (50.0 %)",
                                       "1 of 2",
                                       "<title>1 jobs that need 1: 0 more</title>",
                                       "<title>1 jobs that need 1: 1 more</title>",
                                       "<th>far</th><td>2</td><td>8</td><td>2</td><td>1</td>",
                                       "team red",
                                       "team blue",
                                       ">l0<",
                                       ">l1<"};
    static const struct record_pod seat[2][2] = {
        {{.devices = 0x0F}, {.pod = 1, .devices = 0xF0}},
        {{.node = 1, .devices = 0x0F}, {.pod = 1, .node = 2, .devices = 0x0F}}};
    struct feed f;
    char *text;

    (void)state;
    feed_open(&f, cluster, workload);
    for (uint32_t j = 0; j < 2; j++)
        feed_at(&f, 0, (struct record){.kind = RECORD_SUBMIT, .job = j});
    for (uint32_t j = 0; j < 2; j++)
        feed_at(&f, 0,
                (struct record){.kind = RECORD_START, .job = j, .pod_count = 2, .pods = seat[j]});
    for (uint32_t j = 0; j < 2; j++)
        feed_at(&f, 3600, (struct record){.kind = RECORD_FINISH, .job = j});
    text = feed_page(&f);
    expect(text, part, COUNT(part));
    assert_null(strstr(text, "<th>near</th>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_drawn),
        cmocka_unit_test(gangs_are_drawn_over_time),
        cmocka_unit_test(promises_stand_beside_starts),
        cmocka_unit_test(gangs_are_counted_by_domain),
    };

    snprintf(path, sizeof(path), "%s/report_test_%ld.html", P_tmpdir, (long)getpid());
    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
