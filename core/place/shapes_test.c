/* shapes_test.c - in which domain a pod opens a host, and in which a gang leaves its rest
 *
 * Scripts are in the language of tests/kit/world.h.
 */
#include "core/place/shapes.h"

#include <stdlib.h>

#include "core/base/must.h"
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
    {"a whole host: in the leaf with the fewest free ones, not in the one with the lowest id",
     "hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=2; step", "+0 3:01"},
    {"the last leaf that holds a gang of three is left whole",
     "hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=2; step; ask gpus=2; step; ask pods=3 "
     "gpus=2 need=l0; step",
     "+0 3:01|+1 4:01|+2 0:01 1:01 2:01"},
    {"a small pod opens a host there too",
     "hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=1; step", "+0 3:0"},
    {"equal leaves: the one whose spine has the fewest free hosts",
     "hosts 2 gpus=2 l0=0 l1=8; hosts 2 gpus=2 l0=1 l1=8; hosts 2 gpus=2 l0=2 l1=9; ask gpus=2; "
     "step",
     "+0 4:01"},
    {"equal in all: the lowest id", "hosts 2 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=2; step",
     "+0 0:01"},
    {"only a host just like it will do: another has more CPU, which others may want",
     "hosts 3 gpus=2 cpu=8 l0=0; hosts 1 gpus=2 cpu=9 l0=1; ask gpus=2 cpu=8; step", "+0 0:01"},
    {"and only one that is open to it",
     "hosts 2 gpus=2 l0=0; hosts 1 gpus=2 l0=1; state 2 drain; ask gpus=2; step", "+0 0:01"},
    {"hosts outside the level have no domain to spare: one in a leaf is as good by its id",
     "hosts 1 gpus=2; hosts 2 gpus=2 l0=1; ask gpus=2; step", "+0 0:01"},
    {"a pod without GPUs opens nothing",
     "hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask cpu=1; step", "+0 0:-"},
    {"other policies do as they are told",
     "config scorer=first-fit; hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=2; step",
     "+0 0:01"},

    /* a gang that prefers a level: rules/ladder.c */
    {"a gang: the leaf with the least room over, of equal ones the one in the fuller spine",
     "hosts 2 gpus=2 l0=0 l1=8; hosts 2 gpus=2 l0=1 l1=8; hosts 2 gpus=2 l0=2 l1=9; ask pods=2 "
     "gpus=2 prefer=l0; step",
     "+0 4:01 5:01"},
    {"no leaf holds it: one spine does, whole leaves of it first, the rest in the tightest",
     "hosts 1 gpus=1 l0=0 l1=8; hosts 2 gpus=1 l0=1 l1=8; hosts 3 gpus=1 l0=2 l1=8; hosts 9 gpus=1 "
     "l0=3 l1=9; ask pods=4 gpus=1 need=l1 prefer=l0; step; ask pods=4 gpus=1 prefer=l0; step",
     "+0 6:0 7:0 8:0 9:0|+1 10:0 11:0 12:0 13:0"},
    {"leaves that are not in the order of the hosts: a rest stays whole where it is",
     "hosts 1 gpus=1 l0=0 l1=8; hosts 1 gpus=1 l0=1 l1=8; hosts 1 gpus=1 l0=0 l1=8; hosts 1 gpus=1 "
     "l0=1 l1=8; hosts 1 gpus=1 l0=1 l1=8; ask pods=4 gpus=1 prefer=l0; step",
     "+0 0:0 1:0 3:0 4:0"},
    {"no domain at all holds it: the largest first",
     "hosts 2 gpus=1 l0=0; hosts 3 gpus=1 l0=1; hosts 1 gpus=1 l0=2; ask pods=4 gpus=1 prefer=l0; "
     "step",
     "+0 2:0 3:0 4:0 5:0"},
    {"of equal ones the one with fewer hosts",
     "hosts 2 gpus=1 l0=0; hosts 1 gpus=2 l0=1; ask pods=3 gpus=1 prefer=l0; step",
     "+0 0:0 2:0 2:1"},
};

static void what_is_left_is_worth_most(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_worth_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
