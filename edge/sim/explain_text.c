/* The story in words. */
#include "edge/sim/explain_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct story_sum story_sum(const struct story *s)
{
    struct story_sum sum = {.submit_ns = -1, .first_start_ns = -1, .end_ns = -1};

    for (size_t i = 0; i < s->count; i++) {
        const struct tree *line = s->line[i].line, *final = tree_find(line, "final");

        if (!story_own(s, line))
            continue;
        if (story_is(line, "submit")) {
            sum.submit_ns = story_ns(line, "t");
        } else if (story_is(line, "start")) {
            if (sum.starts++ == 0)
                sum.first_start_ns = story_ns(line, "t");
            sum.state = STORY_RUNS;
        } else if (story_is(line, "refuse")) {
            sum.last_refusal = line;
            if (s->arrivals || (final && final->kind == TREE_BOOL && final->truth))
                sum.state = STORY_DROPPED;
        } else if (story_is(line, "preempt") || story_is(line, "fail")) {
            sum.state = STORY_WAITS;
        } else if (story_is(line, "finish")) {
            sum.state = STORY_FINISHED;
            sum.end_ns = story_ns(line, "t");
        } else if (story_is(line, "event")) {
            sum.state = STORY_CANCELLED;
            sum.end_ns = story_ns(line, "t");
        }
    }
    return sum;
}

static void duration(struct out *out, int64_t ns)
{
    int64_t s = ns / 1000000000;

    if (s < 60)
        out_seconds(out, ns), out_add(out, " s");
    else if (s < 3600)
        out_format(out, "%lld min %lld s", (long long)s / 60, (long long)s % 60);
    else if (s < 172800)
        out_format(out, "%lld h %lld min", (long long)s / 3600, (long long)s / 60 % 60);
    else
        out_format(out, "%lld d %lld h", (long long)s / 86400, (long long)s / 3600 % 24);
}

/* A scalar as it stands, a list with commas. */
static void plain(struct out *out, const struct tree *t)
{
    if (!t)
        return;
    if (t->kind == TREE_STRING || t->kind == TREE_NUMBER)
        out_add(out, t->text);
    else if (t->kind == TREE_BOOL)
        out_add(out, t->truth ? "yes" : "no");
    for (const struct tree *c = t->kind == TREE_LIST ? t->child : NULL; c; c = c->next) {
        plain(out, c);
        if (c->next)
            out_add(out, ", ");
    }
}

static void pod(struct out *out, const struct tree *pod)
{
    const struct tree *gpus = tree_find(pod, "gpus");
    struct out share = {0};

    if (gpus && gpus->child) {
        out_add(out, gpus->child->next ? ", GPUs " : ", GPU ");
        plain(out, gpus);
    }
    if (*story_text(pod, "milli"))
        out_format(&share, " (%s milli of it)", story_text(pod, "milli"));
    else if (*story_text(pod, "mem_share_mib"))
        out_format(&share, " (%s MiB of it)", story_text(pod, "mem_share_mib"));
    else if (*story_text(pod, "mig"))
        out_format(&share, " (MIG %s from slot %s)", story_text(pod, "mig"),
                   story_text(pod, "slot"));
    if (share.length)
        out_add(out, share.bytes);
    out_free(&share);
}

/* At most so many pods are written out; the JSON form has them all. */
#define PODS_SHOWN 16u

static void pods(struct out *out, const struct tree *line, bool by_number)
{
    const struct tree *list = tree_find(line, "pods");
    uint32_t shown = 0;

    for (const struct tree *p = list ? list->child : NULL; p; p = p->next) {
        if (shown++ == PODS_SHOWN) {
            out_format(out, "                  and %u more\n", list->count - PODS_SHOWN);
            return;
        }
        if (by_number || p->kind != TREE_MAP) {
            out_add(out, "                  pod ");
            plain(out, p);
        } else {
            out_format(out, "                  pod %s on %s", story_text(p, "pod"),
                       story_text(p, "node"));
            pod(out, p);
        }
        out_char(out, '\n');
    }
}

static void padded(struct out *out, const char *text, size_t width, bool right)
{
    size_t columns = out_columns(text), pad = columns < width ? width - columns : 0;

    out_format(out, "%*s%s%*s", right ? (int)pad : 0, "", text, right ? 0 : (int)pad, "");
}

static size_t longest(const struct tree *terms, const char *key, const char *head)
{
    size_t width = out_columns(head);

    for (const struct tree *t = terms->child; t; t = t->next)
        if (out_columns(story_text(t, key)) > width)
            width = out_columns(story_text(t, key));
    return width;
}

static void term_row(struct out *out, const char *const cell[4], const size_t width[4],
                     bool runner_up)
{
    out_add(out, "                  ");
    padded(out, cell[0], width[0], false);
    out_add(out, "  ");
    padded(out, cell[1], width[1], true);
    if (runner_up) {
        out_add(out, "  ");
        padded(out, cell[2], width[2], true);
    }
    out_format(out, "  %s\n", cell[3]);
}

static void terms(struct out *out, const struct tree *reason)
{
    static const char *const key[4] = {"name", "value", "runner_up", "unit"};
    const struct tree *list = tree_find(reason, "terms");
    const char *other = story_text(reason, "runner_up");
    const char *const head[4] = {"score", "here", *other ? other : "runner-up", "unit"};
    size_t width[4];
    bool tied = true;

    if (!list || list->kind != TREE_LIST || !list->child)
        return;
    for (unsigned i = 0; i < 4; i++)
        width[i] = longest(list, key[i], head[i]);
    term_row(out, head, width, *other);
    for (const struct tree *t = list->child; t; t = t->next) {
        const char *const cell[4] = {story_text(t, key[0]), story_text(t, key[1]),
                                     story_text(t, key[2]), story_text(t, key[3])};

        tied &= strcmp(cell[1], cell[2]) == 0;
        term_row(out, cell, width, *other);
    }
    if (!*other)
        out_add(out, "                  there was no other place\n");
    else if (tied)
        out_add(out, "                  equal in every term: the order of hosts decided\n");
}

static void why_placed(struct out *out, const struct tree *line)
{
    const struct tree *reason = tree_find(line, "reason"), *domain;

    if (!reason || reason->kind != TREE_MAP) {
        out_add(out, "                the log gives no reason for this placement\n");
        return;
    }
    out_format(out, "                why: %s",
               *story_text(reason, "text") ? story_text(reason, "text")
                                           : story_text(reason, "code"));
    domain = tree_find(reason, "domain");
    if (domain && domain->kind == TREE_MAP && strcmp(story_text(domain, "level"), "cluster") != 0)
        out_format(out, "; all of it in %s %s", story_text(domain, "level"),
                   story_text(domain, "name"));
    out_char(out, '\n');
    terms(out, reason);
}

struct limit {
    const char *name, *meaning, *cure;
};
static const struct limit limit_of[] = {
    {"busy", "what runs now", "running jobs that finish, shrink or make room"},
    {"health", "failed, drained or leaving devices", "the return of failed or drained devices"},
    {"cpu", "CPU beside the free GPUs", "CPU that becomes free beside the GPUs"},
    {"mem", "memory beside the free GPUs", "memory that becomes free beside the GPUs"},
    {"pods", "the nodes' pod limits", "pods that end on nodes with free GPUs, or a higher limit"},
    {"model", "the allowed GPU models", "allowing another GPU model"},
    {"topology", "the required levels and slices", "a wider required level"},
};

static void binding(struct out *out, const struct tree *list, bool cures)
{
    for (const struct tree *b = list->child; b; b = b->next)
        for (size_t i = 0; i < sizeof(limit_of) / sizeof(limit_of[0]); i++)
            if (b->kind == TREE_STRING && strcmp(b->text, limit_of[i].name) == 0)
                out_format(out, "                  %s%s\n", cures ? "" : limit_of[i].meaning,
                           cures ? limit_of[i].cure : "");
}

static void verdict(struct out *out, const struct story *s, const struct tree *line)
{
    const struct tree *fits = tree_find(line, "fits"), *final = tree_find(line, "final");

    if (!fits || fits->kind == TREE_NULL)
        out_add(out, "not proven: the search ran out of its step budget");
    else if (fits->kind == TREE_BOOL && fits->truth)
        out_add(out, "held back: a placement exists, but a rule does not let it start");
    else if (final && final->kind == TREE_BOOL && final->truth && !s->arrivals)
        out_add(out, "never: not even the empty cluster, or its quota, holds it");
    else
        out_add(out, "no room now: no placement exists on what is free");
}

static void why_refused(struct out *out, const struct story *s, const struct tree *line)
{
    const struct tree *reason = tree_find(line, "reason"), *bind, *fits = tree_find(line, "fits");
    bool some, held = fits && fits->kind == TREE_BOOL && fits->truth;

    out_add(out, "                verdict: ");
    verdict(out, s, line);
    out_char(out, '\n');
    if (!reason || reason->kind != TREE_MAP)
        return;
    out_format(out, "                why: %s (%s)\n", story_text(reason, "text"),
               story_text(reason, "code"));
    if (*story_text(reason, "free_gpus"))
        out_format(out, "                free GPUs on usable nodes of its models: %s\n",
                   story_text(reason, "free_gpus"));
    if (*story_text(reason, "best_pods"))
        out_format(out, "                most of its pods that one domain holds now: %s\n",
                   story_text(reason, "best_pods"));
    bind = tree_find(reason, "binding");
    some = bind && bind->kind == TREE_LIST && bind->child;
    if (some) {
        out_add(out, "                what binds, each alone:\n");
        binding(out, bind, false);
    } else if (bind && bind->kind == TREE_LIST && !held) {
        out_add(out,
                "                what binds: no single limit; dropping any one is not enough\n");
    }
    if (*story_text(reason, "cure"))
        out_format(out, "                what would change it: %s\n", story_text(reason, "cure"));
    else if (some) {
        out_add(out, "                what would change it, any of:\n");
        binding(out, bind, true);
    }
}

static void event(struct out *out, const struct tree *line)
{
    if (*story_text(line, "node")) {
        out_format(out, "%s", story_text(line, "node"));
        if (*story_text(line, "gpu"))
            out_format(out, ", GPU %s,", story_text(line, "gpu"));
        out_format(out, " goes %s", story_text(line, "state"));
        if (*story_text(line, "leave_at"))
            out_format(out, " at %s s", story_text(line, "leave_at"));
        out_char(out, '\n');
    } else {
        out_add(out, "cancelled\n");
    }
}

static void stopped(struct out *out, const struct tree *line, const char *what)
{
    const struct tree *saved = tree_find(line, "saved");

    out_add(out, what);
    if (*story_text(line, "cause"))
        out_format(out, ", cause %s", story_text(line, "cause"));
    if (*story_text(line, "by"))
        out_format(out, ", for %s", story_text(line, "by"));
    if (saved && saved->kind == TREE_BOOL)
        out_add(out, saved->truth ? ", progress saved" : ", back to its last checkpoint");
    out_char(out, '\n');
    if (*story_text(tree_find(line, "reason"), "text"))
        out_format(out, "                why: %s\n", story_text(tree_find(line, "reason"), "text"));
}

/* The last promise of the wait that the line belongs to, or NULL. */
static const struct tree *promise_before(const struct story *s, const struct explain_line *l)
{
    while (l != s->line) {
        l--;
        if (!story_own(s, l->line))
            continue;
        if (story_is(l->line, "promise"))
            return l->line;
        if (story_is(l->line, "start"))
            return NULL;
    }
    return NULL;
}

static void promised(struct out *out, const struct story *s, const struct explain_line *l)
{
    const struct tree *line = l->line, *before = promise_before(s, l),
                      *list = tree_find(line, "pods");
    const char *why = story_text(line, "why"), *by = story_text(line, "by");

    if (before && story_ns(line, "by") != story_ns(before, "by"))
        out_format(out, "%s a start by %s s instead of %s s",
                   story_ns(line, "by") < story_ns(before, "by") ? "promise moved earlier:"
                                                                 : "promise put off:",
                   by, story_text(before, "by"));
    else
        out_format(out, "promised a start by %s s", by);
    out_format(out, *why && strcmp(why, "kept") != 0 ? " (%s)\n" : "\n", why);
    if (list && list->child) {
        out_add(out, "                room kept for it:\n");
        pods(out, line, false);
    }
}

static void placed(struct out *out, const struct story *s, const struct explain_line *l)
{
    const struct tree *line = l->line, *promise = promise_before(s, l);

    out_add(out, "placed");
    if (promise)
        out_format(out, " %s: a start by %s s was promised",
                   story_ns(line, "t") <= story_ns(promise, "by") ? "in time" : "late",
                   story_text(promise, "by"));
    out_char(out, '\n');
    pods(out, line, false);
    why_placed(out, line);
}

/* What a gang held beyond its minimum was lent to it. */
static bool gives_back(const struct tree *line)
{
    return story_is(line, "shrink") && strcmp(story_text(line, "cause"), "self") == 0;
}

static void shrunk(struct out *out, const struct tree *line)
{
    if (!gives_back(line))
        stopped(out, line, "shrunk");
    else if (*story_text(line, "by"))
        out_format(out, "shrunk for %s: pods beyond its minimum are given back\n",
                   story_text(line, "by"));
    else
        out_add(out, "shrunk: pods are given back\n");
    pods(out, line, true);
}

static void own_line(struct out *out, const struct story *s, const struct explain_line *l)
{
    const struct tree *line = l->line;

    if (story_is(line, "submit")) {
        out_add(out, s->arrivals ? "arrived\n" : "submitted\n");
    } else if (story_is(line, "start")) {
        placed(out, s, l);
    } else if (story_is(line, "refuse")) {
        out_add(out, strcmp(story_text(tree_find(line, "reason"), "code"), "member") == 0
                         ? "runs on, not made whole\n"
                         : "refused\n");
        why_refused(out, s, line);
    } else if (story_is(line, "promise")) {
        promised(out, s, l);
    } else if (story_is(line, "grow")) {
        out_add(out, "grown\n");
        pods(out, line, false);
    } else if (story_is(line, "shrink")) {
        shrunk(out, line);
    } else if (story_is(line, "preempt")) {
        stopped(out, line, "preempted");
    } else if (story_is(line, "move")) {
        stopped(out, line, "moved");
        pods(out, line, false);
    } else if (story_is(line, "fail")) {
        out_add(out, "failed with its device or node; it waits again\n");
    } else if (story_is(line, "finish")) {
        out_format(out, "finished: %s\n", story_text(line, "status"));
    } else {
        event(out, line);
    }
}

static void step(struct out *out, const struct story *s, const struct explain_line *l)
{
    struct out when = {0};

    out_format(&when, "%s%s", story_text(l->line, "t"), s->arrivals ? "" : " s");
    out_add(out, "  ");
    padded(out, when.bytes, 12, true);
    out_add(out, "  ");
    out_free(&when);
    if (story_own(s, l->line))
        own_line(out, s, l);
    else if (story_is(l->line, "event"))
        event(out, l->line);
    else if (gives_back(l->line))
        out_format(out, "%s is shrunk for it: it gives back pods beyond its minimum\n",
                   story_text(l->line, "job"));
    else
        out_format(out, "%s is %s for it (cause %s)\n", story_text(l->line, "job"),
                   story_is(l->line, "preempt")  ? "preempted"
                   : story_is(l->line, "shrink") ? "shrunk"
                                                 : "moved",
                   story_text(l->line, "cause"));
}

static void conclusion(struct out *out, const struct story *s)
{
    static const char *const state[] = {"waits", "runs", "finished", "refused for good",
                                        "cancelled"};
    struct story_sum sum = story_sum(s);

    out_format(out, "%s %s", s->job, state[sum.state]);
    if (s->arrivals)
        out_format(out, "%s", sum.state == STORY_RUNS ? ": it was placed at once and stays" : "");
    else if (sum.first_start_ns >= 0 && sum.submit_ns >= 0) {
        out_add(out, ", first started after ");
        duration(out, sum.first_start_ns - sum.submit_ns);
    }
    if (sum.starts > 1)
        out_format(out, ", started %u times", sum.starts);
    if (sum.end_ns >= 0 && sum.submit_ns >= 0) {
        out_add(out, ", over after ");
        duration(out, sum.end_ns - sum.submit_ns);
    }
    out_add(out, "\n");
}

static void asked(struct out *out, const struct tree *submit)
{
    static const struct {
        const char *key, *before, *after;
    } part[] = {{"asks", "", ""},
                {"gpus", "GPUs: ", ""},
                {"milli", "", " milli of it"},
                {"cpu_milli", "", " milli CPU"},
                {"mem_mib", "", " MiB of memory"},
                {"team", "team ", ""},
                {"priority", "priority ", ""}};
    const char *comma = "asks ";

    for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
        if (*story_text(submit, part[i].key)) {
            out_format(out, "%s%s%s%s", comma, part[i].before, story_text(submit, part[i].key),
                       part[i].after);
            comma = ", ";
        }
    if (comma[0] == ',')
        out_char(out, '\n');
}

void story_write_text(const struct story *s, struct out *out)
{
    conclusion(out, s);
    if (story_is(s->line[0].line, "submit"))
        asked(out, s->line[0].line);
    out_format(out, "from %s: workload %s on cluster %s under %s, version %s\n", s->path,
               story_text(s->header, "workload"), story_text(s->header, "cluster"),
               story_text(s->header, "policy"), story_text(s->header, "version"));
    if (s->cut)
        out_format(out, "the log is cut after line %u: what came later is not known\n", s->lines);
    out_format(out, "\n  %12s\n", s->arrivals ? "arrival" : "time  ");
    for (size_t i = 0; i < s->count; i++)
        step(out, s, &s->line[i]);
}
