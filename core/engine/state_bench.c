/* state_bench - what the cluster costs in memory, and how fast a restart has it back
 *
 *     state_bench [GPUS]    default: 1000000; the number of pods goes with it
 *
 * Memory   Resident bytes per GPU of an empty cluster, and per live pod of a filled one, with every
 *          page of the block touched first, so that room for growth counts as well; split by table.
 *          The peak is that of two blocks while one is copied into a larger one.
 * Restore  A snapshot that is 60,000 events old, and the batches after it, until the digest agrees.
 * Replay   A journal of placements, refusals, departures and node flaps, one event a batch, on
 *          10,000 GPUs: from the file, with every decision and the digest after each compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/must.h"
#include "core/engine/snapshot.h"
#include "core/model/index.h"
#include "edge/sim/journal.h"
#include "tests/kit/bench.h"

#define GPU_BYTES_MAX 200
#define POD_BYTES_MAX 256
#define PODS_PER_KGPU 150
#define OLD_EVENTS    60000
#define RESTORE_NS    3000000000
#define REPLAY_GPUS   10000
#define REPLAY_EVENTS 200000
#define REPLAY_LEAST  100000 /* events a second */

static const char *verdict(bool is_met)
{
    return is_met ? "PASS" : "MISS";
}

static double mib(uint64_t bytes)
{
    return (double)bytes / 1048576;
}

/* ---- memory ---- */

static void touch(struct bench *b)
{
    volatile char *block = b->block;

    for (uint64_t at = 0; at < b->block_bytes; at += 4096)
        block[at] = block[at];
}

/* Rows, hashes and stamps; the index and the rest are told as a whole. */
static void print_tables(const struct bench *b, uint64_t gpus)
{
    static const char *const names[] = {
#define TABLE_NAME(name, type) #name,
        TABLE_MAP(TABLE_NAME)};
    const struct model *m = b->s.m;
    uint64_t tables = 0, index = index_bytes(&m->limits);

    printf("  %-10s %6s %10s %10s %9s %9s\n", "table", "row", "live", "room for", "MiB live",
           "MiB all");
    for (unsigned t = 0; t < TABLE_COUNT; t++) {
        const struct table_store *s = &m->store[t];
        uint64_t row = s->row_bytes + 2 * sizeof(uint64_t), all = row * s->limit;
        uint32_t live = t == TABLE_HEAD ? s->limit : model_head(m, (enum table)t)->live;

        tables += all;
        if (all >= 1048576)
            printf("  %-10s %6llu %10u %10u %9.1f %9.1f\n", names[t], (unsigned long long)row, live,
                   s->limit, mib(row * live), mib(all));
    }
    printf("  index %.1f MiB, other tables and undo %.1f MiB, block %.1f MiB: %.0f bytes per GPU\n",
           mib(index), mib(b->block_bytes - index - tables), mib(b->block_bytes),
           (double)b->block_bytes / (double)gpus);
}

static void memory(struct bench *b, uint32_t gpus, uint32_t pods)
{
    uint64_t empty = bench_rss_bytes(), cluster, filled;
    double per_gpu, per_pod;

    bench_open(b, gpus);
    bench_step(b);
    free(b->bytes); /* the batch that made the cluster is the edge's */
    b->bytes = NULL;
    b->limit = 0;
    touch(b);
    cluster = bench_rss_bytes();
    per_gpu = (double)(cluster - empty) / gpus;
    printf("memory of %u GPUs, no pods: %.1f MiB\n", gpus, mib(cluster - empty));
    print_tables(b, gpus);
    printf("  per GPU: %.0f bytes <= %u %s\n", per_gpu, GPU_BYTES_MAX,
           verdict(per_gpu <= GPU_BYTES_MAX));
    fflush(stdout);
    bench_fill_pods(b, pods);
    touch(b);
    filled = bench_rss_bytes();
    per_pod = (double)(filled - cluster) / pods;
    printf("with %u running pods: %.1f MiB more\n", pods, mib(filled - cluster));
    print_tables(b, gpus);
    printf("  per live pod: %.0f bytes <= %u %s\n", per_pod, POD_BYTES_MAX,
           verdict(per_pod <= POD_BYTES_MAX));
    printf("  peak while growing: %.1f MiB of blocks, %.1f MiB resident\n", mib(b->peak_bytes),
           mib(bench_rss_peak_bytes()));
    fflush(stdout);
}

/* ---- a mixed history ---- */

/* Batches one after the other. */
struct history {
    uint8_t *bytes;
    size_t size, limit;
    size_t *end; /* of each batch */
    uint32_t count, refused, started, ended, flapped;
    uint32_t down;           /* the host that is down; ROW_NONE: none */
    struct journal *journal; /* where it goes as well; NULL: nowhere */
};

static void keep_batch(void *history, struct sched *s, const uint8_t *events, size_t size)
{
    struct history *h = history;

    if (h->size + size > h->limit) {
        h->limit = (h->size + size) * 2;
        h->bytes = realloc(h->bytes, h->limit);
        must(h->bytes);
    }
    if (h->count % 1024 == 0) {
        h->end = realloc(h->end, (h->count + 1024) * sizeof(*h->end));
        must(h->end);
    }
    memcpy(h->bytes + h->size, events, size);
    h->size += size;
    h->end[h->count++] = h->size;
    for (uint32_t n = 0; n < s->decision_count; n++)
        if (s->decision[n].kind == DECISION_START)
            h->started++;
        else
            h->refused++;
    if (h->journal)
        journal_batch(h->journal, s, events, size);
}

static void put_state(struct bench *b, uint32_t host, enum host_state state)
{
    struct event e = {.kind = EVENT_HOST_STATE};

    e.host_state = (struct event_host_state){.host = host, .state = (uint8_t)state};
    bench_put(b, &e);
}

static uint32_t draw_running(struct bench *b)
{
    for (;;) {
        uint32_t job = (uint32_t)prng_below(&b->prng, model_count(b->s.m, TABLE_JOB));

        if (job_row(b->s.m, job)->state == JOB_RUNNING)
            return job_row(b->s.m, job)->key;
    }
}

/* One event: what waits leaves at once, so that the queue stays short; a host that is down comes
 * up; else a job of the mix comes or a random one goes, every tenth asks of the full node class. */
static void put_next(struct bench *b, struct history *h)
{
    uint32_t count;
    const uint32_t *waiting = index_waiting(b->s.m, &count);
    uint64_t draw = prng_below(&b->prng, 100);

    if (count > 0) {
        bench_put_end(b, job_row(b->s.m, waiting[count - 1])->key);
        h->ended++;
    } else if (h->down != ROW_NONE) {
        put_state(b, h->down, HOST_UP);
        h->down = ROW_NONE;
        h->flapped++;
    } else if (draw < 2) {
        h->down = (uint32_t)prng_below(&b->prng, b->hosts);
        put_state(b, h->down, HOST_DOWN);
        h->flapped++;
    } else if (draw < 10) {
        bench_put_job(b, (struct bench_ask){BENCH_PICKY_CLASS, MILLI_FULL, bench_draw_gpus(b)});
    } else if (draw < 55) {
        bench_put_job(b, (struct bench_ask){bench_draw_class(b), MILLI_FULL, bench_draw_gpus(b)});
    } else {
        bench_put_end(b, draw_running(b));
        h->ended++;
    }
}

/* So many events more; what was decided before is not counted. */
static void go_on(struct bench *b, struct history *h, uint32_t events)
{
    h->down = ROW_NONE;
    h->started = h->refused = h->ended = h->flapped = 0;
    b->seen = keep_batch;
    b->seen_by = h;
    for (uint32_t n = 0; n < events; n++) {
        put_next(b, h);
        bench_step(b);
    }
    b->seen = NULL;
    printf("  %u batches of one event: %u starts, %u refusals, %u ends, %u node flaps\n", events,
           h->started, h->refused, h->ended, h->flapped);
    fflush(stdout);
}

static void history_close(struct history *h)
{
    free(h->bytes);
    free(h->end);
}

/* ---- restore ---- */

static void give(struct bench *b, const uint8_t *bytes, size_t size)
{
    if (b->limit < size) {
        b->limit = size * 2;
        b->bytes = realloc(b->bytes, b->limit);
        must(b->bytes);
    }
    memcpy(b->bytes, bytes, size);
    b->size = size;
    bench_step(b);
}

static void restore(struct bench *b)
{
    uint32_t pods = model_head(b->s.m, TABLE_SEAT)->live;
    struct wire_out w = {.limit = b->block_bytes + 1024};
    static struct bench back;
    struct history h = {.count = 0};
    struct limits l;
    int64_t start, read, replayed;
    uint64_t digest;
    size_t from = 0;

    printf("restore of %u GPUs with %u running pods\n", b->hosts * BENCH_GPUS_PER_HOST, pods);
    w.byte = malloc(w.limit);
    must(w.byte);
    start = bench_ns();
    snapshot_put(&b->s, &w);
    must(!w.full);
    printf("  snapshot written: %.1f MiB in %.2f s\n", mib(w.size),
           (double)(bench_ns() - start) / 1e9);
    go_on(b, &h, OLD_EVENTS);
    digest = sched_digest(&b->s);

    start = bench_ns();
    must(snapshot_limits(w.byte, w.size, &l));
    back.block_bytes = (sched_bytes(&l) + 63) / 64 * 64;
    back.block = aligned_alloc(64, back.block_bytes);
    must(back.block);
    sched_init(&back.s, back.block, &l);
    must(snapshot_get(&back.s, w.byte, w.size));
    read = bench_ns() - start;
    for (uint32_t n = 0; n < h.count; from = h.end[n++])
        give(&back, h.bytes + from, h.end[n] - from);
    must(sched_digest(&back.s) == digest);
    replayed = bench_ns() - start - read;
    printf("  snapshot read in %.2f s, %u events since in %.2f s: %.2f s <= %.0f %s\n",
           (double)read / 1e9, h.count, (double)replayed / 1e9, (double)(read + replayed) / 1e9,
           RESTORE_NS / 1e9, verdict(read + replayed <= RESTORE_NS));
    fflush(stdout);
    bench_close(&back);
    history_close(&h);
    free(w.byte);
}

/* ---- replay ---- */

/* Writes the journal of a cluster, its filling and a mixed history; returns the batches before the
 * history. */
static uint32_t write_journal(const char *path)
{
    static struct bench b;
    struct history h = {.count = 0};
    uint32_t before;
    struct err err;

    must(journal_open(&h.journal, path, &err) == 0);
    bench_open(&b, REPLAY_GPUS);
    b.seen = keep_batch;
    b.seen_by = &h;
    bench_step(&b);
    bench_fill(&b, 95);
    bench_fill_picky(&b);
    before = h.count;
    go_on(&b, &h, REPLAY_EVENTS);
    must(journal_close(h.journal, true, &err) == 0);
    bench_close(&b);
    history_close(&h);
    return before;
}

static int64_t replay_ns(const char *path, uint64_t until, uint64_t *ret_events)
{
    int64_t start = bench_ns();
    uint64_t batches;
    struct err err;

    if (journal_replay(path, until, &batches, ret_events, &err) != 0) {
        fprintf(stderr, "state_bench: %s\n", err.text);
        exit(1);
    }
    return bench_ns() - start;
}

static void replay(void)
{
    char path[] = "/tmp/state_bench.XXXXXX";
    int file = mkstemp(path);
    uint64_t all_events, first_events;
    uint32_t before;
    int64_t ns;
    double rate;

    must(file >= 0);
    close(file);
    printf("replay of a journal on %u GPUs, 95 %% held\n", REPLAY_GPUS);
    before = write_journal(path);
    ns = replay_ns(path, 0, &all_events) - replay_ns(path, before, &first_events);
    rate = (double)(all_events - first_events) * 1e9 / (double)ns;
    printf("  %llu events in %.2f s, decisions and digest compared after each: %.0f events/s >= %u "
           "%s\n",
           (unsigned long long)(all_events - first_events), (double)ns / 1e9, rate, REPLAY_LEAST,
           verdict(rate >= REPLAY_LEAST));
    unlink(path);
}

int main(int argc, char **argv)
{
    uint32_t gpus = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000;
    static struct bench b;

    if (gpus < 1000) {
        fprintf(stderr, "state_bench: found %s, expected 1000 GPUs at least\n", argv[1]);
        return 2;
    }
    memory(&b, gpus, (uint32_t)((uint64_t)gpus * PODS_PER_KGPU / 1000));
    restore(&b);
    bench_close(&b);
    replay();
    return 0;
}
