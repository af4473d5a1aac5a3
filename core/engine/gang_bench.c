/* gang_bench - how long a decision about a gang takes, and how that grows with the cluster
 *
 *     gang_bench [leaf | leaf=GPUS:PERCENT | across | parity | wake]...    default: all of them
 *
 *   leaf     8 pods of 8 GPUs that require one leaf, on clusters of 1k to 1M GPUs. One leaf in a
 *            hundred was emptied, else no leaf of a busy cluster would ever be free; for the noes
 *            gangs take them first.
 *   across   512 pods of 8 GPUs on 100k GPUs, over leaves and spines, and its refusal
 *   parity   the gang workloads of the Kubernetes scheduler's own benchmark, every rack considered
 *   wake     10,000 waiting jobs of 1,000 different asks after an event that wakes them all
 *
 * Every decision is one step of the scheduler (decode, apply, queue, search, decide) and is rolled
 * back before the next, but for parity, where the pods stay. Asks are drawn anew unless a row says
 * that one ask came again and again: then what is remembered of it helps. Beside each row: the same
 * asks answered by looks at every host, decision by decision the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/bench.h"

#define DECISIONS 1000
#define FEWEST    100 /* decisions that a percentile is told of */
#define ROUNDS    3
#define ROUND_NS  2000000000 /* a round of slow decisions ends then, if it has the fewest */
#define CELLS_MAX 32

#define LEAF_NS     1000000
#define ACROSS_NS   20000000
#define REFUSED_NS  10000000
#define WAKE_NS     50000000
#define PARITY_RATE 20000

static const char *verdict(bool is_met)
{
    return is_met ? "PASS" : "MISS";
}

/* ---- asks ---- */

struct gang {
    uint64_t required;
    int64_t cpu_milli, mem_mib;
    uint32_t pods, class_id;
    uint8_t gpus;
};

static void put_gang(struct bench *b, const struct gang *g)
{
    struct event e = {.kind = EVENT_JOB};

    e.job = (struct event_job){.est_ns = -1,
                               .required = g->required,
                               .key = b->next_key++,
                               .team = ROW_NONE,
                               .flags = JOB_SHARES_CARD,
                               .podset_count = 1};
    bench_put(b, &e);
    e = (struct event){.kind = EVENT_PODSET};
    e.podset = (struct event_podset){.cpu_milli = g->cpu_milli,
                                     .mem_mib = g->mem_mib,
                                     .pods = g->pods,
                                     .pods_min = g->pods,
                                     .profile = ROW_NONE,
                                     .class_id = g->class_id,
                                     .milli = MILLI_FULL,
                                     .gpus = g->gpus,
                                     .slice_scope = SCOPE_OF_CLUSTER};
    bench_put(b, &e);
}

/* A gang of pods of whole hosts that any host may hold; what it asks beside GPUs is drawn. */
static struct gang draw_gang(struct bench *b, uint32_t pods, uint64_t required)
{
    return (struct gang){.required = required,
                         .cpu_milli = 8 * (4000 + 500 * (int64_t)prng_below(&b->prng, 24)),
                         .mem_mib = 8 * (16384 + 1024 * (int64_t)prng_below(&b->prng, 96)),
                         .pods = pods,
                         .class_id = 4 * (uint32_t)prng_below(&b->prng, BENCH_POD_CLASSES / 4),
                         .gpus = BENCH_GPUS_PER_HOST};
}

/* ---- rows ---- */

struct times {
    int64_t ns[DECISIONS];
    uint64_t answer[DECISIONS]; /* hash of what was decided */
    uint32_t count;
    int64_t p50_ns, p99_ns;
};

/* p99 of a row, for how it grows. */
struct cell_figure {
    const char *what;
    uint32_t gpus;
    unsigned percent;
    int64_t p99_ns;
};

static struct {
    struct cell_figure cell[CELLS_MAX * 4];
    uint32_t cells;
} figures;

static void set_scan(struct bench *b, bool scan)
{
    model_begin(b->s.m);
    config_edit(b->s.m)->scan_all = scan;
    model_commit(b->s.m);
}

static uint64_t answer_of(const struct sched *s)
{
    const struct decision *d = &s->decision[0];
    uint64_t hash = hash_mix((uint64_t)d->kind << 32 | d->refusal.code);

    if (d->kind != DECISION_START)
        return hash_mix(hash ^ (uint64_t)d->refusal.binding << 32 ^ d->refusal.best_pods);
    for (uint32_t n = 0; n < d->seat_count; n++) {
        const struct decision_seat *t = &s->seat[d->seat_first + n];

        hash = hash_mix(hash ^ ((uint64_t)t->host << 16 | t->devices)) + t->pod;
    }
    return hash;
}

/* Decides the gangs one by one, each timed and rolled back; all must be started, or all refused. */
static void measure(struct bench *b, uint32_t pods, uint64_t required, bool anew, bool yes,
                    struct times *t)
{
    struct prng before = b->prng;
    struct gang g = draw_gang(b, pods, required);
    int64_t began;

    /* One decision that is not counted makes the tables large enough. */
    put_gang(b, &g);
    bench_step(b);
    bench_put_end(b, b->next_key - 1);
    bench_step(b);
    began = bench_ns();
    t->count = 0;
    while (t->count < DECISIONS && (t->count < FEWEST || bench_ns() - began < ROUND_NS)) {
        int64_t start;

        if (anew)
            g = draw_gang(b, pods, required);
        b->size = 0;
        put_gang(b, &g);
        model_begin(b->s.m);
        start = bench_ns();
        (void)sched_step(&b->s, b->bytes, b->size);
        t->ns[t->count] = bench_ns() - start;
        must(b->s.decision_count == 1);
        must((b->s.decision[0].kind == DECISION_START) == yes);
        t->answer[t->count++] = answer_of(&b->s);
        model_rollback(b->s.m);
        b->next_key--;
    }
    b->size = 0;
    b->prng = before;
}

/* The best of the rounds: what else runs on the machine only ever adds. */
static void best_of(struct times *t)
{
    int64_t p50 = bench_percentile(t->ns, t->count, 500);
    int64_t p99 = bench_percentile(t->ns, t->count, 990);

    t->p50_ns = t->p50_ns == 0 || p50 < t->p50_ns ? p50 : t->p50_ns;
    t->p99_ns = t->p99_ns == 0 || p99 < t->p99_ns ? p99 : t->p99_ns;
}

/* One row: by the index, and by a scan that must decide the same. */
static void row(struct bench *b, const char *what, unsigned percent, uint32_t pods,
                uint64_t required, bool anew, bool yes, int64_t aim_ns)
{
    static struct times ours, scan;

    ours.p50_ns = ours.p99_ns = scan.p50_ns = scan.p99_ns = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        measure(b, pods, required, anew, yes, &ours);
        best_of(&ours);
    }
    set_scan(b, true);
    measure(b, pods, required, anew, yes, &scan);
    set_scan(b, false);
    for (uint32_t n = 0; n < ours.count && n < scan.count; n++)
        must(ours.answer[n] == scan.answer[n]);
    best_of(&scan);
    printf("  %-24s n=%-4u  p50 %9.1f  p99 %9.1f us   scan p50 %9.1f  p99 %9.1f (x %.0f)   "
           "p99 <= %.0f %s\n",
           what, ours.count, (double)ours.p50_ns / 1e3, (double)ours.p99_ns / 1e3,
           (double)scan.p50_ns / 1e3, (double)scan.p99_ns / 1e3,
           (double)scan.p50_ns / (double)ours.p50_ns, (double)aim_ns / 1e3,
           verdict(ours.p99_ns <= aim_ns));
    fflush(stdout);
    must(figures.cells < CELLS_MAX * 4);
    figures.cell[figures.cells++] =
        (struct cell_figure){what, b->hosts * BENCH_GPUS_PER_HOST, percent, ours.p99_ns};
}

static double exponent(const struct cell_figure *from, const struct cell_figure *to)
{
    return log((double)to->p99_ns / (double)from->p99_ns) /
           log((double)to->gpus / (double)from->gpus);
}

/* p99 = a * GPUS^exponent between a size and the next larger one of equal occupancy, and over all
 * sizes of it. */
static void growth(const char *what, unsigned percent)
{
    const struct cell_figure *first = 0, *last = 0;

    for (uint32_t n = 0; n < figures.cells; n++) {
        const struct cell_figure *c = &figures.cell[n];

        if (c->percent != percent || strcmp(c->what, what) != 0)
            continue;
        if (!first)
            first = c;
        else if (last == first)
            printf("  %-24s at %2u %%:", what, percent);
        if (last)
            printf("  %u-%u: %+.2f", last->gpus, c->gpus, exponent(last, c));
        last = c;
    }
    if (first != last)
        printf("  all: %+.2f\n", exponent(first, last));
}

/* ---- leaf ---- */

#define LEAF_SCOPE ((uint64_t)1 << SCOPE_OF_LEVEL)

static void say_cluster(const struct bench *b)
{
    uint32_t whole;
    uint64_t free_gpus = bench_free_gpus(b, &whole);

    printf("%u GPUs, %.1f %% held, %u hosts wholly free\n", b->hosts * BENCH_GPUS_PER_HOST,
           100 - 100.0 * (double)free_gpus / (b->hosts * BENCH_GPUS_PER_HOST), whole);
}

/* Gangs take so many leaves before the mix comes, and leave after the departures. */
static void fill_beside_leaves(struct bench *b, unsigned percent, uint32_t leaves)
{
    uint64_t gpus = (uint64_t)b->hosts * BENCH_GPUS_PER_HOST;
    unsigned more = (unsigned)(((uint64_t)leaves * 6400 + gpus - 1) / gpus);

    for (uint32_t n = 0; n < leaves; n++) {
        struct gang g = draw_gang(b, 8, LEAF_SCOPE);

        put_gang(b, &g);
        bench_step(b);
    }
    bench_fill(b, percent + more < 98 ? percent + more : 98);
    for (uint32_t key = 0; key < leaves; key++)
        if (index_job_find(b->s.m, key) != ROW_NONE)
            bench_put_end(b, key);
    bench_step(b);
    bench_empty_queue(b);
}

/* Gangs take the free leaves, until one is refused. */
static void take_leaves(struct bench *b)
{
    uint32_t waiting;

    do {
        struct gang g = draw_gang(b, 8, LEAF_SCOPE);

        put_gang(b, &g);
        bench_step(b);
        (void)index_waiting(b->s.m, &waiting);
    } while (waiting == 0);
    bench_empty_queue(b);
}

static void leaf_cell(uint32_t gpus, unsigned percent)
{
    static struct bench b;
    uint32_t leaves = gpus / 64;

    bench_open(&b, gpus);
    bench_step(&b);
    if (percent > 0)
        fill_beside_leaves(&b, percent, leaves / 100 ? leaves / 100 : 1);
    say_cluster(&b);
    row(&b, "leaf, yes", percent, 8, LEAF_SCOPE, true, true, LEAF_NS);
    row(&b, "leaf, yes, again", percent, 8, LEAF_SCOPE, false, true, LEAF_NS);
    if (percent > 0) {
        take_leaves(&b);
        row(&b, "leaf, no", percent, 8, LEAF_SCOPE, true, false, LEAF_NS);
    }
    bench_close(&b);
}

static void leaf(void)
{
    static const unsigned percents[] = {0, 70, 95};
    static const char *const whats[] = {"leaf, yes", "leaf, yes, again", "leaf, no"};

    printf("8 pods of 8 GPUs in one leaf\n");
    for (uint32_t gpus = 1000; gpus <= 1000000; gpus *= 10)
        for (unsigned n = 0; n < 3; n++)
            leaf_cell(gpus, percents[n]);
    printf("growth of the p99, as an exponent of the GPUs\n");
    for (unsigned w = 0; w < 3; w++)
        for (unsigned n = 0; n < 3; n++)
            growth(whats[w], percents[n]);
}

/* ---- across ---- */

/* A gang takes so many hosts and stays. */
static void take_hosts(struct bench *b, uint32_t pods)
{
    struct gang g = draw_gang(b, pods, 0);

    put_gang(b, &g);
    bench_step(b);
    must(b->s.decision_count == 1 && b->s.decision[0].kind == DECISION_START);
}

static void across_cell(unsigned percent)
{
    static struct bench b;

    bench_open(&b, 100000);
    bench_step(&b);
    bench_fill(&b, percent);
    if (percent < 90) {
        say_cluster(&b);
        row(&b, "across, yes", percent, 512, 0, true, true, ACROSS_NS);
    } else {
        take_hosts(&b, 256); /* there were some more than 512 */
        say_cluster(&b);
        row(&b, "across, no", percent, 512, 0, true, false, REFUSED_NS);
        bench_scatter(&b, percent);
        say_cluster(&b);
        row(&b, "across, no, scattered", percent, 512, 0, true, false, REFUSED_NS);
    }
    bench_close(&b);
}

static void across(void)
{
    printf("512 pods of 8 GPUs over leaves\n");
    across_cell(0);
    across_cell(70);
    across_cell(95);
}

/* ---- parity ---- */

#define PARITY_HOSTS   5000
#define PARITY_RACKS   50
#define PARITY_MILLI   100
#define PARITY_MIB     500
#define PARITY_ROUNDS  10
#define PUBLISHED_LOW  104
#define PUBLISHED_HIGH 642

static void open_racks(struct bench *b, uint8_t gpus)
{
    struct event e = {.kind = EVENT_LEVEL};

    bench_open_bare(b);
    b->hosts = PARITY_HOSTS;
    e.level = (struct event_level){0, 0, 0};
    bench_put(b, &e);
    for (uint32_t d = 0; d < PARITY_RACKS; d++) {
        e = (struct event){.kind = EVENT_DOMAIN};
        e.domain = (struct event_domain){d, 0, ROW_NONE};
        bench_put(b, &e);
    }
    e = (struct event){.kind = EVENT_CLASS};
    e.class.models = UINT64_MAX;
    memset(e.class.nodes, 0xFF, sizeof(e.class.nodes));
    bench_put(b, &e);
    for (uint32_t h = 0; h < PARITY_HOSTS; h++) {
        e = (struct event){.kind = EVENT_HOST};
        e.host = (struct event_host){.host = h,
                                     .cpu_milli = 4000,
                                     .mem_mib = 32768,
                                     .pods = 110,
                                     .extra = {UNLIMITED, UNLIMITED},
                                     .shape = ROW_NONE,
                                     .gpus = gpus};
        memset(e.host.domain, 0xFF, sizeof(e.host.domain));
        e.host.domain[0] = h % PARITY_RACKS;
        bench_put(b, &e);
    }
    bench_step(b);
}

/* Submits the gangs one a step; returns the time of the steps. */
static int64_t submit_all(struct bench *b, uint32_t gangs, const struct gang *g)
{
    int64_t sum = 0;

    for (uint32_t n = 0; n < gangs; n++) {
        int64_t start;

        put_gang(b, g);
        start = bench_ns();
        bench_step(b);
        sum += bench_ns() - start;
        must(b->s.decision_count == 1 && b->s.decision[0].kind == DECISION_START);
    }
    return sum;
}

/* All racks' hosts of the gangs, for how far they are spread: racks and hosts that a gang has. */
static double hosts_per_gang(const struct bench *b, uint32_t gangs, uint32_t *ret_racks_most)
{
    const struct model *m = b->s.m;
    uint64_t hosts = 0;

    *ret_racks_most = 0;
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
        uint64_t racks = 0;
        uint32_t host = ROW_NONE, racks_count = 0;

        if (job_row(m, j)->state != JOB_RUNNING)
            continue;
        for (uint32_t s = job_row(m, j)->seat_head; s != ROW_NONE;
             s = seat_row(m, s)->next_of_job) {
            hosts += seat_row(m, s)->host != host; /* pods are numbered along the hosts */
            host = seat_row(m, s)->host;
            racks |= (uint64_t)1 << board_row(m, host)->domain[0];
        }
        for (; racks; racks &= racks - 1)
            racks_count++;
        if (racks_count > *ret_racks_most)
            *ret_racks_most = racks_count;
    }
    return (double)hosts / gangs;
}

/* The first round makes the tables large enough; the others are measured. */
static void parity_row(uint8_t gpus, uint32_t gangs, uint32_t pods)
{
    static struct bench b;
    struct gang g = {.required = LEAF_SCOPE,
                     .cpu_milli = PARITY_MILLI,
                     .mem_mib = PARITY_MIB,
                     .pods = pods,
                     .gpus = gpus ? 1 : 0};
    double best = 0, worst = 0, spread = 0;
    uint32_t racks = 0;

    open_racks(&b, gpus);
    for (unsigned round = 0; round <= PARITY_ROUNDS; round++) {
        uint32_t first = b.next_key;
        double rate = (double)gangs * pods * 1e9 / (double)submit_all(&b, gangs, &g);

        spread = hosts_per_gang(&b, gangs, &racks);
        for (uint32_t key = first; key < b.next_key; key++)
            bench_put_end(&b, key);
        bench_step(&b);
        if (round == 0)
            continue;
        best = rate > best ? rate : best;
        worst = worst == 0 || rate < worst ? rate : worst;
    }
    printf("  %u %s nodes, %4u gangs of %4u: %9.0f pods/s, worst of %u rounds %9.0f >= %u %s   "
           "published %u to %u: x %.0f   %.2f hosts and %u rack a gang\n",
           PARITY_HOSTS, gpus ? "GPU" : "CPU", gangs, pods, best, PARITY_ROUNDS, worst, PARITY_RATE,
           verdict(worst >= PARITY_RATE), PUBLISHED_LOW, PUBLISHED_HIGH, worst / PUBLISHED_HIGH,
           spread, racks);
    fflush(stdout);
    must(racks == 1);
    bench_close(&b);
}

static void parity(void)
{
    printf("%u nodes in %u racks, pods of %u milli-cores and %u MiB, the rack required, every rack "
           "considered, one gang a step\n",
           PARITY_HOSTS, PARITY_RACKS, PARITY_MILLI, PARITY_MIB);
    parity_row(0, 750, 4);
    parity_row(0, 2250, 4);
    parity_row(0, 3, 1000);
    parity_row(0, 9, 1000);
    parity_row(8, 2250, 4);
    parity_row(8, 18, 500);
}

/* ---- wake ---- */

#define WAKE_JOBS   10000
#define WAKE_ASKS   1000
#define WAKE_ROUNDS 11

/* No host is wholly free: pods of whole hosts, alone, in gangs and in gangs of one leaf. */
static struct gang wake_gang(uint32_t ask)
{
    static const uint32_t pods[] = {1, 2, 4, 8};

    return (struct gang){.required = ask % 8 < 4 ? 0 : LEAF_SCOPE,
                         .cpu_milli = 8000 + 80 * (int64_t)ask,
                         .mem_mib = 16384 + 64 * (int64_t)ask,
                         .pods = pods[ask % 4],
                         .class_id = ask / 8 % BENCH_PICKY_CLASS,
                         .gpus = BENCH_GPUS_PER_HOST};
}

static void wake(void)
{
    static struct bench b;
    int64_t ns[WAKE_ROUNDS], first;
    uint32_t count;

    printf("%u waiting jobs of %u different asks, an event wakes all\n", WAKE_JOBS, WAKE_ASKS);
    bench_open(&b, 100000);
    bench_step(&b);
    bench_fill(&b, 97);
    bench_scatter(&b, 95);
    say_cluster(&b);
    for (uint32_t n = 0; n < WAKE_JOBS; n++) {
        struct gang g = wake_gang(n % WAKE_ASKS);

        put_gang(&b, &g);
    }
    first = bench_ns();
    bench_step(&b);
    first = bench_ns() - first;
    (void)index_waiting(b.s.m, &count);
    must(count == WAKE_JOBS);
    for (unsigned round = 0; round < WAKE_ROUNDS; round++) {
        struct event e = {.kind = EVENT_DEVICE};

        e.device = (struct event_device){round, 0, DEVICE_UP};
        bench_put(&b, &e);
        ns[round] = bench_ns();
        bench_step(&b);
        ns[round] = bench_ns() - ns[round];
        (void)index_waiting(b.s.m, &count);
        must(count == WAKE_JOBS);
    }
    printf("  the step that takes them in %.1f ms; woken: p50 %.1f ms, worst of %u %.1f ms <= %.0f "
           "%s\n",
           (double)first / 1e6, (double)bench_percentile(ns, WAKE_ROUNDS, 500) / 1e6, WAKE_ROUNDS,
           (double)bench_percentile(ns, WAKE_ROUNDS, 1000) / 1e6, WAKE_NS / 1e6,
           verdict(bench_percentile(ns, WAKE_ROUNDS, 1000) <= WAKE_NS));
    bench_close(&b);
}

int main(int argc, char **argv)
{
    bool all = argc == 1, bad = false;

    printf("times in us, the best of %u rounds; a round ends after %u decisions, or %u s if it has "
           "%u; a scan has one\n",
           ROUNDS, DECISIONS, ROUND_NS / 1000000000, FEWEST);
    if (all) {
        leaf();
        across();
        parity();
        wake();
    }
    for (int n = 1; n < argc && !bad; n++) {
        unsigned gpus = 0, percent = 0;

        if (sscanf(argv[n], "leaf=%u:%u", &gpus, &percent) == 2 && gpus >= 1000 && percent < 100)
            leaf_cell(gpus, percent);
        else if (strcmp(argv[n], "leaf") == 0)
            leaf();
        else if (strcmp(argv[n], "across") == 0)
            across();
        else if (strcmp(argv[n], "parity") == 0)
            parity();
        else if (strcmp(argv[n], "wake") == 0)
            wake();
        else
            bad = true;
    }
    if (bad)
        fprintf(stderr, "gang_bench: expected leaf, leaf=GPUS:PERCENT, across, parity or wake\n");
    return bad ? 2 : 0;
}
