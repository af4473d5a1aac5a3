#include "cmd/dovetail/checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/dovetail/batch.h"
#include "cmd/dovetail/command.h"
#include "edge/sim/read.h"
#include "edge/sim/run.h"

struct worlds {
    const struct worlds_options *o;
    struct summary *summary;
    struct report *report;
    uint32_t count, runs;
};

static int run_one(void *context, uint32_t number, struct world *w)
{
    struct worlds *c = context;
    struct batch_options b = {.out = c->o->out, .workers = 1, .quiet = true};
    struct batch_run run[SCORER_COUNT];
    struct err err;
    uint32_t done;
    int code;

    for (unsigned n = 0; n < c->o->policy_count; n++)
        run[n] = (struct batch_run){.w = w,
                                    .arrivals = WORLD_NONE,
                                    .feed = {.scorer = c->o->policy[n],
                                             .order = c->o->order,
                                             .seed = w->seed < 0 ? 0 : (uint64_t)w->seed,
                                             .budget_steps = c->o->budget_steps,
                                             .drop_never = true,
                                             .scan_all = c->o->scan_all}};
    code = batch_run_all(run, c->o->policy_count, &b, c->summary, c->report, &done, &err);
    c->runs += done;
    c->count += done == c->o->policy_count;
    if (code)
        fprintf(stderr, "dovetail: %s: world %u: %s\n", c->o->path, number, err.text);
    return code ? code : command_stopped() ? 130 : 0;
}

int check_worlds(const struct worlds_options *o)
{
    struct worlds c = {.o = o, .summary = summary_open(), .report = report_open(DOVETAIL_VERSION)};
    struct err err = {""};
    struct out text = {NULL, 0, 0};
    int code = read_worlds(o->path, run_one, &c, &err);

    if (code && err.text[0])
        (void)command_fail(code, &err);
    if (!code && o->out && (code = summary_save(c.summary, o->out, DOVETAIL_VERSION, &err)))
        (void)command_fail(code, &err);
    if (o->json)
        summary_json(c.summary, DOVETAIL_VERSION, &text);
    else
        out_format(&text, "%u worlds, %u runs%s\n", c.count, c.runs,
                   code ? "; stopped before the end" : "");
    if (command_print(&text) && !code)
        code = ERR_TROUBLE;
    out_free(&text);
    summary_close(c.summary);
    report_close(c.report);
    return code;
}
