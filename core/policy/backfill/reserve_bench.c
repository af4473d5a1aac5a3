/* How long it takes to say when a gang could start.
 *
 * A busy cluster (tests/kit/bench.h) whose runs all have estimates; gangs that fit nowhere are
 * asked for their date, each by a search of its own. The limit is what the project set itself at
 * 100,000 GPUs.
 */
#include "core/policy/backfill/reserve.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/bench.h"

#define ASKS     40
#define LIMIT_NS 10000000
#define DAY_NS   ((int64_t)86400 * 1000000000)

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void put_gang(struct bench *b, uint32_t pods, uint64_t required)
{
    struct event e = {.kind = EVENT_JOB};

    e.job = (struct event_job){.est_ns = DAY_NS / 4,
                               .required = required,
                               .key = b->next_key++,
                               .team = ROW_NONE,
                               .flags = JOB_SHARES_CARD,
                               .podset_count = 1};
    bench_put(b, &e);
    e = (struct event){.kind = EVENT_PODSET};
    e.podset =
        (struct event_podset){.cpu_milli = 8 * (4000 + 500 * (int64_t)prng_below(&b->prng, 24)),
                              .mem_mib = 8 * 65536,
                              .pods = pods,
                              .pods_min = pods,
                              .profile = ROW_NONE,
                              .class_id = 4 * (uint32_t)prng_below(&b->prng, BENCH_POD_CLASSES / 4),
                              .milli = MILLI_FULL,
                              .gpus = BENCH_GPUS_PER_HOST,
                              .slice_scope = SCOPE_OF_CLUSTER};
    bench_put(b, &e);
}

/* Dates of so many gangs, asked one by one; those that start at once are not counted. */
static void row(struct bench *b, uint32_t gpus, unsigned percent, uint32_t pods, uint64_t required)
{
    static struct reserves none;
    int64_t ns[ASKS];
    uint32_t count = 0, dated = 0;

    for (unsigned n = 0; n < ASKS; n++) {
        uint32_t waiting, job;
        int64_t start;
        struct kept k;

        put_gang(b, pods, required);
        bench_step(b);
        if (index_waiting(b->s.m, &waiting) && waiting == 0) {
            bench_put_end(b, b->next_key - 1);
            bench_step(b);
            continue;
        }
        job = index_waiting(b->s.m, &waiting)[0];
        start = bench_ns();
        k = reserve_find(b->s.m, &none, job, 0, INT64_MAX);
        ns[count++] = bench_ns() - start;
        dated += k.keep == KEEP_DATED;
        bench_empty_queue(b);
    }
    if (count == 0)
        return;
    qsort(ns, count, sizeof(*ns), by_size);
    printf("  %8u GPUs, %u %%: %3u x 8 %-11s p50 %7.2f ms, p99 %7.2f ms, %u of %u dated%s\n", gpus,
           percent, pods, required ? "in one leaf" : "anywhere", (double)ns[count / 2] / 1e6,
           (double)ns[count - 1] / 1e6, dated, count,
           gpus != 100000              ? ""
           : ns[count - 1] <= LIMIT_NS ? "  <= 10 PASS"
                                       : "  <= 10 MISS");
    fflush(stdout);
}

int main(void)
{
    static const uint32_t sizes[] = {1000, 10000, 100000};
    static const unsigned percents[] = {70, 95};

    printf("when could this start: runs taken off the books by their estimated ends\n");
    for (unsigned n = 0; n < sizeof(sizes) / sizeof(*sizes); n++)
        for (unsigned p = 0; p < sizeof(percents) / sizeof(*percents); p++) {
            static struct bench b;
            struct event e = {.kind = EVENT_CONFIG};

            bench_open(&b, sizes[n]);
            b.est_ns_max = DAY_NS;
            bench_step(&b);
            bench_fill(&b, percents[p]);
            e.config = (struct event_config){
                .order = ORDER_PRIORITY, .budget_steps = 200000, .reserves_max = 1};
            bench_put(&b, &e);
            bench_step(&b);
            row(&b, sizes[n], percents[p], 8, (uint64_t)1 << SCOPE_OF_LEVEL);
            if (sizes[n] >= 10000)
                row(&b, sizes[n], percents[p], sizes[n] / 200, 0);
            bench_close(&b);
        }
    return 0;
}
