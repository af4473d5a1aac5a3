/* What a scenario says must be true. */
#include "edge/sim/scenario_run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "core/model/index.h"

#define MICRO       1000000ll
#define TIME_SLACK  2000 /* 2 ms, as times are compared */
#define VALUE_SLACK 5000 /* figures: 0.005 */

/* ---- words ---- */

static void tree_text(struct out *out, const struct tree *t)
{
    bool map = t->kind == TREE_MAP;

    if (t->kind == TREE_NULL) {
        out_add(out, "null");
    } else if (t->kind == TREE_BOOL) {
        out_add(out, t->truth ? "true" : "false");
    } else if (t->kind != TREE_LIST && !map) {
        out_add(out, t->text);
    } else {
        out_char(out, map ? '{' : '[');
        for (const struct tree *c = t->child; c; c = c->next) {
            if (map) {
                out_add(out, c->key);
                out_add(out, ": ");
            }
            tree_text(out, c);
            out_add(out, c->next ? ", " : "");
        }
        out_char(out, map ? '}' : ']');
    }
}

bool play_missed(struct play *p, const char *key, const struct tree *value)
{
    if (!p->quiet) {
        out_format(p->report, "%s:%u: ", p->s->path, value->line);
        if (p->round)
            out_format(p->report, "(order %u) ", p->round);
        out_add(p->report, "at ");
        out_seconds(p->report, p->now_ns);
        out_format(p->report, " s: expected %s", key);
        if (value->kind != TREE_NULL) {
            out_add(p->report, ": ");
            tree_text(p->report, value);
        }
        out_add(p->report, ", found ");
        out_add(p->report, p->found.length ? p->found.bytes : "nothing of that kind");
        out_char(p->report, '\n');
        p->failures++;
    }
    out_clear(&p->found);
    return false;
}

bool play_missed_in(struct play *p, const char *key, const struct tree *value)
{
    struct out name = {NULL, 0, 0};

    out_format(&name, "%s: %s", key, value->key);
    (void)play_missed(p, name.bytes, value);
    out_free(&name);
    return false;
}

static bool micro_of(const struct tree *number, int64_t *ret)
{
    return number && tree_decimal(number, 6, ret);
}

bool play_amount(const struct tree *amount, int64_t micro, int64_t slack)
{
    const struct tree *low = amount, *high = amount;
    int64_t bound;

    if (amount->kind == TREE_MAP) {
        low = reader_get(amount, "min");
        high = reader_get(amount, "max");
    }
    if (micro_of(low, &bound) && micro < bound - slack)
        return false;
    return !(micro_of(high, &bound) && micro > bound + slack);
}

uint32_t play_job_of(const struct play *p, const struct tree *name)
{
    return world_job_find(p->w, name->key ? name->key : name->text);
}

struct world_where play_where(struct play *p, const struct tree *level)
{
    struct err err;
    struct reader r = {.w = p->w, .path = p->s->path, .err = &err};

    return reader_where(&r, level);
}

static void devices_text(struct out *out, uint16_t devices)
{
    bool first = true;

    out_char(out, '[');
    for (unsigned d = 0; d < WORLD_GPUS_MAX; d++)
        if (devices >> d & 1) {
            out_add(out, first ? "" : " ");
            out_integer(out, d);
            first = false;
        }
    out_char(out, ']');
}

void play_describe(struct play *p, uint32_t job, struct out *out)
{
    const struct live *l = &p->job[job].live;
    struct record r;

    out_add(out, p->w->job[job].name);
    if (l->state == LIVE_RUNNING) {
        out_add(out, play_is_below(p, job) ? " below its minimum on" : " on");
        for (uint32_t n = 0; n < l->pod_count; n++) {
            out_add(out, n ? ", " : " ");
            out_add(out, p->w->node[l->pod[n].node].name);
            if (play_is_unknown(p, job, &l->pod[n]))
                out_add(out, " on devices that nobody knows");
            else if (l->pod[n].devices)
                devices_text(out, l->pod[n].devices);
        }
        return;
    }
    if (l->state != LIVE_WAITING) {
        out_add(out, l->state == LIVE_UNBORN ? " not there yet" : " at its end");
        return;
    }
    out_add(out, " waiting");
    if (play_reason_now(p, job, &r))
        out_format(out, ": %s, %s", r.reason.code, r.reason.text ? r.reason.text : "");
}

static void found_text(struct play *p, const char *text)
{
    out_clear(&p->found);
    out_add(&p->found, text);
}

static void found_micro(struct play *p, int64_t micro)
{
    out_clear(&p->found);
    out_decimal(&p->found, micro, 6);
}

/* ---- lists of jobs ---- */

typedef bool (*job_test)(struct play *p, uint32_t job);

static bool is_running(struct play *p, uint32_t job)
{
    return p->job[job].live.state == LIVE_RUNNING && !play_is_below(p, job);
}

static bool is_waiting(struct play *p, uint32_t job)
{
    return play_waits(p, job);
}

static bool is_evicted(struct play *p, uint32_t job)
{
    return p->job[job].stops > 0;
}

static bool is_moved(struct play *p, uint32_t job)
{
    (void)p;
    (void)job;
    return false; /* this build moves nobody */
}

static bool is_repaired(struct play *p, uint32_t job)
{
    return p->job[job].repaired;
}

static bool is_sick(struct play *p, uint32_t job)
{
    const struct live *l = &p->job[job].live;

    for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++)
        if (l->pod[n].devices & p->node[l->pod[n].node].sick)
            return true;
    return false;
}

static bool is_listed(const struct play *p, const struct tree *list, uint32_t job)
{
    if (list->kind != TREE_LIST)
        return play_job_of(p, list) == job;
    for (const struct tree *t = list->child; t; t = t->next)
        if (world_job_find(p->w, t->text) == job)
            return true;
    return false;
}

static bool one_job(struct play *p, const char *key, const struct tree *name, job_test test)
{
    uint32_t job = world_job_find(p->w, name->text);

    if (test(p, job))
        return true;
    out_clear(&p->found);
    play_describe(p, job, &p->found);
    return play_missed(p, key, name);
}

/* All of the list; only: and no other. */
static bool listed(struct play *p, const char *key, const struct tree *value,
                   const struct tree *list, bool only, job_test test)
{
    bool fine = true;

    if (list->kind != TREE_LIST)
        fine = one_job(p, key, list, test);
    else
        for (const struct tree *t = list->child; t; t = t->next)
            fine &= one_job(p, key, t, test);
    for (uint32_t job = 0; only && job < p->w->job_count; job++)
        if (test(p, job) && !is_listed(p, list, job)) {
            out_clear(&p->found);
            play_describe(p, job, &p->found);
            fine = play_missed(p, key, value);
        }
    return fine;
}

/* J, [J, K] or {only: [J, K]}. */
static bool jobs(struct play *p, const char *key, const struct tree *value, job_test test)
{
    const struct tree *only = value->kind == TREE_MAP ? reader_get(value, "only") : NULL;

    return listed(p, key, value, only ? only : value, only != NULL, test);
}

static bool expect_running(struct play *p, const struct tree *t)
{
    return jobs(p, "running", t, is_running);
}

static bool expect_sick(struct play *p, const struct tree *t)
{
    return jobs(p, "sick", t, is_sick);
}

static bool expect_waiting(struct play *p, const struct tree *t)
{
    bool fine = true;

    if (t->kind != TREE_MAP || (t->count == 1 && strcmp(t->child->key, "only") == 0))
        return jobs(p, "waiting", t, is_waiting);
    for (const struct tree *one = t->child; one; one = one->next)
        fine &= play_expect_reason(p, one);
    return fine;
}

/* ---- counts and figures ---- */

/* {count, pods, only}: whole stops or moves since the start; pods also those that shrinks took. */
static bool stopped(struct play *p, const char *key, const struct tree *t, job_test test,
                    uint32_t times, uint32_t of_pods)
{
    const struct tree *only = t->kind == TREE_MAP ? reader_get(t, "only") : NULL;
    const struct tree *count = t->kind == TREE_MAP ? reader_get(t, "count") : NULL;
    const struct tree *pods = t->kind == TREE_MAP ? reader_get(t, "pods") : NULL;

    if (t->kind != TREE_MAP)
        return jobs(p, key, t, test);
    if ((count && !play_amount(count, times * MICRO, 0)) ||
        (pods && !play_amount(pods, of_pods * MICRO, 0))) {
        out_clear(&p->found);
        out_format(&p->found, "%u stops, %u pods", times, of_pods);
        return play_missed(p, key, t);
    }
    return !only || listed(p, key, t, only, true, test);
}

static bool expect_evicted(struct play *p, const struct tree *t)
{
    return stopped(p, "evicted", t, is_evicted, p->evicted, p->evicted_pods);
}

static bool expect_moved(struct play *p, const struct tree *t)
{
    return stopped(p, "moved", t, is_moved, 0, 0);
}

static bool expect_wait(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next) {
        uint32_t job = play_job_of(p, t);
        const struct play_job *j = &p->job[job];
        int64_t until_ns = j->first_start_ns >= 0 ? j->first_start_ns : p->now_ns;
        int64_t micro = (until_ns - p->w->job[job].submit_ns) / 1000;

        if (j->live.state != LIVE_UNBORN && play_amount(t, micro, TIME_SLACK))
            continue;
        if (j->live.state == LIVE_UNBORN)
            found_text(p, "a job that is not there yet");
        else
            found_micro(p, micro);
        fine = play_missed_in(p, "wait_s", t);
    }
    return fine;
}

static const char *grade_of(struct play *p, uint32_t job)
{
    const struct model *m = p->driver.sched.m;
    uint32_t key = p->job[job].key, id = key == WORLD_NONE ? ROW_NONE : index_job_find(m, key);
    const char *grade = "known";

    if (id == ROW_NONE || job_row(m, id)->seat_head == ROW_NONE)
        return NULL;
    for (uint32_t s = job_row(m, id)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        if (seat_row(m, s)->grade == GRADE_UNKNOWN)
            return "unknown";
        if (seat_row(m, s)->grade == GRADE_PLANNED)
            grade = "planned";
    }
    return grade;
}

static bool expect_grade(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next) {
        const char *grade = grade_of(p, play_job_of(p, t));

        if (grade && strcmp(grade, t->text) == 0)
            continue;
        found_text(p, grade ? grade : "no devices");
        fine = play_missed_in(p, "grade", t);
    }
    return fine;
}

static bool expect_metrics(struct play *p, const struct tree *map)
{
    const struct metric_value *values, *v;
    uint32_t count = metrics_values(p->metrics, &values);
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next) {
        int64_t micro = 0, slack;

        v = metrics_find(values, count, t->key);
        if (v && v->known)
            micro = (int64_t)(v->value * 1e6 + (v->value < 0 ? -0.5 : 0.5));
        slack = llabs(micro) / 10000 > VALUE_SLACK ? llabs(micro) / 10000 : VALUE_SLACK;
        if (v && v->known && play_amount(t, micro, t->kind == TREE_MAP ? 0 : slack))
            continue;
        if (v && v->known)
            found_micro(p, micro);
        else
            found_text(p, v ? "nothing to measure" : "no figure of that name");
        fine = play_missed_in(p, "metrics", t);
    }
    return fine;
}

/* Gangs below their minimum, and how many pods they hold; none named: there is none. */
static bool expect_broken(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (uint32_t job = 0; map->count == 0 && job < p->w->job_count; job++)
        if (play_is_below(p, job)) {
            out_clear(&p->found);
            play_describe(p, job, &p->found);
            fine = play_missed(p, "broken", map);
        }
    for (const struct tree *t = map->child; t; t = t->next) {
        uint32_t job = play_job_of(p, t);

        if (play_is_below(p, job) && play_amount(t, (int64_t)p->job[job].live.pod_count * MICRO, 0))
            continue;
        out_clear(&p->found);
        play_describe(p, job, &p->found);
        fine = play_missed_in(p, "broken", t);
    }
    return fine;
}

/* Differences between the core's books and the cluster that a list has mended. */
static bool expect_repaired(struct play *p, const struct tree *t)
{
    const struct tree *count = reader_get(t, "count"), *gpus = reader_get(t, "gpus");
    const struct tree *names = reader_get(t, "jobs");

    if ((count && !play_amount(count, p->repaired * MICRO, 0)) ||
        (gpus && !play_amount(gpus, p->repaired_nano / 1000, 1000))) {
        out_clear(&p->found);
        out_format(&p->found, "%u jobs, ", p->repaired);
        out_decimal(&p->found, p->repaired_nano / 1000, 6);
        out_add(&p->found, " GPUs");
        return play_missed(p, "repaired", t);
    }
    return !names || jobs(p, "repaired", names, is_repaired);
}

/* Of the pods that run, how many got which of the ways that they asked for. */
static bool granted_one(struct play *p, uint32_t job, const struct tree *way)
{
    const struct live *l = &p->job[job].live;
    uint32_t count = 0;

    for (uint32_t n = 0; l->state == LIVE_RUNNING && n < l->pod_count; n++) {
        const char *wish = p->w->job[job].podset[l->pod[n].podset].wish;

        count += wish && strcmp(wish, way->key) == 0;
    }
    if (play_amount(way, count * MICRO, 0))
        return true;
    found_micro(p, count * MICRO);
    return play_missed_in(p, "granted", way);
}

static bool expect_granted(struct play *p, const struct tree *map)
{
    bool fine = true;

    for (const struct tree *t = map->child; t; t = t->next)
        for (const struct tree *way = t->child; way; way = way->next)
            fine &= granted_one(p, play_job_of(p, t), way);
    return fine;
}

static bool expect_rejected(struct play *p, const struct tree *t)
{
    if (play_amount(t, p->rejected * MICRO, 0))
        return true;
    found_micro(p, p->rejected * MICRO);
    return play_missed(p, "rejected", t);
}

static bool expect_decide(struct play *p, const struct tree *t)
{
    if (play_amount(t, p->decide_ns_max, 0)) /* ns of a ms: millionths */
        return true;
    found_micro(p, p->decide_ns_max);
    return play_missed(p, "decide_ms", t);
}

/* ---- never ---- */

static void never_add(struct play *p, const struct tree *expect)
{
    p->never = out_grow(p->never, p->never_count, &p->never_limit, sizeof(*p->never));
    p->never[p->never_count++] = (struct play_never){.expect = expect};
}

void play_never_collect(struct play *p)
{
    for (uint32_t n = 0; n < p->s->step_count; n++) {
        const struct tree *e = p->s->step[n].kind == STEP_EXPECT ? p->s->step[n].expect : NULL;
        const struct tree *t = e ? reader_get(e, "never") : NULL;

        if (t && t->kind == TREE_LIST)
            for (const struct tree *one = t->child; one; one = one->next)
                never_add(p, one);
        else if (t)
            never_add(p, t);
    }
}

void play_never_look(struct play *p)
{
    uint32_t checks = p->checks;

    p->quiet = true;
    for (size_t n = 0; n < p->never_count; n++)
        if (!p->never[n].held && play_expect(p, p->never[n].expect)) {
            p->never[n].held = true;
            p->never[n].at_ns = p->now_ns;
        }
    p->quiet = false;
    p->checks = checks;
}

static bool never_one(struct play *p, const struct tree *expect)
{
    for (size_t n = 0; n < p->never_count; n++)
        if (p->never[n].expect == expect && p->never[n].held) {
            found_text(p, "it at ");
            out_seconds(&p->found, p->never[n].at_ns);
            out_add(&p->found, " s");
            return play_missed(p, "never", expect);
        }
    return true;
}

static bool expect_never(struct play *p, const struct tree *t)
{
    bool fine = true;

    if (t->kind != TREE_LIST)
        return never_one(p, t);
    for (const struct tree *one = t->child; one; one = one->next)
        fine &= never_one(p, one);
    return fine;
}

/* ---- all of them ---- */

static const struct {
    const char *key;
    bool (*holds)(struct play *p, const struct tree *value);
} expectations[] = {
    {"running", expect_running},   {"waiting", expect_waiting},  {"place", play_expect_place},
    {"evicted", expect_evicted},   {"moved", expect_moved},      {"promised", play_expect_promised},
    {"free", play_expect_free},    {"wait_s", expect_wait},      {"grade", expect_grade},
    {"metrics", expect_metrics},   {"sick", expect_sick},        {"broken", expect_broken},
    {"rejected", expect_rejected}, {"decide_ms", expect_decide}, {"repaired", expect_repaired},
    {"granted", expect_granted},   {"never", expect_never},
};

bool play_expect(struct play *p, const struct tree *expect)
{
    bool fine = true;

    for (size_t e = 0; e < sizeof(expectations) / sizeof(expectations[0]); e++) {
        const struct tree *t = reader_get(expect, expectations[e].key);

        if (!t)
            continue;
        p->checks++;
        fine &= expectations[e].holds(p, t);
    }
    return fine;
}

static bool asks_metrics(const struct tree *t)
{
    if (!t)
        return false;
    if (t->key && strcmp(t->key, "metrics") == 0)
        return true;
    for (const struct tree *c = t->child; c; c = c->next)
        if (asks_metrics(c))
            return true;
    return false;
}

bool play_metrics_asked(const struct scenario *s)
{
    for (uint32_t n = 0; n < s->step_count; n++)
        if (s->step[n].kind == STEP_EXPECT && asks_metrics(s->step[n].expect))
            return true;
    return false;
}
