/* The section with the maps: which moments the page can hold, and the data that its script reads.
 */
#include "edge/sim/report_map.h"

#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS     1000000000LL
#define MOMENTS_MAX   2000
#define MOMENTS_EXACT 1500 /* so many changes are shown one by one */

/* What the maps of one section share. */
struct moments {
    const struct section *section;
    uint32_t map_count, count;
    const struct map *map[REPORT_POLICIES];
    const char *policy[REPORT_POLICIES];
    unsigned colour_of[REPORT_POLICIES];
    int64_t from_ns, to_ns, step_ns; /* step 0: every change has its moment */
    int64_t t_ns[MOMENTS_MAX + 2];
    uint32_t *number; /* of each job among those that are seen */
    uint8_t *colour;  /* of each team */
};

/* --- numbers as text: five bits a letter, the sixth says that more follow --- */

static void letter_number(struct out *out, uint32_t value)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (; value >= 32; value >>= 5)
        out_char(out, letter[32 + (value & 31)]);
    out_char(out, letter[value]);
}

/* Who sits there: nobody, several, or how far the job's number lies from the highest so far. */
static uint32_t coded(uint32_t value, const uint32_t *number, uint32_t *highest)
{
    uint32_t who = MAP_WHO(value), index = who, n;

    if (who > MAP_SEVERAL) {
        n = number[who - 2];
        index = n > *highest ? 2 * (n - *highest) + 1 : 2 * (*highest - n) + 2;
        *highest = n > *highest ? n : *highest;
    }
    return 3 * index + MAP_STATE(value);
}

/* A moment is a list of runs that differ from the moment before: cells skipped, length, value. */
static void encode_moment(struct out *out, const uint32_t *before, const uint32_t *now,
                          uint32_t cells, const uint32_t *number, uint32_t *highest)
{
    uint32_t at = 0, end = 0;

    while (at < cells) {
        uint32_t from = at;

        if (now[at] == before[at]) {
            at++;
            continue;
        }
        while (at < cells && now[at] == now[from] && now[at] != before[at])
            at++;
        letter_number(out, from - end);
        letter_number(out, at - from - 1);
        letter_number(out, coded(now[from], number, highest));
        end = at;
    }
}

void map_encode(struct out *out, const struct map *m, const int64_t *t_ns, uint32_t count,
                const uint32_t *number)
{
    size_t bytes = sizeof(uint32_t) * (m->cell_count + 1);
    uint32_t *before = memory_zeroed(bytes), *now = memory_zeroed(bytes), highest = 0;
    size_t next = 0;

    for (uint32_t i = 0; i < count; i++) {
        map_at(m, now, &next, t_ns[i]);
        if (i > 0)
            out_char(out, ',');
        encode_moment(out, before, now, m->cell_count, number, &highest);
        memcpy(before, now, bytes);
    }
    free(before);
    free(now);
}

/* --- which moments --- */

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* All moments at which any map changes, if they are few enough. */
static bool exact(struct moments *p)
{
    size_t total = 1, kept = 0;
    int64_t *t;

    for (uint32_t i = 0; i < p->map_count; i++)
        total += p->map[i]->change_count;
    t = memory_zeroed(sizeof(*t) * total);
    t[0] = p->from_ns;
    total = 1;
    for (uint32_t i = 0; i < p->map_count; i++)
        for (size_t k = 0; k < p->map[i]->change_count; k++)
            if (p->map[i]->change[k].t_ns != t[total - 1])
                t[total++] = p->map[i]->change[k].t_ns;
    qsort(t, total, sizeof(*t), by_time);
    for (size_t i = 0; i < total; i++)
        if (i == 0 || t[i] != t[kept - 1])
            t[kept++] = t[i];
    if (kept <= MOMENTS_EXACT) {
        memcpy(p->t_ns, t, kept * sizeof(*t));
        p->count = (uint32_t)kept;
        p->step_ns = 0;
    }
    free(t);
    return kept <= MOMENTS_EXACT;
}

/* Evenly, by the smallest step of the list that is at least `least_ns`. */
static void sampled(struct moments *p, int64_t least_ns)
{
    static const int64_t step_s[] = {1,     2,      5,      10,     15,     20,    30,
                                     60,    120,    300,    600,    900,    1200,  1800,
                                     3600,  7200,   10800,  14400,  21600,  28800, 43200,
                                     86400, 172800, 345600, 604800, 1209600};
    size_t i = 0, count = sizeof(step_s) / sizeof(step_s[0]);

    while (i + 1 < count && step_s[i] * SECOND_NS < least_ns)
        i++;
    p->step_ns = step_s[i] * SECOND_NS > least_ns ? step_s[i] * SECOND_NS : least_ns;
    p->count = 0;
    for (int64_t t = p->from_ns; p->count < MOMENTS_MAX; t += p->step_ns) {
        p->t_ns[p->count++] = t < p->to_ns ? t : p->to_ns;
        if (t >= p->to_ns)
            break;
    }
}

/* Numbers the jobs that sit anywhere at any of the moments. */
static uint32_t number_jobs(struct moments *p)
{
    uint32_t jobs = p->map[0]->job_count, count = 0;

    memset(p->number, 0, sizeof(*p->number) * (jobs + 1u));
    for (uint32_t i = 0; i < p->map_count; i++) {
        uint32_t *cell = memory_zeroed(sizeof(*cell) * (p->map[i]->cell_count + 1));
        size_t next = 0;

        for (uint32_t k = 0; k < p->count; k++) {
            map_at(p->map[i], cell, &next, p->t_ns[k]);
            for (uint32_t c = 0; c < p->map[i]->cell_count; c++)
                if (MAP_WHO(cell[c]) > MAP_SEVERAL)
                    p->number[MAP_WHO(cell[c]) - 2] = 1;
        }
        free(cell);
    }
    for (uint32_t j = 0; j < jobs; j++)
        if (p->number[j])
            p->number[j] = count++;
        else
            p->number[j] = WORLD_NONE;
    return count;
}

/* --- data for the script --- */

/* Names in one text, with what could not be told from the marks between them made a space. */
static void add_name(struct out *list, const char *name)
{
    for (; *name; name++)
        out_char(list, (unsigned char)*name < ' ' ? ' ' : *name);
}

static void put_list(struct out *out, const char *name, struct out *list)
{
    out_format(out, ",\"%s\":", name);
    out_json(out, list->length ? list->bytes : "");
    out_clear(list);
}

static void put_names(struct out *out, const struct map *m, const struct map_layout *l)
{
    struct out list = {0};

    out_add(out, ",\"hosts\":[");
    for (uint32_t h = 0; h < m->host_count; h++) {
        out_add(out, h ? "," : "");
        out_real(out, l->host[h].x, 1);
        out_char(out, ',');
        out_real(out, l->host[h].y, 1);
        out_format(out, ",%u,%u", m->host[h].gpus, m->host[h].domain);
        add_name(&list, map_text(m, m->host[h].name));
        out_char(&list, '\n');
    }
    out_char(out, ']');
    put_list(out, "names", &list);
    for (uint32_t d = 0; d < m->domain_count; d++) {
        add_name(&list, map_text(m, m->domain[d].name));
        out_char(&list, '\n');
    }
    put_list(out, "domains", &list);
    for (uint32_t t = 0; t < m->team_count; t++) {
        add_name(&list, map_text(m, m->team[t]));
        out_char(&list, '\n');
    }
    put_list(out, "teams", &list);
    out_free(&list);
}

static void put_jobs(struct out *out, const struct moments *p)
{
    const struct map *m = p->map[0];
    struct out list = {0};

    for (uint32_t j = 0; j < m->job_count; j++) {
        if (p->number[j] == WORLD_NONE)
            continue;
        add_name(&list, map_text(m, m->job[j].name));
        if (m->job[j].team == WORLD_NONE)
            out_format(&list, "\t\t%u\t%u\n", m->job[j].gpus, m->job[j].pods);
        else
            out_format(&list, "\t%u\t%u\t%u\n", m->job[j].team, m->job[j].gpus, m->job[j].pods);
    }
    put_list(out, "jobs", &list);
    out_free(&list);
}

/* A script element ends at the first `</`: no `<` may stand in its text. */
static void add_safely(struct out *out, const struct out *json)
{
    for (size_t i = 0; i < json->length; i++)
        if (json->bytes[i] == '<')
            out_add(out, "\\u003c");
        else
            out_char(out, json->bytes[i]);
}

static void put_data(struct out *out, const struct moments *p, const struct map_layout *l)
{
    const struct map *m = p->map[0];
    struct out json = {0};

    out_add(&json, "{\"level\":");
    out_json(&json, map_text(m, m->level_name));
    out_add(&json, ",\"size\":");
    out_real(&json, l->cell, 1);
    out_add(&json, ",\"times\":[");
    for (uint32_t i = 0; i < p->count; i++) {
        out_add(&json, i ? "," : "");
        out_real(&json, (double)(p->t_ns[i] - p->from_ns) / 1e9, 3);
    }
    out_add(&json, "],\"colour\":[");
    for (uint32_t t = 0; t < m->team_count; t++)
        out_format(&json, "%s%u", t ? "," : "", p->colour[t]);
    out_char(&json, ']');
    put_names(&json, m, l);
    put_jobs(&json, p);
    out_add(&json, ",\"maps\":[");
    for (uint32_t i = 0; i < p->map_count; i++) {
        out_add(&json, i ? ",\"" : "\"");
        map_encode(&json, p->map[i], p->t_ns, p->count, p->number);
        out_char(&json, '"');
    }
    out_add(&json, "]}");
    add_safely(out, &json);
    out_free(&json);
}

/* --- the section --- */

/* The moment at which most jobs wait under the first policy: its half-way point. */
static int64_t crowded(const struct section *s, const struct moments *p)
{
    const struct series_found *f = section_run(s, 0, 0);
    double most = -1;
    int64_t at = p->from_ns;

    for (uint32_t i = 0; i < SERIES_POINTS; i++)
        if (f->point[i].weight > 0 && f->point[i].second / f->point[i].weight > most) {
            most = f->point[i].second / f->point[i].weight;
            at = f->start_ns + f->width_ns * i + f->width_ns / 2;
        }
    return at;
}

static uint32_t moment_of(const struct moments *p, int64_t t_ns)
{
    uint32_t i = 0;

    while (i + 1 < p->count && p->t_ns[i + 1] <= t_ns)
        i++;
    return i;
}

static void legend(struct out *out, const struct moments *p)
{
    const struct map *m = p->map[0];
    bool others = false;

    out_add(out, "<ul class=\"k keys\">");
    for (unsigned c = 0; m->team_count >= 2 && c < MAP_COLOURS; c++)
        for (uint32_t t = 0; t < m->team_count; t++) {
            if (p->colour[t] != c || (c == MAP_COLOURS - 1 && others))
                continue;
            others |= c == MAP_COLOURS - 1;
            out_format(out, "<li class=\"n%u\">team ", c);
            if (c == MAP_COLOURS - 1 && m->team_count > MAP_COLOURS)
                out_add(out, "any other");
            else
                out_html(out, map_text(m, m->team[t]));
            out_add(out, "</li>");
        }
    for (unsigned c = 0; m->team_count < 2 && c < METRIC_SIZES; c++)
        out_format(out, "<li class=\"n%u\">%s GPU%s</li>", c, metrics_size_name(c), c ? "s" : "");
    out_add(out,
            "</ul><ul class=\"k\"><li class=\"nf\">free</li><li class=\"ns\">shared by several "
            "jobs</li><li class=\"nx\">failed</li><li class=\"nd\">drained or leaving</li>"
            "</ul>\n");
}

static void controls(struct out *out, const struct moments *p, uint32_t now)
{
    out_format(
        out,
        "<div class=\"player\" hidden><button type=\"button\" class=\"back\" "
        "aria-label=\"one moment back\">\xE2\x97\x80</button><button type=\"button\" "
        "class=\"play\">play</button><button type=\"button\" class=\"on\" "
        "aria-label=\"one moment on\">\xE2\x96\xB6</button><label class=\"when\"><span>moment"
        "</span><input type=\"range\" min=\"0\" max=\"%u\" value=\"%u\"></label>"
        "<output></output><label>colour by <select>",
        p->count - 1, now);
    out_format(out,
               "%s<option value=\"size\"%s>size of job</option><option value=\"job\">job</option>"
               "</select></label></div>\n",
               p->map[0]->team_count >= 2 ? "<option value=\"team\" selected>team</option>" : "",
               p->map[0]->team_count >= 2 ? "" : " selected");
}

static void how_often(struct out *out, const struct moments *p)
{
    if (p->step_ns == 0) {
        out_format(out, "The slider has all %u moments at which anything changed.", p->count);
        return;
    }
    out_format(out, "The slider has %u moments, one every ", p->count);
    svg_duration(out, (double)p->step_ns / 1e9);
    out_add(out, "; what came and went between two of them is not shown.");
}

static void gpus(struct out *out, const struct section *s, struct moments *p,
                 const struct map_layout *l, size_t budget_bytes)
{
    struct out data = {0};
    int64_t at = crowded(s, p), step = (p->to_ns - p->from_ns) / (MOMENTS_MAX - 10) + 1;
    uint32_t now;
    bool is_exact = exact(p);

    /* Twice the step is about half the text: the loop ends long before the span does. */
    for (unsigned tries = 0; tries < 12; tries++) {
        if (!is_exact)
            sampled(p, step);
        (void)number_jobs(p);
        out_clear(&data);
        put_data(&data, p, l);
        if (data.length <= budget_bytes)
            break;
        is_exact = false;
        step = p->step_ns > 0 ? p->step_ns * 2 : step;
    }
    now = moment_of(p, at);
    out_format(
        out,
        "<figure class=\"wide maps\" data-from=\"map%u\"><figcaption>GPUs at one moment<p>Each "
        "square is a GPU, each row of squares a host, each block a domain (%s). The colour "
        "says whose job sits there. A gang within one block sits close together, one "
        "scattered over blocks talks over slower links. Drawn: the moment when most jobs "
        "waited under ",
        s->number, map_text(p->map[0], p->map[0]->level_name));
    out_html(out, p->policy[0]);
    out_add(out, " (");
    svg_duration(out, (double)(p->t_ns[now] - p->from_ns) / 1e9);
    out_add(out, " since the start). ");
    how_often(out, p);
    out_add(out,
            "</p><p class=\"js\" hidden>Point at a GPU, or focus a map and use the arrow keys, "
            "to see who sits there; the same job is framed under every policy.</p>"
            "</figcaption>\n");
    controls(out, p, now);
    legend(out, p);
    out_add(out, "<div class=\"side\">\n");
    for (uint32_t i = 0; i < p->map_count; i++) {
        out_format(out, "<div class=\"one\"><h4 class=\"c%u\">", p->colour_of[i] % REPORT_COLOURS);
        out_html(out, p->policy[i]);
        out_add(out, "</h4>\n");
        map_still(out, p->map[i], l, p->colour, p->policy[i], p->t_ns[now]);
        out_add(out, "<p class=\"sum\"></p><p class=\"say\" aria-live=\"polite\" hidden>"
                     "Point at a GPU to see who sits there.</p></div>\n");
    }
    out_format(out, "</div><script type=\"application/json\" id=\"map%u\">", s->number);
    out_bytes(out, data.bytes, data.length);
    out_add(out, "</script></figure>\n");
    out_free(&data);
}

static void gather(const struct section *s, struct moments *p)
{
    for (uint32_t e = 0; e < s->entry_count; e++) {
        const struct series_found *f = section_run(s, e, 0);

        if (!f->map || f->map->cell_count == 0 ||
            (p->map_count > 0 && f->map->cell_count != p->map[0]->cell_count))
            continue;
        p->from_ns =
            p->map_count == 0 || f->map->start_ns < p->from_ns ? f->map->start_ns : p->from_ns;
        p->to_ns = p->map_count == 0 || f->map->end_ns > p->to_ns ? f->map->end_ns : p->to_ns;
        p->policy[p->map_count] = s->entry[e].name;
        p->colour_of[p->map_count] = s->entry[e].colour;
        p->map[p->map_count++] = f->map;
    }
}

bool report_map(struct out *out, const struct section *s, size_t budget_bytes)
{
    struct moments *p = memory_zeroed(sizeof(*p));
    bool scripted = false;
    double unit_ns;
    const char *unit = section_time_unit(s, &unit_ns);

    gather(s, p);
    section_part(out, s, "map", "Where jobs sit",
                 p->map_count > 0 ? "Domains, hosts and GPUs over the whole run, and at single "
                                    "moments. Of several seeds the first one is drawn."
                                  : "The cluster has no GPUs to draw.");
    if (p->map_count > 0) {
        out_add(out, "<div class=\"charts\">\n");
        for (uint32_t i = 0; i < p->map_count; i++)
            map_strip(out, p->map[i], p->policy[i], p->from_ns, p->to_ns, unit, unit_ns);
        out_add(out, "</div>\n");
    }
    if (p->map_count > 0 && p->map[0]->cell_count <= MAP_CELLS_MAX) {
        struct map_layout l = map_layout(p->map[0]);

        p->number = memory_zeroed(sizeof(*p->number) * (p->map[0]->job_count + 1u));
        p->colour = memory_zeroed(p->map[0]->team_count + 1u);
        map_team_colours(p->map, p->map_count, p->colour);
        gpus(out, s, p, &l, budget_bytes);
        map_layout_free(&l);
        free(p->number);
        free(p->colour);
        scripted = true;
    } else if (p->map_count > 0) {
        out_format(out,
                   "<p class=\"q\">Single GPUs are drawn for clusters of up to %u of them; "
                   "this one has %u.</p>\n",
                   MAP_CELLS_MAX, p->map[0]->cell_count);
    }
    free(p);
    return scripted;
}
