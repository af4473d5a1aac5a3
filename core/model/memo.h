/* memo.h - what was counted for an ask, by host and by domain, until it changes
 *
 * Gangs come in series, and a gang that waits is asked for again: between two questions few hosts
 * have changed. A memo keeps the pods that each host and each domain was found to hold for one ask.
 * Whoever counts fills it; a host that changes takes its own count and those of its domains out.
 * The changes stand in a log that a memo reads on when it is opened, so that a change costs one
 * word whatever is remembered. A memo that missed too much starts anew.
 *
 * Beside the counts stand answers that no change of a host's load or health touches: would the gang
 * fit if the cluster were empty? They last until hosts or domains come, go or move.
 *
 * What is remembered is never live, stored or hashed, and no answer depends on whether it is.
 *
 * Owner   A part of the index; a memo that was opened is valid until the next one is, and until a
 *         host changes.
 * Order   The memo that was opened longest ago makes room for a new ask.
 * Misuse  The key must name everything that a count depends on but the hosts.
 */
#ifndef MODEL_MEMO_H
#define MODEL_MEMO_H

#include "core/model/model.h"

#define MEMO_SLOTS     16   /* asks */
#define MEMO_LOG       4096 /* changes */
#define MEMO_FACTS_MAX 2048 /* answers about the empty cluster */
#define MEMO_KEY_WORDS 16

#define MEMO_HOST_UNKNOWN   UINT16_MAX
#define MEMO_DOMAIN_UNKNOWN UINT32_MAX

struct memo_key {
    uint64_t word[MEMO_KEY_WORDS]; /* unused ones 0 */
};

/* By id. Counts too large for the type stay unknown. */
struct memo {
    uint16_t *host;
    uint32_t *domain;
};

struct memo_store;

size_t memo_bytes(const struct limits *l);
void memo_init(struct memo_store *s, const struct limits *l);
/* Nothing is true any more: hosts or domains came, went or moved. */
void memo_forget(struct memo_store *s);
void memo_changed(struct memo_store *s, uint32_t host);

/* Changes so far: what was found out at an equal number is still true. */
uint64_t memo_changes(const struct memo_store *s);

/* A question about the empty cluster: true if it was answered before. */
bool memo_recall(const struct model *m, const struct memo_key *key, bool *ret_yes);
void memo_note(const struct model *m, const struct memo_key *key, bool yes);

/* The memo of the ask, an empty one if there is none. */
struct memo memo_open(const struct model *m, const struct memo_key *key);

#endif
