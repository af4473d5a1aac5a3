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

static uint32_t below(struct prng *p, uint32_t count)
{
    return (uint32_t)prng_below(p, count);
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
    for (uint32_t group = 0; group < 5; group++)
        say("hosts %u gpus=%u shape=%s cpu=%u mem=%u pods=%u model=%u gpumem=81920 l0=%u",
            1 + below(p, 6), gpus[group], shape[below(p, 5)], 32000 + 8000 * below(p, 12),
            262144 + 65536 * below(p, 8), 8 + below(p, 100), below(p, 2), below(p, 3));
}

static void ask(struct prng *p)
{
    static const unsigned whole[] = {1, 1, 1, 2, 2, 3, 4, 8};
    static const char *const wish[] = {"", "", "", " need=host", " need=l0", " prefer=island,l0"};
    uint32_t cpu = 1000 + 1000 * below(p, 16), mem = 4096 + 4096 * below(p, 16);
    uint32_t class = below(p, 6) > 3 ? 1 + below(p, 2) : 0;

    switch (below(p, 4)) {
    case 0:
        say("ask gpus=1 milli=%u cpu=%u mem=%u class=%u prio=%u", 50 + 50 * below(p, 19), cpu, mem,
            class, below(p, 3));
        break;
    case 1:
        say("ask gpus=1 mib=%u cpu=%u mem=%u class=%u", 1024 + 1024 * below(p, 60), cpu, mem,
            class);
        break;
    case 2:
        say("ask pods=%u gpus=%u cpu=%u mem=%u%s prio=%u", 2 + below(p, 4), whole[below(p, 7)], cpu,
            mem, wish[below(p, 6)], below(p, 3));
        break;
    default:
        say("ask gpus=%u cpu=%u mem=%u class=%u%s", whole[below(p, 8)], cpu, mem, class,
            wish[below(p, 6)]);
        break;
    }
}

static void live(struct prng *p)
{
    for (uint32_t step = 1; step <= STEPS; step++) {
        say("at %u", step * 1000);
        for (uint32_t asks = 1 + below(p, 2); asks > 0; asks--)
            ask(p);
        if (below(p, 3) == 0)
            say("end %u", below(p, world.keys));
        if (below(p, 8) == 0)
            say("device %u 0 %s", below(p, world.hosts), below(p, 2) ? "down" : "up");
        if (below(p, 10) == 0) {
            static const char *const state[] = {"up", "drain", "down"};

            say("state %u %s", below(p, world.hosts), state[below(p, 3)]);
        }
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
