/* Fabrics and asks in statements. */
#include "edge/base/text.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

#define FABRICS_SHOWN 16u
#define DOMAINS_SHOWN 16u
#define ASKS_SHOWN    16u
#define DEPTHS_SHOWN  12u

static void out_safe(struct out *out, const char *text)
{
    char shown[256];

    out_add(out, text_shown(shown, sizeof(shown), text ? text : "?", text ? strlen(text) : 1));
}

static const char *fabric_word(enum topo_fabric_kind kind)
{
    static const char *const word[] = {
        [TOPO_FABRIC_TREE] = "tree",    [TOPO_FABRIC_BLOCK] = "block",
        [TOPO_FABRIC_FLAT] = "flat",    [TOPO_FABRIC_RING] = "ring",
        [TOPO_FABRIC_TORUS] = "torus",  [TOPO_FABRIC_LINKS] = "links",
        [TOPO_FABRIC_CLOS] = "cables",  [TOPO_FABRIC_CELLS] = "cells",
        [TOPO_FABRIC_NAMES] = "levels",
    };

    return word[kind];
}

/* "1 > 2 > 20 domains; 400 hosts, 20 in each of 20" */
static void out_shape(struct out *out, const struct topo_fabric *f)
{
    uint32_t at_depth[DEPTHS_SHOWN] = {0}, depths = 0, with = 0, least = UINT32_MAX, most = 0;

    for (uint32_t d = 0; d < f->domain_count; d++) {
        const struct topo_domain *domain = &f->domain[d];
        uint32_t depth = domain->depth < DEPTHS_SHOWN ? domain->depth : DEPTHS_SHOWN - 1;

        at_depth[depth]++;
        depths = depth + 1 > depths ? depth + 1 : depths;
        if (domain->hosts == 0)
            continue;
        with++;
        least = domain->hosts < least ? domain->hosts : least;
        most = domain->hosts > most ? domain->hosts : most;
    }
    for (uint32_t i = 0; i < depths; i++)
        out_format(out, "%s%u", i ? " > " : "", at_depth[i]);
    out_format(out, " domain%s; %u host%s", f->domain_count == 1 ? "" : "s", f->host_count,
               f->host_count == 1 ? "" : "s");
    if (with > 1 && least == most)
        out_format(out, ", %u in each of %u", least, with);
    else if (with > 1)
        out_format(out, ", %u to %u in each of %u", least, most, with);
}

static void out_domain(struct out *out, const struct topo_fabric *f, uint32_t d)
{
    const struct topo_domain *domain = &f->domain[d];
    const char *first = NULL, *last = NULL;

    out_add(out, "; ");
    if (domain->level != TOPO_NONE && (uint32_t)domain->level < f->level_count)
        out_safe(out, f->level[domain->level]);
    if (domain->name && domain->level != TOPO_NONE)
        out_char(out, ' ');
    if (domain->name || domain->level == TOPO_NONE)
        out_safe(out, domain->name);
    if (domain->tier != TOPO_NONE)
        out_format(out, " tier %lld", (long long)domain->tier);
    if (domain->parent != TOPO_NONE) {
        out_add(out, " in ");
        out_safe(out, f->domain[domain->parent].name);
    }
    if (domain->unsorted)
        out_add(out, " (no domain)");
    if (domain->by_labels)
        out_add(out, " by labels");
    for (uint32_t h = 0; h < f->host_count; h++)
        if (f->host[h].domain == d) {
            first = first ? first : f->host[h].name;
            last = f->host[h].name;
        }
    if (!first)
        return;
    out_add(out, " {");
    out_safe(out, first);
    if (domain->hosts > 1) {
        out_add(out, domain->hosts == 2 ? "," : "..");
        out_safe(out, last);
    }
    out_char(out, '}');
}

/* Hosts by name: one may have places at several leaves. */
static uint32_t hosts_of(const struct topo_fabric *f)
{
    struct topo_names names = {0};
    uint32_t count;
    bool is_new;

    for (uint32_t h = 0; h < f->host_count; h++)
        (void)topo_names_put(&names, f->host[h].name, h, &is_new);
    count = names.count;
    topo_names_free(&names);
    return count;
}

/* Leaf and spine by their number; cables and ports. */
static void out_clos(struct out *out, const struct topo_fabric *f)
{
    uint32_t cables = 0, ports = 0;

    for (uint32_t h = 0; h < f->host_count; h++)
        ports += f->host[h].ports;
    for (uint32_t l = f->level_count; l-- > 0;) {
        uint32_t count = 0;

        for (uint32_t d = 0; d < f->domain_count; d++)
            count += f->domain[d].level == (int32_t)l;
        out_format(out, "%u %s, ", count, f->level[l]);
    }
    for (uint32_t c = 0; c < f->cable_count; c++)
        cables += f->cable[c].count;
    out_format(out, "%u cables between %u pairs of switches; %u hosts on %u leaf ports", cables,
               f->cable_count, hosts_of(f), ports);
    if (f->unnamed_ports)
        out_format(out, "; %u adapters without a host's name", f->unnamed_ports);
    if (f->other_ports)
        out_format(out, "; %u ports to no host", f->other_ports);
}

static void out_fabric(struct out *out, const struct topo_fabric *f)
{
    out_add(out, fabric_word(f->kind));
    if (f->name) {
        out_char(out, ' ');
        out_safe(out, f->name);
    }
    out_format(out, "%s: ", f->is_default ? " (default)" : "");
    if (f->kind == TOPO_FABRIC_CLOS) {
        out_clos(out, f);
    } else {
        if (f->domain_count)
            out_shape(out, f);
        for (uint32_t l = 0; l < f->level_count; l++) {
            out_format(out, "%s", l ? " > " : f->domain_count ? "; levels " : "");
            out_safe(out, f->level[l]);
        }
        if (f->domain_count == 0 && f->level_count == 0)
            out_add(out, "no domains");
    }
    for (uint32_t s = 0; s < f->size_count; s++)
        out_format(out, "%s%lld", s ? "," : "; sizes ", (long long)f->size[s]);
    if (f->dim[0] != TOPO_NONE)
        out_format(out, "; %lldx%lldx%lld", (long long)f->dim[0], (long long)f->dim[1],
                   (long long)f->dim[2]);
    if (f->domain_count <= DOMAINS_SHOWN && f->kind != TOPO_FABRIC_CLOS)
        for (uint32_t d = 0; d < f->domain_count; d++)
            out_domain(out, f, d);
    if (!f->complete)
        out_add(out, "; incomplete");
}

void topo_text_fabrics(const struct topo *t, struct out *out)
{
    for (size_t f = 0; f < t->fabric_count; f++) {
        if (out->length)
            out_add(out, " | ");
        if (f == FABRICS_SHOWN) {
            out_add(out, "and more fabrics");
            break;
        }
        out_fabric(out, &t->fabric[f]);
    }
}

static void out_milli(struct out *out, const char *title, int64_t milli, const char *unit)
{
    if (milli == TOPO_NONE)
        return;
    out_add(out, title);
    if (milli == TOPO_UNLIMITED)
        out_add(out, "unlimited");
    else
        out_decimal(out, milli, 3);
    out_add(out, unit);
}

static void out_word(struct out *out, const char *title, const char *word)
{
    if (!word)
        return;
    out_add(out, title);
    out_safe(out, word);
}

static void out_ask(struct out *out, const struct topo_ask *a)
{
    static const char *const word[] = {
        [TOPO_ASK_POD] = "pod",
        [TOPO_ASK_GROUP] = "group",
        [TOPO_ASK_QUEUE] = "queue",
        [TOPO_ASK_SOURCE] = "source",
    };

    out_add(out, word[a->kind]);
    out_word(out, " ", a->name);
    out_word(out, " of ", a->parent);
    out_char(out, ':');
    out_word(out, " ", a->mode);
    out_word(out, " in ", a->topology);
    out_word(out, " at ", a->level);
    if (a->tier != TOPO_NONE)
        out_format(out, " up to tier %lld", (long long)a->tier);
    if (a->count != TOPO_NONE)
        out_format(out, " x%lld", (long long)a->count);
    out_word(out, " slice ", a->profile);
    out_milli(out, " ", a->gpu_milli, " GPU");
    out_milli(out, " quota ", a->quota, "");
    out_milli(out, " limit ", a->limit, "");
    if (a->interval_seconds != TOPO_NONE)
        out_format(out, " every %lld s", (long long)a->interval_seconds);
}

void topo_text_asks(const struct topo *t, struct out *out)
{
    for (size_t a = 0; a < t->ask_count; a++) {
        if (out->length)
            out_add(out, " | ");
        if (a == ASKS_SHOWN) {
            out_add(out, "and more asks");
            break;
        }
        out_ask(out, &t->ask[a]);
    }
}
