/* stream.h - the Kubernetes objects of a dump, one at a time
 *
 * JSON is read piece by piece: an object is handed out as soon as it is complete and then
 * forgotten, and of an object only the parts that an audit looks at become a tree at all. A dump of
 * a gigabyte so takes no more memory than its largest object. Lists, single objects, arrays of
 * either, and several of them one after the other are all the same stream. YAML documents are read
 * whole, one after the other. Both may be gzipped; the first bytes tell, not the name.
 *
 * Order   As in the text.
 * Errors  ERR_INPUT with a sentence that says which object it was, or what else the input seems to
 *         be and how to get what is wanted: an HTML page, a kubectl table, an error of kubectl.
 *         Objects that were complete before it have been handed out.
 * Owner   The tree belongs to the stream and is gone when the call returns.
 */
#ifndef EDGE_AUDIT_STREAM_H
#define EDGE_AUDIT_STREAM_H

#include <stdint.h>

#include "edge/base/tree.h"

struct stream {
    /* kind: as the object says, or as the list around it says, or NULL. */
    void (*object)(void *context, const char *kind, const struct tree *object);
    void *context;
    uint64_t bytes;   /* read so far, unpacked */
    uint64_t objects; /* handed out so far */
    uint32_t files, files_passed_over;
};

/* A file, "-" for standard input, or a folder: all *.json, *.yaml, *.yml below it, also with .gz,
 * in the order of their names. */
int stream_read(struct stream *s, const char *path, struct err *err);

/* The same of bytes in memory. */
int stream_bytes(struct stream *s, const char *name, const char *bytes, size_t length,
                 struct err *err);

#endif
