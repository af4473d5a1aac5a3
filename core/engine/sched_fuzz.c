/* Any bytes as batches of events: growth, steps, and no must() on the way.
 *
 * The first byte of a batch says how long it is (times 4). An edge that asks for more than it is
 * given ends the run, as a full machine would. */
#include "core/engine/sched.h"
#include "core/model/index.h"
#include "core/model/job.h"

#include <stdlib.h>

#include "core/base/must.h"
#include "tests/oracle/drive.h"

#define BYTES_MAX ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge(struct sched *s)
{
    struct model *m = s->m;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST) && h < 64; h++)
        must(host_valid(m, h));
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB) && j < 64; j++)
        must(job_valid(m, j));
    must(model_digest(m) == model_digest_anew(m));
    must(s->wake_ns > config_row(m)->now_ns); /* to be woken at once would be for ever */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct drive d;

    drive_open(&d, NULL);
    d.bytes_max = BYTES_MAX;
    while (size > 0) {
        size_t batch = (size_t)data[0] * 4 + 1;

        batch = batch < size ? batch : size;
        if (!drive_room(&d, data + 1, batch - 1))
            break;
        for (bool more = sched_step(&d.s, data + 1, batch - 1); more;)
            more = sched_step(&d.s, NULL, 0);
        judge(&d.s);
        data += batch;
        size -= batch;
    }
    drive_close(&d);
    return 0;
}
