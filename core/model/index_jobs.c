#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/index_parts.h"
#include "core/model/job.h"

void index_jobs_init(struct model *m)
{
    struct index *x = index_of(m);

    memset(key_map(m), 0xFF, ((size_t)x->map_mask + 1) * sizeof(uint32_t));
    memset(ask_notes(m), 0, ((size_t)x->note_mask + 1) * sizeof(struct ask_note));
    memset(job_marks(m), 0, (size_t)m->limits.rows[TABLE_JOB] * sizeof(struct job_mark));
    x->pass = 0;
}

/* ---- the queue ---- */

bool index_job_before(const struct model *m, uint32_t a, uint32_t b)
{
    const struct job *x = job_row(m, a), *y = job_row(m, b);

    if (config_row(m)->order != ORDER_FIFO && x->priority != y->priority)
        return x->priority > y->priority;
    if (x->submit_ns != y->submit_ns)
        return x->submit_ns < y->submit_ns;
    return x->submit_order < y->submit_order;
}

static void waiting_put(struct model *m, uint32_t job)
{
    uint32_t *list = waiting_table(m), low = 0, high = index_of(m)->waiting_count++;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (index_job_before(m, list[mid], job))
            low = mid + 1;
        else
            high = mid;
    }
    memmove(list + low + 1, list + low, (index_of(m)->waiting_count - 1 - low) * sizeof(uint32_t));
    list[low] = job;
}

static void waiting_cut(struct model *m, uint32_t job)
{
    uint32_t *list = waiting_table(m), n = 0;

    while (list[n] != job) {
        n++;
        must(n < index_of(m)->waiting_count);
    }
    index_of(m)->waiting_count--;
    memmove(list + n, list + n + 1, (index_of(m)->waiting_count - n) * sizeof(uint32_t));
}

/* ---- jobs by key ---- */

static uint32_t map_home(const struct model *m, uint32_t key)
{
    return (uint32_t)hash_mix(key) & index_of(m)->map_mask;
}

static void map_put(struct model *m, uint32_t key, uint32_t job)
{
    uint32_t mask = index_of(m)->map_mask, at = map_home(m, key);

    while (key_map(m)[at] != ROW_NONE)
        at = (at + 1) & mask;
    key_map(m)[at] = job;
}

/* Shifts what follows back, so that no grave is ever left behind. */
static void map_cut(struct model *m, uint32_t key, uint32_t job)
{
    uint32_t mask = index_of(m)->map_mask, at = map_home(m, key), *map = key_map(m);

    while (map[at] != job)
        at = (at + 1) & mask;
    for (uint32_t next = (at + 1) & mask; map[next] != ROW_NONE; next = (next + 1) & mask) {
        uint32_t home = map_home(m, job_marks(m)[map[next]].key);

        if (((next - home) & mask) >= ((next - at) & mask)) {
            map[at] = map[next];
            at = next;
        }
    }
    map[at] = ROW_NONE;
}

/* ---- what jobs ask ---- */

uint64_t index_job_ask(const struct model *m, uint32_t job)
{
    const struct job *j = job_row(m, job);
    uint64_t hash = hash_mix(j->required ^ (uint64_t)(j->flags & JOB_SHARES_CARD) << 63 ^
                             (uint64_t)j->exclusive << 48);

    for (uint32_t id = j->podset_head; id != ROW_NONE; id = podset_row(m, id)->next) {
        struct podset p = *podset_row(m, id);
        uint64_t word[sizeof(p) / 8];

        p.next = 0; /* where it stands in its job is no part of the ask */
        memcpy(word, &p, sizeof(p));
        hash = hash_words(word, sizeof(p) / 8, hash);
    }
    return hash;
}

bool index_asks_alike(const struct model *m, uint32_t a, uint32_t b)
{
    const struct job *x = job_row(m, a), *y = job_row(m, b);
    uint32_t p = x->podset_head, q = y->podset_head;

    if (x->required != y->required || x->podsets != y->podsets || x->exclusive != y->exclusive ||
        ((x->flags ^ y->flags) & JOB_SHARES_CARD))
        return false;
    while (p != ROW_NONE && q != ROW_NONE) {
        if (!podset_alike(podset_row(m, p), podset_row(m, q)))
            return false;
        p = podset_row(m, p)->next;
        q = podset_row(m, q)->next;
    }
    return p == q;
}

struct ask_note *index_ask_note(const struct model *m, uint64_t ask)
{
    return &ask_notes(m)[ask & index_of(m)->note_mask];
}

uint64_t index_pass_next(const struct model *m)
{
    return ++index_of(m)->pass;
}

/* ---- both ---- */

void index_sync_job(struct model *m, uint32_t job)
{
    struct job_mark *mark = &job_marks(m)[job];
    const struct job *j = job_row(m, job);
    bool in_use = job < model_count(m, TABLE_JOB) && j->state != JOB_FREE;
    bool waits = in_use && j->state == JOB_WAITING;

    if (mark->waiting && waits && mark->key == j->key && mark->priority == j->priority)
        return;
    if (mark->waiting)
        waiting_cut(m, job);
    if (mark->known && (!in_use || mark->key != j->key)) {
        map_cut(m, mark->key, job);
        mark->known = 0;
    }
    if (in_use && !mark->known) {
        mark->key = j->key;
        mark->known = 1;
        map_put(m, j->key, job);
    }
    mark->waiting = waits;
    mark->priority = j->priority;
    if (waits)
        waiting_put(m, job);
}

void index_requeue(struct model *m)
{
    uint32_t jobs = model_count(m, TABLE_JOB);

    index_of(m)->waiting_count = 0;
    for (uint32_t j = 0; j < jobs; j++) {
        job_marks(m)[j].waiting = 0;
        index_sync_job(m, j);
    }
}

uint32_t index_job_find(const struct model *m, uint32_t key)
{
    uint32_t mask = index_of(m)->map_mask, at = map_home(m, key);

    while (key_map(m)[at] != ROW_NONE) {
        if (job_marks(m)[key_map(m)[at]].key == key)
            return key_map(m)[at];
        at = (at + 1) & mask;
    }
    return ROW_NONE;
}

const uint32_t *index_waiting(const struct model *m, uint32_t *ret_count)
{
    *ret_count = index_of(m)->waiting_count;
    return waiting_table(m);
}
