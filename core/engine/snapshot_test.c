/* snapshot_test.c - the whole model to bytes and back, and bytes that are no snapshot of ours */
#include "core/engine/snapshot.h"

#include <stdio.h>

#include "core/base/must.h"
#include "core/model/index.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w, back;
static uint8_t bytes[1u << 20];

static size_t put(void)
{
    struct wire_out out = {.byte = bytes, .limit = sizeof(bytes)};

    snapshot_put(&w.s, &out);
    assert_false(out.full);
    return out.size;
}

/* A world made from the bytes alone; false: refused. */
static bool get(size_t size)
{
    struct limits l;

    if (!snapshot_limits(bytes, size, &l))
        return false;
    world_open(&back, &l);
    world_close(&back);
    back.block = aligned_alloc(64, (sched_bytes(&l) + 63) / 64 * 64);
    sched_init(&back.s, back.block, &l);
    back.hosts = w.hosts;
    back.keys = w.keys;
    back.shapes = w.shapes;
    memcpy(back.shape, w.shape, sizeof(w.shape));
    back.config = w.config;
    back.at_ns = w.at_ns;
    back.said_length = back.out.size = 0;
    back.said[0] = 0;
    return snapshot_get(&back.s, bytes, size);
}

static const struct {
    const char *why, *before, *after;
} row[] = {
    {"nothing", "", "hosts 1 gpus=2; ask gpus=1; step"},
    {"hosts and who runs",
     "hosts 3 gpus=4 shape=pairs cpu=9 l0=0; ask gpus=1; ask pods=2 gpus=2; step",
     "ask gpus=2 need=island; end 0; step; end 1; ask pods=3 gpus=4 need=l0; step"},
    {"who waits, and what was told",
     "config order=priority; hosts 1 gpus=2; ask gpus=2; step; ask gpus=1; ask gpus=2 prio=4; step",
     "step; end 0; step; set 1 prio=9; stop 2; step"},
    {"rows that were dropped",
     "hosts 2 gpus=8; ask gpus=1; ask gpus=1; ask gpus=1; step; end 1; gone 1; end 0",
     "ask gpus=3; ask gpus=3; step; host 1 gpus=8; ask gpus=8; step"},
    {"teams, shares, slices, places unknown, failures, departures",
     "team 0 limit=6000; team 1 parent=0; mig 3 model=0 starts=11 slots=4 of=8; hosts 4 gpus=4 "
     "gpumem=10; at 50; ask gpus=1 "
     "milli=300 team=1; ask gpus=1 mib=5; ask gpus=1 mig=3; ask gpus=2; seat 3 host=3 on=-; seated "
     "3; step; device 0 3 down; "
     "leave 1 500; state 2 drain",
     "ask gpus=1 milli=700 team=1; ask gpus=1 est=400; ask gpus=3; confirm 3 pod=0 on=23; ask "
     "gpus=1 mig=3; at 200; step; "
     "state 2 up; device 0 3 up; ask gpus=6; ask pods=6 gpus=1 team=1; step"},
    {"the mix",
     "mix 0 of=2 gpus=1 milli=500 count=3; mix 1 of=2 gpus=2 count=1; config scorer=fgd seed=3; "
     "hosts 3 gpus=2",
     "ask gpus=1 milli=500; ask gpus=1 milli=500; ask gpus=2; step"},
};

/* The copy has the digest of the original and decides as it does. */
static void test_round_trip(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        world_open(&w, NULL);
        world_say(&w, row[n].before);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        CHECK_INT(row[n].why, get(put()), true);
        assert_true(sched_digest(&back.s) == sched_digest(&w.s));
        assert_true(world_valid(&back));
        w.said_length = 0;
        w.said[0] = 0;
        assert_int_equal(
            check_text(row[n].why, world_say(&back, row[n].after), world_say(&w, row[n].after)), 0);
        CHECK_INT(row[n].why, w.said_length > 0, true);
        assert_true(sched_digest(&back.s) == sched_digest(&w.s));
        world_close(&w);
        world_close(&back);
    }
}

/* Written twice, read and written again: the same bytes. */
static void test_bytes(void **state)
{
    static uint8_t first[1u << 20];
    size_t size;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, row[4].before);
    size = put();
    memcpy(first, bytes, size);
    assert_int_equal(put(), size);
    assert_memory_equal(first, bytes, size);
    assert_true(get(size));
    world_close(&w);
    w = back;
    assert_int_equal(put(), size);
    assert_memory_equal(first, bytes, size);
    world_close(&w);
}

/* A table of decisions that was full: the copy goes on where the original stood. */
static void test_resume(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 20 gpus=8");
    for (unsigned n = 0; n < 100; n++)
        world_say(&w, "ask gpus=1");
    while (world_step(&w) && w.s.resume == 0)
        continue;
    assert_true(get(put()));
    assert_int_equal(back.s.resume, w.s.resume);
    world_close(&w);
    world_close(&back);
}

static void test_cut(void **state)
{
    size_t size;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=2; ask gpus=1; step; ask gpus=2; step");
    size = put();
    for (size_t n = 0; n < size; n += n < 100 || n + 100 > size ? 1 : 37) {
        assert_false(get(n));
        world_close(&back);
        memset(&back, 0, sizeof(back));
    }
    bytes[size] = 0; /* and a byte too many */
    assert_false(get(size + 1));
    world_close(&back);
    world_close(&w);
}

/* Every bit counts. */
static void test_changed(void **state)
{
    static const uint8_t flip[] = {0x01, 0x10, 0x80};
    size_t size;
    int bad = 0;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=2; ask gpus=1; step; ask gpus=2; step");
    size = put();
    for (size_t n = 0; n < size; n += n < 100 || n + 40 > size ? 1 : 41)
        for (unsigned f = 0; f < ROWS(flip); f++) {
            bytes[n] ^= flip[f];
            if (get(size)) {
                print_error("byte %zu of %zu, flipped by %02x: accepted\n", n, size, flip[f]);
                bad++;
            }
            bytes[n] ^= flip[f];
            world_close(&back);
            memset(&back, 0, sizeof(back));
        }
    assert_int_equal(bad, 0);
    world_close(&w);
}

static void test_full(void **state)
{
    size_t size;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=2; ask gpus=1; step");
    size = put();
    for (size_t limit = 0; limit < size; limit += limit < 50 || limit + 50 > size ? 1 : 29) {
        struct wire_out out = {.byte = bytes, .limit = limit};

        snapshot_put(&w.s, &out);
        assert_true(out.full);
        assert_true(out.size <= limit);
    }
    world_close(&w);
}

/* Many models in every domain: the index of the copy has room for all pairs. */
static void test_many_pairs(void **state)
{
    char text[200];

    (void)state;
    world_open(&w, NULL);
    for (unsigned model = 0; model < MODELS_MAX; model++) {
        snprintf(text, sizeof(text),
                 "hosts 1 gpus=1 model=%u l0=0 l1=1 l2=2 l3=3 l4=4 l5=5 l6=6 l7=7 l8=8 l9=9 l10=10 "
                 "l11=11",
                 model);
        world_say(&w, text);
    }
    assert_int_equal(index_cells(w.s.m), 13 * MODELS_MAX);
    assert_true(get(put()));
    assert_int_equal(index_cells(back.s.m), 13 * MODELS_MAX);
    world_close(&w);
    world_close(&back);
}

/* Too small a block refuses. */
static void test_small_block(void **state)
{
    struct limits l = sched_limits_small();
    size_t size;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 50 gpus=1");
    size = put();
    world_open(&back, &l);
    assert_false(snapshot_get(&back.s, bytes, size));
    world_close(&back);
    model_begin(w.s.m);
    expect_assert_failure(put()); /* a transaction is open */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_resume),     cmocka_unit_test(test_cut),
        cmocka_unit_test(test_changed),    cmocka_unit_test(test_full),
        cmocka_unit_test(test_many_pairs), cmocka_unit_test(test_small_block),
    };

    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
