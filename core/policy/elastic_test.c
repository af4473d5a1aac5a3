/* elastic_test.c - gangs that grow into what is left, and give it back */
#include "core/policy/elastic.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

struct row {
    const char *why, *text, *want;
};

static const struct row yield_row[] = {
    {"the newest pods go, for a job of the same priority",
     "hosts 1 gpus=4; ask gpus=2 pods=2 min=1; ask gpus=2; step", "+0 0:01 0:23 v0<1 0:23 +1 0:23"},
    {"not for a lower one", "hosts 1 gpus=4; ask gpus=1 pods=4 min=1 prio=1; ask gpus=2; step",
     "+0 0:0 0:1 0:2 0:3 -1 shortage(busy)"},
    {"never below the minimum, and not for a job that it would not help",
     "hosts 1 gpus=4; ask gpus=1 pods=4 min=2; ask gpus=3; step",
     "+0 0:0 0:1 0:2 0:3 -1 shortage(busy)"},
    {"nor where what is given lies apart",
     "hosts 2 gpus=4; ask gpus=1 pods=8 min=6; ask gpus=4; step",
     "+0 0:0 0:1 0:2 0:3 1:0 1:1 1:2 1:3 -1 shortage(busy)"},
    {"only what is in the way", "hosts 2 gpus=4; ask pods=8 min=2 gpus=1; ask gpus=4; step",
     "+0 0:0 0:1 0:2 0:3 1:0 1:1 1:2 1:3 v0<1 1:0 1:1 1:2 1:3 +1 1:0123"},
    {"two runs each give what they can",
     "hosts 1 gpus=4; ask pods=2 min=1 gpus=1; ask pods=2 min=1 gpus=1; ask gpus=2; step; "
     "end 2; step",
     "+0 0:0 0:1 +1 0:2 0:3 v0<2 0:1 v1<2 0:3 +2 0:13|^0 0:1 ^1 0:3"},
    {"what two runs could give is too little",
     "hosts 1 gpus=6; ask pods=3 min=1 gpus=1; ask pods=3 min=1 gpus=1; ask gpus=5; step",
     "+0 0:0 0:1 0:2 +1 0:3 0:4 0:5 -2 shortage(busy)"},
    {"slices stay", "hosts 1 gpus=4; ask pods=4 min=2 gpus=1 slice=2@host; ask gpus=2; step",
     "+0 0:0 0:1 0:2 0:3 -1 shortage(busy)"},
    {"a smaller run lasts longer",
     "config order=easy; hosts 1 gpus=4; ask gpus=1 pods=4 min=2 est=100s; ask gpus=2 "
     "est=10s; step; at 5s; ask gpus=4 est=9s; step",
     "+0 0:0 0:1 0:2 0:3 v0<1 0:2 0:3 +1 0:23|-2 shortage(busy) ~2@200 0:0123"},
    {"which must not delay whoever counts on its end",
     "config order=easy; hosts 1 gpus=4; ask gpus=1 pods=4 min=2 est=100s; ask gpus=4 "
     "est=9s; ask gpus=2 est=10s; step",
     "+0 0:0 0:1 0:2 0:3 -1 shortage(busy) ~1@100 0:0123 -2 shortage(busy)"},
    {"what is left over when it was given does for somebody else",
     "hosts 1 gpus=4; ask prio=2 pods=1 min=0 gpus=3 + pods=1 gpus=1; ask gpus=1; ask "
     "gpus=2 prio=2; step",
     "+0 0:012 0:3 -1 shortage(busy) v0<2 0:012 +2 0:01 +1 0:2"},
    {"CPU pods run slower too",
     "config order=easy; hosts 1 pods=4; ask pods=4 min=2 est=100s; step; lose 0 3; ask "
     "pods=3 est=9s; step",
     "+0 0:- 0:- 0:- 0:-|-1 pods(busy pods) ~1@133 0:- 0:- 0:- ^0 0:-"},
};

static const struct row grow_row[] = {
    {"what is given back is taken again",
     "hosts 1 gpus=4; ask gpus=1 pods=4 min=2; ask gpus=1; ask gpus=1; step; end 1; step; "
     "end 2; step",
     "+0 0:0 0:1 0:2 0:3 v0<1 0:2 +1 0:2 v0<2 0:3 +2 0:3|^0 0:2|^0 0:3"},
    {"only where the gang must be",
     "level 0 0 0; domain 0 0 4294967295; domain 1 0 4294967295; hosts 1 gpus=4 l0=0; "
     "hosts 1 gpus=4 l0=1; ask gpus=2; ask gpus=3; ask pods=4 min=2 gpus=1 need=l0; step; "
     "end 1; step; end 0; step",
     "+0 0:01 +1 1:012 +2 0:2 0:3||^2 0:0 0:1"},
    {"only within the limit",
     "team 0 limit=3000; hosts 1 gpus=4; ask gpus=2; ask pods=4 min=1 gpus=1 team=0; "
     "step; end 0; step",
     "+0 0:01 +1 0:2 ^1 0:3|^1 0:0"},
    {"not into what is kept beyond its date",
     "config order=easy; hosts 2 gpus=2; ask gpus=2 est=100s; ask gpus=1 est=50s; ask "
     "pods=2 min=1 gpus=1 est=1000s; ask pods=3 gpus=1 est=9s; step; at 50s; end 1; step",
     "+0 0:01 +1 1:0 +2 1:1 -3 shortage(busy) ~3@100 0:0 0:1 1:0|"},
    {"the higher priority first",
     "hosts 1 gpus=4; ask gpus=2; ask pods=2 min=1 gpus=1; ask pods=2 min=1 gpus=1 "
     "prio=1; step; end 0; step",
     "+0 0:01 +1 0:2 0:3 v1<2 0:3 +2 0:3|^2 0:0 ^1 0:1"},
    {"a pod that is done leaves no gap",
     "hosts 1 gpus=3; ask gpus=1; ask pods=3 min=1 gpus=1; step; done 1 0; step; end 0; "
     "step",
     "+0 0:0 +1 0:1 0:2|^1 0:1|"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_yield(void **state)
{
    (void)state;
    assert_int_equal(run_rows(yield_row, ROWS(yield_row)), 0);
}

static void test_grow(void **state)
{
    (void)state;
    assert_int_equal(run_rows(grow_row, ROWS(grow_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yield),
        cmocka_unit_test(test_grow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
