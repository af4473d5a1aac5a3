#include "cmd/dovetail/batch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dovetail/command.h"
#include "core/place/score.h"
#include "edge/base/memory.h"
#include "edge/sim/log.h"
#include "edge/sim/progress.h"

/* What one run leaves behind. */
struct done {
    int code;
    struct err err;
    bool whole; /* ran to its end */
    struct metrics *metrics;
    struct series *series;
};

struct batch {
    const struct batch_run *run;
    const struct batch_options *o;
    struct done *done;
    uint32_t count;
    pthread_mutex_t lock;
    uint32_t next;
    struct progress progress;
};

/* Where one run's worker is, for the progress bar. */
struct teller {
    struct batch *b;
    uint64_t told;
};

static bool tick(void *context, uint64_t done, uint64_t all)
{
    struct teller *t = context;

    (void)all;
    if (done > t->told)
        progress_add(&t->b->progress, done - t->told);
    t->told = done > t->told ? done : t->told;
    return command_stopped();
}

static uint64_t length_of(const struct batch_run *run)
{
    return run->arrivals == WORLD_NONE ? run->w->job_count
                                       : run->w->openb->arrival_count[run->arrivals];
}

static int open_outputs(const struct batch_run *run, const char *folder, struct log **ret_log,
                        struct journal **ret_journal, struct err *err)
{
    struct log_head head = {scorer_get(run->feed.scorer)->name, DOVETAIL_VERSION, run->arrivals};
    struct out name = {NULL, 0, 0};
    int code = log_open(ret_log, run->w, folder, &head, err);

    if (code)
        return code;
    log_name(&name, run->w, folder, &head, ".journal");
    code = journal_open(ret_journal, name.bytes, err);
    out_free(&name);
    if (code) {
        struct err ignored;

        (void)log_cut(*ret_log, &ignored);
    }
    return code;
}

static int close_outputs(struct done *d, struct log *log, struct journal *journal,
                         const struct run_result *result, struct err *err)
{
    const struct metric_value *values;
    uint32_t count = metrics_values(d->metrics, &values);
    struct err second;
    char digest[17];
    int code, journal_code;

    (void)snprintf(digest, sizeof(digest), "%016llx", (unsigned long long)result->digest);
    code = d->whole ? log_close(log, digest, values, count, err) : log_cut(log, err);
    journal_code = journal_close(journal, d->whole, &second);
    if (!code && journal_code) {
        *err = second;
        code = journal_code;
    }
    return code;
}

static void work_one(struct batch *b, uint32_t n)
{
    const struct batch_run *run = &b->run[n];
    struct done *d = &b->done[n];
    struct teller teller = {b, 0};
    struct run_options o = {.feed = run->feed, .arrivals = run->arrivals, .tick = tick};
    struct run_result result = {.stopped = true};
    struct log *log = NULL;

    o.context = &teller;
    if (b->o->out)
        d->code = open_outputs(run, b->o->out, &log, &o.journal, &d->err);
    if (d->code)
        return;
    d->metrics = metrics_open(run->w, run->arrivals);
    o.sink[o.sink_count++] = metrics_sink(d->metrics);
    if (log) {
        d->series = series_open(run->w, run->arrivals, d->metrics);
        o.sink[o.sink_count++] = series_sink(d->series);
        o.sink[o.sink_count++] = log_sink(log);
    }
    d->code = run_world(run->w, &o, &result, &d->err);
    d->whole = d->code == 0 && !result.stopped;
    if (log) {
        struct err err;
        int code = close_outputs(d, log, o.journal, &result, &err);

        if (!d->code && code) {
            d->code = code;
            d->err = err;
            d->whole = false;
        }
    }
    if (d->whole && result.ignored) {
        d->code = err_set(&d->err, ERR_CHECK, "the core ignored %llu events: please report it",
                          (unsigned long long)result.ignored);
        d->whole = false;
    }
    if (d->whole && length_of(run) > teller.told)
        progress_add(&b->progress, length_of(run) - teller.told);
}

static void *work(void *context)
{
    struct batch *b = context;

    for (;;) {
        uint32_t n;

        pthread_mutex_lock(&b->lock);
        n = command_stopped() ? b->count : b->next;
        b->next += n < b->count;
        pthread_mutex_unlock(&b->lock);
        if (n >= b->count)
            return NULL;
        work_one(b, n);
    }
}

static void run_workers(struct batch *b)
{
    unsigned workers = b->o->workers < b->count ? b->o->workers : b->count;
    pthread_t *thread = memory_zeroed((workers + 1) * sizeof(*thread));
    unsigned started = 0;

    /* The first worker is this thread; the rest help if the system lets them. */
    for (unsigned n = 1; n < workers; n++)
        if (pthread_create(&thread[started], NULL, work, b) == 0)
            started++;
    (void)work(b);
    for (unsigned n = 0; n < started; n++)
        pthread_join(thread[n], NULL);
    free(thread);
}

/* Adds what was done to summary and report, in the order of the list. */
static int gather(struct batch *b, struct summary *summary, struct report *report,
                  uint32_t *ret_done, struct err *err)
{
    int code = 0;

    for (uint32_t n = 0; n < b->count; n++) {
        struct done *d = &b->done[n];
        const struct batch_run *run = &b->run[n];
        struct log_head head = {scorer_get(run->feed.scorer)->name, DOVETAIL_VERSION,
                                run->arrivals};
        const struct metric_value *values;
        struct out workload = {NULL, 0, 0};

        if (d->code && !code) {
            code = d->code;
            *err = d->err;
        }
        if (d->whole) {
            uint32_t count = metrics_values(d->metrics, &values);

            log_workload(&workload, run->w);
            summary_add(summary, workload.bytes, head.policy, log_seed(run->w, &head), values,
                        count);
            if (d->series)
                report_add(report, workload.bytes, head.policy, log_seed(run->w, &head), d->series);
            out_free(&workload);
            ++*ret_done;
        }
        if (d->series)
            series_close(d->series);
        if (d->metrics)
            metrics_close(d->metrics);
    }
    return code;
}

int batch_run_all(const struct batch_run *run, uint32_t count, const struct batch_options *o,
                  struct summary *summary, struct report *report, uint32_t *ret_done,
                  struct err *err)
{
    struct batch b = {.run = run, .o = o, .count = count};
    uint64_t total = 0;
    int code;

    *ret_done = 0;
    b.done = memory_zeroed((count + 1) * sizeof(*b.done));
    pthread_mutex_init(&b.lock, NULL);
    for (uint32_t n = 0; n < count; n++)
        total += length_of(&run[n]);
    progress_begin(&b.progress, run[0].arrivals == WORLD_NONE ? "jobs" : "arrivals", total,
                   o->quiet);
    run_workers(&b);
    progress_end(&b.progress);
    pthread_mutex_destroy(&b.lock);
    code = gather(&b, summary, report, ret_done, err);
    free(b.done);
    return code;
}
