#include "edge/topo/topo.h"

#include "edge/base/memory.h"
#include "edge/base/text.h"
#include "edge/topo/topo_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES       ((size_t)64 << 10)
#define REMARKS_ALIKE_MAX 5u
#define DEVICES_MAX       500000u           /* of a file */
#define PAIRS_MAX         ((size_t)8 << 20) /* of a file */

struct topo_block {
    struct topo_block *next;
    size_t size, used;
    max_align_t bytes[];
};

void *topo_take(struct topo *t, size_t bytes)
{
    size_t need = (bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);

    if (!t->block || t->block->size - t->block->used < need) {
        size_t size = need > BLOCK_BYTES ? need : BLOCK_BYTES;
        struct topo_block *b = memory_grow(NULL, sizeof(*b) + size);

        *b = (struct topo_block){.next = t->block, .size = size};
        t->block = b;
    }

    unsigned char *at = (unsigned char *)t->block->bytes + t->block->used;
    t->block->used += need;
    memset(at, 0, bytes);
    return at;
}

const char *topo_keep(struct topo *t, const char *text, size_t length)
{
    char *copy = topo_take(t, length + 1);

    memcpy(copy, text, length);
    return copy;
}

const char *topo_keep_string(struct topo *t, const char *string)
{
    return string ? topo_keep(t, string, strlen(string)) : NULL;
}

const char *topo_keep_some(struct topo *t, const char *string)
{
    return string && *string ? topo_keep_string(t, string) : NULL;
}

const char *topo_shown(struct shown *s, const char *text, size_t length)
{
    return text_shown(s->text, sizeof(s->text), text, length);
}

void topo_remark(struct topo *t, uint32_t line, const char *format, ...)
{
    char text[320];
    va_list args;
    uint32_t alike = 0;

    for (size_t r = 0; r < t->remark_count; r++)
        alike += t->remark[r].format == format;
    if (t->remark_count == TOPO_REMARKS_MAX || alike == REMARKS_ALIKE_MAX) {
        t->remarks_left_out++;
        return;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    t->remark = out_grow(t->remark, t->remark_count, &t->remark_limit, sizeof(*t->remark));
    t->remark[t->remark_count++] =
        (struct topo_remark){.line = line, .text = topo_keep_string(t, text), .format = format};
}

int topo_bad(struct err *err, const struct topo *t, uint32_t line, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (line == 0)
        return err_set(err, ERR_INPUT, "%s: %s", t->file, text);
    return err_set(err, ERR_INPUT, "%s:%u: %s", t->file, line, text);
}

struct topo_host *topo_host_add(struct topo *t, const char *name, uint32_t line)
{
    t->host = out_grow(t->host, t->host_count, &t->host_limit, sizeof(*t->host));

    struct topo_host *h = &t->host[t->host_count++];
    *h = (struct topo_host){
        .name = topo_keep_some(t, name),
        .line = line,
        .complete = true,
        .gpus_stated = TOPO_NONE,
        .memory_mib = TOPO_NONE,
        .ready = TOPO_NONE,
        .packages = TOPO_NONE,
        .numa_nodes = TOPO_NONE,
        .numa_memory = TOPO_NONE,
    };
    return h;
}

struct topo_device *topo_device_add(struct topo *t, struct topo_host *h, enum topo_device_kind kind,
                                    uint32_t line)
{
    if (h->device_count == TOPO_DEVICES_MAX || t->devices == DEVICES_MAX) {
        if (h->complete)
            topo_remark(t, line,
                        "more than %u devices in a host or %u in a file: the rest is "
                        "left out",
                        TOPO_DEVICES_MAX, DEVICES_MAX);
        h->complete = false;
        return NULL;
    }
    t->devices++;
    /* Doubles at powers of two; what lies in the arena is left there. */
    if ((h->device_count & (h->device_count - 1)) == 0) {
        size_t limit = h->device_count ? (size_t)h->device_count * 2 : 1;
        struct topo_device *more = topo_take(t, limit * sizeof(*more));

        if (h->device_count)
            memcpy(more, h->device, h->device_count * sizeof(*more));
        h->device = more;
    }

    struct topo_device *d = &h->device[h->device_count++];
    *d = (struct topo_device){
        .kind = kind,
        .index = TOPO_NONE,
        .numa = TOPO_NONE,
        .memory_numa = TOPO_NONE,
        .island = TOPO_NONE,
        .bridge = TOPO_NONE,
        .root = TOPO_NONE,
        .memory_mib = TOPO_NONE,
        .line = line,
    };
    return d;
}

/* Accelerators first, NICs, then the rest; equals keep their order. */
static unsigned kind_rank(enum topo_device_kind kind)
{
    if (kind == TOPO_DEVICE_GPU || kind == TOPO_DEVICE_NPU)
        return 0;
    if (kind == TOPO_DEVICE_NIC)
        return 1;
    return kind == TOPO_DEVICE_SWITCH ? 2 : 3;
}

void topo_host_sort(struct topo *t, struct topo_host *h, uint32_t *ret_where)
{
    struct topo_device *sorted = topo_take(t, (h->device_count + 1) * sizeof(*sorted));
    uint32_t count = 0;

    h->gpu_count = h->nic_count = 0;
    for (unsigned rank = 0; rank < 4; rank++)
        for (uint32_t d = 0; d < h->device_count; d++) {
            if (kind_rank(h->device[d].kind) != rank)
                continue;
            if (ret_where)
                ret_where[d] = count;
            sorted[count++] = h->device[d];
            h->gpu_count += rank == 0;
            h->nic_count += rank == 1;
        }
    h->device = sorted;
}

void topo_links_make(struct topo *t, struct topo_host *h)
{
    size_t pairs = (size_t)h->device_count * h->device_count;

    if (pairs > PAIRS_MAX - t->pairs) {
        topo_remark(t, h->line, "more than %zu pairs of devices in one file: these are left out",
                    PAIRS_MAX);
        h->complete = false;
        return;
    }
    t->pairs += pairs;
    h->link = topo_take(t, pairs * sizeof(*h->link));
    for (uint32_t d = 0; d < h->device_count; d++)
        h->link[(size_t)d * h->device_count + d].path = TOPO_PATH_SELF;
}

void topo_link_set(struct topo_host *h, uint32_t a, uint32_t b, struct topo_link link)
{
    if (!h->link)
        return;
    h->link[(size_t)a * h->device_count + b] = link;
    h->link[(size_t)b * h->device_count + a] = link;
}

const struct topo_link *topo_link(const struct topo_host *h, uint32_t a, uint32_t b)
{
    static const struct topo_link unknown = {.path = TOPO_PATH_UNKNOWN};

    if (!h->link || a >= h->device_count || b >= h->device_count)
        return &unknown;
    return &h->link[(size_t)a * h->device_count + b];
}

bool topo_path_joins(enum topo_path path)
{
    return path >= TOPO_PATH_NVLINK && path <= TOPO_PATH_UB;
}

/* 0: an island, 1: one switch, 2: one tree of switches */
static bool joins(enum topo_path path, int what)
{
    if (what == 0)
        return topo_path_joins(path);
    return path == TOPO_PATH_PIX || (what == 2 && path == TOPO_PATH_PXB);
}

static int32_t *part_of(struct topo_device *d, int what)
{
    return what == 0 ? &d->island : what == 1 ? &d->bridge : &d->root;
}

/* Numbers the connected parts of at least two devices; a device alone stays TOPO_NONE. */
static void parts_of(struct topo_host *h, int what, uint32_t *todo)
{
    int32_t parts = 0;

    for (uint32_t first = 0; first < h->device_count; first++) {
        uint32_t count = 0;

        if (*part_of(&h->device[first], what) != TOPO_NONE)
            continue;
        todo[count++] = first;
        for (uint32_t at = 0; at < count; at++)
            for (uint32_t d = 0; d < h->device_count; d++) {
                int32_t *part = part_of(&h->device[d], what);

                if (d == first || *part != TOPO_NONE ||
                    !joins(topo_link(h, todo[at], d)->path, what))
                    continue;
                *part = parts;
                todo[count++] = d;
            }
        if (count > 1)
            *part_of(&h->device[first], what) = parts++;
    }
}

static void parts_find(struct topo *t, struct topo_host *h, int first, int last)
{
    uint32_t *todo = topo_take(t, (h->device_count + (size_t)1) * sizeof(*todo));

    for (int what = first; what <= last && h->link; what++)
        parts_of(h, what, todo);
}

void topo_bridges_find(struct topo *t, struct topo_host *h)
{
    parts_find(t, h, 1, 2);
}

void topo_islands_find(struct topo *t, struct topo_host *h)
{
    if (h->links_known)
        parts_find(t, h, 0, 0);
}

struct topo_ask *topo_ask_add(struct topo *t, enum topo_ask_kind kind, const char *name,
                              uint32_t line)
{
    t->ask = out_grow(t->ask, t->ask_count, &t->ask_limit, sizeof(*t->ask));

    struct topo_ask *a = &t->ask[t->ask_count++];
    *a = (struct topo_ask){
        .kind = kind,
        .name = topo_keep_some(t, name),
        .tier = TOPO_NONE,
        .count = TOPO_NONE,
        .gpu_milli = TOPO_NONE,
        .quota = TOPO_NONE,
        .limit = TOPO_NONE,
        .interval_seconds = TOPO_NONE,
        .line = line,
    };
    return a;
}

static int open_page(struct topo *t, struct topo **ret_topo, int code, const struct page *p,
                     struct err *err)
{
    if (!code)
        code = topo_read(t, p, err);
    if (code)
        topo_close(t);
    else
        *ret_topo = t;
    return code;
}

int topo_open(struct topo **ret_topo, const char *path, struct err *err)
{
    struct topo *t = memory_zeroed(sizeof(*t));
    struct page p = {0};

    t->file = topo_keep_string(t, strcmp(path, "-") == 0 ? "standard input" : path);
    return open_page(t, ret_topo, topo_page_open(t, path, &p, err), &p, err);
}

int topo_open_text(struct topo **ret_topo, const char *name, const char *text, size_t length,
                   struct err *err)
{
    struct topo *t = memory_zeroed(sizeof(*t));
    struct page p = {0};

    t->file = topo_keep_string(t, name);
    return open_page(t, ret_topo, topo_page_text(t, text, length, &p, err), &p, err);
}

void topo_close(struct topo *t)
{
    if (!t)
        return;
    for (size_t f = 0; f < t->fabric_count; f++) {
        free(t->fabric[f].domain);
        free(t->fabric[f].host);
        free(t->fabric[f].cable);
    }
    if (t->known)
        topo_names_free(t->known);
    free(t->known);
    free(t->host);
    free(t->fabric);
    free(t->ask);
    free(t->remark);
    while (t->block) {
        struct topo_block *next = t->block->next;

        free(t->block);
        t->block = next;
    }
    free(t);
}
