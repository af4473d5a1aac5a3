/* The virtual cluster with a script: what holds, what does not, and how that is told. */
#include "edge/sim/scenario_run.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Line 1 and 2 of every scenario here: two nodes of four devices, the first in two pairs. */
#define TOP                                                                                        \
    "scenario: t\n"                                                                                \
    "cluster: {chains: {network: [leaf]}, shapes: {pairs: {gpus: 4, islands: [[0, 1], [2, 3]]}}, " \
    "nodes: [{node: n1, gpus: 4, shape: pairs, domains: {leaf: a}}, {node: n2, gpus: 4, "          \
    "domains: {leaf: a}}]}\n"
#define STEPS "timeline:\n"
/* Lines 4 and 5 where it stands first. */
#define TWO                                                                                        \
    "- {at: 0, submit: {job: A, gpus: 4, run_s: 100}}\n"                                           \
    "- {at: 0, submit: {job: B, gpus: 4, run_s: 200}}\n"

static int run_text(const char *text, struct out *report, struct scenario_result *result,
                    struct err *err)
{
    struct memfile f;
    int code;

    memfile_open(&f);
    memfile_set(&f, text, strlen(text));
    code = scenario_run(f.path, report, result, err);
    memfile_close(&f);
    return code;
}

struct row {
    const char *why, *text;
    uint32_t failures;
    const char *said; /* a part of the report; NULL: it is empty */
};

static void check_row(const struct row *r)
{
    struct out report = {NULL, 0, 0};
    struct scenario_result result;
    struct err err = {""};

    if (run_text(r->text, &report, &result, &err))
        fail_msg("%s: %s", r->why, err.text);
    if (result.failures != r->failures)
        fail_msg("%s: %u failures, expected %u: %s", r->why, result.failures, r->failures,
                 report.bytes ? report.bytes : "");
    if (r->said ? !report.bytes || !strstr(report.bytes, r->said) : report.length > 0)
        fail_msg("%s: expected `%s`, found `%s`", r->why, r->said ? r->said : "",
                 report.bytes ? report.bytes : "");
    out_free(&report);
}

static const struct row expect_rows[] = {
    {"both run", TOP STEPS TWO "- {at: 1, expect: {running: [A, B]}}\n", 0, NULL},
    {"one job needs no list", TOP STEPS TWO "- {at: 1, expect: {running: A}}\n", 0, NULL},
    {"a job that ended does not run", TOP STEPS TWO "- {at: 101, expect: {running: [A, B]}}\n", 1,
     ":6: at 101 s: expected running: A, found A at its end"},
    {"an end at the moment of a step comes first",
     TOP STEPS TWO "- {at: 100, expect: {running: {only: [B]}}}\n", 0, NULL},
    {"a job that nobody sent yet",
     TOP STEPS "- {at: 1, expect: {waiting: [A]}}\n- {at: 2, submit: {job: A, run_s: 1}}\n", 1,
     ":4: at 1 s: expected waiting: A, found A not there yet"},
    {"each failure of a list is told",
     TOP STEPS TWO "- {at: 1, expect: {waiting: [A, B], evicted: [A]}}\n", 3,
     "expected evicted: A, found A on n"},
    {"devices of one pod",
     TOP STEPS
     "- {at: 0, submit: {job: A, gpus: 2, run_s: 9}}\n"
     "- {at: 1, expect: {place: {A: {linked: true, nodes: 1, same: node, differ: node}}}}\n",
     0, NULL},
    {"another place than any of these",
     TOP STEPS TWO
     "- {at: 1, expect: {place: {A: {any: [{node: n1, devices: [0]}, {devices: [[1, 2]]}]}}}}\n",
     1, "expected place: A: {any: [{node: n1, devices: [0]}, {devices: [[1, 2]]}]}, found A on n"},
    {"pods of a gang in any order",
     TOP STEPS
     "- {at: 0, submit: {job: A, pods: 2, gpus: 4, run_s: 9}}\n"
     "- {at: 1, expect: {place: {A: {node: [n2, n1], devices: [[0, 1, 2, 3], [3, 2, 1, 0]]}}}}\n",
     0, NULL},
    {"a node too many", TOP STEPS TWO "- {at: 1, expect: {place: {A: {node: [n1, n2]}}}}\n", 1,
     "expected place: A: {node: [n1, n2]}"},
    {"an amount below its least",
     TOP STEPS TWO "- {at: 1, submit: {job: C, gpus: 4, run_s: 9}}\n"
                   "- {at: 50, expect: {wait_s: {C: {min: 50}}}}\n",
     1, ":7: at 50 s: expected wait_s: C: {min: 50}, found 49"},
    {"what is free",
     TOP STEPS
     "- {at: 0, submit: {job: A, gpus: 1, milli: 250, run_s: 9}}\n"
     "- {at: 1, expect: {free: [{gpus: 7.75, shape: {1: 7, 2: 3, 4: 1}}, {level: leaf, gpus: 8, "
     "count: 0}]}}\n",
     0, NULL},
    {"what is free inside a host",
     TOP "running: [{job: O, gpus: 1, node: n1, devices: [0], run_s: 9}]\n" STEPS
         "- {at: 1, expect: {free: [{level: island, gpus: 2, count: 1}, {level: cluster, gpus: 4, "
         "count: 1}]}}\n",
     0, NULL},
    {"what is not free", TOP STEPS TWO "- {at: 1, expect: {free: {gpus: 1, shape: {4: 1}}}}\n", 2,
     "expected free: shape: 4: 1, found 0"},
    {"figures",
     TOP STEPS TWO "- {at: 201, expect: {metrics: {jobs: 2, finished: 2, jct_s_mean: 150, sor_pct: "
                   "{max: 80}}}}\n",
     0, NULL},
    {"a figure that nobody keeps", TOP STEPS TWO "- {at: 1, expect: {metrics: {luck: 1}}}\n", 1,
     "no figure of that name"},
    {"grades",
     TOP
     "running: [{job: O, gpus: 2, node: n1, run_s: 9}, {job: K, gpus: 1, node: n2, devices: [3], "
     "run_s: 9}]\n" STEPS "- {at: 0, submit: {job: A, gpus: 1, run_s: 9}}\n"
     "- {at: 1, expect: {grade: {O: unknown, K: known, A: planned}}}\n"
     "- {at: 2, expect: {grade: {O: known}}}\n",
     1, ":7: at 2 s: expected grade: O: known, found unknown"},
    {"no promise is made", TOP STEPS TWO "- {at: 1, expect: {promised: {A: {by: 9}}}}\n", 1,
     "expected promised"},
    {"what may never be, and was for a while",
     TOP STEPS TWO "- {at: 150, expect: {never: [{running: {only: [B]}}, {waiting: [A, B]}]}}\n", 1,
     ":6: at 150 s: expected never: {running: {only: [B]}}, found it at 100 s"},
};

static void expectations_hold_or_are_told(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(expect_rows); n++)
        check_row(&expect_rows[n]);
}

static const struct row reason_rows[] = {
    {"every part of a reason",
     TOP STEPS TWO
     "- {at: 1, submit: {job: C, pods: 2, gpus: 4, required: leaf, run_s: 9}}\n"
     "- {at: 2, expect: {waiting: {C: {fits: false, code: shortage, binding: [busy], text: asked, "
     "free_gpus: 0, best_pods: 0}}}}\n",
     0, NULL},
    {"a limit that does not bind",
     TOP STEPS TWO "- {at: 1, submit: {job: C, gpus: 4, run_s: 9}}\n"
                   "- {at: 2, expect: {waiting: {C: {binding: [cpu]}}}}\n",
     1,
     "expected waiting: C: {binding: [cpu]}, found {fits: false, code: shortage, binding: [busy]"},
    {"an empty list means none",
     TOP STEPS TWO "- {at: 1, submit: {job: C, gpus: 4, run_s: 9}}\n"
                   "- {at: 2, expect: {waiting: {C: {binding: []}}}}\n",
     1, "found {fits: false"},
    {"a limit of the team",
     "teams: [{team: r, limit_gpus: 4}]\n" TOP STEPS
     "- {at: 0, submit: {job: A, gpus: 3, team: r, run_s: 9}}\n"
     "- {at: 0, submit: {job: B, gpus: 2, team: r, run_s: 9}}\n"
     "- {at: 1, expect: {waiting: {B: {fits: true, code: quota, binding: []}}}}\n"
     "- {at: 2, set: {team: r, limit_gpus: 5}}\n"
     "- {at: 2, expect: {running: [A, B]}}\n",
     0, NULL},
};

static void reasons_are_compared(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(reason_rows); n++)
        check_row(&reason_rows[n]);
}

static const struct row step_rows[] = {
    {"a restart from the journal",
     TOP STEPS TWO
     "- {at: 1, restart: scheduler}\n- {at: 2, expect: {running: [A, B], grade: {A: planned}}}\n",
     0, NULL},
    {"a restart from a list",
     TOP STEPS TWO "- {at: 1, restart: empty}\n- {at: 2, restart: scheduler}\n"
                   "- {at: 3, expect: {running: [A, B], grade: {A: known}}}\n",
     0, NULL},
    {"a node that leaves goes down at its time",
     TOP STEPS TWO "- {at: 1, node: n1, state: leave, leave_at: 50}\n"
                   "- {at: 51, expect: {metrics: {failures: 1}}}\n",
     0, NULL},
    {"a device down fails who sits on it",
     TOP
     "running: [{job: A, gpus: 2, node: n1, devices: [0, 1], run_s: 99}, {job: B, gpus: 1, node: "
     "n1, devices: [2], run_s: 99}]\n" STEPS "- {at: 1, node: n1, gpu: 1, state: down}\n"
     "- {at: 2, expect: {metrics: {failures: 1}, running: [A, B], place: {A: {nodes: 1}}}}\n",
     0, NULL},
    {"a pod that takes its time to go",
     TOP STEPS TWO
     "- {at: 1, terminate_s: {job: A, s: 10}}\n- {at: 2, recreate: A}\n"
     "- {at: 11.9, expect: {waiting: [A], free: {gpus: 0}}}\n- {at: 12, expect: {running: [A]}}\n",
     0, NULL},
    {"an end by itself takes no time",
     TOP STEPS TWO "- {at: 1, terminate_s: {job: A, s: 10}}\n- {at: 2, finish: A}\n"
                   "- {at: 2, expect: {free: {gpus: 4}}}\n",
     0, NULL},
    {"a gang that runs gets another size",
     TOP STEPS
     "- {at: 0, submit: {job: A, pods: 2, gpus: 2, run_s: 99}}\n"
     "- {at: 1, set: {job: A, pods: 4}}\n- {at: 2, expect: {running: [A], free: {gpus: 0}}}\n"
     "- {at: 3, set: {job: A, pods: 1}}\n"
     "- {at: 4, expect: {running: [A], free: {gpus: 6}, evicted: {pods: 0}}}\n",
     0, NULL},
    {"a pod of a gang is deleted and returns",
     TOP STEPS "- {at: 0, submit: {job: A, pods: 2, gpus: 1, run_s: 99}}\n"
               "- {at: 1, delete_pod: {job: A, pod: 0, back_s: 5}}\n"
               "- {at: 2, expect: {broken: {A: 1}, running: {only: []}, waiting: [A]}}\n"
               "- {at: 7, expect: {broken: {}, running: [A]}}\n",
     0, NULL},
    {"a whole gang is not broken",
     TOP STEPS "- {at: 0, submit: {job: A, pods: 2, gpus: 1, run_s: 99}}\n"
               "- {at: 1, expect: {broken: {A: 2}}}\n",
     1, "expected broken: A: 2, found A on"},
    {"a broken gang is not none",
     TOP STEPS "- {at: 0, submit: {job: A, pods: 2, gpus: 1, run_s: 99}}\n"
               "- {at: 1, delete_pod: {job: A, pod: 0, back_s: 5}}\n"
               "- {at: 2, expect: {broken: {}}}\n",
     1, "expected broken: {}, found A below its minimum on"},
    {"nobody was stopped", TOP STEPS TWO "- {at: 1, expect: {evicted: {only: [A]}}}\n", 1,
     "expected evicted: A, found A on"},
    {"nothing was repaired", TOP STEPS TWO "- {at: 1, expect: {repaired: {count: 1}}}\n", 1,
     "expected repaired: {count: 1}, found 0 jobs, 0 GPUs"},
    {"another way was granted",
     TOP STEPS "- {at: 0, submit: {job: A, pods: 3, run_s: 9, or: [{gpus: 4}, {gpus: 2}]}}\n"
               "- {at: 1, expect: {granted: {A: {4: 1, 2: 1}}}}\n",
     1, "expected granted: 2: 1, found 2"},
    {"a promise of another time and place",
     "config: {order: easy}\n" TOP STEPS
     "- {at: 0, submit: {job: A, gpus: 4, run_s: 100, est_s: 100}}\n"
     "- {at: 0, submit: {job: B, gpus: 4, run_s: 200, est_s: 200}}\n"
     "- {at: 1, submit: {job: C, gpus: 4, run_s: 9, est_s: 9}}\n"
     "- {at: 2, expect: {promised: {C: {by: 100}}}}\n"
     "- {at: 3, expect: {promised: {C: {by: 200}}}}\n",
     1, "expected promised: C: {by: 200}, found by 100 s on n"},
    {"another scheduler takes what is in use",
     TOP STEPS TWO "- {at: 1, outside: {job: C, gpus: 1, node: n1, devices: [0], run_s: 9}}\n", 1,
     "expected room for what another scheduler started"},
    {"orders on the core's side leave the names alone",
     "shuffle: 9\n" TOP "running: [{job: O, gpus: 1, node: n1, devices: [3], run_s: 9}]\n" STEPS
     "- {at: 0, submit: {job: A, gpus: 1, run_s: 9}}\n- {at: 1, expect: {place: {A: {node: n1, "
     "devices: [2]}}}}\n",
     0, NULL},
};

static void steps_change_the_truth(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(step_rows); n++)
        check_row(&step_rows[n]);
}

#define WATCH(how) "- {at: 0, watch: {" how "}}\n"

static const struct row watch_rows[] = {
    {"a job that is heard of late",
     TOP STEPS WATCH("delay_s: 5") TWO "- {at: 4.9, expect: {waiting: [A, B]}}\n- {at: 5, expect: "
                                       "{running: [A, B], wait_s: {A: 5}}}\n",
     0, NULL},
    {"twice is once",
     TOP STEPS WATCH("double: true") TWO
     "- {at: 1, cancel: A}\n- {at: 2, recreate: B}\n- {at: 3, expect: {running: {only: [B]}}}\n",
     0, NULL},
    {"other orders, the same end",
     TOP STEPS WATCH("reorder: 3, delay_s: 1") TWO
     "- {at: 1, node: n1, state: drain}\n- {at: 1.1, node: n1, state: up}\n"
     "- {at: 9, expect: {running: [A, B]}}\n",
     0, NULL},
    {"lost, then listed",
     TOP STEPS WATCH("drop: 2") TWO
     "- {at: 0.5, expect: {waiting: [A, B]}}\n- {at: 1, expect: {running: [A, B]}}\n",
     0, NULL},
    {"a bind on a node that is gone is refused",
     TOP STEPS "- {at: 0, submit: {job: A, gpus: 4, run_s: 99}}\n" WATCH(
         "delay_s: 3") "- {at: 1, node: n2, state: down}\n- {at: 1, watch: {delay_s: 0}}\n"
                       "- {at: 1.5, submit: {job: B, gpus: 4, run_s: 99}}\n"
                       "- {at: 2, expect: {running: {only: [A]}, rejected: 1}}\n",
     0, NULL},
};

static void news_may_be_late_or_lost(void **state)
{
    (void)state;
    for (size_t n = 0; n < COUNT(watch_rows); n++)
        check_row(&watch_rows[n]);
}

static void wrong_files_are_errors(void **state)
{
    struct out report = {NULL, 0, 0};
    struct scenario_result result;
    struct err err;

    (void)state;
    assert_int_equal(run_text("scenario: t\n", &report, &result, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, ":1: "));
    assert_int_equal(run_text("config: {policy: luck}\n" TOP STEPS TWO, &report, &result, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "found policy \"luck\""));
    assert_int_equal(report.length, 0);
}

static void rounds_are_counted(void **state)
{
    struct out report = {NULL, 0, 0};
    struct scenario_result result;
    struct err err;

    (void)state;
    assert_int_equal(run_text("shuffle: 4\n" TOP STEPS TWO "- {at: 1, expect: {running: [A, B]}}\n",
                              &report, &result, &err),
                     0);
    assert_int_equal(result.rounds, 5);
    assert_int_equal(result.checks, 5);
    assert_int_equal(result.failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectations_hold_or_are_told), cmocka_unit_test(reasons_are_compared),
        cmocka_unit_test(steps_change_the_truth),        cmocka_unit_test(news_may_be_late_or_lost),
        cmocka_unit_test(wrong_files_are_errors),        cmocka_unit_test(rounds_are_counted),
    };

    return cmocka_run_group_tests_name("scenario_run", tests, NULL, NULL);
}
