/* Objects of schedulers: levels, HyperNodes, queues, and what pods and groups ask for. */
#include "edge/topo/kube.h"

#include <string.h>

#define LEVELS_MAX 32u

/* A decimal like 0.5 or a whole number, in thousandths; "-1" is no limit. */
static int64_t milli_of(const struct tree *number)
{
    int64_t value;
    struct tree copy;

    if (!number || !number->text)
        return TOPO_NONE;
    copy = *number;
    copy.kind = TREE_NUMBER; /* annotations are texts */
    if (!tree_decimal(&copy, 3, &value))
        return TOPO_NONE;
    return value < 0 ? TOPO_UNLIMITED : value;
}

/* spec.levels[].nodeLabel: the widest first, in Kueue and in KAI. */
int kube_levels(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *levels = kube_find(object, "spec", "levels");
    struct topo_fabric *f;

    (void)err;
    f = topo_fabric_add(t, TOPO_FABRIC_NAMES, kube_name(object), object->line);
    f->level = topo_take(t, LEVELS_MAX * sizeof(*f->level));
    for (const struct tree *c = levels ? levels->child : NULL; c; c = c->next) {
        const char *key = topo_tree_word(c, "nodeLabel");

        if (key && f->level_count < LEVELS_MAX)
            f->level[f->level_count++] = topo_keep_string(t, key);
        else
            topo_remark(t, c->line, "a level without nodeLabel, or one too many, is ignored");
    }
    if (f->level_count == 0)
        topo_remark(t, object->line, "a Topology without levels");
    return ERR_NONE;
}

static struct topo_fabric *hypernodes(struct topo *t, uint32_t line)
{
    for (size_t f = 0; f < t->fabric_count; f++)
        if (t->fabric[f].kind == TOPO_FABRIC_TREE && t->fabric[f].name &&
            strcmp(t->fabric[f].name, "HyperNodes") == 0)
            return &t->fabric[f];
    return topo_fabric_add(t, TOPO_FABRIC_TREE, "HyperNodes", line);
}

static void add_member(struct topo *t, struct topo_fabric *f, uint32_t domain,
                       const struct tree *entry)
{
    const struct tree *selector = tree_find(entry, "selector");
    const char *name = topo_tree_word(entry, "name"), *type = topo_tree_word(entry, "type");
    struct member *m;

    if (!name)
        name = topo_tree_word(tree_find(selector, "exactMatch"), "name");
    if (!name) {
        if (selector)
            f->domain[domain].by_labels = true;
        else
            topo_remark(t, entry->line, "a member without a name or a selector is ignored");
        return;
    }
    m = topo_take(t, sizeof(*m));
    *m = (struct member){
        .fabric = (size_t)(f - t->fabric),
        .domain = domain,
        .line = entry->line,
        .name = topo_keep_string(t, name),
        .is_node = type && strcmp(type, "Node") == 0,
        .is_domain = type && strcmp(type, "HyperNode") == 0,
    };
    if (!type)
        topo_remark(t, entry->line,
                    "a member without a type is a HyperNode of that name, else a "
                    "node");
    if (t->member_last)
        t->member_last->next = m;
    else
        t->member = m;
    t->member_last = m;
}

int kube_hypernode(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *spec = tree_find(object, "spec"), *members = tree_find(spec, "members");
    struct topo_fabric *f = hypernodes(t, object->line);
    const char *name = kube_name(object), *tier_name = topo_tree_word(spec, "tierName");
    uint32_t domain;

    if (!name)
        return topo_bad(err, t, object->line, "found a HyperNode without a name, expected one");
    if (!kube_find(object, "metadata", "name"))
        topo_remark(t, object->line, "HyperNode %s has its name outside of metadata", SHOWN(name));
    if (!topo_domain_add(t, f, name, object->line, &domain))
        return topo_bad(err, t, object->line, "found more than %u names, expected fewer",
                        TOPO_NAMES_MAX);
    f->domain[domain].tier = topo_tree_count(spec, "tier");
    if (tier_name) {
        if (!f->level)
            f->level = topo_take(t, LEVELS_MAX * sizeof(*f->level));
        for (uint32_t l = 0; l < f->level_count; l++)
            if (strcmp(f->level[l], tier_name) == 0)
                f->domain[domain].level = (int32_t)l;
        if (f->domain[domain].level == TOPO_NONE && f->level_count < LEVELS_MAX) {
            f->domain[domain].level = (int32_t)f->level_count;
            f->level[f->level_count++] = topo_keep_string(t, tier_name);
        }
    }
    for (const struct tree *c = members ? members->child : NULL; c; c = c->next)
        add_member(t, f, domain, c);
    return ERR_NONE;
}

int kube_queue(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *spec = tree_find(object, "spec");
    const struct tree *gpu = kube_find(spec, "resources", "gpu");
    struct topo_ask *a = topo_ask_add(t, TOPO_ASK_QUEUE, kube_name(object), object->line);

    (void)err;
    a->parent = topo_keep_some(t, topo_tree_word(spec, "parentQueue"));
    a->quota = milli_of(tree_find(gpu, "quota"));
    a->limit = milli_of(tree_find(gpu, "limit"));
    return ERR_NONE;
}

/* A constraint of KAI: required or preferred, of a topology's level. */
static void add_constraint(struct topo *t, const char *name, const char *parent,
                           const struct tree *constraint, int64_t count, uint32_t line)
{
    const char *required = topo_tree_word(constraint, "requiredTopologyLevel");
    const char *preferred = topo_tree_word(constraint, "preferredTopologyLevel");
    struct topo_ask *a = topo_ask_add(t, TOPO_ASK_GROUP, name, line);

    a->parent = topo_keep_some(t, parent);
    a->topology = topo_keep_some(t, topo_tree_word(constraint, "topology"));
    a->mode = required ? "required" : preferred ? "preferred" : NULL;
    a->level = topo_keep_some(t, required ? required : preferred);
    a->count = count;
}

/* networkTopology of Volcano: hard or soft, up to a tier by number or by name. */
static void add_network(struct topo *t, const char *name, const struct tree *network)
{
    struct topo_ask *a = topo_ask_add(t, TOPO_ASK_GROUP, name, network->line);

    a->mode = topo_keep_some(t, topo_tree_word(network, "mode"));
    a->tier = topo_tree_count(network, "highestTierAllowed");
    a->level = topo_keep_some(t, topo_tree_word(network, "highestTierName"));
}

int kube_pod_group(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *spec = tree_find(object, "spec"), *groups = tree_find(spec, "subGroups");
    const struct tree *own = tree_find(spec, "topologyConstraint");
    const struct tree *network = tree_find(spec, "networkTopology");
    const char *name = kube_name(object);

    (void)err;
    if (own)
        add_constraint(t, name, NULL, own, topo_tree_count(spec, "minMember"), own->line);
    if (network)
        add_network(t, name, network);
    for (const struct tree *c = groups ? groups->child : NULL; c; c = c->next)
        add_constraint(t, topo_tree_word(c, "name"), name, tree_find(c, "topologyConstraint"),
                       topo_tree_count(c, "minMember"), c->line);
    return ERR_NONE;
}

/* GPUs of all containers; TOPO_NONE: none asks for any. */
static int64_t pod_gpus(const struct tree *spec)
{
    const struct tree *containers = tree_find(spec, "containers");
    int64_t sum = TOPO_NONE;

    for (const struct tree *c = containers ? containers->child : NULL; c; c = c->next) {
        int64_t gpus = milli_of(tree_find(kube_find(c, "resources", "limits"), "nvidia.com/gpu"));

        if (gpus >= 0 && gpus < INT64_MAX / 1024)
            sum = (sum == TOPO_NONE ? 0 : sum) + gpus;
    }
    return sum;
}

/* The first nvidia.com/mig-PROFILE among annotations or limits. */
static void find_profile(struct topo *t, struct topo_ask *a, const struct tree *map)
{
    for (const struct tree *c = map ? map->child : NULL; c; c = c->next) {
        int64_t count;

        if (!c->key || strncmp(c->key, "nvidia.com/mig-", 15) != 0 || !c->text ||
            !topo_number(c->text, strlen(c->text), 1000, &count))
            continue;
        a->profile = topo_keep_some(t, c->key + 15);
        a->count = count;
        return;
    }
}

int kube_pod(struct topo *t, const struct tree *object, struct err *err)
{
    size_t asks = t->ask_count;

    const struct tree *annotations = kube_find(object, "metadata", "annotations");
    const struct tree *spec = tree_find(object, "spec"), *fraction;
    const struct tree *containers = tree_find(spec, "containers");
    struct topo_ask *a;

    (void)kube_hived_pods(t, object, err);
    if (t->ask_count > asks)
        return ERR_NONE;
    fraction = tree_find(annotations, "gpu-fraction");
    a = topo_ask_add(t, TOPO_ASK_POD, kube_name(object), object->line);
    a->gpu_milli = fraction ? milli_of(fraction) : pod_gpus(spec);
    find_profile(t, a, annotations);
    for (const struct tree *c = containers ? containers->child : NULL; c && !a->profile;
         c = c->next)
        find_profile(t, a, kube_find(c, "resources", "limits"));
    return ERR_NONE;
}

/* ---- texts inside objects */

int kube_config_map(struct topo *t, const struct tree *object, struct err *err)
{
    const struct tree *data = tree_find(object, "data");
    size_t before = t->fabric_count + t->host_count + t->ask_count;

    for (const struct tree *c = data ? data->child : NULL; c; c = c->next) {
        int code = c->kind == TREE_STRING ? topo_read_embedded(t, c->text, c->line + 1, err) : 0;

        if (code)
            return code;
    }
    if (before == t->fabric_count + t->host_count + t->ask_count)
        topo_remark(t, object->line, "a ConfigMap that holds no topology");
    return ERR_NONE;
}

/* "10m", "1h30m" as seconds; TOPO_NONE: none. */
static int64_t seconds_of(const char *text)
{
    int64_t sum = 0, value;

    for (; text && *text; text++) {
        size_t digits = strspn(text, "0123456789");

        if (!topo_number(text, digits, 1000000, &value))
            return TOPO_NONE;
        text += digits;
        if (*text == 'h')
            sum += value * 3600;
        else if (*text == 'm')
            sum += value * 60;
        else if (*text == 's')
            sum += value;
        else
            return TOPO_NONE;
    }
    return text ? sum : TOPO_NONE;
}

static void add_source_levels(struct topo *t, const struct tree *types)
{
    for (const struct tree *c = types ? types->child : NULL; c; c = c->next) {
        struct topo_fabric *f;

        if (!c->key || c->kind != TREE_LIST)
            continue;
        f = topo_fabric_add(t, TOPO_FABRIC_NAMES, c->key, c->line);
        f->level = topo_take(t, LEVELS_MAX * sizeof(*f->level));
        /* The widest level first, as in a Topology. */
        for (const struct tree *l = c->child; l && f->level_count < LEVELS_MAX; l = l->next) {
            const char *key = topo_tree_word(l, "nodeLabel");

            if (key)
                f->level[f->level_count++] = topo_keep_string(t, key);
        }
    }
}

void kube_sources(struct topo *t, const struct tree *list)
{
    for (const struct tree *c = list->child; c; c = c->next) {
        const struct tree *enabled = tree_find(c, "enabled");
        const char *source = topo_tree_word(c, "source"), *interval = topo_tree_word(c, "interval");
        struct topo_ask *a;

        if (!source)
            continue;
        a = topo_ask_add(t, TOPO_ASK_SOURCE, source, c->line);
        a->mode = enabled && enabled->kind == TREE_BOOL ? (enabled->truth ? "on" : "off") : NULL;
        a->interval_seconds = interval ? seconds_of(interval) : TOPO_NONE;
        add_source_levels(t, kube_find(c, "config", "networkTopologyTypes"));
    }
}

bool kube_fragment(struct topo *t, const struct tree *root)
{
    const struct tree *network = kube_find(root, "spec", "networkTopology");
    const struct tree *sources = tree_find(root, "networkTopologyDiscovery");
    const char *required = topo_tree_word(root, "kai.scheduler/topology-required-placement");
    const char *preferred = topo_tree_word(root, "kai.scheduler/topology-preferred-placement");
    struct topo_ask *a;

    if (network)
        add_network(t, NULL, network);
    if (sources && sources->kind == TREE_LIST)
        kube_sources(t, sources);
    if (network || sources)
        return true;
    if (!required && !preferred)
        return false;
    a = topo_ask_add(t, TOPO_ASK_GROUP, NULL, root->line);
    a->topology = topo_keep_some(t, topo_tree_word(root, "kai.scheduler/topology"));
    a->mode = required ? "required" : "preferred";
    a->level = topo_keep_some(t, required ? required : preferred);
    return true;
}

/* HiveD's wish of a pod, YAML inside an annotation. */
static void read_hived(struct topo *t, const char *name, const struct tree *text)
{
    struct tree_memory *m = tree_memory_open();
    struct tree *spec;
    struct err err;
    struct topo_ask *a;
    int64_t cells;

    if (tree_from_yaml(m, t->file, text->text, strlen(text->text), &spec, &err) != ERR_NONE) {
        topo_remark(t, text->line, "an annotation of HiveD that is no YAML is ignored");
        tree_memory_close(m);
        return;
    }
    a = topo_ask_add(t, TOPO_ASK_POD, name, text->line);
    cells = topo_tree_count(spec, "leafCellNumber");
    a->parent = topo_keep_some(t, topo_tree_word(spec, "virtualCluster"));
    a->level = topo_keep_some(t, topo_tree_word(spec, "leafCellType"));
    a->topology = topo_keep_some(t, topo_tree_word(spec, "pinnedCellId"));
    a->mode = topo_keep_some(t, topo_tree_word(tree_find(spec, "affinityGroup"), "name"));
    a->gpu_milli = cells >= 0 && cells <= 1000000 ? cells * 1000 : TOPO_NONE;
    tree_memory_close(m);
}

/* Looks for the annotation wherever a template hides it: trees are at most 64 deep. */
int kube_hived_pods(struct topo *t, const struct tree *object, struct err *err)
{
    static const char key[] = "hivedscheduler.microsoft.com/pod-scheduling-spec";
    const struct tree *way[66], *at = object->child;
    unsigned depth = 0;

    (void)err;
    while (at) {
        if (at->key && at->kind == TREE_STRING && strcmp(at->key, key) == 0)
            read_hived(t, kube_name(object), at);
        if (at->child && depth < 66) {
            way[depth++] = at;
            at = at->child;
            continue;
        }
        while (at && !at->next)
            at = depth > 0 ? way[--depth] : NULL;
        if (at)
            at = at->next;
    }
    return ERR_NONE;
}
