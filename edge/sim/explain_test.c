/* Stories from small logs: why here, why not, what came of it, and what a cut log still tells. */
#include "edge/sim/explain.h"

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

#define HEADER                                                                                     \
    "{\"kind\":\"header\",\"format\":\"dovetail-decisions/2\",\"cluster\":\"c1\","                 \
    "\"workload\":\"w1\",\"policy\":\"dovetail\",\"seed\":42,\"version\":\"0.1.0\"}\n"
#define END "{\"kind\":\"end\",\"t\":200,\"digest\":\"00\",\"state\":\"1\",\"summary\":{}}\n"
#define GANG                                                                                       \
    HEADER                                                                                         \
    "{\"kind\":\"submit\",\"t\":0,\"job\":\"train-1\",\"team\":\"red\",\"asks\":\"2 pods of 8 "    \
    "GPUs\"}\n"                                                                                    \
    "{\"kind\":\"submit\",\"t\":0,\"job\":\"train-2\"}\n"                                          \
    "{\"kind\":\"refuse\",\"t\":0,\"job\":\"train-1\",\"fits\":false,\"final\":false,"             \
    "\"reason\":{\"code\":\"scattered\",\"text\":\"20 GPUs are free, but no leaf has 16\","        \
    "\"free_gpus\":20,\"best_pods\":1,\"binding\":[\"busy\",\"topology\"]}}\n"                     \
    "{\"kind\":\"promise\",\"t\":0,\"job\":\"train-1\",\"by\":90,\"why\":\"first\"}\n"             \
    "{\"kind\":\"preempt\",\"t\":60,\"job\":\"train-2\",\"by\":\"train-1\","                       \
    "\"cause\":\"priority\",\"saved\":false}\n"                                                    \
    "{\"kind\":\"start\",\"t\":60,\"job\":\"train-1\",\"pods\":[{\"pod\":0,\"node\":\"n0\","       \
    "\"gpus\":[0,1]},{\"pod\":1,\"node\":\"n7\",\"gpus\":[2],\"milli\":470}],\"reason\":"          \
    "{\"code\":\"placed\",\"text\":\"the fullest leaf that holds it\",\"domain\":{\"level\":"      \
    "\"leaf\",\"name\":\"l3\"},\"runner_up\":\"n9\",\"terms\":[{\"name\":\"fragmentation\","       \
    "\"unit\":\"milli-GPU\",\"value\":-30,\"runner_up\":-20}]}}\n"                                 \
    "{\"kind\":\"event\",\"t\":70,\"node\":\"n7\",\"gpu\":2,\"state\":\"down\"}\n"                 \
    "{\"kind\":\"event\",\"t\":70,\"node\":\"n5\",\"state\":\"down\"}\n"                           \
    "{\"kind\":\"fail\",\"t\":70,\"job\":\"train-1\"}\n"

/* A date, an earlier one, a later one; then a start. */
#define PROMISE(t, by)                                                                             \
    "{\"kind\":\"promise\",\"t\":" t ",\"job\":\"a\",\"by\":" by ",\"pods\":[{\"pod\":0,"          \
    "\"node\":\"n\"}],\"why\":\"kept\"}\n"
#define WAIT     HEADER PROMISE("0", "90") PROMISE("1", "80") PROMISE("2", "95")
#define BEGIN(t) "{\"kind\":\"start\",\"t\":" t ",\"job\":\"a\",\"pods\":[]}\n"
#define LENT                                                                                       \
    HEADER                                                                                         \
    "{\"kind\":\"submit\",\"t\":0,\"job\":\"b\"}\n"                                                \
    "{\"kind\":\"shrink\",\"t\":1,\"job\":\"a\",\"by\":\"b\",\"cause\":\"self\",\"pods\":[1]}\n"   \
    "{\"kind\":\"shrink\",\"t\":2,\"job\":\"a\",\"cause\":\"self\",\"pods\":[0]}\n"

static int ask(const char *log, const char *job, enum explain_form form, struct out *out,
               struct err *err)
{
    struct memfile f;
    int result;

    memfile_open(&f);
    memfile_set(&f, log, strlen(log));
    result = explain(f.path, job, form, out, err);
    memfile_close(&f);
    return result;
}

static const struct {
    const char *why, *log, *job, *says, *never;
} story_row[] = {
    {"it starts with what came of it", GANG END, "train-1",
     "train-1 waits, first started after 1 min 0 s\n", "cut"},
    {"what was asked", GANG END, "train-1", "asks 2 pods of 8 GPUs, team red\n", NULL},
    {"a refusal has a verdict", GANG END, "train-1", "verdict: no room now", NULL},
    {"and the policy's sentence", GANG END, "train-1",
     "why: 20 GPUs are free, but no leaf has 16 (scattered)\n", NULL},
    {"and numbers", GANG END, "train-1", "usable nodes of its models: 20\n", NULL},
    {"and the limits that bind", GANG END, "train-1", "the required levels and slices\n", NULL},
    {"and what would change it", GANG END, "train-1", "a wider required level\n", NULL},
    {"promises are told", GANG END, "train-1", "promised a start by 90 s (first)\n", NULL},
    {"also what others gave up", GANG END, "train-1",
     "train-2 is preempted for it (cause priority)\n", NULL},
    {"the place, share and all", GANG END, "train-1", "pod 1 on n7, GPU 2 (470 milli of it)\n",
     NULL},
    {"the domain", GANG END, "train-1", "all of it in leaf l3\n", NULL},
    {"the score beside the runner-up's", GANG END, "train-1",
     "fragmentation   -30  -20  milli-GPU\n", NULL},
    {"the event that broke it, no other", GANG END, "train-1", "n7, GPU 2, goes down\n",
     "n5 goes down"},
    {"the victim's side", GANG END, "train-2", "preempted, cause priority, for train-1", NULL},
    {"a log without an end", GANG, "train-1", "the log is cut after line 10:", NULL},
    {"a log cut inside a line", GANG "{\"kind\":\"start\",\"t\":80,\"job\":\"train-1\",\"po",
     "train-1", "the log is cut after line 11:", NULL},
    {"held by policy",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":true,\"reason\":{\"code\":"
            "\"quota\",\"text\":\"team red holds 96 of 96\",\"binding\":[],\"cure\":\"8 GPUs "
            "given back\"}}\n" END,
     "a", "held back", "no room"},
    {"the writer's own cure comes first",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":true,\"reason\":{\"code\":"
            "\"quota\",\"text\":\"full\",\"binding\":[\"busy\"],\"cure\":\"8 GPUs given "
            "back\"}}\n" END,
     "a", "what would change it: 8 GPUs given back\n", "jobs that finish"},
    {"no limit alone",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":false,\"reason\":{\"code\":"
            "\"x\",\"text\":\"y\",\"binding\":[]}}\n" END,
     "a", "no single limit", NULL},
    {"refused for good",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":false,\"final\":true}\n" END, "a",
     "never: not even the empty cluster", NULL},
    {"not proven", HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":null}\n" END, "a",
     "not proven", NULL},
    {"a tie is called one",
     HEADER "{\"kind\":\"start\",\"t\":0,\"job\":\"a\",\"pods\":[],\"reason\":{\"code\":\"c\","
            "\"text\":\"t\",\"runner_up\":\"m\",\"terms\":[{\"name\":\"fit\",\"unit\":\"p\","
            "\"value\":1,\"runner_up\":1}]}}\n" END,
     "a", "equal in every term", "no other place"},
    {"the only place is called so",
     HEADER "{\"kind\":\"start\",\"t\":0,\"job\":\"a\",\"pods\":[],\"reason\":{\"code\":\"c\","
            "\"text\":\"t\",\"terms\":[{\"name\":\"fit\",\"unit\":\"p\",\"value\":1}]}}\n" END,
     "a", "there was no other place", "equal in"},
    {"a start without a reason",
     HEADER "{\"kind\":\"start\",\"t\":0,\"job\":\"a\",\"pods\":[{\"pod\":0,\"node\":\"n\"}]}\n"
            "{\"kind\":\"finish\",\"t\":9,\"job\":\"a\",\"status\":\"ok\"}\n" END,
     "a", "the log gives no reason", NULL},
    {"moves, growth, shrinkage, the end",
     HEADER "{\"kind\":\"submit\",\"t\":0,\"job\":\"a\"}\n"
            "{\"kind\":\"start\",\"t\":0,\"job\":\"a\",\"pods\":[]}\n"
            "{\"kind\":\"grow\",\"t\":1,\"job\":\"a\",\"pods\":[{\"pod\":1,\"node\":\"n\"}]}\n"
            "{\"kind\":\"shrink\",\"t\":2,\"job\":\"a\",\"cause\":\"self\",\"pods\":[1]}\n"
            "{\"kind\":\"move\",\"t\":3,\"job\":\"a\",\"cause\":\"defrag\",\"saved\":true,"
            "\"pods\":[{\"pod\":0,\"node\":\"m\"}]}\n"
            "{\"kind\":\"event\",\"t\":172900,\"job\":\"a\",\"state\":\"cancel\"}\n" END,
     "a", "a cancelled, first started after 0 s, over after 2 d 0 h\n", NULL},
    {"a held job is told what it is kept from, not what would bind",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":true,\"reason\":{\"code\":"
            "\"reserved\",\"text\":\"kept for another\",\"binding\":[]}}\n" END,
     "a", "held back: a placement exists, but a rule", "what binds"},
    {"room is kept with a promise", WAIT END, "a",
     "promised a start by 90 s\n                room kept for it:\n                  pod 0 on n\n",
     "(kept)"},
    {"a date that moves earlier", WAIT END, "a",
     "promise moved earlier: a start by 80 s instead of 90 s\n", NULL},
    {"a date that moves later", WAIT END, "a", "promise put off: a start by 95 s instead of 80 s\n",
     NULL},
    {"the last promise is the one that counts", WAIT BEGIN("95") END, "a",
     "placed in time: a start by 95 s was promised\n", "late"},
    {"a start that comes too late", WAIT BEGIN("96") END, "a",
     "placed late: a start by 95 s was promised\n", "in time"},
    {"a promise is kept once",
     WAIT BEGIN("95") "{\"kind\":\"fail\",\"t\":97,\"job\":\"a\"}\n" BEGIN("98") END, "a",
     "          98 s  placed\n", "late"},
    {"pods that were lent", LENT END, "a", "shrunk for b: pods beyond its minimum are given back\n",
     "cause"},
    {"the side of the one that gets them", LENT END, "b",
     "a is shrunk for it: it gives back pods beyond its minimum\n", "cause"},
    {"pods that nobody else gets", LENT END, "a", "shrunk: pods are given back\n", NULL},
    {"a run that misses a pod is no refused job",
     HEADER "{\"kind\":\"refuse\",\"t\":0,\"job\":\"a\",\"fits\":false,\"reason\":{\"code\":"
            "\"member\",\"text\":\"no room beside the others\"}}\n" END,
     "a", "runs on, not made whole\n", "refused\n"},
    {"spaces of another writer",
     HEADER "{ \"kind\" : \"submit\", \"t\" : 0, \"job\" : \"a\" }\n" END, "a", "submitted", "cut"},
};

static void stories_say_why(void **state)
{

    (void)state;
    for (size_t i = 0; i < COUNT(story_row); i++) {
        struct out out = {0};
        struct err err = {""};

        if (ask(story_row[i].log, story_row[i].job, EXPLAIN_TEXT, &out, &err))
            fail_msg("%s: %s", story_row[i].why, err.text);
        if (!strstr(out.bytes, story_row[i].says) ||
            (story_row[i].never && strstr(out.bytes, story_row[i].never)))
            fail_msg("%s:\n%s", story_row[i].why, out.bytes);
        out_free(&out);
    }
}

#define OPENB                                                                                      \
    "{\"kind\":\"header\",\"format\":\"dovetail-decisions/2\",\"cluster\":\"openb\","              \
    "\"workload\":\"openb_pod_list_default.csv\",\"policy\":\"fgd\",\"seed\":42,"                  \
    "\"version\":\"0.1.0\"}\n"                                                                     \
    "{\"kind\":\"submit\",\"t\":0,\"job\":\"0:openb-pod-0255\",\"gpus\":1,\"milli\":810}\n"        \
    "{\"kind\":\"start\",\"t\":0,\"job\":\"0:openb-pod-0255\",\"pods\":[{\"pod\":0,"               \
    "\"node\":\"x\",\"gpus\":[3],\"milli\":810}]}\n"                                               \
    "{\"kind\":\"submit\",\"t\":1,\"job\":\"1:openb-pod-0007\"}\n"                                 \
    "{\"kind\":\"refuse\",\"t\":1,\"job\":\"1:openb-pod-0007\",\"fits\":false,\"final\":true}\n"   \
    "{\"kind\":\"submit\",\"t\":2,\"job\":\"2:openb-pod-0255\"}\n"

static void pods_are_found_by_name(void **state)
{
    struct out out = {0};
    struct err err = {""};

    (void)state;
    assert_int_equal(ask(OPENB END, "openb-pod-0007", EXPLAIN_TEXT, &out, &err), ERR_NONE);
    assert_non_null(strstr(out.bytes, "1:openb-pod-0007 refused for good\n"));
    assert_non_null(strstr(out.bytes, "no room now"));
    out_clear(&out);
    assert_int_equal(ask(OPENB END, "0:openb-pod-0255", EXPLAIN_TEXT, &out, &err), ERR_NONE);
    assert_non_null(strstr(out.bytes, "pod 0 on x, GPU 3 (810 milli of it)\n"));
    out_clear(&out);
    assert_int_equal(ask(OPENB END, "openb-pod-0255", EXPLAIN_TEXT, &out, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "more than once; name one, such as 0:openb-pod-0255"));
    out_free(&out);
}

static void errors_help(void **state)
{
    static const struct {
        const char *why, *log, *job, *says;
    } row[] = {
        {"a near name is offered", GANG END, "trian-1", "did you mean train-1?"},
        {"the start of a name is near", GANG END, "train", "did you mean train-1, train-2?"},
        {"a far one is not", GANG END, "zebra", "no job 'zebra' among its 2 jobs"},
        {"a pod's near name, without its position", OPENB END, "openb-pod-0008",
         "did you mean 1:openb-pod-0007"},
        {"a cut log may have had it", GANG, "zebra", "(the log is cut)"},
        {"nothing at all", "", "a", "found an empty file"},
        {"another file", "name,gpus\nx,8\n", "a", ":1: found no header"},
        {"another version", "{\"kind\":\"header\",\"format\":\"dovetail-decisions/1\"}\n", "a",
         ":1: found no header"},
        {"a line that is broken in the middle",
         HEADER "{\"kind\":\"submit\",\"t\":0,\"job\":\"a\n{\"kind\":\"submit\",\"t\":0,"
                "\"job\":\"b\"}\n" END,
         "b", ":2: found a broken line"},
        {"broken JSON about the job", HEADER "{\"kind\":\"submit\",\"t\":,\"job\":\"a\"}\n" END,
         "a", ":2:"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out out = {0};
        struct err err = {""};

        if (ask(row[i].log, row[i].job, EXPLAIN_TEXT, &out, &err) != ERR_INPUT ||
            !strstr(err.text, row[i].says))
            fail_msg("%s: %s", row[i].why, err.text);
        out_free(&out);
    }
}

static void no_file_is_trouble(void **state)
{
    struct out out = {0};
    struct err err = {""};

    (void)state;
    assert_int_not_equal(explain("/nowhere.log", "a", EXPLAIN_TEXT, &out, &err), ERR_NONE);
    assert_non_null(strstr(err.text, "/nowhere.log"));
}

static void json_holds_the_lines(void **state)
{
    static const char *const part[] = {
        "\"state\": \"waiting\"", "\"cut\": false",           "\"starts\": 1",
        "\"wait_s\": 60",         "\"policy\": \"dovetail\"", "\"line\": 4",
        "\"free_gpus\": 20",      "\"saved\": false",         "\"y\": null"};
    struct out out = {0};
    struct err err = {""};

    (void)state;
    assert_int_equal(ask(GANG "{\"kind\":\"start\",\"t\":80,\"job\":\"train-3\",\"pods\":[]}\n"
                              "{\"kind\":\"grow\",\"t\":81,\"job\":\"train-1\",\"pods\":[{\"pod\":"
                              "1,\"node\":\"n\",\"gpus\":[],\"x\":{},\"y\":null}]}\n" END,
                         "train-1", EXPLAIN_JSON, &out, &err),
                     ERR_NONE);
    for (size_t i = 0; i < COUNT(part); i++)
        if (!strstr(out.bytes, part[i]))
            fail_msg("%s is not in %s", part[i], out.bytes);
    out_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stories_say_why),      cmocka_unit_test(pods_are_found_by_name),
        cmocka_unit_test(errors_help),          cmocka_unit_test(no_file_is_trouble),
        cmocka_unit_test(json_holds_the_lines),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
