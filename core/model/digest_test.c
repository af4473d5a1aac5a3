/* Each field of each live row matters to the digest.
 *
 * A small cluster with something in every table that events fill; then every byte of every live row
 * is changed through the model's door, must change the digest, and must come back on a rollback.
 *
 *     host 0, 1: 4 devices, leaf 0; team 0; a job of two pods runs, a job of 9 devices waits
 */
#include "core/engine/sched.h"

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

static struct sched sched;
static void *block;

static void say(struct wire_out *w, struct event e)
{
    event_put(w, &e);
}

static void say_cluster(struct wire_out *w)
{
    struct event class = {.kind = EVENT_CLASS, .class = {.models = 1}};
    struct event shape = {.kind = EVENT_SHAPE, .shape = {.gpus = 4}};

    memset(class.class.nodes, 0xFF, sizeof(class.class.nodes));
    memset(shape.shape.part, SHAPE_NO_PART, sizeof(shape.shape.part));
    say(w, (struct event){.kind = EVENT_LEVEL, .level = {0, 0, 0}});
    say(w, (struct event){.kind = EVENT_DOMAIN, .domain = {0, 0, ROW_NONE}});
    say(w, class);
    say(w, shape);
    say(w,
        (struct event){.kind = EVENT_MIG, .mig = {.starts = 0xF, .slots = 1, .device_slots = 4}});
    say(w,
        (struct event){.kind = EVENT_MIX, .mix = {.rows = 1, .count = 5, .milli = 500, .gpus = 1}});
    say(w, (struct event){.kind = EVENT_TEAM, .team = {0, ROW_NONE, 1000000, 64000}});
    for (uint32_t h = 0; h < 2; h++) {
        struct event host = {.kind = EVENT_HOST,
                             .host = {.host = h,
                                      .cpu_milli = 64000,
                                      .mem_mib = 1000,
                                      .pods = 10,
                                      .gpu_mem_mib = 16,
                                      .shape = 0,
                                      .gpus = 4}};

        memset(host.host.domain, 0xFF, sizeof(host.host.domain));
        host.host.domain[0] = 0;
        say(w, host);
    }
}

static void say_job(struct wire_out *w, uint32_t key, uint32_t pods, uint8_t gpus)
{
    say(w, (struct event){.kind = EVENT_JOB,
                          .job = {.est_ns = -1, .key = key, .team = 0, .podset_count = 1}});
    say(w, (struct event){.kind = EVENT_PODSET,
                          .podset = {.cpu_milli = 1000,
                                     .pods = pods,
                                     .pods_min = pods,
                                     .profile = ROW_NONE,
                                     .milli = MILLI_FULL,
                                     .gpus = gpus}});
}

static void open_world(void)
{
    static uint8_t bytes[8192];
    struct wire_out w = {.byte = bytes, .limit = sizeof(bytes)};
    struct limits l = sched_limits_small();

    for (unsigned t = 0; t < TABLE_COUNT; t++)
        l.rows[t] = 16;
    l.undo_rows = 4000;
    limits_fix(&l);
    block = aligned_alloc(64, (sched_bytes(&l) + 63) / 64 * 64);
    must(block != NULL);
    sched_init(&sched, block, &l);
    say_cluster(&w);
    say_job(&w, 7, 2, 3);
    say_job(&w, 8, 1, 9);
    must(!w.full);
    while (sched_step(&sched, bytes, w.size))
        w.size = 0;
}

/* The world has what it needs, or the test below proves little. */
static void world_fills_the_tables(void **state)
{
    static const enum table filled[] = {
        TABLE_CONFIG, TABLE_LEVEL, TABLE_DOMAIN, TABLE_SHAPE, TABLE_MIG,    TABLE_KIND, TABLE_HOST,
        TABLE_BOARD,  TABLE_CLASS, TABLE_TEAM,   TABLE_JOB,   TABLE_PODSET, TABLE_SEAT, TABLE_MIX};

    (void)state;
    for (unsigned n = 0; n < sizeof(filled) / sizeof(filled[0]); n++)
        assert_true(model_count(sched.m, filled[n]) > 0);
    assert_int_equal(model_digest(sched.m), model_digest_anew(sched.m));
}

static void change_row(struct model *m, enum table table, uint32_t id)
{
    uint64_t before = model_digest(m);
    char kept[4096];
    uint32_t bytes = m->store[table].row_bytes;

    assert_true(bytes <= sizeof(kept));
    memcpy(kept, model_row(m, table, id), bytes);
    for (uint32_t b = 0; b < bytes; b++) {
        model_begin(m);
        ((unsigned char *)model_edit(m, table, id))[b] ^= 0x10;
        model_commit(m);
        if (model_digest(m) == before || model_digest(m) != model_digest_anew(m))
            fail_msg("table %d row %u byte %u does not reach the digest", (int)table, id, b);
        model_begin(m);
        ((unsigned char *)model_edit(m, table, id))[b] ^= 0x10;
        model_commit(m);
        assert_int_equal(model_digest(m), before);
        model_begin(m);
        ((unsigned char *)model_edit(m, table, id))[b] ^= 0x01;
        memcpy(model_edit(m, table, id), kept,
               bytes); /* what a rollback of jobs must not trip on */
        model_rollback(m);
        assert_int_equal(model_digest(m), before);
        assert_memory_equal(model_row(m, table, id), kept, bytes);
    }
}

/* HEAD rows are left out: their counts say which rows live, so a wrong one is no model at all. */
static void every_byte_reaches_the_digest(void **state)
{
    (void)state;
    for (unsigned t = 0; t < TABLE_COUNT; t++)
        for (uint32_t id = 0; t != TABLE_HEAD && id < model_count(sched.m, (enum table)t) && id < 8;
             id++)
            change_row(sched.m, (enum table)t, id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(world_fills_the_tables),
        cmocka_unit_test(every_byte_reaches_the_digest),
    };
    int failed;

    open_world();
    failed = cmocka_run_group_tests_name("core/model/digest", tests, NULL, NULL);
    free(block);
    return failed;
}
