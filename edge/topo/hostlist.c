/* Slurm's way to write many names: node[01-03,7]-ib[0-1],login. Brackets multiply, the last one
 * runs fastest; a number keeps the width of the low end of its range. */
#include "edge/topo/topo_parts.h"

#include <stdio.h>
#include <string.h>

#define PARTS_MAX      4u /* brackets in one name */
#define NAME_BYTES_MAX 253u

struct range {
    int64_t low, high;
    int width;
};

struct bracket {
    const char *before; /* the literal in front */
    size_t before_length;
    const char *list; /* inside the bracket */
    size_t list_length;
    /* where the walk stands */
    size_t at;
    struct range range;
    int64_t value;
};

/* The range at b->at; moves behind it and its comma. */
static bool next_range(struct bracket *b)
{
    const char *text = b->list + b->at;
    size_t left = b->list_length - b->at, digits = 0, used;

    while (digits < left && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    if (!topo_number(text, digits, INT64_C(999999999999), &b->range.low))
        return false;
    b->range.width = text[0] == '0' ? (int)digits : 1;
    b->range.high = b->range.low;
    used = digits;
    if (used < left && text[used] == '-') {
        used++;
        digits = 0;
        while (used + digits < left && text[used + digits] >= '0' && text[used + digits] <= '9')
            digits++;
        if (!topo_number(text + used, digits, INT64_C(999999999999), &b->range.high) ||
            b->range.high < b->range.low)
            return false;
        used += digits;
    }
    if (used < left && text[used++] != ',')
        return false;
    b->at += used;
    b->value = b->range.low;
    return true;
}

static bool restart(struct bracket *b)
{
    b->at = 0;
    return next_range(b);
}

/* Every list must parse before a single name is handed out. */
static bool lists_fine(struct bracket *b, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (b[i].list_length == 0 || b[i].list[b[i].list_length - 1] == ',')
            return false;
        for (b[i].at = 0; b[i].at < b[i].list_length;)
            if (!next_range(&b[i]))
                return false;
        (void)restart(&b[i]);
    }
    return true;
}

/* One step of the odometer; false: it has gone round. */
static bool step(struct bracket *b, unsigned count)
{
    for (unsigned i = count; i-- > 0;) {
        if (b[i].value < b[i].range.high) {
            b[i].value++;
            return true;
        }
        if (b[i].at < b[i].list_length)
            return next_range(&b[i]);
        (void)restart(&b[i]);
    }
    return false;
}

/* All names of one element, such as a[1-2]b. */
static bool element(struct bracket *b, unsigned count, const char *tail, size_t tail_length,
                    hostlist_fn *each, void *data, const char **ret_why)
{
    char name[NAME_BYTES_MAX + 1];

    if (!lists_fine(b, count)) {
        *ret_why = "a range that is not like [1-3,7]";
        return false;
    }
    do {
        size_t used = 0;

        for (unsigned i = 0; i < count; i++) {
            char digits[24];
            int width =
                snprintf(digits, sizeof(digits), "%0*lld",
                         b[i].range.width > 20 ? 20 : b[i].range.width, (long long)b[i].value);

            if (used + b[i].before_length + (size_t)width + tail_length > NAME_BYTES_MAX) {
                *ret_why = "a name longer than 253 bytes";
                return false;
            }
            memcpy(name + used, b[i].before, b[i].before_length);
            used += b[i].before_length;
            memcpy(name + used, digits, (size_t)width);
            used += (size_t)width;
        }
        if (used + tail_length > NAME_BYTES_MAX) {
            *ret_why = "a name longer than 253 bytes";
            return false;
        }
        memcpy(name + used, tail, tail_length);
        used += tail_length;
        name[used] = '\0';
        if (!each(data, name, used)) {
            *ret_why = "more names than this program holds";
            return false;
        }
    } while (step(b, count));
    return true;
}

bool hostlist_each(const char *text, size_t length, hostlist_fn *each, void *data,
                   const char **ret_why)
{
    const char *end = text + length;

    while (text < end) {
        struct bracket b[PARTS_MAX];
        unsigned count = 0;
        const char *from = text;

        while (text < end && *text != ',') {
            if (*text++ != '[')
                continue;
            const char *close = memchr(text, ']', (size_t)(end - text));

            if (!close || count == PARTS_MAX) {
                *ret_why =
                    close ? "more than 4 brackets in a name" : "a bracket that is not closed";
                return false;
            }
            b[count++] = (struct bracket){.before = from,
                                          .before_length = (size_t)(text - 1 - from),
                                          .list = text,
                                          .list_length = (size_t)(close - text)};
            from = text = close + 1;
        }
        if ((text > from || count) &&
            !element(b, count, from, (size_t)(text - from), each, data, ret_why))
            return false;
        if (text < end)
            text++;
    }
    return true;
}
