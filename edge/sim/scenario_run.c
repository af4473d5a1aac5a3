#include "edge/sim/scenario_run_parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"

#define MOMENTS_MAX 1000000 /* of one run: jobs of no length must not hold it up for ever */
#define STEPS_MAX   64      /* of the core at one moment */

/* ---- failures ---- */

static void say_place(struct play *p, uint32_t line)
{
    out_format(p->report, "%s:%u: ", p->s->path, line);
    if (p->round)
        out_format(p->report, "(order %u) ", p->round);
}

void play_broken(struct play *p, const char *expected, const char *format, ...)
{
    char found[400];
    va_list args;

    if (p->broken)
        return;
    va_start(args, format);
    vsnprintf(found, sizeof(found), format, args);
    va_end(args);
    say_place(p, p->line);
    out_add(p->report, "at ");
    out_seconds(p->report, p->now_ns);
    out_format(p->report, " s: expected %s, found %s\n", expected, found);
    p->failures++;
    p->broken = true;
}

/* ---- records and turns ---- */

struct record play_blank(enum record_kind kind, uint32_t job)
{
    return (struct record){
        .kind = kind,
        .job = job,
        .arrival = WORLD_NONE,
        .by = WORLD_NONE,
        .decide_ns = -1,
        .reason = {
            .free_gpu_milli = -1, .best_pods = -1, .binding = -1, .runner_up_node = WORLD_NONE}};
}

void play_record(struct play *p, struct record *record)
{
    struct sink sink;

    if (!p->metrics)
        return;
    sink = metrics_sink(p->metrics);
    record->t_ns = p->now_ns;
    sink.take(sink.context, record);
}

void play_turn(struct play *p)
{
    if (p->broken)
        return;
    play_deliver(p, false);
    if (p->relist_ns <= p->now_ns)
        play_relist(p);
    if (p->driver.sched.wake_ns <= p->now_ns) {
        struct event e = play_event(p, EVENT_TICK);

        e.tick.wake = (uint8_t)p->driver.sched.wake;
        driver_event(&p->driver, &e);
    }
    /* What the core takes from a run may take its time to go: it hears of that at once. */
    for (unsigned n = 0; p->driver.batch_size > 0 && n < STEPS_MAX; n++) {
        play_remember_batch(p);
        driver_step(&p->driver, play_decided, p);
        if (p->driver.step_ns > p->decide_ns_max)
            p->decide_ns_max = p->driver.step_ns;
        play_tell_ghosts(p);
    }
    play_check_promises(p);
    play_check(p);
    if (!p->broken)
        play_never_look(p);
}

/* ---- time ---- */

static void earliest(int64_t *next_ns, int64_t t_ns)
{
    *next_ns = t_ns < *next_ns ? t_ns : *next_ns;
}

/* When something happens by itself; INT64_MAX: never again. */
static int64_t next_by_itself(const struct play *p)
{
    int64_t next_ns = play_fact_next(p);

    for (uint32_t j = 0; j < p->w->job_count; j++) {
        if (p->job[j].live.state == LIVE_RUNNING)
            earliest(&next_ns, p->job[j].live.finish_ns);
        earliest(&next_ns, p->job[j].back_ns);
    }
    for (size_t g = 0; g < p->ghost_count; g++)
        earliest(&next_ns, p->ghost[g].until_ns);
    for (size_t g = 0; g < p->gone_count; g++)
        earliest(&next_ns, p->gone[g].back_ns);
    earliest(&next_ns, p->driver.sched.wake_ns);
    for (uint32_t n = 0; n < p->w->node_count; n++)
        earliest(&next_ns, p->node[n].leave_ns);
    return next_ns;
}

/* What happens by itself at this moment, ends first. */
static void happen(struct play *p)
{
    for (uint32_t j = 0; j < p->w->job_count; j++)
        if (p->job[j].live.state == LIVE_RUNNING && p->job[j].live.finish_ns <= p->now_ns)
            play_finish(p, j);
    for (size_t g = p->ghost_count; g-- > 0;)
        if (p->ghost[g].until_ns <= p->now_ns)
            play_ghost_gone(p, g);
    for (uint32_t n = 0; n < p->w->node_count; n++)
        if (p->node[n].leave_ns <= p->now_ns)
            play_node_state(p, n, STATE_DOWN, 0);
    for (uint32_t j = 0; j < p->w->job_count; j++)
        if (p->job[j].back_ns <= p->now_ns)
            play_back(p, j);
    play_pods_back(p);
    play_turn(p);
}

static void play_through(struct play *p)
{
    const struct scenario *s = p->s;
    uint32_t moments = 0;

    for (uint32_t n = 0; n < s->running_count; n++)
        play_seated(p, &s->running[n]);
    play_turn(p);
    for (uint32_t n = 0; n < s->step_count && !p->broken; n++) {
        const struct step *step = &s->step[n];

        for (int64_t next_ns = next_by_itself(p); next_ns <= step->at_ns && !p->broken;
             next_ns = next_by_itself(p)) {
            p->now_ns = next_ns > p->now_ns ? next_ns : p->now_ns;
            happen(p);
            if (++moments > MOMENTS_MAX)
                play_broken(p, "time that passes", "%u moments before it", moments);
        }
        p->now_ns = step->at_ns > p->now_ns ? step->at_ns : p->now_ns;
        p->line = step->line;
        if (!p->broken)
            play_step(p, step);
        if (step->kind != STEP_EXPECT)
            play_turn(p);
    }
}

/* ---- one run ---- */

static int options_of(const struct scenario *s, struct feed_options *o, struct err *err)
{
    static const char *const orders[ORDER_COUNT] = {"fifo", "priority", "easy", "conservative"};

    *o = (struct feed_options){.scorer = SCORER_DOVETAIL,
                               .order = ORDER_PRIORITY,
                               .patience_ns = s->patience_ns,
                               .inherit_ns = s->inherit_ns,
                               .breach_ns = s->breach_ns};
    for (unsigned n = 0; n < ORDER_COUNT; n++)
        if (s->order && strcmp(s->order, orders[n]) == 0)
            o->order = (enum order)n;
    if (!s->policy)
        return 0;
    for (unsigned n = 0; n < SCORER_COUNT; n++)
        if (strcmp(scorer_get(n)->name, s->policy) == 0) {
            o->scorer = (enum scorer_id)n;
            return 0;
        }
    return err_set(err, ERR_INPUT, "%s:1: found policy \"%s\", expected one of the scorers",
                   s->path, s->policy);
}

static int play_open(struct play *p, struct scenario *s, struct err *err)
{
    p->s = s;
    p->w = &s->world;
    p->line = s->step_count ? s->step[0].line : 1;
    p->relist_ns = INT64_MAX;
    p->node = memory_zeroed((p->w->node_count + 1u) * sizeof(*p->node));
    p->job = memory_zeroed((p->w->job_count + 1u) * sizeof(*p->job));
    for (uint32_t n = 0; n < p->w->node_count; n++)
        p->node[n] = (struct play_node){.state = HOST_UP, .leave_ns = INT64_MAX};
    for (uint32_t j = 0; j < p->w->job_count; j++) {
        p->job[j].key = WORLD_NONE;
        p->job[j].first_start_ns = -1;
        p->job[j].last_ckpt_ns = INT64_MIN;
        p->job[j].back_ns = INT64_MAX;
        p->job[j].promised_ns = INT64_MAX;
    }
    play_view_open(p);
    play_never_collect(p);
    if (play_metrics_asked(s))
        p->metrics = metrics_open(p->w, WORLD_NONE);
    driver_open(&p->driver, NULL);
    return feed_open(&p->feed, &p->seen, &p->driver, &p->feed_options, err);
}

static void play_close(struct play *p)
{
    for (uint32_t j = 0; j < p->w->job_count; j++) {
        free(p->job[j].live.pod);
        out_free(&p->job[j].told.text);
    }
    for (size_t g = 0; g < p->ghost_count; g++)
        free(p->ghost[g].pod);
    if (p->metrics)
        metrics_close(p->metrics);
    play_facts_close(p);
    play_view_close(p);
    words_free(&p->words);
    feed_close(&p->feed);
    driver_close(&p->driver);
    out_free(&p->found);
    free(p->node);
    free(p->job);
    free(p->ghost);
    free(p->gone);
    free(p->heard);
    free(p->job_of_key);
    free(p->never);
}

static int play_round(struct scenario *s, struct out *report, struct scenario_result *result,
                      struct err *err)
{
    struct play p = {.report = report, .round = result->rounds};
    uint32_t line = 0;
    const char *lacks = play_lacks(s, &line);
    int code;

    if (lacks) {
        out_format(report, "%s:%u: not in this build: %s\n", s->path, line, lacks);
        result->failures++;
        return 0;
    }
    code = options_of(s, &p.feed_options, err);
    if (code)
        return code;
    code = play_open(&p, s, err);
    if (!code) {
        play_through(&p);
        result->checks += p.checks;
        result->failures += p.failures;
        result->rounds++;
    }
    play_close(&p);
    return code;
}

int scenario_run(const char *path, struct out *report, struct scenario_result *ret_result,
                 struct err *err)
{
    uint32_t rounds = 1;
    int code = 0;

    *ret_result = (struct scenario_result){.rounds = 0};
    for (uint32_t n = 0; n < rounds && !code && ret_result->failures == 0; n++) {
        struct scenario s;

        code = scenario_read(&s, path, err);
        if (code)
            break;
        rounds = s.shuffle + 1;
        code = play_round(&s, report, ret_result, err);
        scenario_free(&s);
    }
    return code;
}
