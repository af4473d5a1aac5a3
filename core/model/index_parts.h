/* index_parts.h - how the index lies in memory: for the files of the index alone
 *
 * One block behind the tables: what is known of each host and job, and the tables that index.h
 * speaks of, each at an offset.
 */
#ifndef MODEL_INDEX_PARTS_H
#define MODEL_INDEX_PARTS_H

#include "core/model/index.h"
#include "core/model/model.h"

/* What the index believes of a host: what to take back when the row has changed. */
struct host_mark {
    uint32_t slot;
    uint32_t free_milli;
    uint16_t bin; /* BIN_NONE: not in service */
    uint8_t whole;
    uint8_t pad;
};

struct job_mark {
    uint32_t key;
    int32_t priority;
    uint8_t known, waiting;
    uint8_t pad[2];
};

struct index {
    uint32_t stale; /* 1: hosts changed in a way that needs a rebuild */
    uint32_t cell_count, cell_limit;
    uint32_t waiting_count;
    uint32_t map_mask;
    uint32_t breeds;
    uint64_t most_at; /* changes when most[] was made, and one; 0: it was not */
    struct level_most most[LEVELS_MAX];
    uint32_t note_mask;
    uint64_t pass;
    uint64_t kind_breeds_at, marks_at, job_marks_at, breeds_at, counts_at, slots_at, bits_at,
        bits_limit, cells_at;
    uint64_t kind_cells_at, ailing_at, sums_at, cell_first_at, member_first_at, members_at,
        waiting_at, map_at, notes_at, memo_at;
};

static inline struct index *index_of(const struct model *m)
{
    /* The index is no fact: bringing it up to date is allowed where the model is only read. */
    union {
        const char *in;
        char *out;
    } block = {.in = (const char *)m};

    return (struct index *)(void *)(block.out + m->index_at);
}

#define PART(name, type, field)                                                                    \
    static inline type *name(const struct model *m)                                                \
    {                                                                                              \
        struct index *x = index_of(m);                                                             \
                                                                                                   \
        return (type *)(void *)((char *)x + x->field);                                             \
    }
PART(host_marks, struct host_mark, marks_at)
PART(job_marks, struct job_mark, job_marks_at)
PART(breed_table, struct breed_bins, breeds_at)
PART(kind_breeds, uint32_t, kind_breeds_at)
PART(bin_counts, uint32_t, counts_at)
PART(slot_hosts, uint32_t, slots_at)
PART(bin_bits, uint64_t, bits_at)
PART(cell_table, struct cell, cells_at)
PART(kind_cells, struct cell, kind_cells_at)
PART(ailing_bits, uint64_t, ailing_at)
PART(domain_sums, struct domain_sum, sums_at)
PART(cell_firsts, uint32_t, cell_first_at)
PART(member_firsts, uint32_t, member_first_at)
PART(member_table, uint32_t, members_at)
PART(waiting_table, uint32_t, waiting_at)
PART(key_map, uint32_t, map_at)
PART(ask_notes, struct ask_note, notes_at)

/* The jobs of a new index: nobody is known. */
void index_jobs_init(struct model *m);

#endif
