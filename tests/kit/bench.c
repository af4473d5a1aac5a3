#include "tests/kit/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "core/base/must.h"
#include "core/model/index.h"

#define EVENT_BYTES 8192

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expr);
    abort();
}

/* ---- the machine ---- */

int64_t bench_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t bench_rss_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f) {
        if (fscanf(f, "%llu %llu", &pages, &resident) != 2)
            resident = 0;
        fclose(f);
    }
    return resident * 4096;
}

uint64_t bench_rss_peak_bytes(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return (uint64_t)use.ru_maxrss * 1024;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

int64_t bench_percentile(int64_t *ns, uint32_t count, unsigned permille)
{
    if (count == 0)
        return 0;
    qsort(ns, count, sizeof(ns[0]), by_size);
    return ns[((uint64_t)count * permille + 999) / 1000 - 1];
}

/* ---- events in ---- */

void bench_put(struct bench *b, const struct event *e)
{
    struct wire_out w;

    if (b->limit - b->size < EVENT_BYTES) {
        b->limit = (b->limit + EVENT_BYTES) * 2;
        b->bytes = realloc(b->bytes, b->limit);
        must(b->bytes);
    }
    w = (struct wire_out){.byte = b->bytes + b->size, .limit = b->limit - b->size};
    event_put(&w, e);
    b->size += w.size;
}

static void *block_new(struct bench *b, const struct limits *l)
{
    size_t bytes = (sched_bytes(l) + 63) / 64 * 64;
    void *block = aligned_alloc(64, bytes);

    must(block);
    if (b->block_bytes + bytes > b->peak_bytes)
        b->peak_bytes = b->block_bytes + bytes;
    b->block_bytes = bytes;
    return block;
}

void bench_step(struct bench *b)
{
    struct limits l;
    bool more = true;

    while (sched_short(&b->s, b->bytes, b->size, &l)) {
        void *larger = block_new(b, &l);

        sched_move(&b->s, larger, &l);
        free(b->block);
        b->block = larger;
    }
    while (more) {
        more = sched_step(&b->s, b->bytes, b->size);
        if (b->seen)
            b->seen(b->seen_by, &b->s, b->bytes, b->size);
        b->size = 0;
    }
}

/* ---- the cluster ---- */

static void put_levels(struct bench *b)
{
    uint32_t leaves = (b->hosts + 7) / 8, spines = (leaves + 15) / 16;
    struct event e = {.kind = EVENT_LEVEL};

    e.level = (struct event_level){0, 0, 0};
    bench_put(b, &e);
    e.level = (struct event_level){1, 0, 1};
    bench_put(b, &e);
    for (uint32_t d = 0; d < leaves + spines; d++) {
        e = (struct event){.kind = EVENT_DOMAIN};
        e.domain = (struct event_domain){d, d >= leaves, d < leaves ? leaves + d / 16 : ROW_NONE};
        bench_put(b, &e);
    }
}

static void put_shape(struct bench *b)
{
    struct event e = {.kind = EVENT_SHAPE};

    e.shape = (struct event_shape){.shape = 0, .gpus = BENCH_GPUS_PER_HOST};
    memset(e.shape.part, SHAPE_NO_PART, sizeof(e.shape.part));
    for (unsigned d = 0; d < BENCH_GPUS_PER_HOST; d++) {
        e.shape.part[SHAPE_ISLAND * GPUS_MAX + d] = 0;
        e.shape.part[SHAPE_NUMA * GPUS_MAX + d] = (uint8_t)(d / 4);
        e.shape.part[SHAPE_PCIE * GPUS_MAX + d] = (uint8_t)(d / 2);
    }
    bench_put(b, &e);
}

static void put_hosts(struct bench *b)
{
    uint32_t leaves = (b->hosts + 7) / 8;

    for (uint32_t h = 0; h < b->hosts; h++) {
        uint32_t class_id = (h / 8 * 7 + h % 3) % BENCH_NODE_CLASSES;
        struct event e = {.kind = EVENT_HOST};

        e.host = (struct event_host){.host = h,
                                     .cpu_milli = 128000 + class_id % BENCH_MODELS * 16000,
                                     .mem_mib = 1024 * 1024,
                                     .pods = 110,
                                     .extra = {256, UNLIMITED},
                                     .class_id = (uint8_t)class_id,
                                     .model = (uint8_t)(class_id % BENCH_MODELS),
                                     .gpus = BENCH_GPUS_PER_HOST};
        memset(e.host.domain, 0xFF, sizeof(e.host.domain));
        e.host.domain[0] = h / 8;
        e.host.domain[1] = leaves + h / 8 / 16;
        bench_put(b, &e);
    }
}

/* A quarter of the pod classes take any host; the others one model, or a part of the node
 * classes. */
static void put_classes(struct bench *b)
{
    for (uint32_t c = 0; c < BENCH_POD_CLASSES; c++) {
        struct event e = {.kind = EVENT_CLASS};

        e.class.class_id = c;
        e.class.models = c % 4 == 1 ? (uint64_t)1 << c / 4 % BENCH_MODELS : UINT64_MAX;
        memset(e.class.nodes, 0xFF, sizeof(e.class.nodes));
        if (c % 4 > 1)
            for (unsigned w = 0; w < CLASSES_MAX / 64; w++)
                e.class.nodes[w] = prng_next(&b->prng) | prng_next(&b->prng);
        if (c == BENCH_PICKY_CLASS)
            for (unsigned w = 0; w < CLASSES_MAX / 64; w++)
                e.class.nodes[w] = w == 0 ? 1u << 7 : 0;
        bench_put(b, &e);
    }
}

/* Tables of the scorer for this mix, roughly as edge/sim/mix.c makes them: the bench is about
 * speed, and the shape of the tables is what counts. */
static void put_mix(struct bench *b)
{
    struct event e = {.kind = EVENT_BALANCE};

    e.balance = (struct event_balance){.short_q20 = 65536,
                                       .spare_q20 = 59578,
                                       .starved_micro = 800,
                                       .short_micro = 800,
                                       .spare_micro = 450,
                                       .roomy_micro = 5};
    bench_put(b, &e);
    for (uint32_t row = 0; row < LOSS_ROWS; row += EVENT_LOSS_ROWS) {
        e = (struct event){.kind = EVENT_LOSS};
        e.loss.row = (uint16_t)row;
        for (uint32_t n = 0; n < EVENT_LOSS_ROWS; n++) {
            uint32_t at = row + n;

            e.loss.waste_micro[n] = at < 1000 ? (int64_t)at * 2300 : 0;
            e.loss.broken_micro[n] = at <= 16 ? (int64_t)(at % 8) * 140000 + at % 2 * 9000 : 0;
            e.loss.starved_ppm[n] = at < 512 ? 1000000 - (int64_t)at * 1950 : 0;
        }
        bench_put(b, &e);
    }
}

void bench_open_bare(struct bench *b)
{
    struct limits l = sched_limits_small();
    struct event e = {.kind = EVENT_CONFIG};

    memset(b, 0, sizeof(*b));
    prng_init(&b->prng, 7);
    b->block = block_new(b, &l);
    sched_init(&b->s, b->block, &l);
    e.config = (struct event_config){.order = ORDER_FIFO, .budget_steps = 1000000};
    bench_put(b, &e);
}

void bench_open(struct bench *b, uint32_t gpus)
{
    bench_open_bare(b);
    b->hosts = gpus / BENCH_GPUS_PER_HOST;
    put_levels(b);
    put_classes(b);
    put_mix(b);
    put_shape(b);
    put_hosts(b);
}

void bench_close(struct bench *b)
{
    free(b->block);
    free(b->bytes);
}

/* ---- pods ---- */

/* GPU time of the Acme clusters is in large jobs: most GPUs are held by pods of whole hosts, most
 * pods are small (shares by pods of one host, from the published curves). */
static const struct {
    uint8_t gpus;
    uint16_t weight;
} acme[] = {{1, 540}, {2, 60}, {4, 60}, {8, 340}};

uint8_t bench_draw_gpus(struct bench *b)
{
    uint64_t at = prng_below(&b->prng, 1000);

    for (unsigned n = 0; n < 4; n++) {
        if (at < acme[n].weight)
            return acme[n].gpus;
        at -= acme[n].weight;
    }
    return 1;
}

uint32_t bench_draw_class(struct bench *b)
{
    return (uint32_t)prng_below(&b->prng, BENCH_PICKY_CLASS);
}

void bench_put_job(struct bench *b, struct bench_ask ask)
{
    struct event e = {.kind = EVENT_JOB};
    uint64_t milli = (uint64_t)ask.milli * (ask.gpus ? ask.gpus : 1);

    e.job = (struct event_job){
        .est_ns = b->est_ns_max ? 1 + (int64_t)prng_below(&b->prng, (uint64_t)b->est_ns_max) : -1,
        .key = b->next_key++,
        .team = ROW_NONE,
        .flags = JOB_SHARES_CARD,
        .podset_count = 1};
    bench_put(b, &e);
    e = (struct event){.kind = EVENT_PODSET};
    e.podset = (struct event_podset){
        .cpu_milli = (int64_t)((4000 + 500 * prng_below(&b->prng, 24)) * milli / 1000),
        .mem_mib = (int64_t)((16384 + 1024 * prng_below(&b->prng, 96)) * milli / 1000),
        .extra = {(int64_t)(prng_below(&b->prng, 4) * milli / 1000), 0},
        .pods = 1,
        .pods_min = 1,
        .profile = ROW_NONE,
        .class_id = ask.class_id,
        .milli = ask.milli,
        .gpus = ask.gpus,
        .slice_scope = SCOPE_OF_CLUSTER};
    bench_put(b, &e);
}

void bench_put_end(struct bench *b, uint32_t key)
{
    struct event e = {.kind = EVENT_END};

    e.end.key = key;
    bench_put(b, &e);
}

uint64_t bench_free_gpus(const struct bench *b, uint32_t *ret_hosts)
{
    uint64_t free_milli = 0;

    *ret_hosts = 0;
    for (uint32_t c = index_cell_first(b->s.m, ROW_NONE); c != ROW_NONE;
         c = index_cell(b->s.m, c)->next) {
        free_milli += index_cell(b->s.m, c)->free_milli;
        *ret_hosts += index_cell(b->s.m, c)->by_whole[BENCH_GPUS_PER_HOST];
    }
    return free_milli / 1000;
}

void bench_empty_queue(struct bench *b)
{
    uint32_t count;
    const uint32_t *waiting = index_waiting(b->s.m, &count);

    for (uint32_t n = count; n-- > 0;)
        bench_put_end(b, job_row(b->s.m, waiting[n])->key);
    bench_step(b);
}

/* Submits so many pods; those that found no place are forgotten. */
static void offer(struct bench *b, uint32_t pods, struct bench_ask ask)
{
    struct bench_ask one = ask;

    for (uint32_t n = 0; n < pods; n++) {
        if (ask.gpus == 0)
            one = (struct bench_ask){bench_draw_class(b), MILLI_FULL, bench_draw_gpus(b)};
        bench_put_job(b, one);
    }
    bench_step(b);
    bench_empty_queue(b);
}

void bench_fill_pods(struct bench *b, uint32_t pods)
{
    while (model_head(b->s.m, TABLE_SEAT)->live < pods) {
        uint32_t rest = pods - model_head(b->s.m, TABLE_SEAT)->live;

        offer(b, rest < 256 ? rest : 256, (struct bench_ask){0});
    }
}

/* Of the running pods a random one that asks at most so many GPUs, by its key. */
static uint32_t draw_running(struct bench *b, uint8_t gpus_max)
{
    for (;;) {
        uint32_t jobs = model_count(b->s.m, TABLE_JOB);
        const struct job *j = job_row(b->s.m, (uint32_t)prng_below(&b->prng, jobs));

        if (j->state == JOB_RUNNING && podset_row(b->s.m, j->podset_head)->gpus <= gpus_max)
            return j->key;
    }
}

/* Random pods leave until exactly as many GPUs are free: the last ones are small. */
static void let_leave(struct bench *b, uint64_t target, uint8_t gpus_max)
{
    uint64_t free_gpus;
    uint32_t whole;

    while ((free_gpus = bench_free_gpus(b, &whole)) < target) {
        uint64_t batch = (target - free_gpus) / 16 + 1;

        if (target - free_gpus < gpus_max)
            gpus_max = (uint8_t)(target - free_gpus);
        for (uint64_t n = 0; n < batch && n < 256; n++)
            bench_put_end(b, draw_running(b, gpus_max));
        bench_step(b);
    }
}

void bench_fill(struct bench *b, unsigned percent)
{
    uint64_t all = (uint64_t)b->hosts * BENCH_GPUS_PER_HOST;
    uint32_t whole;

    if (percent == 0)
        return;
    while (bench_free_gpus(b, &whole) > all / 50)
        offer(b, 256, (struct bench_ask){0});
    let_leave(b, all * (100 - percent) / 100, BENCH_GPUS_PER_HOST);
}

void bench_fill_picky(struct bench *b)
{
    for (uint8_t gpus = BENCH_GPUS_PER_HOST; gpus > 0; gpus /= 2)
        for (uint64_t before = 0, now = 1; before != now;) {
            uint32_t whole;

            before = bench_free_gpus(b, &whole);
            offer(b, 64, (struct bench_ask){BENCH_PICKY_CLASS, MILLI_FULL, gpus});
            now = bench_free_gpus(b, &whole);
        }
}

void bench_scatter(struct bench *b, unsigned percent)
{
    uint64_t all = (uint64_t)b->hosts * BENCH_GPUS_PER_HOST;
    uint32_t whole;

    for (unsigned round = 0; round < 8; round++) {
        let_leave(b, all * (100 - percent) / 100, BENCH_GPUS_PER_HOST / 2);
        (void)bench_free_gpus(b, &whole);
        if (whole == 0)
            return;
        while (whole > 0) {
            offer(b, whole, (struct bench_ask){0, MILLI_FULL, BENCH_GPUS_PER_HOST});
            (void)bench_free_gpus(b, &whole);
        }
    }
}
