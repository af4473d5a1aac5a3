#include "edge/sim/summary.h"

#include "edge/base/lines.h"
#include "edge/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

struct run {
    char *workload, *policy;
    int64_t seed;
    struct metric_value *value; /* names are copies */
    uint32_t count;
};

struct bound {
    char *list;
    double arrived_pct, bound_pct;
};

struct summary {
    struct run *run;
    size_t run_count, run_limit;
    struct bound *bound;
    size_t bound_count, bound_limit;
};

static char *copy(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(memory_grow(NULL, bytes), text, bytes);
}

struct summary *summary_open(void)
{
    return memory_zeroed(sizeof(struct summary));
}

static void free_text(const char *text)
{
    union {
        const char *shown;
        char *owned;
    } name = {.shown = text};

    free(name.owned);
}

void summary_close(struct summary *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        for (uint32_t k = 0; k < s->run[i].count; k++)
            free_text(s->run[i].value[k].name);
        free(s->run[i].value);
        free(s->run[i].workload);
        free(s->run[i].policy);
    }
    for (size_t i = 0; i < s->bound_count; i++)
        free(s->bound[i].list);
    free(s->run);
    free(s->bound);
    free(s);
}

void summary_add(struct summary *s, const char *workload, const char *policy, int64_t seed,
                 const struct metric_value *values, uint32_t count)
{
    struct run *run;

    s->run = out_grow(s->run, s->run_count, &s->run_limit, sizeof(*s->run));
    run = &s->run[s->run_count++];
    *run = (struct run){.workload = copy(workload),
                        .policy = copy(policy),
                        .seed = seed < 0 ? 0 : seed,
                        .value = memory_zeroed(sizeof(*values) * (count + 1u)),
                        .count = count};
    for (uint32_t i = 0; i < count; i++) {
        run->value[i] = values[i];
        run->value[i].name = copy(values[i].name);
    }
}

/* --- bounds --- */

static bool cell(char **cursor, char **ret_cell)
{
    char *comma;

    if (!*cursor)
        return false;
    *ret_cell = *cursor;
    comma = strchr(*cursor, ',');
    if (comma)
        *comma++ = '\0';
    *cursor = comma;
    return true;
}

static bool number(const char *text, double *ret_value)
{
    char *end;

    *ret_value = strtod(text, &end);
    return end != text && *end == '\0' && *ret_value >= 0 && *ret_value <= 1e6;
}

static int read_bound(struct summary *s, const char *path, uint32_t line, char *text,
                      struct err *err)
{
    char *list, *arrived, *bound;
    double arrived_pct, bound_pct;

    if (!cell(&text, &list) || !cell(&text, &arrived) || !cell(&text, &bound))
        return err_set(err, ERR_INPUT, "%s:%u: found fewer than 3 cells, expected %s", path, line,
                       "list,arrived_pct,bound_pct,method");
    if (!number(arrived, &arrived_pct) || !number(bound, &bound_pct))
        return err_set(err, ERR_INPUT, "%s:%u: found '%.40s,%.40s', expected two percentages", path,
                       line, arrived, bound);
    s->bound = out_grow(s->bound, s->bound_count, &s->bound_limit, sizeof(*s->bound));
    s->bound[s->bound_count++] =
        (struct bound){.list = copy(list), .arrived_pct = arrived_pct, .bound_pct = bound_pct};
    return ERR_NONE;
}

int summary_bounds(struct summary *s, const char *path, struct err *err)
{
    struct lines *lines;
    size_t length;
    uint32_t line;
    char *text;
    int got, result;

    if (access(path, F_OK) != 0)
        return ERR_NONE;
    result = lines_open(&lines, path, err);
    if (result)
        return result;
    while (!result && (got = lines_next(lines, &text, &length, &line, err)) != 0)
        if (got < 0)
            result = -got;
        else if (line > 1 && *text && *text != '#')
            result = read_bound(s, path, line, text, err);
    lines_close(lines);
    return result;
}

/* --- JSON --- */

static void json_key(yajl_gen g, const char *key)
{
    yajl_gen_string(g, (const unsigned char *)key, strlen(key));
}

static void json_number(yajl_gen g, double value)
{
    struct out text = {0};

    out_real(&text, value, 6);
    yajl_gen_number(g, text.bytes, text.length);
    out_free(&text);
}

static void json_run(yajl_gen g, const struct run *run, const char *version)
{
    yajl_gen_map_open(g);
    json_key(g, "workload");
    json_key(g, run->workload);
    json_key(g, "policy");
    json_key(g, run->policy);
    json_key(g, "seed");
    yajl_gen_integer(g, run->seed);
    json_key(g, "version");
    json_key(g, version);
    json_key(g, "metrics");
    yajl_gen_map_open(g);
    for (uint32_t i = 0; i < run->count; i++) {
        if (!run->value[i].known)
            continue;
        json_key(g, run->value[i].name);
        json_number(g, run->value[i].value);
    }
    yajl_gen_map_close(g);
    yajl_gen_map_close(g);
}

void summary_json(const struct summary *s, const char *version, struct out *out)
{
    yajl_gen g = yajl_gen_alloc(NULL);
    const unsigned char *bytes = NULL;
    size_t length = 0;

    yajl_gen_config(g, yajl_gen_beautify, 1);
    yajl_gen_config(g, yajl_gen_indent_string, "  ");
    yajl_gen_array_open(g);
    for (size_t i = 0; i < s->run_count; i++)
        json_run(g, &s->run[i], version);
    yajl_gen_array_close(g);
    yajl_gen_get_buf(g, &bytes, &length);
    out_bytes(out, bytes, length);
    yajl_gen_free(g);
}

int summary_save(const struct summary *s, const char *folder, const char *version, struct err *err)
{
    struct out json = {0}, path = {0};
    int result;

    summary_json(s, version, &json);
    out_format(&path, "%s/summary.json", folder);
    result = out_save(&json, path.bytes, err);
    out_free(&path);
    out_free(&json);
    return result;
}

/* --- figures of a group --- */

static bool member(const struct run *run, const char *workload, const char *policy)
{
    return strcmp(run->workload, workload) == 0 && strcmp(run->policy, policy) == 0;
}

uint32_t summary_groups(const struct summary *s, struct summary_group *ret_group, uint32_t limit)
{
    uint32_t count = 0;

    for (size_t i = 0; i < s->run_count; i++) {
        uint32_t at = 0;

        while (at < count && !member(&s->run[i], ret_group[at].workload, ret_group[at].policy))
            at++;
        if (at == limit)
            continue;
        if (at == count)
            ret_group[count++] =
                (struct summary_group){.workload = s->run[i].workload, .policy = s->run[i].policy};
        ret_group[at].seeds++;
    }
    return count;
}

static bool gather(const struct summary *s, const char *workload, const char *policy,
                   const char *name, struct summary_figure *f)
{
    double sum = 0;

    f->seeds = 0;
    for (size_t i = 0; i < s->run_count; i++) {
        const struct metric_value *v;

        if (!member(&s->run[i], workload, policy))
            continue;
        v = metrics_find(s->run[i].value, s->run[i].count, name);
        if (!v || !v->known)
            continue;
        f->row = v->row;
        f->min = f->seeds == 0 || v->value < f->min ? v->value : f->min;
        f->max = f->seeds == 0 || v->value > f->max ? v->value : f->max;
        sum += v->value;
        f->seeds++;
    }
    f->mean = f->seeds ? sum / f->seeds : 0;
    return f->seeds > 0;
}

/* The load of gar_@_pct or pub_gar_@_pct; 0: another figure. */
static double gar_load(const char *name)
{
    static const char head[] = "gar_";
    double load;
    char *end;

    name += strncmp(name, "pub_", 4) == 0 ? 4 : 0;
    if (strncmp(name, head, sizeof(head) - 1) != 0)
        return 0;
    load = strtod(name + sizeof(head) - 1, &end);
    return strcmp(end, "_pct") == 0 ? load : 0;
}

/* Limits are known for what was allocated at a load, and for the times that bound_* limit. */
static void find_bound(const struct summary *s, const char *workload, const char *policy,
                       struct summary_figure *f)
{
    static const char *const of_makespan[] = {"bound_volume_s", "bound_longest_s",
                                              "bound_srpt_makespan_s"};
    struct summary_figure other;
    double load = gar_load(f->name);

    if (load > 0)
        for (size_t i = 0; i < s->bound_count; i++)
            if (strcmp(s->bound[i].list, workload) == 0 && s->bound[i].arrived_pct == load) {
                f->has_bound = true;
                f->bound = s->bound[i].bound_pct;
            }
    if (strcmp(f->name, "jct_s_mean") == 0 &&
        gather(s, workload, policy, "bound_srpt_jct_s", &other)) {
        f->has_bound = true;
        f->bound = other.mean;
    }
    for (unsigned i = 0; i < 3 && strcmp(f->name, "makespan_s") == 0; i++)
        if (gather(s, workload, policy, of_makespan[i], &other) &&
            (!f->has_bound || other.mean > f->bound)) {
            f->has_bound = true;
            f->bound = other.mean;
        }
}

bool summary_figure(const struct summary *s, const struct summary_group *group,
                    const char *baseline, uint32_t i, struct summary_figure *ret_figure)
{
    const struct run *longest = NULL; /* the run that has the most figures names them */
    struct summary_figure f = {0}, base = {0};

    for (size_t r = 0; r < s->run_count; r++)
        if (member(&s->run[r], group->workload, group->policy) &&
            (!longest || s->run[r].count > longest->count))
            longest = &s->run[r];
    if (!longest || i >= longest->count)
        return false;
    f.name = longest->value[i].name;
    f.row = longest->value[i].row;
    if (gather(s, group->workload, group->policy, f.name, &f)) {
        find_bound(s, group->workload, group->policy, &f);
        if (baseline && strcmp(baseline, group->policy) != 0 &&
            gather(s, group->workload, baseline, f.name, &base)) {
            f.has_baseline = true;
            f.baseline = base.mean;
        }
    }
    *ret_figure = f;
    return true;
}

int summary_decimals(const char *unit, double value)
{
    if (strcmp(unit, "%") == 0)
        return 2;
    if (strcmp(unit, "share") == 0)
        return 4;
    if (strcmp(unit, "ratio") == 0)
        return 3;
    return value == (double)(int64_t)value ? 0 : 1;
}
