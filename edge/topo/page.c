#include "edge/base/lines.h"
#include "edge/topo/topo_parts.h"

#include <string.h>

/* Copies a line without what a terminal would swallow: ESC [ ... letter, and other ESC pairs. */
static void add_line(struct out *to, const char *text, size_t length, bool *coloured)
{
    size_t from = 0;

    for (size_t i = 0; i < length;) {
        if (text[i] != '\x1B') {
            i++;
            continue;
        }
        out_bytes(to, text + from, i - from);
        *coloured = true;
        i++;
        if (i < length && text[i] == '[') {
            i++;
            while (i < length && (unsigned char)text[i] >= 0x20 && (unsigned char)text[i] < 0x40)
                i++;
        }
        if (i < length)
            i++;
        from = i;
    }
    out_bytes(to, text + from, length - from);
    out_char(to, '\n');
}

/* The lines of what was collected. */
static void split(struct topo *t, struct out *all, struct page *p)
{
    char *lines = topo_take(t, all->length + 1);
    uint32_t count = 0;

    p->file = t->file;
    p->first_line = 1;
    p->length = all->length;
    p->text = topo_keep(t, all->length ? all->bytes : "", all->length);
    memcpy(lines, p->text, all->length);
    for (size_t i = 0; i < all->length; i++)
        count += lines[i] == '\n';
    p->line = topo_take(t, (count + (size_t)1) * sizeof(*p->line));
    for (char *at = lines; p->count < count;) {
        char *end = memchr(at, '\n', all->length - (size_t)(at - lines));

        *end = '\0';
        p->line[p->count++] = (struct page_line){.text = at, .length = (size_t)(end - at)};
        at = end + 1;
    }
    out_free(all);
    if (p->coloured)
        topo_remark(t, 0, "escape codes of a terminal were left out");
}

int topo_page_open(struct topo *t, const char *path, struct page *ret_page, struct err *err)
{
    struct lines *lines = NULL;
    struct out all = {0};
    char *text;
    size_t length;
    uint32_t number = 0;
    int code = lines_open(&lines, path, err), more = 1;

    if (code)
        return code;
    while (!code && (more = lines_next(lines, &text, &length, &number, err)) > 0) {
        if (all.length + length >= TOPO_BYTES_MAX)
            code = topo_bad(err, t, number, "found more than 64 MiB, expected a smaller file");
        else
            add_line(&all, text, length, &ret_page->coloured);
    }
    lines_close(lines);
    if (!code && more < 0)
        code = -more;
    if (code)
        out_free(&all);
    else
        split(t, &all, ret_page);
    return code;
}

int topo_page_text(struct topo *t, const char *text, size_t length, struct page *ret_page,
                   struct err *err)
{
    struct out all = {0};
    uint32_t number = 0;

    if (length > TOPO_BYTES_MAX)
        return topo_bad(err, t, 0, "found more than 64 MiB, expected a smaller text");
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t bytes = end ? (size_t)(end - (text + at)) : length - at;

        number++;
        if (memchr(text + at, '\0', bytes)) {
            out_free(&all);
            return topo_bad(err, t, number, "found a NUL byte, expected text");
        }
        add_line(&all, text + at, bytes, &ret_page->coloured);
        at += bytes + 1;
    }
    split(t, &all, ret_page);
    return ERR_NONE;
}
