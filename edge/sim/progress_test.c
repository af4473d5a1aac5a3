/* What a person sees while waiting, at several widths and moments. */
#include "edge/sim/progress.h"

#include "edge/base/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000LL

static void lines_say_rate_and_time_left(void **state)
{
    static const struct {
        const char *why;
        uint64_t done, total;
        int64_t elapsed_ns;
        unsigned columns;
        const char *text;
    } row[] = {
        {"half way", 5000, 10000, 10 * SECOND, 50, " 50 % 5000/10.0k arrivals, 500/s, left 0:10"},
        {"a bar where there is room", 5000, 10000, 10 * SECOND, 70,
         "[===========>           ]  50 % 5000/10.0k arrivals, 500/s, left 0:10"},
        {"nothing is done: no guess", 0, 10, SECOND, 30, "  0 % 0/10 arrivals"},
        {"all is done: nothing is left", 10, 10, 2 * SECOND, 30, "100 % 10/10 arrivals, 5/s"},
        {"more than all", 12, 10, 2 * SECOND, 30, "100 % 10/10 arrivals, 5/s"},
        {"an unknown total", 20000000, 0, 10 * SECOND, 60, "20.0M arrivals, 2000.0k/s"},
        {"hours", 1, 10000, SECOND, 45, "  0 % 1/10.0k arrivals, 1/s, left 2:46:39"},
        {"too narrow: cut, never wrapped", 5000, 10000, 10 * SECOND, 12, " 50 % 5000/1"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct out out = {0};

        progress_line(&out, "arrivals", row[i].done, row[i].total, row[i].elapsed_ns,
                      row[i].columns);
        if (strcmp(out.bytes, row[i].text) != 0)
            fail_msg("%s: '%s'", row[i].why, out.bytes);
        out_free(&out);
    }
}

static void counting_needs_no_terminal(void **state)
{
    struct progress p;

    (void)state;
    progress_begin(&p, "arrivals", 100000, false);
    for (unsigned i = 0; i < 100000; i++)
        progress_add(&p, 1);
    assert_int_equal(atomic_load(&p.done), 100000);
    progress_end(&p);
    progress_add(&p, 1); /* late workers do no harm */
    progress_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_say_rate_and_time_left),
        cmocka_unit_test(counting_needs_no_terminal),
    };

    return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
