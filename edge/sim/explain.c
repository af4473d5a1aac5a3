/* Reads the log: the header, every line that names the job, and the events of its hosts. Other
 * lines are looked at only as far as needed to see that they are about something else. */
#include "edge/sim/explain.h"

#include "edge/base/lines.h"
#include "edge/base/memory.h"
#include "edge/sim/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#define NEAR           3
#define NAME_MAX_BYTES 96

struct reading {
    struct story *story;
    struct tree_memory *memory;
    const char *wanted; /* as the user wrote it */
    struct out needle;  /* "job" in JSON, with quotes */
    struct out tail;    /* :job" for openb */
    char *found;        /* the id of an openb pod found by its name */
    uint32_t others;    /* ids that the name would also mean */
    bool last_whole, last_is_end;
};

const char *story_text(const struct tree *map, const char *key)
{
    const struct tree *t = map && map->kind == TREE_MAP ? tree_find(map, key) : NULL;

    return t && (t->kind == TREE_STRING || t->kind == TREE_NUMBER) ? t->text : "";
}

int64_t story_ns(const struct tree *map, const char *key)
{
    const struct tree *t = map->kind == TREE_MAP ? tree_find(map, key) : NULL;
    int64_t ns;

    return t && t->kind == TREE_NUMBER && tree_decimal(t, 9, &ns) ? ns : -1;
}

bool story_is(const struct tree *line, const char *kind)
{
    return strcmp(story_text(line, "kind"), kind) == 0;
}

bool story_own(const struct story *s, const struct tree *line)
{
    return strcmp(story_text(line, "job"), s->job) == 0;
}

/* The kind of a line that was not parsed, however its writer spaces it. */
static bool is_kind(const char *text, const char *kind)
{
    const char *at = strstr(text, "\"kind\"");
    size_t length = strlen(kind);

    if (!at)
        return false;
    at += sizeof("\"kind\"") - 1;
    at += strspn(at, " \t");
    if (*at++ != ':')
        return false;
    at += strspn(at, " \t");
    return *at == '"' && strncmp(at + 1, kind, length) == 0 && at[1 + length] == '"';
}

static bool runs_on(const struct story *s, const char *node)
{
    for (size_t i = s->count; i-- > 0;) {
        const struct tree *line = s->line[i].line, *pods = tree_find(line, "pods");

        if (!story_own(s, line) || !pods || pods->kind != TREE_LIST)
            continue;
        for (const struct tree *pod = pods->child; pod; pod = pod->next)
            if (strcmp(story_text(pod, "node"), node) == 0)
                return true;
        if (!story_is(line, "grow") && !story_is(line, "shrink"))
            return false;
    }
    return false;
}

static bool concerns(const struct story *s, const struct tree *line)
{
    if (story_is(line, "event"))
        return story_own(s, line) || runs_on(s, story_text(line, "node"));
    return story_own(s, line) || strcmp(story_text(line, "by"), s->job) == 0;
}

static void keep(struct story *s, const struct tree *line, uint32_t number)
{
    s->line = out_grow(s->line, s->count, &s->limit, sizeof(*s->line));
    s->line[s->count++] = (struct explain_line){.number = number, .line = line};
}

/* The id that ends in the wanted name, from a line that mentions it: `"17:name"`. */
static void resolve(struct reading *r, const char *text)
{
    const char *end = strstr(text, r->tail.bytes), *start = end;
    char *id;
    size_t length;

    while (start > text && start[-1] != '"')
        start--;
    length = (size_t)(end - start) + r->tail.length - 1;
    if (r->found) {
        r->others += strlen(r->found) != length || strncmp(r->found, start, length) != 0;
        return;
    }
    id = memory_zeroed(length + 1);
    memcpy(id, start, length);
    r->found = id;
    r->story->job = id;
    out_clear(&r->needle);
    out_json(&r->needle, id);
}

static bool mentions(struct reading *r, const char *text)
{
    if (r->story->arrivals && r->tail.length > 0 && strstr(text, r->tail.bytes))
        resolve(r, text);
    return strstr(text, r->needle.bytes) || is_kind(text, "event");
}

static int read_header(struct reading *r, const char *text, size_t length, struct err *err)
{
    struct story *s = r->story;
    struct tree *header = NULL;
    struct err inner;

    if (tree_from_json(r->memory, s->path, 1, text, length, &header, &inner) ||
        header->kind != TREE_MAP || !story_is(header, "header") ||
        strcmp(story_text(header, "format"), "dovetail-decisions/2") != 0)
        return err_set(err, ERR_INPUT,
                       "%s:1: found no header, expected a decision log that starts with "
                       "{\"kind\":\"header\",\"format\":\"dovetail-decisions/2\"",
                       s->path);
    s->header = header;
    s->arrivals = strcmp(story_text(header, "cluster"), "openb") == 0;
    if (s->arrivals && !strchr(r->wanted, ':')) {
        out_char(&r->tail, ':');
        out_json(&r->tail, r->wanted); /* :"name" */
        memmove(r->tail.bytes + 1, r->tail.bytes + 2, r->tail.length - 1);
        r->tail.length--;
    }
    return ERR_NONE;
}

static int read_line(struct reading *r, const char *text, size_t length, uint32_t number,
                     struct err *err)
{
    struct story *s = r->story;
    struct tree *line = NULL;
    int result;

    r->last_whole = length > 0 && text[length - 1] == '}';
    r->last_is_end = is_kind(text, "end");
    s->lines = number;
    if (number == 1)
        return read_header(r, text, length, err);
    if (r->last_is_end || !mentions(r, text))
        return ERR_NONE;
    result = tree_from_json(r->memory, s->path, number, text, length, &line, err);
    if (result && !r->last_whole)
        return ERR_NONE; /* perhaps where the log was cut; the next line will tell */
    if (!result && line->kind == TREE_MAP && concerns(s, line))
        keep(s, line, number);
    return result;
}

static int read_log(struct reading *r, struct err *err)
{
    struct story *s = r->story;
    struct lines *lines;
    uint32_t number = 0;
    size_t length;
    char *text;
    int got = 1, result = lines_open(&lines, s->path, err);

    if (result)
        return result;
    while (!result && (got = lines_next(lines, &text, &length, &number, err)) > 0) {
        if (number > 1 && !r->last_whole)
            result = err_set(err, ERR_INPUT, "%s:%u: found a broken line, expected one JSON object",
                             s->path, number - 1);
        else
            result = read_line(r, text, length, number, err);
    }
    lines_close(lines);
    if (!result && got < 0 && s->lines == 0)
        result = -got;
    if (!result && !s->header)
        result =
            err_set(err, ERR_INPUT, "%s: found an empty file, expected a decision log", s->path);
    s->cut = got < 0 || !r->last_is_end || !r->last_whole;
    return result;
}

/* --- near names --- */

struct near {
    char name[NAME_MAX_BYTES];
    unsigned distance;
};

/* Edits between two names, counted up to the length of a name. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_BYTES + 1];
    size_t a_length = strlen(a), b_length = strlen(b);

    for (unsigned k = 0; k <= b_length; k++)
        row[k] = k;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned corner = row[0];

        row[0] = i;
        for (unsigned k = 1; k <= b_length; k++) {
            unsigned change = corner + (a[i - 1] != b[k - 1]);

            corner = row[k];
            row[k] = row[k] + 1 < row[k - 1] + 1 ? row[k] + 1 : row[k - 1] + 1;
            row[k] = change < row[k] ? change : row[k];
        }
    }
    return row[b_length];
}

static bool submitted(const char *text, char name[static NAME_MAX_BYTES])
{
    const char *at, *end;

    if (!is_kind(text, "submit") || !(at = strstr(text, "\"job\"")))
        return false;
    at += sizeof("\"job\"") - 1;
    at += strspn(at, " \t:");
    if (*at++ != '"')
        return false;
    end = strchr(at, '"');
    if (!end || (size_t)(end - at) >= NAME_MAX_BYTES)
        return false;
    memcpy(name, at, (size_t)(end - at));
    name[end - at] = '\0';
    return true;
}

static void offer(struct near near[static NEAR], const char *name, unsigned away)
{
    unsigned at = NEAR;

    while (at > 0 && near[at - 1].distance > away)
        at--;
    if (at == NEAR)
        return;
    for (unsigned i = NEAR - 1; i > at; i--)
        near[i] = near[i - 1];
    near[at].distance = away;
    memcpy(near[at].name, name, strlen(name) + 1);
}

/* Names that differ little; those that only start or end alike count as near, too. A name without
 * an arrival's position is compared with names less theirs. */
static unsigned away_from(const char *wanted, const char *name)
{
    const char *colon = strchr(wanted, ':') ? NULL : strchr(name, ':');
    size_t length = strlen(wanted), other = strlen(name);
    unsigned away;

    if (length >= NAME_MAX_BYTES)
        return UINT32_MAX;
    away = distance(wanted, colon ? colon + 1 : name);
    if (length > 0 && other > length &&
        (strncmp(name, wanted, length) == 0 || strcmp(name + other - length, wanted) == 0))
        away = 1;
    return away <= 1 + length / 4 ? away : UINT32_MAX;
}

static int unknown(const struct story *s, const char *wanted, struct err *err)
{
    struct near near[NEAR];
    struct out names = {0};
    struct lines *lines;
    struct err inner;
    uint32_t number, jobs = 0;
    size_t length;
    char *text, name[NAME_MAX_BYTES];

    for (unsigned i = 0; i < NEAR; i++)
        near[i].distance = UINT32_MAX;
    if (lines_open(&lines, s->path, &inner) == ERR_NONE) {
        while (lines_next(lines, &text, &length, &number, &inner) > 0)
            if (submitted(text, name)) {
                jobs++;
                offer(near, name, away_from(wanted, name));
            }
        lines_close(lines);
    }
    for (unsigned i = 0; i < NEAR && near[i].distance != UINT32_MAX; i++)
        out_format(&names, "%s%s", i ? ", " : "; did you mean ", near[i].name);
    err_set(err, ERR_INPUT, "%s: no job '%.60s' among its %u jobs%s%s%s", s->path, wanted, jobs,
            s->cut ? " (the log is cut)" : "", names.length ? names.bytes : "",
            names.length ? "?" : "");
    out_free(&names);
    return ERR_INPUT;
}

static int write_story(struct reading *r, enum explain_form form, struct out *out, struct err *err)
{
    struct story *s = r->story;

    if (s->count == 0)
        return unknown(s, r->wanted, err);
    if (r->others > 0)
        return err_set(err, ERR_INPUT, "%s: '%.60s' arrived more than once; name one, such as %s",
                       s->path, r->wanted, s->job);
    if (form == EXPLAIN_JSON)
        story_write_json(s, out);
    else
        story_write_text(s, out);
    return ERR_NONE;
}

int explain(const char *path, const char *job, enum explain_form form, struct out *out,
            struct err *err)
{
    struct story story = {.path = path, .job = job};
    struct reading r = {.story = &story, .wanted = job, .memory = tree_memory_open()};
    int result;

    out_json(&r.needle, job);
    result = read_log(&r, err);
    if (!result)
        result = write_story(&r, form, out, err);
    tree_memory_close(r.memory);
    out_free(&r.needle);
    out_free(&r.tail);
    free(r.found);
    free(story.line);
    return result;
}
