/* lifetime_test.c - who sits beside whom, by when they will leave
 *
 * Scripts are in the language of tests/kit/world.h. In each of them job 0 and 1 are seated by hand
 * where the test wants them.
 */
#include "core/place/lifetime.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

#define H INT64_C(3600000000000)

static void steps_are_doublings(void **state)
{
    static const struct {
        const char *why;
        int64_t drain_ns, end_ns, want;
    } step[] = {
        {"others stay longer", 5 * H, 4 * H, 0},
        {"as long", 5 * H, 5 * H, 0},
        {"just below an hour", 5 * H, 6 * H - 1, 0},
        {"an hour", 5 * H, 6 * H, 1},
        {"just below three", 0, 3 * H - 1, 1},
        {"three", 0, 3 * H, 2},
        {"seven", 0, 7 * H, 3},
        {"nobody knows when they leave", INT64_MAX, 9 * H, 0},
        {"292 years: 2.6 million hours", 0, INT64_MAX, 21},
    };

    (void)state;
    for (size_t n = 0; n < ROWS(step); n++)
        CHECK_INT(step[n].why, lifetime_steps(step[n].drain_ns, step[n].end_ns), step[n].want);
}

#define EASY "config order=easy; "
/* Two hosts of which the first is busy for an hour, the second for ten. */
#define SHORT_AND_LONG                                                                             \
    "hosts 2 gpus=2; ask gpus=1 est=3600s; ask gpus=1 est=36000s; seat 0 host=0 on=0; seated 0; "  \
    "seat 1 host=1 on=0; seated 1; "

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"a short pod ends before either does: the scorer decides",
     EASY SHORT_AND_LONG "ask gpus=1 est=600s; step", "+2 0:1"},
    {"a long one goes to the long one", EASY SHORT_AND_LONG "ask gpus=1 est=30000s; step",
     "+2 1:1"},
    {"nobody says how long: the scorer decides", EASY SHORT_AND_LONG "ask gpus=1; step", "+2 0:1"},
    {"no room is kept by estimates in this order: the scorer decides",
     "config order=priority; " SHORT_AND_LONG "ask gpus=1 est=30000s; step", "+2 0:1"},
    {"another policy does as it is told",
     "config order=easy scorer=first-fit; " SHORT_AND_LONG "ask gpus=1 est=30000s; step", "+2 0:1"},
    {"a pod without GPUs keeps no host busy", EASY SHORT_AND_LONG "ask cpu=1 est=30000s; step",
     "+2 0:-"},
    {"beside one whose end nobody knows nothing is put off",
     EASY "hosts 2 gpus=2; ask gpus=1 est=3600s; ask gpus=1; seat 0 host=0 on=0; seated 0; seat 1 "
          "host=1 on=0; seated 1; ask gpus=1 est=30000s; step",
     "+2 1:1"},
    {"beside others rather than alone, if it stays no longer than they do",
     EASY "hosts 2 gpus=2; ask gpus=1 est=36000s; seat 0 host=1 on=0; seated 0; ask gpus=1 "
          "est=30000s; step",
     "+1 1:1"},
    {"alone rather than among those who leave soon, in a leaf that is busy for longer",
     EASY "hosts 1 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=1 est=600s; ask gpus=2 est=360000s; "
          "seat 0 host=0 on=0; seated 0; seat 1 host=1 on=01; seated 1; ask gpus=1 est=36000s; "
          "step",
     "+2 2:0"},
    {"a whole host: in the leaf that is busy for longer, though more of it is free",
     EASY "hosts 2 gpus=2 l0=0; hosts 3 gpus=2 l0=1; ask gpus=2 est=600s; ask gpus=2 est=36000s; "
          "seat 0 host=0 on=01; seated 0; seat 1 host=2 on=01; seated 1; ask gpus=2 est=30000s; "
          "step",
     "+2 3:01"},
    {"equal leaves: the one with fewer hosts that nobody uses",
     EASY "hosts 3 gpus=2 l0=0; hosts 2 gpus=2 l0=1; ask gpus=2 est=30000s; step", "+0 3:01"},
    {"equal in all: the lowest id", EASY "hosts 3 gpus=2; ask gpus=1 est=30000s; step", "+0 0:0"},
    {"where it may not go it does not go",
     EASY SHORT_AND_LONG "state 1 drain; ask gpus=1 est=30000s; step", "+2 0:1"},
};

static void those_who_stay_come_together(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

/* What a decision says of it. */
static void its_terms_are_told(void **state)
{
    struct spot best = {.host = ROW_NONE}, second = {.host = ROW_NONE};
    struct world w;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, EASY SHORT_AND_LONG "ask gpus=1 est=30000s");
    world_settle(&w);
    v = world_view(&w, 2);
    assert_true(lifetime_search(&v, world_podset(&w, 2, 0), 0, &best, &second));
    assert_int_equal(best.host, 1);
    assert_int_equal(second.host, 0);
    assert_int_equal(best.term_count, second.term_count);
    assert_string_equal(best.term[best.term_count - 2].name, "host kept busy longer");
    assert_int_equal(best.term[best.term_count - 2].value, 0);
    assert_int_equal(second.term[best.term_count - 2].value, 3); /* 26,400 s beyond the hour */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_doublings),
        cmocka_unit_test(those_who_stay_come_together),
        cmocka_unit_test(its_terms_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
