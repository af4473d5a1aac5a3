/* YAML: documents are cut at lines that begin with "---" and read whole, one after the other. */
#include "edge/audit/stream_parts.h"

#include "edge/base/out.h"

#include <stdio.h>
#include <string.h>

#define YAML_MAX ((size_t)256 << 20)

static int one(struct stream *s, const char *name, unsigned number, const char *text, size_t length,
               struct err *err)
{
    struct tree_memory *m;
    struct tree *t = NULL;
    struct out label = {NULL, 0, 0};
    bool blank = true;
    int code;

    for (size_t n = 0; n < length && blank;) { /* comments alone are no document */
        const char *end = memchr(text + n, '\n', length - n);
        size_t until = end ? (size_t)(end - text) + 1 : length;

        while (n < until && strchr(" \t\r\n", text[n]) && text[n])
            n++;
        blank = n == until || text[n] == '#';
        n = until;
    }
    if (blank)
        return 0;
    out_format(&label, number > 1 ? "%s (document %u)" : "%s", name, number);
    m = tree_memory_open();
    code = tree_from_yaml(m, label.bytes, text, length, &t, err);
    if (!code && t->kind == TREE_MAP)
        stream_hand_out(s, NULL, t);
    else if (!code && t->kind == TREE_LIST)
        for (const struct tree *c = t->child; c; c = c->next) {
            if (c->kind == TREE_MAP)
                stream_hand_out(s, NULL, c);
        }
    else if (!code && t->kind != TREE_NULL)
        code = err_set(err, ERR_INPUT,
                       "%s: found plain text, expected Kubernetes objects as "
                       "`kubectl get nodes,pods -A -o json` prints them",
                       label.bytes);
    tree_memory_close(m);
    out_free(&label);
    return code;
}

static const char *cut_at(const char *text, const char *end)
{
    while (text < end) {
        const char *line = memchr(text, '\n', (size_t)(end - text));

        if (end - text >= 3 && memcmp(text, "---", 3) == 0 &&
            (end - text == 3 || strchr(" \t\r\n", text[3])))
            return text;
        text = line ? line + 1 : end;
    }
    return end;
}

int stream_yaml(struct stream *s, struct source *from, const char *first, size_t length,
                struct err *err)
{
    struct out whole = {NULL, 0, 0};
    unsigned number = 0;
    int code = 0;

    for (; length > 0 && !code; length = source_next(from, &first, err)) {
        out_bytes(&whole, first, length);
        if (whole.length > YAML_MAX)
            code = err_set(err, ERR_INPUT,
                           "%s: more than 256 MiB of YAML, which cannot be read piece by piece; "
                           "use -o json",
                           from->name);
    }
    if (from->failed)
        code = ERR_INPUT;
    s->bytes += whole.length;
    for (const char *at = whole.bytes, *end = at + whole.length; !code && at < end;) {
        const char *cut = cut_at(at, end), *line;

        code = cut > at ? one(s, from->name, ++number, at, (size_t)(cut - at), err) : 0;
        line = cut < end ? memchr(cut, '\n', (size_t)(end - cut)) : NULL;
        at = line ? line + 1 : end;
    }
    out_free(&whole);
    return code;
}
