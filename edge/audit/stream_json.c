/* JSON piece by piece. Outside stands an object or a list of objects; an object with `items` is a
 * list too. What is handed out is the innermost: an item, or an object without items. */
#include "edge/audit/stream_parts.h"

#include "edge/base/text.h"
#include "edge/base/tree_build.h"

#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define KEPT NULL
/* clang-format off */
static const struct want want_annotations[] = {
    {"scheduling.k8s.io/group-name", KEPT}, {"scheduling.volcano.sh/group-name", KEPT},
    {"pod-group-name", KEPT}, {"gpu-fraction", KEPT}, {"gpu-memory", KEPT},
    {"gpu-fraction-num-devices", KEPT}, {"kai.scheduler/batch-min-member", KEPT},
    {"kai.scheduler/topology-required-placement", KEPT},
    {"kueue.x-k8s.io/podset-required-topology", KEPT},
    {"kueue.x-k8s.io/pod-group-total-count", KEPT}, {"leaderworkerset.sigs.k8s.io/size", KEPT},
    {"scheduling.koordinator.sh/device-allocated", KEPT},
    {"hami.io/node-*", KEPT}, {"hami.io/vgpu-devices-allocated", KEPT},
    {"huawei.com/Ascend910", KEPT}, {"alibabacloud.com/gpu-mem", KEPT},
    {"alibabacloud.com/gpu-count", KEPT}, {NULL, NULL}};
static const struct want want_owner[] = {
    {"kind", KEPT}, {"name", KEPT}, {"controller", KEPT}, {NULL, NULL}};
static const struct want want_metadata[] = {
    {"name", KEPT}, {"namespace", KEPT}, {"uid", KEPT}, {"labels", KEPT},
    {"annotations", want_annotations}, {"ownerReferences", want_owner},
    {"deletionTimestamp", KEPT}, {"creationTimestamp", KEPT}, {NULL, NULL}};
static const struct want want_container[] = {
    {"name", KEPT}, {"resources", KEPT}, {"restartPolicy", KEPT}, {NULL, NULL}};
static const struct want want_node_affinity[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", KEPT}, {NULL, NULL}};
static const struct want want_pod_affinity[] = {
    {"requiredDuringSchedulingIgnoredDuringExecution", want_owner}, {NULL, NULL}};
static const struct want want_affinity[] = {
    {"nodeAffinity", want_node_affinity}, {"podAffinity", want_pod_affinity},
    {"podAntiAffinity", want_pod_affinity}, {NULL, NULL}};
static const struct want want_spec[] = {
    {"nodeName", KEPT}, {"schedulerName", KEPT}, {"priority", KEPT}, {"nodeSelector", KEPT},
    {"affinity", want_affinity}, {"tolerations", KEPT}, {"schedulingGates", KEPT},
    {"containers", want_container}, {"initContainers", want_container}, {"overhead", KEPT},
    {"resources", KEPT}, {"resourceClaims", want_owner}, {"schedulingGroup", KEPT},
    {"unschedulable", KEPT}, {"taints", KEPT}, {"minMember", KEPT},
    {"schedulingPolicy", KEPT}, {NULL, NULL}};
static const struct want want_condition[] = {
    {"type", KEPT}, {"status", KEPT}, {"reason", KEPT}, {"message", KEPT}, {NULL, NULL}};
static const struct want want_status[] = {
    {"phase", KEPT}, {"conditions", want_condition}, {"allocatable", KEPT}, {"capacity", KEPT},
    {NULL, NULL}};
const struct want stream_wanted[] = {
    {"kind", KEPT}, {"apiVersion", KEPT}, {"metadata", want_metadata}, {"spec", want_spec},
    {"status", want_status}, {NULL, NULL}};
/* clang-format on */

/* One object under way. */
struct part {
    struct tree_build b;
    struct tree_memory *m;
    const struct want *in[TREE_DEPTH_MAX + 1]; /* by depth of the tree; NULL: everything */
    const struct want *next;                   /* of the value of the key that was just read */
};

struct json {
    struct stream *s;
    struct err *err;
    const char *name;
    yajl_handle handle;
    const char *chunk;
    size_t seen; /* of the chunk, for lines */
    uint32_t line;
    uint64_t consumed; /* before this chunk */
    struct part outer, item;
    bool in_array;   /* of objects, outermost */
    bool items_next; /* the key was `items` of the outer object */
    bool in_items;
    bool had_items;   /* the outer object is a list: it is none itself */
    uint32_t skipped; /* containers open inside a part that is not wanted */
    bool skip_next;
};

static uint32_t line_here(struct json *j)
{
    size_t until = yajl_get_bytes_consumed(j->handle);
    const char *at;

    while (j->seen < until && (at = memchr(j->chunk + j->seen, '\n', until - j->seen))) {
        j->seen = (size_t)(at - j->chunk) + 1;
        j->line++;
    }
    j->seen = until > j->seen ? until : j->seen;
    return j->line;
}

static struct part *part_of(struct json *j)
{
    return j->in_items ? &j->item : &j->outer;
}

static bool part_open(const struct part *p)
{
    return p->b.depth > 0;
}

static void part_start(struct json *j, struct part *p)
{
    tree_memory_reset(p->m);
    p->b = (struct tree_build){.m = p->m, .name = j->name, .err = j->err};
    p->next = stream_wanted;
}

/* A plain value, of which none may stand where an object is expected. */
static int scalar(struct json *j, enum tree_kind kind, const char *text, size_t length, bool truth)
{
    struct part *p = part_of(j);
    struct tree *t;

    if (j->skipped)
        return 1;
    if (j->skip_next) {
        j->skip_next = false;
        return 1;
    }
    if (j->items_next) { /* "items": null is an empty list */
        j->items_next = false;
        return 1;
    }
    if (!part_open(p)) {
        if (kind == TREE_NULL)
            return 1;
        (void)err_set(j->err, ERR_INPUT,
                      "%s:%u: found a plain value where an object should stand, expected the "
                      "output of `kubectl get nodes,pods -A -o json`",
                      j->name, line_here(j));
        p->b.code = ERR_INPUT;
        return 0;
    }
    t = tree_build_add(&p->b, kind, line_here(j), text, length);
    if (t)
        t->truth = truth;
    return t != NULL;
}

static int take_null(void *context)
{
    return scalar(context, TREE_NULL, NULL, 0, false);
}

static int take_bool(void *context, int value)
{
    return scalar(context, TREE_BOOL, NULL, 0, value != 0);
}

static int take_number(void *context, const char *text, size_t length)
{
    return scalar(context, TREE_NUMBER, text, length, false);
}

static int take_string(void *context, const unsigned char *text, size_t length)
{
    return scalar(context, TREE_STRING, length ? (const char *)text : "", length, false);
}

/* A wanted key that ends in '*' stands for all that begin so. */
static bool is_wanted(const char *key, const char *text, size_t length)
{
    size_t own = strlen(key);

    if (key[own - 1] == '*')
        return length >= own - 1 && memcmp(key, text, own - 1) == 0;
    return own == length && memcmp(key, text, length) == 0;
}

static int take_key(void *context, const unsigned char *text, size_t length)
{
    struct json *j = context;
    struct part *p = part_of(j);
    const struct want *in;

    if (j->skipped)
        return 1;
    if (!j->in_items && p->b.depth == 1 && length == 5 && memcmp(text, "items", 5) == 0) {
        j->items_next = true;
        j->had_items = true;
        return 1;
    }
    in = p->in[p->b.depth];
    p->next = NULL;
    if (in) {
        while (in->key && !is_wanted(in->key, (const char *)text, length))
            in++;
        j->skip_next = !in->key;
        if (j->skip_next)
            return 1;
        p->next = in->in;
    }
    return tree_build_key(&p->b, line_here(j), length ? (const char *)text : "", length);
}

static int open_either(struct json *j, enum tree_kind kind)
{
    struct part *p = part_of(j);

    if (j->skipped || j->skip_next) {
        j->skip_next = false;
        j->skipped++;
        return 1;
    }
    if (j->items_next) {
        j->items_next = false;
        j->in_items = kind == TREE_LIST;
        if (!j->in_items)
            j->skipped++;
        return 1;
    }
    if (!part_open(p)) {
        if (kind == TREE_LIST) { /* of objects; a list inside it is none */
            if (j->in_items || j->in_array)
                j->skipped++;
            else
                j->in_array = true;
            return 1;
        }
        part_start(j, p);
        if (p == &j->outer)
            j->had_items = false;
    }
    if (!tree_build_open(&p->b, kind, line_here(j)))
        return 0;
    p->in[p->b.depth] = p->next;
    return 1;
}

static int open_map(void *context)
{
    return open_either(context, TREE_MAP);
}

static int open_list(void *context)
{
    return open_either(context, TREE_LIST);
}

static const char *text_of(const struct tree *map, const char *key)
{
    const struct tree *t = map ? tree_find(map, key) : NULL;

    return t && t->kind == TREE_STRING ? t->text : NULL;
}

static int close_either(struct json *j)
{
    struct part *p = part_of(j);

    if (j->skipped) {
        j->skipped--;
        return 1;
    }
    if (!part_open(p)) { /* the end of items, or of the array around all */
        if (j->in_items)
            j->in_items = false;
        else
            j->in_array = false;
        return 1;
    }
    if (!tree_build_close(&p->b))
        return 0;
    if (part_open(p)) {
        p->next = p->in[p->b.depth];
        return 1;
    }
    if (p == &j->item)
        stream_hand_out(j->s, text_of(j->outer.b.root, "kind"), p->b.root);
    else if (!j->had_items)
        stream_hand_out(j->s, NULL, p->b.root);
    return 1;
}

static int close_map(void *context)
{
    return close_either(context);
}

static const yajl_callbacks callbacks = {
    .yajl_null = take_null,
    .yajl_boolean = take_bool,
    .yajl_number = take_number,
    .yajl_string = take_string,
    .yajl_start_map = open_map,
    .yajl_map_key = take_key,
    .yajl_end_map = close_map,
    .yajl_start_array = open_list,
    .yajl_end_array = close_map,
};

/* "object 12 (Pod team-a/train-0)", as far as it was read. */
static void name_object(const struct json *j, char *out, size_t room)
{
    const struct part *p = part_open(&j->item) ? &j->item : &j->outer;
    const struct tree *meta = part_open(p) ? tree_find(p->b.root, "metadata") : NULL;
    const char *kind = part_open(p) ? text_of(p->b.root, "kind") : NULL;
    const char *name = text_of(meta, "name"), *space = text_of(meta, "namespace");
    char shown[120], who[200] = "";

    if (name || kind) {
        (void)snprintf(who, sizeof(who), " (%s%s%s%s%s)", kind ? kind : "", kind && name ? " " : "",
                       space ? space : "", space ? "/" : "", name ? name : "");
        (void)text_shown(shown, sizeof(shown), who, strlen(who));
    }
    (void)snprintf(out, room, "object %llu%s", (unsigned long long)j->s->objects + 1,
                   who[0] ? shown : "");
}

static int say_broken(struct json *j, const char *text, size_t length, bool ended)
{
    char object[160], shown[100];
    unsigned char *said;
    const char *words;
    int code;

    if (j->outer.b.code || j->item.b.code)
        return j->outer.b.code ? j->outer.b.code : j->item.b.code;
    name_object(j, object, sizeof(object));
    if (ended)
        return err_set(j->err, ERR_INPUT,
                       "%s: the JSON ends after %llu bytes, inside %s; the %llu objects before it "
                       "are complete. Is the file cut off?",
                       j->name, (unsigned long long)j->s->bytes, object,
                       (unsigned long long)j->s->objects);
    said = yajl_get_error(j->handle, 0, (const unsigned char *)text, length);
    words = said ? (const char *)said : "parse error";
    (void)text_shown(shown, sizeof(shown), words, strcspn(words, "\n"));
    code = err_set(j->err, ERR_INPUT, "%s:%u: broken JSON in %s (%s), expected Kubernetes objects",
                   j->name, line_here(j), object, shown);
    if (said)
        yajl_free_error(j->handle, said);
    return code;
}

static int parse_all(struct json *j, struct source *from, const char *bytes, size_t length)
{
    while (length > 0) {
        yajl_status status;

        j->chunk = bytes;
        j->seen = 0;
        j->s->bytes += length;
        status = yajl_parse(j->handle, (const unsigned char *)bytes, length);
        if (status != yajl_status_ok)
            return say_broken(j, bytes, length, false);
        (void)line_here(j);
        length = source_next(from, &bytes, j->err);
    }
    if (from->failed)
        return ERR_INPUT;
    if (yajl_complete_parse(j->handle) != yajl_status_ok || part_open(&j->outer) || j->in_array)
        return say_broken(j, "", 0, true);
    return 0;
}

int stream_json(struct stream *s, struct source *from, const char *first, size_t length,
                struct err *err)
{
    struct json j = {.s = s, .err = err, .name = from->name, .line = 1};
    int code;

    j.handle = yajl_alloc(&callbacks, NULL, &j);
    if (!j.handle)
        return err_set(err, ERR_TROUBLE, "%s: no memory to read JSON", from->name);
    (void)yajl_config(j.handle, yajl_allow_multiple_values, 1);
    (void)yajl_config(j.handle, yajl_dont_validate_strings, 1); /* what is kept is checked */
    j.outer.m = tree_memory_open();
    j.item.m = tree_memory_open();
    code = parse_all(&j, from, first, length);
    tree_memory_close(j.outer.m);
    tree_memory_close(j.item.m);
    yajl_free(j.handle);
    return code;
}
