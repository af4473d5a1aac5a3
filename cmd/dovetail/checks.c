#include "cmd/dovetail/checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "cmd/dovetail/command.h"
#include "edge/sim/read.h"
#include "edge/sim/run.h"

struct worlds {
    enum scorer_id scorer;
    enum order order;
    uint32_t count, starts, refusals, unproven;
    struct out text;
};

static void count_record(void *context, const struct record *r)
{
    struct worlds *c = context;

    c->starts += r->kind == RECORD_START;
    c->refusals += r->kind == RECORD_REFUSE;
    c->unproven += r->kind == RECORD_REFUSE && r->fits == RECORD_FITS_UNPROVEN;
}

static int run_one(void *context, uint32_t number, struct world *w)
{
    struct worlds *c = context;
    struct run_options o = {.feed = {.scorer = c->scorer, .order = c->order, .drop_never = true},
                            .arrivals = WORLD_NONE,
                            .sink = {{count_record, c}},
                            .sink_count = 1};
    struct run_result result;
    struct err err;
    int code = run_world(w, &o, &result, &err);

    if (code)
        return command_fail(code, &err);
    out_format(&c->text, "world %u: %u jobs, digest %016llx%s\n", number, w->job_count,
               (unsigned long long)result.digest, result.ignored ? ", EVENTS WERE IGNORED" : "");
    c->count++;
    return result.ignored ? ERR_CHECK : command_stopped() ? 130 : 0;
}

int check_worlds(const char *path, enum scorer_id scorer, enum order order)
{
    struct worlds c = {.scorer = scorer, .order = order};
    struct err err = {""};
    int code = read_worlds(path, run_one, &c, &err);

    if (code == ERR_INPUT || (code == ERR_TROUBLE && err.text[0]))
        (void)command_fail(code, &err);
    out_format(&c.text, "%u worlds: %u starts, %u refusals, %u not proven\n", c.count, c.starts,
               c.refusals, c.unproven);
    if (command_print(&c.text) && !code)
        code = ERR_TROUBLE;
    out_free(&c.text);
    return code;
}

int check_scenarios(int count, char **path)
{
    (void)count;
    (void)path;
    return ERR_INPUT;
}
