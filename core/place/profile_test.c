/* profile_test.c - where gangs go that say how they talk and name no level
 *
 * Scripts are in the language of tests/kit/world.h; profiles: 0 none, 1 all-reduce, 2 pipeline, 3
 * expert.
 */
#include "core/place/profile.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Racks l1 of another chain cross the leaves l0: a rack has two hosts, a leaf four. */
#define CROSSED                                                                                    \
    "hosts 1 gpus=2 l0=0 l1=5; hosts 1 gpus=2 l0=0 l1=6; hosts 1 gpus=2 l0=0 l1=7; hosts 1 "       \
    "gpus=2 "                                                                                      \
    "l0=0 l1=8; hosts 1 gpus=2 l0=1 l1=5; hosts 1 gpus=2 l0=1 l1=6; hosts 1 gpus=2 l0=1 l1=7; "    \
    "hosts 1 gpus=2 l0=1 l1=8; level 1 1 0; "

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"expert: the rack before the leaf", CROSSED "ask pods=2 gpus=2 profile=3; step",
     "+0 0:01 4:01"},
    {"all-reduce: the leaf", CROSSED "ask pods=2 gpus=2 profile=1; step", "+0 0:01 1:01"},
    {"pipeline: the leaf", CROSSED "ask pods=2 gpus=2 profile=2; step", "+0 0:01 1:01"},
    {"none: the leaf", CROSSED "ask pods=2 gpus=2; step", "+0 0:01 1:01"},
    {"expert, too large for a rack: a leaf", CROSSED "ask pods=3 gpus=2 profile=3; step",
     "+0 0:01 1:01 2:01"},
    {"expert: one island, though the host with the least room over has none that holds it",
     "hosts 1 gpus=4 shape=pairs; hosts 1 gpus=8 shape=quads; ask pods=4 gpus=1 profile=3; step",
     "+0 1:0 1:1 1:2 1:3"},
    {"all-reduce: one host is near enough",
     "hosts 1 gpus=4 shape=pairs; hosts 1 gpus=8 shape=quads; ask pods=4 gpus=1 profile=1; step",
     "+0 0:0 0:1 0:2 0:3"},
    {"a level that the gang prefers itself comes before all that",
     CROSSED "ask pods=2 gpus=2 profile=3 prefer=l0; step", "+0 0:01 1:01"},
    {"other policies know no profiles",
     "config scorer=first-fit; " CROSSED "ask pods=2 gpus=2 profile=3; step", "+0 0:01 1:01"},
};

static void profiles_give_the_ladder(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

static void each_says_what_it_stands_on(void **state)
{
    (void)state;
    for (unsigned p = 0; p < COMM_COUNT; p++) {
        assert_true(strlen(profile_get(p)->does) > 10);
        assert_true(strlen(profile_get(p)->source) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_give_the_ladder),
        cmocka_unit_test(each_says_what_it_stands_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
