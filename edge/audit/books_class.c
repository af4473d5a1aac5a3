/* Which nodes a waiting pod may use, by selectors, node affinity and taints. Pods that demand the
 * same are one class; nodes that the same classes may use are one node class. */
#include "edge/audit/books_parts.h"

#include "edge/audit/facts_parts.h"
#include "edge/base/memory.h"
#include "edge/base/out.h"

#include <stdlib.h>
#include <string.h>

static bool number(const char *text, long long *ret)
{
    char *end;

    *ret = strtoll(text, &end, 10);
    return *text && !*end;
}

static bool line_holds(const struct facts *f, const struct facts_node *n,
                       const struct facts_need *x)
{
    uint32_t has = x->field ? n->name : facts_label(f, n, x->key);
    long long a, b;
    bool in = false;

    if (x->op == OP_NEVER)
        return false;
    if (x->op == OP_EXISTS || x->op == OP_ABSENT)
        return (has != FACTS_NONE) == (x->op == OP_EXISTS);
    if (x->op == OP_GT || x->op == OP_LT) {
        if (has == FACTS_NONE || x->value_count != 1 || !number(facts_name(f, has), &a) ||
            !number(facts_name(f, f->value[x->value_first]), &b))
            return false;
        return x->op == OP_GT ? a > b : a < b;
    }
    for (uint32_t v = 0; v < x->value_count && has != FACTS_NONE; v++)
        in |= f->value[x->value_first + v] == has;
    return in == (x->op == OP_IN);
}

/* Lines stand term by term: all of term 0, and all of one of the others, if there are any. */
static bool needs_hold(const struct facts *f, const struct facts_node *n, const struct facts_pod *p)
{
    bool some = false, any = false;

    for (uint32_t at = 0; at < p->need_count;) {
        uint16_t term = f->need[p->need_first + at].term;
        bool all = true;

        for (; at < p->need_count && f->need[p->need_first + at].term == term; at++)
            all &= line_holds(f, n, &f->need[p->need_first + at]);
        if (term == 0 && !all)
            return false;
        some |= term > 0;
        any |= term > 0 && all;
    }
    return !some || any;
}

static bool tolerated(const struct facts *f, const struct facts_taint *t, const struct facts_pod *p)
{
    for (uint32_t n = 0; n < p->toleration_count; n++) {
        const struct facts_toleration *x = &f->toleration[p->toleration_first + n];

        if ((x->effect == EFFECT_ANY || x->effect == t->effect) &&
            (x->key == 0 || x->key == t->key) && (x->exists || (x->key && x->value == t->value)))
            return true;
    }
    return false;
}

/* pod NULL: a pod that only tolerates taints named after GPUs. */
static bool may_use(const struct facts *f, const struct facts_node *n, const struct facts_pod *p)
{
    if (p && !needs_hold(f, n, p))
        return false;
    for (uint32_t t = 0; t < n->taint_count; t++) {
        const struct facts_taint *x = &f->taint[n->taint_first + t];

        if (p ? !tolerated(f, x, p) : facts_device_rank(f, facts_name(f, x->key)) < 0)
            return false;
    }
    return true;
}

/* Equal for pods that demand the same. */
static void sign(const struct facts *f, const struct facts_pod *p, struct out *text)
{
    out_clear(text);
    out_format(text, "%u", p->resource);
    for (uint32_t n = 0; n < p->need_count; n++) {
        const struct facts_need *x = &f->need[p->need_first + n];

        out_format(text, "|%u,%u,%u,%u", x->key, x->op, x->term, x->field);
        for (uint32_t v = 0; v < x->value_count; v++)
            out_format(text, ",%u", f->value[x->value_first + v]);
    }
    for (uint32_t n = 0; n < p->toleration_count; n++) {
        const struct facts_toleration *x = &f->toleration[p->toleration_first + n];

        out_format(text, "/%u,%u,%u,%u", x->key, x->value, x->effect, x->exists);
    }
}

/* The first class of pods that wait. */
static uint32_t first_class(const struct books *b)
{
    return BOOKS_MODEL + b->f->model_count;
}

/* The first pod of each class of those that wait, which is its example. */
static uint32_t *number_classes(struct books *b)
{
    struct facts *f = b->f;
    struct out text = {NULL, 0, 0};
    uint32_t *example = NULL;
    size_t limit = 0;

    b->classes = first_class(b);
    b->class_of = memory_zeroed((f->pod_count + 1) * sizeof(*b->class_of));
    for (size_t p = 0; p < f->pod_count; p++) {
        uint32_t row;

        if (f->pod[p].phase != PHASE_WAITS || f->pod[p].gpus == 0)
            continue;
        sign(f, &f->pod[p], &text);
        row = facts_row(f, 'c', text.bytes);
        if (row == FACTS_NONE) {
            row = b->classes - first_class(b);
            facts_row_put(f, 'c', text.bytes, row);
            example = out_grow(example, row, &limit, sizeof(*example));
            example[row] = (uint32_t)p;
            b->classes++;
        }
        b->class_of[p] = row + first_class(b);
    }
    out_free(&text);
    return example;
}

static uint64_t models_of(const struct facts *f, uint32_t resource)
{
    uint64_t models = 0;

    for (uint32_t m = 0; m < f->model_count; m++)
        if (f->model[m].resource == resource)
            models |= (uint64_t)1 << m;
    return models;
}

/* The classes that may use the node, as hexadecimal digits. */
static void write_answers(const struct books *b, const struct facts_node *n,
                          const uint32_t *example, struct out *text)
{
    unsigned digit = 0;

    out_clear(text);
    for (uint32_t c = 0; c < b->classes; c++) {
        bool waits = c >= first_class(b);
        bool may = (c != BOOKS_ANYBODY && !waits) ||
                   may_use(b->f, n, waits ? &b->f->pod[example[c - first_class(b)]] : NULL);

        digit = digit * 2 + may;
        if (c % 4 == 3 || c + 1 == b->classes) {
            out_char(text, "0123456789abcdef"[digit]);
            digit = 0;
        }
    }
}

static bool answer(const char *text, uint32_t classes, uint32_t c)
{
    char digit = text[c / 4];
    unsigned value = digit <= '9' ? (unsigned)(digit - '0') : (unsigned)(digit - 'a') + 10;
    unsigned in = classes - c / 4 * 4 < 4 ? classes - c / 4 * 4 : 4;

    return value >> (in - 1 - c % 4) & 1;
}

void books_classes(struct books *b, uint8_t *ret_node_class)
{
    struct facts *f = b->f;
    uint32_t *example = number_classes(b), kinds = 0;
    struct event_class *row = memory_zeroed(b->classes * sizeof(*row));
    struct out text = {NULL, 0, 0};

    for (uint32_t c = 0; c < b->classes; c++) {
        row[c].class_id = c;
        row[c].models = c < BOOKS_MODEL ? UINT64_MAX
                        : c < first_class(b)
                            ? (uint64_t)1 << (c - BOOKS_MODEL)
                            : models_of(f, f->pod[example[c - first_class(b)]].resource);
    }
    for (uint32_t h = 0; h < b->hosts; h++) {
        const struct facts_node *n = &f->node[b->node_of[h]];
        uint32_t kind;

        write_answers(b, n, example, &text);
        kind = facts_row(f, 'v', text.bytes);
        if (kind == FACTS_NONE && kinds == CLASSES_MAX) {
            facts_odd(f, ODD_CLASSES, n->name, n->capacity);
            kind = CLASSES_MAX - 1;
        } else if (kind == FACTS_NONE) {
            kind = kinds++;
            facts_row_put(f, 'v', text.bytes, kind);
            for (uint32_t c = 0; c < b->classes; c++)
                if (answer(text.bytes, b->classes, c))
                    row[c].nodes[kind / 64] |= (uint64_t)1 << kind % 64;
        }
        ret_node_class[h] = (uint8_t)kind;
    }
    for (uint32_t c = 0; c < b->classes; c++) {
        struct event e = {.kind = EVENT_CLASS, .class = row[c]};

        books_event(b, &e);
    }
    free(example);
    free(row);
    out_free(&text);
}
