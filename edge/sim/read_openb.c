#include "edge/sim/read.h"

#include "edge/base/lines.h"
#include "edge/base/text.h"
#include "edge/sim/reader.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS_MAX 64u
#define PATH_BYTES  4096
#define MODELS_MAX  256u

/* A table of comma-separated cells without quotes, as the published files are. Cells of the line at
 * hand stand in the line's own text. */
struct table {
    struct reader r;
    struct lines *lines;
    uint32_t line, columns;
    uint32_t cells;
    const char *cell[COLUMNS_MAX];
    char path[PATH_BYTES];
};

static bool cut(struct table *t, char *text)
{
    t->cells = 0;
    for (char *at = text; at; t->cells++) {
        char *comma = strchr(at, ',');

        if (t->cells == COLUMNS_MAX)
            return reader_say(&t->r, t->line, "found more than 64 columns, expected fewer");
        if (comma)
            *comma++ = '\0';
        t->cell[t->cells] = at;
        at = comma;
    }
    return true;
}

/* True while there is a row; at the end, or after trouble, false. */
static bool next(struct table *t)
{
    char *text;
    size_t length;
    int more = lines_next(t->lines, &text, &length, &t->line, t->r.err);

    if (more <= 0) {
        t->r.code = -more;
        return false;
    }
    if (!text_is_utf8(text, length))
        return reader_say(&t->r, t->line, "found bytes that are not UTF-8, expected UTF-8 text");
    if (strchr(text, '"'))
        return reader_say(&t->r, t->line, "found a quote, expected plain cells between commas");
    if (!cut(t, text))
        return false;
    if (t->columns && t->cells != t->columns)
        return reader_say(&t->r, t->line, "found %u cells, expected %u as in the first line",
                          t->cells, t->columns);
    return true;
}

/* Opens FOLDER/NAME.csv or the same with .gz, whichever is there. */
static bool open_table(struct table *t, const char *folder, const char *name, bool zipped_first)
{
    for (int pass = 0; pass < 2; pass++) {
        const char *end = (pass == 0) == zipped_first ? ".csv.gz" : ".csv";
        int need = snprintf(t->path, sizeof(t->path), "%s/%s%s", folder, name, end);

        if (need < 0 || (size_t)need >= sizeof(t->path)) {
            t->r.path = folder;
            return reader_say(&t->r, 0, "found too long a path, expected less than 4096 bytes");
        }
        if (access(t->path, F_OK) == 0)
            break;
    }
    t->r.path = t->path;
    t->r.code = lines_open(&t->lines, t->path, t->r.err);
    return !t->r.code;
}

/* The first line: these columns in front, whatever behind them. optional may be NULL. */
static bool header(struct table *t, const char *const *columns, const char *optional)
{
    uint32_t c = 0;

    if (!next(t))
        return t->r.code ? false
                         : reader_say(&t->r, 0, "found no line, expected a table with a header");
    for (; columns[c]; c++) {
        char shown[64];

        if (c < t->cells && strcmp(t->cell[c], columns[c]) == 0)
            continue;
        (void)text_shown(shown, sizeof(shown), c < t->cells ? t->cell[c] : "nothing",
                         c < t->cells ? strlen(t->cell[c]) : 7);
        return reader_say(&t->r, t->line,
                          "found \"%s\" as column %u of the header, expected \"%s\"", shown, c + 1,
                          columns[c]);
    }
    if (optional && c < t->cells && strcmp(t->cell[c], optional) != 0)
        return reader_say(&t->r, t->line, "found another column %u of the header, expected \"%s\"",
                          c + 1, optional);
    t->columns = t->cells;
    return true;
}

/* A cell as a whole number. Digits only: no sign, no point, no spaces. */
static int64_t number(struct table *t, uint32_t column, const char *name, int64_t min, int64_t max)
{
    const char *at = t->cell[column];
    char shown[64];
    int64_t value = 0;
    bool fine = *at != '\0' && strlen(at) <= 18;

    for (; fine && *at; at++) {
        fine = *at >= '0' && *at <= '9';
        value = fine ? value * 10 + (*at - '0') : 0;
    }
    if (fine && value >= min && value <= max)
        return value;
    (void)text_shown(shown, sizeof(shown), t->cell[column], strlen(t->cell[column]));
    (void)reader_say(&t->r, t->line, "found %s \"%s\", expected a whole number from %lld to %lld",
                     name, shown, (long long)min, (long long)max);
    return min;
}

static const char *name_cell(struct table *t, const char *column)
{
    struct tree value = {.kind = TREE_STRING, .line = t->line, .text = t->cell[0], .key = column};

    return reader_name_fine(&t->r, &value) ? t->cell[0] : NULL;
}

static bool node_row(struct table *t)
{
    struct world *w = t->r.w;
    const char *name = name_cell(t, "sn");
    struct world_node node = {.shape = WORLD_NONE, .pods = WORLD_UNLIMITED};

    if (!name)
        return false;
    if (world_node_find(w, name) != WORLD_NONE)
        return reader_say(&t->r, t->line, "found node \"%s\" a second time, expected it once",
                          name);
    node.cpu_milli = number(t, 1, "cpu_milli", 0, READ_AMOUNT_MAX);
    node.mem_mib = number(t, 2, "memory_mib", 0, READ_AMOUNT_MAX);
    node.gpus = (uint8_t)number(t, 3, "gpu", 0, WORLD_GPUS_MAX);
    if (t->r.code)
        return false;
    node.name = world_string(w, name, strlen(name));
    node.model = world_model(w, t->cell[4]);
    memset(node.domain, 0xFF, sizeof(node.domain));
    *(struct world_node *)world_row(w, &w->node, &w->node_count, sizeof(node)) = node;
    return true;
}

static bool read_nodes(struct table *t, const char *folder)
{
    static const char *const columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model", NULL};

    if (!open_table(t, folder, "openb_node_list_gpu_node", false) || !header(t, columns, NULL))
        return false;
    while (next(t))
        if (!node_row(t))
            return false;
    if (!t->r.code && t->r.w->node_count == 0)
        return reader_say(&t->r, 0, "found no node, expected at least one (is the file cut?)");
    return !t->r.code;
}

/* "V100M16|V100M32": a set; the published lists name some models twice. */
static bool models(struct table *t, const char *text, struct world_podset *p)
{
    struct world *w = t->r.w;
    uint32_t parts = 1;

    if (*text == '\0')
        return true;
    for (const char *c = text; *c; c++)
        parts += *c == '|';
    if (parts > MODELS_MAX)
        return reader_say(&t->r, t->line, "found %u models in gpu_spec, expected at most %u", parts,
                          MODELS_MAX);
    p->model = world_alloc(w, parts * sizeof(*p->model));
    for (const char *at = text;; at++) {
        char name[256];
        size_t length = strcspn(at, "|");
        uint32_t i = 0;

        if (length == 0 || length >= sizeof(name))
            return reader_say(&t->r, t->line,
                              "found an empty or overlong model in gpu_spec, "
                              "expected models between bars");
        memcpy(name, at, length);
        name[length] = '\0';

        uint32_t model = world_model(w, name);
        while (i < p->model_count && p->model[i] != model)
            i++;
        if (i == p->model_count)
            p->model[p->model_count++] = model;
        at += length;
        if (*at == '\0')
            return true;
    }
}

static bool pod_row(struct table *t, int64_t gpus_max)
{
    struct world *w = t->r.w;
    const char *name = name_cell(t, "name");
    struct world_podset pod = {
        .name = "", .pods = 1, .pods_min = 1, .milli = 1000, .mig = WORLD_NONE};

    if (!name)
        return false;
    if (world_job_find(w, name) != WORLD_NONE)
        return reader_say(&t->r, t->line, "found pod \"%s\" a second time, expected it once", name);
    pod.cpu_milli = number(t, 1, "cpu_milli", 0, READ_AMOUNT_MAX);
    pod.mem_mib = number(t, 2, "memory_mib", 0, READ_AMOUNT_MAX);
    int64_t gpus = number(t, 3, "num_gpu", 0, READ_COUNT_MAX);
    int64_t milli = number(t, 4, "gpu_milli", gpus == 0 ? 0 : 1, 1000);
    if (t->r.code)
        return false;
    if (gpus > gpus_max)
        return reader_say(&t->r, t->line,
                          "found num_gpu %lld, expected at most %lld, the GPUs of "
                          "the largest node",
                          (long long)gpus, (long long)gpus_max);
    if ((gpus == 0 && milli != 0) || (gpus > 1 && milli != 1000))
        return reader_say(&t->r, t->line, "found gpu_milli %lld with num_gpu %lld, expected %d",
                          (long long)milli, (long long)gpus, gpus ? 1000 : 0);
    pod.gpus = (uint8_t)gpus;
    if (gpus == 1)
        pod.milli = (uint32_t)milli;
    if (t->cells > 5 && !models(t, t->cell[5], &pod))
        return false;

    struct world_podset *kept = world_alloc(w, sizeof(*kept));
    *kept = pod;

    struct world_job *job = world_row(w, &w->job, &w->job_count, sizeof(*job));
    *job = (struct world_job){.name = world_string(w, name, strlen(name)),
                              .team = WORLD_NONE,
                              .podset_count = 1,
                              .podset = kept,
                              .run_ns = INT64_MAX,
                              .est_ns = -1,
                              .ckpt_ns = -1,
                              .preemptible = true,
                              .share_card = true};
    return true;
}

static bool read_pods(struct table *t, const char *folder, const char *list)
{
    static const char *const columns[] = {"name",    "cpu_milli", "memory_mib",
                                          "num_gpu", "gpu_milli", NULL};
    const struct world *w = t->r.w;
    char name[128];
    int64_t gpus_max = 0;

    for (uint32_t n = 0; n < w->node_count; n++)
        if (w->node[n].gpus > gpus_max)
            gpus_max = w->node[n].gpus;
    (void)snprintf(name, sizeof(name), "openb_pod_list_%s", list);
    if (!open_table(t, folder, name, false) || !header(t, columns, "gpu_spec"))
        return false;
    while (next(t))
        if (!pod_row(t, gpus_max))
            return false;
    if (!t->r.code && w->job_count == 0)
        return reader_say(&t->r, 0, "found no pod, expected at least one (is the file cut?)");
    return !t->r.code;
}

/* The header of an arrival file: s42,s43,... */
static bool seeds(struct table *t, struct world_openb *o)
{
    struct world *w = t->r.w;

    if (!next(t))
        return t->r.code ? false
                         : reader_say(&t->r, 0, "found no line, expected a header of seeds");
    t->columns = t->cells;
    o->seed = world_alloc(w, t->cells * sizeof(*o->seed));
    o->arrival = world_alloc(w, t->cells * sizeof(*o->arrival));
    o->arrival_count = world_alloc(w, t->cells * sizeof(*o->arrival_count));
    for (uint32_t c = 0; c < t->cells; c++) {
        char shown[64];

        if (t->cell[c][0] != 's') {
            (void)text_shown(shown, sizeof(shown), t->cell[c], strlen(t->cell[c]));
            return reader_say(&t->r, t->line,
                              "found \"%s\" in the header, expected a seed as in s42", shown);
        }
        t->cell[c]++;
        o->seed[c] = (uint32_t)number(t, c, "seed", 0, INT32_MAX);
        for (uint32_t b = 0; b < c; b++)
            if (o->seed[b] == o->seed[c])
                return reader_say(&t->r, t->line, "found seed %u twice, expected it once",
                                  o->seed[c]);
    }
    o->seed_count = t->cells;
    return !t->r.code;
}

static bool arrivals(struct table *t, struct world_openb *o)
{
    uint32_t rows = 0;

    for (; next(t); rows++) {
        for (uint32_t c = 0; c < o->seed_count; c++) {
            if (t->cell[c][0] == '\0')
                continue;
            if (o->arrival_count[c] != rows)
                return reader_say(&t->r, t->line,
                                  "found an arrival of seed %u after a blank cell, expected none",
                                  o->seed[c]);
            int64_t row = number(t, c, "row of the pod list", 0, (int64_t)o->row_count - 1);
            *(uint32_t *)world_row(t->r.w, &o->arrival[c], &o->arrival_count[c], sizeof(uint32_t)) =
                (uint32_t)row;
        }
        if (t->r.code)
            return false;
    }
    for (uint32_t c = 0; !t->r.code && c < o->seed_count; c++)
        if (o->arrival_count[c] == 0)
            return reader_say(&t->r, 0, "found no arrival of seed %u, expected at least one",
                              o->seed[c]);
    return !t->r.code;
}

/* The gpuspec lists differ from the default list in gpu_spec alone and share its order. */
static const char *order_of(const char *folder, const char *list)
{
    static const char *const ends[] = {".csv.gz", ".csv", NULL};
    char path[PATH_BYTES];

    for (const char *const *end = ends; *end; end++) {
        int need = snprintf(path, sizeof(path), "%s/arrival-order/%s%s", folder, list, *end);

        if (need > 0 && (size_t)need < sizeof(path) && access(path, F_OK) == 0)
            return list;
    }
    return strncmp(list, "gpuspec", 7) == 0 ? "default" : list;
}

static bool read_arrivals(struct table *t, const char *folder, const char *list)
{
    struct world *w = t->r.w;
    char name[128];

    (void)snprintf(name, sizeof(name), "arrival-order/%s", order_of(folder, list));
    if (!open_table(t, folder, name, true)) {
        if (t->r.code != ERR_INPUT)
            return false;
        t->r.code = ERR_NONE;
        return reader_say(&t->r, 0,
                          "found no arrival order for list %s, expected this file; only "
                          "gpuspec lists may use the order of default",
                          list);
    }
    w->openb = world_alloc(w, sizeof(*w->openb));
    w->openb->row_count = w->job_count;
    return seeds(t, w->openb) && arrivals(t, w->openb);
}

static bool list_is_fine(const char *list)
{
    size_t length =
        strspn(list, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

    return length > 0 && length <= 64 && list[length] == '\0';
}

static int read_table(struct world *w, const char *folder, const char *list, int which,
                      struct err *err)
{
    struct table t = {.r = {.w = w, .path = folder, .err = err}};

    if (which == 0)
        (void)read_nodes(&t, folder);
    else if (which == 1)
        (void)read_pods(&t, folder, list);
    else
        (void)read_arrivals(&t, folder, list);
    lines_close(t.lines);
    return t.r.code;
}

int read_openb(struct world *w, const char *folder, const char *list, struct err *err)
{
    int code = ERR_NONE;

    if (!list_is_fine(list)) {
        char shown[64];

        code = err_set(err, ERR_INPUT, "%s: found the list \"%s\", expected a name such as default",
                       folder, text_shown(shown, sizeof(shown), list, strlen(list)));
    }
    for (int which = 0; which < 3 && !code; which++)
        code = read_table(w, folder, list, which, err);
    if (code) {
        world_free(w);
        world_init(w);
        return code;
    }
    w->cluster_name = "openb";
    w->workload_name = world_string(w, list, strlen(list));
    return ERR_NONE;
}
