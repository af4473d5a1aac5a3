/* Workloads on a cluster of one leaf: what is read, with all defaults, and what is refused. */
#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000

static const char cluster[] =
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\",\"chains\":"
    "{\"net\":[\"leaf\",\"spine\"]}}\n"
    "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":8,\"model\":\"A\",\"domains\":{\"leaf\":\"l\"}}\n"
    "{\"kind\":\"node\",\"node\":\"cpu\",\"gpus\":0}\n";

#define HEADER                                                                                     \
    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":42}\n"

static int read_text(struct world *w, const char *text, size_t length, struct err *err)
{
    struct memfile f;
    int code;

    memfile_open(&f);
    world_init(w);
    memfile_set(&f, cluster, strlen(cluster));
    assert_int_equal(read_cluster(w, f.path, err), 0);
    memfile_set(&f, text, length);
    code = read_workload(w, f.path, err);
    memfile_close(&f);
    return code;
}

static void defaults_are_those_of_the_format(void **state)
{
    static const char text[] =
        HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":0,\"run_s\":9}\n";
    struct world w;
    struct err err = {""};

    (void)state;
    if (read_text(&w, text, strlen(text), &err))
        fail_msg("%s", err.text);

    const struct world_job *j = &w.job[0];
    const struct world_podset *p = &j->podset[0];
    assert_int_equal(w.seed, 42);
    assert_int_equal(j->podset_count, 1);
    assert_int_equal(j->team, WORLD_NONE);
    assert_int_equal(j->run_ns, 9LL * SECOND);
    assert_int_equal(j->est_ns, -1);
    assert_int_equal(j->ckpt_ns, -1);
    assert_int_equal(j->restart_ns, 0);
    assert_true(j->preemptible && j->share_card && !j->signal_save);
    assert_int_equal(j->end, END_OK);
    assert_int_equal(j->profile, COMM_NONE);
    assert_int_equal(j->required_count + j->preferred_count + j->slow_count, 0);
    assert_string_equal(p->name, "");
    assert_int_equal(p->pods, 1);
    assert_int_equal(p->pods_min, 1);
    assert_int_equal(p->gpus, 0);
    assert_int_equal(p->milli, 1000);
    assert_int_equal(p->mem_share_mib, 0);
    assert_int_equal(p->mig, WORLD_NONE);
    assert_int_equal(p->model_count + p->required_count + p->slice_pods, 0);
    world_free(&w);
}

static const char good[] = HEADER
    "{\"kind\":\"team\",\"team\":\"a\",\"parent\":\"org\",\"weight\":0.5,\"limit_gpus\":9.5,"
    "\"guarantee\":[{\"gpus\":4},{\"gpus\":2,\"level\":\"leaf\",\"count\":3,\"model\":\"B\"}]}\n"
    "{\"kind\":\"team\",\"team\":\"org\"}\n"
    "{\"kind\":\"job\",\"job\":\"j0\",\"submit_s\":0.25,\"team\":\"a\",\"pods\":8,\"min_pods\":4,"
    "\"gpus\":8,\"run_s\":3600,\"est_s\":7200.5,\"required\":\"spine\",\"preferred\":[\"leaf\","
    "\"leaf\","
    "\"cluster\"],\"ckpt_s\":0,\"restart_s\":60,\"slow\":{\"leaf\":1,\"cluster\":1.3},\"priority\":"
    "-5,"
    "\"preemptible\":false,\"signal_save\":true,\"share_card\":false,\"end\":\"fail\","
    "\"profile\":\"expert\",\"slice_pods\":3,\"slice_level\":\"island\",\"models\":[\"B\",\"A\","
    "\"B\"],"
    "\"cpu_milli\":5,\"mem_mib\":6,\"later\":[1]}\n"
    "{\"kind\":\"event\",\"t_s\":1,\"state\":\"cancel\",\"job\":\"j2\",\"note\":\"a\\\"b\\n\"}\n"
    "{\"kind\":\"job\",\"job\":\"j1\",\"submit_s\":2,\"run_s\":9,\"required\":[\"leaf\",\"numa\"],"
    "\"podsets\":[{\"name\":\"leader\",\"cpu_milli\":8},{\"name\":\"worker\",\"pods\":3,\"gpus\":1,"
    "\"milli\":470,\"min_pods\":0,\"required\":\"node\"},{\"gpus\":1,\"mig\":\"1g\"}]}\n"
    "{\"kind\":\"job\",\"job\":\"j2\",\"submit_s\":2,\"run_s\":9,\"gpus\":1,\"mem_share_mib\":77}\n"
    "{\"kind\":\"event\",\"t_s\":3,\"node\":\"n0\",\"gpu\":7,\"state\":\"down\"}\n"
    "{\"kind\":\"event\",\"t_s\":3,\"node\":\"n0\",\"state\":\"leave\",\"leave_at\":9.5}\n"
    "{\"kind\":\"event\",\"t_s\":4,\"team\":\"a\",\"limit_gpus\":null,\"weight\":2,"
    "\"guarantee\":[{\"gpus\":8}]}\n";

static void jobs_are_read(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    if (read_text(&w, good, strlen(good), &err))
        fail_msg("%s", err.text);
    assert_int_equal(w.job_count, 3);

    const struct world_job *j = &w.job[0];
    assert_int_equal(j->submit_ns, SECOND / 4);
    assert_int_equal(j->team, 0);
    assert_int_equal(j->est_ns, 7200LL * SECOND + SECOND / 2);
    assert_int_equal(j->ckpt_ns, 0);
    assert_int_equal(j->priority, -5);
    assert_true(!j->preemptible && j->signal_save && !j->share_card);
    assert_int_equal(j->end, END_FAIL);
    assert_int_equal(j->profile, COMM_EXPERT);
    assert_int_equal(j->required_count, 1);
    assert_int_equal(j->required[0].scope, SCOPE_LEVEL);
    assert_int_equal(j->required[0].level, 1);
    assert_int_equal(j->preferred_count, 2);
    assert_int_equal(j->preferred[1].scope, SCOPE_CLUSTER);
    assert_int_equal(j->slow_count, 2);
    assert_int_equal(j->slow[1].factor_micro, 1300000);
    assert_int_equal(j->podset[0].pods_min, 4);
    assert_int_equal(j->podset[0].required_count, 0);
    assert_int_equal(j->podset[0].slice_pods, 3);
    assert_int_equal(j->podset[0].slice_level.scope, SCOPE_ISLAND);
    assert_int_equal(j->podset[0].model_count, 2);
    assert_string_equal(w.model[j->podset[0].model[1]], "A");

    j = &w.job[1];
    assert_int_equal(j->podset_count, 3);
    assert_int_equal(j->required_count, 2);
    assert_int_equal(j->podset[1].milli, 470);
    assert_int_equal(j->podset[1].pods_min, 0);
    assert_int_equal(j->podset[1].required[0].scope, SCOPE_NODE);
    assert_string_equal(w.mig_name[j->podset[2].mig], "1g");
    assert_int_equal(w.job[2].podset[0].mem_share_mib, 77);
    assert_int_equal(w.job[2].podset[0].milli, 1000);
    world_free(&w);
}

static void teams_and_events_are_read(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    assert_int_equal(read_text(&w, good, strlen(good), &err), 0);
    assert_int_equal(w.team[0].parent, 1);
    assert_int_equal(w.team[1].parent, WORLD_NONE);
    assert_int_equal(w.team[0].weight_micro, 500000);
    assert_int_equal(w.team[0].limit_gpu_milli, 9500);
    assert_int_equal(w.team[1].limit_gpu_milli, WORLD_UNLIMITED);
    assert_int_equal(w.team[0].guarantee_count, 2);
    assert_int_equal(w.team[0].guarantee[0].level.scope, SCOPE_CLUSTER);
    assert_int_equal(w.team[0].guarantee[0].model, WORLD_NONE);
    assert_int_equal(w.team[0].guarantee[1].count, 3);
    assert_string_equal(w.model[w.team[0].guarantee[1].model], "B");

    assert_int_equal(w.event_count, 4);
    assert_int_equal(w.event[0].kind, WEV_CANCEL);
    assert_int_equal(w.event[0].target, 2);
    assert_string_equal(w.event[0].raw,
                        "\"state\":\"cancel\",\"job\":\"j2\",\"note\":\"a\\\"b\\u000a\"");
    assert_int_equal(w.event[1].kind, WEV_GPU);
    assert_int_equal(w.event[1].gpu, 7);
    assert_int_equal(w.event[1].state, STATE_DOWN);
    assert_int_equal(w.event[2].kind, WEV_NODE);
    assert_int_equal(w.event[2].leave_at_ns, 9LL * SECOND + SECOND / 2);
    assert_int_equal(w.event[3].kind, WEV_TEAM);
    assert_true(w.event[3].sets_limit && w.event[3].sets_weight && w.event[3].sets_guarantee);
    assert_int_equal(w.event[3].limit_gpu_milli, WORLD_UNLIMITED);
    assert_string_equal(w.event[3].raw, "\"team\":\"a\",\"limit_gpus\":null,\"weight\":2,"
                                        "\"guarantee\":[{\"gpus\":8}]");
    world_free(&w);
}

#define JOB(rest)   HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":5,\"run_s\":9," rest "}\n"
#define J           "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":5,\"run_s\":9}\n"
#define TEAM(rest)  HEADER "{\"kind\":\"team\",\"team\":\"a\"," rest "}\n"
#define EVENT(rest) HEADER "{\"kind\":\"event\",\"t_s\":5," rest "}\n"

static const struct {
    const char *why, *text, *said;
} wrong[] = {
    {"an empty file", "", ": found no line, expected a workload"},
    {"a cluster", "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}\n",
     ":1: found kind \"cluster\", expected the header of a workload"},
    {"another version",
     "{\"kind\":\"workload\",\"format\":\"dovetail-workload/1\",\"name\":\"w\"}\n",
     ":1: found \"format\""},
    {"a name that leaves the folder",
     "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"../w\"}\n",
     ":1: found \"name\": \"../w\", expected a name without a slash"},
    {"a seed below zero",
     "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":-1}\n",
     ":1: found \"seed\": -1"},
    {"an unknown kind", HEADER "{\"kind\":\"task\"}\n", "expected one of team job event"},
    {"a header twice", HEADER HEADER, ":2: found \"kind\": \"workload\", expected one header"},
    {"a team after jobs", HEADER J "{\"kind\":\"team\",\"team\":\"a\"}\n",
     ":3: found \"kind\": \"team\""},
    {"a team twice", TEAM("\"weight\":1}\n{\"kind\":\"team\",\"team\":\"a\""),
     ":3: found \"team\": \"a\", expected a team name that is used once"},
    {"an unknown parent", TEAM("\"parent\":\"x\""), ":2: found parent \"x\" of team \"a\""},
    {"its own parent", TEAM("\"parent\":\"a\""), ":2: found team \"a\" above itself"},
    {"a circle of parents",
     TEAM("\"parent\":\"b\"}\n{\"kind\":\"team\",\"team\":\"b\",\"parent\":\"a\""),
     ":2: found team \"a\" above itself"},
    {"a negative weight", TEAM("\"weight\":-1"), ":2: found \"weight\": -1"},
    {"a fine limit", TEAM("\"limit_gpus\":1.0001"),
     ":2: found \"limit_gpus\": 1.0001, expected a "
     "number from 0"},
    {"a guarantee that is a number", TEAM("\"guarantee\":8"), ":2: found \"guarantee\": 8"},
    {"a piece without GPUs", TEAM("\"guarantee\":[{\"count\":2}]"), ":2: found no \"gpus\""},
    {"a piece of an unknown level", TEAM("\"guarantee\":[{\"gpus\":8,\"level\":\"zone\"}]"),
     ":2: found \"level\": \"zone\", expected one of the levels island numa pcie node leaf spine "
     "cluster"},
    {"no pieces at all", TEAM("\"guarantee\":[{\"gpus\":8,\"count\":0}]"),
     ":2: found \"count\": 0"},
    {"a job twice", HEADER J J, ":3: found \"job\": \"j\", expected a job name that is used once"},
    {"a job without a name", HEADER "{\"kind\":\"job\",\"submit_s\":1,\"run_s\":1}\n",
     ":2: found no \"job\""},
    {"a name that is a number", HEADER "{\"kind\":\"job\",\"job\":7,\"submit_s\":1,\"run_s\":1}\n",
     ":2: found \"job\": 7, expected a name (in quotes"},
    {"no run time", HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":1}\n",
     ":2: found no \"run_s\""},
    {"no submit time", HEADER "{\"kind\":\"job\",\"job\":\"j\",\"run_s\":1}\n",
     ":2: found no \"submit_s\""},
    {"time runs backwards",
     HEADER J "{\"kind\":\"job\",\"job\":\"k\",\"submit_s\":4.999999,\"run_s\":1}\n",
     ":3: found \"submit_s\": 4.999999, expected no time before the job above"},
    {"a time before zero", HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":-1,\"run_s\":1}\n",
     ":2: found \"submit_s\": -1"},
    {"a time too fine",
     HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":0.0000001,\"run_s\":1}\n",
     "with at most 6 decimals"},
    {"a time after the end of time", JOB("\"est_s\":1e300"), ":2: found \"est_s\": 1e300"},
    {"a run that takes no time",
     HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":1,\"run_s\":0}\n",
     ":2: found \"run_s\": 0, expected a number from 0.000001"},
    {"an unknown team", JOB("\"team\":\"x\""), ":2: found \"team\": \"x\", expected a team"},
    {"no pods", JOB("\"pods\":0"), ":2: found \"pods\": 0, expected a whole number from 1"},
    {"negative pods", JOB("\"pods\":-3"), ":2: found \"pods\": -3"},
    {"huge pods", JOB("\"pods\":1000001"), ":2: found \"pods\": 1000001"},
    {"half a pod", JOB("\"pods\":1.5"), ":2: found \"pods\": 1.5"},
    {"pods in words", JOB("\"pods\":\"two\""), ":2: found \"pods\": \"two\""},
    {"a minimum above the pods", JOB("\"pods\":2,\"min_pods\":3"),
     ":2: found \"min_pods\": 3, expected a whole number from 0 to 2"},
    {"a minimum of nothing", JOB("\"pods\":2,\"min_pods\":0"),
     ":2: found min_pods 0 in every podset"},
    {"a million pods twice", JOB("\"podsets\":[{\"pods\":1000000},{\"pods\":1}]"),
     ":2: found 1000001 pods in one job"},
    {"more devices than hosts have", JOB("\"gpus\":17"), ":2: found \"gpus\": 17"},
    {"milli over 1000", JOB("\"gpus\":1,\"milli\":1001"),
     ":2: found \"milli\": 1001, expected a whole number from 1 to 1000"},
    {"a share of nothing", JOB("\"milli\":500"),
     ":2: found \"milli\" with gpus 0, expected gpus 1"},
    {"a share of two", JOB("\"gpus\":2,\"milli\":500"), ":2: found \"milli\" with gpus 2"},
    {"a memory share of two", JOB("\"gpus\":2,\"mem_share_mib\":500"),
     ":2: found \"mem_share_mib\" with gpus 2"},
    {"a memory share of more than the core counts", JOB("\"gpus\":1,\"mem_share_mib\":4294967297"),
     ":2: found \"mem_share_mib\": 4294967297"},
    {"two kinds of share", JOB("\"gpus\":1,\"milli\":500,\"mem_share_mib\":5"),
     ":2: found \"mem_share_mib\" beside \"milli\""},
    {"mig of two", JOB("\"gpus\":2,\"mig\":\"1g\""), ":2: found \"mig\" with gpus 2"},
    {"mig beside a share", JOB("\"gpus\":1,\"milli\":500,\"mig\":\"1g\""),
     ":2: found \"mig\" beside another share"},
    {"models that are a text", JOB("\"models\":\"A\""),
     ":2: found \"models\": \"A\", expected a list"},
    {"models that are numbers", JOB("\"models\":[100]"), ":2: found 100"},
    {"an unknown level", JOB("\"required\":\"rack\""),
     ":2: found \"required\": \"rack\", expected one "
     "of the levels island numa pcie node leaf"},
    {"a level in a list", JOB("\"preferred\":[\"leaf\",\"rack\"]"), ":2: found \"rack\""},
    {"a level that is a map", JOB("\"required\":{}"), ":2: found \"required\": a map of 0"},
    {"slices without a level", JOB("\"pods\":4,\"slice_pods\":2"), ":2: found no \"slice_level\""},
    {"a level without slices", JOB("\"slice_level\":\"leaf\""),
     ":2: found \"slice_level\" without"},
    {"slices larger than the gang", JOB("\"pods\":4,\"slice_pods\":5,\"slice_level\":\"leaf\""),
     ":2: found \"slice_pods\": 5"},
    {"slices inside a host without GPUs",
     JOB("\"pods\":4,\"slice_pods\":2,\"slice_level\":\"numa\""),
     ":2: found \"slice_level\": \"numa\""},
    {"no podset", JOB("\"podsets\":[]"), ":2: found \"podsets\": a list of 0"},
    {"a podset that is a number", JOB("\"podsets\":[4]"), ":2: found 4, expected a podset"},
    {"podset names twice", JOB("\"podsets\":[{\"name\":\"a\"},{\"name\":\"a\"}]"),
     ":2: found \"name\": \"a\", expected a podset name"},
    {"both forms at once", JOB("\"gpus\":1,\"podsets\":[{}]"),
     ":2: found \"gpus\" beside \"podsets\""},
    {"a factor below one", JOB("\"slow\":{\"leaf\":0.9}"), ":2: found \"leaf\": 0.9"},
    {"a factor of an unknown level", JOB("\"slow\":{\"rack\":2}"), ":2: found \"rack\""},
    {"a factor list", JOB("\"slow\":[1]"), ":2: found \"slow\": a list of 1, expected a map"},
    {"a large priority", JOB("\"priority\":3000000000"), ":2: found \"priority\": 3000000000"},
    {"a word for true", JOB("\"preemptible\":\"yes\""), ":2: found \"preemptible\": \"yes\""},
    {"an unknown end", JOB("\"end\":\"crash\""),
     ":2: found \"end\": \"crash\", expected one of ok fail"},
    {"an unknown profile", JOB("\"profile\":\"ring\""), ":2: found \"profile\": \"ring\""},
    {"an event of nothing", EVENT("\"state\":\"up\""), ":2: found an event of nothing"},
    {"an event of two things", EVENT("\"node\":\"n0\",\"job\":\"j\""), "found an event of several"},
    {"an event without a time", HEADER "{\"kind\":\"event\",\"node\":\"n0\",\"state\":\"up\"}\n",
     ":2: found no \"t_s\""},
    {"events run backwards",
     EVENT("\"node\":\"n0\",\"state\":\"up\"}\n{\"kind\":\"event\",\"t_s\":4,\"node\":\"n0\","
           "\"state\":\"up\""),
     ":3: found \"t_s\": 4, expected no time before"},
    {"an unknown node", EVENT("\"node\":\"n9\",\"state\":\"up\""), ":2: found \"node\": \"n9\""},
    {"an unknown state", EVENT("\"node\":\"n0\",\"state\":\"ill\""),
     ":2: found \"state\": \"ill\", expected one of up down drain leave"},
    {"no state", EVENT("\"node\":\"n0\""), ":2: found no \"state\""},
    {"a device beyond the node", EVENT("\"node\":\"n0\",\"gpu\":8,\"state\":\"up\""),
     ":2: found \"gpu\": 8, expected a whole number from 0 to 7"},
    {"a device of no GPUs", EVENT("\"node\":\"cpu\",\"gpu\":0,\"state\":\"up\""),
     ":2: found \"gpu\": 0"},
    {"a device that leaves", EVENT("\"node\":\"n0\",\"gpu\":0,\"state\":\"leave\",\"leave_at\":9"),
     ":2: found \"state\": \"leave\""},
    {"a leave without a time", EVENT("\"node\":\"n0\",\"state\":\"leave\""),
     ":2: found no \"leave_at\""},
    {"a leave in the past", EVENT("\"node\":\"n0\",\"state\":\"leave\",\"leave_at\":4"),
     ":2: found \"leave_at\": 4, expected a number from 5"},
    {"an unknown team in an event", EVENT("\"team\":\"x\",\"weight\":1"),
     ":2: found \"team\": \"x\""},
    {"a team event without news",
     TEAM("\"weight\":1}\n{\"kind\":\"event\",\"t_s\":1,\"team\":\"a\""),
     ":3: found no \"weight\""},
    {"a cancel of nobody", EVENT("\"job\":\"x\",\"state\":\"cancel\""), ":2: found \"job\": \"x\""},
    {"a job event that is no cancel", EVENT("\"job\":\"x\",\"state\":\"down\""),
     "expected one of cancel"},
};

static void wrong_files_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct world w;
        struct err err = {""};

        if (read_text(&w, wrong[i].text, strlen(wrong[i].text), &err) != ERR_INPUT)
            fail_msg("%s: not refused", wrong[i].why);
        if (!strstr(err.text, wrong[i].said) || !strstr(err.text, ", expected "))
            fail_msg("%s: %s", wrong[i].why, err.text);
        assert_int_equal(w.node_count + w.job_count, 0);
        world_free(&w);
    }
}

/* Lists whose members are compared with each other have limits, so that a line costs little. */
static void long_lists_have_limits(void **state)
{
    static const struct {
        const char *key, *item;
        uint32_t limit;
    } row[] = {{"podsets", "{}", 1024}, {"models", "\"A\"", 256}};

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        for (uint32_t more = 0; more < 2; more++) {
            struct world w;
            struct err err = {""};
            char *text = NULL;
            size_t length = 0;
            FILE *out = open_memstream(&text, &length);

            (void)fprintf(out,
                          HEADER "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":0,\"run_s\":1,"
                                 "\"%s\":[",
                          row[i].key);
            for (uint32_t n = 0; n < row[i].limit + more; n++)
                (void)fprintf(out, "%s%s", n ? "," : "", row[i].item);
            (void)fprintf(out, "]}\n");
            (void)fclose(out);
            assert_int_equal(read_text(&w, text, length, &err), more ? ERR_INPUT : 0);
            free(text);
            world_free(&w);
        }
    }
}

/* A file of garbage is given up at its first line, however long it is. */
static void garbage_fails_early(void **state)
{
    struct world w;
    struct err err = {""};
    size_t length = 4000000;
    char *text = malloc(length);

    (void)state;
    memset(text, '\n', length);
    memcpy(text, HEADER, sizeof(HEADER) - 1);
    assert_int_equal(read_text(&w, text, length, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ":2: found broken JSON"));
    world_free(&w);
    free(text);
}

struct seen {
    uint32_t worlds, jobs, last;
    int answer;
};

static int count_world(void *context, uint32_t number, struct world *w)
{
    struct seen *s = context;

    s->worlds++;
    s->jobs += w->job_count;
    s->last = number;
    return s->answer;
}

#define CLUSTER "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}"
#define NODE    "{\"kind\":\"node\",\"node\":\"n\",\"gpus\":1}"
#define WORK    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\"}"
#define TASK    "{\"kind\":\"job\",\"job\":\"j\",\"submit_s\":0,\"run_s\":1}"
#define WORLD(n)                                                                                   \
    "{\"world\":" n ",\"cluster\":[" CLUSTER "," NODE "],\"workload\":[" WORK "," TASK "]}\n"

static void worlds_are_read(void **state)
{
    static const struct {
        const char *why, *text, *said;
        uint32_t worlds;
    } row[] = {
        {"two worlds", WORLD("1") WORLD("7"), NULL, 2},
        {"no world", "", ": found no line", 0},
        {"no number", "{}\n", ":1: found no \"world\"", 0},
        {"no cluster", "{\"world\":1}\n", ":1: found no \"cluster\"", 0},
        {"a cluster of nothing", "{\"world\":1,\"cluster\":[]}\n", ": found no line", 0},
        {"no workload", "{\"world\":1,\"cluster\":[" CLUSTER "," NODE "]}\n",
         ":1: found no \"workload\"", 0},
        {"the second is cut", WORLD("1") "{\"world\":2", ":2: found broken JSON", 1},
        {"a wrong job",
         "{\"world\":1,\"cluster\":[" CLUSTER "," NODE "],\"workload\":[" WORK "," TASK "," TASK
         "]}\n",
         ":1: found \"job\": \"j\"", 0},
        {"a list", "[]\n", ":1: found a list", 0},
    };
    struct memfile f;
    struct seen seen = {.answer = 5};
    struct err err;

    (void)state;
    memfile_open(&f);
    for (size_t i = 0; i < COUNT(row); i++) {
        struct seen s = {0};

        memfile_set(&f, row[i].text, strlen(row[i].text));
        int code = read_worlds(f.path, count_world, &s, &err);
        if (code != (row[i].said ? ERR_INPUT : 0) || s.worlds != row[i].worlds)
            fail_msg("%s: %d", row[i].why, code);
        if (row[i].said && !strstr(err.text, row[i].said))
            fail_msg("%s: %s", row[i].why, err.text);
    }
    memfile_set(&f, row[0].text, strlen(row[0].text));
    assert_int_equal(read_worlds(f.path, count_world, &seen, &err), 5);
    assert_int_equal(seen.worlds, 1);
    assert_int_equal(seen.last, 1);
    memfile_close(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_format),
        cmocka_unit_test(jobs_are_read),
        cmocka_unit_test(teams_and_events_are_read),
        cmocka_unit_test(wrong_files_are_named),
        cmocka_unit_test(long_lists_have_limits),
        cmocka_unit_test(garbage_fails_early),
        cmocka_unit_test(worlds_are_read),
    };

    return cmocka_run_group_tests_name("read_workload", tests, NULL, NULL);
}
