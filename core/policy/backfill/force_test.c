/* force_test.c - what is off the books while somebody is asked, and rooms that stand */
#include "core/policy/backfill/force.h"

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

static const struct row counts_row[] = {
    {"what a run gives back is counted once for two rooms",
     "config order=conservative; hosts 1 gpus=4 cpu=10; ask gpus=1 cpu=8 est=100s; ask "
     "gpus=1 cpu=7 est=300s; ask gpus=1 cpu=3 est=300s; ask gpus=1 cpu=1 est=500s; step",
     "+0 0:0 -1 cpu(busy cpu) ~1@100 0:0 -2 cpu(busy cpu) ~2@100 0:1 -3 reserved ~3@400 "
     "0:0"},
    {"and once for the pods of one gang",
     "config order=easy; hosts 2 gpus=4 cpu=10; ask gpus=1 cpu=8 est=100s; ask gpus=1 "
     "cpu=6 est=300s; ask gpus=1 cpu=5 + gpus=2 cpu=1 + gpus=1 cpu=4; ask gpus=1 cpu=1 "
     "est=500s; ask gpus=1 cpu=1 est=500s; ask gpus=1 cpu=1 est=500s; ask gpus=1 cpu=1 "
     "est=500s; step",
     "+0 0:0 +1 1:0 -2 cpu(busy cpu) ~2@100 0:2 0:01 0:3 +3 1:1 +4 1:2 +5 1:3 -6 reserved"},
    {"a room of a later date does not count on what an earlier one needs",
     "config order=conservative; hosts 1 gpus=8 cpu=10; ask gpus=1 cpu=4 est=50s; ask "
     "gpus=1 cpu=4 est=100s; ask gpus=1 cpu=6 est=900s; ask gpus=1 cpu=4 est=900s; ask "
     "gpus=1 cpu=1 est=70s; ask gpus=1 cpu=1 est=40s; step",
     "+0 0:0 +1 0:1 -2 cpu(busy cpu) ~2@50 0:0 -3 cpu(busy cpu) ~3@100 0:1 -4 reserved "
     "~4@950 0:0 +5 0:2"},
    {"the next incarnation needs all at once: nothing that ends later counts",
     "config inherit=900s; team 0 limit=4000; hosts 1 gpus=4 cpu=8; ask gpus=1 cpu=4 "
     "est=100s; ask gpus=1 cpu=4 est=9s team=0; step; team 0 limit=0; restart 1; ask "
     "gpus=1 cpu=1 est=9s; step",
     "+0 0:0 +1 0:1|-1 never_quota -2 reserved"},
};

static const struct row stands_row[] = {
    {"a share beside one that stays longer than was said",
     "config order=easy; hosts 1 gpus=1; ask gpus=1 milli=300 est=100s; ask gpus=1 "
     "milli=500 est=200s; ask gpus=1 milli=500 est=9s; step; at 100s; tick; step; at "
     "101s; ask gpus=1 milli=200; step; end 0; step",
     "+0 0:0 +1 0:0 -2 shortage(busy) ~2@100 0:0|~2@200 0:0|-3 reserved|+2 0:0 -3 "
     "shortage(busy) ~3@110 0:0"},
    {"a host that will leave before",
     "config order=easy; hosts 2 gpus=2; ask gpus=2 est=50s; ask gpus=2 est=90s; ask "
     "gpus=2 est=9s; step; leave 0 55s; step",
     "+0 0:01 +1 1:01 -2 shortage(busy) ~2@50 0:01|~2@90 1:01"},
    {"a device that fails",
     "config order=easy; hosts 2 gpus=2; ask gpus=2 est=50s; ask gpus=2 est=90s; ask "
     "gpus=2 est=9s; step; device 0 1 down; step",
     "+0 0:01 +1 1:01 -2 shortage(busy) ~2@50 0:01|~2@90 1:01"},
    {"CPU that is no more",
     "config order=easy; hosts 2 gpus=2 cpu=8; ask gpus=2 est=50s; ask gpus=2 est=90s; "
     "ask gpus=2 cpu=6 est=9s; step; host 0 gpus=2 cpu=4; step",
     "+0 0:01 +1 1:01 -2 shortage(busy) ~2@50 0:01|~2@90 1:01"},
    {"what still stands keeps its date",
     "config order=easy; hosts 2 gpus=2; ask gpus=2 est=50s; ask gpus=2 est=90s; ask "
     "gpus=2 est=9s; step; device 1 1 down; step",
     "+0 0:01 +1 1:01 -2 shortage(busy) ~2@50 0:01|"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(run_rows(counts_row, ROWS(counts_row)), 0);
}

static void test_stands(void **state)
{
    (void)state;
    assert_int_equal(run_rows(stands_row, ROWS(stands_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_stands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
