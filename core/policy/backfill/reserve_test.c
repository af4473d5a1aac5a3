/* reserve_test.c - dates, places and limits of kept room, and what moves them */
#include "core/policy/backfill/reserve.h"

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

static const struct row date_row[] = {
    {"the head is the first that fits nowhere; what ends by its date may start",
     "config order=easy; hosts 1 gpus=4; ask gpus=3 est=100s; ask gpus=4 est=9s; ask "
     "gpus=1 est=100s; step",
     "+0 0:012 -1 shortage(busy) ~1@100 0:0123 +2 0:3"},
    {"a nanosecond later it may not",
     "config order=easy; hosts 1 gpus=4; ask gpus=3 est=100s; ask gpus=4 est=9s; ask "
     "gpus=1 est=100000000001; step",
     "+0 0:012 -1 shortage(busy) ~1@100 0:0123 -2 reserved"},
    {"what starts later must end by the same date",
     "config order=easy; hosts 1 gpus=4; ask gpus=2 est=100s; ask gpus=4 est=9s; step; at "
     "50s; ask gpus=1 est=51s; ask gpus=1 est=50s; step",
     "+0 0:01 -1 shortage(busy) ~1@100 0:0123|-2 reserved +3 0:2"},
    {"without an estimate only beside the kept devices",
     "config order=easy; hosts 1 gpus=4; ask gpus=3 est=100s; ask gpus=3 est=9s; ask "
     "gpus=1; step",
     "+0 0:012 -1 shortage(busy) ~1@100 0:012 +2 0:3"},
    {"the other devices of a host delay nobody",
     "config order=easy; hosts 2 gpus=4; ask gpus=4 est=100s; ask gpus=2 est=200s; ask "
     "pods=2 gpus=3 est=9s; step; at 1s; ask gpus=1 est=900s; ask gpus=1 est=900s; step",
     "+0 0:0123 +1 1:01 -2 shortage(busy) ~2@200 0:012 1:012|+3 1:3 -4 reserved"},
    {"one head for each set of models",
     "config order=easy; hosts 1 gpus=2 model=0; hosts 1 gpus=2 model=1; ask gpus=1 "
     "est=50s class=1; ask gpus=1 est=70s class=2; ask gpus=2 est=9s class=1; ask gpus=2 "
     "est=9s class=2; ask gpus=2 est=9s class=1; ask gpus=1 est=90s class=1; ask gpus=1 "
     "est=9s class=1; step",
     "+0 0:0 +1 1:0 -2 shortage(busy) ~2@50 0:01 -3 shortage(busy) ~3@70 1:01 -4 "
     "shortage(busy) -5 reserved +6 0:1"},
    {"every job has its own date, and what fits before them all goes ahead",
     "config order=conservative; hosts 1 gpus=4; ask gpus=3 est=100s; ask gpus=4 est=50s; "
     "ask gpus=1 est=100s; ask gpus=2 est=40s; ask gpus=1 est=101s; step",
     "+0 0:012 -1 shortage(busy) ~1@100 0:0123 +2 0:3 -3 shortage(busy) ~3@150 0:01 -4 "
     "shortage(busy) ~4@150 0:2"},
    {"windows between the dates of others",
     "config order=conservative; hosts 1 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=50s; "
     "ask gpus=2 est=20s; ask gpus=2 est=20s; ask gpus=4 est=1s; step",
     "+0 0:0123 -1 shortage(busy) ~1@100 0:0123 -2 shortage(busy) ~2@150 0:01 -3 "
     "shortage(busy) ~3@150 0:23 -4 shortage(busy) ~4@170 0:0123"},
    {"an elastic job counts as long as it may be small",
     "config order=easy; hosts 1 gpus=4; ask gpus=2 est=100s; ask gpus=4 est=9s; ask "
     "pods=2 min=1 gpus=1 est=60s; step",
     "+0 0:01 -1 shortage(busy) ~1@100 0:0123 -2 reserved"},
    {"a further run begins with its dead time",
     "config order=easy; hosts 1 gpus=4; ask gpus=2 est=100s; ask gpus=1 est=10s "
     "restart=95s; step; stop 1; ask gpus=4 est=9s prio=1; step",
     "+0 0:01 +1 0:2|-2 shortage(busy) ~2@100 0:0123 -1 reserved"},
    {"a host that leaves is no place for a run that lasts longer",
     "config order=easy; hosts 2 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=200s; leave "
     "0 150s; ask gpus=4 est=60s; step",
     "+0 0:0123 +1 1:0123 -2 shortage(busy) ~2@200 1:0123"},
    {"and is one for a run that ends before",
     "config order=easy; hosts 2 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=200s; leave "
     "0 150s; ask gpus=4 est=50s; step",
     "+0 0:0123 +1 1:0123 -2 shortage(busy) ~2@100 0:0123"},
};

static const struct row counts_row[] = {
    {"CPU that is kept",
     "config order=easy; hosts 1 gpus=4 cpu=8; ask gpus=1 cpu=6 est=100s; ask gpus=1 "
     "cpu=7 est=9s; ask gpus=1 cpu=2 est=500s; ask gpus=1 cpu=1 est=500s; step",
     "+0 0:0 -1 cpu(busy cpu) ~1@100 0:0 -2 reserved +3 0:1"},
    {"memory that is kept",
     "config order=easy; hosts 1 gpus=4 mem=8; ask gpus=1 mem=6 est=100s; ask gpus=1 "
     "mem=7 est=9s; ask gpus=1 mem=2 est=500s; ask gpus=1 mem=1 est=500s; step",
     "+0 0:0 -1 mem(busy mem) ~1@100 0:0 -2 reserved +3 0:1"},
    {"pods that are kept",
     "config order=easy; hosts 1 gpus=4 pods=2; ask gpus=1 est=100s; ask pods=2 gpus=1 "
     "est=9s; ask gpus=1 est=500s; ask gpus=1 est=50s; step",
     "+0 0:0 -1 pods(busy pods) ~1@100 0:0 0:1 -2 reserved +3 0:1"},
    {"a countable resource that is kept",
     "config order=easy; hosts 1 gpus=4 extra=2; ask gpus=1 extra=1 est=100s; ask gpus=1 "
     "extra=2 est=9s; ask gpus=1 extra=1 est=500s; ask gpus=1 extra=1 est=50s; step",
     "+0 0:0 -1 extra(busy) ~1@100 0:0 -2 reserved +3 0:1"},
    {"shares: a device that is kept for one holds no other",
     "config order=easy; hosts 1 gpus=2; ask gpus=1 milli=700 est=100s; ask gpus=1 "
     "milli=800 est=200s; ask gpus=1 milli=500 est=9s; ask gpus=1 milli=300 est=900s; ask "
     "gpus=1 milli=200 est=900s; step",
     "+0 0:0 +1 0:1 -2 scattered(busy) ~2@100 0:0 -3 reserved +4 0:1"},
    {"a limit that the head will need",
     "config order=easy; hosts 1 gpus=4 model=0; hosts 1 gpus=4 model=1; team 0 limit=4000; "
     "ask gpus=2 est=100s team=0 class=1; ask gpus=3 est=200s class=2; ask gpus=1 est=50s class=1; "
     "ask gpus=2 est=9s team=0; ask gpus=1 est=500s team=0 class=2; ask gpus=1 est=500s class=2; "
     "step",
     "+0 0:01 +1 1:012 +2 0:2 -3 scattered(busy) ~3@50 0:23 -4 reserved +5 1:3"},
    {"two dates of one team share its limit",
     "config order=conservative; hosts 2 gpus=4; team 0 limit=4000; ask gpus=4 est=100s; "
     "ask gpus=4 est=100s; ask gpus=3 est=9s team=0; ask gpus=3 est=9s team=0; step",
     "+0 0:0123 +1 1:0123 -2 shortage(busy) ~2@100 0:012 -3 shortage(busy) ~3@109 0:012"},
};

static const struct row move_row[] = {
    {"earlier whenever it can",
     "config order=easy; hosts 2 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=200s; ask "
     "pods=2 gpus=4 est=9s; step; at 40s; end 1; step; at 50s; end 0; step",
     "+0 0:0123 +1 1:0123 -2 shortage(busy) ~2@200 0:0123 1:0123|~2@100 0:0123 1:0123|+2 "
     "0:0123 1:0123"},
    {"an overrun moves nothing until somebody knows more",
     "config order=easy; hosts 1 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=9s; step; at "
     "100s; tick; step; at 150s; tick; step; end 0; step",
     "+0 0:0123 -1 shortage(busy) ~1@100 0:0123|||+1 0:0123"},
    {"a kept host fails: later",
     "config order=easy; hosts 2 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=200s; ask "
     "gpus=4 est=9s; step; at 10s; state 0 down; stop 0; step",
     "+0 0:0123 +1 1:0123 -2 shortage(busy) ~2@100 0:0123|-0 health(busy health) ~0@200 "
     "1:0123 -2 health(busy health) ~2@300 1:0123"},
    {"room on a host that failed is given up where there is no other",
     "config order=easy; hosts 2 gpus=4; ask pods=2 gpus=4 est=9s; ask gpus=1; step; end "
     "0; ask gpus=4 est=100s; step; ask pods=2 gpus=4 est=9s; step; state 1 down; step; "
     "ask gpus=1; step",
     "+0 0:0123 1:0123 -1 shortage(busy) ~1@9 0:0|+1 0:0 +2 1:0123|-3 shortage(busy)||+4 "
     "0:1"},
    {"a higher priority that comes later goes before",
     "config order=easy; hosts 1 gpus=4; ask gpus=4 est=100s; ask gpus=4 est=9s; step; at "
     "10s; ask gpus=4 est=50s prio=1; step; at 100s; end 0; step; at 150s; end 2; step",
     "+0 0:0123 -1 shortage(busy) ~1@100 0:0123|-2 shortage(busy) ~2@100 0:0123|+2 0:0123 "
     "~1@150 0:0123|+1 0:0123"},
    {"and may take what is kept at once",
     "config order=easy; hosts 1 gpus=4; ask gpus=3 est=100s; ask gpus=4 est=9s prio=-1; "
     "step; at 1s; ask gpus=1 est=500s prio=1; step",
     "+0 0:012 -1 shortage(busy) ~1@100 0:0123|+2 0:3"},
    {"a higher priority that was there before the promise may not",
     "config order=easy; team 0 limit=1000; hosts 1 gpus=4; ask gpus=1 est=20s team=0; "
     "ask gpus=2 est=100s; step; ask gpus=1 est=500s team=0 prio=1; ask gpus=4 est=9s "
     "prio=-1; step; at 20s; end 0; step",
     "+0 0:0 +1 0:12|-2 quota -3 shortage(busy) ~3@100 0:0123|-2 reserved ~2@109 0:0"},
    {"a limit that falls: its room is given up",
     "config order=easy; team 0 limit=9000; hosts 1 gpus=4; ask gpus=4 est=100s; ask "
     "gpus=4 est=9s team=0; step; team 0 limit=3000; ask gpus=1; at 50s; end 0; step",
     "+0 0:0123 -1 shortage(busy) ~1@100 0:0123|-1 never_quota +2 0:0"},
};

static const struct row guess_row[] = {
    {"undated room: a run without an estimate lasts as long again, at least ten minutes",
     "config order=easy; hosts 1 gpus=4; ask gpus=2; ask gpus=4 est=9s; ask gpus=1 "
     "est=600s; ask gpus=1 est=601s; step",
     "+0 0:01 -1 shortage(busy) +2 0:2 -3 reserved"},
    {"once the guess has passed nobody overtakes",
     "config order=easy; hosts 1 gpus=4; ask gpus=2; ask gpus=4 est=9s; ask gpus=1 "
     "est=599s; step; at 600s; tick; end 2; ask gpus=1 est=1s; step; at 700s; end 0; step",
     "+0 0:01 -1 shortage(busy) +2 0:2|-3 reserved|+1 0:0123 -3 shortage(busy) ~3@709 0:0"},
};

static const struct row inherit_row[] = {
    {"the next incarnation finds its room",
     "config inherit=30s; hosts 2 gpus=4; ask gpus=4 est=100s; step; restart 0; ask "
     "gpus=4; ask gpus=4; step",
     "+0 0:0123|+0 0:0123 +1 1:0123 -2 shortage(busy)"},
    {"and nobody takes it before it comes",
     "config inherit=30s; team 0 limit=4000; hosts 1 gpus=4; ask gpus=4 est=100s team=0; "
     "step; team 0 limit=3000; restart 0; ask gpus=1; step; at 30s; tick; step",
     "+0 0:0123|-0 never_quota -1 reserved|+1 0:0"},
    {"a gang that had lost a pod is placed anew, and whole",
     "config inherit=30s; hosts 2 gpus=4; ask pods=2 gpus=2; ask gpus=4; step; lose 0 1; "
     "restart 0; step",
     "+0 0:01 0:23 +1 1:0123|+0 0:01 0:23"},
    {"so is one whose hosts lie apart by now",
     "config inherit=30s; level 0 0 0; domain 0 0 4294967295; domain 1 0 4294967295; hosts 2 "
     "gpus=1 "
     "l0=0; ask pods=2 gpus=1 need=l0; step; host 1 gpus=1 l0=1; restart 0; step",
     "+0 0:0 1:0|-0 never_topology(topology)"},
    {"so is one that has lost a pod since",
     "config inherit=30s; hosts 1 gpus=2; ask pods=2 gpus=1; step; restart 0; done 0 0; "
     "ask gpus=1; step",
     "+0 0:0 0:1|+0 0:0 +1 0:1"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_date(void **state)
{
    (void)state;
    assert_int_equal(run_rows(date_row, ROWS(date_row)), 0);
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(run_rows(counts_row, ROWS(counts_row)), 0);
}

static void test_move(void **state)
{
    (void)state;
    assert_int_equal(run_rows(move_row, ROWS(move_row)), 0);
}

static void test_guess(void **state)
{
    (void)state;
    assert_int_equal(run_rows(guess_row, ROWS(guess_row)), 0);
}

static void test_inherit(void **state)
{
    (void)state;
    assert_int_equal(run_rows(inherit_row, ROWS(inherit_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_date),  cmocka_unit_test(test_counts),  cmocka_unit_test(test_move),
        cmocka_unit_test(test_guess), cmocka_unit_test(test_inherit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
