/* Journals: what was written replays, and nothing that was changed, cut or added to does. */
#include "edge/sim/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "edge/sim/read.h"
#include "edge/sim/run.h"
#include "tests/memfile.h"

static const char workload[] =
    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\"}\n"
    "{\"kind\":\"job\",\"job\":\"a\",\"submit_s\":0,\"run_s\":9,\"gpus\":2}\n"
    "{\"kind\":\"job\",\"job\":\"b\",\"submit_s\":1,\"run_s\":9,\"gpus\":4}\n"
    "{\"kind\":\"event\",\"t_s\":2,\"node\":\"n1\",\"state\":\"drain\"}\n"
    "{\"kind\":\"job\",\"job\":\"c\",\"submit_s\":3,\"run_s\":9,\"pods\":2,\"gpus\":3}\n";

struct text {
    char bytes[1 << 16];
    size_t length;
};

static struct text written, changed;

/* Runs the world with a journal and reads what it holds. */
static void write_one(bool whole, struct text *ret_text)
{
    struct memfile jobs, file;
    struct world w;
    struct run_options o = {.feed = {.drop_never = true}, .arrivals = WORLD_NONE};
    struct run_result result;
    struct err err;
    FILE *in;

    memfile_open(&jobs);
    memfile_set(&jobs, workload, sizeof(workload) - 1);
    memfile_open(&file);
    world_init(&w);
    assert_int_equal(read_synthetic(&w, "host:2 gpu:4", &err), 0);
    assert_int_equal(read_workload(&w, jobs.path, &err), 0);
    assert_int_equal(journal_open(&o.journal, file.path, &err), 0);
    assert_int_equal(run_world(&w, &o, &result, &err), 0);
    assert_int_equal(journal_close(o.journal, whole, &err), 0);
    in = fopen(file.path, "rb");
    assert_non_null(in);
    ret_text->length = fread(ret_text->bytes, 1, sizeof(ret_text->bytes), in);
    assert_in_range(ret_text->length, 100, sizeof(ret_text->bytes) - 1);
    fclose(in);
    world_free(&w);
    memfile_close(&jobs);
    memfile_close(&file);
}

static int replay(const struct text *t, uint64_t *ret_batches, struct err *err)
{
    struct memfile file;
    uint64_t events;
    int code;

    memfile_open(&file);
    memfile_set(&file, t->bytes, t->length);
    code = journal_replay(file.path, 0, ret_batches, &events, err);
    memfile_close(&file);
    return code;
}

static void what_was_written_replays(void **state)
{
    uint64_t batches;
    struct err err;

    (void)state;
    write_one(true, &written);
    assert_int_equal(replay(&written, &batches, &err), 0);
    assert_in_range(batches, 4, 20);
}

static void a_stopped_run_is_a_cut_journal(void **state)
{
    uint64_t batches, all;
    struct err err;

    (void)state;
    write_one(true, &written);
    assert_int_equal(replay(&written, &all, &err), 0);
    write_one(false, &written);
    assert_int_equal(replay(&written, &batches, &err), ERR_INPUT);
    assert_int_equal(batches, all);
    assert_non_null(strstr(err.text, "the journal was cut"));
}

static void changed_bytes_are_seen(void **state)
{
    uint64_t batches;
    struct err err;

    (void)state;
    write_one(true, &written);
    for (size_t n = 0; n < written.length; n += 3) {
        changed = written;
        changed.bytes[n] = (char)(changed.bytes[n] ^ 1 << n % 8);
        if (replay(&changed, &batches, &err) == 0)
            fail_msg("byte %zu: a flipped bit was not seen", n);
    }
}

static void cuts_are_seen(void **state)
{
    uint64_t batches;
    struct err err;

    (void)state;
    write_one(true, &written);
    for (size_t n = 0; n < written.length; n += 7) {
        changed = written;
        changed.length = n;
        assert_int_equal(replay(&changed, &batches, &err), ERR_INPUT);
        assert_non_null(strstr(err.text, n < 8 ? "found no journal" : "the journal was cut"));
    }
    changed = written;
    changed.length++;
    assert_int_equal(replay(&changed, &batches, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "expected the end"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_replays),
        cmocka_unit_test(a_stopped_run_is_a_cut_journal),
        cmocka_unit_test(changed_bytes_are_seen),
        cmocka_unit_test(cuts_are_seen),
    };

    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
