/* lines.h - a text file, plain or gzipped, one line at a time
 *
 * The first bytes tell whether a file is gzipped, not its name. A gzip file that is cut, damaged or
 * followed by garbage is an error, so that nothing is half-read unnoticed.
 *
 * Memory is bounded: a line over the limit is an error that names it, never a growing buffer. CRLF
 * ends are cut, a byte order mark at the start is skipped, a NUL byte is an error.
 */
#ifndef EDGE_BASE_LINES_H
#define EDGE_BASE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "edge/base/err.h"

#define LINES_BYTES_MAX (16u << 20)

struct lines; /* private */

/* "-" reads standard input. */
int lines_open(struct lines **ret_lines, const char *path, struct err *err);
/* The next line without its end, NUL-terminated, valid until the next call. 1: a line, 0: the end,
 * or a negative error (the negated code). *ret_number is its 1-based number. */
int lines_next(struct lines *l, char **ret_text, size_t *ret_length, uint32_t *ret_number,
               struct err *err);
void lines_close(struct lines *l);

#endif
