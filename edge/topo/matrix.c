/* A matrix of link names between devices: nvidia-smi topo -m and -mp, npu-smi, mx-smi. Cells stand
 * behind tabs or behind blanks; only tabs show which cell is empty. A row that is short is cut:
 * what stands last in it may be half a word, and is not trusted. */
#include "edge/topo/matrix.h"

#include "edge/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define CPU_MAX  65535
#define NUMA_MAX 4095

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word from *at on; false: none. */
static bool word(const char **at, struct cut_text *ret_word)
{
    const char *from = *at;

    while (blank(*from))
        from++;
    const char *end = from;
    while (*end && !blank(*end))
        end++;
    *ret_word = (struct cut_text){from, (size_t)(end - from)};
    *at = end;
    return end > from;
}

static bool is(struct cut_text w, const char *text)
{
    return strlen(text) == w.length && memcmp(text, w.text, w.length) == 0;
}

/* GPU0, NPU12: the kind and the number. */
static bool accelerator(struct cut_text w, enum topo_device_kind *ret_kind, int32_t *ret_index)
{
    int64_t index;

    if (w.length < 4 || !topo_number(w.text + 3, w.length - 3, 4095, &index))
        return false;
    if (memcmp(w.text, "GPU", 3) == 0)
        *ret_kind = TOPO_DEVICE_GPU;
    else if (memcmp(w.text, "NPU", 3) == 0)
        *ret_kind = TOPO_DEVICE_NPU;
    else
        return false;
    *ret_index = (int32_t)index;
    return true;
}

/* What topo -p2p says of a pair; NULL: another word. */
static const char *p2p_word(struct cut_text w)
{
    static const char *const words[] = {"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (is(w, words[i]))
            return words[i];
    return NULL;
}

/* What a cell says; false: no word of any such tool. */
static bool cell(struct cut_text w, struct topo_link *ret_link)
{
    static const struct {
        const char *word;
        enum topo_path path;
    } known[] = {
        {"X", TOPO_PATH_SELF},    {"PIX", TOPO_PATH_PIX},    {"PXB", TOPO_PATH_PXB},
        {"PHB", TOPO_PATH_PHB},   {"NODE", TOPO_PATH_NODE},  {"SYS", TOPO_PATH_SYS},
        {"SOC", TOPO_PATH_SYS},   {"HCCS", TOPO_PATH_HCCS},  {"HCCS_SW", TOPO_PATH_HCCS},
        {"SIO", TOPO_PATH_SIO},   {"UB", TOPO_PATH_UB},      {"MX", TOPO_PATH_MX},
        {"ETH", TOPO_PATH_ETH},   {"NA", TOPO_PATH_UNKNOWN}, {"N/A", TOPO_PATH_UNKNOWN},
        {"-", TOPO_PATH_UNKNOWN},
    };
    int64_t links;

    *ret_link = (struct topo_link){.path = TOPO_PATH_UNKNOWN};
    if (w.length > 2 && memcmp(w.text, "NV", 2) == 0 &&
        topo_number(w.text + 2, w.length - 2, 999, &links) && links > 0) {
        ret_link->path = TOPO_PATH_NVLINK;
        ret_link->links = (uint32_t)links;
        return true;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (is(w, known[i].word)) {
            ret_link->path = known[i].path;
            return true;
        }
    return false;
}

bool topo_matrix_header(const char *line)
{
    enum topo_device_kind kind;
    int32_t index;
    struct cut_text first, second;
    struct topo_link link;

    if (!word(&line, &first) || !accelerator(first, &kind, &index))
        return false;
    if (!word(&line, &second))
        return true;
    return accelerator(second, &kind, &index) ||
           (!cell(second, &link) && !p2p_word(second) && is(second, "CPU")) ||
           (second.length > 3 &&
            (memcmp(second.text, "NIC", 3) == 0 || memcmp(second.text, "mlx", 3) == 0));
}

/* The columns behind the devices, wherever they begin; returns the end of the device names. */
static size_t find_columns(struct matrix *m, const char *line)
{
    static const struct {
        const char *title;
        enum column column;
    } known[] = {
        {"CPU Affinity", COLUMN_CPU},
        {"NUMA Affinity", COLUMN_NUMA},
        {"Node Affinity", COLUMN_NUMA},
        {"GPU NUMA ID", COLUMN_MEMORY},
    };
    size_t names_end = strlen(line);

    for (const char *at = line; *at && m->columns < COLUMN_COUNT;) {
        size_t length = 1;

        for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
            size_t title = strlen(known[i].title);

            if (strncmp(at, known[i].title, title) != 0 || m->has[known[i].column])
                continue;
            if ((size_t)(at - line) < names_end)
                names_end = (size_t)(at - line);
            m->column[m->columns++] = known[i].column;
            m->has[known[i].column] = true;
            length = title;
            break;
        }
        at += length;
    }
    return names_end;
}

static int32_t device_find(const struct matrix *m, struct cut_text name)
{
    for (uint32_t d = 0; d < m->h->device_count; d++)
        if (is(name, m->h->device[d].name))
            return (int32_t)d;
    return TOPO_NONE;
}

static int read_header(struct matrix *m, const char *line, uint32_t number, struct err *err)
{
    size_t end = find_columns(m, line);
    const char *at = line;
    struct cut_text w;

    while (word(&at, &w) && (size_t)(w.text - line) < end) {
        enum topo_device_kind kind = TOPO_DEVICE_NIC;
        int32_t index = TOPO_NONE;
        int64_t nic;

        if (device_find(m, w) != TOPO_NONE)
            return topo_bad(err, m->t, number, "found the device %s twice, expected each once",
                            SHOWN_N(w.text, w.length));
        if (!accelerator(w, &kind, &index) && w.length > 3 && memcmp(w.text, "NIC", 3) == 0 &&
            topo_number(w.text + 3, w.length - 3, 4095, &nic))
            index = (int32_t)nic;

        struct topo_device *d = topo_device_add(m->t, m->h, kind, 0);
        if (!d)
            return topo_bad(err, m->t, number, "found more than %u devices, expected fewer",
                            TOPO_DEVICES_MAX);
        d->name = topo_keep(m->t, w.text, w.length);
        d->index = index;
        d->numa_said = kind != TOPO_DEVICE_NIC && m->has[COLUMN_NUMA];
        d->line = 0;
    }
    m->count = m->h->device_count;
    m->raw = memory_zeroed((size_t)m->count * m->count * sizeof(*m->raw) + 1);
    m->row_seen = memory_zeroed(m->count + (size_t)1);
    m->field_limit = m->count + COLUMN_COUNT + 8;
    m->field = memory_zeroed(m->field_limit * sizeof(*m->field));
    return ERR_NONE;
}

/* Fields between tabs; 0 if a cell holds blanks inside, which tabs would not leave. */
static uint32_t split_tabs(struct matrix *m, const char *line)
{
    uint32_t count = 0;

    for (const char *at = line;; at++) {
        const char *end = strchr(at, '\t');
        size_t length = end ? (size_t)(end - at) : strlen(at);

        while (length && at[0] == ' ') {
            at++;
            length--;
        }
        while (length && at[length - 1] == ' ')
            length--;
        if (count <= m->count && memchr(at, ' ', length))
            return 0;
        if (count < m->field_limit)
            m->field[count++] = (struct cut_text){at, length};
        if (!end)
            return count;
        at = end;
    }
}

static uint32_t split_blanks(struct matrix *m, const char *line)
{
    uint32_t count = 0;

    while (count < m->field_limit && word(&line, &m->field[count]))
        count++;
    return count;
}

/* Some drivers fill up short values with one more tab each: 0-7, nothing, 0, nothing, N/A. */
static bool is_padded(const struct matrix *m, uint32_t from, uint32_t count)
{
    if (m->columns < 2 || count - from != 2 * m->columns - 1 || m->field[count - 1].length == 0)
        return false;
    for (uint32_t i = from + 1; i < count; i += 2)
        if (m->field[i].length)
            return false;
    return true;
}

/* The columns behind the cells: in order, or with one more tab before the last. */
static void read_columns(struct matrix *m, struct topo_device *d, uint32_t from, uint32_t count,
                         bool tabs)
{
    struct cut_text value[COLUMN_COUNT] = {{"", 0}, {"", 0}, {"", 0}};
    uint32_t found = 0, step = tabs && is_padded(m, from, count) ? 2 : 1;

    if (!tabs && count - from < m->columns) {
        d->cut = true;
        topo_remark(m->t, d->line,
                    "the row of %s has %u of %u values behind its links: they are "
                    "not trusted",
                    SHOWN(d->name), count - from, m->columns);
        return;
    }
    for (uint32_t i = from; i < count && found < m->columns; i += step) {
        bool last = m->column[found] == COLUMN_MEMORY && found > 0;

        if (tabs && last && m->field[i].length == 0)
            continue;
        value[m->column[found++]] = m->field[i];
    }
    /* A row that ends inside its columns ends inside a value. */
    if (found < m->columns &&
        (d->line == m->last_line || found + 1 < m->columns || !m->has[COLUMN_MEMORY])) {
        d->cut = true;
        topo_remark(m->t, d->line,
                    "the row of %s ends before its last column: its values are not "
                    "trusted",
                    SHOWN(d->name));
        return;
    }

    const char *cpus = topo_keep(m->t, value[COLUMN_CPU].text, value[COLUMN_CPU].length);
    if (m->has[COLUMN_CPU] && (*cpus == '\0' || topo_is_ranges(cpus, CPU_MAX)))
        d->cpus = cpus;
    else if (m->has[COLUMN_CPU] && !is(value[COLUMN_CPU], "N/A"))
        topo_remark(m->t, d->line, "CPU affinity of %s is no list of CPUs: %s", SHOWN(d->name),
                    SHOWN(cpus));

    int64_t node;
    const char *numa = topo_keep(m->t, value[COLUMN_NUMA].text, value[COLUMN_NUMA].length);
    if (*numa && topo_is_ranges(numa, NUMA_MAX) &&
        topo_number(numa, strspn(numa, "0123456789"), NUMA_MAX, &node))
        d->numa = (int32_t)node;
    else if (*numa && !is(value[COLUMN_NUMA], "N/A"))
        topo_remark(m->t, d->line, "NUMA affinity of %s is no list of nodes: %s", SHOWN(d->name),
                    SHOWN(numa));
    if (topo_number(value[COLUMN_MEMORY].text, value[COLUMN_MEMORY].length, NUMA_MAX, &node))
        d->memory_numa = (int32_t)node;
}

/* Does any field of a row look like a link? A row that ends with its name does. */
static bool has_cell(const struct matrix *m, uint32_t count)
{
    struct topo_link link;
    bool any = count == 1;

    for (uint32_t c = 1; c < count && c <= m->count && !any; c++)
        any = cell(m->field[c], &link) || p2p_word(m->field[c]);
    return any;
}

/* True if the line is a row of the matrix. */
static bool read_row(struct matrix *m, const char *line, uint32_t number)
{
    bool tabs = true;
    uint32_t count = split_tabs(m, line), cells;

    if (count < 2 || device_find(m, m->field[0]) == TOPO_NONE) {
        /* An indented row leaves empty fields in front. */
        tabs = false;
        count = split_blanks(m, line);
    }
    int32_t row = count ? device_find(m, m->field[0]) : TOPO_NONE;
    struct topo_link link;
    if (row == TOPO_NONE || !has_cell(m, count))
        return false;

    struct topo_device *d = &m->h->device[row];
    if (m->row_seen[row]) {
        topo_remark(m->t, number, "a second row of %s is ignored", SHOWN(d->name));
        return true;
    }
    m->row_seen[row] = true;
    d->line = number;
    cells = count - 1 < m->count ? count - 1 : m->count;
    for (uint32_t c = 0; c < cells; c++) {
        struct cut_text w = m->field[c + 1];

        if (p2p_word(w)) {
            m->p2p = true;
            m->raw[(size_t)(uint32_t)row * m->count + c].p2p = p2p_word(w);
        } else if (!cell(w, &link)) {
            if (!(cells < m->count && c + 1 == cells))
                topo_remark(m->t, number, "the link of %s and %s is no known word: %s",
                            SHOWN(d->name), SHOWN(m->h->device[c].name), SHOWN_N(w.text, w.length));
        } else if ((link.path == TOPO_PATH_SELF) != ((int32_t)c == row)) {
            topo_remark(m->t, number, "the X of %s is not on the diagonal: the row is ignored",
                        SHOWN(d->name));
            m->h->complete = false;
            memset(&m->raw[(size_t)(uint32_t)row * m->count], 0, m->count * sizeof(*m->raw));
            return true;
        } else if (!(cells < m->count && c + 1 == cells && link.path != TOPO_PATH_SELF)) {
            m->raw[(size_t)(uint32_t)row * m->count + c] = link;
        }
    }
    if (cells < m->count) {
        d->cut = true;
        topo_remark(m->t, number, "the row of %s has %u of %u links", SHOWN(d->name), cells,
                    m->count);
    } else if (d->kind != TOPO_DEVICE_NIC && m->columns) {
        read_columns(m, d, m->count + 1, count, tabs);
    }
    return true;
}

/* "NV# = ...", "NIC0: mlx5_1": the legends under a matrix. */
static void read_legend(struct matrix *m, const char *line)
{
    struct cut_text w, next;
    const char *at = line;

    if (!word(&at, &w))
        return;
    if (w.length > 1 && w.text[w.length - 1] == ':' && word(&at, &next)) {
        w.length--;
        int32_t d = device_find(m, w);

        if (d != TOPO_NONE && m->h->device[d].kind == TOPO_DEVICE_NIC)
            m->h->device[d].alias = topo_keep(m->t, next.text, next.length);
        return;
    }
    if (!word(&at, &next) || !is(next, "="))
        return;
    m->legend = true;
    m->legend_links = m->legend_links || is(w, "NV#") || is(w, "HCCS") || is(w, "MX");
    m->p2p = m->p2p || is(w, "GNS") || is(w, "CNS");
}

static void matrix_free(struct matrix *m)
{
    free(m->raw);
    free(m->row_seen);
    free(m->field);
}

/* Devices behind the accelerators keep their order, so that links need no new numbers: a table that
 * mixes them is refused. */
static bool in_order(const struct matrix *m)
{
    for (uint32_t d = 1; d < m->count; d++)
        if (m->h->device[d - 1].kind == TOPO_DEVICE_NIC && m->h->device[d].kind != TOPO_DEVICE_NIC)
            return false;
    return true;
}

int topo_read_matrix(struct topo *t, const struct page *p, struct err *err)
{
    uint32_t last_line = 0;
    int code = ERR_NONE;

    for (uint32_t i = 0; i < p->count; i++)
        if (p->line[i].text[strspn(p->line[i].text, " \t")])
            last_line = p->first_line + i;
    for (uint32_t i = 0; i < p->count && !code;) {
        struct matrix m = {.t = t};

        if (!topo_matrix_header(p->line[i].text)) {
            i++;
            continue;
        }
        m.h = topo_host_add(t, NULL, p->first_line + i);
        m.last_line = last_line;
        code = read_header(&m, p->line[i].text, p->first_line + i, err);
        if (!code && !in_order(&m))
            code = topo_bad(err, t, p->first_line + i,
                            "found a GPU behind a NIC, expected the GPUs first");
        for (i++; !code && i < p->count && !topo_matrix_header(p->line[i].text); i++)
            if (!read_row(&m, p->line[i].text, p->first_line + i))
                read_legend(&m, p->line[i].text);
        if (!code) {
            matrix_finish(&m);
            matrix_join_abilities(t);
        }
        matrix_free(&m);
    }
    matrix_name_kind(t);
    if (!code && t->host_count == 0)
        code = topo_bad(err, t, 0,
                        "found no matrix of devices, expected the output of "
                        "nvidia-smi topo -m");
    return code;
}
