/* answer_test.c - decisions in the tables: seats by pod, and when they are full */
#include "core/engine/answer.h"

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

static const struct row seats_row[] = {
    {"a start, a refusal, a promise: by the number of the pod",
     "config order=easy; hosts 3 gpus=2; ask pods=3 gpus=2 est=9s; ask pods=2 gpus=2 "
     "est=9s; step",
     "+0 0:01 1:01 2:01 -1 shortage(busy) ~1@9 0:01 1:01"},
    {"what leaves and what joins",
     "hosts 1 gpus=4; ask gpus=1 pods=4 min=1; ask gpus=3; step; end 1; step",
     "+0 0:0 0:1 0:2 0:3 v0<1 0:1 0:2 0:3 +1 0:123|^0 0:1 0:2 0:3"},
    {"podsets one after the other", "hosts 2 gpus=2; ask gpus=1 + pods=2 gpus=1; step",
     "+0 0:0 0:1 1:0"},
    {"the end of a broken run",
     "config breach=1s; hosts 1 gpus=2; ask pods=2 gpus=1; step; lose 0 1; device 0 1 "
     "down; at 1s; step; at 2s; tick; step",
     "+0 0:0 0:1|-0 member(?)|!0 -0 health(health)"},
};

static int run_rows(const struct row *row, size_t rows)
{
    int bad = 0;

    for (size_t n = 0; n < rows; n++)
        bad += check_text(row[n].why, world_once(row[n].text), row[n].want);
    return bad;
}

static void test_seats(void **state)
{
    (void)state;
    assert_int_equal(run_rows(seats_row, ROWS(seats_row)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
