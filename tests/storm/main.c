/* storm - random worlds, workloads and faults, judged after every batch
 *
 * storm --seeds N --first S    so many seeds from the first one on
 * storm --seconds T            seeds from the first one on for so long
 * storm --seed S               one of them
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/oracle/run.h"

/* Which checks a seed runs, and how large its world is: small ones are compared with brute force.
 */
static bool run_one(uint64_t seed, struct tally *tally)
{
    unsigned flags = RUN_TABLES | RUN_REPLAY | RUN_CALM;
    bool small = seed % 3 == 0;

    flags |= small ? RUN_DEEP : 0;
    flags |= seed % 5 ? RUN_STOPS : 0;
    return run_seed(seed, small ? &style_gale : &style_storm, flags, tally, "storm");
}

static int usage(void)
{
    fprintf(stderr, "usage: storm [--seeds N | A-B] [--first S] [--seconds T] [--seed S]\n");
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 200, seed;
    time_t end = 0;
    struct tally t = {0};

    for (int n = 1; n < argc; n += 2) {
        char *rest;
        uint64_t value = n + 1 < argc ? strtoull(argv[n + 1], &rest, 10) : 0;

        if (n + 1 >= argc)
            return usage();
        if (strcmp(argv[n], "--seeds") == 0 && *rest == '-') {
            first = value;
            count = strtoull(rest + 1, NULL, 10) - first + 1;
        } else if (strcmp(argv[n], "--seeds") == 0) {
            count = value;
        } else if (strcmp(argv[n], "--first") == 0) {
            first = value;
        } else if (strcmp(argv[n], "--seed") == 0) {
            first = value;
            count = 1;
        } else if (strcmp(argv[n], "--seconds") == 0) {
            end = time(NULL) + (time_t)value;
            count = UINT64_MAX / 2;
        } else {
            return usage();
        }
    }
    for (seed = first; seed < first + count && (!end || time(NULL) < end); seed++)
        if (!run_one(seed, &t))
            return 1;
    printf("storm: seeds %" PRIu64 " to %" PRIu64 ", steps %" PRIu64 ", starts %" PRIu64
           ", refusals %" PRIu64 " (not proven %" PRIu64 ", dropped %" PRIu64
           "), moved to larger blocks %" PRIu64 " times, too large for the oracle %" PRIu64 "\n",
           first, seed - 1, t.steps, t.starts, t.refusals, t.unproven, t.final, t.grown,
           t.too_large);
    printf("promises %" PRIu64 " (dates compared %" PRIu64 ", rooms seen to stand %" PRIu64
           ", kept %" PRIu64 ", excused %" PRIu64 "), grows %" PRIu64 ", shrinks %" PRIu64
           ", breaks %" PRIu64 "\n",
           t.promises, t.dated, t.rooms, t.kept, t.excused, t.grows, t.shrinks, t.breaks);
    return 0;
}
