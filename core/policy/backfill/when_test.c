/* The date of a gang by sums is the date by taking runs off the books: random clusters of two
 * levels, random runs with ends, some without; gangs that need one leaf or one spine. */
#include "core/policy/backfill/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/place/gang.h"
#include "tests/kit/world.h"

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, expr);
    abort();
}

#define SECOND ((int64_t)1000000000)

static int64_t end_of(const struct model *m, const struct job *j, bool guess)
{
    (void)guess;
    return j->end_ns > config_row(m)->now_ns ? j->end_ns : INT64_MAX;
}

/* The same by trying: every end in turn, all runs that end by then taken off. */
static int64_t by_trying(struct model *m, uint32_t job, int64_t before_ns)
{
    int64_t last = INT64_MIN, next;

    do {
        next = INT64_MAX;
        for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
            int64_t end =
                job_row(m, j)->state == JOB_RUNNING ? end_of(m, job_row(m, j), false) : INT64_MAX;

            next = end > last && end < next ? end : next;
        }
        if (next == INT64_MAX || next >= before_ns)
            return INT64_MAX;
        model_begin(m);
        for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
            if (job_row(m, j)->state == JOB_RUNNING && end_of(m, job_row(m, j), false) <= next)
                job_vacate(m, j);

        struct view v = view_of(m, job);
        bool fits = gang_fits(&v) == VERDICT_FITS;

        model_rollback(m);
        if (fits)
            return next;
        last = next;
    } while (next != INT64_MAX);
    return INT64_MAX;
}

static void say_cluster(struct world *w, struct prng *r)
{
    char text[128];

    world_say(w, "level 0 0 0; level 1 0 1");
    for (unsigned d = 0; d < 4; d++) {
        (void)snprintf(text, sizeof(text), "domain %u 0 %u", d, 4 + d / 2);
        world_say(w, text);
    }
    world_say(w, "domain 4 1 4294967295; domain 5 1 4294967295");
    for (unsigned h = 0; h < 8; h++) {
        (void)snprintf(text, sizeof(text), "hosts 1 gpus=%u cpu=%u pods=%u l0=%u l1=%u",
                       2 + (unsigned)prng_below(r, 3) * 2, 8 + (unsigned)prng_below(r, 24),
                       2 + (unsigned)prng_below(r, 6), h / 2, 4 + h / 4);
        world_say(w, text);
    }
}

static void say_runs(struct world *w, struct prng *r)
{
    char text[128];

    for (unsigned n = 0; n < 24; n++) {
        static const char *const share[] = {"", " milli=500", ""};
        unsigned kind = (unsigned)prng_below(r, 3);
        int64_t est = prng_below(r, 6) ? (1 + (int64_t)prng_below(r, 9)) * SECOND : -1;

        (void)snprintf(text, sizeof(text), "ask pods=%u gpus=%u%s cpu=%u est=%lld",
                       1 + (unsigned)prng_below(r, 2),
                       kind == 1 ? 1 : 1 + (unsigned)prng_below(r, 3), share[kind],
                       (unsigned)prng_below(r, 4), (long long)est);
        world_say(w, text);
    }
    world_say(w, "step");
}

static void test_same_as_trying(void **state)
{
    static struct world w;
    unsigned dated = 0, never = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct prng r;
        struct when when = {.end = end_of};
        char text[128];
        int64_t date, before;

        prng_init(&r, seed);
        world_open(&w, NULL);
        say_cluster(&w, &r);
        say_runs(&w, &r);
        (void)snprintf(text, sizeof(text),
                       "ask pods=%u gpus=%u cpu=%u need=l%u est=5000000000; step",
                       1 + (unsigned)prng_below(&r, 5), 1 + (unsigned)prng_below(&r, 4),
                       (unsigned)prng_below(&r, 5), (unsigned)prng_below(&r, 2));
        world_say(&w, text);
        when.m = w.s.m;
        when.job = index_job_find(w.s.m, w.keys - 1);
        if (when.job == ROW_NONE || job_row(w.s.m, when.job)->state != JOB_WAITING) {
            world_close(&w);
            continue;
        }
        assert_true(when_applies(&when, 0));
        before = prng_below(&r, 4) ? INT64_MAX : 5 * SECOND;
        date = when_earliest(&when, before);
        assert_int_equal(date, by_trying(w.s.m, when.job, before));
        never += date == INT64_MAX;
        if (date != INT64_MAX) {
            struct view v = view_of(w.s.m, when.job);

            dated++;
            model_begin(w.s.m);
            when_vacate(&when, date);
            assert_int_equal(gang_fits(&v), VERDICT_FITS);
            model_rollback(w.s.m);
        }
        world_close(&w);
    }
    assert_true(dated > 60 && never > 20);
}

/* What it cannot tell it leaves to others. */
static void test_does_not_apply(void **state)
{
    static const struct {
        const char *why, *script;
    } row[] = {
        {"no level is needed", "hosts 1 gpus=1; ask gpus=2"},
        {"two levels", "level 0 0 0; level 1 1 0; hosts 1 gpus=1; ask gpus=2 need=l0,l1"},
        {"a level below the host", "hosts 1 gpus=1; ask gpus=2 need=numa"},
        {"a share", "level 0 0 0; hosts 1 gpus=1; ask pods=3 gpus=1 milli=600 need=l0"},
        {"slices", "level 0 0 0; hosts 1 gpus=1; ask pods=4 gpus=1 slice=2@host need=l0"},
        {"unlike pods", "level 0 0 0; hosts 1 gpus=1; ask gpus=1 + gpus=2 need=l0"},
        {"a limit", "level 0 0 0; team 0 limit=9000; hosts 1 gpus=1; ask gpus=2 team=0 need=l0"},
        {"a host that leaves", "level 0 0 0; hosts 1 gpus=1; leave 0 9; ask gpus=2 need=l0"},
    };
    static struct world w;

    (void)state;
    for (unsigned n = 0; n < sizeof(row) / sizeof(*row); n++) {
        struct when when = {.end = end_of};

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        world_say(&w, "step");
        when.m = w.s.m;
        when.job = index_job_find(w.s.m, 0);
        if (when.job == ROW_NONE || when_applies(&when, 0))
            fail_msg("row: %s\n", row[n].why);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_trying),
        cmocka_unit_test(test_does_not_apply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
