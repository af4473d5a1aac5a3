/* Pods: what they ask, as the kubelet adds it up, where they stand, and why they wait. */
#include "edge/audit/facts_parts.h"

#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

#define GPUS_ASKED_MAX 4096 /* more in one pod is no ask */

struct ask {
    int64_t cpu_milli, mem_mib, gpus;
    const char *resource;
};

static struct ask ask_of(struct facts *f, const struct tree *quantities)
{
    struct ask a = {0};

    (void)facts_quantity(f, quantities, "cpu", 3, &a.cpu_milli);
    (void)facts_memory(f, quantities, true, &a.mem_mib);
    a.resource = facts_devices(f, quantities, &a.gpus);
    return a;
}

/* A container's requests; devices are equal in requests and limits, and people write the latter. */
static struct ask container_ask(struct facts *f, const struct tree *container)
{
    const struct tree *resources = facts_field(container, "resources"),
                      *requests = facts_field(resources, "requests");
    struct ask a = ask_of(f, requests), limit = {0};

    if (!a.resource)
        limit.resource = facts_devices(f, facts_field(resources, "limits"), &limit.gpus);
    if (limit.resource) {
        a.resource = limit.resource;
        a.gpus = limit.gpus;
    }
    return a;
}

static void add(struct ask *to, const struct ask *a)
{
    to->cpu_milli += a->cpu_milli;
    to->mem_mib += a->mem_mib;
    to->gpus += a->gpus;
    to->resource = to->resource ? to->resource : a->resource;
}

static void raise(struct ask *to, const struct ask *a)
{
    to->cpu_milli = to->cpu_milli > a->cpu_milli ? to->cpu_milli : a->cpu_milli;
    to->mem_mib = to->mem_mib > a->mem_mib ? to->mem_mib : a->mem_mib;
    to->gpus = to->gpus > a->gpus ? to->gpus : a->gpus;
    to->resource = to->resource ? to->resource : a->resource;
}

static const struct tree *list_of(const struct tree *map, const char *key)
{
    const struct tree *t = facts_field(map, key);

    return t && t->kind == TREE_LIST ? t->child : NULL;
}

/* Init containers run one after the other, each beside the sidecars that were started before it;
 * the containers run beside all sidecars. */
static struct ask pod_ask(struct facts *f, const struct tree *spec)
{
    struct ask app = {0}, sidecars = {0}, peak = {0}, more;
    const struct tree *whole = facts_field(facts_field(spec, "resources"), "requests");

    for (const struct tree *t = list_of(spec, "containers"); t; t = t->next) {
        more = container_ask(f, t);
        add(&app, &more);
    }
    for (const struct tree *t = list_of(spec, "initContainers"); t; t = t->next) {
        const char *restart = facts_string(t, "restartPolicy");
        struct ask beside = sidecars;

        more = container_ask(f, t);
        add(&beside, &more);
        raise(&peak, &beside);
        if (restart && strcmp(restart, "Always") == 0) {
            sidecars = beside;
            add(&app, &more);
        }
    }
    raise(&app, &peak);
    (void)facts_quantity(f, whole, "cpu", 3, &app.cpu_milli);
    (void)facts_memory(f, whole, true, &app.mem_mib);
    more = ask_of(f, facts_field(spec, "overhead"));
    add(&app, &more);
    return app;
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days(int64_t y, int64_t m, int64_t d)
{
    y -= m <= 2;
    return y * 365 + y / 4 - y / 100 + y / 400 + (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d -
           719469;
}

/* Takes so many digits and the separator behind them; false: that is not what stands there. */
static bool take_digits(const char **text, unsigned digits, char separator, int *ret)
{
    *ret = 0;
    for (; digits > 0; digits--, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        *ret = *ret * 10 + (**text - '0');
    }
    if (separator && *(*text)++ != separator)
        return false;
    return true;
}

static int64_t time_of(const char *text)
{
    int y, m, d, hour, minute, second;

    if (!text || !take_digits(&text, 4, '-', &y) || !take_digits(&text, 2, '-', &m) ||
        !take_digits(&text, 2, 'T', &d) || !take_digits(&text, 2, ':', &hour) ||
        !take_digits(&text, 2, ':', &minute) || !take_digits(&text, 2, 0, &second))
        return 0;
    return days(y, m, d) * 86400 + hour * 3600 + minute * 60 + second;
}

/* Pods that say by annotation that they take part of a card, and ask no resource for it (KAI,
 * Alibaba), or ask one beside it (HAMi). */
static void take_shares(struct facts *f, struct facts_pod *p, const struct tree *meta,
                        const struct tree *spec)
{
    const struct tree *notes = facts_field(meta, "annotations");
    const char *count = facts_plain(notes, "gpu-fraction-num-devices");
    bool kai = facts_plain(notes, "gpu-fraction") || facts_plain(notes, "gpu-memory"),
         ali = facts_plain(notes, "alibabacloud.com/gpu-mem") != NULL;
    long cards;

    for (const struct tree *t = list_of(spec, "containers"); t; t = t->next) {
        const struct tree *limits = facts_field(facts_field(t, "resources"), "limits");

        if (facts_plain(limits, "nvidia.com/gpumem") ||
            facts_plain(limits, "nvidia.com/gpumem-percentage") ||
            facts_plain(limits, "nvidia.com/gpucores"))
            p->shares = true;
    }
    if (p->gpus > 0 || (!kai && !ali))
        return;
    if (ali)
        count = facts_plain(notes, "alibabacloud.com/gpu-count");
    cards = count ? strtol(count, NULL, 10) : 1;
    p->shares = true;
    p->gpus = cards > 0 && cards <= 16 ? (uint32_t)cards : 1;
    p->resource = names_put(&f->names, ali ? "alibabacloud.com/gpu-count" : "nvidia.com/gpu");
}

static void take_status(struct facts *f, struct facts_pod *p, const struct tree *status)
{
    const char *phase = facts_string(status, "phase");

    p->phase = p->node_name ? PHASE_HOLDS : PHASE_WAITS;
    if (phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0))
        p->phase = PHASE_OVER;
    for (const struct tree *t = list_of(status, "conditions"); t; t = t->next) {
        const char *type = facts_string(t, "type"), *is = facts_string(t, "status");

        if (type && strcmp(type, "PodScheduled") == 0 && is && strcmp(is, "False") == 0)
            p->message = names_put(&f->names, facts_string(t, "message"));
    }
}

static uint32_t level_key(struct facts *f, const struct tree *meta, const struct tree *spec)
{
    const struct tree *notes = facts_field(meta, "annotations");
    const char *key = facts_string(notes, "kueue.x-k8s.io/podset-required-topology");

    (void)spec;
    if (!key)
        key = facts_string(notes, "kai.scheduler/topology-required-placement");
    return names_put(&f->names, key);
}

/* False: it is known already, and that is counted. */
static bool is_new(struct facts *f, const char *name, uint32_t uid)
{
    uint32_t row = facts_row(f, 'p', name);

    if (row == FACTS_NONE)
        return true;
    facts_odd(f, uid != f->pod[row].uid ? ODD_TWO_CLUSTERS : ODD_TWICE, f->pod[row].name, 0);
    return false;
}

static void take_waiting(struct facts *f, struct facts_pod *p, const struct tree *meta,
                         const struct tree *spec)
{
    const struct tree *gate = list_of(spec, "schedulingGates"),
                      *affinity = facts_field(spec, "affinity");

    p->gate = gate ? names_put(&f->names, facts_string(gate, "name")) : 0;
    p->level_key = level_key(f, meta, spec);
    p->claims = list_of(spec, "resourceClaims") != NULL;
    p->affine = facts_field(affinity, "podAffinity") || facts_field(affinity, "podAntiAffinity");
    facts_take_needs(f, p, spec);
    if (p->claims)
        facts_odd(f, ODD_CLAIMS, p->name, p->gpus);
}

void facts_add_pod(struct facts *f, const struct tree *pod)
{
    const struct tree *meta = facts_field(pod, "metadata"), *spec = facts_field(pod, "spec");
    const char *name = facts_string(meta, "name"), *space = facts_string(meta, "namespace");
    int64_t priority = 0;
    struct facts_pod p = {.node = FACTS_NONE};
    struct out full = {NULL, 0, 0};
    struct ask ask;

    out_format(&full, "%s/%s", space ? space : "default", name ? name : "(a pod without a name)");
    p.name = names_put(&f->names, full.bytes);
    p.space = names_put(&f->names, space ? space : "default");
    p.uid = names_put(&f->names, facts_string(meta, "uid"));
    if (is_new(f, full.bytes, p.uid)) {
        p.node_name = names_put(&f->names, facts_string(spec, "nodeName"));
        take_status(f, &p, facts_field(pod, "status"));
        ask = pod_ask(f, spec);
        p.cpu_milli = ask.cpu_milli;
        p.mem_mib = ask.mem_mib;
        p.gpus = (uint32_t)(ask.gpus > GPUS_ASKED_MAX ? GPUS_ASKED_MAX : ask.gpus);
        p.resource = names_put(&f->names, ask.resource);
        p.created_s = time_of(facts_string(meta, "creationTimestamp"));
        p.terminating = facts_string(meta, "deletionTimestamp") != NULL;
        (void)facts_quantity(f, spec, "priority", 0, &priority);
        p.priority = (int32_t)(priority > INT32_MAX ? INT32_MAX : priority);
        take_shares(f, &p, meta, spec);
        p.job = facts_job_of(f, meta, spec, &p);
        if (p.phase == PHASE_WAITS && p.gpus > 0)
            take_waiting(f, &p, meta, spec);
        if (p.phase == PHASE_HOLDS && p.shares && p.gpus > 0)
            facts_odd(f, ODD_SHARED_POD, p.name, p.gpus);
        f->pod = out_grow(f->pod, f->pod_count, &f->pod_limit, sizeof(*f->pod));
        f->pod[f->pod_count] = p;
        facts_row_put(f, 'p', full.bytes, (uint32_t)f->pod_count++);
    }
    out_free(&full);
}
