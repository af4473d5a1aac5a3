/* journal.h - every batch of a run, what the core decided, and the digest after it
 *
 * The journal is the run: whoever has it repeats each decision bit for bit. It starts with the
 * eight bytes "dovetail", the format's number and the version that wrote it; then come batches: the
 * bytes of the events, the bytes of the decisions, the digest, and a sum of all bytes so far, by
 * which a damaged batch is known before it is run. The last record counts them, so that
 * a journal that was cut is seen as such; a run that is stopped writes none.
 *
 * Errors  A writer keeps its first trouble for journal_close(). A reader says the file and the
 *         position in bytes.
 */
#ifndef EDGE_SIM_JOURNAL_H
#define EDGE_SIM_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/engine/sched.h"
#include "edge/base/err.h"

struct journal; /* a journal being written */

int journal_open(struct journal **ret_journal, const char *path, struct err *err);
void journal_batch(struct journal *j, struct sched *s, const uint8_t *events, size_t size);
/* whole: the run came to its end. Of one that did not, what happened is kept, as a cut journal. */
int journal_close(struct journal *j, bool whole, struct err *err);

/* What one batch said. Bytes are valid until the next one is read. */
struct journal_record {
    const uint8_t *events, *decisions;
    size_t events_size, decisions_size;
    uint64_t digest;
};

struct journal_reader; /* a journal being read */

int journal_read_open(struct journal_reader **ret_reader, const char *path, struct err *err);
/* 1: a record, 0: the end, or a negated error code. */
int journal_read(struct journal_reader *r, struct journal_record *ret_record, struct err *err);
const char *journal_version(const struct journal_reader *r);
void journal_read_close(struct journal_reader *r);

/* Runs the journal again up to the given number of batches (0: all) and compares every decision and
 * digest. ERR_CHECK at the first difference. *ret_batches: how many were equal. */
int journal_replay(const char *path, uint64_t until, uint64_t *ret_batches, uint64_t *ret_events,
                   struct err *err);

#endif
