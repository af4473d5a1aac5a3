/* stream_parts.h - what the files of the stream share; private to stream*.c
 *
 * A source hands out bytes, from a file or from memory. Which reader gets them is decided by the
 * first of them.
 */
#ifndef EDGE_AUDIT_STREAM_PARTS_H
#define EDGE_AUDIT_STREAM_PARTS_H

#include <stdbool.h>

#include "edge/audit/stream.h"

#define SOURCE_BYTES ((size_t)256 << 10)

struct source {
    const char *name;
    void *file; /* gzFile; NULL: from memory */
    const char *bytes;
    size_t length;
    bool failed;
};

/* The next bytes; 0 at the end or on trouble (s->failed, err). */
size_t source_next(struct source *s, const char **ret_bytes, struct err *err);

/* The parts of an object that are kept: below a key, or everything (in NULL). */
struct want {
    const char *key;
    const struct want *in;
};
extern const struct want stream_wanted[];

/* first: the bytes that were looked at to tell what it is. */
int stream_json(struct stream *s, struct source *from, const char *first, size_t length,
                struct err *err);
int stream_yaml(struct stream *s, struct source *from, const char *first, size_t length,
                struct err *err);

/* Hands out an object, or the objects of a list that stands as a tree. */
void stream_hand_out(struct stream *s, const char *kind, const struct tree *object);

#endif
