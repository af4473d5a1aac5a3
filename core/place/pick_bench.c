/* pick_bench.c - nanoseconds per choice of devices, beside a plain full enumeration
 *
 * For every machine and every number of free devices: random free sets of that size and random asks
 * below it (an ask of all is no choice). Mean and 99th percentile of a choice, each question asked
 * in batches so that the clock does not count, and the mean of weighing every set of the asked size
 * by its public worth. The worst question of each machine comes last.
 */
#define _POSIX_C_SOURCE 200809L

#include "core/place/pick.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/bits.h"
#include "core/base/prng.h"
#include "core/place/pick_machines.h"

enum { QUESTIONS = 150, BATCH = 24, ROUNDS = 3 };

void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, expr);
    abort();
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint16_t sink; /* keeps the answers alive */

/* What a choice costs without any structure: each set weighed by itself. */
static uint16_t plain(const struct shape *s, unsigned gpus, uint16_t healthy, uint16_t free)
{
    uint16_t best = 0;
    uint32_t most = 0;

    for (uint32_t m = (uint32_t)bits_first(gpus); m < 1u << s->gpus; m = bits_next_subset(m)) {
        if (m & ~(uint32_t)free)
            continue;
        struct pick_worth w = pick_worth(s, healthy, free, (uint16_t)m);
        uint32_t worth = (w.link_sum << 8) + 255 - w.islands_broken * 16 - w.numas - w.switches;

        if (best == 0 || worth > most) {
            best = (uint16_t)m;
            most = worth;
        }
    }
    return best;
}

static uint16_t random_free(struct prng *p, unsigned devices, unsigned count)
{
    uint16_t free = (uint16_t)bits_first(devices);

    while (bits_count16(free) > count)
        free &= (uint16_t) ~(1u << prng_below(p, devices));
    return free;
}

/* Nanoseconds of one choice: the fastest round of a batch, since the machine has other guests. */
static uint64_t ask_ns(const struct shape *s, unsigned gpus, uint16_t free)
{
    uint16_t all = (uint16_t)bits_first(s->gpus);
    uint64_t best = UINT64_MAX;

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t start = now_ns();

        for (unsigned i = 0; i < BATCH; i++)
            sink ^= pick_whole(s, gpus, all, free, all);
        uint64_t took = (now_ns() - start) / BATCH;

        best = took < best ? took : best;
    }
    return best;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

struct worst {
    uint64_t ns;
    uint16_t free;
    unsigned gpus;
};

static void bench_row(const struct shape *s, unsigned count, const char *name, struct worst *worst)
{
    uint64_t ns[QUESTIONS], sum = 0, plain_ns = 0;
    unsigned plain_asks = s->gpus > 10 ? 2 : 20;
    uint16_t all = (uint16_t)bits_first(s->gpus);
    struct prng p;

    prng_init(&p, count);
    for (unsigned q = 0; q < QUESTIONS; q++) {
        uint16_t free = random_free(&p, s->gpus, count);
        unsigned gpus = (unsigned)prng_range(&p, 1, count > 1 ? count - 1 : 1);

        ns[q] = ask_ns(s, gpus, free);
        sum += ns[q];
        if (ns[q] > worst->ns)
            *worst = (struct worst){ns[q], free, gpus};
        if (q < plain_asks) {
            uint64_t start = now_ns();

            sink ^= plain(s, gpus, all, free);
            plain_ns += now_ns() - start;
        }
    }
    qsort(ns, QUESTIONS, sizeof(ns[0]), ascending);
    printf("%-22s %4u %9" PRIu64 " %9" PRIu64 " %12" PRIu64 "\n", name, count, sum / QUESTIONS,
           ns[QUESTIONS * 99 / 100], plain_ns / plain_asks);
}

int main(void)
{
    printf("%-22s %4s %9s %9s %12s   (ns per choice)\n", "machine", "free", "mean", "p99", "plain");
    for (unsigned i = 0; i < PICK_MACHINES; i++) {
        struct shape s = pick_machine_shape(pick_machines[i].text);
        struct worst worst = {0};

        for (unsigned count = 1; count <= s.gpus; count++)
            bench_row(&s, count, pick_machines[i].name, &worst);
        printf("%-22s worst %" PRIu64 " ns: %u of free 0x%x\n", pick_machines[i].name, worst.ns,
               worst.gpus, worst.free);
    }
    return sink == 0xABCD;
}
