/* Any bytes as a scenario: steps in time order with lines, or an error. */
#include "edge/sim/scenario.h"
#include "tests/memfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memfile file = {.fd = -1};
    struct scenario s;
    struct err err = {""};

    if (file.fd < 0)
        memfile_open(&file);
    memfile_set(&file, data, size);
    if (scenario_read(&s, file.path, &err)) {
        if (!strstr(err.text, "expected"))
            abort();
        return 0;
    }
    for (uint32_t i = 0; i < s.step_count; i++) {
        const struct step *step = &s.step[i];

        if (step->line == 0 || (i > 0 && step->at_ns < s.step[i - 1].at_ns))
            abort();
        if (step->job != WORLD_NONE && step->job >= s.world.job_count)
            abort();
    }
    scenario_free(&s);
    return 0;
}
