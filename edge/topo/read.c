/* Which format is it? Lines say so: a header of a matrix, keys of a configuration, the first words
 * of a tool. The name of a file is never asked. */
#include "edge/topo/topo_parts.h"

#include <string.h>

enum format {
    FORMAT_NONE, /* no word that any reader knows */
    FORMAT_MATRIX,
    FORMAT_NPU,
    FORMAT_MX,
    FORMAT_ROCM,
    FORMAT_XML,
    FORMAT_HTML,
    FORMAT_LSTOPO,
    FORMAT_SLURM,
    FORMAT_GRES,
    FORMAT_IBNET,
    FORMAT_LABELS,
    FORMAT_TABLE, /* kubectl without -o */
    FORMAT_TREES,
};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Does the line start with the word, in any case? */
static bool starts(const char *at, const char *word)
{
    size_t length = strlen(word);

    return strlen(at) >= length && topo_text_equal(at, length, word);
}

static bool is_comment(const char *at)
{
    return *at == '\0' || *at == '#' || strncmp(at, "---", 3) == 0 || strncmp(at, "...", 3) == 0;
}

/* NodeName=tux[0-7] AutoDetect=nvml, Name=gpu File=... */
static bool is_gres(const char *at)
{
    return starts(at, "AutoDetect=") || starts(at, "Name=") ||
           (starts(at, "NodeName=") && (strcasestr(at, " Name=") || strcasestr(at, "AutoDetect=")));
}

static bool is_html(const char *at)
{
    return starts(at, "<!doctype html") || starts(at, "<html");
}

static bool is_lstopo(const char *at)
{
    return strncmp(at, "Machine (", 9) == 0 || strncmp(at, "Machine L#", 10) == 0 ||
           strncmp(at, "System(", 7) == 0 || strncmp(at, "Package L#", 10) == 0 ||
           strncmp(at, "NUMANode L#", 11) == 0 || strcmp(at, "Machine") == 0;
}

/* One line's word on the format; FORMAT_NONE: go on. */
static enum format of_line(const char *line)
{
    const char *at = skip_blanks(line);

    if (strstr(at, "two GPUs") || strstr(at, "ROCm System Management"))
        return FORMAT_ROCM;
    if (strstr(at, "MetaX System Management") || strncmp(at, "Device link type matrix", 23) == 0)
        return FORMAT_MX;
    if (topo_matrix_header(line))
        return strncmp(at, "NPU", 3) == 0 ? FORMAT_NPU : FORMAT_MATRIX;
    if (starts(at, "SwitchName=") || starts(at, "BlockName=") || starts(at, "BlockSizes="))
        return FORMAT_SLURM;
    if (is_gres(at))
        return FORMAT_GRES;
    if (strncmp(line, "vendid=", 7) == 0 || strncmp(line, "switchguid=", 11) == 0 ||
        (strncmp(line, "Switch\t", 7) == 0 && strstr(line, "\"S-")))
        return FORMAT_IBNET;
    if (is_html(at))
        return FORMAT_HTML;
    if (is_lstopo(at))
        return FORMAT_LSTOPO;
    if (strncmp(line, "NAME ", 5) == 0 && strstr(line, " AGE"))
        return FORMAT_TABLE;
    return FORMAT_NONE;
}

/* kubectl describe, or a list of labels. */
static bool is_labels(const struct page *p)
{
    uint32_t labels = 0, others = 0;

    for (uint32_t i = 0; i < p->count && i < 200; i++) {
        const char *at = skip_blanks(p->line[i].text);

        if (starts(p->line[i].text, "Labels:") || starts(p->line[i].text, "Taints:"))
            return true;
        if (is_comment(at))
            continue;
        if (topo_label_line(at, NULL, NULL))
            labels++;
        else
            others++;
    }
    return labels > others;
}

/* Tables of tools stand behind prompts and titles of any form: they are looked for everywhere,
 * except in JSON and XML, whose first letter says so. */
static enum format find_table(const struct page *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        enum format format = of_line(p->line[i].text);

        if (format == FORMAT_MATRIX || format == FORMAT_NPU || format == FORMAT_MX ||
            format == FORMAT_ROCM)
            return format;
    }
    return FORMAT_NONE;
}

static enum format detect(const struct page *p)
{
    bool words = false, any_yaml = false;
    char first = p->text[strspn(p->text, " \t\r\n")];
    enum format table = first == '{' || first == '<' ? FORMAT_NONE : find_table(p);

    if (table != FORMAT_NONE)
        return table;

    for (uint32_t i = 0; i < p->count; i++) {
        const char *line = p->line[i].text, *at = skip_blanks(line);

        if (*at == '\0')
            continue;
        /* JSON and XML say so with their first letter, and hold any words further on. */
        if (!words && (*at == '{' || *at == '['))
            return FORMAT_TREES;
        if (!words && *at == '<')
            return is_html(at) ? FORMAT_HTML : FORMAT_XML;
        if (is_comment(at))
            continue;

        /* Keys of YAML come before the texts that YAML may hold. */
        size_t key = strcspn(at, ": \t=");
        bool yaml = (at[key] == ':' && (at[key + 1] == ' ' || at[key + 1] == '\0')) ||
                    strncmp(at, "- ", 2) == 0;
        enum format format = of_line(line);
        any_yaml = any_yaml || yaml;
        if (format != FORMAT_NONE)
            return format;
        if (yaml && !words)
            return is_labels(p) ? FORMAT_LABELS : FORMAT_TREES;
        words = true;
    }
    if (!words)
        return FORMAT_NONE;
    if (is_labels(p))
        return FORMAT_LABELS;
    return any_yaml ? FORMAT_TREES : FORMAT_NONE;
}

static bool nothing_but_comments(const struct page *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        if (!is_comment(skip_blanks(p->line[i].text)))
            return false;
    return true;
}

static int read_as(struct topo *t, enum format format, const struct page *p, struct err *err)
{
    static const struct {
        enum format format;
        enum topo_kind kind;
        int (*read)(struct topo *, const struct page *, struct err *);
    } known[] = {
        {FORMAT_MATRIX, TOPO_MATRIX, topo_read_matrix},
        {FORMAT_NPU, TOPO_NPU, topo_read_matrix},
        {FORMAT_MX, TOPO_MX, topo_read_matrix},
        {FORMAT_ROCM, TOPO_ROCM, topo_read_rocm},
        {FORMAT_XML, TOPO_NCCL, topo_read_xml},
        {FORMAT_LSTOPO, TOPO_LSTOPO, topo_read_lstopo},
        {FORMAT_SLURM, TOPO_SLURM, topo_read_slurm},
        {FORMAT_GRES, TOPO_GRES, topo_read_gres},
        {FORMAT_IBNET, TOPO_IBNET, topo_read_ibnet},
        {FORMAT_LABELS, TOPO_LABELS, topo_read_labels},
        {FORMAT_TREES, TOPO_KUBE, topo_read_trees},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].format == format) {
            t->kind = known[i].kind;
            return known[i].read(t, p, err);
        }
    return topo_bad(err, t, p->first_line,
                    "found no format that is known here, expected the "
                    "output of a tool such as nvidia-smi topo -m, XML, YAML or JSON");
}

int topo_read(struct topo *t, const struct page *p, struct err *err)
{
    enum format format = detect(p);

    if (nothing_but_comments(p)) {
        t->kind = TOPO_EMPTY;
        topo_remark(t, 0, p->count ? "nothing but comments and blank lines" : "an empty file");
        return ERR_NONE;
    }
    if (format == FORMAT_HTML)
        return topo_bad(err, t, p->first_line,
                        "found a page of HTML, expected a topology: a "
                        "server answered with an error or a login page");
    if (format == FORMAT_TABLE)
        return topo_bad(err, t, p->first_line,
                        "found a table of kubectl, expected objects: run "
                        "kubectl get nodes -o json");
    return read_as(t, format, p, err);
}

int topo_read_embedded(struct topo *t, const char *text, uint32_t first_line, struct err *err)
{
    struct page p = {0};
    enum topo_kind kind = t->kind;
    int code;

    if (t->embedded)
        return ERR_NONE;
    code = topo_page_text(t, text, strlen(text), &p, err);
    if (code)
        return code;
    p.first_line = first_line;

    enum format format = detect(&p);
    t->embedded = true;
    if (format == FORMAT_SLURM || format == FORMAT_GRES)
        code = read_as(t, format, &p, err);
    else if (format == FORMAT_TREES &&
             (strstr(text, "networkTopologyDiscovery:") || strstr(text, "topology:")))
        code = read_as(t, format, &p, err);
    t->embedded = false;
    t->kind = kind;
    return code;
}
