/* resize_test.c - broken gangs are made whole or ended, before and after the others */
#include "core/engine/resize.h"

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

static const struct row broken_row[] = {
    {"before anybody else",
     "config breach=5s; hosts 1 gpus=3; ask pods=2 gpus=1; step; lose 0 1; ask gpus=2 "
     "prio=9; step",
     "+0 0:0 0:1|^0 0:1 -1 shortage(busy)"},
    {"the higher priority first, and what has no room is told so once",
     "config breach=5s; hosts 2 gpus=2; ask pods=2 gpus=1 prio=1; ask pods=2 gpus=1; "
     "step; lose 0 1; lose 1 0; ask gpus=1 prio=9; device 0 1 down; step; at 1s; tick; "
     "step; at 5s; tick; step",
     "+0 0:0 0:1 +1 1:0 1:1|^0 1:0 -1 member(?) -2 health(busy health)||!1 -1 health(busy "
     "health) +2 1:1"},
    {"ended when its time is over, and its room is for others",
     "config breach=30s; hosts 1 gpus=2; ask pods=2 gpus=1; step; lose 0 1; device 0 1 "
     "down; step; at 30s; tick; ask gpus=1; step",
     "+0 0:0 0:1|-0 member(?)|!0 -0 health(health) +1 0:0"},
    {"whole again: the time is forgotten",
     "config breach=30s; hosts 1 gpus=2; ask pods=2 gpus=1; step; lose 0 1; device 0 1 "
     "down; step; at 10s; device 0 1 up; step; at 31s; tick; step",
     "+0 0:0 0:1|-0 member(?)|^0 0:1|"},
    {"where its others are, or not at all",
     "config breach=30s; hosts 1 gpus=2; hosts 1 gpus=2; ask pods=2 gpus=1 need=host; "
     "step; lose 0 1; device 0 1 down; step",
     "+0 0:0 0:1|-0 member(?)"},
    {"a pod that is away is not missed",
     "config breach=9s; hosts 2 gpus=1; ask pods=2 gpus=1; step; done 0 1; step", "+0 0:0 1:0|"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_broken(void **state)
{
    (void)state;
    assert_int_equal(run_rows(broken_row, ROWS(broken_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
