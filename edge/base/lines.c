#include "edge/base/lines.h"

#include "edge/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define READ_BYTES ((size_t)64 << 10)

/* zlib's own file functions overlook garbage behind a gzip member, and with it all members after
 * one whose header is damaged. Here every byte of the file counts. */
struct lines {
    int fd;
    char *path;
    char *buffer; /* [start, end) is read and not handed out; room for a NUL behind it */
    size_t size, start, end;
    uint32_t number;
    bool at_end;
    bool zipped, in_member; /* a member of the gzip file has begun and not ended */
    z_stream z;
    unsigned char *input; /* of the stream */
};

/* Is there such a file with another end of its name? It is the commonest slip. */
static bool beside(const char *path, char *ret_other, size_t room)
{
    size_t length = strlen(path);
    bool zipped = length > 3 && strcmp(path + length - 3, ".gz") == 0;
    int need = zipped ? snprintf(ret_other, room, "%.*s", (int)(length - 3), path)
                      : snprintf(ret_other, room, "%s.gz", path);

    return need > 0 && (size_t)need < room && access(ret_other, R_OK) == 0;
}

static int say_unopened(struct err *err, const char *path, int number)
{
    char other[256];

    if (number == ENOENT && beside(path, other, sizeof(other)))
        return err_set(err, ERR_INPUT, "%s: found no such file, expected one; there is %s", path,
                       other);
    if (number == ENOENT || number == ENOTDIR)
        return err_set(err, ERR_INPUT,
                       "%s: found no such file, expected one; check the path and the folder", path);
    if (number == EACCES || number == ENAMETOOLONG || number == ELOOP)
        return err_set(err, ERR_INPUT,
                       "%s: found a file that does not open (%s), expected one "
                       "that this user may read",
                       path, strerror(number));
    return err_set(err, ERR_TROUBLE, "%s: does not open: %s", path, strerror(number));
}

/* Bytes as they are, at least one unless the file ends; negative: the negated code. */
static ssize_t read_bytes(struct lines *l, void *to, struct err *err)
{
    ssize_t got;

    do
        got = read(l->fd, to, READ_BYTES);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -err_set(err, ERR_TROUBLE, "%s: does not read: %s", l->path, strerror(errno));
    return got;
}

/* The first bytes tell whether the file is gzipped; they are kept for the first fill. */
static int look_at_start(struct lines *l, struct err *err)
{
    ssize_t got;

    do {
        got = read_bytes(l, l->buffer + l->end, err);
        if (got < 0)
            return (int)-got;
        l->end += (size_t)got;
    } while (got > 0 && l->end < 2);
    if (l->end < 2 || memcmp(l->buffer, "\x1F\x8B", 2) != 0)
        return ERR_NONE;
    if (inflateInit2(&l->z, 15 + 16) != Z_OK)
        return err_set(err, ERR_TROUBLE, "%s: no memory to unzip it", l->path);
    l->zipped = l->in_member = true;
    l->input = memory_grow(NULL, 2 * READ_BYTES);
    memcpy(l->input, l->buffer, l->end);
    l->z.next_in = l->input;
    l->z.avail_in = (uInt)l->end;
    l->end = 0;
    return ERR_NONE;
}

int lines_open(struct lines **ret_lines, const char *path, struct err *err)
{
    bool standard = strcmp(path, "-") == 0;
    const char *shown = standard ? "standard input" : path;
    struct stat st;
    int fd = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return say_unopened(err, path, errno);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        (void)close(fd);
        return err_set(err, ERR_INPUT, "%s: found a directory, expected a file", path);
    }

    struct lines *l = memory_zeroed(sizeof(*l));
    l->fd = fd;
    l->path = memory_grow(NULL, strlen(shown) + 1);
    memcpy(l->path, shown, strlen(shown) + 1);
    l->size = 2 * READ_BYTES;
    l->buffer = memory_grow(NULL, l->size + 1);

    int code = look_at_start(l, err);
    if (code)
        lines_close(l);
    else
        *ret_lines = l;
    return code;
}

static int say_broken(struct lines *l, struct err *err)
{
    return err_set(err, ERR_INPUT, "%s:%u: found broken gzip (%s), expected a whole gzip file",
                   l->path, l->number + 1, l->z.msg ? l->z.msg : "no details");
}

/* One push of the stream; *got may stay 0 where a member ends or more input is needed. */
static int unzip(struct lines *l, size_t *got, struct err *err)
{
    if (l->z.avail_in == 0) {
        ssize_t bytes = read_bytes(l, l->input, err);

        if (bytes < 0)
            return (int)-bytes;
        if (bytes == 0 && l->in_member)
            return err_set(err, ERR_INPUT,
                           "%s:%u: found the end of a gzip file that is cut, expected all of it",
                           l->path, l->number + 1);
        l->at_end = bytes == 0;
        if (l->at_end)
            return ERR_NONE;
        l->z.next_in = l->input;
        l->z.avail_in = (uInt)bytes;
    }
    if (!l->in_member && inflateReset(&l->z) != Z_OK)
        return say_broken(l, err);
    l->in_member = true;
    l->z.next_out = (Bytef *)l->buffer + l->end;
    l->z.avail_out = (uInt)READ_BYTES;

    int result = inflate(&l->z, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        return say_broken(l, err);
    *got = READ_BYTES - l->z.avail_out;
    l->in_member = result != Z_STREAM_END;
    return ERR_NONE;
}

/* More bytes behind those not handed out yet. */
static int fill(struct lines *l, struct err *err)
{
    size_t got = 0;

    if (l->start > 0) {
        memmove(l->buffer, l->buffer + l->start, l->end - l->start);
        l->end -= l->start;
        l->start = 0;
    }
    if (l->size - l->end < READ_BYTES) {
        l->size *= 2;
        l->buffer = memory_grow(l->buffer, l->size + 1);
    }
    while (l->zipped && got == 0 && !l->at_end) {
        int code = unzip(l, &got, err);

        if (code)
            return code;
    }
    if (!l->zipped) {
        ssize_t bytes = read_bytes(l, l->buffer + l->end, err);

        if (bytes < 0)
            return (int)-bytes;
        got = (size_t)bytes;
        l->at_end = got == 0;
    }
    l->end += got;
    return ERR_NONE;
}

/* The line [start, start + length) without its end, the mark at the file's start and all that. */
static int hand_out(struct lines *l, size_t length, char **ret_text, size_t *ret_length,
                    struct err *err)
{
    char *text = l->buffer + l->start;

    if (memchr(text, '\0', length))
        return -err_set(err, ERR_INPUT, "%s:%u: found a NUL byte, expected text", l->path,
                        l->number);
    if (l->number == 1 && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        length -= 3;
    }
    if (length > 0 && text[length - 1] == '\r')
        length--;
    text[length] = '\0';
    *ret_text = text;
    *ret_length = length;
    return 1;
}

int lines_next(struct lines *l, char **ret_text, size_t *ret_length, uint32_t *ret_number,
               struct err *err)
{
    size_t seen = 0;

    for (;;) {
        size_t left = l->end - l->start;
        char *at = left > seen ? memchr(l->buffer + l->start + seen, '\n', left - seen) : NULL;
        size_t length = at ? (size_t)(at - (l->buffer + l->start)) : left;

        if (l->number == UINT32_MAX)
            return -err_set(err, ERR_INPUT, "%s: found more lines than 4294967295, expected fewer",
                            l->path);
        if (length > LINES_BYTES_MAX)
            return -err_set(err, ERR_INPUT, "%s:%u: found a line longer than 16 MiB, expected less",
                            l->path, l->number + 1);
        if (at || (l->at_end && left > 0)) {
            *ret_number = ++l->number;
            int result = hand_out(l, length, ret_text, ret_length, err);

            l->start += length + (at != NULL);
            return result;
        }
        if (l->at_end)
            return 0;
        seen = left;
        int code = fill(l, err);
        if (code)
            return -code;
    }
}

void lines_close(struct lines *l)
{
    if (!l)
        return;
    if (l->zipped)
        (void)inflateEnd(&l->z);
    (void)close(l->fd);
    free(l->input);
    free(l->path);
    free(l->buffer);
    free(l);
}
