#include "tests/oracle/run.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"

/* A must() that fails is a finding like any other: the run ends, the seed is printed. */
static jmp_buf must_exit;
static bool must_armed;
static char must_text[300];

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    (void)snprintf(must_text, sizeof(must_text), "%s:%d: must hold: %s", file, line, expr);
    if (must_armed)
        longjmp(must_exit, 1);
    fprintf(stderr, "%s\n", must_text);
    abort();
}

#define BATCH_EVENTS 1024

/* The events of one batch, with the stops that an edge would send. */
static unsigned gather(const struct history *h, uint32_t batch, struct event *ret)
{
    unsigned count = 0;

    for (uint32_t u = 0; u < h->units; u++) {
        if (h->unit[u].batch != batch)
            continue;
        must(count + h->unit[u].count <= BATCH_EVENTS / 2);
        memcpy(ret + count, h->event + h->unit[u].first, h->unit[u].count * sizeof(*ret));
        count += h->unit[u].count;
    }
    return count;
}

/* Jobs on what the batch takes down: known only to somebody who follows the world. */
static unsigned add_stops(const struct o_world *now, struct event *e, unsigned count)
{
    static struct o_world after;
    uint32_t keys[BATCH_EVENTS / 2];
    unsigned broken;

    oracle_copy(&after, now);
    for (unsigned n = 0; n < count; n++)
        if (e[n].kind != EVENT_PODSET)
            mirror_apply(&after, &e[n], &e[n] + 1);
    broken = mirror_broken(&after, keys, BATCH_EVENTS / 2);
    for (unsigned n = 0; n < broken; n++)
        e[count++] = (struct event){.kind = EVENT_STOP, .at_ns = after.now_ns, .stop.key = keys[n]};
    return count;
}

/* Faults stop, limits are lifted. */
static unsigned make_calm(const struct o_world *w, struct event *e)
{
    unsigned count = 0;

    for (uint32_t n = 0; n < w->hosts; n++) {
        if (w->host[n].state == O_ABSENT)
            continue;
        e[count++] = (struct event){.kind = EVENT_HOST_STATE, .host_state = {n, HOST_UP}};
        e[count++] = (struct event){.kind = EVENT_HOST_LEAVE, .host_leave = {n, INT64_MAX}};
        for (uint8_t d = 0; d < w->host[n].gpus; d++)
            if (w->host[n].failed >> d & 1)
                e[count++] = (struct event){.kind = EVENT_DEVICE, .device = {n, d, DEVICE_UP}};
        must(count < BATCH_EVENTS - 2 * O_GPUS);
    }
    for (uint32_t t = 0; t < O_TEAMS; t++)
        if (w->team[t].used)
            e[count++] = (struct event){.kind = EVENT_TEAM,
                                        .team = {t, w->team[t].parent, 1, INT64_MAX / 8}};
    return count;
}

/* ---- time ---- */

#define SECOND ((int64_t)1000000000)

/* When the run ends: the world's own affair, which the estimate does not decide. */
static int64_t due_ns(const struct history *h, const struct o_job *j, int64_t now_ns)
{
    int64_t due = j->start_ns + history_lasts_s(h, j->key) * SECOND;

    if (j->end_ns != O_NEVER)
        due = j->start_ns + (j->end_ns - j->start_ns) / 1000 * history_lasts_permille(h, j->key);
    return due > now_ns ? due : now_ns;
}

/* Lets time pass until then: runs end when they do, and the scheduler is woken when it wants to be.
 */
static bool pass_time(struct check *c, const struct history *h, int64_t until_ns)
{
    static struct event batch[BATCH_EVENTS];

    for (unsigned turn = 0;; turn++) {
        int64_t next = c->d.s.wake_ns;
        unsigned count = 0;

        if (turn == 3000)
            return check_wrong(c, "it is woken for ever, or runs start and end without time");
        if (next <= c->w.now_ns)
            return check_wrong(c, "it wants to be woken at %lld, which is over", (long long)next);
        for (unsigned n = 0; n < c->w.jobs; n++)
            if (c->w.job[n].live && c->w.job[n].runs) {
                int64_t due = due_ns(h, &c->w.job[n], c->w.now_ns);

                next = due < next ? due : next;
            }
        if (next > until_ns)
            return true;
        for (unsigned n = 0; n < c->w.jobs && count < BATCH_EVENTS; n++)
            if (c->w.job[n].live && c->w.job[n].runs &&
                due_ns(h, &c->w.job[n], c->w.now_ns) <= next)
                batch[count++] =
                    (struct event){.kind = EVENT_END, .at_ns = next, .end.key = c->w.job[n].key};
        if (count == 0)
            batch[count++] = (struct event){
                .kind = EVENT_TICK, .at_ns = next, .tick.wake = (uint8_t)c->d.s.wake};
        if (!check_batch(c, batch, count))
            return false;
    }
}

/* What runs ends, again and again: in the end nobody waits but those that fit nowhere. */
static bool run_calm(struct check *c)
{
    static struct event batch[BATCH_EVENTS];
    unsigned count = make_calm(&c->w, batch);

    c->search_steps = c->deep ? c->search_steps : 5000;
    c->deep = true;
    if (count && !check_batch(c, batch, count))
        return false;
    for (unsigned round = 0;; round++) {
        must(round < 4 * O_JOBS);
        count = 0;
        for (unsigned n = 0; n < c->w.jobs && count < BATCH_EVENTS; n++)
            if (c->w.job[n].live && (c->w.job[n].runs || c->w.job[n].seats))
                batch[count++] = (struct event){.kind = EVENT_END, .end.key = c->w.job[n].key};
        if (count == 0 && c->d.s.wake_ns != INT64_MAX)
            batch[count++] = (struct event){
                .kind = EVENT_TICK, .at_ns = c->d.s.wake_ns, .tick.wake = (uint8_t)c->d.s.wake};
        if (count == 0)
            return true;
        if (!check_batch(c, batch, count))
            return false;
    }
}

static bool run_batches(struct check *c, const struct history *h, unsigned flags)
{
    static struct event batch[BATCH_EVENTS];

    for (uint32_t b = 0; b < h->batches; b++) {
        unsigned count = gather(h, b, batch);

        if (count && !pass_time(c, h, batch[0].at_ns))
            return false;
        if (flags & RUN_STOPS)
            count = add_stops(&c->w, batch, count);
        if (count && !check_batch(c, batch, count)) {
            size_t used = strlen(c->wrong);

            (void)snprintf(c->wrong + used, sizeof(c->wrong) - used, " (batch %u)", b);
            return false;
        }
    }
    return !(flags & RUN_CALM) || run_calm(c);
}

bool run_history(const struct history *h, unsigned flags, struct tally *tally, char *ret_wrong,
                 size_t size)
{
    static struct check c;
    volatile bool good;

    check_open(&c, NULL, tally);
    c.deep = flags & RUN_DEEP;
    c.tables = flags & RUN_TABLES;
    if (flags & RUN_REPLAY)
        check_twin(&c);
    must_armed = true;
    if (setjmp(must_exit) == 0)
        good = run_batches(&c, h, flags);
    else
        good = check_wrong(&c, "%s", must_text);
    must_armed = false;
    (void)snprintf(ret_wrong, size, "%s", c.wrong);
    tally->grown += c.d.grown;
    check_close(&c);
    return good;
}

/* ---- the smallest history that fails ---- */

static bool fails_without(const struct history *h, const uint8_t *keep, unsigned flags,
                          char *ret_wrong, size_t size)
{
    struct tally scrap = {0};
    struct history part;
    bool good;

    history_cut(&part, h, keep);
    good = run_history(&part, flags, &scrap, ret_wrong, size);
    history_free(&part);
    return !good;
}

static void shrink(const struct history *h, uint8_t *keep, unsigned flags, char *wrong, size_t size)
{
    char now[512];

    for (uint32_t chunk = h->units / 2; chunk > 0; chunk /= 2)
        for (uint32_t at = 0; at < h->units; at += chunk) {
            uint8_t *tried = malloc(h->units);
            bool any = false;

            must(tried != NULL);
            memcpy(tried, keep, h->units);
            for (uint32_t u = at; u < at + chunk && u < h->units; u++) {
                any |= keep[u];
                tried[u] = 0;
            }
            for (uint32_t u = at; u < at + chunk && u < h->units; u++)
                tried[u] |= h->unit[u].fixed;
            if (any && fails_without(h, tried, flags, now, sizeof(now))) {
                memcpy(keep, tried, h->units);
                (void)snprintf(wrong, size, "%s", now);
            }
            free(tried);
        }
}

static void print_host(const struct event_host *e)
{
    printf("  host %u gpus %u model %u class %u shape %d mem %" PRId64 " cpu %" PRId64
           " mib %" PRId64 " pods %" PRId64 " domains %d %d %d\n",
           e->host, e->gpus, e->model, e->class_id, (int)e->shape, e->gpu_mem_mib, e->cpu_milli,
           e->mem_mib, e->pods, (int)e->domain[0], (int)e->domain[1], (int)e->domain[2]);
}

static void print_podset(const struct event_podset *p)
{
    printf("    podset pods %u min %u gpus %u milli %u mib %u profile %d cpu %" PRId64
           " mem %" PRId64 " class %u required %#" PRIx64 " slice %u/%u\n",
           p->pods, p->pods_min, p->gpus, p->milli, p->share_mib, (int)p->profile, p->cpu_milli,
           p->mem_mib, p->class_id, p->required, p->slice_pods, p->slice_scope);
}

static void print_event(const struct event *e)
{
    switch ((unsigned)e->kind) {
    case EVENT_HOST:
        print_host(&e->host);
        break;
    case EVENT_JOB:
        printf("  job %u at %" PRId64 " s est %" PRId64 " s required %#" PRIx64
               " team %d priority %d flags %u preferred %u patience %" PRId64 " restart %" PRId64
               "\n",
               e->job.key, e->at_ns / SECOND, e->job.est_ns / SECOND, e->job.required,
               (int)e->job.team, e->job.priority, e->job.flags, e->job.preferred_count,
               e->job.patience_ns / SECOND, e->job.restart_ns / SECOND);
        break;
    case EVENT_PODSET:
        print_podset(&e->podset);
        break;
    case EVENT_CONFIG:
        printf("  config order %u scorer %u drop_never %u scan_all %u reserves %u patience %" PRId64
               " inherit %" PRId64 " breach %" PRId64 "\n",
               e->config.order, e->config.scorer, e->config.drop_never, e->config.scan_all,
               e->config.reserves_max, e->config.patience_ns / SECOND,
               e->config.inherit_ns / SECOND, e->config.breach_ns / SECOND);
        break;
    case EVENT_DEVICE:
        printf("  device %u.%u state %u\n", e->device.host, e->device.device, e->device.state);
        break;
    case EVENT_HOST_STATE:
        printf("  host %u state %u\n", e->host_state.host, e->host_state.state);
        break;
    case EVENT_LEVEL:
    case EVENT_DOMAIN:
    case EVENT_CLASS:
        break;
    default: /* the key, host or team is the first field of all others */
        printf("  %s %u at %" PRId64 " s\n", event_name(e->kind), e->end.key, e->at_ns / SECOND);
        break;
    }
}

bool run_seed(uint64_t seed, const struct style *s, unsigned flags, struct tally *tally,
              const char *program)
{
    struct history h;
    char wrong[512];
    uint8_t *keep;
    bool good;

    history_make(&h, seed, s);
    tally->worlds++;
    good = run_history(&h, flags, tally, wrong, sizeof(wrong));
    if (!good) {
        keep = malloc(h.units);
        must(keep != NULL);
        memset(keep, 1, h.units);
        printf("seed %" PRIu64 ": %s\n", seed, wrong);
        if (h.honest)
            printf("every estimate is an upper bound, nothing fails\n");
        shrink(&h, keep, flags, wrong, sizeof(wrong));
        printf("shortest history that fails: %s\n", wrong);
        for (uint32_t u = 0, batch = 0; u < h.units; u++) {
            if (keep[u] && h.unit[u].batch != batch)
                printf(" batch %u\n", batch = h.unit[u].batch);
            for (uint32_t n = 0; n < h.unit[u].count && keep[u]; n++)
                print_event(&h.event[h.unit[u].first + n]);
        }
        printf("again: tests/%s/main --seed %" PRIu64 "\n", program, seed);
        free(keep);
    }
    history_free(&h);
    return good;
}
