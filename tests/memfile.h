/* memfile.h - a text that has a path, for tests and fuzzers of readers
 *
 * Readers take paths. A memfile lives in memory, costs no disk and leaves nothing behind.
 *
 * Owner   The caller's struct; memfile_close() ends it.
 * Misuse  Trouble ends the test program: there is nothing to test without it.
 */
#ifndef TESTS_MEMFILE_H
#define TESTS_MEMFILE_H

#include <stddef.h>

struct memfile {
    int fd;
    char path[40];
};

void memfile_open(struct memfile *f);
/* Replaces all that the file holds. */
void memfile_set(struct memfile *f, const void *bytes, size_t length);
void memfile_close(struct memfile *f);

#endif
