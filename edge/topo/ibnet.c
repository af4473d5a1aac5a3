/* ibnetdiscover: records of switches and adapters, a line per port. Leaf and spine follow from the
 * cables: a switch with adapters is a leaf, whatever its name. */
#include "edge/base/memory.h"
#include "edge/topo/topo_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIERS_MAX 8u

struct ibnet {
    struct topo *t;
    struct topo_fabric *f;
    struct topo_names switches; /* by GUID */
    struct topo_names places;   /* by domain and host */
    struct topo_names cables;   /* by both domains */
    uint32_t now;               /* the switch of the record, or UINT32_MAX */
    uint32_t line, bad_lines;
    bool *adapters; /* of a switch: some port has one */
    size_t adapters_limit;
    uint32_t *back; /* cables as their second end lists them */
    size_t back_limit;
    bool full;
};

struct quoted {
    const char *text;
    size_t length;
};

/* What stands between the next two quotes from at on; *ret_end: behind them. */
static bool quoted(const char *at, struct quoted *ret, const char **ret_end)
{
    const char *from = strchr(at, '"');
    const char *to = from ? strchr(from + 1, '"') : NULL;

    if (!to)
        return false;
    *ret = (struct quoted){from + 1, (size_t)(to - from - 1)};
    *ret_end = to + 1;
    return true;
}

/* "MF0;NAME:MODEL/U1" is NAME; any other description is the name. */
static const char *switch_name(struct topo *t, struct quoted text)
{
    const char *colon = memrchr(text.text, ':', text.length);
    const char *semi = memchr(text.text, ';', text.length);

    if (semi && colon && colon > semi + 1)
        return topo_keep(t, semi + 1, (size_t)(colon - semi - 1));
    return topo_keep(t, text.text, text.length < 253 ? text.length : 253);
}

static uint32_t switch_get(struct ibnet *n, struct quoted guid, struct quoted description)
{
    bool is_new;
    uint32_t d = topo_names_put(&n->switches, topo_keep(n->t, guid.text, guid.length),
                                n->f->domain_count, &is_new);

    if (is_new && !topo_domain_add(n->t, n->f, switch_name(n->t, description), 0, &d)) {
        n->full = true;
        return UINT32_MAX;
    }
    n->adapters = out_grow(n->adapters, d, &n->adapters_limit, sizeof(*n->adapters));
    return d;
}

/* A key of two numbers or a number and a name. */
static const char *key_of(struct topo *t, uint32_t number, const char *name, size_t length)
{
    struct out key = {0};
    const char *kept;

    out_integer(&key, number);
    out_char(&key, ' ');
    out_bytes(&key, name, length);
    kept = topo_keep(t, key.bytes, key.length);
    out_free(&key);
    return kept;
}

static void add_cable(struct ibnet *n, uint32_t to)
{
    uint32_t a = n->now < to ? n->now : to, b = n->now < to ? to : n->now;
    char text[16];
    bool is_new;

    if (a == b)
        return;
    int length = snprintf(text, sizeof(text), "%u", b);
    uint32_t c = topo_names_put(&n->cables, key_of(n->t, a, text, (size_t)length),
                                n->f->cable_count, &is_new);
    if (is_new) {
        n->back = out_grow(n->back, c, &n->back_limit, sizeof(*n->back));
        n->f->cable = out_grow(n->f->cable, c, &n->f->cable_limit, sizeof(*n->f->cable));
        n->f->cable[n->f->cable_count++] = (struct topo_cable){.a = a, .b = b};
    }
    if (n->now == a)
        n->f->cable[c].count++;
    else
        n->back[c]++;
}

static bool contains(struct quoted text, const char *word)
{
    return memmem(text.text, text.length, word, strlen(word)) != NULL;
}

static void add_adapter(struct ibnet *n, struct quoted text)
{
    size_t length = 0;
    bool is_new;

    if (contains(text, "Aggregation Node")) {
        n->f->other_ports++;
        return;
    }
    n->adapters[n->now] = true;
    while (length < text.length && text.text[length] != ' ')
        length++;
    if (length == 0 || length > 253 || contains(text, "Mellanox Technologies") ||
        contains(text, "NVIDIA Technologies")) {
        n->f->unnamed_ports++;
        return;
    }
    const char *key = key_of(n->t, n->now, text.text, length);
    uint32_t place = topo_names_put(&n->places, key, n->f->host_count, &is_new);
    if (is_new && !topo_place_add(n->t, n->f, topo_keep(n->t, text.text, length), n->now, n->line))
        n->full = true;
    else
        n->f->host[place].ports++;
}

/* [35]  "S-0200000000000014"[32]   # "MF0;A10-SU1-IBSPINE-02:MQM9701/U1" lid 236 4xNDR */
static void read_port(struct ibnet *n, const char *line)
{
    struct quoted guid, text;
    const char *at;

    if (n->now == UINT32_MAX)
        return;
    if (!quoted(line, &guid, &at) || !quoted(at, &text, &at) || guid.length < 3) {
        if (n->bad_lines++ == 0)
            topo_remark(n->t, n->line, "a port without its two names in quotes is left out");
        n->f->complete = false;
    } else if (memcmp(guid.text, "S-", 2) == 0) {
        uint32_t to = switch_get(n, guid, text);

        if (to != UINT32_MAX)
            add_cable(n, to);
    } else if (memcmp(guid.text, "H-", 2) == 0) {
        add_adapter(n, text);
    }
}

static void read_record(struct ibnet *n, const char *line)
{
    struct quoted guid, text;
    const char *at;

    if (!quoted(line, &guid, &at) || guid.length < 3) {
        topo_remark(n->t, n->line, "a switch without its name in quotes is left out");
        n->f->complete = false;
        return;
    }
    if (!quoted(at, &text, &at))
        text = guid;
    n->now = switch_get(n, guid, text);
    if (n->now == UINT32_MAX)
        return;
    if (n->f->domain[n->now].line != 0) {
        topo_remark(n->t, n->line, "a second record of %s is left out",
                    SHOWN_N(guid.text, guid.length));
        n->now = UINT32_MAX;
        return;
    }
    n->f->domain[n->now].line = n->line;
}

/* The distance of every switch from the leaves, and the names of levels. */
static void find_tiers(struct ibnet *n)
{
    static const char *const name[] = {"leaf", "spine", "core"};
    struct topo_fabric *f = n->f;
    int64_t tier = 0;
    bool more = true;

    for (uint32_t d = 0; d < f->domain_count; d++)
        if (n->adapters && n->adapters[d])
            f->domain[d].tier = 0;
    for (; more && tier + 1 < (int64_t)TIERS_MAX; tier++) {
        more = false;
        for (uint32_t c = 0; c < f->cable_count; c++) {
            struct topo_domain *a = &f->domain[f->cable[c].a], *b = &f->domain[f->cable[c].b];

            if (a->tier == tier && b->tier == TOPO_NONE)
                b->tier = tier + 1;
            else if (b->tier == tier && a->tier == TOPO_NONE)
                a->tier = tier + 1;
            else
                continue;
            more = true;
        }
    }
    f->level = topo_take(n->t, TIERS_MAX * sizeof(*f->level));
    for (uint32_t d = 0; d < f->domain_count; d++)
        if (f->domain[d].tier >= (int64_t)f->level_count)
            f->level_count = (uint32_t)f->domain[d].tier + 1;
    for (uint32_t l = 0; l < f->level_count; l++)
        f->level[f->level_count - 1 - l] = l < 3 ? name[l] : "beyond core";
    for (uint32_t d = 0; d < f->domain_count; d++)
        if (f->domain[d].tier != TOPO_NONE)
            f->domain[d].level = (int32_t)f->level_count - 1 - (int32_t)f->domain[d].tier;
}

static void finish(struct ibnet *n)
{
    uint32_t unrecorded = 0;

    find_tiers(n);
    /* Each end lists each cable; where only one is recorded, that one counts. */
    for (uint32_t c = 0; c < n->f->cable_count; c++)
        if (n->back && n->back[c] > n->f->cable[c].count)
            n->f->cable[c].count = n->back[c];
    for (uint32_t d = 0; d < n->f->domain_count; d++)
        unrecorded += n->f->domain[d].line == 0;
    if (unrecorded) {
        topo_remark(n->t, 0, "%u switches are cabled and have no record: the file is a part",
                    unrecorded);
        n->f->complete = false;
    }
    if (n->f->unnamed_ports)
        topo_remark(n->t, 0, "%u adapters do not name their host", n->f->unnamed_ports);
    if (n->f->other_ports)
        topo_remark(n->t, 0, "%u ports lead to aggregation nodes of switches, not to hosts",
                    n->f->other_ports);
    topo_fabric_close(n->t, n->f);
}

int topo_read_ibnet(struct topo *t, const struct page *p, struct err *err)
{
    struct ibnet n = {.t = t, .now = UINT32_MAX};
    int code = ERR_NONE;

    n.f = topo_fabric_add(t, TOPO_FABRIC_CLOS, NULL, p->first_line);
    for (uint32_t i = 0; i < p->count && !n.full; i++) {
        const char *line = p->line[i].text;

        n.line = p->first_line + i;
        if (strncmp(line, "Switch", 6) == 0)
            read_record(&n, line);
        else if (strncmp(line, "Ca", 2) == 0 || strncmp(line, "Rt", 2) == 0)
            n.now = UINT32_MAX;
        else if (line[0] == '[')
            read_port(&n, line);
    }
    if (n.full)
        code = topo_bad(err, t, n.line, "found more than %u names, expected fewer", TOPO_NAMES_MAX);
    else if (n.f->domain_count == 0)
        code = topo_bad(err, t, 0, "found no switch, expected the output of ibnetdiscover");
    else
        finish(&n);
    free(n.adapters);
    free(n.back);
    topo_names_free(&n.switches);
    topo_names_free(&n.places);
    topo_names_free(&n.cables);
    return code;
}
