/* patience_test.c - how long a gang waits for a better place, by both clocks
 *
 * Scripts are in the language of tests/kit/world.h. Everywhere a gang of two hosts wishes for one
 * leaf and has a patience of 120 s, whose twelfth is 10 s.
 */
#include "core/policy/patience.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Two leaves of two hosts; one host of each is busy, so that a gang of two fits only across. */
#define HALVES                                                                                     \
    "hosts 2 gpus=1 l0=0; hosts 2 gpus=1 l0=1; ask gpus=1; ask gpus=1; seat 0 host=0 on=0; "       \
    "seated "                                                                                      \
    "0; seat 1 host=2 on=0; seated 1; "
/* The same, and the other two are busy as well. */
#define FULL                                                                                       \
    HALVES "ask gpus=1; ask gpus=1; seat 2 host=1 on=0; seated 2; seat 3 host=3 on=0; seated 3; "
#define GANG "ask pods=2 gpus=1 prefer=l0 patience=120s; "

static const struct {
    const char *why, *script, *want;
} row[] = {
    {"it waits since it was submitted", HALVES GANG "step; at 119s; tick; step", "-2 patience|"},
    {"and no longer", HALVES GANG "step; at 120s; tick; step", "-2 patience|+2 1:0 3:0"},
    {"what it waits for comes", HALVES GANG "step; at 60s; end 0; step", "-2 patience|+2 0:0 1:0"},
    {"no patience: it takes what there is", HALVES "ask pods=2 gpus=1 prefer=l0; step",
     "+2 1:0 3:0"},
    {"no wish: nothing to wait for", HALVES "ask pods=2 gpus=1 patience=120s; step", "+2 1:0 3:0"},
    {"a wish that no cluster could meet is not waited for",
     HALVES "ask pods=2 gpus=1 prefer=host patience=120s; step", "+2 1:0 3:0"},
    {"all patience is spent on any room at all: a twelfth is left at the first chance",
     FULL GANG "step; at 500s; end 2; end 3; step; at 509s; tick; step",
     "-4 shortage(busy)|-4 patience|"},
    {"and no more than that", FULL GANG "step; at 500s; end 2; end 3; step; at 510s; tick; step",
     "-4 shortage(busy)|-4 patience|+4 1:0 3:0"},
    {"in it the rest of a leaf comes free",
     FULL GANG "step; at 500s; end 2; end 3; step; at 505s; end 1; step",
     "-4 shortage(busy)|-4 patience|+4 2:0 3:0"},
    {"a chance that went is not a new one",
     FULL GANG "step; at 500s; end 2; end 3; step; ask gpus=1; seat 5 host=1 on=0; seated 5; at "
               "505s; tick; step; at 600s; end 5; step",
     "-4 shortage(busy)|-4 patience|-4 shortage(busy)|+4 1:0 3:0"},
    {"a wider domain is waited for too, where the narrow one cannot be",
     "hosts 1 gpus=1 l0=0 l1=8; hosts 1 gpus=1 "
     "l0=1 l1=8; hosts 1 gpus=1 l0=2 l1=9; hosts 1 gpus=1 l0=3 l1=9; level 1 0 1; ask gpus=1; ask "
     "gpus=1; seat 0 "
     "host=0 on=0; seated 0; seat 1 host=2 on=0; seated 1; " GANG "step; at 60s; end 0; step",
     "-2 patience|+2 0:0 1:0"},
};

static void the_later_clock_counts(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(row); n++)
        wrong += check_text(row[n].why, world_once(row[n].script), row[n].want);
    assert_int_equal(wrong, 0);
}

/* Who never waits for anything better, and until when the others do. */
static void the_time_is_known(void **state)
{
    static const struct {
        const char *why, *script;
        uint32_t key;
        int64_t want_s; /* -1: never */
    } until[] = {
        {"no wish", HALVES "ask pods=2 gpus=1 patience=120s; step", 2, -1},
        {"one pod", HALVES "ask gpus=2 prefer=l0 patience=120s; step", 2, -1},
        {"no chance so far", FULL GANG "step", 4, 120},
        {"a late chance", FULL GANG "step; at 500s; end 2; end 3; step", 4, 510},
        {"an early one", HALVES GANG "step", 2, 120},
        {"as configured",
         "config patience=60s; " HALVES "ask pods=2 gpus=1 prefer=l0 patience=-1; step", 2, 60},
    };

    (void)state;
    for (size_t n = 0; n < ROWS(until); n++) {
        struct world w;
        int64_t ns;

        world_open(&w, NULL);
        world_run_text(&w, until[n].script);
        ns = patience_until(w.s.m, world_view(&w, until[n].key).job);
        CHECK_INT(until[n].why, ns == INT64_MIN ? -1 : ns / 1000000000, until[n].want_s);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_later_clock_counts),
        cmocka_unit_test(the_time_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
