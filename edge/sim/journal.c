#include "edge/sim/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "edge/base/memory.h"
#include "edge/base/out.h"
#include "edge/sim/driver.h"

#define FORMAT          2u
#define BATCH_BYTES_MAX ((size_t)1 << 31)
static const char magic[8] = {'d', 'o', 'v', 'e', 't', 'a', 'i', 'l'};

struct journal {
    struct out_file file;
    struct out pending;
    uint8_t *decisions;
    size_t decisions_limit, summed; /* summed: bytes of pending that the sum counts already */
    uint64_t batches;
    uint32_t sum; /* CRC-32 of all bytes so far but the sums themselves */
};

static void put_number(struct out *t, uint64_t value)
{
    uint8_t byte[10];
    struct wire_out w = {.byte = byte, .limit = sizeof(byte)};

    wire_put(&w, value);
    out_bytes(t, byte, w.size);
}

int journal_open(struct journal **ret_journal, const char *path, struct err *err)
{
    struct journal *j = memory_zeroed(sizeof(*j));
    int code = out_file_open(&j->file, path, false, err);

    if (code) {
        free(j);
        return code;
    }
    out_bytes(&j->pending, magic, sizeof(magic));
    put_number(&j->pending, FORMAT);
    put_number(&j->pending, strlen(DOVETAIL_VERSION));
    out_add(&j->pending, DOVETAIL_VERSION);
    *ret_journal = j;
    return 0;
}

/* Ends a record. An event may change nothing that a digest or a decision shows; its bytes do. */
static void put_sum(struct journal *j)
{
    char bytes[4];

    j->sum = (uint32_t)crc32_z(j->sum, (const unsigned char *)j->pending.bytes + j->summed,
                               j->pending.length - j->summed);
    for (unsigned b = 0; b < sizeof(bytes); b++)
        bytes[b] = (char)(j->sum >> 8 * b);
    out_bytes(&j->pending, bytes, sizeof(bytes));
    j->summed = j->pending.length;
}

static void flush(struct journal *j)
{
    (void)out_file_write(&j->file, j->pending.bytes, j->pending.length);
    out_clear(&j->pending);
    j->summed = 0;
}

static size_t encode_decisions(struct journal *j, const struct sched *s)
{
    struct wire_out w = {.byte = NULL};

    do {
        if (j->decisions_limit == 0 || w.full) {
            j->decisions_limit = j->decisions_limit * 2 + 4096;
            j->decisions = memory_grow(j->decisions, j->decisions_limit);
        }
        w = (struct wire_out){.byte = j->decisions, .limit = j->decisions_limit};
        sched_put_decisions(s, &w);
    } while (w.full);
    return w.size;
}

void journal_batch(struct journal *j, struct sched *s, const uint8_t *events, size_t size)
{
    uint64_t digest = sched_digest(s);
    size_t decisions = encode_decisions(j, s);
    char bytes[8];

    out_char(&j->pending, 'B');
    put_number(&j->pending, size);
    if (size)
        out_bytes(&j->pending, events, size);
    put_number(&j->pending, decisions);
    out_bytes(&j->pending, j->decisions, decisions);
    for (unsigned b = 0; b < 8; b++)
        bytes[b] = (char)(digest >> 8 * b);
    out_bytes(&j->pending, bytes, sizeof(bytes));
    put_sum(j);
    j->batches++;
    if (j->pending.length > 1u << 16)
        flush(j);
}

int journal_close(struct journal *j, bool whole, struct err *err)
{
    int code;

    if (whole) {
        out_char(&j->pending, 'E');
        put_number(&j->pending, j->batches);
        put_sum(j);
    }
    flush(j);
    code = out_file_close(&j->file, err);
    out_free(&j->pending);
    free(j->decisions);
    free(j);
    return code;
}

/* ---- reading ---- */

struct journal_reader {
    FILE *file;
    char *path, *version;
    uint8_t *bytes;
    size_t limit;
    uint64_t at, batches;
    uint32_t sum;
};

static int cut(const struct journal_reader *r, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%s: byte %llu: found the end of the file, expected more: the journal was cut",
                   r->path, (unsigned long long)r->at);
}

static int get_bytes(struct journal_reader *r, void *to, size_t size, struct err *err)
{
    size_t got = fread(to, 1, size, r->file);

    r->at += got;
    r->sum = (uint32_t)crc32_z(r->sum, to, got);
    return got == size ? 0 : cut(r, err);
}

static int get_sum(struct journal_reader *r, struct err *err)
{
    uint32_t want = r->sum, sum = 0;
    uint8_t bytes[4];
    int code = get_bytes(r, bytes, sizeof(bytes), err);

    if (code)
        return code;
    for (unsigned b = 0; b < sizeof(bytes); b++)
        sum |= (uint32_t)bytes[b] << 8 * b;
    r->sum = want; /* sums are not summed */
    return sum == want ? 0
                       : err_set(err, ERR_INPUT,
                                 "%s: batch %llu: found bytes that differ from those written, "
                                 "expected an unchanged journal",
                                 r->path, (unsigned long long)r->batches);
}

static int get_number(struct journal_reader *r, uint64_t *ret, struct err *err)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        int code = get_bytes(r, &byte, 1, err);

        if (code)
            return code;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return 0;
        }
    }
    return err_set(err, ERR_INPUT, "%s: byte %llu: found a number without end, expected a count",
                   r->path, (unsigned long long)r->at);
}

static int get_head(struct journal_reader *r, struct err *err)
{
    char start[sizeof(magic)];
    uint64_t format, length;
    size_t got = fread(start, 1, sizeof(start), r->file);
    int code;

    r->at = got;
    r->sum = (uint32_t)crc32_z(0, (const unsigned char *)start, got);
    if (got != sizeof(start) || memcmp(start, magic, sizeof(magic)) != 0)
        return err_set(err, ERR_INPUT,
                       "%s: found no journal, expected a file that `dovetail "
                       "simulate --out DIR` wrote as DIR/*.journal",
                       r->path);
    if ((code = get_number(r, &format, err)) || (code = get_number(r, &length, err)))
        return code;
    if (format != FORMAT || length > 64)
        return err_set(err, ERR_INPUT, "%s: found journal format %llu, expected %u", r->path,
                       (unsigned long long)format, FORMAT);
    r->version = memory_zeroed(length + 1);
    return get_bytes(r, r->version, length, err);
}

int journal_read_open(struct journal_reader **ret_reader, const char *path, struct err *err)
{
    struct journal_reader *r = memory_zeroed(sizeof(*r));
    int code;

    r->path = memory_zeroed(strlen(path) + 1);
    memcpy(r->path, path, strlen(path) + 1);
    r->file = fopen(path, "rb");
    code = r->file ? get_head(r, err)
                   : err_set(err, ERR_INPUT, "%s: found %s, expected a journal that opens", path,
                             strerror(errno));
    if (code) {
        journal_read_close(r);
        return code;
    }
    *ret_reader = r;
    return 0;
}

static int get_part(struct journal_reader *r, size_t *used, size_t *ret_at, size_t *ret_size,
                    struct err *err)
{
    uint64_t size;
    int code = get_number(r, &size, err);

    if (code)
        return code;
    if (size > BATCH_BYTES_MAX)
        return err_set(err, ERR_INPUT, "%s: byte %llu: found a batch of %llu bytes, expected less",
                       r->path, (unsigned long long)r->at, (unsigned long long)size);
    /* Room is made as bytes come, so that a false count cannot claim memory. */
    *ret_at = *used;
    *ret_size = (size_t)size;
    while (size > 0) {
        size_t piece = size < 1u << 20 ? (size_t)size : 1u << 20;

        if (*used + piece > r->limit) {
            r->limit = (*used + piece) * 2;
            r->bytes = memory_grow(r->bytes, r->limit);
        }
        if ((code = get_bytes(r, r->bytes + *used, piece, err)))
            return code;
        *used += piece;
        size -= piece;
    }
    return 0;
}

int journal_read(struct journal_reader *r, struct journal_record *ret_record, struct err *err)
{
    size_t used = 0, events = 0, decisions = 0;
    uint64_t count;
    uint8_t kind, digest[8];
    int code = get_bytes(r, &kind, 1, err);

    if (code)
        return -code;
    if (kind == 'E') {
        if ((code = get_number(r, &count, err)) || (code = get_sum(r, err)))
            return -code;
        if (count != r->batches)
            return -err_set(err, ERR_INPUT, "%s: found %llu batches, expected %llu", r->path,
                            (unsigned long long)r->batches, (unsigned long long)count);
        if (fread(&kind, 1, 1, r->file) == 1)
            return -err_set(err, ERR_INPUT, "%s: byte %llu: found more, expected the end", r->path,
                            (unsigned long long)r->at);
        return 0;
    }
    if (kind != 'B')
        return -err_set(err, ERR_INPUT, "%s: byte %llu: found a record of kind %u, expected B or E",
                        r->path, (unsigned long long)r->at, kind);
    if ((code = get_part(r, &used, &events, &ret_record->events_size, err)) ||
        (code = get_part(r, &used, &decisions, &ret_record->decisions_size, err)) ||
        (code = get_bytes(r, digest, sizeof(digest), err)) || (code = get_sum(r, err)))
        return -code;
    ret_record->events = r->bytes + events;
    ret_record->decisions = r->bytes + decisions;
    ret_record->digest = 0;
    for (unsigned b = 0; b < 8; b++)
        ret_record->digest |= (uint64_t)digest[b] << 8 * b;
    r->batches++;
    return 1;
}

const char *journal_version(const struct journal_reader *r)
{
    return r->version;
}

void journal_read_close(struct journal_reader *r)
{
    if (r->file)
        (void)fclose(r->file);
    free(r->path);
    free(r->version);
    free(r->bytes);
    free(r);
}

/* ---- replaying ---- */

static uint64_t count_events(const struct journal_record *record)
{
    struct wire_in in = {.byte = record->events, .end = record->events + record->events_size};
    struct event e;
    uint64_t count = 0;

    while (event_get(&in, &e))
        count += e.kind != EVENT_PODSET;
    return count;
}

/* The kinds of the batch's events, for whoever looks for the difference. */
static void name_events(struct out *t, const struct journal_record *record)
{
    struct wire_in in = {.byte = record->events, .end = record->events + record->events_size};
    struct event e;
    unsigned count = 0;

    while (event_get(&in, &e) && count < 8)
        if (e.kind != EVENT_PODSET)
            out_format(t, "%s%s", count++ ? ", " : "", event_name(e.kind));
    out_format(t, "%s", count == 0 ? "none" : in.byte < in.end ? ", .." : "");
}

static int differs(const struct journal_record *record, const char *path, uint64_t batch,
                   const char *what, struct err *err)
{
    struct out events = {NULL, 0, 0};
    int code;

    name_events(&events, record);
    code = err_set(err, ERR_CHECK, "%s: batch %llu: %s; its events: %s", path,
                   (unsigned long long)batch, what, events.bytes);
    out_free(&events);
    return code;
}

static int replay_one(struct driver *d, struct journal *scratch,
                      const struct journal_record *record, const char *path, uint64_t batch,
                      struct err *err)
{
    size_t size;

    driver_room(d, record->events, record->events_size);
    (void)sched_step(&d->sched, record->events, record->events_size);
    size = encode_decisions(scratch, &d->sched);
    if (size != record->decisions_size || memcmp(scratch->decisions, record->decisions, size) != 0)
        return differs(record, path, batch, "the decisions differ from those recorded", err);
    if (sched_digest(&d->sched) != record->digest)
        return differs(record, path, batch, "the digest differs from the one recorded", err);
    return 0;
}

int journal_replay(const char *path, uint64_t until, uint64_t *ret_batches, uint64_t *ret_events,
                   struct err *err)
{
    struct journal_reader *r;
    static const uint8_t nothing[1];
    struct journal_record record = {.events = nothing, .decisions = nothing};
    struct journal scratch = {.batches = 0};
    struct driver d;
    int code = journal_read_open(&r, path, err), more = 1;

    *ret_batches = *ret_events = 0;
    if (code)
        return code;
    driver_open(&d, NULL);
    while (!code && (until == 0 || *ret_batches < until)) {
        more = journal_read(r, &record, err);
        if (more <= 0)
            break;
        code = replay_one(&d, &scratch, &record, path, *ret_batches, err);
        *ret_batches += code == 0;
        *ret_events += count_events(&record);
    }
    if (!code && more < 0)
        code = -more;
    if (code == ERR_CHECK && strcmp(journal_version(r), DOVETAIL_VERSION) != 0)
        fprintf(stderr, "dovetail: the journal was written by version %s, this is %s\n",
                journal_version(r), DOVETAIL_VERSION);
    driver_close(&d);
    free(scratch.decisions);
    journal_read_close(r);
    return code;
}
