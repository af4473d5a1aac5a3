/* scenario_run.h - runs a scenario: the virtual cluster with a script, and what must be true
 *
 * The truth of the cluster (who sits where, what is down) is kept here; the core hears of it as
 * facts, at once or as late as the scenario's watch says, and its starts become true only if the
 * truth admits them. One that it refutes while news is under way is a rejected bind, told to the
 * core a second later; without news under way it is a failure of the core.
 *
 * At each moment: runs that end, pods that are gone at last, hosts that leave, news that arrive;
 * then the steps of the file, one by one, each followed by the core's decisions. After each turn
 * the whole is checked: no device twice or while it is down, gangs whole, hard rules, books equal
 * to a recount and to the truth, every waiting job with a reason that holds.
 *
 * `shuffle` reads and runs the file again with hosts, devices, domains and jobs of equal time in
 * other orders on the core's side alone: expectations keep speaking of the names in the file.
 *
 * Readings  A node that was told to leave goes down at that time unless it is called back. After
 *         set gpus the devices with higher numbers are gone for whoever comes new. What a failure
 *         of the always-checks leaves behind is not run any further.
 * Errors  ERR_INPUT where the file is wrong; then no result. Failures are results, not errors.
 */
#ifndef EDGE_SIM_SCENARIO_RUN_H
#define EDGE_SIM_SCENARIO_RUN_H

#include <stdint.h>

#include "edge/base/err.h"
#include "edge/base/out.h"

struct scenario_result {
    uint32_t checks;   /* expectations looked at */
    uint32_t failures; /* of them, and of the always-checks */
    uint32_t rounds;   /* runs: 1, or more with shuffle */
};

/* Adds a line `FILE:LINE: expected ..., found ...` to report for each failure. */
int scenario_run(const char *path, struct out *report, struct scenario_result *ret_result,
                 struct err *err);

#endif
