/* rocm-smi --showtopo: up to three square tables (weight, hops, link type) and a list of NUMA
 * nodes. Each section may be missing; a zero stands on the diagonal. */
#include "edge/topo/topo_parts.h"

#include <stdio.h>
#include <string.h>

enum section {
    SECTION_NONE,
    SECTION_WEIGHT,
    SECTION_HOPS,
    SECTION_TYPE,
    SECTION_OTHER,
    SECTION_NUMA
};

struct rocm {
    struct topo *t;
    struct topo_host *h;
    enum section section;
    bool header_read;
    uint32_t column[TOPO_DEVICES_MAX];
    uint32_t columns;
    bool types;
    uint32_t rows[SECTION_NUMA + 1];
    uint32_t numa_lines;
};

static enum section section_of(const char *line)
{
    static const struct {
        const char *title;
        enum section section;
    } known[] = {
        {"Weight between two GPUs", SECTION_WEIGHT},  {"Hops between two GPUs", SECTION_HOPS},
        {"Link Type between two GPUs", SECTION_TYPE}, {"Numa Nodes", SECTION_NUMA},
        {"between two GPUs", SECTION_OTHER},          {"End of ROCm", SECTION_OTHER},
    };

    if (line[0] != '=' && !strstr(line, "between two GPUs"))
        return SECTION_NONE;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strstr(line, known[i].title))
            return known[i].section;
    return SECTION_NONE;
}

/* The device GPU<number>, added if new; TOPO_NONE: the word is no such name. */
static int32_t device(struct rocm *r, const char *text, size_t length, uint32_t number, bool add)
{
    int64_t index;

    if (length < 4 || memcmp(text, "GPU", 3) != 0 ||
        !topo_number(text + 3, length - 3, 4095, &index))
        return TOPO_NONE;
    for (uint32_t d = 0; d < r->h->device_count; d++)
        if (r->h->device[d].index == index)
            return (int32_t)d;
    if (!add || r->h->link)
        return TOPO_NONE;

    struct topo_device *d = topo_device_add(r->t, r->h, TOPO_DEVICE_GPU, number);
    if (!d)
        return TOPO_NONE;
    d->index = (int32_t)index;
    d->name = topo_keep(r->t, text, length);
    return (int32_t)r->h->device_count - 1;
}

static const char *next_word(const char *at, size_t *ret_length)
{
    at += strspn(at, " \t");
    *ret_length = strcspn(at, " \t");
    return at;
}

static void read_header(struct rocm *r, const char *at, uint32_t number)
{
    size_t length;

    r->columns = 0;
    for (at = next_word(at, &length); length && r->columns < TOPO_DEVICES_MAX;
         at = next_word(at + length, &length)) {
        int32_t d = device(r, at, length, number, true);

        if (d == TOPO_NONE)
            break;
        r->column[r->columns++] = (uint32_t)d;
    }
    if (!r->h->link && r->columns)
        topo_links_make(r->t, r->h);
    r->header_read = r->columns > 0;
}

static void read_type(struct rocm *r, struct topo_link *link, const char *at, size_t length,
                      uint32_t number)
{
    if (topo_text_equal(at, length, "XGMI"))
        link->path = TOPO_PATH_XGMI;
    else if (topo_text_equal(at, length, "PCIE"))
        link->path = TOPO_PATH_PCIE;
    else
        topo_remark(r->t, number, "a link type that is no known word: %s", SHOWN_N(at, length));
}

static void read_row(struct rocm *r, const char *at, uint32_t number)
{
    size_t length;
    uint32_t cells = 0;

    at = next_word(at, &length);
    int32_t row = device(r, at, length, number, false);
    if (row == TOPO_NONE)
        return;
    for (; cells < r->columns; cells++) {
        int64_t value = 0;
        uint32_t a = (uint32_t)row, b = r->column[cells];

        at = next_word(at + length, &length);
        if (length == 0)
            break;
        if (a == b)
            continue;

        struct topo_link link = *topo_link(r->h, a, b);
        if (r->section == SECTION_TYPE)
            read_type(r, &link, at, length, number);
        else if (!topo_number(at, length, 1000000, &value))
            topo_remark(r->t, number, "a number was expected here: %s", SHOWN_N(at, length));
        else if (r->section == SECTION_WEIGHT)
            link.weight = (uint32_t)value;
        else
            link.hops = (uint32_t)value;
        topo_link_set(r->h, a, b, link);
    }
    if (cells < r->columns) {
        topo_remark(r->t, number, "the row of GPU%d has %u of %u cells", r->h->device[row].index,
                    cells, r->columns);
        r->h->device[row].cut = true;
        r->h->complete = false;
    }
    r->rows[r->section]++;
    r->types = r->types || r->section == SECTION_TYPE;
}

/* GPU[3]          : (Topology) Numa Node: 0 */
static void read_numa(struct rocm *r, const char *line, uint32_t number)
{
    static const char title[] = "Numa Node:";
    const char *gpu = strstr(line, "GPU["), *at = strstr(line, title);
    int64_t index, node;

    if (!at || !gpu || !topo_number(gpu + 4, strcspn(gpu + 4, "]"), 4095, &index))
        return;
    at += strlen(title);
    at += strspn(at, " \t");
    /* -1 is what the tool prints where it does not know. */
    if (!topo_number(at, strspn(at, "0123456789"), 4095, &node))
        return;
    /* --showtoponuma prints this list alone. */
    if (!r->h->link) {
        char name[16];
        int length = snprintf(name, sizeof(name), "GPU%lld", (long long)index);

        (void)device(r, name, (size_t)length, number, true);
    }
    for (uint32_t d = 0; d < r->h->device_count; d++)
        if (r->h->device[d].index == index) {
            r->h->device[d].numa = (int32_t)node;
            r->h->device[d].numa_said = true;
            r->numa_lines++;
            return;
        }
    topo_remark(r->t, number, "a NUMA node of GPU%lld, which no table has", (long long)index);
}

static void read_line(struct rocm *r, const char *line, uint32_t number)
{
    enum section section = section_of(line);

    if (section != SECTION_NONE) {
        r->section = section;
        r->header_read = false;
    } else if (r->section == SECTION_NUMA) {
        read_numa(r, line, number);
    } else if (r->section != SECTION_NONE && r->section != SECTION_OTHER) {
        if (!r->header_read)
            read_header(r, line, number);
        else
            read_row(r, line, number);
    } else if (strncmp(line, "WARNING", 7) == 0) {
        topo_remark(r->t, number, "the tool warned: %s", SHOWN(line));
    }
}

int topo_read_rocm(struct topo *t, const struct page *p, struct err *err)
{
    struct rocm r = {.t = t};

    r.h = topo_host_add(t, NULL, p->first_line);
    for (uint32_t i = 0; i < p->count; i++)
        read_line(&r, p->line[i].text, p->first_line + i);
    if (r.h->device_count == 0)
        return topo_bad(err, t, 0,
                        "found no table of GPUs, expected the output of "
                        "rocm-smi --showtopo");
    r.h->links_known = r.types && r.rows[SECTION_TYPE] == r.h->device_count;
    if (!r.types)
        topo_remark(t, 0, "the table of link types is missing");
    if (r.numa_lines < r.h->device_count) {
        topo_remark(t, 0, "%u of %u GPUs have a NUMA node", r.numa_lines, r.h->device_count);
        r.h->complete = false;
    }
    for (unsigned s = SECTION_WEIGHT; s <= SECTION_TYPE; s++)
        if (r.rows[s] && r.rows[s] < r.h->device_count) {
            topo_remark(t, 0, "a table has %u of %u rows", r.rows[s], r.h->device_count);
            r.h->complete = false;
        }
    topo_islands_find(t, r.h);
    topo_host_sort(t, r.h, NULL);
    return ERR_NONE;
}
