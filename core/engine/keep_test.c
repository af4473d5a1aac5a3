/* keep_test.c - who gets room and a date, who keeps them, and who gives them up */
#include "core/engine/keep.h"

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

static const struct row room_row[] = {
    {"the host of a kept room goes: the room too, and a date is looked for elsewhere",
     "config order=easy; hosts 2 gpus=1; ask gpus=1 est=9s; ask gpus=1 est=30s; step; at 1s; ask "
     "gpus=1; step; at 2s; end 0; gone 0; ask gpus=1 submit=0; step",
     "+0 0:0 +1 1:0|-2 shortage(busy) ~2@9 0:0|-3 shortage(busy) ~3@30 1:0"},
    {"of one model's jobs the first only, under easy",
     "config order=easy; hosts 1 gpus=2; ask gpus=2 est=9s; ask gpus=2; ask gpus=2; step",
     "+0 0:01 -1 shortage(busy) ~1@9 0:01 -2 shortage(busy)"},
    {"a CPU pod passes a limit that is exceeded",
     "team 0 limit=2000; hosts 1 gpus=4; ask gpus=2 team=0; step; team 0 limit=1000; ask gpus=0 "
     "team=0; ask gpus=1 team=0; step",
     "+0 0:01|+1 0:- -2 quota"},
    {"a pod that is done delays no date",
     "config order=easy; hosts 1 gpus=3; ask pods=3 gpus=1 est=9s; ask gpus=3; step; at 3s; done "
     "0 1; step",
     "+0 0:0 0:1 0:2 -1 shortage(busy) ~1@9 0:012|"},
    {"a label moves a host out of the rack: the room falls with it",
     "config order=easy; level 0 0 0; domain 0 0 4294967295; domain 1 0 4294967295; hosts 3 "
     "gpus=1 l0=0; ask gpus=1 est=9s; ask gpus=1 est=9s; ask gpus=1 est=30s; ask pods=2 gpus=1 "
     "need=l0; step; at 1s; host 1 gpus=1 l0=1; step",
     "+0 0:0 +1 1:0 +2 2:0 -3 shortage(busy) ~3@9 0:0 1:0|~3@30 0:0 2:0"},
};

static void test_room(void **state)
{
    int bad = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(room_row); n++)
        bad += check_text(room_row[n].why, world_once(room_row[n].text), room_row[n].want);
    assert_int_equal(bad, 0);
}

/* No kept place names a host that is no more; inherited room keeps its other places. */
static void test_gone(void **state)
{
    static struct world w;
    const struct model *m;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "config order=easy; hosts 1 gpus=1; ask gpus=1 est=9s; step; ask gpus=1; step");
    assert_int_equal(config_row(w.s.m)->kept_jobs, 1);
    world_run_text(&w, "end 0; gone 0");
    world_settle(&w);
    assert_int_equal(config_row(w.s.m)->kept_jobs, 0);
    assert_true(world_valid(&w));
    world_close(&w);

    world_open(&w, NULL);
    world_say(&w, "config inherit=90s; hosts 2 gpus=1; ask pods=2 gpus=1; step");
    world_run_text(&w, "restart 0; gone 0");
    world_settle(&w);
    m = w.s.m;
    assert_int_equal(config_row(m)->kept_jobs, 1);
    assert_int_equal(hold_row(m, job_row(m, 0)->hold_head)->host, 1);
    assert_int_equal(hold_row(m, job_row(m, 0)->hold_head)->next, ROW_NONE);
    world_run_text(&w, "gone 1");
    world_settle(&w);
    assert_int_equal(config_row(w.s.m)->kept_jobs, 0);
    assert_true(world_valid(&w));
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
