/* ways_test.c - the order of splits, and what a job with several ways gets */
#include "core/policy/ways.h"

#include <stdio.h>
#include <string.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* All splits of the last job, minimum by way: "21 12", podsets by "/"; with pods that are more. */
static const char *splits(void)
{
    static char text[2048];
    uint32_t job = world_view(&w, w.keys - 1).job;
    bool more;

    text[0] = 0;
    model_begin(w.s.m);
    more = ways_first(w.s.m, job);
    for (;;) {
        for (uint32_t p = job_row(w.s.m, job)->podset_head; p != ROW_NONE;
             p = podset_row(w.s.m, p)->next) {
            const struct podset *set = podset_row(w.s.m, p);
            size_t at = strlen(text);

            snprintf(text + at, sizeof(text) - at, "%s%u",
                     !set->way && p != job_row(w.s.m, job)->podset_head ? "/" : "", set->pods_min);
            at = strlen(text);
            if (set->pods > set->pods_min)
                snprintf(text + at, sizeof(text) - at, "+%u", set->pods - set->pods_min);
        }
        if (!more)
            break;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " ");
        more = ways_next(w.s.m, job);
    }
    model_commit(w.s.m);
    return text;
}

static const struct {
    const char *why, *ask, *want;
} split_row[] = {
    {"the most of the best first", "ask pods=2 gpus=1 + way gpus=2", "20 11 02"},
    {"three ways", "ask pods=2 gpus=1 + way gpus=2 + way gpus=3", "200 110 101 020 011 002"},
    {"what is beyond the minimum goes to the best way that is used",
     "ask pods=5 min=1 gpus=1 + way gpus=2", "1+40 01+4"},
    {"no minimum: nothing to split", "ask gpus=1 + pods=2 min=0 gpus=1 + way gpus=2", "1/0+20"},
    {"two podsets, the first matters more", "ask gpus=1 + way gpus=2 + pods=2 gpus=3 + way gpus=4",
     "10/20 10/11 10/02 01/20 01/11 01/02"},
    {"a podset without ways between them", "ask gpus=1 + way gpus=2 + pods=3 gpus=4", "10/3 01/3"},
};

static void test_splits(void **state)
{
    int wrong = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(split_row); n++) {
        world_open(&w, NULL);
        world_say(&w, split_row[n].ask);
        wrong += check_text(split_row[n].why, splits(), split_row[n].want);
        wrong += check_text("and all over again", splits(), split_row[n].want);
        world_close(&w);
    }
    assert_int_equal(wrong, 0);
}

#define CARDS                                                                                      \
    "mig 3 model=0 starts=1 slots=4 of=7; mig 4 model=0 starts=15 slots=2 of=7; hosts 2 gpus=1; "
#define SLICES "gpus=1 mig=3 + way gpus=1 mig=4; "
#define MODELS                                                                                     \
    "class 0 models=ffffffffffffffff nodes=ff; class 1 models=1 nodes=ff; "                        \
    "class 2 models=2 nodes=ff; hosts 1 gpus=2; hosts 1 gpus=4 model=1; "

static const struct {
    const char *why, *script, *want;
} text_row[] = {
    {"all in the best way where that fits", CARDS "ask pods=2 " SLICES "step", "+0 0:0/0 1:0/0"},
    {"as many of the best as let all run", CARDS "ask pods=4 " SLICES "step",
     "+0 0:0/0 1:0/0 0:0/4 1:0/4"},
    {"fewer of the best, so that all run", CARDS "ask pods=5 " SLICES "step",
     "+0 0:0/0 0:0/4 1:0/0 1:0/2 1:0/4"},
    {"the last way alone", CARDS "ask pods=6 " SLICES "step",
     "+0 0:0/0 0:0/2 0:0/4 1:0/0 1:0/2 1:0/4"},
    {"more than any way holds: the reason is the last way's", CARDS "ask pods=7 " SLICES "step",
     "-0 never_size"},
    {"one after the other, each its best",
     CARDS "ask " SLICES "step; ask " SLICES "step; ask " SLICES "step",
     "+0 0:0/0|+1 1:0/0|+2 0:0/4"},
    {"an end brings the better way back",
     CARDS "ask pods=6 " SLICES "step; ask pods=2 " SLICES "step; end 0; step",
     "+0 0:0/0 0:0/2 0:0/4 1:0/0 1:0/2 1:0/4|-1 shortage(busy)|+1 0:0/0 1:0/0"},
    {"a run that was stopped is split anew",
     CARDS "ask pods=3 " SLICES "step; stop 0; ask " SLICES "step",
     "+0 0:0/0 1:0/0 0:0/4|+0 0:0/0 1:0/0 0:0/4 +1 1:0/4"},
    {"other devices of another model",
     MODELS "ask gpus=2 class=1 + way gpus=4 class=2; step; ask "
            "gpus=2 class=1 + way gpus=4 class=2; step",
     "+0 0:01|+1 1:0123"},
    {"the limit of the team decides as well",
     MODELS "team 0 limit=3000; ask gpus=4 class=2 team=0 + way gpus=2 class=1; step", "+0 0:01"},
    {"never by the limit only if no way is within it",
     MODELS "team 0 limit=1000; ask gpus=4 class=2 team=0 + way gpus=2 class=1; step",
     "-0 never_quota"},
};

static void test_text(void **state)
{
    int wrong = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(text_row); n++)
        wrong += check_text(text_row[n].why, world_once(text_row[n].script), text_row[n].want);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
