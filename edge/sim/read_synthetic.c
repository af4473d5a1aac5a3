#include "edge/sim/read.h"

#include "edge/base/text.h"
#include "edge/sim/read_parts.h"

#include <stdio.h>
#include <string.h>

#define HOSTS_MAX READ_NODES_MAX

/* One cluster of the text: levels above the host from large to small, then the inside of a host. */
struct recipe {
    uint32_t level_count;
    char level[WORLD_LEVELS_MAX][64];
    int64_t level_size[WORLD_LEVELS_MAX];
    int64_t hosts, islands, numas, pcies, gpus; /* -1: not said */
    int64_t inside;                             /* devices of a host */
    struct world_node node;                     /* what every host says of itself */
};

struct text {
    struct reader *r;
    uint32_t line;
    const char *start, *at;
};

static bool bad(struct text *t, const char *expected)
{
    char shown[48];
    size_t length = strcspn(t->at, " ,]");

    (void)text_shown(shown, sizeof(shown), *t->at ? t->at : "the end",
                     *t->at ? (length ? length : 1) : 7);
    return reader_say(t->r, t->line, "found \"%s\" at character %zu, expected %s", shown,
                      (size_t)(t->at - t->start) + 1, expected);
}

static bool word(struct text *t, char out[64])
{
    size_t length = 0;

    while ((t->at[length] >= 'a' && t->at[length] <= 'z') || t->at[length] == '_' ||
           t->at[length] == '-' || (length && t->at[length] >= '0' && t->at[length] <= '9') ||
           (t->at[length] >= 'A' && t->at[length] <= 'Z'))
        length++;
    if (length == 0 || length > 63)
        return bad(t, "a level such as leaf, host, island or gpu");
    memcpy(out, t->at, length);
    out[length] = '\0';
    t->at += length;
    return true;
}

static bool count(struct text *t, int64_t min, int64_t max, int64_t *ret_count)
{
    const char *at = t->at;
    int64_t value = 0;
    char expected[64];

    (void)snprintf(expected, sizeof(expected), "a whole number from %lld to %lld", (long long)min,
                   (long long)max);
    for (; *at >= '0' && *at <= '9'; at++)
        if (value <= max)
            value = value * 10 + (*at - '0');
    if (at == t->at || value < min || value > max || (*at && !strchr(" ,[]", *at)))
        return bad(t, expected);
    t->at = at;
    *ret_count = value;
    return true;
}

static bool expect(struct text *t, char c, const char *expected)
{
    if (*t->at != c)
        return bad(t, expected);
    t->at++;
    return true;
}

/* As names in files are. */
static bool plain_text(const char *text, size_t length)
{
    for (size_t n = 0; n < length; n++)
        if ((unsigned char)text[n] < 0x20 || text[n] == 0x7F)
            return false;
    return true;
}

static bool override(struct text *t, struct recipe *c)
{
    char key[64];
    const char *start = t->at;

    if (!word(t, key) || !expect(t, '=', "= and a value"))
        return false;
    if (strcmp(key, "model") == 0) {
        size_t length = strcspn(t->at, " ]");
        char name[256];

        if (length == 0 || length >= sizeof(name) || !plain_text(t->at, length))
            return bad(t, "the name of a model");
        memcpy(name, t->at, length);
        name[length] = '\0';
        c->node.model = world_model(t->r->w, name);
        t->at += length;
        return true;
    }
    if (strcmp(key, "cpu") == 0)
        return count(t, 0, READ_AMOUNT_MAX, &c->node.cpu_milli);
    if (strcmp(key, "mem") == 0)
        return count(t, 0, READ_AMOUNT_MAX, &c->node.mem_mib);
    if (strcmp(key, "pods") == 0)
        return count(t, 0, READ_COUNT_MAX, &c->node.pods);
    if (strcmp(key, "gpu_mem") == 0)
        return count(t, 1, READ_DEVICE_MAX, &c->node.gpu_mem_mib);
    t->at = start;
    return bad(t, "one of model cpu mem pods gpu_mem");
}

static bool overrides(struct text *t, struct recipe *c)
{
    if (*t->at != '[')
        return true;
    t->at++;
    for (;;) {
        while (*t->at == ' ')
            t->at++;
        if (*t->at == ']') {
            t->at++;
            return true;
        }
        if (!override(t, c))
            return false;
    }
}

/* Where a count of the inside of a host goes; NULL: the word names a level above. */
static int64_t *inside(struct recipe *c, const char *key)
{
    if (strcmp(key, "island") == 0)
        return &c->islands;
    if (strcmp(key, "numa") == 0)
        return &c->numas;
    if (strcmp(key, "pcie") == 0)
        return &c->pcies;
    return strcmp(key, "gpu") == 0 ? &c->gpus : NULL;
}

static bool level_above(struct text *t, struct recipe *c, const char *key, const char *start)
{
    for (uint32_t l = 0; l < c->level_count; l++)
        if (strcmp(c->level[l], key) == 0) {
            t->at = start;
            return bad(t, "every level once");
        }
    if (strcmp(key, "node") == 0 || strcmp(key, "cluster") == 0) {
        t->at = start;
        return bad(t, "host for the nodes, and no level named node or cluster");
    }
    if (c->level_count == WORLD_LEVELS_MAX)
        return bad(t, "at most 12 levels above the host");
    (void)snprintf(c->level[c->level_count], sizeof(c->level[0]), "%s", key);
    return count(t, 1, HOSTS_MAX, &c->level_size[c->level_count++]);
}

/* The parts multiply in the order of the text: "numa:2 island:2 gpu:2" has four islands. */
static bool below(struct text *t, struct recipe *c, const char *key, int64_t *part,
                  const char *start)
{
    bool gpu = part == &c->gpus;
    int64_t size;

    if (c->hosts < 0 || *part >= 0 || c->gpus >= 0) {
        t->at = start;
        return bad(t, c->hosts < 0 ? "host before what is inside it"
                      : *part >= 0 ? "every level once"
                                   : "nothing inside a gpu");
    }
    if (!count(t, gpu ? 0 : 1, WORLD_GPUS_MAX, &size))
        return false;
    c->inside *= size;
    *part = c->inside;
    if (c->inside > WORLD_GPUS_MAX)
        return reader_say(t->r, t->line, "found %lld of %s in one host, expected at most %d",
                          (long long)c->inside, key, WORLD_GPUS_MAX);
    return true;
}

static bool term(struct text *t, struct recipe *c)
{
    char key[64];
    const char *start = t->at;

    if (!word(t, key) || !expect(t, ':', "a colon and a number"))
        return false;

    int64_t *part = inside(c, key);
    if (part)
        return below(t, c, key, part, start) && overrides(t, c);
    if (c->hosts >= 0) {
        t->at = start;
        return bad(t, "island, numa, pcie or gpu inside a host");
    }
    if (strcmp(key, "host") != 0)
        return level_above(t, c, key, start) && overrides(t, c);
    c->inside = 1;
    return count(t, 1, HOSTS_MAX, &c->hosts) && overrides(t, c);
}

static bool one_cluster(struct text *t, struct recipe *c)
{
    *c = (struct recipe){.hosts = -1, .islands = -1, .numas = -1, .pcies = -1, .gpus = -1};
    c->node = (struct world_node){.model = WORLD_NONE,
                                  .cpu_milli = WORLD_UNLIMITED,
                                  .mem_mib = WORLD_UNLIMITED,
                                  .pods = WORLD_UNLIMITED};
    for (;;) {
        while (*t->at == ' ')
            t->at++;
        if (*t->at == '\0' || *t->at == ',')
            break;
        if (!term(t, c))
            return false;
    }
    if (c->hosts < 0)
        return bad(t, "a host level, as in \"leaf:2 host:4 gpu:8\"");
    if (c->gpus < 0 && (c->islands >= 0 || c->numas >= 0 || c->pcies >= 0))
        return bad(t, "gpu inside island, numa or pcie");
    return true;
}

/* The levels of the first cluster are the chain; a later one uses all or some of them. */
static bool chain(struct text *t, const struct recipe *c, uint8_t id[WORLD_LEVELS_MAX])
{
    struct world *w = t->r->w;

    if (w->node_count == 0) {
        w->chain_count = c->level_count > 0;
        w->chain[0] = "network";
        w->level_count = c->level_count;
        for (uint32_t l = 0; l < c->level_count; l++)
            w->level[c->level_count - 1 - l] =
                (struct world_level){.name = world_string(w, c->level[l], strlen(c->level[l])),
                                     .rank = (uint8_t)(c->level_count - 1 - l)};
    }
    for (uint32_t l = 0; l < c->level_count; l++) {
        uint32_t at = 0;

        while (at < w->level_count && strcmp(w->level[at].name, c->level[l]) != 0)
            at++;
        if (at == w->level_count || (l > 0 && at >= id[l - 1]))
            return reader_say(t->r, t->line,
                              "found level \"%s\" in a later cluster, expected levels of the first "
                              "one in its order",
                              c->level[l]);
        id[l] = (uint8_t)at;
    }
    return true;
}

static void parts(int64_t count, int64_t gpus, uint8_t of[WORLD_GPUS_MAX], uint8_t *ret_count)
{
    memset(of, 0xFF, WORLD_GPUS_MAX);
    if (count <= 0 || gpus == 0)
        return;
    for (int64_t d = 0; d < gpus; d++)
        of[d] = (uint8_t)(d * count / gpus);
    *ret_count = (uint8_t)count;
}

/* One shape for all hosts of a cluster; none where the text says nothing of their inside. */
static uint32_t shape(struct text *t, const struct recipe *c)
{
    struct world *w = t->r->w;
    char name[32];
    uint32_t id = w->shape_count;

    if (c->gpus <= 0 || (c->islands < 0 && c->numas < 0 && c->pcies < 0))
        return WORLD_NONE;

    struct world_shape *s = world_row(w, &w->shape, &w->shape_count, sizeof(*s));
    (void)snprintf(name, sizeof(name), "shape%u", id);
    s->name = world_string(w, name, strlen(name));
    s->gpus = (uint8_t)c->gpus;
    parts(c->islands, c->gpus, s->island, &s->island_count);
    parts(c->numas, c->gpus, s->numa, &s->numa_count);
    parts(c->pcies, c->gpus, s->pcie, &s->pcie_count);
    return id;
}

static uint32_t new_domain(struct text *t, uint8_t level)
{
    struct world *w = t->r->w;
    struct world_level *l = &w->level[level];
    char name[96];
    uint32_t id = l->domain_count;

    (void)snprintf(name, sizeof(name), "%s%u", l->name, id);
    *(const char **)world_row(w, &l->domain, &l->domain_count, sizeof(*l->domain)) =
        world_string(w, name, strlen(name));
    return id;
}

static bool hosts(struct text *t, struct recipe *c)
{
    struct world *w = t->r->w;
    uint8_t id[WORLD_LEVELS_MAX] = {0};
    int64_t total = c->hosts, per[WORLD_LEVELS_MAX];

    if (!chain(t, c, id))
        return false;
    for (uint32_t l = c->level_count; l > 0; l--) {
        per[l - 1] = total;
        total *= c->level_size[l - 1];
        if (total > HOSTS_MAX)
            break;
    }
    if (total + w->node_count > HOSTS_MAX)
        return reader_say(t->r, t->line, "found more than %d hosts, expected fewer", HOSTS_MAX);
    if (c->node.model == WORLD_NONE)
        c->node.model = world_model(w, "");
    c->node.gpus = (uint8_t)(c->gpus > 0 ? c->gpus : 0);
    c->node.shape = shape(t, c);
    memset(c->node.domain, 0xFF, sizeof(c->node.domain));
    for (int64_t h = 0; h < total; h++) {
        char name[24];

        for (uint32_t l = 0; l < c->level_count; l++)
            if (h % per[l] == 0)
                c->node.domain[id[l]] = new_domain(t, id[l]);
        (void)snprintf(name, sizeof(name), "n%u", w->node_count);
        c->node.name = world_string(w, name, strlen(name));
        *(struct world_node *)world_row(w, &w->node, &w->node_count, sizeof(c->node)) = c->node;
    }
    return true;
}

bool read_synthetic_text(struct reader *r, uint32_t line, const char *text)
{
    struct text t = {.r = r, .line = line, .start = text, .at = text};
    struct recipe c;

    do {
        if (!one_cluster(&t, &c) || !hosts(&t, &c))
            return false;
    } while (*t.at++ == ',');
    r->w->cluster_name = "synthetic";
    return true;
}

int read_synthetic(struct world *w, const char *text, struct err *err)
{
    struct reader r = {.w = w, .path = "--synthetic", .err = err};

    if (!text_is_utf8(text, strlen(text)))
        (void)reader_say(&r, 1, "found bytes that are not UTF-8, expected UTF-8 text");
    else
        (void)read_synthetic_text(&r, 1, text);
    if (r.code) {
        world_free(w);
        world_init(w);
    }
    return r.code;
}
