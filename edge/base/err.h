/* err.h - one line of trouble, in words for a tired person
 *
 * Edges meet the outside: files that are cut, disks that are full. A function that may fail returns
 * 0 or one of the codes below and fills a struct err; the program prints it once, where it acts.
 *
 * Errors  The codes are the exit codes of the command line, so that nothing translates them.
 * Owner   The caller's struct, usually on its stack. A text that is too long is cut, never torn
 *         inside a UTF-8 sequence.
 */
#ifndef EDGE_BASE_ERR_H
#define EDGE_BASE_ERR_H

#include <stdarg.h>

enum {
    ERR_NONE = 0,    /* fine */
    ERR_CHECK = 1,   /* an expectation or a check failed */
    ERR_INPUT = 2,   /* bad input or usage */
    ERR_TROUBLE = 3, /* the outside: disk, memory, network */
};

struct err {
    char text[320];
};

/* Fills err and returns code: `return err_set(err, ERR_INPUT, "%s:%u: found ...", ...)`. */
int err_set(struct err *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
