/* sched_bench - how long a decision takes, how that grows, and what a GPU costs in memory
 *
 *     sched_bench [GPUS:PERCENT]...    default: 1k, 10k, 100k at 0, 70, 95 %, 1M at 70 %
 *
 * Clusters of 8-GPU hosts, 8 hosts a leaf, 16 leaves a spine, 5 machines (models) spread over 50
 * node classes, 200 pod classes; CPU, memory, pod limit and one countable resource are dynamic
 * limits. They are filled with the Acme mix, then random pods leave until the occupancy is met.
 * Every decision is one step of the scheduler (decode, apply, queue, search, decide) on an ask that
 * is drawn anew, and is rolled back before the next. Beside it: the same asks answered by a full scan
 * that reads no index, and what the machine can do at best. Yes and no are told apart.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/engine/sched.h"
#include "core/engine/snapshot.h"
#include "core/model/index.h"

#define NODE_CLASSES 50
#define POD_CLASSES 200
#define MODELS 5
#define DECISIONS 1000
#define EVENT_BYTES 8192

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, expr);
    abort();
}

struct bench {
    struct sched s;
    void *block;
    uint8_t *bytes;
    size_t size, limit;
    struct prng prng;
    uint32_t hosts, next_key;
};

static int64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static uint64_t rss_bytes(void)
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

static void put(struct bench *b, const struct event *e)
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

static void *block_new(const struct limits *l)
{
    size_t bytes = (sched_bytes(l) + 63) / 64 * 64;
    void *block = aligned_alloc(64, bytes);

    must(block);
    return block;
}

static void step(struct bench *b)
{
    struct limits l;

    while (sched_short(&b->s, b->bytes, b->size, &l)) {
        void *larger = block_new(&l);

        sched_move(&b->s, larger, &l);
        free(b->block);
        b->block = larger;
    }
    while (sched_step(&b->s, b->bytes, b->size))
        b->size = 0;
    b->size = 0;
}

/* ---- the cluster ---- */

static void put_levels(struct bench *b)
{
    uint32_t leaves = (b->hosts + 7) / 8, spines = (leaves + 15) / 16;
    struct event e = {.kind = EVENT_LEVEL};

    e.level = (struct event_level){0, 0, 0};
    put(b, &e);
    e.level = (struct event_level){1, 0, 1};
    put(b, &e);
    for (uint32_t d = 0; d < leaves + spines; d++) {
        e = (struct event){.kind = EVENT_DOMAIN};
        e.domain = (struct event_domain){d, d >= leaves, d < leaves ? leaves + d / 16 : ROW_NONE};
        put(b, &e);
    }
}

static void put_hosts(struct bench *b)
{
    uint32_t leaves = (b->hosts + 7) / 8;
    struct event e = {.kind = EVENT_SHAPE};

    e.shape = (struct event_shape){.shape = 0, .gpus = 8};
    memset(e.shape.part, SHAPE_NO_PART, sizeof(e.shape.part));
    for (unsigned d = 0; d < 8; d++) {
        e.shape.part[SHAPE_ISLAND * GPUS_MAX + d] = 0;
        e.shape.part[SHAPE_NUMA * GPUS_MAX + d] = (uint8_t)(d / 4);
        e.shape.part[SHAPE_PCIE * GPUS_MAX + d] = (uint8_t)(d / 2);
    }
    put(b, &e);
    for (uint32_t h = 0; h < b->hosts; h++) {
        uint32_t class_id = (h / 8 * 7 + h % 3) % NODE_CLASSES;

        e = (struct event){.kind = EVENT_HOST};
        e.host = (struct event_host){.host = h,
                                     .cpu_milli = 128000 + class_id % MODELS * 16000,
                                     .mem_mib = 1024 * 1024,
                                     .pods = 110,
                                     .extra = {256, UNLIMITED},
                                     .class_id = (uint8_t)class_id,
                                     .model = (uint8_t)(class_id % MODELS),
                                     .gpus = 8};
        memset(e.host.domain, 0xFF, sizeof(e.host.domain));
        e.host.domain[0] = h / 8;
        e.host.domain[1] = leaves + h / 8 / 16;
        put(b, &e);
    }
}

/* A quarter of the pod classes take any host; the others one model, or a part of the node classes. */
static void put_classes(struct bench *b)
{
    for (uint32_t c = 0; c < POD_CLASSES; c++) {
        struct event e = {.kind = EVENT_CLASS};

        e.class.class_id = c;
        e.class.models = c % 4 == 1 ? (uint64_t)1 << c / 4 % MODELS : UINT64_MAX;
        memset(e.class.nodes, 0xFF, sizeof(e.class.nodes));
        if (c % 4 > 1)
            for (unsigned w = 0; w < CLASSES_MAX / 64; w++)
                e.class.nodes[w] = prng_next(&b->prng) | prng_next(&b->prng);
        put(b, &e);
    }
}

/* GPU time of the Acme clusters is in large jobs: most GPUs are held by pods of whole hosts, most
 * pods are small (shares by pods of one host, from the published curves). */
static const struct {
    uint8_t gpus;
    uint16_t weight;
} acme[] = {{1, 540}, {2, 60}, {4, 60}, {8, 340}};

static uint8_t draw_gpus(struct bench *b)
{
    uint64_t at = prng_below(&b->prng, 1000);

    for (unsigned n = 0; n < 4; n++) {
        if (at < acme[n].weight)
            return acme[n].gpus;
        at -= acme[n].weight;
    }
    return 1;
}

static void put_mix(struct bench *b)
{
    /* Tables of the scorer for this mix, roughly as edge/sim/mix.c makes them: the bench is about
     * speed, and the shape of the tables is what counts. */
    struct event e = {.kind = EVENT_BALANCE};

    e.balance = (struct event_balance){.short_q20 = 65536,
                                       .spare_q20 = 59578,
                                       .starved_micro = 800,
                                       .short_micro = 800,
                                       .spare_micro = 450,
                                       .roomy_micro = 5};
    put(b, &e);
    for (uint32_t row = 0; row < LOSS_ROWS; row += EVENT_LOSS_ROWS) {
        e = (struct event){.kind = EVENT_LOSS};
        e.loss.row = (uint16_t)row;
        for (uint32_t n = 0; n < EVENT_LOSS_ROWS; n++) {
            uint32_t at = row + n;

            e.loss.waste_micro[n] = at < 1000 ? (int64_t)at * 2300 : 0;
            e.loss.broken_micro[n] = at <= 16 ? (int64_t)(at % 8) * 140000 + at % 2 * 9000 : 0;
            e.loss.starved_ppm[n] = at < 512 ? 1000000 - (int64_t)at * 1950 : 0;
        }
        put(b, &e);
    }
}

static void put_job(struct bench *b, uint8_t gpus, uint16_t milli, uint32_t class_id)
{
    struct event e = {.kind = EVENT_JOB};
    uint32_t units = gpus ? gpus : 1;

    e.job = (struct event_job){.est_ns = -1,
                               .key = b->next_key++,
                               .team = ROW_NONE,
                               .flags = JOB_SHARES_CARD,
                               .podset_count = 1};
    put(b, &e);
    e = (struct event){.kind = EVENT_PODSET};
    e.podset = (struct event_podset){
        .cpu_milli = (int64_t)(units * (4000 + 500 * prng_below(&b->prng, 24)) * milli / 1000),
        .mem_mib = (int64_t)(units * (16384 + 1024 * prng_below(&b->prng, 96)) * milli / 1000),
        .extra = {(int64_t)prng_below(&b->prng, 4) * units, 0},
        .pods = 1,
        .pods_min = 1,
        .profile = ROW_NONE,
        .class_id = class_id,
        .milli = milli,
        .gpus = gpus,
        .slice_scope = SCOPE_OF_CLUSTER};
    put(b, &e);
}

static void bench_open(struct bench *b, uint32_t gpus)
{
    struct limits l = sched_limits_small();
    struct event e = {.kind = EVENT_CONFIG};

    memset(b, 0, sizeof(*b));
    prng_init(&b->prng, 7);
    b->hosts = gpus / 8;
    b->block = block_new(&l);
    sched_init(&b->s, b->block, &l);
    e.config = (struct event_config){.order = ORDER_FIFO, .budget_steps = 1000000};
    e.config.drop_never = 0;
    put(b, &e);
    put_levels(b);
    put_classes(b);
    put_mix(b);
    put_hosts(b);
    step(b);
}

static void bench_close(struct bench *b)
{
    free(b->block);
    free(b->bytes);
}

static uint64_t free_whole_gpus(const struct bench *b, uint32_t *ret_hosts)
{
    uint64_t free_milli = 0;

    *ret_hosts = 0;
    for (uint32_t c = index_cell_first(b->s.m, ROW_NONE); c != ROW_NONE;
         c = index_cell(b->s.m, c)->next) {
        free_milli += index_cell(b->s.m, c)->free_milli;
        *ret_hosts += index_cell(b->s.m, c)->by_whole[8];
    }
    return free_milli / 1000;
}

static void leave(struct bench *b, uint32_t key)
{
    struct event e = {.kind = EVENT_END};

    e.end.key = key;
    put(b, &e);
}

/* Fills until nothing more of the mix fits well, then random pods leave. */
static void fill(struct bench *b, unsigned percent)
{
    uint64_t all = (uint64_t)b->hosts * 8, target = all * (100 - percent) / 100;
    uint32_t whole, first = b->next_key;

    if (percent == 0)
        return;
    while (free_whole_gpus(b, &whole) > all / 50) {
        for (unsigned n = 0; n < 256; n++)
            put_job(b, draw_gpus(b), 1000, (uint32_t)prng_below(&b->prng, POD_CLASSES));
        step(b);
    }
    /* What waits leaves first; then the lot decides. */
    for (uint32_t count, n = 0; n < 1000000; n++) {
        const uint32_t *waiting = index_waiting(b->s.m, &count);

        if (count == 0)
            break;
        leave(b, job_row(b->s.m, waiting[count - 1])->key);
        step(b);
    }
    while (free_whole_gpus(b, &whole) < target) {
        for (unsigned n = 0; n < 64; n++)
            leave(b, first + (uint32_t)prng_below(&b->prng, b->next_key - first));
        step(b);
    }
}

/* ---- decisions ---- */

struct kind_of_ask {
    const char *name;
    uint8_t gpus;
    uint16_t milli;
};

struct times {
    int64_t ns[DECISIONS];
    uint32_t count;
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

static int64_t percentile(struct times *t, unsigned permille)
{
    if (t->count == 0)
        return 0;
    qsort(t->ns, t->count, sizeof(t->ns[0]), by_size);
    return t->ns[((uint64_t)t->count * permille + 999) / 1000 - 1];
}

static void set_scan(struct bench *b, bool scan)
{
    model_begin(b->s.m);
    config_edit(b->s.m)->scan_all = scan;
    model_commit(b->s.m);
}

/* One decision, timed and rolled back. True: it was a start. */
static bool decide(struct bench *b, int64_t *ret_ns, struct decision *ret_decision,
                   struct decision_seat *ret_seat)
{
    int64_t start;
    bool yes;

    model_begin(b->s.m);
    start = clock_ns();
    (void)sched_step(&b->s, b->bytes, b->size);
    *ret_ns = clock_ns() - start;
    must(b->s.decision_count == 1);
    *ret_decision = b->s.decision[0];
    yes = ret_decision->kind == DECISION_START;
    if (yes)
        *ret_seat = b->s.seat[0];
    model_rollback(b->s.m);
    return yes;
}

static void row(const char *what, const char *name, struct times *t)
{
    if (t->count < 100) {
        printf("  %-10s %-4s n/a (%u)\n", name, what, t->count);
        return;
    }
    int64_t p50 = percentile(t, 500), p99 = percentile(t, 990);

    printf("  %-10s %-4s n=%-5u p50 %8.2f us  p99 %8.2f us\n", name, what, t->count,
           (double)p50 / 1000, (double)p99 / 1000);
}

static void measure(struct bench *b, const struct kind_of_ask *ask, bool scan, uint32_t decisions)
{
    struct times yes = {.count = 0}, no = {.count = 0};
    char name[32];

    set_scan(b, scan);
    (void)snprintf(name, sizeof(name), "%s%s", ask->name, scan ? " scan" : "");
    for (uint32_t n = 0; n < decisions; n++) {
        struct decision d;
        struct decision_seat seat;
        int64_t ns;

        b->size = 0;
        put_job(b, ask->gpus, ask->milli ? ask->milli : (uint16_t)(100 + prng_below(&b->prng, 850)),
                (uint32_t)prng_below(&b->prng, POD_CLASSES));
        if (decide(b, &ns, &d, &seat))
            yes.ns[yes.count++] = ns;
        else
            no.ns[no.count++] = ns;
    }
    b->size = 0;
    row("yes", name, &yes);
    row("no", name, &no);
    set_scan(b, false);
}

/* The same asks by index and by scan: how often the same host, and what the others cost more. */
static void agreement(struct bench *b, uint32_t decisions)
{
    uint32_t same = 0, starts = 0;
    int64_t regret = 0;

    for (uint32_t n = 0; n < decisions; n++) {
        static const uint8_t sizes[] = {1, 1, 2, 4, 8};
        uint8_t gpus = sizes[prng_below(&b->prng, 5)];
        uint16_t milli =
            gpus == 1 && n % 2 ? (uint16_t)(100 + prng_below(&b->prng, 850)) : MILLI_FULL;
        struct decision by_index, by_scan;
        struct decision_seat one, two;
        int64_t ns;
        bool yes;

        b->size = 0;
        put_job(b, gpus, milli, (uint32_t)prng_below(&b->prng, POD_CLASSES));
        yes = decide(b, &ns, &by_index, &one);
        set_scan(b, true);
        must(decide(b, &ns, &by_scan, &two) == yes);
        set_scan(b, false);
        if (!yes)
            continue;
        starts++;
        same += one.host == two.host;
        regret += by_index.plan.best.cost - by_scan.plan.best.cost;
    }
    b->size = 0;
    printf("  index = scan in %.2f %% of %u starts, mean regret %.1f micro-GPU (aim 99 %%)\n",
           starts ? 100.0 * same / starts : 0, starts, starts ? (double)regret / starts : 0);
}

/* What the machine can do: a pass over the free counts, and a chain of misses. */
static void floors(const struct bench *b)
{
    enum { CHAIN = 1 << 22 };
    uint32_t *chain = malloc(CHAIN * sizeof(*chain)), at = 0;
    uint8_t *counts = malloc(b->hosts + 1);
    volatile uint64_t result = 0;
    int64_t start, pass = INT64_MAX, miss;

    must(chain && counts);
    for (uint32_t h = 0; h < b->hosts; h++)
        counts[h] = (uint8_t)(h * 7 % 9);
    for (unsigned n = 0; n < 20; n++) {
        uint64_t sum = 0;
        int64_t ns;

        start = clock_ns();
        for (uint32_t h = 0; h < b->hosts; h++)
            sum += counts[h] >= 8;
        ns = clock_ns() - start;
        result = sum;
        pass = ns < pass ? ns : pass;
    }
    for (uint32_t n = 0; n < CHAIN; n++)
        chain[n] = (n * 1664525u + 1013904223u) % CHAIN;
    start = clock_ns();
    for (unsigned n = 0; n < 200000; n++)
        at = chain[at];
    miss = (clock_ns() - start) / 200000;
    result = at;
    (void)result;
    printf("  floor: one pass over the free counts %.2f us, one dependent miss %lld ns\n",
           (double)pass / 1000, (long long)miss);
    free(chain);
    free(counts);
}

static void memory(struct bench *b, uint64_t rss_before)
{
    uint64_t gpus = (uint64_t)b->hosts * 8, pods = model_head(b->s.m, TABLE_SEAT)->live;

    printf("  memory: block %.0f MiB, RSS grew by %.0f MiB for %" PRIu64 " GPUs and %" PRIu64
           " pods\n",
           (double)b->s.m->bytes / 1048576, (double)(rss_bytes() - rss_before) / 1048576, gpus,
           pods);
}

static void size_row(uint32_t gpus, unsigned percent, bool compare)
{
    static const struct kind_of_ask asks[] = {{"1 GPU", 1, 1000}, {"share", 1, 0}, {"8 GPU", 8, 1000}};
    uint64_t rss = rss_bytes();
    struct bench b;
    uint32_t whole;
    uint64_t free_gpus;

    bench_open(&b, gpus);
    fill(&b, percent);
    free_gpus = free_whole_gpus(&b, &whole);
    printf("%u GPUs, %.1f %% held, %u hosts wholly free\n", gpus,
           100 - 100.0 * (double)free_gpus / gpus, whole);
    for (unsigned n = 0; n < 3; n++) {
        measure(&b, &asks[n], false, DECISIONS);
        measure(&b, &asks[n], true, gpus > 200000 ? 100 : DECISIONS);
    }
    if (compare)
        agreement(&b, gpus > 2000 ? 20000 : 100000);
    memory(&b, rss);
    floors(&b);
    fflush(stdout);
    bench_close(&b);
}

int main(int argc, char **argv)
{
    static const unsigned percent[] = {0, 70, 95};

    if (argc > 1) {
        for (int n = 1; n < argc; n++) {
            char *colon;
            uint32_t gpus = (uint32_t)strtoul(argv[n], &colon, 10);

            size_row(gpus, *colon == ':' ? (unsigned)strtoul(colon + 1, NULL, 10) : 70,
                     gpus <= 10000);
        }
        return 0;
    }
    for (uint32_t gpus = 1000; gpus <= 100000; gpus *= 10)
        for (unsigned n = 0; n < 3; n++)
            size_row(gpus, percent[n], gpus <= 10000);
    size_row(1000000, 70, false);
    return 0;
}
