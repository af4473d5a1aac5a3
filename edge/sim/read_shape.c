#include "edge/sim/read_parts.h"

#include <string.h>

#define LINK_MAX 65535
#define NO_PART  0xFFu

/* Adds the devices of a list to a part; each device is in one part at most. */
static bool part_devices(struct reader *r, const struct world_shape *s, const struct tree *list,
                         uint8_t part, uint8_t of[WORLD_GPUS_MAX])
{
    if (!reader_is(r, list, TREE_LIST, "a list of device numbers"))
        return false;
    if (list->count == 0)
        return reader_wrong(r, list, "at least one device number");
    for (const struct tree *t = list->child; t; t = t->next) {
        int64_t device;

        if (!reader_number(r, t, 0, (struct span){0, s->gpus - 1, 0}, &device))
            return false;
        if (of[device] != NO_PART)
            return reader_say(r, t->line, "found device %d in two parts, expected one",
                              (int)device);
        of[device] = part;
    }
    return true;
}

static bool parts(struct reader *r, const struct world_shape *s, const struct tree *list,
                  uint8_t of[WORLD_GPUS_MAX], uint8_t *count)
{
    for (const struct tree *t = list->child; t; t = t->next)
        if (!part_devices(r, s, t, (*count)++, of))
            return false;
    return !r->code;
}

static bool switches(struct reader *r, struct world_shape *s, const struct tree *list)
{
    static const char *const keys[] = {"gpus", "nics", NULL};

    for (const struct tree *t = list->child; t; t = t->next) {
        if (!reader_is(r, t, TREE_MAP, "a map with gpus and nics") ||
            !reader_keys(r, t, keys, NULL))
            return false;

        const struct tree *gpus = reader_get(t, "gpus");
        if (!gpus)
            return reader_absent(r, t, "gpus", "the device numbers of the switch");
        if (!part_devices(r, s, gpus, s->pcie_count, s->pcie))
            return false;
        s->pcie_nics[s->pcie_count++] =
            (uint8_t)reader_int(r, t, "nics", (struct span){0, UINT8_MAX, 0});
    }
    return !r->code;
}

static bool link_row(struct reader *r, struct world_shape *s, unsigned from, const struct tree *row)
{
    unsigned to = 0;

    if (!reader_is(r, row, TREE_LIST, "a list of numbers"))
        return false;
    if (row->count != s->gpus)
        return reader_say(r, row->line, "found a row of %u links, expected %u, one per device",
                          row->count, s->gpus);
    for (const struct tree *t = row->child; t; t = t->next, to++) {
        int64_t link;

        if (!reader_number(r, t, 0, (struct span){0, LINK_MAX, 0}, &link))
            return false;
        s->link[from][to] = (uint32_t)link;
        if (from == to && link != 0)
            return reader_say(r, t->line, "found a link of device %u to itself, expected 0", from);
        if (to < from && s->link[to][from] != s->link[from][to])
            return reader_say(r, t->line,
                              "found links %u to %u: %u and back: %u, expected the same", to, from,
                              s->link[to][from], s->link[from][to]);
    }
    return true;
}

static bool links(struct reader *r, struct world_shape *s, const struct tree *map)
{
    static const char *const units[] = {"GBps", "links", NULL};
    const struct tree *list = reader_list(r, map, "links");
    unsigned from = 0;

    if (!list)
        return !r->code;
    if (list->count != s->gpus)
        return reader_say(r, list->line, "found %u rows of links, expected %u, one per device",
                          list->count, s->gpus);
    s->links_known = true;
    s->links_in_gbps = reader_choice(r, map, "unit", units, READ_REQUIRED) == 0;
    for (const struct tree *t = list->child; t; t = t->next)
        if (!link_row(r, s, from++, t))
            return false;
    return !r->code;
}

/* The connected parts of the links: every device takes the lowest number it can reach. */
static void islands_from_links(struct world_shape *s)
{
    for (unsigned d = 0; d < s->gpus; d++) {
        uint16_t part = 0, next = (uint16_t)(1u << d);

        if (s->island[d] != NO_PART)
            continue;
        while (next != part) {
            part = next;
            for (unsigned a = 0; a < s->gpus; a++)
                for (unsigned b = 0; part >> a & 1 && b < s->gpus; b++)
                    if (s->link[a][b])
                        next |= (uint16_t)(1u << b);
        }
        for (unsigned a = 0; a < s->gpus; a++)
            if (part >> a & 1)
                s->island[a] = s->island_count;
        s->island_count++;
    }
}

bool read_shape(struct reader *r, const struct tree *map, const struct tree *name)
{
    static const char *const keys[] = {"shape",   "kind", "gpus", "links", "unit",
                                       "islands", "numa", "pcie", NULL};
    struct world *w = r->w;
    const struct tree *list;

    if (!reader_keys(r, map, keys, NULL))
        return false;
    const char *text = name->kind == TREE_MAP ? name->key : name->text;
    if (world_shape_find(w, text) != WORLD_NONE)
        return reader_say(r, map->line, "found shape \"%s\" a second time, expected it once", text);

    struct world_shape *s = world_row(w, &w->shape, &w->shape_count, sizeof(*s));
    s->name = world_string(w, text, strlen(text));
    s->gpus = (uint8_t)reader_int(r, map, "gpus", (struct span){1, WORLD_GPUS_MAX, READ_REQUIRED});
    memset(s->island, NO_PART, sizeof(s->island));
    memset(s->numa, NO_PART, sizeof(s->numa));
    memset(s->pcie, NO_PART, sizeof(s->pcie));
    if (r->code || !links(r, s, map))
        return false;
    list = reader_list(r, map, "islands");
    if (list)
        (void)parts(r, s, list, s->island, &s->island_count);
    else if (s->links_known)
        islands_from_links(s);
    list = reader_list(r, map, "numa");
    if (list)
        (void)parts(r, s, list, s->numa, &s->numa_count);
    list = reader_list(r, map, "pcie");
    if (list)
        (void)switches(r, s, list);
    return !r->code;
}

static bool profile(struct reader *r, struct world_mig *mig, const struct tree *map)
{
    static const char *const keys[] = {"slots", "at", NULL};
    struct world *w = r->w;
    const struct tree *at;
    int64_t first;

    if (!reader_is(r, map, TREE_MAP, "a map with slots and at") || !reader_keys(r, map, keys, NULL))
        return false;
    if (map->key[0] == '\0')
        return reader_say(r, map->line, "found a profile without a name, expected one");

    uint32_t name = world_mig_name(w, map->key);
    struct world_profile *p = world_row(w, &mig->profile, &mig->profile_count, sizeof(*p));
    p->name = w->mig_name[name];
    p->slots = (uint8_t)reader_int(r, map, "slots", (struct span){1, mig->slots, READ_REQUIRED});
    at = reader_list(r, map, "at");
    if (!at)
        return r->code ? false : reader_absent(r, map, "at", "the legal first slots");
    for (const struct tree *t = at->child; t; t = t->next) {
        if (!reader_number(r, t, 0, (struct span){0, mig->slots - p->slots, 0}, &first))
            return false;
        if (p->starts >> first & 1)
            return reader_say(r, t->line, "found first slot %d twice, expected it once",
                              (int)first);
        p->starts |= 1u << first;
    }
    return !r->code;
}

bool read_mig(struct reader *r, const struct tree *map)
{
    static const char *const keys[] = {"kind", "model", "slots", "profiles", NULL};
    struct world *w = r->w;
    const char *model = reader_name(r, map, "model", true);

    if (!model || !reader_keys(r, map, keys, NULL))
        return false;

    uint32_t id = world_model(w, model);
    for (uint32_t m = 0; m < w->mig_count; m++)
        if (w->mig[m].model == id)
            return reader_say(r, map->line, "found a second mig of model \"%s\", expected one",
                              model);

    const struct tree *profiles = reader_map(r, map, "profiles");
    if (!profiles)
        return r->code ? false : reader_absent(r, map, "profiles", "the profiles of the model");

    struct world_mig *mig = world_row(w, &w->mig, &w->mig_count, sizeof(*mig));
    mig->model = id;
    mig->slots = (uint8_t)reader_int(r, map, "slots", (struct span){1, 32, READ_REQUIRED});
    for (const struct tree *t = profiles->child; t && !r->code; t = t->next)
        (void)profile(r, mig, t);
    return !r->code;
}
