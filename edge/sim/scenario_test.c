/* Scenarios: one with every key, and one wrong line at a time. */
#include "edge/sim/scenario.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000LL

static const char good[] =
    "scenario: all-keys\n"                                                             /* 1 */
    "from: owner/name#1\n"                                                             /* 2 */
    "why: a sentence\n"                                                                /* 3 */
    "config: {policy: first-fit, order: fifo}\n"                                       /* 4 */
    "shuffle: 20\n"                                                                    /* 5 */
    "cluster:\n"                                                                       /* 6 */
    "  chains: {network: [leaf, spine]}\n"                                             /* 7 */
    "  shapes: {pairs: {gpus: 8, islands: [[0,1],[2,3],[4,5],[6,7]]}}\n"               /* 8 */
    "  nodes:\n"                                                                       /* 9 */
    "  - {node: n1, gpus: 8, shape: pairs, domains: {leaf: a}}\n"                      /* 10 */
    "  - {nodes: \"n[2-5]\", gpus: 8, domains: {leaf: b}}\n"                           /* 11 */
    "  - {nodes: \"c[08-10]x\", gpus: 0}\n"                                            /* 12 */
    "migs: [{model: A100, slots: 8, profiles: {1g: {slots: 1, at: [0, 1]}}}]\n"        /* 13 */
    "teams: [{team: red, guarantee: [{gpus: 8, level: node, count: 2}], weight: 1}]\n" /* 14 */
    "running:\n"                                                                       /* 15 */
    "- {job: old, gpus: 6, node: n1, devices: [0,1,2,3,4,5], run_s: 36, last_ckpt_s: -300}\n"
    "- {job: pair, gpus: 4, run_s: 3600, at: [{node: n2, devices: [0,1,2,3]}, {node: n3}]}\n"
    "timeline:\n"                                                            /* 18 */
    "- {at: 0, submit: {job: A, pods: 2, gpus: 1, run_s: 600, team: red}}\n" /* 19 */
    "- {at: 5, expect: {running: [A, B]}}\n"                                 /* 20 */
    "- {at: 6, submit: {job: B, gpus: 2, run_s: 600}}\n"                     /* 21 */
    "- {at: 10, node: n2, gpu: 3, state: down}\n"                            /* 22 */
    "- {at: 10, node: n2, state: leave, leave_at: 99.5}\n"                   /* 23 */
    "- {at: 12, set: {node: n1, gpus: 6, domains: {leaf: c}}}\n"             /* 24 */
    "- {at: 15, set: {job: A, pods: 4, min_pods: 3}}\n"                      /* 25 */
    "- {at: 16, set: {team: red, limit_gpus: 16}}\n"                         /* 26 */
    "- {at: 20, finish: A}\n"                                                /* 27 */
    "- {at: 20, fail: B}\n"                                                  /* 28 */
    "- {at: 20, cancel: old}\n"                                              /* 29 */
    "- {at: 20, recreate: pair}\n"                                           /* 30 */
    "- {at: 20, delete_pod: {job: A, pod: 1}}\n"                             /* 31 */
    "- {at: 21, terminate_s: {job: B, s: 40}}\n"                             /* 32 */
    "- {at: 30, restart: scheduler}\n"                                       /* 33 */
    "- {at: 30, restart: empty}\n"                                           /* 34 */
    "- {at: 31, watch: {delay_s: 5, double: true, reorder: 7, drop: 3}}\n"   /* 35 */
    "- at: 40\n"                                                             /* 36 */
    "  settle: 50\n"                                                         /* 37 */
    "  expect:\n"                                                            /* 38 */
    "    running: {only: [A, B]}\n"
    "    waiting: {old: {fits: false, code: scattered, binding: [busy, topology], text: no leaf}}\n"
    "    place: {A: {any: [{node: [n1], devices: [[6], [7]]}, {node: n2}]}, B: {same: leaf, "
    "differ: "
    "node, nodes: 2, linked: true}}\n"
    "    evicted: {count: 1, only: [A], pods: 3}\n"
    "    moved: {count: 0}\n"
    "    promised: {B: {by: 600, same: leaf}}\n"
    "    free: [{gpus: 8, shape: {8: 1, 4: {min: 2}}}, {level: leaf, gpus: 64, count: 1}]\n"
    "    wait_s: {B: {max: 30}}\n"
    "    grade: {old: unknown}\n"
    "    metrics: {stranded_8: 0, wait_s_mean: {min: 0, max: 1.5}}\n"
    "    never: [{running: [A]}, {broken: {pair: 1}}]\n"
    "- {at: 41, settle: 3}\n";

static int read_text(struct scenario *s, const char *text, size_t length, struct err *err)
{
    struct memfile f;
    int code;

    memfile_open(&f);
    memfile_set(&f, text, length);
    code = scenario_read(s, f.path, err);
    memfile_close(&f);
    return code;
}

static void the_world_is_read(void **state)
{
    struct scenario s;
    struct err err = {""};

    (void)state;
    if (read_text(&s, good, strlen(good), &err))
        fail_msg("%s", err.text);
    assert_string_equal(s.name, "all-keys");
    assert_string_equal(s.from, "owner/name#1");
    assert_string_equal(s.why, "a sentence");
    assert_string_equal(s.policy, "first-fit");
    assert_string_equal(s.order, "fifo");
    assert_int_equal(s.shuffle, 20);
    assert_int_equal(s.world.node_count, 8);
    assert_string_equal(s.world.node[4].name, "n5");
    assert_string_equal(s.world.node[5].name, "c08x");
    assert_string_equal(s.world.node[7].name, "c10x");
    assert_int_equal(s.world.mig_count, 1);
    assert_int_equal(s.world.team_count, 1);
    assert_int_equal(s.world.job_count, 4);
    assert_int_equal(s.world.job[2].submit_ns, 0);
    assert_int_equal(s.world.job[3].submit_ns, 6 * SECOND);

    assert_int_equal(s.running_count, 2);
    assert_int_equal(s.running[0].last_ckpt_ns, -300 * SECOND);
    assert_int_equal(s.running[0].seat[0].devices, 0x3F);
    assert_true(s.running[0].seat[0].devices_known);
    assert_int_equal(s.running[1].last_ckpt_ns, INT64_MIN);
    assert_int_equal(s.running[1].seat_count, 2);
    assert_int_equal(s.running[1].seat[1].node, 2);
    assert_false(s.running[1].seat[1].devices_known);
    assert_int_equal(s.world.job[1].podset[0].pods, 2);
    scenario_free(&s);
}

static void steps_keep_order_and_line(void **state)
{
    static const uint8_t kinds[] = {
        STEP_SUBMIT,   STEP_EXPECT,   STEP_SUBMIT,     STEP_STATE,     STEP_STATE,
        STEP_SET_NODE, STEP_SET_JOB,  STEP_SET_TEAM,   STEP_FINISH,    STEP_FAIL,
        STEP_CANCEL,   STEP_RECREATE, STEP_DELETE_POD, STEP_TERMINATE, STEP_RESTART,
        STEP_RESTART,  STEP_WATCH,    STEP_EXPECT,     STEP_EXPECT,
    };
    struct scenario s;
    struct err err;

    (void)state;
    assert_int_equal(read_text(&s, good, strlen(good), &err), 0);
    assert_int_equal(s.step_count, COUNT(kinds));
    for (size_t i = 0; i < COUNT(kinds); i++) {
        assert_int_equal(s.step[i].kind, kinds[i]);
        if (i < 18)
            assert_int_equal(s.step[i].line, 19 + i);
    }
    assert_int_equal(s.step[3].gpu, 3);
    assert_true(s.step[3].gpu_given);
    assert_int_equal(s.step[3].state, STATE_DOWN);
    assert_int_equal(s.step[4].length_ns, 99 * SECOND + SECOND / 2);
    assert_int_equal(s.step[5].node, 0);
    assert_string_equal(tree_find(s.step[5].change, "gpus")->text, "6");
    assert_int_equal(s.step[6].job, 2);
    assert_int_equal(s.step[7].team, 0);
    assert_int_equal(s.step[10].job, 0);
    assert_true(s.step[12].pod_given && s.step[12].pod == 1 && s.step[12].length_ns == -1);
    assert_int_equal(s.step[13].length_ns, 40 * SECOND);
    assert_true(!s.step[14].empty && s.step[15].empty);
    assert_true(s.step[16].twice && s.step[16].reorder_seed == 7 && s.step[16].times == 3);
    assert_int_equal(s.step[17].settle, 50);
    assert_int_equal(tree_find(s.step[17].expect, "free")->line, 45);
    assert_null(s.step[18].expect);
    assert_int_equal(s.further_count, 1);
    assert_string_equal(s.further[0].key, "expect broken");
    assert_int_equal(s.further[0].line, 49);
    scenario_free(&s);
}

#define TOP          "scenario: t\ncluster: {synthetic: \"leaf:2 host:2 gpu:8, host:1\"}\n"
#define BEGIN        TOP "timeline:\n- {at: 0, submit: {job: A, gpus: 1, run_s: 5}}\n"
#define STEP(rest)   BEGIN "- {at: 1, " rest "}\n"
#define EXPECT(rest) STEP("expect: {" rest "}")

static const char further_text[] =
    "scenario: t\nbind_s: 10\n"
    "cluster: {synthetic: \"host:2 gpu:8\"}\n"
    "teams: [{team: a, priority: 3, guarantee: [{gpus: 1, mem_mib: 5}]}]\n"
    "timeline:\n"
    "- {at: 0, submit: {job: A, run_s: 5, claim: k, podsets: [{gpus: 1, or: "
    "[{mig: a}]}, {name: w, gpus: 2, milli: 500, containers: [{kind: init}], "
    "overhead: {mem_mib: 4}}]}}\n"
    "- {at: 1, finish: {job: A, pod: 0}}\n"
    "- {at: 1, fail: {job: A, pod: 0}}\n"
    "- {at: 1, delete_pod: {job: A, pod: 1, back_s: 24, force: true}}\n"
    "- {at: 1, outside: {job: G, gpus: 1, run_s: 5, node: n1}}\n"
    "- {at: 1, reject: {node: n1, times: 3}}\n"
    "- {at: 1, bind_s: 10}\n"
    "- {at: 1, node: n1, state: notready}\n"
    "- {at: 1, node: n1, gpu: 3, state: sick}\n"
    "- {at: 2, expect: {sick: [A], rejected: {max: 10}, repaired: {count: 1, "
    "jobs: [A], gpus: 8}, granted: {A: {a: 2}}, decide_ms: {max: 1000}, "
    "waiting: {A: {free_gpus: 1, best_pods: {min: 2}}}}}\n";

/* Keys that a build may lack are read, checked and listed with their lines. */
static void further_keys_are_listed(void **state)
{
    static const struct scenario_further all[] = {
        {"team priority", 4},
        {"guarantee mem_mib", 4},
        {"bind_s", 2},
        {"or", 6},
        {"gpus with a share", 6},
        {"containers", 6},
        {"overhead", 6},
        {"claim", 6},
        {"finish of one pod", 7},
        {"fail of one pod", 8},
        {"back_s", 9},
        {"force", 9},
        {"outside", 10},
        {"reject", 11},
        {"notready", 13},
        {"sick", 14},
        {"expect sick", 15},
        {"expect rejected", 15},
        {"expect repaired", 15},
        {"expect granted", 15},
        {"expect decide_ms", 15},
        {"expect waiting free_gpus", 15},
        {"expect waiting best_pods", 15},
    };
    struct scenario s;
    struct err err = {""};

    (void)state;
    if (read_text(&s, further_text, strlen(further_text), &err))
        fail_msg("%s", err.text);
    assert_int_equal(s.further_count, COUNT(all));
    for (size_t i = 0; i < COUNT(all); i++) {
        bool found = false;

        for (uint32_t f = 0; f < s.further_count; f++)
            found = found ||
                    (strcmp(s.further[f].key, all[i].key) == 0 && s.further[f].line == all[i].line);
        if (!found)
            fail_msg("%s", all[i].key);
    }
    assert_int_equal(s.step[0].kind, STEP_BIND);
    assert_int_equal(s.step[0].length_ns, 10 * SECOND);
    assert_int_equal(s.step[4].length_ns, 24 * SECOND);
    assert_true(s.step[4].force);
    assert_int_equal(s.step[5].outside->seat[0].node, 1);
    assert_int_equal(s.step[6].times, 3);
    scenario_free(&s);
}

static const struct {
    const char *why, *text, *said;
} wrong[] = {
    {"an empty file", "", ":1: found nothing"},
    {"a list", "- a\n", ":1: found a list of 1, expected a scenario"},
    {"broken YAML", "scenario: [\n", "found broken YAML"},
    {"no name", "cluster: {synthetic: \"host:1\"}\ntimeline: []\n", ":1: found no \"scenario\""},
    {"an unknown key", TOP "timelime: []\n",
     ":3: found the unknown key \"timelime\", expected one "
     "of scenario from"},
    {"no cluster", "scenario: t\ntimeline: []\n", ":1: found no \"cluster\""},
    {"no timeline", TOP, ":1: found no \"timeline\""},
    {"an unknown order", "scenario: t\nconfig: {order: lifo}\n",
     ":2: found \"order\": \"lifo\", expected one of fifo priority"},
    {"a delay below none", "scenario: x\nconfig: {breach_s: -1}\n",
     ":2: found \"breach_s\": -1, expected"},
    {"an unknown setting", "scenario: t\nconfig: {seed: 1}\n",
     ":2: found the unknown key \"seed\""},
    {"two kinds of cluster", "scenario: t\ncluster: {synthetic: \"host:1\", nodes: []}\n",
     ":2: found more than one of synthetic"},
    {"no nodes", "scenario: t\ncluster: {nodes: []}\n", ":2: found no \"nodes\""},
    {"a wrong synthetic text", "scenario: t\ncluster:\n  synthetic: \"hosts:1\"\n",
     ":3: found \"the end\" at character 8, expected a host"},
    {"a file that is not there", "scenario: t\ncluster: {file: no-such-cluster.jsonl}\n",
     "/proc/self/fd/no-such-cluster.jsonl: found no such file"},
    {"an unknown key of a node", "scenario: t\ncluster: {nodes: [{node: a, gpu: 1}]}\n",
     ":2: found the unknown key \"gpu\""},
    {"node and nodes", "scenario: t\ncluster: {nodes: [{node: a, nodes: \"a[1-2]\", gpus: 1}]}\n",
     ":2: found \"nodes\""},
    {"no range", "scenario: t\ncluster: {nodes: [{nodes: \"a\", gpus: 1}]}\n",
     ":2: found \"nodes\": \"a\", expected a name with one range"},
    {"half a range", "scenario: t\ncluster: {nodes: [{nodes: \"a[1-]\", gpus: 1}]}\n",
     ":2: found \"nodes\""},
    {"two ranges", "scenario: t\ncluster: {nodes: [{nodes: \"a[1-2][1-2]\", gpus: 1}]}\n",
     ":2: found \"nodes\""},
    {"a falling range", "scenario: t\ncluster: {nodes: [{nodes: \"a[3-2]\", gpus: 1}]}\n",
     "expected a range that rises"},
    {"a huge range", "scenario: t\ncluster: {nodes: [{nodes: \"a[0-9999999]\", gpus: 1}]}\n",
     "expected a range that rises, of at most 1000000"},
    {"a node twice",
     "scenario: t\ncluster: {nodes: [{nodes: \"a[1-2]\", gpus: 1}, {node: a2, gpus: 1}]}\n",
     ":2: found node \"a2\" a second time"},
    {"a shape with an unknown key", "scenario: t\ncluster: {shapes: {s: {gpus: 1, nic: 2}}}\n",
     ":2: found the unknown key \"nic\""},
    {"an unknown team key", TOP "teams: [{team: a, limit: 3}]\n",
     ":3: found the unknown key \"limit\""},
    {"a running job without a place", TOP "running: [{job: r, run_s: 1}]\n",
     ":3: found no \"node\""},
    {"a running job on an unknown node", TOP "running: [{job: r, run_s: 1, node: x}]\n",
     ":3: found \"node\": \"x\", expected a node"},
    {"too few devices", TOP "running: [{job: r, run_s: 1, gpus: 2, node: n0, devices: [1]}]\n",
     ":3: found 1 devices, expected 2"},
    {"a device twice", TOP "running: [{job: r, run_s: 1, gpus: 2, node: n0, devices: [1, 1]}]\n",
     ":3: found 1, expected every device once"},
    {"a device beyond the node",
     TOP "running: [{job: r, run_s: 1, gpus: 1, node: n0, devices: [8]}]\n",
     ":3: found 8, expected a whole number from 0 to 7"},
    {"a device in use",
     TOP "running:\n- {job: r, run_s: 1, gpus: 1, node: n0, devices: [3]}\n- {job: q, "
         "run_s: 1, gpus: 1, milli: 5, node: n0, devices: [3]}\n",
     ":5: found a device of node \"n0\" in use already"},
    {"too many places",
     TOP "running: [{job: r, run_s: 1, pods: 1, at: [{node: n0}, {node: n1}]}]\n",
     ":3: found 2 places, expected 1 to 1"},
    {"two kinds of place", TOP "running: [{job: r, run_s: 1, node: n1, at: [{node: n0}]}]\n",
     ":3: found \"at\""},
    {"devices of several pods",
     TOP "running: [{job: r, run_s: 1, pods: 2, gpus: 1, node: n1, devices: [1]}]\n",
     ":3: found devices of 2 pods"},
    {"a step that is a text", TOP "timeline: [go]\n", ":3: found \"go\", expected a step"},
    {"a step without a time", TOP "timeline: [{finish: A}]\n", ":3: found no \"at\""},
    {"a negative time", TOP "timeline: [{at: -1, restart: empty}]\n", ":3: found \"at\": -1"},
    {"time runs backwards", TOP "timeline:\n- {at: 2, restart: empty}\n- {at: 1, restart: empty}\n",
     ":5: found \"at\": 1, expected no time before"},
    {"nothing to do", TOP "timeline: [{at: 1}]\n", ":3: found a step that does nothing"},
    {"an unknown action", TOP "timeline: [{at: 1, finnish: A}]\n",
     ":3: found the unknown key \"finnish\""},
    {"two actions", STEP("finish: A, fail: A"), ":5: found fail beside finish"},
    {"a job with an unknown key", TOP "timeline: [{at: 1, submit: {job: A, run_s: 1, gpu: 1}}]\n",
     ":3: found the unknown key \"gpu\""},
    {"a job that says when", TOP "timeline: [{at: 1, submit: {job: A, run_s: 1, submit_s: 1}}]\n",
     ":3: found the unknown key \"submit_s\""},
    {"a job twice", STEP("submit: {job: A, run_s: 1}"), ":5: found \"job\": \"A\""},
    {"a job that is a text", STEP("submit: B"), ":5: found \"submit\": \"B\", expected a job"},
    {"a job that is none", STEP("finish: B"), ":5: found \"finish\": \"B\", expected a job"},
    {"no way at all", STEP("submit: {job: B, run_s: 9, gpus: 1, or: []}"),
     ":5: found \"or\": a list of 0, expected one to eight ways"},
    {"a share beside its ways",
     STEP("submit: {job: B, run_s: 9, gpus: 1, milli: 500, or: [{milli: 9}]}"),
     ":5: found \"or\": a list of 1, expected the share inside each way"},
    {"ways of pods in slices",
     STEP("submit: {job: B, run_s: 9, gpus: 1, pods: 2, slice_pods: 2, slice_level: node, or: "
          "[{gpus: 2}]}"),
     ":5: found \"or\": a list of 1, expected it without slice_pods"},
    {"a way of something else", STEP("submit: {job: B, run_s: 9, or: [{cpu_milli: 9}]}"),
     ":5: found the unknown key \"cpu_milli\""},
    {"a way by profile on two devices", STEP("submit: {job: B, run_s: 9, or: [{gpus: 2, mig: a}]}"),
     ":5: found \"mig\" with gpus 2, expected gpus 1"},
    {"a pod of a cancel", STEP("cancel: {job: A, pod: 1}"), ":5: found the unknown key \"pod\""},
    {"a deleted pod without a number", STEP("delete_pod: {job: A}"), ":5: found no \"pod\""},
    {"a state of nobody", STEP("state: down"), ":5: found a step that does nothing"},
    {"a node without a state", STEP("node: n1"), ":5: found no \"state\""},
    {"an unknown state", STEP("node: n1, state: off"), ":5: found \"state\": \"off\""},
    {"a leave without a time", STEP("node: n1, state: leave"), ":5: found no \"leave_at\""},
    {"a leave in the past", STEP("node: n1, state: leave, leave_at: 0.5"),
     ":5: found \"leave_at\": 0.5"},
    {"a time beside down", STEP("node: n1, state: down, leave_at: 5"), ":5: found \"leave_at\""},
    {"sick without a device", STEP("node: n1, state: sick"), ":5: found no \"gpu\""},
    {"a device beyond the node", STEP("node: n1, state: up, gpu: 8"), ":5: found \"gpu\": 8"},
    {"a device of no GPUs", STEP("node: n4, state: up, gpu: 0"), ":5: found \"gpu\": 0"},
    {"a set of nothing", STEP("set: {node: n1}"),
     ":5: found \"set\": a map of 1, expected at least"},
    {"a set of two", STEP("set: {node: n1, job: A}"), ":5: found \"set\""},
    {"a set with an unknown key", STEP("set: {job: A, gpus: 1}"),
     ":5: found the unknown key \"gpus\""},
    {"a set with an unknown level", STEP("set: {node: n1, domains: {rack: r}}"),
     ":5: found \"rack\""},
    {"a minimum above the pods", STEP("set: {job: A, pods: 2, min_pods: 3}"),
     ":5: found \"min_pods\": 3"},
    {"an unknown team", STEP("set: {team: t, weight: 1}"), ":5: found \"team\": \"t\""},
    {"an unknown restart", STEP("restart: node"), ":5: found \"restart\": \"node\""},
    {"an unknown watch", STEP("watch: {delay: 1}"), ":5: found the unknown key \"delay\""},
    {"a termination without a time", STEP("terminate_s: {job: A}"), ":5: found no \"s\""},
    {"a rejection of both", STEP("reject: {job: A, node: n1}"), ":5: found \"reject\""},
    {"a settle of none", STEP("settle: 0, expect: {}"), ":5: found \"settle\": 0"},
    {"an unknown expectation", EXPECT("runing: [A]"), ":5: found the unknown key \"runing\""},
    {"a job that is none there", EXPECT("running: [A, B]"), ":5: found \"B\", expected a job"},
    {"a job that is none in a map", EXPECT("waiting: {B: {}}"), ":5: found \"B\", expected a job"},
    {"an unknown part", EXPECT("waiting: {A: {reason: x}}"),
     ":5: found the unknown key \"reason\""},
    {"an unknown binding", EXPECT("waiting: {A: {binding: [gpu]}}"),
     ":5: found \"gpu\", expected one of busy"},
    {"fits in words", EXPECT("waiting: {A: {fits: maybe}}"), ":5: found \"fits\": \"maybe\""},
    {"an unknown node", EXPECT("place: {A: {node: [x]}}"), ":5: found \"x\", expected a node"},
    {"an unknown level", EXPECT("place: {A: {same: rack}}"), ":5: found \"same\": \"rack\""},
    {"any inside any", EXPECT("place: {A: {any: [{any: []}]}}"),
     ":5: found the unknown key \"any\""},
    {"a device that is none", EXPECT("place: {A: {devices: [[16]]}}"), ":5: found 16"},
    {"an amount in words", EXPECT("evicted: {count: few}"), ":5: found \"count\": \"few\""},
    {"an empty range", EXPECT("wait_s: {A: {min: 2, max: 1}}"),
     ":5: found \"A\": a map of 2, expected a min"},
    {"a range of nothing", EXPECT("wait_s: {A: {}}"),
     ":5: found \"A\": a map of 0, expected min, max"},
    {"a shape in words", EXPECT("free: {shape: {all: 1}}"),
     ":5: found all, expected a whole number"},
    {"a level without GPUs", EXPECT("free: {level: leaf, count: 1}"), ":5: found no \"gpus\""},
    {"an unknown grade", EXPECT("grade: {A: sure}"),
     ":5: found \"A\": \"sure\", expected one of known"},
    {"metrics in a list", EXPECT("metrics: [a]"), ":5: found \"metrics\""},
    {"never inside never", EXPECT("never: [{never: []}]"), ":5: found the unknown key \"never\""},
};

static void wrong_scenarios_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct scenario s;
        struct err err = {""};

        if (read_text(&s, wrong[i].text, strlen(wrong[i].text), &err) != ERR_INPUT)
            fail_msg("%s: not refused", wrong[i].why);
        if (!strstr(err.text, wrong[i].said) || !strstr(err.text, ", expected "))
            fail_msg("%s: %s", wrong[i].why, err.text);
        assert_null(s.memory);
    }
}

/* `file:` is looked for beside the scenario. */
static void a_cluster_file_stands_beside(void **state)
{
    static const char text[] = "scenario: t\ncluster: {file: c.jsonl}\ntimeline: []\n";
    static const char cluster[] =
        "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\"}\n"
        "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":2}\n";
    const char *base = getenv("TMPDIR");
    char folder[200], path[2][300];
    struct scenario s;
    struct err err = {""};

    (void)state;
    (void)snprintf(folder, sizeof(folder), "%s/scenario-XXXXXX", base && *base ? base : P_tmpdir);
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path[i], sizeof(path[i]), "%s/%s", folder, i ? "c.jsonl" : "s.yaml");
        FILE *file = fopen(path[i], "w");
        assert_non_null(file);
        (void)fputs(i ? cluster : text, file);
        (void)fclose(file);
    }
    if (scenario_read(&s, path[0], &err))
        fail_msg("%s", err.text);
    assert_int_equal(s.world.node_count, 1);
    scenario_free(&s);
    (void)unlink(path[0]);
    (void)unlink(path[1]);
    (void)rmdir(folder);
}

/* Cut anywhere, the text is refused or read as what is left of it; nothing leaks. */
static void cut_scenarios_do_no_harm(void **state)
{
    (void)state;
    for (size_t length = 0; length < strlen(good); length += 7) {
        struct scenario s;
        struct err err = {""};

        if (read_text(&s, good, length, &err) == 0)
            scenario_free(&s);
        else
            assert_non_null(strstr(err.text, ", expected "));
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_world_is_read),
        cmocka_unit_test(steps_keep_order_and_line),
        cmocka_unit_test(further_keys_are_listed),
        cmocka_unit_test(wrong_scenarios_are_named),
        cmocka_unit_test(a_cluster_file_stands_beside),
        cmocka_unit_test(cut_scenarios_do_no_harm),
    };

    return cmocka_run_group_tests_name("scenario", tests, NULL, NULL);
}
