/* small - the core against brute force on small worlds
 *
 * small --seeds N --first S    3 hosts of 4 devices, 6 jobs, made up from seeds
 * small --exhaustive           2 hosts of 3 devices, 4 jobs, all there are up to symmetry
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/run.h"
#include "tests/small/exhaustive.h"

static void print_tally(const struct tally *t)
{
    static const char *const names[] = {"busy", "health", "cpu",      "mem",
                                        "pods", "model",  "topology", "none"};

    printf(
        "worlds %" PRIu64 ", steps %" PRIu64 ", starts %" PRIu64 ", refusals %" PRIu64
        " (held %" PRIu64 ", unproven %" PRIu64 ", dropped %" PRIu64 "), too large %" PRIu64 "\n",
        t->worlds, t->steps, t->starts, t->refusals, t->held, t->unproven, t->final, t->too_large);
    printf("promises %" PRIu64 " (dates compared %" PRIu64 ", rooms seen to stand %" PRIu64
           ", kept %" PRIu64 ", excused %" PRIu64 "), grows %" PRIu64 ", shrinks %" PRIu64
           ", breaks %" PRIu64 "\n",
           t->promises, t->dated, t->rooms, t->kept, t->excused, t->grows, t->shrinks, t->breaks);
    printf("claims compared: binding %" PRIu64 ", free %" PRIu64 ", best_pods %" PRIu64 "\n",
           t->judged, t->free_claims, t->best_claims);
    for (unsigned l = 0; l <= O_BINDING && t->judged; l++)
        printf("  binding %-9s %8" PRIu64 "  %5.1f %%\n", names[l], t->binding[l],
               100.0 * (double)t->binding[l] / (double)t->judged);
}

static int run_seeds(uint64_t first, uint64_t count)
{
    struct tally tally = {0};
    unsigned failed = 0;

    for (uint64_t seed = first; seed < first + count && failed < 1; seed++)
        failed += !run_seed(seed, &style_small, RUN_DEEP | RUN_STOPS, &tally, "small");
    print_tally(&tally);
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 2000;

    for (int n = 1; n < argc; n++) {
        if (strcmp(argv[n], "--exhaustive") == 0)
            return exhaustive_run();
        if (strcmp(argv[n], "--seeds") == 0 && n + 1 < argc)
            count = strtoull(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--first") == 0 && n + 1 < argc)
            first = strtoull(argv[++n], NULL, 10);
        else if (strcmp(argv[n], "--seed") == 0 && n + 1 < argc) {
            first = strtoull(argv[++n], NULL, 10);
            count = 1;
        } else {
            fprintf(stderr, "usage: small [--seeds N] [--first S] [--seed S] [--exhaustive]\n");
            return 2;
        }
    }
    return run_seeds(first, count);
}
