#include "edge/sim/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"

struct metrics {
    const struct world *world;
    struct openb_part *openb;
    struct gang_part *gang;
    struct metric_value *value;
    size_t count, limit;
};

static const struct {
    const char *name, *unit;
    enum metric_sense sense;
    const char *text;
} row_of[] = {
#define METRICS_ROW(id, name, unit, sense, text) {name, unit, METRIC_##sense, text},
    METRICS_MAP(METRICS_ROW)
#undef METRICS_ROW
};

const char *const metric_class[METRIC_CLASSES] = {"1", "2-7", "8", "9-15", "16-63", "64+", "16+"};
const unsigned metric_load[METRIC_LOADS] = {50, 90, 100, 130};

void metric_put(struct metrics *m, enum metric_row row, const char *vary, double value, bool known)
{
    const char *pattern = row_of[row].name;
    size_t at = strcspn(pattern, "*@?");
    struct out name = {0};

    m->value = out_grow(m->value, m->count, &m->limit, sizeof(*m->value));
    out_bytes(&name, pattern, at);
    if (pattern[at])
        out_format(&name, "%s%s", vary, pattern + at + 1);
    m->value[m->count++] = (struct metric_value){
        .name = name.bytes, .value = known ? value : 0, .known = known, .row = (uint16_t)row};
}

void metric_count(struct metrics *m, enum metric_row row, const char *vary, uint64_t count)
{
    metric_put(m, row, vary, (double)count, true);
}

void metric_ratio(struct metrics *m, enum metric_row row, const char *vary, wide part, wide whole,
                  double scale)
{
    metric_put(m, row, vary, whole ? scale * ((double)part / (double)whole) : 0, whole != 0);
}

struct metrics *metrics_open(const struct world *w, uint32_t arrivals)
{
    struct metrics *m = memory_zeroed(sizeof(*m));

    m->world = w;
    if (arrivals != WORLD_NONE)
        m->openb = openb_part_open(w);
    else
        m->gang = gang_part_open(w);
    return m;
}

static void take(void *context, const struct record *r)
{
    struct metrics *m = context;

    if (m->openb)
        openb_part_take(m->openb, r);
    else
        gang_part_take(m->gang, r);
}

struct sink metrics_sink(struct metrics *m)
{
    return (struct sink){.take = take, .context = m};
}

struct metrics_now metrics_now(const struct metrics *m)
{
    return m->openb ? openb_part_now(m->openb) : gang_part_now(m->gang);
}

bool metrics_job(const struct metrics *m, uint32_t job, struct metrics_job *ret_job)
{
    return m->gang && gang_part_job(m->gang, job, ret_job);
}

const char *metrics_size_name(unsigned size)
{
    return metric_class[size];
}

static void forget(struct metrics *m)
{
    for (size_t i = 0; i < m->count; i++) {
        union {
            const char *shown;
            char *owned;
        } name = {.shown = m->value[i].name};

        free(name.owned);
    }
    m->count = 0;
}

uint32_t metrics_values(struct metrics *m, const struct metric_value **ret_values)
{
    forget(m);
    if (m->openb)
        openb_part_put(m->openb, m);
    else
        gang_part_put(m->gang, m);
    *ret_values = m->value;
    return (uint32_t)m->count;
}

void metrics_close(struct metrics *m)
{
    forget(m);
    free(m->value);
    if (m->openb)
        openb_part_close(m->openb);
    else
        gang_part_close(m->gang);
    free(m);
}

const struct metric_value *metrics_find(const struct metric_value *values, uint32_t count,
                                        const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(values[i].name, name) == 0)
            return &values[i];
    return NULL;
}

uint32_t metrics_row_count(void)
{
    return METRIC_ROW_COUNT;
}

const char *metrics_row_name(uint32_t row)
{
    return row_of[row].name;
}

const char *metrics_row_unit(uint32_t row)
{
    return row_of[row].unit;
}

const char *metrics_row_text(uint32_t row)
{
    return row_of[row].text;
}

enum metric_sense metrics_row_sense(uint32_t row)
{
    return row_of[row].sense;
}

static void reference_rows(FILE *out, uint32_t from, uint32_t to)
{
    static const char *const better[] = {"", "more", "less"};

    fputs("\n| name | unit | better | meaning |\n|--|--|--|--|\n", out);
    for (uint32_t i = from; i < to; i++)
        fprintf(out, "| `%s` | %s | %s | %s |\n", row_of[i].name, row_of[i].unit,
                better[row_of[i].sense], row_of[i].text);
}

void metrics_reference(FILE *out)
{
    fputs(
        "# Metrics\n\n"
        "Figures of a run, as they stand in `summary.json`, in the `summary` of a decision log's\n"
        "last line, in the table on the terminal and in the report. Generated from the table in\n"
        "`edge/sim/metrics_table.h`.\n\n"
        "A `*` stands for a size class by GPUs asked, rounded up: 1, 2-7, 8, 9-15, 16-63, 64+,\n"
        "and 16+ (the last two together). A `@` stands for an arrived load in percent: 50, 90,\n"
        "100 or 130. A `?` stands for a team. Percentiles are nearest rank. A figure with\n"
        "nothing to measure, such as the mean of no jobs, is left out.\n\n"
        "## Gang runs\n",
        out);
    reference_rows(out, 0, METRIC_GAR_AT);
    fputs("\n## Arrival runs (openb)\n\n"
          "At a load of @ % means: the state after the last arrival with which the GPUs asked so\n"
          "far are at most that share of all. F is the expected GPU share that a pod drawn from\n"
          "the list's most popular 95 % could not use, summed over nodes.\n",
          out);
    reference_rows(out, METRIC_GAR_AT, METRIC_FALSE_REFUSALS);
    fputs("\n## Both\n", out);
    reference_rows(out, METRIC_FALSE_REFUSALS, METRIC_ROW_COUNT);
}
