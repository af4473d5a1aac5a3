/* The files of --scenario: each is run, and says what it expected in vain. */
#include <stdio.h>

#include "cmd/dovetail/checks.h"
#include "cmd/dovetail/command.h"
#include "edge/sim/scenario_run.h"

static int check_one(const char *path, struct out *text)
{
    struct scenario_result r;
    struct err err;
    int code = scenario_run(path, text, &r, &err);

    if (code) {
        (void)command_fail(code, &err);
        return code;
    }
    out_format(text, "%s %s: %u expectations, %u not met, %u run%s\n", r.failures ? "FAIL" : "ok  ",
               path, r.checks, r.failures, r.rounds, r.rounds == 1 ? "" : "s");
    return r.failures ? ERR_CHECK : 0;
}

int check_scenarios(int count, char **path)
{
    int worst = 0;

    for (int n = 0; n < count && !command_stopped(); n++) {
        struct out text = {NULL, 0, 0};
        int code = check_one(path[n], &text);

        if (text.length && command_print(&text))
            code = ERR_TROUBLE;
        out_free(&text);
        worst = code > worst ? code : worst;
    }
    return command_stopped() ? 130 : worst;
}
