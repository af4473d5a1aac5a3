/* snapshot.h - the whole model as bytes, and back
 *
 * A restart loads the last snapshot and replays what came after it. The encoding is versioned and
 * checked: table by table the width of a row and the number of rows, then the rows, whose runs of
 * zero bytes are shortened; the digest stands at the end. The index is not stored: it is made anew.
 *
 * Errors  A snapshot of another layout, cut or changed, is refused as a whole; the caller then
 *         replays the journal from its start. Bytes are hostile until the digest agrees.
 */
#ifndef ENGINE_SNAPSHOT_H
#define ENGINE_SNAPSHOT_H

#include "core/engine/sched.h"

#define SNAPSHOT_FORMAT 1u

/* Appends the snapshot; no transaction may be open. */
void snapshot_put(struct sched *s, struct wire_out *w);

/* Reads what limits a snapshot needs; false: it is none of ours. */
bool snapshot_limits(const uint8_t *bytes, size_t size, struct limits *ret_limits);
/* Fills a scheduler that was just made with at least these limits. False: refused; the scheduler
 * must be thrown away. */
bool snapshot_get(struct sched *s, const uint8_t *bytes, size_t size);

#endif
