/* sched_bench - how long a decision takes, and how that grows with the cluster
 *
 *     sched_bench [GPUS:PERCENT]...    default: 1k, 10k, 100k at 0, 70, 95 %, 1M at 70 %
 *
 * Every decision is one step of the scheduler (decode, apply, queue, search, decide) on an ask that
 * is drawn anew, and is rolled back before the next. Yes and no are told apart; a cell of fewer
 * than 100 says so. No decision is remembered: there is no cache whose hits could be counted.
 * Beside each row: the same kind of asks answered by a look at every host, and at the end what the
 * machine can do at best. The noes come twice: from a node class that is filled to the brim, and
 * from whole hosts where all that is free is scattered.
 *
 * Percentiles are the best of three rounds: what else runs on the machine only ever adds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/bench.h"

#define DECISIONS       1000
#define FEWEST          100 /* decisions that a percentile is told of */
#define ROUNDS          3
#define ROUND_NS        2000000000 /* a round of slow decisions ends then, if it has the fewest */
#define AGREE_GPUS_MAX  10000
#define AGREE_DECISIONS 17000 /* a cell; six cells are 100,000 */

#define YES_NS        20000
#define YES_1K_P50_NS 3000
#define NO_NS         100000
#define EXPONENT      0.2
#define AGREE         0.99

enum { ASK_ONE, ASK_SHARE, ASK_HOST, ASKS };
static const struct {
    const char *name;
    uint8_t gpus;
    uint16_t milli; /* 0: drawn */
} asks[ASKS] = {{"1 GPU", 1, 1000}, {"share", 1, 0}, {"8 GPU", 8, 1000}};

/* Durations of one round, and the best percentiles of the rounds. */
struct times {
    int64_t ns[DECISIONS];
    uint32_t count, count_all;
    int64_t p50_ns, p99_ns;
};

/* p99 of the yes rows by size, for how they grow. */
struct cell_figure {
    uint32_t gpus;
    unsigned percent;
    int64_t p99_ns[ASKS];
};

struct figures {
    struct cell_figure cell[32];
    uint32_t cells;
    uint64_t starts, same;
    int64_t regret;
};

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
    start = bench_ns();
    (void)sched_step(&b->s, b->bytes, b->size);
    *ret_ns = bench_ns() - start;
    must(b->s.decision_count == 1);
    *ret_decision = b->s.decision[0];
    yes = ret_decision->kind == DECISION_START;
    if (yes)
        *ret_seat = b->s.seat[0];
    model_rollback(b->s.m);
    return yes;
}

static void draw_ask(struct bench *b, unsigned ask, bool picky)
{
    struct bench_ask a = {.gpus = asks[ask].gpus, .milli = asks[ask].milli};

    if (a.milli == 0)
        a.milli = (uint16_t)(100 + prng_below(&b->prng, 850));
    a.class_id = picky ? BENCH_PICKY_CLASS : bench_draw_class(b);
    b->size = 0;
    bench_put_job(b, a);
}

/* Ends a round: its percentiles count where they are the best. */
static void best_of(struct times *t)
{
    int64_t p50 = bench_percentile(t->ns, t->count, 500);
    int64_t p99 = bench_percentile(t->ns, t->count, 990);

    if (t->count >= FEWEST) {
        t->p50_ns = t->p50_ns == 0 || p50 < t->p50_ns ? p50 : t->p50_ns;
        t->p99_ns = t->p99_ns == 0 || p99 < t->p99_ns ? p99 : t->p99_ns;
    }
    t->count_all = t->count > t->count_all ? t->count : t->count_all;
    t->count = 0;
}

static void measure(struct bench *b, unsigned ask, bool picky, unsigned rounds, struct times *yes,
                    struct times *no)
{
    memset(yes, 0, sizeof(*yes));
    memset(no, 0, sizeof(*no));
    for (unsigned round = 0; round < rounds; round++) {
        int64_t start = bench_ns();

        for (uint32_t n = 0; n < DECISIONS; n++) {
            struct decision d;
            struct decision_seat seat;
            int64_t ns;

            if (n >= FEWEST && bench_ns() - start > ROUND_NS)
                break;
            draw_ask(b, ask, picky);
            if (decide(b, &ns, &d, &seat))
                yes->ns[yes->count++] = ns;
            else
                no->ns[no->count++] = ns;
        }
        best_of(yes);
        best_of(no);
    }
    b->size = 0;
}

static const char *verdict(bool is_met)
{
    return is_met ? "PASS" : "MISS";
}

/* One row: ours, the scan's, and the aim. */
static void print_row(const struct bench *b, const char *what, const char *name,
                      const struct times *t, const struct times *scan, int64_t aim_ns)
{
    bool small = b->hosts * BENCH_GPUS_PER_HOST <= 1000 && aim_ns == YES_NS;

    if (t->p99_ns == 0) {
        printf("  %-22s %-6s n/a (%u)\n", what, name, t->count_all);
        return;
    }
    printf("  %-22s %-6s n=%-4u  p50 %8.2f  p99 %8.2f us", what, name, t->count_all,
           (double)t->p50_ns / 1000, (double)t->p99_ns / 1000);
    if (scan->p99_ns)
        printf("   scan p50 %9.2f  p99 %9.2f", (double)scan->p50_ns / 1000,
               (double)scan->p99_ns / 1000);
    else
        printf("   scan n/a (%u)%24s", scan->count_all, "");
    printf("   p99 <= %.0f %s", (double)aim_ns / 1000, verdict(t->p99_ns <= aim_ns));
    if (small)
        printf(", p50 <= %.0f %s", YES_1K_P50_NS / 1000.0, verdict(t->p50_ns <= YES_1K_P50_NS));
    printf("\n");
    fflush(stdout);
}

static void drawn_rows(struct bench *b, struct cell_figure *figure)
{
    static struct times yes, no, scan_yes, scan_no;

    for (unsigned ask = 0; ask < ASKS; ask++) {
        measure(b, ask, false, ROUNDS, &yes, &no);
        set_scan(b, true);
        measure(b, ask, false, 1, &scan_yes, &scan_no);
        set_scan(b, false);
        print_row(b, "yes", asks[ask].name, &yes, &scan_yes, YES_NS);
        print_row(b, "no", asks[ask].name, &no, &scan_no, NO_NS);
        figure->p99_ns[ask] = yes.p99_ns;
    }
}

/* Asks that find nothing: of a node class without a free device, and, where so much is held that
 * the rest can be scattered, of whole hosts. */
static void refused_rows(struct bench *b, unsigned percent)
{
    static struct times yes, no, scan_yes, scan_no;
    uint32_t whole;

    bench_fill_picky(b);
    for (unsigned ask = 0; ask < ASKS; ask++) {
        measure(b, ask, true, ROUNDS, &yes, &no);
        set_scan(b, true);
        measure(b, ask, true, 1, &scan_yes, &scan_no);
        set_scan(b, false);
        print_row(b, "no, node class full", asks[ask].name, &no, &scan_no, NO_NS);
    }
    if (percent < 90)
        return;
    bench_scatter(b, percent);
    measure(b, ASK_HOST, false, ROUNDS, &yes, &no);
    set_scan(b, true);
    measure(b, ASK_HOST, false, 1, &scan_yes, &scan_no);
    set_scan(b, false);
    print_row(b, "no, scattered", asks[ASK_HOST].name, &no, &scan_no, NO_NS);
    printf("  %-22s %llu GPUs free, ", "", (unsigned long long)bench_free_gpus(b, &whole));
    printf("%u hosts wholly free\n", whole);
}

/* The same asks by index and by scan: how often the same seat, and what the others cost more. */
static void agreement(struct bench *b, struct figures *f)
{
    uint32_t same = 0, starts = 0;
    int64_t regret = 0;

    for (uint32_t n = 0; n < AGREE_DECISIONS; n++) {
        static const uint8_t sizes[] = {1, 1, 2, 4, 8};
        uint8_t gpus = sizes[prng_below(&b->prng, 5)];
        uint16_t milli =
            gpus == 1 && n % 2 ? (uint16_t)(100 + prng_below(&b->prng, 850)) : MILLI_FULL;
        struct decision by_index, by_scan;
        struct decision_seat one, two;
        int64_t ns;
        bool yes;

        b->size = 0;
        bench_put_job(b, (struct bench_ask){bench_draw_class(b), milli, gpus});
        yes = decide(b, &ns, &by_index, &one);
        set_scan(b, true);
        must(decide(b, &ns, &by_scan, &two) == yes);
        set_scan(b, false);
        if (!yes)
            continue;
        starts++;
        same += one.host == two.host && one.devices == two.devices;
        regret += by_index.plan.best.cost - by_scan.plan.best.cost;
    }
    b->size = 0;
    f->starts += starts;
    f->same += same;
    f->regret += regret;
    printf("  index and scan agree in %.2f %% of %u starts, mean regret %.1f micro-GPU\n",
           starts ? 100.0 * same / starts : 0, starts, starts ? (double)regret / starts : 0);
}

static void size_cell(struct figures *f, uint32_t gpus, unsigned percent)
{
    static struct bench b;
    struct cell_figure *figure = &f->cell[f->cells++];
    uint64_t free_gpus;
    uint32_t whole;

    must(f->cells <= sizeof(f->cell) / sizeof(f->cell[0]));
    *figure = (struct cell_figure){.gpus = gpus, .percent = percent};
    bench_open(&b, gpus);
    bench_step(&b);
    bench_fill(&b, percent);
    free_gpus = bench_free_gpus(&b, &whole);
    printf("%u GPUs, %.1f %% held, %u hosts wholly free", gpus,
           100 - 100.0 * (double)free_gpus / gpus, whole);
    if (gpus == 100000 && percent == 70)
        printf(" (at least 600: %s)", verdict(whole >= 600));
    printf("\n");
    fflush(stdout);
    drawn_rows(&b, figure);
    if (gpus <= AGREE_GPUS_MAX)
        agreement(&b, f);
    if (percent > 0)
        refused_rows(&b, percent);
    bench_close(&b);
}

/* ---- over all cells ---- */

static double exponent(int64_t from_ns, int64_t to_ns, uint32_t from_gpus, uint32_t to_gpus)
{
    return log((double)to_ns / (double)from_ns) / log((double)to_gpus / (double)from_gpus);
}

/* p99 = a * GPUS^exponent between a size and the next larger one of equal occupancy, and over all
 * sizes of it. */
static void growth(const struct figures *f, unsigned percent, unsigned ask)
{
    const struct cell_figure *first = 0, *last = 0;

    for (uint32_t n = 0; n < f->cells; n++) {
        const struct cell_figure *c = &f->cell[n];

        if (c->percent != percent || c->p99_ns[ask] == 0)
            continue;
        if (!first)
            first = c;
        else if (first == last)
            printf("  %-6s at %2u %%:", asks[ask].name, percent);
        if (first != c)
            printf("  %u-%u: %+.2f", last->gpus, c->gpus,
                   exponent(last->p99_ns[ask], c->p99_ns[ask], last->gpus, c->gpus));
        last = c;
    }
    if (last != first) {
        double all = exponent(first->p99_ns[ask], last->p99_ns[ask], first->gpus, last->gpus);

        printf("  all: %+.2f <= %.1f %s\n", all, EXPONENT, verdict(all <= EXPONENT));
    }
}

/* What the machine can do: a pass over the free counts, and a chain of misses. */
static void floors(uint32_t gpus)
{
    enum { CHAIN = 1 << 24, PASSES = 20, MISSES = 200000 };
    uint32_t *chain = malloc(CHAIN * sizeof(*chain)), at = 0, hosts = gpus / BENCH_GPUS_PER_HOST;
    uint8_t *counts = malloc(hosts + 1);
    volatile uint64_t result = 0;
    int64_t start, pass = INT64_MAX, miss;

    must(chain && counts);
    for (uint32_t h = 0; h < hosts; h++)
        counts[h] = (uint8_t)(h * 7 % 9);
    for (unsigned n = 0; n < PASSES; n++) {
        uint64_t sum = 0;
        int64_t ns;

        start = bench_ns();
        for (uint32_t h = 0; h < hosts; h++)
            sum += counts[h] >= 8;
        ns = bench_ns() - start;
        result = sum;
        pass = ns < pass ? ns : pass;
    }
    for (uint32_t n = 0; n < CHAIN; n++)
        chain[n] = (n * 1664525u + 1013904223u) % CHAIN;
    start = bench_ns();
    for (unsigned n = 0; n < MISSES; n++)
        at = chain[at];
    miss = (bench_ns() - start) / MISSES;
    result = at;
    (void)result;
    printf("floor of the machine: one pass over the free counts of %u hosts %.2f us, one dependent "
           "miss %lld ns\n",
           hosts, (double)pass / 1000, (long long)miss);
    free(chain);
    free(counts);
}

static void sums(const struct figures *f)
{
    static const unsigned percents[] = {0, 70, 95};

    printf("growth of the p99 of yes, as an exponent of the GPUs\n");
    for (unsigned ask = 0; ask < ASKS; ask++)
        for (unsigned n = 0; n < 3; n++)
            growth(f, percents[n], ask);
    if (f->starts) {
        double share = (double)f->same / (double)f->starts;

        printf("index and scan agree in %.2f %% of %llu starts up to %u GPUs (at least %.0f %%: "
               "%s), mean regret %.1f micro-GPU\n",
               100 * share, (unsigned long long)f->starts, AGREE_GPUS_MAX, 100 * AGREE,
               verdict(share >= AGREE), (double)f->regret / (double)f->starts);
    }
    printf("cache hit rate: n/a, no decision is cached\n");
    floors(f->cell[f->cells - 1].gpus);
}

int main(int argc, char **argv)
{
    static const unsigned percents[] = {0, 70, 95};
    static struct figures f;

    printf("times in us, the best of %u rounds of %u decisions; a scan has one round\n", ROUNDS,
           DECISIONS);
    for (int n = 1; n < argc && n <= 32; n++) {
        char *colon;
        uint32_t gpus = (uint32_t)strtoul(argv[n], &colon, 10);

        if (gpus < 1000 || *colon != ':') {
            fprintf(stderr, "sched_bench: found %s, expected GPUS:PERCENT, 1000 GPUs at least\n",
                    argv[n]);
            return 2;
        }
        size_cell(&f, gpus, (unsigned)strtoul(colon + 1, NULL, 10));
    }
    if (argc == 1) {
        for (uint32_t gpus = 1000; gpus <= 100000; gpus *= 10)
            for (unsigned n = 0; n < 3; n++)
                size_cell(&f, gpus, percents[n]);
        size_cell(&f, 1000000, 70);
    }
    sums(&f);
    return 0;
}
