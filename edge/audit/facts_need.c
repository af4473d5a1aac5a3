/* What a waiting pod demands of nodes, and what it tolerates, as rows of numbers. */
#include "edge/audit/facts_parts.h"

#include "edge/base/out.h"

#include <string.h>

static struct facts_need *need_add(struct facts *f, struct facts_pod *pod, const char *key,
                                   uint16_t term, enum facts_op op)
{
    struct facts_need *n;

    f->need = out_grow(f->need, f->need_count, &f->need_limit, sizeof(*f->need));
    n = &f->need[f->need_count++];
    *n = (struct facts_need){.key = names_put(&f->names, key),
                             .value_first = (uint32_t)f->value_count,
                             .term = term,
                             .op = (uint8_t)op};
    pod->need_count++;
    return n;
}

static void value_add(struct facts *f, struct facts_need *n, const char *text)
{
    f->value = out_grow(f->value, f->value_count, &f->value_limit, sizeof(*f->value));
    f->value[f->value_count++] = names_put(&f->names, text);
    n->value_count++;
}

static enum facts_op op_of(const char *text)
{
    static const char *const names[] = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

    for (unsigned n = 0; text && n < sizeof(names) / sizeof(names[0]); n++)
        if (strcmp(text, names[n]) == 0)
            return (enum facts_op)n;
    return OP_NEVER;
}

static void take_lines(struct facts *f, struct facts_pod *pod, const struct tree *lines,
                       uint16_t term, bool field)
{
    for (const struct tree *t = lines && lines->kind == TREE_LIST ? lines->child : NULL; t;
         t = t->next) {
        const char *key = facts_string(t, "key");
        const struct tree *values = facts_field(t, "values");
        struct facts_need *n =
            need_add(f, pod, key ? key : "", term, op_of(facts_string(t, "operator")));

        n->field = field;
        for (const struct tree *v = values && values->kind == TREE_LIST ? values->child : NULL; v;
             v = v->next)
            value_add(f, n, v->text ? v->text : "");
    }
}

/* Terms are alternatives; one without lines matches nothing, and so does a list without terms. */
static void take_terms(struct facts *f, struct facts_pod *pod, const struct tree *terms)
{
    uint16_t term = 0;

    for (const struct tree *t = terms && terms->kind == TREE_LIST ? terms->child : NULL;
         t && term < UINT16_MAX; t = t->next) {
        uint32_t before = pod->need_count;

        term++;
        take_lines(f, pod, facts_field(t, "matchExpressions"), term, false);
        take_lines(f, pod, facts_field(t, "matchFields"), term, true);
        if (pod->need_count == before)
            (void)need_add(f, pod, "", term, OP_NEVER);
    }
    if (term == 0)
        (void)need_add(f, pod, "", 1, OP_NEVER);
}

static void take_tolerations(struct facts *f, struct facts_pod *pod, const struct tree *list)
{
    pod->toleration_first = (uint32_t)f->toleration_count;
    for (const struct tree *t = list && list->kind == TREE_LIST ? list->child : NULL; t;
         t = t->next) {
        const char *op = facts_string(t, "operator"), *effect = facts_string(t, "effect");
        bool exists = op && strcmp(op, "Exists") == 0;

        if (op && *op && !exists && strcmp(op, "Equal") != 0)
            continue;
        f->toleration = out_grow(f->toleration, f->toleration_count, &f->toleration_limit,
                                 sizeof(*f->toleration));
        f->toleration[f->toleration_count++] = (struct facts_toleration){
            .key = names_put(&f->names, facts_string(t, "key")),
            .value = names_put(&f->names, facts_plain(t, "value")),
            .effect = !effect || !*effect                 ? EFFECT_ANY
                      : strcmp(effect, "NoExecute") == 0  ? EFFECT_NO_EXECUTE
                      : strcmp(effect, "NoSchedule") == 0 ? EFFECT_NO_SCHEDULE
                                                          : EFFECT_PREFER,
            .exists = exists};
        pod->toleration_count++;
    }
}

void facts_take_needs(struct facts *f, struct facts_pod *pod, const struct tree *spec)
{
    const struct tree *selector = facts_field(spec, "nodeSelector"),
                      *required =
                          facts_field(facts_field(facts_field(spec, "affinity"), "nodeAffinity"),
                                      "requiredDuringSchedulingIgnoredDuringExecution");

    pod->need_first = (uint32_t)f->need_count;
    for (const struct tree *t = selector && selector->kind == TREE_MAP ? selector->child : NULL; t;
         t = t->next)
        value_add(f, need_add(f, pod, t->key, 0, OP_IN), t->text ? t->text : "");
    if (required && required->kind == TREE_MAP)
        take_terms(f, pod, facts_field(required, "nodeSelectorTerms"));
    take_tolerations(f, pod, facts_field(spec, "tolerations"));
}
