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
     "config order=easy; hosts 1 gpus=1; hosts 1 gpus=1; ask gpus=1 est=9s; ask gpus=1 est=30s; "
     "step; ask gpus=1; step; at 1s; end 0; gone 0; step",
     "+0 0:0 +1 1:0|-2 shortage(busy) ~2@9 0:0|~2@30 1:0"},
    {"of one model's jobs the first only, under easy",
     "config order=easy; hosts 1 gpus=2; ask gpus=2 est=9s; ask gpus=2; ask gpus=2; step", "+0 0:01 -1 shortage(busy) ~1@9 0:01 -2 shortage(busy)"},
    {"a CPU pod passes a limit that is exceeded",
     "team 0 limit=2000; hosts 1 gpus=4; ask gpus=2 team=0; step; team 0 limit=1000; ask gpus=0 "
     "team=0; ask gpus=1 team=0; step",
     "+0 0:01|+1 0:- -2 quota"},
    {"a pod that is done delays no date",
     "config order=easy; hosts 1 gpus=3; ask pods=3 gpus=1 est=9s; ask gpus=3; step; at 3s; done "
     "0 1; step",
     "+0 0:0 0:1 0:2 -1 shortage(busy) ~1@9 0:012|"},
    {"a label moves a host out of the rack: the room falls with it",
     "config order=easy; level 0 chain=0 rank=0; domain 0 level=0; domain 1 level=0; hosts 2 gpus=1 l0=0; ask "
     "pods=2 gpus=1 est=9s; ask pods=2 gpus=1 need=l0; step; at 1s; host 1 gpus=1 l0=1; step",
     "?"},
};

static void test_room(void **state)
{
    int bad = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(room_row); n++)
        bad += check_text(room_row[n].why, world_once(room_row[n].text), room_row[n].want);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
