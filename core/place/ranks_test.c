/* ranks_test.c - neighbouring ranks are as near as any numbering of the same places makes them
 *
 * Scripts are in the language of tests/kit/world.h.
 */
#include "core/place/ranks.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"leaves that hold every second host: leaf by leaf",
     "hosts 1 gpus=1 l0=0; hosts 1 gpus=1 l0=1; hosts 1 gpus=1 l0=0; hosts 1 gpus=1 l0=1; ask "
     "pods=4 gpus=1; step",
     "+0 0:0 2:0 1:0 3:0"},
    {"the largest level first",
     "hosts 1 gpus=1 l0=0 l1=9; hosts 1 gpus=1 l0=1 l1=8; hosts 1 gpus=1 l0=2 l1=9; ask pods=3 "
     "gpus=1; step",
     "+0 1:0 0:0 2:0"},
    {"hosts outside the level last",
     "hosts 1 gpus=1; hosts 1 gpus=1 l0=0; hosts 1 gpus=1 l0=0; ask pods=3 gpus=1; step",
     "+0 1:0 2:0 0:0"},
    {"of several chains the one of the level that it prefers",
     "hosts 1 gpus=1 l0=0 l1=5; hosts 1 gpus=1 l0=1 l1=6; hosts 1 gpus=1 l0=0 l1=6; hosts 1 gpus=1 "
     "l0=1 l1=5; level 1 1 0; ask pods=4 gpus=1 prefer=l1; step",
     "+0 0:0 3:0 1:0 2:0"},
    {"or that it requires",
     "hosts 1 gpus=1 l0=0 l1=5 l2=7; hosts 1 gpus=1 l0=1 l1=6 l2=7; hosts 1 gpus=1 l0=0 l1=6 l2=7; "
     "hosts 1 gpus=1 l0=1 l1=5 l2=7; level 1 1 0; level 2 1 1; ask pods=4 gpus=1 need=l2; step",
     "+0 0:0 3:0 1:0 2:0"},
    {"slices stay whole, whatever else is preferred",
     "hosts 1 gpus=1 l0=0 l1=5; hosts 1 gpus=1 l0=1 l1=6; hosts 1 gpus=1 l0=0 l1=6; hosts 1 gpus=1 "
     "l0=1 l1=5; level 1 1 0; ask pods=4 gpus=1 slice=2@l1 prefer=l0; step",
     "+0 0:0 3:0 1:0 2:0"},
    {"pods that differ: each set along its own hosts",
     "hosts 1 gpus=2 cpu=1 l0=0; hosts 1 gpus=2 l0=1; hosts 1 gpus=2 cpu=1 l0=0; ask pods=3 gpus=2 "
     "cpu=1 + pods=1 cpu=5; step",
     "+0 0:01 2:01 1:01 1:-"},
    {"inside a host island by island", "hosts 1 gpus=8 shape=quads; ask pods=8 gpus=1; step",
     "+0 0:0 0:1 0:2 0:3 0:4 0:5 0:6 0:7"},
};

static void ranks_lie_along_the_tree(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

/* 0: the same host, 1: the same domain of level 0, ..; levels + 1: nothing. */
static unsigned distance(const struct model *m, uint32_t a, uint32_t b, unsigned levels)
{
    const struct board *x = board_row(m, a), *y = board_row(m, b);

    if (a == b)
        return 0;
    for (unsigned l = 0; l < levels; l++)
        if (x->domain[l] != ROW_NONE && x->domain[l] == y->domain[l])
            return l + 1;
    return levels + 1;
}

enum { PODS = 8, LEVELS = 2 };

/* The least sum over neighbours that any order of the places has. */
static unsigned least_sum(const struct model *m, const uint32_t *host)
{
    static unsigned best[1 << PODS][PODS];
    unsigned least = UINT32_MAX;

    for (unsigned set = 1; set < 1u << PODS; set++)
        for (unsigned last = 0; last < PODS; last++) {
            unsigned without = set & ~(1u << last);

            best[set][last] = UINT32_MAX / 2;
            if (!(set >> last & 1))
                continue;
            if (without == 0)
                best[set][last] = 0;
            for (unsigned b = 0; b < PODS; b++)
                if (without >> b & 1) {
                    unsigned sum = best[without][b] + distance(m, host[b], host[last], LEVELS);

                    best[set][last] = sum < best[set][last] ? sum : best[set][last];
                }
        }
    for (unsigned last = 0; last < PODS; last++)
        least = best[(1 << PODS) - 1][last] < least ? best[(1 << PODS) - 1][last] : least;
    return least;
}

/* Gangs on hosts of random leaves and spines, some outside both; equal pods, or two sets. */
static void no_numbering_is_better(void **state)
{
    unsigned worlds = 0, moved = 0;
    struct prng dice;

    (void)state;
    prng_init(&dice, 7);
    for (unsigned seed = 0; seed < 400; seed++) {
        static char text[2048];
        uint32_t host[PODS];
        struct world w;
        size_t at = 0;
        unsigned sum = 0;

        for (unsigned h = 0; h < 9; h++) {
            unsigned leaf = (unsigned)prng_below(&dice, 5),
                     gpus = 1 + (unsigned)prng_below(&dice, 3);

            at += (size_t)snprintf(text + at, sizeof(text) - at, "hosts 1 gpus=%u", gpus);
            if (leaf < 4)
                at += (size_t)snprintf(text + at, sizeof(text) - at, " l0=%u l1=%u", leaf,
                                       8 + leaf % 2);
            at += (size_t)snprintf(text + at, sizeof(text) - at, "; ");
        }
        snprintf(text + at, sizeof(text) - at, "ask pods=%d gpus=1%s; step", PODS,
                 seed % 2 ? " prefer=l0" : "");
        world_open(&w, NULL);
        world_say(&w, text);
        for (uint32_t s = job_row(w.s.m, 0)->seat_head; s != ROW_NONE;
             s = seat_row(w.s.m, s)->next_of_job)
            host[seat_row(w.s.m, s)->pod] = seat_row(w.s.m, s)->host;
        if (job_row(w.s.m, 0)->seat_head != ROW_NONE) {
            for (unsigned n = 1; n < PODS; n++) {
                sum += distance(w.s.m, host[n - 1], host[n], LEVELS);
                moved += host[n] < host[n - 1];
            }
            CHECK_INT(text, sum, least_sum(w.s.m, host));
            worlds++;
        }
        world_close(&w);
    }
    assert_true(worlds > 300);
    assert_true(moved > 200); /* by ids alone none would be */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_lie_along_the_tree),
        cmocka_unit_test(no_numbering_is_better),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
