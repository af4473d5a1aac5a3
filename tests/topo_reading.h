/* topo_reading.h - what a text is read as, for the tests of edge/topo
 *
 * A row has a text, the statements of topo_text() it must become, and a part of a remark it must
 * leave. A row that fails says its why, and the test goes on to the next.
 *
 * Misuse  End every test with topo_rows_done(), which fails it if any row did.
 */
#ifndef TESTS_TOPO_READING_H
#define TESTS_TOPO_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "edge/topo/topo.h"

/* The text is read, as `reading`, with a remark that contains `remark` (NULL: none is asked for;
 * "": there must be none). */
void topo_row_reads(const char *why, const char *text, const char *reading, const char *remark);
/* The text is refused with exactly this error; it is named F. */
void topo_row_fails(const char *why, const char *text, const char *error);
/* Fails the test if rows did since the last call. */
void topo_rows_done(void);

bool topo_has_remark(const struct topo *t, const char *part);

#endif
