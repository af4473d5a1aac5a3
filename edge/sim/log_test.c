/* One leaf of two hosts; every kind of line once, byte for byte. */
#include "edge/sim/log.h"

#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <openssl/evp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND 1000000000LL

static const char cluster[] =
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c1\","
    "\"chains\":{\"net\":[\"leaf\"]}}\n"
    "{\"kind\":\"mig\",\"model\":\"A\",\"slots\":8,\"profiles\":"
    "{\"1g\":{\"slots\":1,\"at\":[0,1,2]}}}\n"
    "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":4,\"model\":\"A\",\"gpu_mem_mib\":8000,"
    "\"domains\":{\"leaf\":\"l\"}}\n"
    "{\"kind\":\"node\",\"node\":\"n\\\"1\",\"gpus\":4,\"model\":\"A\",\"gpu_mem_mib\":8000,"
    "\"domains\":{\"leaf\":\"l\"}}\n";
static const char workload[] =
    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w1\",\"seed\":null}\n"
    "{\"kind\":\"team\",\"team\":\"a\"}\n"
    "{\"kind\":\"job\",\"job\":\"j0\",\"submit_s\":0,\"team\":\"a\",\"pods\":2,\"min_pods\":1,"
    "\"gpus\":2,\"run_s\":60,\"end\":\"fail\",\"priority\":-1}\n"
    "{\"kind\":\"job\",\"job\":\"j1\",\"submit_s\":0.5,\"gpus\":1,\"milli\":470,\"run_s\":9}\n"
    "{\"kind\":\"job\",\"job\":\"j2\",\"submit_s\":1,\"gpus\":1,\"mem_share_mib\":4000,"
    "\"run_s\":9}\n"
    "{\"kind\":\"job\",\"job\":\"j3\",\"submit_s\":1,\"gpus\":1,\"mig\":\"1g\",\"run_s\":9}\n"
    "{\"kind\":\"event\",\"t_s\":2,\"node\":\"n0\",\"gpu\":3,\"state\":\"down\"}\n";

static char folder[] = P_tmpdir "/log_test_XXXXXX";

static void read_world(struct world *w)
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
    w->workload_name = "w/1"; /* a scenario may name it so; a file cannot be */
}

static struct record record(enum record_kind kind, int64_t t_ns, uint32_t job)
{
    return (struct record){.kind = kind,
                           .t_ns = t_ns,
                           .job = job,
                           .arrival = WORLD_NONE,
                           .by = WORLD_NONE,
                           .decide_ns = -1,
                           .reason = {.runner_up_node = WORLD_NONE}};
}

static void send(struct log *l, struct record r)
{
    struct sink sink = log_sink(l);

    sink.take(sink.context, &r);
}

static char *read_file(const char *path)
{
    static char text[16384];
    FILE *in = fopen(path, "r");
    size_t length;

    assert_non_null(in);
    length = fread(text, 1, sizeof(text) - 1, in);
    text[length] = '\0';
    fclose(in);
    return text;
}

static void start_and_share(struct log *l)
{
    static const struct record_pod gang[] = {{.pod = 0, .node = 0, .devices = 0x3},
                                             {.pod = 1, .node = 1, .devices = 0xC}};
    static const struct record_pod one = {.node = 0, .devices = 0x4, .mig_slot = 2};
    struct record r = record(RECORD_START, 0, 0);

    r.pod_count = 2;
    r.pods = gang;
    r.decide_ns = 1250;
    r.reason = (struct record_reason){.code = "placed",
                                      .text = "fills the leaf",
                                      .domain_level = "leaf",
                                      .domain = "l",
                                      .runner_up_node = 1,
                                      .term_count = 2,
                                      .term = {{"fit", "points", 7, -3}, {"links", NULL, 1, 0}}};
    send(l, r);
    for (uint32_t job = 1; job <= 3; job++) {
        send(l, record(RECORD_SUBMIT, SECOND, job));
        r = record(RECORD_START, SECOND, job);
        r.pod_count = 1;
        r.pods = &one;
        send(l, r);
    }
}

static void change(struct log *l)
{
    static const struct record_pod gang[] = {{.pod = 1, .node = 1, .devices = 0x3}};
    struct record r = record(RECORD_SHRINK, 2 * SECOND, 0);

    r.by = 1;
    r.cause = "priority";
    r.pod_count = 1;
    r.pods = gang;
    send(l, r);
    r.kind = RECORD_GROW;
    send(l, r);
    r.kind = RECORD_MOVE;
    r.cause = "defrag";
    r.saved = true;
    send(l, r);
    r.kind = RECORD_PREEMPT;
    r.saved = false;
    send(l, r);
}

static void refuse(struct log *l)
{
    struct record r = record(RECORD_REFUSE, 3 * SECOND, 1);

    r.reason = (struct record_reason){.code = "scattered",
                                      .text = "no leaf holds it",
                                      .free_gpu_milli = 3530,
                                      .best_pods = 1,
                                      .binding = 0x41,
                                      .cure = "a wider level"};
    r.decide_ns = 999;
    send(l, r);
    r.fits = RECORD_FITS_UNPROVEN;
    r.reason = (struct record_reason){
        .code = "budget", .free_gpu_milli = -1, .best_pods = -1, .binding = -1};
    send(l, r);
    r = record(RECORD_PROMISE, 3 * SECOND, 1);
    r.by_ns = 4500 * SECOND / 1000;
    r.why = "first";
    send(l, r);
}

static const char golden[] =
    "{\"kind\":\"header\",\"format\":\"dovetail-decisions/2\",\"cluster\":\"c1\","
    "\"workload\":\"w/1\",\"policy\":\"p\",\"seed\":null,\"version\":\"0.1.0\"}\n"
    "{\"kind\":\"submit\",\"t\":0,\"job\":\"j0\",\"team\":\"a\",\"priority\":-1,"
    "\"asks\":\"2 pods of 2 GPUs, at least 1\"}\n"
    "{\"kind\":\"start\",\"t\":0,\"job\":\"j0\",\"pods\":[{\"pod\":0,\"node\":\"n0\","
    "\"gpus\":[0,1]},{\"pod\":1,\"node\":\"n\\\"1\",\"gpus\":[2,3]}],\"reason\":{\"code\":"
    "\"placed\",\"text\":\"fills the leaf\",\"domain\":{\"level\":\"leaf\",\"name\":\"l\"},"
    "\"runner_up\":\"n\\\"1\",\"terms\":[{\"name\":\"fit\",\"unit\":\"points\",\"value\":7,"
    "\"runner_up\":-3},{\"name\":\"links\",\"unit\":\"\",\"value\":1,\"runner_up\":0}]}}\n"
    "{\"kind\":\"submit\",\"t\":1,\"job\":\"j1\",\"asks\":\"1 pod of 1 GPU (470 milli of it)\"}\n"
    "{\"kind\":\"start\",\"t\":1,\"job\":\"j1\",\"pods\":[{\"pod\":0,\"node\":\"n0\","
    "\"gpus\":[2],\"milli\":470}]}\n"
    "{\"kind\":\"submit\",\"t\":1,\"job\":\"j2\",\"asks\":\"1 pod of 1 GPU (4000 MiB of it)\"}\n"
    "{\"kind\":\"start\",\"t\":1,\"job\":\"j2\",\"pods\":[{\"pod\":0,\"node\":\"n0\","
    "\"gpus\":[2],\"mem_share_mib\":4000}]}\n"
    "{\"kind\":\"submit\",\"t\":1,\"job\":\"j3\",\"asks\":\"1 pod of 1 GPU (MIG 1g)\"}\n"
    "{\"kind\":\"start\",\"t\":1,\"job\":\"j3\",\"pods\":[{\"pod\":0,\"node\":\"n0\","
    "\"gpus\":[2],\"mig\":\"1g\",\"slot\":2}]}\n"
    "{\"kind\":\"event\",\"t\":2,\"node\":\"n0\",\"gpu\":3,\"state\":\"down\"}\n"
    "{\"kind\":\"shrink\",\"t\":2,\"job\":\"j0\",\"by\":\"j1\",\"cause\":\"priority\","
    "\"pods\":[1]}\n"
    "{\"kind\":\"grow\",\"t\":2,\"job\":\"j0\",\"pods\":[{\"pod\":1,\"node\":\"n\\\"1\","
    "\"gpus\":[0,1]}]}\n"
    "{\"kind\":\"move\",\"t\":2,\"job\":\"j0\",\"by\":\"j1\",\"cause\":\"defrag\",\"saved\":true,"
    "\"pods\":[{\"pod\":1,\"node\":\"n\\\"1\",\"gpus\":[0,1]}]}\n"
    "{\"kind\":\"preempt\",\"t\":2,\"job\":\"j0\",\"by\":\"j1\",\"cause\":\"defrag\","
    "\"saved\":false}\n"
    "{\"kind\":\"refuse\",\"t\":3,\"job\":\"j1\",\"fits\":false,\"final\":false,\"reason\":"
    "{\"code\":\"scattered\",\"text\":\"no leaf holds it\",\"free_gpus\":3.53,\"best_pods\":1,"
    "\"binding\":[\"busy\",\"topology\"],\"cure\":\"a wider level\"}}\n"
    "{\"kind\":\"refuse\",\"t\":3,\"job\":\"j1\",\"fits\":null,\"final\":false,\"reason\":"
    "{\"code\":\"budget\"}}\n"
    "{\"kind\":\"promise\",\"t\":3,\"job\":\"j1\",\"by\":4.5,\"why\":\"first\"}\n"
    "{\"kind\":\"fail\",\"t\":3.000002,\"job\":\"j1\"}\n"
    "{\"kind\":\"finish\",\"t\":60.25,\"job\":\"j0\",\"status\":\"fail\"}\n";

static void digest_of(const char *text, size_t length, char hex[static 65])
{
    unsigned char digest[32];

    assert_int_equal(EVP_Digest(text, length, digest, NULL, EVP_sha256(), NULL), 1);
    for (unsigned i = 0; i < 32; i++)
        snprintf(hex + 2 * (size_t)i, 3, "%02x", digest[i]);
}

static void lines_are_those_of_the_format(void **state)
{
    static const struct metric_value figure[] = {
        {"jobs", 4, true, 0}, {"wait_s_mean", 0, false, 0}, {"sor_pct", 71.25, true, 0}};
    struct world w;
    struct log *l;
    struct err err = {""};
    struct log_head head = {.policy = "p", .version = "0.1.0", .arrivals = WORLD_NONE};
    char path[128], hex[65], end[512];
    struct record event;

    (void)state;
    read_world(&w);
    assert_int_equal(log_open(&l, &w, folder, &head, &err), ERR_NONE);
    snprintf(path, sizeof(path), "%s/w_1-p-0.log", folder);
    send(l, record(RECORD_SUBMIT, 0, 0));
    start_and_share(l);
    event = record(RECORD_EVENT, 2 * SECOND, 0);
    event.event = 0;
    send(l, event);
    change(l);
    refuse(l);
    send(l, record(RECORD_FAIL, 3 * SECOND + 1500, 1));
    send(l, record(RECORD_FINISH, 60250 * SECOND / 1000, 0));
    assert_int_equal(log_close(l, "abc", figure, 3, &err), ERR_NONE);

    char *text = read_file(path);
    assert_memory_equal(text, golden, strlen(golden));
    digest_of(golden, strlen(golden), hex);
    snprintf(end, sizeof(end),
             "{\"kind\":\"end\",\"t\":60.25,\"digest\":\"%s\",\"state\":\"abc\","
             "\"summary\":{\"jobs\":4,\"sor_pct\":71.25}}\n",
             hex);
    assert_string_equal(text + strlen(golden), end);
    unlink(path);
    snprintf(path, sizeof(path), "%s/w_1-p-0.log.us", folder);
    assert_string_equal(read_file(path), "3 1\n15 1\n16 1\n");
    unlink(path);
    world_free(&w);
}

static void arrivals_are_named_by_their_position(void **state)
{
    static const struct record_pod at = {.node = 0, .devices = 0x2};
    struct world w;
    struct world_openb openb = {.row_count = 2, .seed_count = 1};
    uint32_t seed = 42;
    struct log *l;
    struct err err = {""};
    struct log_head head = {.policy = "fgd", .version = "0.1.0", .arrivals = 0};
    struct record r;
    char path[128];
    char *text;

    (void)state;
    read_world(&w);
    openb.seed = &seed;
    w.openb = &openb;
    w.workload_name = "default";
    assert_int_equal(log_open(&l, &w, folder, &head, &err), ERR_NONE);
    r = record(RECORD_START, 17 * SECOND, 1);
    r.arrival = 17;
    r.pod_count = 1;
    r.pods = &at;
    send(l, r);
    assert_int_equal(log_cut(l, &err), ERR_NONE);
    snprintf(path, sizeof(path), "%s/default-fgd-42.log", folder);
    text = read_file(path);
    assert_non_null(strstr(text,
                           "\"cluster\":\"openb\",\"workload\":\"openb_pod_list_default.csv\","
                           "\"policy\":\"fgd\",\"seed\":42"));
    assert_non_null(strstr(text, "{\"kind\":\"start\",\"t\":17,\"job\":\"17:j1\",\"pods\":[{\"pod\""
                                 ":0,\"node\":\"n0\",\"gpus\":[1],\"milli\":470}]}\n"));
    assert_null(strstr(text, "\"kind\":\"end\""));
    unlink(path);
    snprintf(path, sizeof(path), "%s/default-fgd-42.log.us", folder);
    unlink(path);
    w.openb = NULL;
    world_free(&w);
}

static void trouble_is_named_at_the_end(void **state)
{
    struct world w;
    struct log *l = NULL;
    struct err err = {""};
    struct log_head head = {.policy = "p", .version = "0", .arrivals = WORLD_NONE};
    char path[128];

    (void)state;
    read_world(&w);
    assert_int_equal(log_open(&l, &w, "/nowhere", &head, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "/nowhere/w_1-p-0.log"));

    /* a full disk: lines go on, the end says so */
    snprintf(path, sizeof(path), "%s/w_1-p-0.log", folder);
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_int_equal(log_open(&l, &w, folder, &head, &err), ERR_NONE);
    for (uint32_t i = 0; i < 20000; i++)
        send(l, record(RECORD_SUBMIT, 0, 0));
    assert_int_equal(log_close(l, NULL, NULL, 0, &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "w_1-p-0.log: No space left"));
    unlink(path);
    snprintf(path, sizeof(path), "%s/w_1-p-0.log.us", folder);
    unlink(path);
    world_free(&w);
}

static int clean(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_the_format),
        cmocka_unit_test(arrivals_are_named_by_their_position),
        cmocka_unit_test(trouble_is_named_at_the_end),
    };

    if (!mkdtemp(folder))
        return 1;
    return cmocka_run_group_tests_name("log", tests, NULL, clean);
}
