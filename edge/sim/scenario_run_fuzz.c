/* Any bytes as a scenario that is run: whatever is true of it, the always-checks hold and nothing
 * breaks. What a file of some lines can ask for is bounded here, not in the runner. */
#include "edge/sim/scenario.h"
#include "edge/sim/scenario_run.h"
#include "tests/memfile.h"

#include <stdlib.h>
#include <string.h>

#define SMALL 48 /* nodes, jobs, pods of a job, steps */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_small(const struct scenario *s)
{
    bool small = s->shuffle <= 2 && s->step_count <= SMALL && s->world.node_count <= SMALL &&
                 s->world.job_count <= SMALL;

    for (uint32_t n = 0; n < s->step_count && small; n++)
        small = s->step[n].settle <= SMALL;
    for (uint32_t j = 0; j < s->world.job_count && small; j++) {
        const struct world_job *job = &s->world.job[j];
        uint64_t pods = 0;

        for (uint32_t p = 0; p < job->podset_count; p++)
            pods += job->podset[p].pods;
        small = pods <= SMALL;
    }
    return small;
}

/* What no scenario can bring about: a failure of the runner or of the core. */
static bool is_own_fault(const char *report)
{
    static const char *const faults[] = {"expected books that equal", "expected a start that is",
                                         "expected a growth that is", "expected decisions about",
                                         "expected a reason why",     "expected reasons that hold"};

    for (size_t n = 0; n < sizeof(faults) / sizeof(faults[0]); n++)
        if (strstr(report, faults[n]))
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memfile file = {.fd = -1};
    struct scenario_result result;
    struct out report = {NULL, 0, 0};
    struct scenario s;
    struct err err = {""};
    bool small;

    if (file.fd < 0)
        memfile_open(&file);
    memfile_set(&file, data, size);
    if (size > 4096 || scenario_read(&s, file.path, &err))
        return 0;
    small = is_small(&s);
    scenario_free(&s);
    if (small && scenario_run(file.path, &report, &result, &err) == 0 && result.failures > 0 &&
        (!report.bytes || is_own_fault(report.bytes)))
        abort();
    out_free(&report);
    return 0;
}
