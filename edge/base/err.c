#include "edge/base/err.h"

#include <stdio.h>
#include <string.h>

int err_set(struct err *err, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(err->text, sizeof(err->text), format, args);
    va_end(args);
    if (length >= (int)sizeof(err->text)) {
        size_t end = sizeof(err->text) - 1;

        while (end > 0 && ((unsigned char)err->text[end - 1] & 0xC0u) == 0x80u)
            end--;
        if (end > 0 && ((unsigned char)err->text[end - 1] & 0xC0u) == 0xC0u)
            end--;
        err->text[end] = '\0';
    }
    return code;
}
