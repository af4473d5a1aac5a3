#include "edge/topo/text_parts.h"

#include <stdlib.h>
#include <string.h>

bool topo_text_same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

void topo_text_set(struct out *out, const struct topo_host *h, uint32_t like, pick_fn *pick)
{
    bool first = true;

    out_char(out, '{');
    for (uint32_t d = 0; d < h->gpu_count; d++) {
        uint32_t from = d;

        if (!pick(h, d, like))
            continue;
        while (d + 1 < h->gpu_count && pick(h, d + 1, like))
            d++;
        if (!first)
            out_char(out, ',');
        first = false;
        out_integer(out, from);
        if (d > from) {
            out_char(out, '-');
            out_integer(out, d);
        }
    }
    out_char(out, '}');
}

static bool same_island(const struct topo_host *h, uint32_t d, uint32_t like)
{
    return h->device[d].island == h->device[like].island;
}

static bool same_bridge(const struct topo_host *h, uint32_t d, uint32_t like)
{
    return h->device[d].bridge == h->device[like].bridge;
}

static bool same_root(const struct topo_host *h, uint32_t d, uint32_t like)
{
    return h->device[d].root == h->device[like].root;
}

/* True if no earlier accelerator is like d. */
bool topo_text_first(const struct topo_host *h, uint32_t d, pick_fn *pick)
{
    for (uint32_t e = 0; e < d; e++)
        if (pick(h, e, d))
            return false;
    return true;
}

static uint32_t members(const struct topo_host *h, uint32_t like, pick_fn *pick)
{
    uint32_t count = 0;

    for (uint32_t d = 0; d < h->gpu_count; d++)
        count += pick(h, d, like);
    return count;
}

/* "; islands {0-3} {4-7}": parts of at least two accelerators. */
static bool out_parts(struct out *out, const struct topo_host *h, const char *title, int what,
                      pick_fn *pick)
{
    bool any = false;

    for (uint32_t d = 0; d < h->gpu_count; d++) {
        const struct topo_device *device = &h->device[d];
        int32_t part = what == 0 ? device->island : what == 1 ? device->bridge : device->root;

        if (part == TOPO_NONE || !topo_text_first(h, d, pick) || members(h, d, pick) < 2)
            continue;
        out_format(out, "%s", any ? " " : title);
        any = true;
        topo_text_set(out, h, d, pick);
    }
    return any;
}

static bool same_link(const struct topo_link *a, const struct topo_link *b)
{
    return a->path == b->path && a->links == b->links && a->mbyte_s == b->mbyte_s &&
           a->weight == b->weight && a->hops == b->hops;
}

/* NV4, XGMI x2, NV 40000 MB/s */
static void out_link(struct out *out, const struct topo_link *link)
{
    out_add(out, topo_path_name(link->path));
    if (link->path == TOPO_PATH_NVLINK && link->links)
        out_integer(out, link->links);
    else if (link->links)
        out_format(out, " x%u", link->links);
    if (link->mbyte_s)
        out_format(out, " %u MB/s", link->mbyte_s);
    if (link->weight)
        out_format(out, " weight %u", link->weight);
    if (link->hops)
        out_format(out, " %u hop%s", link->hops, link->hops == 1 ? "" : "s");
}

/* All pairs with this very link: "NV1 on 0-1 0-2", "NV12 on all 28 pairs". */
static void out_pairs(struct out *out, const struct topo_host *h, const struct topo_link *link)
{
    uint32_t count = 0, all = h->gpu_count * (h->gpu_count - 1) / 2;

    for (uint32_t a = 0; a < h->gpu_count; a++)
        for (uint32_t b = a + 1; b < h->gpu_count; b++)
            count += same_link(topo_link(h, a, b), link);
    out_add(out, "; ");
    out_link(out, link);
    out_add(out, " on");
    if (count == all) {
        out_format(out, " all %u pair%s", all, all == 1 ? "" : "s");
        return;
    }
    for (uint32_t a = 0; a < h->gpu_count; a++)
        for (uint32_t b = a + 1; b < h->gpu_count; b++)
            if (same_link(topo_link(h, a, b), link))
                out_format(out, " %u-%u", a, b);
}

static int by_link(const void *x, const void *y)
{
    const struct topo_link *a = x, *b = y;

    if (a->path != b->path)
        return a->path < b->path ? -1 : 1;
    if (a->links != b->links)
        return a->links < b->links ? -1 : 1;
    if (a->mbyte_s != b->mbyte_s)
        return a->mbyte_s < b->mbyte_s ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return a->hops < b->hops ? -1 : a->hops > b->hops;
}

/* The different links between accelerators that islands are made of; false: there are none. */
static bool out_links(struct out *out, const struct topo_host *h)
{
    struct topo_link kind[32];
    uint32_t kinds = 0;

    for (uint32_t a = 0; a < h->gpu_count; a++)
        for (uint32_t b = a + 1; b < h->gpu_count; b++) {
            const struct topo_link *link = topo_link(h, a, b);
            bool known = !(topo_path_joins(link->path) || link->weight || link->hops);

            for (uint32_t k = 0; k < kinds && !known; k++)
                known = same_link(&kind[k], link);
            if (!known && kinds < sizeof(kind) / sizeof(kind[0]))
                kind[kinds++] = *link;
        }
    qsort(kind, kinds, sizeof(kind[0]), by_link);
    for (uint32_t k = 0; k < kinds; k++)
        out_pairs(out, h, &kind[k]);
    return kinds > 0;
}

/* "; NODE x13, PHB x3": the other paths by name. */
static void out_paths(struct out *out, const struct topo_host *h)
{
    static const enum topo_path order[] = {TOPO_PATH_NODE, TOPO_PATH_PCIE, TOPO_PATH_PHB,
                                           TOPO_PATH_PIX,  TOPO_PATH_PXB,  TOPO_PATH_SYS};
    const char *between = "; ";

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        uint32_t count = 0;

        for (uint32_t a = 0; a < h->gpu_count; a++)
            for (uint32_t b = a + 1; b < h->gpu_count; b++)
                count += topo_link(h, a, b)->path == order[i];
        if (count == 0)
            continue;
        out_format(out, "%s%s x%u", between, topo_path_name(order[i]), count);
        between = ", ";
    }
}

/* "; P2P GNS on 0-2 1-2": the abilities by their words, in the order of the pairs. */
static void out_p2p(struct out *out, const struct topo_host *h)
{
    uint32_t all = h->gpu_count * (h->gpu_count - 1) / 2;

    for (uint32_t first = 0; h->gpu_count > 1 && first < h->gpu_count * h->gpu_count; first++) {
        const char *word = topo_link(h, first / h->gpu_count, first % h->gpu_count)->p2p;
        bool told = first / h->gpu_count >= first % h->gpu_count || !word;
        uint32_t count = 0;

        for (uint32_t at = 0; at < first && !told; at++)
            told = topo_text_same(topo_link(h, at / h->gpu_count, at % h->gpu_count)->p2p, word);
        if (told)
            continue;
        for (uint32_t a = 0; a < h->gpu_count; a++)
            for (uint32_t b = a + 1; b < h->gpu_count; b++)
                count += topo_text_same(topo_link(h, a, b)->p2p, word);
        out_format(out, "; P2P %s on", word);
        if (count == all)
            out_format(out, " all %u pair%s", all, all == 1 ? "" : "s");
        for (uint32_t a = 0; a < h->gpu_count && count < all; a++)
            for (uint32_t b = a + 1; b < h->gpu_count; b++)
                if (topo_text_same(topo_link(h, a, b)->p2p, word))
                    out_format(out, " %u-%u", a, b);
    }
}

/* Links from accelerators to switches: "18 links of each GPU to 4 switches". */
static bool out_switches(struct out *out, const struct topo_host *h)
{
    uint32_t switches = 0;

    for (uint32_t d = h->gpu_count; d < h->device_count; d++)
        switches += h->device[d].kind == TOPO_DEVICE_SWITCH && h->device[d].island != TOPO_NONE;
    if (switches == 0)
        return false;
    out_add(out, "; ");
    bool equal = h->gpu_count && h->device[0].links_out;
    for (uint32_t d = 1; d < h->gpu_count && equal; d++)
        equal = h->device[d].links_out == h->device[0].links_out;
    if (equal) {
        topo_text_many(out, h->device[0].links_out, "link");
        out_add(out, " of each GPU to ");
    } else {
        out_add(out, "links to ");
    }
    out_format(out, "%u switch%s", switches, switches == 1 ? "" : "es");
    return true;
}

static void out_islands(struct out *out, const struct topo_host *h, bool linked)
{
    bool first = true;

    if (!out_parts(out, h, "; islands ", 0, same_island)) {
        if (linked)
            out_add(out, "; no islands");
        return;
    }
    for (uint32_t d = 0; d < h->gpu_count; d++) {
        if (h->device[d].island != TOPO_NONE)
            continue;
        out_format(out, "%s%u", first ? "; outside any island: " : ",", d);
        first = false;
    }
}

void topo_text_between(struct out *out, const struct topo *t, const struct topo_host *h)
{
    bool linked, switched;

    if (h->abilities) {
        out_add(out, "; no link information");
        out_p2p(out, h);
        return;
    }
    if (!h->link || h->gpu_count == 0)
        return;
    linked = out_links(out, h);
    switched = out_switches(out, h);
    if (h->self_links)
        out_add(out, "; links of a GPU to itself ignored");
    if (!h->links_known)
        out_add(out, t->kind == TOPO_MATRIX || t->kind == TOPO_MATRIX_MP
                         ? "; links out of sight"
                         : "; no GPU links described");
    else if (!linked && !switched)
        out_add(out, "; no NVLink");
    if (!linked && !switched)
        out_paths(out, h);
    if (h->links_known)
        out_islands(out, h, linked);
    out_p2p(out, h);
}

static bool bridges_equal_roots(const struct topo_host *h)
{
    for (uint32_t a = 0; a < h->gpu_count; a++)
        for (uint32_t b = 0; b < h->gpu_count; b++) {
            bool bridge = h->device[a].bridge != TOPO_NONE && same_bridge(h, a, b);
            bool root = h->device[a].root != TOPO_NONE && same_root(h, a, b);

            if (bridge != root)
                return false;
        }
    return true;
}

void topo_text_bridges(const struct topo_host *h, struct out *out)
{
    if (!h->link)
        return;
    (void)out_parts(out, h, "; PCIe switches ", 1, same_bridge);
    if (!bridges_equal_roots(h))
        (void)out_parts(out, h, "; PCIe trees ", 2, same_root);
}
