/* index.h - what can be recomputed from the tables, kept in step because it is asked all the time
 *
 * Eight answers that a placement needs without looking at every host:
 *
 *   bins     hosts of one breed (kinds of equal model, CPU and devices), by wholly free devices, by
 *            the largest share still free on a broken device, and by free CPU: a bit set per bin,
 *            so that the lowest id comes first
 *
 *   cells    per domain of a declared level and GPU model (and per model in all): how many hosts
 *            have 0, 1, .. 16 devices wholly free, and the free milli: upper bounds that prune
 *
 *   sums     the same per domain in a few numbers, side by side, for a look at every domain
 *
 *   kinds    the same counts per kind of host, for pods that are particular about hosts
 *
 *   ailing   hosts that are not up, or not with all devices: where dropping the limit of health
 *            may matter
 *
 *   members  the hosts of each domain, in id order
 *
 *   waiting  the waiting jobs in order, jobs by the edge's number, and notes by what they ask
 *
 *   memo     what was counted for an ask before (memo.h)
 *
 * Nothing here is hashed or stored; index_rebuild() makes it anew from the rows. The model's door
 * calls index_sync_host() and index_sync_job() when a rollback restores a row; whoever edits such a
 * row calls them too (host.c and job.c do).
 *
 * Order   Every list is in id order, or in the queue's order with the id as last tie-break.
 */
#ifndef MODEL_INDEX_H
#define MODEL_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/bits.h"
#include "core/model/rows.h"

struct model;
struct limits;
struct memo_store;

#define BIN_SHARE_STEPS 8 /* largest free share on a broken device: none, or a seventh */
#define BIN_CPU_STEPS   8 /* free CPU, in quarters of what the kind has per free device */
/* A host of so many milli-cores has no limit to the bins: what they multiply stays in range. */
#define BIN_CPU_MAX ((int64_t)1 << 50)
#define BINS        ((GPUS_MAX + 1) * BIN_SHARE_STEPS * BIN_CPU_STEPS)
#define BIN_WORDS   ((BINS + 63) / 64)

/* Hosts by free devices, of one domain (or of all) and one model. */
struct cell {
    uint32_t domain, model; /* domain ROW_NONE: the whole cluster */
    uint32_t next;          /* cell of the same domain, ROW_NONE: the last */
    uint32_t hosts;         /* in service: up, not drained */
    uint32_t by_whole[GPUS_MAX + 1];
    uint64_t free_milli;
};

/* Devices of a domain's hosts (or of all): what such a domain can hold at most. */
struct domain_sum {
    uint32_t whole;   /* wholly free and known to be, on hosts in service: up, not drained */
    uint32_t devices; /* all there are, whatever their state */
    uint32_t ailing;  /* those on hosts that ail */
};

/* The largest of each over the domains of a level. */
struct level_most {
    uint32_t whole, devices;
    uint32_t whole_ailing; /* of whole and ailing together */
};

/* What is remembered of an ask while the queue is gone through. */
#define ASK_NOTES_MAX 4096 /* a power of two */
struct ask_note {
    uint64_t pass; /* 0: nobody wrote it */
    uint64_t bound;
    uint32_t job;
    uint32_t value[4];
};

/* A breed's hosts: slots in id order, and a bit set over slots per bin. */
struct breed_bins {
    uint32_t kind;                               /* the first kind of the breed */
    uint32_t slot_first, slot_count, slot_limit; /* in the array of hosts by slot */
    uint32_t words;                              /* of one bin's bit set */
    uint64_t bits_at;                            /* first word of bin 0 */
    uint64_t filled[BIN_WORDS];                  /* bins that are not empty */
};

size_t index_bytes(const struct limits *l);
void index_init(struct model *m);
void index_rebuild(struct model *m);

void index_sync_host(struct model *m, uint32_t host);
void index_sync_job(struct model *m, uint32_t job);
/* After the order of the queue changed. */
void index_requeue(struct model *m);
/* After hosts came, went, changed their kind or their domains; index_settle() then rebuilds once,
 * before the next question. */
void index_stale(struct model *m);
void index_settle(struct model *m);

/* The bin of a host as it stands. */
uint32_t index_bin(const struct model *m, const struct host *h);
/* Step 0 is a broken device without any room; the others part the rest evenly. */
static inline uint32_t index_share_step(uint32_t milli)
{
    return milli ? 1 + (milli - 1) * (BIN_SHARE_STEPS - 1) / MILLI_FULL : 0;
}
/* The largest share in a step. */
static inline uint32_t index_share_most(uint32_t step)
{
    return (step * MILLI_FULL + BIN_SHARE_STEPS - 2) / (BIN_SHARE_STEPS - 1);
}
static inline uint32_t index_bin_of(uint32_t whole, uint32_t share_step, uint32_t cpu_step)
{
    return (whole * BIN_SHARE_STEPS + share_step) * BIN_CPU_STEPS + cpu_step;
}

/* Breeds are numbered from 0 in the order of their first kinds. */
uint32_t index_breeds(const struct model *m);
const struct breed_bins *index_breed(const struct model *m, uint32_t breed);
/* The middle of a bin's step of free CPU on hosts of the kind. */
int64_t index_bin_cpu(const struct kind *k, uint32_t whole, uint32_t cpu_step);
/* Slot of the host of the bin with the lowest id at or after slot, or ROW_NONE. */
uint32_t index_bin_next(const struct model *m, uint32_t breed, uint32_t bin, uint32_t slot);
uint32_t index_slot_host(const struct model *m, uint32_t breed, uint32_t slot);

/* First cell of a domain (ROW_NONE: of the cluster), for walking cell.next. */
uint32_t index_cell_first(const struct model *m, uint32_t domain);
uint32_t index_cells(const struct model *m); /* pairs counted */
const struct cell *index_cell(const struct model *m, uint32_t cell);

const struct domain_sum *index_sum(const struct model *m, uint32_t domain); /* ROW_NONE: of all */
const struct level_most *index_level_most(const struct model *m, unsigned level);

/* Hosts of a kind; its domain and next say nothing. */
const struct cell *index_kind(const struct model *m, uint32_t kind);
static inline bool host_ails(const struct host *h)
{
    return h->state != HOST_ABSENT &&
           (h->state != HOST_UP || h->healthy != (uint16_t)bits_first(h->gpus));
}
/* The ailing host with the lowest id from host on, or ROW_NONE. */
uint32_t index_ailing_next(const struct model *m, uint32_t host);

/* The hosts of a domain, in id order. */
const uint32_t *index_members(const struct model *m, uint32_t domain, uint32_t *ret_count);

/* Waiting jobs in the queue's order. */
const uint32_t *index_waiting(const struct model *m, uint32_t *ret_count);
/* True if job a stands before job b in the queue. */
bool index_job_before(const struct model *m, uint32_t a, uint32_t b);
uint32_t index_job_find(const struct model *m, uint32_t key); /* ROW_NONE: none */

/* What the job asks as a number: equal for jobs that ask the same in every respect but name, team,
 * time and wishes, and hardly ever for others; the second compares the rows. */
uint64_t index_job_ask(const struct model *m, uint32_t job);
bool index_asks_alike(const struct model *m, uint32_t a, uint32_t b);
/* The note that asks of that number share with few others: whoever writes one says in which pass,
 * for which job, and whatever else it must be known again by. */
struct ask_note *index_ask_note(const struct model *m, uint64_t ask);
/* A number that no note bears yet. */
uint64_t index_pass_next(const struct model *m);

struct memo_store *index_memo(const struct model *m);

/* True if everything equals what a rebuild would make. */
bool index_valid(const struct model *m);

#endif
