/* exclusive_test.c - domains that a gang has to itself, in both directions
 *
 * Scripts are in the language of tests/kit/world.h.
 */
#include "core/place/exclusive.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

#define TWO_LEAVES "hosts 2 gpus=2 l0=0; hosts 2 gpus=2 l0=1; "

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"it goes where nobody is, though less room is left over elsewhere",
     TWO_LEAVES "ask gpus=1; step; ask pods=2 gpus=1 exclusive=l0; step", "+0 0:0|+1 2:0 2:1"},
    {"the same without the word", TWO_LEAVES "ask gpus=1; step; ask pods=2 gpus=1 prefer=l0; step",
     "+0 0:0|+1 1:0 1:1"},
    {"somebody is everywhere: there is room, and a rule",
     TWO_LEAVES "ask pods=2 gpus=2 slice=1@l0; step; ask gpus=1; step; end 0; ask gpus=2 "
                "exclusive=l0; step",
     "+0 0:01 1:01|+1 2:0|+2 0:01"},
    {"nobody is placed beside it while it runs",
     "hosts 2 gpus=2 l0=0; ask gpus=1 exclusive=l0; step; ask gpus=1; step", "+0 0:0|-1 exclusive"},
    {"and the next one starts when it ends",
     "hosts 2 gpus=2 l0=0; ask gpus=1 exclusive=l0; step; ask gpus=1; step; end 0; step",
     "+0 0:0|-1 exclusive|+1 0:0"},
    {"it waits itself: for the end of another",
     "hosts 2 gpus=2 l0=0; ask gpus=1; step; ask gpus=1 exclusive=l0; step; end 0; step",
     "+0 0:0|-1 exclusive|+1 0:0"},
    {"what does not fit anyway is refused for that, rule or not",
     "hosts 2 gpus=2 l0=0; ask gpus=1 exclusive=l0; step; ask pods=3 gpus=1; ask pods=4 gpus=1; "
     "step",
     "+0 0:0|-1 exclusive -2 shortage(busy)"},
    {"a host of its own: others go beside it on the next",
     "hosts 2 gpus=2; ask gpus=1 exclusive=host; step; ask pods=2 gpus=1; ask gpus=1; step",
     "+0 0:0|+1 1:0 1:1 -2 exclusive"},
    {"a host outside the level is not for it",
     "hosts 1 gpus=2; hosts 1 gpus=2 l0=0; ask gpus=1 exclusive=l0; step; ask gpus=1; step",
     "+0 1:0|+1 0:0"},
    {"several domains, all to itself",
     TWO_LEAVES "ask pods=3 gpus=2 exclusive=l0; step; ask gpus=1; step",
     "+0 0:01 1:01 2:01|-1 exclusive"},
    {"two that are exclusive at different levels",
     TWO_LEAVES "ask gpus=1 exclusive=l0; step; ask gpus=1 exclusive=host; ask gpus=1 "
                "exclusive=host; ask gpus=1; step",
     "+0 0:0|+1 2:0 +2 3:0 -3 exclusive"},
    {"pods that differ",
     TWO_LEAVES "ask gpus=1; step; ask gpus=2 cpu=1 + gpus=1 exclusive=l0; step",
     "+0 0:0|+1 2:01 3:0"},
    {"pods without GPUs count as well",
     "hosts 1 gpus=2 cpu=9 l0=0; hosts 1 gpus=2 cpu=9 l0=1; ask cpu=1; step; ask gpus=1 "
     "exclusive=l0; step",
     "+0 0:-|+1 1:0"},
    {"its next incarnation takes its room again if nobody came",
     "config inherit=100000000000; " TWO_LEAVES
     "ask pods=2 gpus=1 exclusive=l0; step; restart 0; step",
     "+0 0:0 0:1|+0 0:0 0:1"},
    {"a place that was taken for somebody else is no place for it",
     "config order=priority inherit=100000000000; hosts 1 gpus=2 model=1; hosts 1 gpus=4; ask "
     "gpus=1 "
     "exclusive=host; step; ask gpus=1 class=2 prio=9; restart 0; step",
     "+0 0:0|+1 0:0 +0 1:0"},
    {"a device beside kept room is free for all",
     "config order=easy; hosts 1 gpus=2 l0=0; hosts 1 gpus=5 l0=1; ask gpus=2 est=100; step; ask "
     "pods=3 gpus=2 est=100; step; ask gpus=1; step",
     "+0 0:01|-1 shortage(busy) ~1@0 0:01 1:01 1:23|+2 1:4"},
    {"but not for one that would close the domain to whom it is kept for",
     "config order=easy; hosts 1 gpus=2 l0=0; hosts 1 gpus=5 l0=1; ask gpus=2 est=100; step; ask "
     "pods=3 gpus=2 est=100; step; ask gpus=1 exclusive=l0; step",
     "+0 0:01|-1 shortage(busy) ~1@0 0:01 1:01 1:23|-2 reserved"},
};

static void domains_are_kept_apart(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

/* Who explains a refusal, or asks what would cure it, leaves the rule out. */
static void the_question_may_leave_it_out(void **state)
{
    struct world w;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=2 l0=0; ask gpus=1 exclusive=l0; step; ask gpus=1; step");
    v = world_view(&w, 1);
    assert_true(exclusive_matters(&v));
    assert_false(exclusive_allows(&v, 0));
    assert_false(view_open(&v, 0, world_podset(&w, 1, 0)));
    v.beside = true;
    assert_false(exclusive_matters(&v));
    assert_true(view_open(&v, 0, world_podset(&w, 1, 0)));
    world_say(&w, "end 0");
    world_settle(&w);
    v = world_view(&w, 1);
    assert_false(exclusive_matters(&v));
    assert_int_equal(config_row(w.s.m)->exclusive_jobs, 0);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_are_kept_apart),
        cmocka_unit_test(the_question_may_leave_it_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
