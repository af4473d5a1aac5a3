/* Small clusters as text, and the figures that a person would work out for them. */
#include "edge/audit/figures.h"

#include "edge/audit/report.h"
#include "edge/audit/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NOW_S    1764547200 /* 2025-12-01T00:00:00Z */

/* A cluster on the books. */
struct fixture {
    struct facts f;
    struct books b;
    struct figures g;
    struct report r;
};

static void set_up(struct fixture *x, const char *yaml)
{
    struct stream s = {.object = facts_object, .context = &x->f};
    struct err err;

    facts_open(&x->f);
    if (stream_bytes(&s, "dump", yaml, strlen(yaml), &err) || facts_settle(&x->f, NULL, &err) ||
        books_open(&x->b, &x->f, &err))
        fail_msg("%s", err.text);
    figures_open(&x->g, &x->b, NOW_S);
    x->r = (struct report){.f = &x->f, .b = &x->b, .g = &x->g};
}

static void tear_down(struct fixture *x)
{
    figures_close(&x->g);
    books_close(&x->b);
    facts_close(&x->f);
}

#define NODE_OF(name, gpus, more, spec)                                                            \
    "---\nkind: Node\nmetadata: {name: " name ", labels: {nvidia.com/gpu.product: A100" more       \
    "}}\nspec: {" spec "}\nstatus: {allocatable: {cpu: '16', memory: 64Gi, pods: '10', "           \
    "nvidia.com/gpu: '" gpus "'}, capacity: {cpu: '16', memory: 64Gi, pods: '10', "                \
    "nvidia.com/gpu: '8'}}\n"
#define NODE(name)       NODE_OF(name, "8", "", "")
#define RACK(name, rack) NODE_OF(name, "8", ", cloud.provider.com/topology-rack: " rack, "")
#define POD_OF(name, gpus, meta, spec, status)                                                     \
    "---\nkind: Pod\nmetadata: {name: " name ", namespace: t" meta                                 \
    "}\nspec: {containers: [{resources: {requests: {nvidia.com/gpu: '" gpus "'" spec               \
    "}\nstatus: {phase: " status "}\n"
#define RUNS(name, gpus, node)  POD_OF(name, gpus, "", "}}}], nodeName: " node, "Running")
#define WAITS(name, gpus, more) POD_OF(name, gpus, "", more, "Pending")
#define GANG(name, job)         ", labels: {training.kubeflow.org/job-name: " job "}"

/* Init containers, sidecars, overhead and resources of the whole pod, as the kubelet adds them. */
static void asks_are_the_kubelets(void **state)
{
    static const struct {
        const char *why, *spec;
        int64_t cpu_milli, mem_mib;
        uint32_t gpus;
    } row[] = {
        {"containers add up",
         "containers: [{resources: {requests: {cpu: 1, memory: 1Gi}}}, "
         "{resources: {requests: {cpu: 500m}}}]",
         1500, 1024, 0},
        {"an init container that needs more is the peak",
         "containers: [{resources: {requests: {cpu: 1}}}], "
         "initContainers: [{resources: {requests: {cpu: 3}}}, {resources: {requests: {cpu: 2}}}]",
         3000, 0, 0},
        {"a sidecar runs beside the containers",
         "containers: [{resources: {requests: {cpu: 1}}}], "
         "initContainers: [{restartPolicy: Always, resources: {requests: {cpu: 2}}}]",
         3000, 0, 0},
        {"an init container runs beside the sidecars before it, not those after it",
         "containers: [{resources: {requests: {cpu: 1}}}], initContainers: "
         "[{restartPolicy: Always, resources: {requests: {cpu: 2}}}, "
         "{resources: {requests: {cpu: 4}}}, "
         "{restartPolicy: Always, resources: {requests: {cpu: 1}}}]",
         6000, 0, 0},
        {"what the pod as a whole says replaces the sum, and overhead comes on top",
         "containers: [{resources: {requests: {cpu: 1, memory: 1Gi}}}], "
         "resources: {requests: {cpu: 5}}, overhead: {cpu: 250m, memory: 10Mi}",
         5250, 1034, 0},
        {"devices in limits alone", "containers: [{resources: {limits: {nvidia.com/gpu: 2}}}]", 0,
         0, 2},
        {"devices of an init container are used again",
         "containers: [{resources: {requests: {nvidia.com/gpu: 2}}}], "
         "initContainers: [{resources: {requests: {nvidia.com/gpu: 4}}}]",
         0, 0, 4},
        {"another vendor's", "containers: [{resources: {requests: {huawei.com/Ascend910: 8}}}]", 0,
         0, 8},
        {"parts of a card are no cards",
         "containers: [{resources: {requests: {huawei.com/Ascend910-2c: 1}}}]", 0, 0, 0},
    };

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        struct fixture x;
        struct out text = {NULL, 0, 0};

        out_format(&text, "kind: Pod\nmetadata: {name: a}\nspec: {%s}\n", row[n].spec);
        set_up(&x, text.bytes);
        assert_int_equal(x.f.pod_count, 1);
        if (x.f.pod[0].cpu_milli != row[n].cpu_milli || x.f.pod[0].mem_mib != row[n].mem_mib ||
            x.f.pod[0].gpus != row[n].gpus)
            fail_msg("%s: %lld milli, %lld MiB, %u GPUs", row[n].why,
                     (long long)x.f.pod[0].cpu_milli, (long long)x.f.pod[0].mem_mib,
                     x.f.pod[0].gpus);
        tear_down(&x);
        out_free(&text);
    }
}

static void every_gpu_is_in_one_state(void **state)
{
    struct fixture x;
    const struct figures_capacity *c = &x.g.sum;

    (void)state;
    set_up(&x,
           NODE("a") NODE_OF("b", "7", "", "") NODE_OF("c", "8", "", "unschedulable: true")
               RUNS("p", "3", "a") RUNS("q", "2", "b") RUNS("r", "1", "c") RUNS("lost", "8", "gone")
                   POD_OF("over", "4", "", "}}}], nodeName: a", "Succeeded"));
    assert_int_equal(c->all, 24);
    assert_int_equal(c->held, 6);
    assert_int_equal(c->free, 5 + 5);
    assert_int_equal(c->unhealthy, 1);
    assert_int_equal(c->cordoned, 7);
    assert_int_equal(c->not_ready, 0);
    assert_int_equal(x.f.gone_gpus, 8);
    assert_int_equal(x.f.odd[ODD_UNHEALTHY].gpus, 1);
    tear_down(&x);
}

static void waiting_jobs_are_judged(void **state)
{
    static const struct {
        const char *why, *dump;
        enum figures_verdict verdict;
        const char *words;
    } row[] = {
        {"more than any node has, in one pod", NODE("a") WAITS("w", "9", "}}}]"), FIT_NEVER,
         "even when empty"},
        {"too few cards in all", NODE("a") RUNS("p", "6", "a") WAITS("w", "4", "}}}]"),
         FIT_SHORTAGE, "4 GPUs asked, 2"},
        {"cards enough, but not on one host",
         NODE("a") NODE("b") RUNS("p", "4", "a") RUNS("q", "4", "b") WAITS("w", "8", "}}}]"),
         FIT_FRAGMENTED, "not together"},
        {"cards enough, CPU not",
         NODE("a") POD_OF("p", "1", "", ", cpu: 14}}}], nodeName: a", "Running")
             WAITS("w", "4", ", cpu: 8}}}]"),
         FIT_FRAGMENTED, "lack CPU"},
        {"it would fit", NODE("a") WAITS("w", "4", "}}}]"), FIT_OTHER, "would fit"},
        {"a taint is in its way",
         NODE_OF("a", "8", "", "taints: [{key: team, value: x, effect: NoSchedule}]")
             NODE_OF("b", "8", "", "") RUNS("p", "8", "b") WAITS("w", "4", "}}}]"),
         FIT_OTHER, "taints"},
        {"a taint that it tolerates is not",
         NODE_OF("a", "8", "", "taints: [{key: team, value: x, effect: NoSchedule}]")
             WAITS("w", "4", "}}}], tolerations: [{key: team, operator: Exists}]"),
         FIT_OTHER, "would fit"},
        {"a selector that no node meets",
         NODE("a") WAITS("w", "4", "}}}], nodeSelector: {disk: ssd}"), FIT_NEVER,
         "even when empty"},
        {"an empty list of terms matches nothing",
         NODE("a") WAITS("w", "4",
                         "}}}], affinity: {nodeAffinity: {requiredDuringScheduling"
                         "IgnoredDuringExecution: {nodeSelectorTerms: []}}}"),
         FIT_NEVER, "even when empty"},
        {"one of two terms is enough",
         NODE("a") WAITS("w", "4",
                         "}}}], affinity: {nodeAffinity: {requiredDuringScheduling"
                         "IgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: "
                         "no, operator: Exists}]}, {matchFields: [{key: metadata.name, operator: "
                         "In, values: [a]}]}]}}}"),
         FIT_OTHER, "would fit"},
        {"Kueue has not admitted it",
         NODE("a") WAITS("w", "4", "}}}], schedulingGates: [{name: kueue.x-k8s.io/admission}]"),
         FIT_POLICY, "kueue.x-k8s.io/admission"},
        {"another vendor's devices",
         NODE("a") "---\nkind: Pod\nmetadata: {name: w}\nspec: "
                   "{containers: [{resources: {requests: "
                   "{amd.com/gpu: 1}}}]}\nstatus: {phase: Pending}\n",
         FIT_NEVER, "allowed GPU model"},
        {"a gang is judged as one: two of three pods would fit",
         NODE("a") NODE("b") POD_OF("w0", "8", GANG("", "j"), "}}}]", "Pending")
             POD_OF("w1", "8", GANG("", "j"), "}}}]", "Pending")
                 POD_OF("w2", "8", GANG("", "j"), "}}}]", "Pending"),
         FIT_NEVER, "too small even when empty: 24 GPUs"},
        {"no nodes at all", WAITS("w", "1", "}}}]"), FIT_OTHER, "the dump has no nodes"},
    };

    (void)state;
    for (size_t n = 0; n < COUNT(row); n++) {
        struct fixture x;
        struct out why = {NULL, 0, 0};

        set_up(&x, row[n].dump);
        assert_int_equal(x.g.waiting_count, 1);
        report_text(&x.r, &why);
        if (x.g.waiting[0].verdict != row[n].verdict || !strstr(why.bytes, row[n].words))
            fail_msg("%s: %s, %s", row[n].why, figures_verdict_code(x.g.waiting[0].verdict),
                     why.bytes);
        out_free(&why);
        tear_down(&x);
    }
}

/* Four hosts in two racks: 3, 8, 8 and 5 free. */
static void shapes_and_causes(void **state)
{
    static const struct {
        uint32_t gpus;
        int64_t placements, host, domain;
    } row[] = {{1, 24, 0, 0}, {2, 11, 2, 0}, {4, 5, 4, 0}, {8, 2, 8, 0}, {16, 0, 8, 16}};
    struct fixture x;

    (void)state;
    set_up(&x, RACK("a", "r0") RACK("b", "r0") RACK("c", "r1") RACK("d", "r1") RUNS("p", "5", "a")
                   RUNS("q", "3", "d"));
    for (size_t n = 0; n < COUNT(row); n++) {
        const struct figures_shape *s = &x.g.shape[n];
        int64_t sum = 0;

        assert_int_equal(s->gpus, row[n].gpus);
        assert_int_equal(s->free, 24);
        assert_int_equal(s->placements, row[n].placements);
        assert_int_equal(s->cause[CAUSE_HOST], row[n].host);
        assert_int_equal(s->cause[CAUSE_DOMAIN], row[n].domain);
        for (unsigned c = 0; c < CAUSE_COUNT; c++)
            sum += s->cause[c];
        assert_int_equal(sum, s->free - s->startable * s->gpus);
    }
    assert_int_equal(x.g.owner_count, 2);
    assert_string_equal(facts_name(&x.f, x.f.job[x.g.owner[0].job].name), "t/Pod/q");
    tear_down(&x);
}

static void gangs_that_span_too_much_are_named(void **state)
{
    struct fixture x;

    (void)state;
    set_up(&x, RACK("a", "r0") RACK("b", "r0") RACK("c", "r1")
                   POD_OF("g0", "8", GANG("", "wide"), "}}}], nodeName: a", "Running")
                       POD_OF("g1", "8", GANG("", "wide"), "}}}], nodeName: c", "Running")
                           POD_OF("h0", "4", GANG("", "near"), "}}}], nodeName: b", "Running")
                               POD_OF("h1", "4", GANG("", "near"), "}}}], nodeName: b", "Running"));
    assert_int_equal(x.g.running_count, 1);
    assert_int_equal(x.g.running[0].gpus, 16);
    assert_int_equal(x.g.running[0].hosts, 2);
    assert_string_equal(books_scope(&x.b, x.g.running[0].scope), "cluster");
    assert_string_equal(books_scope(&x.b, x.g.running[0].possible),
                        "cloud.provider.com/topology-rack");
    assert_int_equal(x.g.hits[SIZE_8].hits, 1);
    tear_down(&x);
}

/* Whatever stands in a name, no control character reaches the terminal, and JSON stays JSON. */
static void names_are_printed_safely(void **state)
{
    struct fixture x;
    struct out text = {NULL, 0, 0}, json = {NULL, 0, 0};
    struct tree_memory *m = tree_memory_open();
    struct tree *t;
    struct err err;

    (void)state;
    set_up(&x, NODE("\"a\\e[2J\\x07\"") RUNS("\"p\\e]0;x\"", "3", "\"a\\e[2J\\x07\"")
                   WAITS("\"w\\r\\n\"", "8", "}}}]"));
    report_text(&x.r, &text);
    for (size_t n = 0; n < text.length; n++)
        assert_true(text.bytes[n] == '\n' || (unsigned char)text.bytes[n] >= ' ');
    report_json(&x.r, &json);
    assert_int_equal(tree_from_json(m, "report", 1, json.bytes, json.length, &t, &err), 0);
    assert_string_equal(tree_find(t, "format")->text, REPORT_FORMAT);
    tree_memory_close(m);
    out_free(&text);
    out_free(&json);
    tear_down(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asks_are_the_kubelets),
        cmocka_unit_test(every_gpu_is_in_one_state),
        cmocka_unit_test(waiting_jobs_are_judged),
        cmocka_unit_test(shapes_and_causes),
        cmocka_unit_test(gangs_that_span_too_much_are_named),
        cmocka_unit_test(names_are_printed_safely),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
