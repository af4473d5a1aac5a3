/* queue_test.c - who is asked, held back and told, in all four orders */
#include "core/engine/queue.h"

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

static const struct row order_row[] = {
    {"fifo passes over what does not fit",
     "hosts 1 gpus=2; ask gpus=1; ask gpus=2; ask gpus=1; step", "+0 0:0 -1 shortage(busy) +2 0:1"},
    {"a pod was done while the job waited: what is left of it counts against the limit",
     "team 0 limit=3000; hosts 1 gpus=8; ask pods=4 min=1 gpus=4 team=0; done 0 1; step",
     "-0 never_quota"},
    {"easy holds back what would delay the head",
     "config order=easy; hosts 1 gpus=2; ask gpus=1 est=9s; ask gpus=2; ask gpus=1; step",
     "+0 0:0 -1 shortage(busy) ~1@9 0:01 -2 reserved"},
    {"conservative too, for every job",
     "config order=conservative; hosts 1 gpus=3; ask gpus=2 est=9s; ask gpus=2 est=9s; "
     "ask gpus=3 est=9s; ask gpus=1; step",
     "+0 0:01 -1 shortage(busy) ~1@9 0:01 -2 shortage(busy) ~2@18 0:012 -3 reserved ~3@27 "
     "0:0"},
    {"a job that was held back starts when its head has started",
     "config order=easy; hosts 1 gpus=4; ask gpus=3 est=9s; ask gpus=2 est=9s; step; ask "
     "gpus=3; ask gpus=1; step; at 5s; end 0; step",
     "+0 0:012 -1 shortage(busy) ~1@9 0:01|-2 shortage(busy) +3 0:3|+1 0:01 ~2@14 0:012"},
    {"first in the queue and held back: it has a date of its own",
     "config order=easy; hosts 2 gpus=2; ask gpus=1 est=90s; ask gpus=1 est=30s; ask "
     "gpus=1 est=50s; at 1s; ask gpus=2 est=9s; step; at 2s; ask gpus=1 submit=0; step; "
     "at 3s; end 0; step",
     "+0 0:0 +1 0:1 +2 1:0 -3 shortage(busy) ~3@51 1:01|-4 reserved ~4@31 0:1|+4 0:0"},
    {"equal asks of two teams: each is told its own reason",
     "config order=easy; team 0 limit=2000; team 1 limit=9000; hosts 1 gpus=4; ask gpus=2 "
     "est=9s team=0; ask gpus=4 est=9s; ask gpus=1 team=1; ask gpus=1 team=0; step",
     "+0 0:01 -1 shortage(busy) ~1@9 0:0123 -2 reserved -3 quota"},
};

static const struct row patience_row[] = {
    {"it waits for a better domain as long as it may",
     "hosts 2 gpus=4; ask gpus=3; ask gpus=3; ask pods=2 gpus=1 prefer=host patience=60s; "
     "step; at 59s; tick; step; at 60s; tick; step",
     "+0 0:012 +1 1:012 -2 patience||+2 0:3 1:3"},
    {"a better one comes",
     "hosts 2 gpus=4; ask gpus=3; ask gpus=3; ask pods=2 gpus=1 prefer=host patience=60s; "
     "step; at 5s; end 1; step",
     "+0 0:012 +1 1:012 -2 patience|+2 1:0 1:1"},
    {"no better one exists: it does not wait",
     "hosts 2 gpus=1; ask pods=2 gpus=1 prefer=host patience=60s; step", "+0 0:0 1:0"},
    {"a promise ends it",
     "config order=easy; hosts 2 gpus=2; ask gpus=2 est=10s; ask gpus=1 est=20s; ask "
     "pods=2 gpus=1 prefer=host patience=900s est=9s; ask gpus=1 est=900s; step; at 10s; "
     "end 0; step",
     "+0 0:01 +1 1:0 -2 shortage(busy) ~2@10 0:0 0:1 +3 1:1|+2 0:0 0:1"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_order(void **state)
{
    (void)state;
    assert_int_equal(run_rows(order_row, ROWS(order_row)), 0);
}

static void test_patience(void **state)
{
    (void)state;
    assert_int_equal(run_rows(patience_row, ROWS(patience_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_patience),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
