#include "edge/audit/facts_parts.h"

#include "edge/audit/quantity.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const odd_words[] = {
#define FACTS_ODD_WORDS(NAME, words) words,
    FACTS_ODD_MAP(FACTS_ODD_WORDS)};

const char *facts_odd_words(enum facts_odd_kind kind)
{
    return odd_words[kind];
}

void facts_odd(struct facts *f, enum facts_odd_kind kind, uint32_t example, int64_t gpus)
{
    if (f->odd[kind].count++ == 0)
        f->odd[kind].example = example;
    f->odd[kind].gpus += gpus;
}

void facts_open(struct facts *f)
{
    memset(f, 0, sizeof(*f));
    names_open(&f->names);
}

void facts_close(struct facts *f)
{
    names_close(&f->names);
    free(f->node);
    free(f->pod);
    free(f->job);
    free(f->label);
    free(f->taint);
    free(f->toleration);
    free(f->need);
    free(f->value);
    free(f->pod_next);
    free(f->row_of);
    memset(f, 0, sizeof(*f));
}

bool facts_resource(struct facts *f, const char *name)
{
    if (f->extra_count == sizeof(f->extra_resource) / sizeof(f->extra_resource[0]) || !*name)
        return false;
    f->extra_resource[f->extra_count++] = names_put(&f->names, name);
    return true;
}

const struct tree *facts_field(const struct tree *map, const char *key)
{
    return map && map->kind == TREE_MAP ? tree_find(map, key) : NULL;
}

const char *facts_string(const struct tree *map, const char *key)
{
    const struct tree *t = facts_field(map, key);

    return t && t->kind == TREE_STRING ? t->text : NULL;
}

const char *facts_plain(const struct tree *map, const char *key)
{
    const struct tree *t = facts_field(map, key);

    return t && (t->kind == TREE_STRING || t->kind == TREE_NUMBER) ? t->text : NULL;
}

static uint32_t row_name(struct facts *f, char prefix, const char *name)
{
    struct out key = {NULL, 0, 0};
    uint32_t number;

    out_char(&key, prefix);
    out_char(&key, ':');
    out_add(&key, name);
    number = names_put(&f->names, key.bytes);
    out_free(&key);
    return number;
}

uint32_t facts_row(const struct facts *f, char prefix, const char *name)
{
    struct out key = {NULL, 0, 0};
    uint32_t number;

    out_char(&key, prefix);
    out_char(&key, ':');
    out_add(&key, name);
    number = names_find(&f->names, key.bytes);
    out_free(&key);
    return number == UINT32_MAX ? FACTS_NONE : facts_number(f, number);
}

void facts_row_put(struct facts *f, char prefix, const char *name, uint32_t row)
{
    facts_number_put(f, row_name(f, prefix, name), row);
}

uint32_t facts_number(const struct facts *f, uint32_t name)
{
    if (name >= f->row_limit || !f->row_of[name])
        return FACTS_NONE;
    return f->row_of[name] - 1;
}

void facts_number_put(struct facts *f, uint32_t name, uint32_t row)
{
    while (name >= f->row_limit)
        f->row_of = out_grow(f->row_of, f->row_limit, &f->row_limit, sizeof(*f->row_of));
    f->row_of[name] = row + 1;
}

bool facts_quantity(struct facts *f, const struct tree *map, const char *key, unsigned decimals,
                    int64_t *ret)
{
    const char *text = facts_plain(map, key);

    if (!text)
        return false;
    if (quantity_read(text, decimals, ret))
        return true;
    facts_odd(f, ODD_QUANTITY, names_put(&f->names, text), 0);
    return false;
}

bool facts_memory(struct facts *f, const struct tree *map, bool up, int64_t *ret_mib)
{
    const char *text = facts_plain(map, "memory");

    if (!text)
        return false;
    if (quantity_mib(text, up, ret_mib))
        return true;
    facts_odd(f, ODD_QUANTITY, names_put(&f->names, text), 0);
    return false;
}

/* Names of whole devices, the ones to believe first where a node or pod has several. A name that
 * ends in "*" stands for all that begin so. Resources that count parts of devices are not here. */
static const char *const device_names[] = {"nvidia.com/gpu",        "nvidia.com/pgpu",
                                           "amd.com/gpu",           "gpu.intel.com/i915",
                                           "gpu.intel.com/xe",      "habana.ai/gaudi",
                                           "huawei.com/Ascend*",    "huawei.com/npu",
                                           "metax-tech.com/gpu",    "cambricon.com/mlu",
                                           "cambricon.com/gpu",     "cambricon.com/mlu*",
                                           "mthreads.com/gpu",      "hygon.com/dcu",
                                           "hygon.com/dcunum",      "iluvatar.ai/gpu",
                                           "iluvatar.com/gpu",      "enflame.com/gcu",
                                           "kunlunxin.com/xpu",     "google.com/tpu",
                                           "aws.amazon.com/neuron", "aws.amazon.com/neurondevice",
                                           "volcano.sh/gpu-number", "alibabacloud.com/gpu-count",
                                           "aliyun.com/gpu-count"};
#define DEVICE_NAMES ((int)(sizeof(device_names) / sizeof(device_names[0])))

int facts_device_rank(const struct facts *f, const char *resource)
{
    for (unsigned n = 0; n < f->extra_count; n++)
        if (strcmp(facts_name(f, f->extra_resource[n]), resource) == 0)
            return (int)n;
    if (!strchr(resource, '/'))
        return -1;
    for (int n = 0; n < DEVICE_NAMES; n++) {
        size_t length = strlen(device_names[n]);
        bool prefix = device_names[n][length - 1] == '*';

        /* Memory, cores and cut parts of a card are named after it, with a hyphen. */
        if (prefix ? strncmp(device_names[n], resource, length - 1) == 0 &&
                         !strchr(resource, '-') && !strchr(strchr(resource, '/') + 1, '.')
                   : strcmp(device_names[n], resource) == 0)
            return 8 + n;
    }
    return -1;
}

const char *facts_devices(struct facts *f, const struct tree *quantities, int64_t *ret_count)
{
    const char *best = NULL;
    int best_rank = 0;

    *ret_count = 0;
    if (!quantities || quantities->kind != TREE_MAP)
        return NULL;
    for (const struct tree *t = quantities->child; t; t = t->next) {
        int rank = facts_device_rank(f, t->key);
        int64_t count = 0;

        if (rank < 0 || (best && rank >= best_rank) ||
            !facts_quantity(f, quantities, t->key, 0, &count) || count == 0)
            continue;
        best = t->key;
        best_rank = rank;
        *ret_count = count;
    }
    return best;
}

void facts_object(void *context, const char *kind, const struct tree *object)
{
    struct facts *f = context;
    const struct tree *spec = facts_field(object, "spec"), *status = facts_field(object, "status");

    if (!kind && facts_field(spec, "containers"))
        kind = "Pod";
    if (!kind && facts_field(status, "allocatable"))
        kind = "Node";
    if (kind && strcmp(kind, "Node") == 0)
        facts_add_node(f, object);
    else if (kind && strcmp(kind, "Pod") == 0)
        facts_add_pod(f, object);
    else
        f->other_kinds++;
    if (kind && strcmp(kind, "PodGroup") == 0)
        facts_add_group(f, object);
}

static void join_pod(struct facts *f, uint32_t p)
{
    struct facts_pod *pod = &f->pod[p];
    struct facts_job *job = &f->job[pod->job];
    struct facts_node *n;

    pod->node = pod->node_name ? facts_row(f, 'n', facts_name(f, pod->node_name)) : FACTS_NONE;
    if (pod->phase == PHASE_OVER || pod->gpus == 0)
        return;
    f->pod_next[p] = job->pod_head;
    job->pod_head = p;
    if (pod->phase == PHASE_WAITS) {
        job->waiting++;
        job->gpus_waiting += pod->gpus;
        return;
    }
    if (pod->node == FACTS_NONE) {
        f->gone_pods++;
        f->gone_gpus += pod->gpus;
        facts_odd(f, ODD_NODE_GONE, pod->name, pod->gpus);
        return;
    }
    n = &f->node[pod->node];
    job->holding++;
    job->gpus_held += pod->gpus;
    n->asked += pod->gpus;
    if (pod->terminating)
        n->terminating += pod->gpus;
}

int facts_settle(struct facts *f, const char *levels, struct err *err)
{
    free(f->pod_next);
    f->pod_next = memory_zeroed((f->pod_count + 1) * sizeof(*f->pod_next));
    for (size_t j = 0; j < f->job_count; j++)
        f->job[j].pod_head = FACTS_NONE;
    for (size_t p = f->pod_count; p-- > 0;) /* so that a job's pods stand in the dump's order */
        join_pod(f, (uint32_t)p);
    for (size_t n = 0; n < f->node_count; n++) {
        const struct facts_node *x = &f->node[n];
        uint32_t most = x->capacity * x->replicas;

        if (x->asked > most)
            facts_odd(f, ODD_OVERBOOKED, x->name, x->asked - most);
    }
    return facts_levels(f, levels, err);
}
