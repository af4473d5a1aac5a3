/* world.h - a scheduler that is driven by one line of text and answers with one
 *
 * Commands end at a semicolon; words are KEY=VALUE or flags. Hosts and jobs are numbered from 0 in
 * the order of the text, and so are job keys.
 *
 *   hosts N KEY=..          N more hosts: gpus cpu mem pods extra extra1 gpumem model class shape
 *                           l0..l11 (the domain's id); what is not named is without limit or none
 *   host H KEY=..           new facts about one
 *   shape NAME              flat: one island; pairs, quads: islands of 2, 4 and NUMA halves of the
 *   (as shape=NAME)         host, a switch per pair; lone: each its own island; void: nothing known
 *   ask KEY=.. [+ KEY=..]   a job and its podsets: pods min gpus milli mib mig cpu mem extra class
 *                           in=SCOPE,.. slice=N@SCOPE way (for the pods of the set before it); of
 *                           the job, anywhere: need=SCOPE,.. prefer=SCOPE,.. team prio est submit
 *                           restart patience profile=0..3 exclusive=SCOPE, and the flag apart
 *   config KEY=..           order=NAME scorer=NAME budget seed patience inherit breach, and the
 *                           flags drop scan
 *   class C KEY=..          models=HEX nodes=HEX; class 0 is any, 1: model 0 only, 2: model 1 only
 *   team T limit parent
 *   mig PROFILE model starts=HEX slots of
 *   mix ROW of cpu models count milli gpus
 *   level L chain rank
 *   domain D level parent
 *   price MODEL MICRO
 *   at NS
 *   state H up|drain|down|..
 *   device H D up|down
 *   leave H NS
 *   gone H
 *   uuid H D U
 *   seat KEY podset=P pod=N host=H on=DEVICES slot=S
 *   seated KEY
 *   confirm KEY pod on
 *   stop KEY                restart KEY: its next incarnation
 *   lose KEY POD            done KEY POD, away KEY POD
 *   tick
 *   end KEY
 *   set KEY prio est
 *   bare                    a podset without a job
 *   step                    decides; without it facts are only applied
 *
 * Times are in ns, or in seconds with an s behind: est=90s.
 *
 * Scopes: island numa pcie host l0..l11 cluster. Devices: hexadecimal digits, "-" for none.
 *
 * Decisions: `+KEY HOST:DEVICES[/SLOT] ..` a start, pod by pod; `-KEY CODE(LIMITS)` a refusal with
 * the limits that bind, `(?)` where that is not known; `!` after it: dropped; `~KEY@S ..` a promise
 * of second S and the room kept, `^KEY ..` pods that join a run, `vKEY<KEY ..` pods that leave it
 * for another job, `!KEY` a run that was broken for too long. Steps are joined by "|". The tables
 * are moved into larger ones whenever the scheduler asks, and after each batch every host, job and
 * the digest are checked.
 *
 * Owner   world_open() allocates, world_close() frees.
 * Misuse  A text that is not understood, or a check that fails, ends in must().
 */
#ifndef TESTS_KIT_WORLD_H
#define TESTS_KIT_WORLD_H

#include "core/engine/sched.h"

struct world {
    struct sched s;
    struct limits limits;
    void *block;
    int64_t at_ns;
    uint32_t hosts, keys, shapes, moves;
    char shape[8][24]; /* by id: name and devices */
    struct event_config config;
    struct wire_out out;
    uint8_t bytes[1u << 16];
    size_t said_length;
    char said[8192];
};

/* limits NULL: the smallest, which then grow. */
void world_open(struct world *w, const struct limits *limits);
void world_close(struct world *w);

/* Runs a text; returns all that was decided since world_open(). */
const char *world_say(struct world *w, const char *text);

/* The same in a world of its own; valid until the next call. */
const char *world_once(const char *text);

/* An event as it stands, for what the language does not say. */
void world_tell(struct world *w, const struct event *e);

/* Applies what was told, or applies it and decides; true: call again, the table was full. */
void world_settle(struct world *w);
bool world_step(struct world *w);

/* Runs a text; what follows its last step is told and not applied. */
void world_run_text(struct world *w, const char *text);
/* Moves into a larger block. */
void world_grow(struct world *w, const struct limits *l);

/* A view of the job with that key. */
struct view world_view(const struct world *w, uint32_t key);
/* Its first podset, or the nth. */
const struct podset *world_podset(const struct world *w, uint32_t key, unsigned n);

/* True if every host, job and the digest are what a recomputation makes of them. */
bool world_valid(const struct world *w);

#endif
