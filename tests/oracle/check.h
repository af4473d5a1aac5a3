/* check.h - the core's decisions against the oracle's world, one by one
 *
 * Steps a scheduler with a batch, follows its decisions in the oracle's world, and judges each:
 * every start legal, every refusal true with its binding limits and figures, every promise the
 * earliest date and kept, every run between its minimum and its size, and nobody left waiting who
 * fits.
 */
#ifndef ORACLE_CHECK_H
#define ORACLE_CHECK_H

#include "tests/oracle/drive.h"
#include "tests/oracle/mirror.h"

/* What was seen, for the tables that the programs print. */
struct tally {
    uint64_t worlds, steps, starts, refusals, held, unproven, too_large, final, grown, elastic;
    uint64_t binding[O_BINDING + 1]; /* refusals that name it; the last: that name none */
    uint64_t judged;                 /* refusals whose binding was compared */
    uint64_t code[REASON_COUNT];
    uint64_t best_claims, free_claims;
    uint64_t grows, shrinks, breaks, promises;
    uint64_t kept, excused; /* starts in time after a promise, and late ones with an excuse */
    uint64_t dated, rooms;  /* promises compared with every date; rooms seen to stand */
};

struct check {
    struct drive d;
    struct o_world w;
    struct tally *tally;
    bool deep;     /* compare fit, binding and figures by search */
    bool tables;   /* judge every row, the index and the digest after each batch */
    bool may_keep; /* rooms may be kept at all */
    bool has_twin; /* a second scheduler that never grows must say the same */
    struct drive twin;
    uint32_t yielded_to;     /* key of the job that runs shrink for; O_NONE: none */
    uint64_t whatifs;        /* for choosing what to try and take back */
    uint64_t search_steps;   /* per question */
    char wrong[512];         /* empty: all was well */
    uint8_t *out, *twin_out; /* decisions of the batch as bytes, all steps */
    size_t out_size, twin_size;
};

void check_open(struct check *c, const struct limits *limits, struct tally *tally);
/* A second scheduler with ample limits follows and must agree. */
void check_twin(struct check *c);
void check_close(struct check *c);

/* Feeds one batch: events in order, a job's podsets behind it. False: c->wrong says what. */
bool check_batch(struct check *c, const struct event *e, unsigned count);

/* Notes what is wrong, with the numbers that matter. */
__attribute__((format(printf, 2, 3))) bool check_wrong(struct check *c, const char *format, ...);

#endif
