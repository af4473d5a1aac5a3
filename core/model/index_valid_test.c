/* The judge of the index is judged: right as built, wrong once a row changes behind its back.
 *
 *     host 0: 4 devices, host 1: 2 devices; one job waits
 */
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/must.h"

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, expr);
    abort();
}

static struct model *m;

static void open_model(void)
{
    struct limits l = {.rows = {0}};
    struct job_spec job = {.team = ROW_NONE, .podset_count = 1};
    void *block;

    for (unsigned t = 0; t < TABLE_COUNT; t++)
        l.rows[t] = 8;
    limits_fix(&l);
    block = aligned_alloc(64, (model_bytes(&l) + 63) / 64 * 64);
    must(block != NULL);
    m = model_init(block, &l);
    model_begin(m);
    model_reach(m, TABLE_CLASS, 0);
    for (uint32_t h = 0; h < 2; h++) {
        struct host_spec spec = {.cpu_milli = 8000, .mem_mib = 100, .pods = 5, .shape = ROW_NONE};

        spec.gpus = h ? 2 : 4;
        memset(spec.domain, 0xFF, sizeof(spec.domain));
        host_put(m, h, &spec);
    }
    job.podset[0] = (struct podset_spec){.pods = 1, .pods_min = 1, .profile = ROW_NONE, .gpus = 1};
    job.podset[0].milli = MILLI_FULL;
    job_add(m, &job);
    model_commit(m);
    index_settle(m);
}

static void right_as_built(void **state)
{
    (void)state;
    assert_true(index_valid(m));
}

/* why: each of these is what a forgotten index_sync_host() or index_sync_job() leaves behind. */
static void wrong_behind_its_back(void **state)
{
    (void)state;
    model_begin(m);
    ((struct host *)model_edit(m, TABLE_HOST, 0))->free_milli[1] = 0;
    assert_false(index_valid(m));
    model_rollback(m);
    model_begin(m);
    ((struct host *)model_edit(m, TABLE_HOST, 1))->state = HOST_DRAIN;
    assert_false(index_valid(m));
    model_rollback(m);
    model_begin(m);
    ((struct job *)model_edit(m, TABLE_JOB, 0))->state = JOB_RUNNING;
    assert_false(index_valid(m));
    model_rollback(m);
    assert_true(index_valid(m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_as_built),
        cmocka_unit_test(wrong_behind_its_back),
    };
    int failed;

    open_model();
    failed = cmocka_run_group_tests_name("core/model/index_valid", tests, NULL, NULL);
    free(m);
    return failed;
}
