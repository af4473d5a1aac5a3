/* Two policies, three runs: the JSON, the table at several widths, the bounds file. */
#include "edge/sim/summary.h"

#include "edge/sim/metrics_table.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void add(struct summary *s, const char *policy, int64_t seed, double gar, double refused)
{
    const struct metric_value value[] = {
        {"gar_130_pct", gar, true, METRIC_GAR_AT},
        {"refused_8", refused, true, METRIC_REFUSED_8},
        {"pub_gar_50_pct", 0, false, METRIC_PUB_GAR_AT},
    };

    summary_add(s, "default", policy, seed, value, COUNT(value));
}

static struct summary *three_runs(void)
{
    struct summary *s = summary_open();

    add(s, "dovetail", 42, 96, 4);
    add(s, "dovetail", 43, 96.5, 5);
    add(s, "fgd", -1, 95.25, 4);
    return s;
}

static void json_is_an_array_of_runs(void **state)
{
    static const char want[] = "[\n"
                               "  {\n"
                               "    \"workload\": \"default\",\n"
                               "    \"policy\": \"dovetail\",\n"
                               "    \"seed\": 42,\n"
                               "    \"version\": \"0.1.0\",\n"
                               "    \"metrics\": {\n"
                               "      \"gar_130_pct\": 96,\n"
                               "      \"refused_8\": 4\n"
                               "    }\n"
                               "  },\n";
    struct summary *s = three_runs();
    struct out out = {0};

    (void)state;
    summary_json(s, "0.1.0", &out);
    assert_memory_equal(out.bytes, want, strlen(want));
    assert_non_null(strstr(out.bytes, "\"gar_130_pct\": 96.5"));
    assert_non_null(strstr(out.bytes, "\"seed\": 0,"));
    assert_null(strstr(out.bytes, "pub_gar"));
    out_free(&out);
    summary_close(s);
}

static void the_table_compares(void **state)
{
    static const char bounds[] = "list,arrived_pct,bound_pct,method\n"
                                 "default,130,97.31,configuration LP\n"
                                 "other,130,99,configuration LP\n";
    static const struct {
        const char *why, *says;
    } row[] = {
        {"a head per policy", "default under dovetail, 2 seeds\n"},
        {"columns", "  metric       unit   mean      min..max    fgd    +/-  bound\n"},
        {"mean, spread, baseline, difference, bound",
         "  gar_130_pct  %     96.25  96.00..96.50  95.25  +1.00  97.31\n"},
        {"counts have no needless digits", "  refused_8    pods    4.5          4..5"},
        {"the baseline itself has no such columns", "  metric       unit   mean  bound\n"},
    };
    struct summary *s = three_runs();
    struct summary_look look = {.baseline = "fgd", .columns = 100};
    struct memfile f;
    struct out out = {0};
    struct err err = {""};

    (void)state;
    memfile_open(&f);
    memfile_set(&f, bounds, strlen(bounds));
    assert_int_equal(summary_bounds(s, f.path, &err), ERR_NONE);
    memfile_close(&f);
    summary_table(s, &look, &out);
    for (size_t i = 0; i < COUNT(row); i++)
        if (!strstr(out.bytes, row[i].says))
            fail_msg("%s:\n%s", row[i].why, out.bytes);
    assert_null(strstr(out.bytes, "pub_gar"));
    assert_null(strchr(out.bytes, '\033'));
    out_clear(&out);
    look.colour = true;
    summary_table(s, &look, &out);
    assert_non_null(strstr(out.bytes, "\033[32m+1.00\033[0m")); /* better is green */
    assert_non_null(strstr(out.bytes, "\033[31m+0.5\033[0m"));  /* more refusals are not */
    out_free(&out);
    summary_close(s);
}

static void narrow_terminals_keep_the_mean(void **state)
{
    struct summary *s = three_runs();
    struct out out = {0};

    (void)state;
    for (unsigned columns = 20; columns < 100; columns++) {
        struct summary_look look = {.baseline = "fgd", .columns = columns};

        out_clear(&out);
        summary_table(s, &look, &out);
        assert_non_null(strstr(out.bytes, "96.25"));
        for (char *line = out.bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            if (strncmp(line, "  ", 2) == 0)
                assert_true(out_columns(line) <= columns);
        }
    }
    out_free(&out);
    summary_close(s);
}

static void bad_bounds_are_named(void **state)
{
    static const struct {
        const char *text, *says;
    } row[] = {
        {"list,arrived_pct,bound_pct,method\ndefault,130\n", ":2: found fewer than 3 cells"},
        {"list,arrived_pct,bound_pct,method\n\ndefault,x,1,m\n", ":3: found 'x,1'"},
        {"list,arrived_pct,bound_pct,method\ndefault,130,-1,m\n", ":2: found '130,-1'"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct summary *s = summary_open();
        struct memfile f;
        struct err err = {""};

        memfile_open(&f);
        memfile_set(&f, row[i].text, strlen(row[i].text));
        assert_int_equal(summary_bounds(s, f.path, &err), ERR_INPUT);
        if (!strstr(err.text, row[i].says))
            fail_msg("%s", err.text);
        assert_int_equal(summary_bounds(s, "/no/such/bounds.csv", &err), ERR_NONE);
        memfile_close(&f);
        summary_close(s);
    }
}

static void saving_says_what_fails(void **state)
{
    struct summary *s = three_runs();
    struct err err = {""};

    (void)state;
    assert_int_equal(summary_save(s, "/nowhere", "0", &err), ERR_TROUBLE);
    assert_non_null(strstr(err.text, "/nowhere/summary.json"));
    summary_close(s);
}

static void colour_needs_a_terminal(void **state)
{
    int ends[2];
    struct summary_look look;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    unsetenv("COLUMNS");
    look = summary_look(ends[1], "fgd");
    assert_false(look.colour);
    assert_int_equal(look.columns, 100);
    setenv("COLUMNS", "61", 1);
    assert_int_equal(summary_look(ends[1], NULL).columns, 61);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_an_array_of_runs),       cmocka_unit_test(the_table_compares),
        cmocka_unit_test(narrow_terminals_keep_the_mean), cmocka_unit_test(bad_bounds_are_named),
        cmocka_unit_test(saving_says_what_fails),         cmocka_unit_test(colour_needs_a_terminal),
    };

    return cmocka_run_group_tests_name("summary", tests, NULL, NULL);
}
