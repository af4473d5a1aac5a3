#include "edge/audit/books_parts.h"

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "edge/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_BYTES_MAX 8192    /* more than any event takes */
#define BUDGET_STEPS    2000000 /* of one question */
#define ASK_KEY         (UINT32_MAX - 1)

/* What is left of a host while its pods are seated. */
struct left {
    int64_t cpu_milli, mem_mib, pods;
    uint32_t gpus;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void books_event(struct books *b, const struct event *e)
{
    struct wire_out w;

    if (b->batch_limit - b->batch_size < EVENT_BYTES_MAX) {
        b->batch_limit = (b->batch_limit + EVENT_BYTES_MAX) * 2;
        b->batch = memory_grow(b->batch, b->batch_limit);
    }
    w = (struct wire_out){.byte = b->batch + b->batch_size,
                          .limit = b->batch_limit - b->batch_size};
    event_put(&w, e);
    b->batch_size += w.size;
}

static void *block_new(const struct limits *l)
{
    size_t bytes = (sched_bytes(l) + 63) / 64 * 64;
    void *block = aligned_alloc(64, bytes);

    if (!block) {
        fprintf(stderr, "dovetail: the cluster needs %zu MiB of memory, which the system refuses\n",
                bytes >> 20);
        exit(ERR_TROUBLE);
    }
    return block;
}

/* Room for the batch as it stands. */
static void make_room(struct books *b)
{
    struct limits l;

    while (sched_short(&b->sched, b->batch, b->batch_size, &l)) {
        void *larger = block_new(&l);

        sched_move(&b->sched, larger, &l);
        free(b->block);
        b->block = larger;
    }
}

static void step(struct books *b)
{
    size_t size = b->batch_size;

    make_room(b);
    while (sched_step(&b->sched, b->batch, size))
        size = 0;
    b->batch_size = 0;
}

static void send_levels(struct books *b)
{
    const struct facts *f = b->f;
    uint32_t next = 0;

    for (uint32_t l = 0; l < f->level_count; l++) {
        struct event e = {.kind = EVENT_LEVEL};

        e.level = (struct event_level){(uint8_t)l, f->level[l].chain, f->level[l].rank};
        books_event(b, &e);
        b->domain_first[l] = next;
        next += f->level[l].domains;
    }
    for (uint32_t l = 0; l < f->level_count; l++) {
        uint32_t above = l + 1; /* levels of a chain stand small to large */
        uint32_t *parent = memory_grow(NULL, (f->level[l].domains + 1) * sizeof(*parent));
        bool has = above < f->level_count && f->level[above].chain == f->level[l].chain;

        memset(parent, 0xFF, (f->level[l].domains + 1) * sizeof(*parent));
        for (size_t n = 0; n < f->node_count && has; n++)
            if (f->node[n].domain[l] != FACTS_NONE && f->node[n].domain[above] != FACTS_NONE)
                parent[f->node[n].domain[l]] = b->domain_first[above] + f->node[n].domain[above];
        for (uint32_t d = 0; d < f->level[l].domains; d++) {
            struct event e = {.kind = EVENT_DOMAIN};

            e.domain = (struct event_domain){b->domain_first[l] + d, (uint8_t)l, parent[d]};
            books_event(b, &e);
        }
        free(parent);
    }
}

/* Capacity less the pods that belong to the node; -1: no limit was said. */
static void take_fixed(struct books *b, struct left *left)
{
    const struct facts *f = b->f;

    for (uint32_t h = 0; h < b->hosts; h++) {
        const struct facts_node *n = &f->node[b->node_of[h]];

        left[h] = (struct left){n->cpu_milli, n->mem_mib, n->pods, n->capacity};
    }
    for (size_t p = 0; p < f->pod_count; p++) {
        const struct facts_pod *x = &f->pod[p];
        struct left *l;

        if (!x->fixed || x->gpus > 0 || x->phase != PHASE_HOLDS || x->node == FACTS_NONE ||
            b->host_of[x->node] == FACTS_NONE)
            continue;
        l = &left[b->host_of[x->node]];
        l->cpu_milli -= l->cpu_milli < 0 ? 0 : least(l->cpu_milli, x->cpu_milli);
        l->mem_mib -= l->mem_mib < 0 ? 0 : least(l->mem_mib, x->mem_mib);
        l->pods -= l->pods > 0;
    }
}

static void send_host(struct books *b, uint32_t host, const struct left *left, uint8_t node_class)
{
    const struct facts_node *n = &b->f->node[b->node_of[host]];
    struct event e = {.kind = EVENT_HOST};

    e.host = (struct event_host){.host = host,
                                 .cpu_milli = left->cpu_milli < 0 ? UNLIMITED : left->cpu_milli,
                                 .mem_mib = left->mem_mib < 0 ? UNLIMITED : left->mem_mib,
                                 .pods = left->pods < 0 ? UNLIMITED : left->pods,
                                 .gpu_mem_mib = b->f->model[n->model].gpu_mem_mib < INT32_MAX
                                                    ? b->f->model[n->model].gpu_mem_mib
                                                    : 0,
                                 .class_id = node_class,
                                 .model = (uint8_t)n->model,
                                 .shape = ROW_NONE,
                                 .gpus = (uint8_t)n->capacity};
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        e.host.extra[x] = UNLIMITED;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        e.host.domain[l] = l < b->f->level_count && n->domain[l] != FACTS_NONE
                               ? b->domain_first[l] + n->domain[l]
                               : ROW_NONE;
    books_event(b, &e);
}

/* Which of the devices fail is not said: the last ones stand for them. */
static void send_state(struct books *b, uint32_t host)
{
    const struct facts_node *n = &b->f->node[b->node_of[host]];

    for (uint32_t d = n->allocatable; d < n->capacity; d++) {
        struct event e = {.kind = EVENT_DEVICE};

        e.device = (struct event_device){host, (uint8_t)d, DEVICE_DOWN};
        books_event(b, &e);
    }
    if (!n->ready || n->cordoned) {
        struct event e = {.kind = EVENT_HOST_STATE};

        e.host_state = (struct event_host_state){host, n->ready ? HOST_DRAIN : HOST_DOWN};
        books_event(b, &e);
    }
}

/* A pod of a kind that fits what is left; what it asks beyond is odd and stays off the books. */
static void send_pod(struct books *b, uint32_t pod, struct left *left)
{
    struct facts *f = b->f;
    const struct facts_pod *x = &f->pod[pod];
    uint32_t gpus = x->gpus < left->gpus ? x->gpus : left->gpus, host = b->host_of[x->node];
    int64_t cpu = left->cpu_milli < 0 ? x->cpu_milli : least(x->cpu_milli, left->cpu_milli),
            mem = left->mem_mib < 0 ? x->mem_mib : least(x->mem_mib, left->mem_mib);
    struct event e = {.kind = EVENT_JOB};

    if (cpu < x->cpu_milli || mem < x->mem_mib || left->pods == 0)
        facts_odd(f, ODD_CPU_OVER, x->name, 0);
    if (left->pods == 0)
        return;
    e.job = (struct event_job){
        .est_ns = -1, .key = pod, .team = ROW_NONE, .podset_count = 1, .flags = JOB_SHARES_CARD};
    books_event(b, &e);
    e = (struct event){.kind = EVENT_PODSET};
    e.podset = (struct event_podset){.cpu_milli = cpu,
                                     .mem_mib = mem,
                                     .pods = 1,
                                     .pods_min = 1,
                                     .profile = ROW_NONE,
                                     .class_id = BOOKS_EVERYWHERE,
                                     .milli = MILLI_FULL,
                                     .gpus = (uint8_t)gpus};
    books_event(b, &e);
    e = (struct event){.kind = EVENT_SEAT};
    e.seat = (struct event_seat){.key = pod, .host = host};
    books_event(b, &e);
    e = (struct event){.kind = EVENT_SEATED};
    e.seated.key = pod;
    books_event(b, &e);
    left->gpus -= gpus;
    left->cpu_milli -= left->cpu_milli < 0 ? 0 : cpu;
    left->mem_mib -= left->mem_mib < 0 ? 0 : mem;
    left->pods -= left->pods > 0;
    if (gpus > 0 && gpus < f->node[x->node].capacity)
        facts_odd(f, ODD_DEVICES_UNKNOWN, x->name, gpus);
}

/* Pods with GPUs first: what is cut off, where too much is asked, are others. */
static void send_pods(struct books *b, struct left *left)
{
    const struct facts *f = b->f;

    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t p = 0; p < f->pod_count; p++) {
            const struct facts_pod *x = &f->pod[p];

            if (x->phase != PHASE_HOLDS || x->node == FACTS_NONE || (x->gpus > 0) != (pass == 0) ||
                (x->fixed && x->gpus == 0) || b->host_of[x->node] == FACTS_NONE)
                continue;
            send_pod(b, (uint32_t)p, &left[b->host_of[x->node]]);
        }
}

static void number_hosts(struct books *b)
{
    const struct facts *f = b->f;

    b->host_of = memory_grow(NULL, (f->node_count + 1) * sizeof(*b->host_of));
    b->node_of = memory_grow(NULL, (f->node_count + 1) * sizeof(*b->node_of));
    for (uint32_t n = 0; n < f->node_count; n++) {
        b->host_of[n] = FACTS_NONE;
        if (f->node[n].model == FACTS_NONE)
            continue;
        b->host_of[n] = b->hosts;
        b->node_of[b->hosts++] = n;
    }
}

int books_open(struct books *b, struct facts *f, struct err *err)
{
    struct limits l = sched_limits_small();
    struct event e = {.kind = EVENT_CONFIG};
    struct left *left;
    uint8_t *node_class;
    uint64_t ignored;

    *b = (struct books){.f = f};
    b->block = block_new(&l);
    sched_init(&b->sched, b->block, &l);
    number_hosts(b);
    left = memory_zeroed((b->hosts + 1) * sizeof(*left));
    node_class = memory_zeroed(b->hosts + 1);
    e.config = (struct event_config){.order = ORDER_FIFO, .budget_steps = BUDGET_STEPS};
    books_event(b, &e);
    send_levels(b);
    books_classes(b, node_class);
    take_fixed(b, left);
    for (uint32_t h = 0; h < b->hosts; h++)
        send_host(b, h, &left[h], node_class[h]);
    step(b);
    send_pods(b, left);
    for (uint32_t h = 0; h < b->hosts; h++)
        send_state(b, h);
    step(b);
    free(left);
    free(node_class);
    ignored = config_row(books_model(b))->ignored_count;
    if (ignored)
        return err_set(err, ERR_CHECK,
                       "%llu facts of the dump could not be put on the scheduler's books; this is "
                       "a bug, please report it",
                       (unsigned long long)ignored);
    return 0;
}

void books_close(struct books *b)
{
    free(b->block);
    free(b->batch);
    free(b->node_of);
    free(b->host_of);
    free(b->class_of);
    *b = (struct books){.f = NULL};
}

struct job_spec books_spec(uint32_t pods, uint32_t gpus, int64_t cpu_milli, int64_t mem_mib,
                           uint32_t class_id)
{
    struct job_spec spec = {.est_ns = -1,
                            .patience_ns = -1,
                            .key = ASK_KEY,
                            .team = ROW_NONE,
                            .flags = JOB_SHARES_CARD,
                            .podset_count = 1};

    spec.podset[0] = (struct podset_spec){.cpu_milli = cpu_milli,
                                          .mem_mib = mem_mib,
                                          .pods = pods,
                                          .pods_min = pods,
                                          .profile = ROW_NONE,
                                          .class_id = class_id,
                                          .milli = MILLI_FULL,
                                          .gpus = (uint8_t)gpus};
    return spec;
}

uint32_t books_ask(struct books *b, const struct job_spec *spec)
{
    struct event e = {.kind = EVENT_JOB};

    /* The same as events, so that the core says how much room the question needs. */
    e.job = (struct event_job){
        .est_ns = -1, .key = spec->key, .team = ROW_NONE, .podset_count = spec->podset_count};
    books_event(b, &e);
    for (unsigned n = 0; n < spec->podset_count; n++) {
        const struct podset_spec *p = &spec->podset[n];

        e = (struct event){.kind = EVENT_PODSET};
        e.podset = (struct event_podset){
            .pods = p->pods, .pods_min = p->pods_min, .milli = p->milli, .gpus = p->gpus};
        books_event(b, &e);
    }
    make_room(b);
    b->batch_size = 0;
    model_begin(b->sched.m);
    return job_add(b->sched.m, spec);
}

void books_unask(struct books *b)
{
    model_rollback(b->sched.m);
}

const char *books_scope(const struct books *b, unsigned scope)
{
    if (scope <= SCOPE_OF_HOST)
        return "host";
    if (scope - SCOPE_OF_LEVEL < b->f->level_count)
        return facts_name(b->f, b->f->level[scope - SCOPE_OF_LEVEL].key);
    return "cluster";
}
