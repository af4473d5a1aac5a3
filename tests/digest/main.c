/* digest - the same histories on every build, as lines to compare
 *
 * Each seed makes a cluster of unlike hosts and a history of asks, ends and failures for one of the
 * scorers. A line says the seed, the digest of the model at the end and a hash of everything that
 * was decided. `make digests` wants the lines of five builds to be equal: gcc at -O0, -O2 and -O3,
 * clang, and arm64 under emulation.
 *
 *   main [SEEDS]    how many seeds, 200 if not given
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/place/score.h"
#include "tests/kit/world.h"

#define STEPS 40

static struct world world;

/* Numbers are drawn before they are used: the order of arguments is each compiler's own. */
static void fill(struct prng *p, uint32_t draw[8])
{
    for (unsigned d = 0; d < 8; d++)
        draw[d] = (uint32_t)prng_below(p, 1u << 20);
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    must(length > 0 && (size_t)length < sizeof(text));
    world_say(&world, text);
}

static void make_cluster(struct prng *p, uint32_t seed)
{
    static const char *const shape[] = {"flat", "pairs", "quads", "lone", "void"};
    static const unsigned gpus[] = {8, 8, 4, 2, 3};

    say("config scorer=%s order=%s seed=%u%s", scorer_get(seed % SCORER_COUNT)->name,
        seed % 3 ? "fifo" : "priority", seed, seed % 5 ? "" : " scan");
    say("mix 0 of=3 gpus=1 milli=500 cpu=4000 count=30; mix 1 gpus=1 cpu=8000 count=60; "
        "mix 2 gpus=8 cpu=64000 count=10");
    say("price 0 1200000; price 1 700000; level 0 0 0; level 1 0 1");
    for (uint32_t group = 0; group < 5; group++) {
        uint32_t draw[8];

        fill(p, draw);
        say("hosts %u gpus=%u shape=%s cpu=%u mem=%u pods=%u model=%u gpumem=81920 l0=%u",
            1 + draw[0] % 6, gpus[group], shape[draw[1] % 5], 32000 + 8000 * (draw[2] % 12),
            262144 + 65536 * (draw[3] % 8), 8 + draw[4] % 100, draw[5] % 2, draw[6] % 3);
    }
}

static void ask(struct prng *p)
{
    static const unsigned whole[] = {1, 1, 1, 2, 2, 3, 4, 8};
    static const char *const wish[] = {"", "", "", " need=host", " need=l0", " prefer=island,l0"};
    uint32_t draw[8];

    fill(p, draw);
    uint32_t cpu = 1000 + 1000 * (draw[0] % 16), mem = 4096 + 4096 * (draw[1] % 16);
    uint32_t class = draw[2] % 6 > 3 ? 1 + draw[2] / 6 % 2 : 0;

    switch (draw[3] % 4) {
    case 0:
        say("ask gpus=1 milli=%u cpu=%u mem=%u class=%u prio=%u", 50 + 50 * (draw[4] % 19), cpu,
            mem, class, draw[5] % 3);
        break;
    case 1:
        say("ask gpus=1 mib=%u cpu=%u mem=%u class=%u", 1024 + 1024 * (draw[4] % 60), cpu, mem,
            class);
        break;
    case 2:
        say("ask pods=%u gpus=%u cpu=%u mem=%u%s prio=%u", 2 + draw[4] % 4, whole[draw[5] % 7], cpu,
            mem, wish[draw[6] % 6], draw[7] % 3);
        break;
    default:
        say("ask gpus=%u cpu=%u mem=%u class=%u%s", whole[draw[4] % 8], cpu, mem, class,
            wish[draw[5] % 6]);
        break;
    }
}

static void live(struct prng *p)
{
    static const char *const state[] = {"up", "drain", "down"};

    for (uint32_t step = 1; step <= STEPS; step++) {
        say("at %u", step * 1000);
        for (uint32_t asks = 1 + step % 2; asks > 0; asks--)
            ask(p);
        uint32_t draw[8];

        fill(p, draw);
        if (draw[0] % 3 == 0)
            say("end %u", draw[1] % world.keys);
        if (draw[2] % 8 == 0)
            say("device %u 0 %s", draw[3] % world.hosts, draw[4] % 2 ? "down" : "up");
        if (draw[5] % 10 == 0)
            say("state %u %s", draw[6] % world.hosts, state[draw[7] % 3]);
        say("step");
    }
}

int main(int argc, char **argv)
{
    unsigned long seeds = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;

    for (uint32_t seed = 0; seed < seeds; seed++) {
        struct prng p;
        uint64_t said = 0xcbf29ce484222325u;

        prng_init(&p, seed);
        world_open(&world, NULL);
        make_cluster(&p, seed);
        live(&p);
        must(world_valid(&world));
        for (const char *c = world_say(&world, ""); *c; c++)
            said = (said ^ (unsigned char)*c) * 0x100000001b3u;
        printf("%u %016" PRIx64 " %016" PRIx64 "\n", seed, sched_digest(&world.s), said);
        world_close(&world);
    }
    return 0;
}
