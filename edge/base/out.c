#include "edge/base/out.h"

#include "edge/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void *out_grow(void *table, size_t count, size_t *limit, size_t row_bytes)
{
    if (count < *limit)
        return table;

    size_t more = *limit ? *limit * 2 : 16;
    char *block = memory_grow(table, more * row_bytes);

    memset(block + *limit * row_bytes, 0, (more - *limit) * row_bytes);
    *limit = more;
    return block;
}

void out_free(struct out *t)
{
    free(t->bytes);
    *t = (struct out){0};
}

void out_clear(struct out *t)
{
    t->length = 0;
    if (t->bytes)
        t->bytes[0] = '\0';
}

static char *room(struct out *t, size_t length)
{
    if (t->limit - t->length <= length) {
        size_t limit = t->limit ? t->limit : 256;

        while (limit - t->length <= length)
            limit *= 2;
        t->bytes = memory_grow(t->bytes, limit);
        t->limit = limit;
    }
    return t->bytes + t->length;
}

void out_bytes(struct out *t, const void *bytes, size_t length)
{
    char *to = room(t, length);

    if (length > 0)
        memcpy(to, bytes, length);
    to[length] = '\0';
    t->length += length;
}

void out_add(struct out *t, const char *string)
{
    out_bytes(t, string, strlen(string));
}

void out_char(struct out *t, char c)
{
    out_bytes(t, &c, 1);
}

static unsigned digits(uint64_t value, char digit[static 20])
{
    unsigned count = 0;

    do {
        digit[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return count;
}

void out_integer(struct out *t, int64_t value)
{
    out_decimal(t, value, 0);
}

void out_decimal(struct out *t, int64_t value, unsigned decimals)
{
    char digit[20], text[48];
    unsigned count, length = 0;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    while (decimals > 0 && left % 10 == 0) {
        left /= 10;
        decimals--;
    }
    count = digits(left, digit);
    if (value < 0)
        text[length++] = '-';
    if (count <= decimals)
        text[length++] = '0';
    for (unsigned i = count; i > decimals; i--)
        text[length++] = digit[i - 1];
    if (decimals > 0) {
        text[length++] = '.';
        for (unsigned i = decimals; i > count; i--)
            text[length++] = '0';
        for (unsigned i = count < decimals ? count : decimals; i > 0; i--)
            text[length++] = digit[i - 1];
    }
    out_bytes(t, text, length);
}

void out_seconds(struct out *t, int64_t ns)
{
    int64_t us = ns / 1000, rest = ns % 1000;

    if (rest >= 500)
        us++;
    else if (rest <= -500)
        us--;
    out_decimal(t, us, 6);
}

void out_real(struct out *t, double value, unsigned decimals)
{
    double scale = 1;

    if (!isfinite(value)) {
        out_add(t, "null");
        return;
    }
    for (unsigned i = 0; i < decimals; i++)
        scale *= 10;
    if (fabs(value) * scale < 9e15)
        out_decimal(t, (int64_t)llround(value * scale), decimals);
    else
        out_format(t, "%.0f", value);
}

static bool follows(unsigned char c)
{
    return (c & 0xC0u) == 0x80u;
}

/* Length of the valid UTF-8 sequence at p, or 0. */
static size_t sequence(const unsigned char *p)
{
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xC2 && p[0] <= 0xDF)
        return follows(p[1]) ? 2 : 0;
    if ((p[0] & 0xF0) == 0xE0) {
        bool surrogate = p[0] == 0xED && p[1] >= 0xA0, overlong = p[0] == 0xE0 && p[1] < 0xA0;

        return follows(p[1]) && follows(p[2]) && !surrogate && !overlong ? 3 : 0;
    }
    if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        bool outside = (p[0] == 0xF4 && p[1] >= 0x90) || (p[0] == 0xF0 && p[1] < 0x90);

        return !outside && follows(p[1]) && follows(p[2]) && follows(p[3]) ? 4 : 0;
    }
    return 0;
}

static void json_ascii(struct out *t, unsigned char c)
{
    static const char pair[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* the byte, then its short form */

    for (const char *s = pair; *s; s += 2)
        if ((unsigned char)*s == c) {
            out_char(t, '\\');
            out_char(t, s[1]);
            return;
        }
    out_format(t, "\\u%04x", c);
}

void out_json(struct out *t, const char *string)
{
    const unsigned char *p = (const unsigned char *)string;

    out_char(t, '"');
    while (*p) {
        const unsigned char *plain = p;

        while (*p >= 0x20 && *p < 0x7F && *p != '"' && *p != '\\')
            p++;
        out_bytes(t, plain, (size_t)(p - plain));
        if (!*p)
            break;
        size_t length = sequence(p);
        if (length > 1)
            out_bytes(t, p, length);
        else if (length == 1)
            json_ascii(t, *p);
        else
            out_add(t, "\xEF\xBF\xBD");
        p += length ? length : 1;
    }
    out_char(t, '"');
}

void out_html(struct out *t, const char *string)
{
    const unsigned char *p = (const unsigned char *)string;

    while (*p) {
        size_t length = sequence(p);

        if (*p == '&')
            out_add(t, "&amp;");
        else if (*p == '<')
            out_add(t, "&lt;");
        else if (*p == '>')
            out_add(t, "&gt;");
        else if (*p == '"')
            out_add(t, "&quot;");
        else if (*p == '\'')
            out_add(t, "&#39;");
        else if (length == 0 || (*p < 0x20 && *p != '\n' && *p != '\t') || *p == 0x7F)
            out_add(t, "\xEF\xBF\xBD");
        else
            out_bytes(t, p, length);
        p += length ? length : 1;
    }
}

void out_format(struct out *t, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0) { /* also nothing: the buffer is a string from now on */
        char *to = room(t, (size_t)length);

        t->length += (size_t)vsnprintf(to, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(args);
}

size_t out_columns(const char *string)
{
    size_t columns = 0;

    for (; *string; string++)
        columns += !follows((unsigned char)*string);
    return columns;
}

static char *joined(const char *name, const char *end)
{
    size_t bytes = strlen(name) + strlen(end) + 1;
    char *text = memory_grow(NULL, bytes);

    snprintf(text, bytes, "%s%s", name, end);
    return text;
}

static void forget(struct out_file *f)
{
    free(f->path);
    free(f->path_now);
    *f = (struct out_file){.fd = -1};
}

/* Empties the file once no other writer has it. A file system without locks, or a file that is no
 * plain one, does as well as it can. */
static bool take_over(int fd)
{
    struct stat s;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || ftruncate(fd, 0) == 0;
}

int out_file_open(struct out_file *f, const char *path, bool whole, struct err *err)
{
    char hidden[32];

    *f = (struct out_file){.fd = STDOUT_FILENO};
    if (strcmp(path, "-") == 0) {
        f->path = joined("standard output", "");
        return ERR_NONE;
    }
    f->whole = whole;
    f->path = joined(path, "");
    snprintf(hidden, sizeof(hidden), ".%ld.tmp", (long)getpid());
    f->path_now = joined(path, whole ? hidden : "");
    f->fd = open(f->path_now, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (f->fd >= 0 && take_over(f->fd))
        return ERR_NONE;
    err_set(err, ERR_TROUBLE, "%s: %s", f->path_now,
            f->fd >= 0 && errno == EWOULDBLOCK
                ? "another run writes it; choose another folder, or wait"
                : strerror(errno));
    if (f->fd >= 0)
        (void)close(f->fd);
    forget(f);
    return ERR_TROUBLE;
}

static int trouble(struct out_file *f)
{
    if (!f->failed)
        f->failed = err_set(&f->err, ERR_TROUBLE, "%s: %s", f->path, strerror(errno));
    return f->failed;
}

int out_file_write(struct out_file *f, const void *bytes, size_t length)
{
    const char *from = bytes;

    while (!f->failed && length > 0) {
        ssize_t wrote = write(f->fd, from, length);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return trouble(f);
        from += wrote;
        length -= (size_t)wrote;
    }
    return f->failed;
}

int out_file_close(struct out_file *f, struct err *err)
{
    int result;

    if (f->path_now && close(f->fd) != 0)
        trouble(f);
    if (f->path_now && f->whole && !f->failed && rename(f->path_now, f->path) != 0)
        trouble(f);
    if (f->path_now && f->whole && f->failed)
        unlink(f->path_now);
    result = f->failed;
    if (result)
        *err = f->err;
    forget(f);
    return result;
}

int out_save(const struct out *t, const char *path, struct err *err)
{
    struct out_file f;

    if (out_file_open(&f, path, true, err))
        return ERR_TROUBLE;
    out_file_write(&f, t->bytes, t->length);
    return out_file_close(&f, err);
}
