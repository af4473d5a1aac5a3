/* out.h - bytes on their way out: a buffer that grows, and files whose every write is checked
 *
 * Everything the program writes is built in a struct out and leaves through a struct out_file, so
 * that a full disk or a closed pipe is noticed once, with the file's name, and never lost. Numbers
 * are printed from integers: the same run gives the same bytes on every machine and locale.
 *
 * Units   out_seconds() takes ns and prints seconds with at most 6 decimals, rounded to the
 *         nearest microsecond, trailing zeros cut.
 * Owner   The caller's structs; out_free() and out_file_close() give back what they hold. A
 *         struct out of zeros is an empty buffer.
 * Errors  ERR_TROUBLE with the file's name. Memory that is refused ends the program with that code.
 *         The program must ignore SIGPIPE, or a closed pipe ends it before it can say so.
 */
#ifndef EDGE_BASE_OUT_H
#define EDGE_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "edge/base/err.h"

struct out {
    char *bytes; /* NUL-terminated once anything was added */
    size_t length, limit;
};

void out_free(struct out *t);
void out_clear(struct out *t); /* keeps the memory */
void out_bytes(struct out *t, const void *bytes, size_t length);
void out_add(struct out *t, const char *string);
void out_char(struct out *t, char c);
void out_integer(struct out *t, int64_t value);
/* value / 10^decimals, exactly, trailing zeros cut. At most 18 decimals. */
void out_decimal(struct out *t, int64_t value, unsigned decimals);
void out_seconds(struct out *t, int64_t ns);
/* Rounded half away from zero to so many decimals, trailing zeros cut; not a number: "null". */
void out_real(struct out *t, double value, unsigned decimals);
/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void out_json(struct out *t, const char *string);
/* The same string for the inside of HTML or SVG, attributes included. */
void out_html(struct out *t, const char *string);
void out_format(struct out *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Columns of a terminal that the UTF-8 string takes, one per code point. */
size_t out_columns(const char *string);

/* A table that doubles when *limit is reached; returns where it lies now. New rows are zero. */
void *out_grow(void *table, size_t count, size_t *limit, size_t row_bytes);

struct out_file {
    int fd;
    bool whole; /* becomes visible under its name only when closed without trouble */
    int failed; /* the first ERR_TROUBLE, or 0 */
    char *path, *path_now;
    struct err err;
};

/* "-" is standard output. whole: written to PATH.PID.tmp and renamed by out_file_close(). A file
 * that another run is writing is trouble: two writers would leave neither's. */
int out_file_open(struct out_file *f, const char *path, bool whole, struct err *err);
/* After the first failure further writes do nothing and return it again. */
int out_file_write(struct out_file *f, const void *bytes, size_t length);
/* Returns the first trouble of the file's life. A whole file that failed is removed. */
int out_file_close(struct out_file *f, struct err *err);

/* One whole file from a buffer. */
int out_save(const struct out *t, const char *path, struct err *err);

#endif
