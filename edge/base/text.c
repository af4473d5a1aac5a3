#include "edge/base/text.h"

#include <string.h>

/* Bytes of the sequence that starts here, 0 if it is broken. */
static size_t sequence(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* bounds of the first and of the second byte */
        unsigned char bytes;
    } form[] = {
        {0x00, 0x7F, 0x00, 0x00, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };

    for (size_t f = 0; f < sizeof(form) / sizeof(form[0]); f++) {
        if (at[0] < form[f].first || at[0] > form[f].last)
            continue;
        if (left < form[f].bytes)
            return 0;
        if (form[f].bytes > 1 && (at[1] < form[f].low || at[1] > form[f].high))
            return 0;
        for (size_t i = 2; i < form[f].bytes; i++)
            if ((at[i] & 0xC0u) != 0x80u)
                return 0;
        return form[f].bytes;
    }
    return 0;
}

bool text_is_utf8(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;

    for (size_t i = 0; i < length;) {
        size_t bytes = at[i] < 0x80 ? 1 : sequence(at + i, length - i);

        if (bytes == 0)
            return false;
        i += bytes;
    }
    return true;
}

const char *text_shown(char *out, size_t room, const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;

    for (size_t i = 0; i < length;) {
        size_t bytes = sequence(at + i, length - i);
        bool plain = bytes > 1 || (bytes == 1 && at[i] >= 0x20 && at[i] != 0x7F);

        if (used + (bytes ? bytes : 1) + 3 >= room) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        if (plain)
            memcpy(out + used, text + i, bytes);
        else
            out[used] = '?';
        used += plain ? bytes : 1;
        i += bytes ? bytes : 1;
    }
    out[used] = '\0';
    return out;
}
