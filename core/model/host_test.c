/* host_test.c - capacity, health and seats of a host */
#include "core/model/host.h"

#include "core/base/must.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

static uint32_t job_of(uint32_t key)
{
    return index_job_find(w.s.m, key);
}

static uint32_t take(uint32_t key, uint32_t pod, uint32_t host, uint16_t devices, uint8_t slot)
{
    return host_take(w.s.m, host, job_of(key), job_row(w.s.m, job_of(key))->podset_head, pod,
                     devices, slot, devices ? GRADE_PLANNED : GRADE_UNKNOWN);
}

/* Shares on one device of M MiB: what is left in milli, rounded down. */
static const struct {
    const char *why, *script;
    unsigned free_milli, whole;
} share_row[] = {
    {"nothing held", "hosts 1 gpus=1", 1000, 1},
    {"a compute share", "hosts 1 gpus=1; ask gpus=1 milli=300", 700, 0},
    {"one milli", "hosts 1 gpus=1; ask gpus=1 milli=1", 999, 0},
    {"all of it", "hosts 1 gpus=1; ask gpus=1", 0, 0},
    {"a third of the memory leaves 666", "hosts 1 gpus=1 gpumem=3; ask gpus=1 mib=1", 666, 0},
    {"two thirds leave 333", "hosts 1 gpus=1 gpumem=3; ask gpus=1 mib=2", 333, 0},
    {"all of the memory", "hosts 1 gpus=1 gpumem=3; ask gpus=1 mib=3", 0, 0},
    {"one MiB of 80 GiB leaves 999", "hosts 1 gpus=1 gpumem=81920; ask gpus=1 mib=1", 999, 0},
    {"compute and memory add up",
     "hosts 1 gpus=1 gpumem=1000; ask gpus=1 milli=250; ask gpus=1 mib=251", 499, 0},
    {"to the last", "hosts 1 gpus=1 gpumem=7; ask gpus=1 milli=500; ask gpus=1 mib=3", 71, 0},
    {"a cut device has nothing for shares",
     "mig 1 model=0 starts=7f slots=1 of=8; hosts 1 gpus=1; ask gpus=1 mig=1", 0, 0},
    {"memory held on a device whose size is unknown later: nothing is promised",
     "hosts 1 gpus=1 gpumem=10; ask gpus=1 mib=3; step; host 0 gpus=1", 0, 0},
    {"no GPUs asked: nothing held", "hosts 1 gpus=1; ask cpu=1", 1000, 1},
};

static void test_share_rest(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(share_row); n++) {
        const struct host *h;

        world_open(&w, NULL);
        world_say(&w, share_row[n].script);
        world_say(&w, "step");
        h = host_row(w.s.m, 0);
        CHECK_INT(share_row[n].why, h->free_milli[0], share_row[n].free_milli);
        CHECK_INT(share_row[n].why, h->whole, share_row[n].whole);
        world_close(&w);
    }
}

/* What a device holds, and a share that is asked: exact, whatever the rounded rest says. */
static const struct {
    const char *why, *held, *ask;
    bool fits;
} fits_row[] = {
    {"a share on a free device", "", "ask gpus=1 milli=1000", true},
    {"beside another, exactly", "ask gpus=1 milli=999; ", "ask gpus=1 milli=1", true},
    {"one milli too much", "ask gpus=1 milli=999; ", "ask gpus=1 milli=2", false},
    {"memory, exactly", "ask gpus=1 mib=2; ", "ask gpus=1 mib=1", true},
    {"one MiB too much", "ask gpus=1 mib=2; ", "ask gpus=1 mib=2", false},
    {"a third held leaves 666 and two thirds of a milli", "ask gpus=1 mib=1; ",
     "ask gpus=1 milli=666", true},
    {"667 are a third of a milli too much", "ask gpus=1 mib=1; ", "ask gpus=1 milli=667", false},
    {"the same from the other side", "ask gpus=1 milli=667; ", "ask gpus=1 mib=1", false},
    {"a slice holds the whole device", "ask gpus=1 mig=1; ", "ask gpus=1 milli=1", false},
};

static void test_share_fits(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(fits_row); n++) {
        uint32_t last;

        world_open(&w, NULL);
        world_say(&w, "mig 1 model=0 starts=7f slots=1 of=8; hosts 1 gpus=1 gpumem=3");
        world_say(&w, fits_row[n].held);
        world_say(&w, "step");
        world_say(&w, fits_row[n].ask);
        last = w.keys - 1;
        CHECK_INT(fits_row[n].why, host_share_fits(w.s.m, 0, 0, world_podset(&w, last, 0)),
                  fits_row[n].fits);
        world_say(&w, "device 0 0 down");
        CHECK_INT("never on a failed device",
                  host_share_fits(w.s.m, 0, 0, world_podset(&w, last, 0)), false);
        world_close(&w);
    }
}

static const struct {
    const char *why;
    struct mig mig;
    uint32_t used;
    int slot;
} slot_row[] = {
    {"the first legal slot", {.starts = 0x7F, .slots = 1, .device_slots = 8}, 0, 0},
    {"the next one", {.starts = 0x7F, .slots = 1, .device_slots = 8}, 0x05, 1},
    {"the eighth slot is no legal first one",
     {.starts = 0x7F, .slots = 1, .device_slots = 8},
     0x7F,
     -1},
    {"four of eight", {.starts = 0x11, .slots = 4, .device_slots = 8}, 0x01, 4},
    {"no run of four", {.starts = 0x11, .slots = 4, .device_slots = 8}, 0x81, -1},
    {"a legal slot too near the end", {.starts = 0x80, .slots = 2, .device_slots = 8}, 0, -1},
    {"all of it", {.starts = 1, .slots = 8, .device_slots = 8}, 0, 0},
    {"not when something is there", {.starts = 1, .slots = 8, .device_slots = 8}, 0x80, -1},
    {"thirty-two slots", {.starts = 1, .slots = 32, .device_slots = 32}, 0, 0},
    {"thirty-two slots, one in use",
     {.starts = 1, .slots = 32, .device_slots = 32},
     0x80000000u,
     -1},
    {"the last slot of thirty-two",
     {.starts = 0x80000000u, .slots = 1, .device_slots = 32},
     0x7FFFFFFF,
     31},
    {"no legal slot at all", {.starts = 0, .slots = 1, .device_slots = 8}, 0, -1},
};

static void test_mig_slot(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(slot_row); n++)
        CHECK_INT(slot_row[n].why, host_mig_slot(&slot_row[n].mig, slot_row[n].used),
                  slot_row[n].slot);
    world_open(&w, NULL);
    world_say(
        &w,
        "mig 1 model=0 starts=1 slots=1 of=8; mig 1 model=2 starts=1 slots=2 of=8; mig 5 model=0 "
        "starts=1 slots=3 of=8");
    assert_int_equal(host_mig(w.s.m, 1, 0)->slots, 1);
    assert_int_equal(host_mig(w.s.m, 1, 2)->slots, 2);
    assert_int_equal(host_mig(w.s.m, 5, 0)->slots, 3);
    assert_null(host_mig(w.s.m, 5, 2));
    assert_null(host_mig(w.s.m, 2, 0));
    world_close(&w);
}

/* The seats of a host, newest first, as pod numbers. */
static void check_seats(uint32_t host, const char *want)
{
    char text[32];
    size_t n = 0;

    for (uint32_t s = host_row(w.s.m, host)->seat_head; s != ROW_NONE;
         s = seat_row(w.s.m, s)->next_of_host)
        text[n++] = (char)('0' + seat_row(w.s.m, s)->pod);
    text[n] = 0;
    assert_string_equal(text, want);
}

/* Seats given back from the head, the middle and the tail; their rows are used again. */
static void test_seats(void **state)
{
    uint32_t seat[4];

    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "hosts 2 gpus=8 cpu=100 mem=100 pods=10 extra=10 extra1=20; ask pods=8 gpus=1 cpu=3 mem=2 "
        "extra=1 extra1=2");
    world_say(&w, "hosts 20 gpus=1"); /* room for the rows */
    model_begin(w.s.m);
    for (uint32_t n = 0; n < 4; n++)
        seat[n] = take(0, n, 0, (uint16_t)(1u << n), 0);
    check_seats(0, "3210");
    assert_int_equal(host_row(w.s.m, 0)->cpu_free_milli, 88);
    assert_int_equal(host_row(w.s.m, 0)->mem_free_mib, 92);
    assert_int_equal(host_row(w.s.m, 0)->pods_free, 6);
    assert_int_equal(host_row(w.s.m, 0)->extra_free[0], 6);
    assert_int_equal(host_row(w.s.m, 0)->extra_free[1], 12);
    assert_int_equal(host_row(w.s.m, 0)->whole, 0xF0);
    assert_true(host_valid(w.s.m, 0));
    host_give(w.s.m, seat[2]);
    check_seats(0, "310");
    host_give(w.s.m, seat[3]);
    check_seats(0, "10");
    host_give(w.s.m, seat[0]);
    check_seats(0, "1");
    assert_int_equal(host_row(w.s.m, 0)->whole, 0xFD);
    assert_true(host_valid(w.s.m, 0));
    assert_int_equal(take(0, 5, 1, 1, 0), seat[0]);
    assert_int_equal(take(0, 6, 0, 4, 0), seat[3]);
    check_seats(0, "61");
    check_seats(1, "5");
    host_give(w.s.m, seat[1]);
    assert_true(host_valid(w.s.m, 0) && host_valid(w.s.m, 1));
    model_rollback(w.s.m);
    check_seats(0, "");
    assert_int_equal(host_row(w.s.m, 0)->cpu_free_milli, 100);
    assert_int_equal(host_row(w.s.m, 0)->whole, 0xFF);
    world_close(&w);
}

/* Seats of unknown place: counted on the host and in config, and found later. */
static void test_unknown(void **state)
{
    uint32_t seat;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 1 gpus=4; ask pods=2 gpus=2");
    model_begin(w.s.m);
    seat = take(0, 0, 0, 0, 0);
    assert_int_equal(host_row(w.s.m, 0)->unknown_gpus, 2);
    assert_int_equal(host_row(w.s.m, 0)->whole, 0xF);
    assert_int_equal(config_row(w.s.m)->unknown_seats, 1);
    host_lift(w.s.m, seat);
    host_confirm(w.s.m, seat, 0xA);
    assert_int_equal(host_row(w.s.m, 0)->unknown_gpus, 0);
    assert_int_equal(host_row(w.s.m, 0)->whole, 0x5);
    assert_int_equal(config_row(w.s.m)->unknown_seats, 0);
    assert_int_equal(seat_row(w.s.m, seat)->grade, GRADE_KNOWN);
    assert_true(host_valid(w.s.m, 0));
    host_give(w.s.m, seat);
    seat = take(0, 0, 0, 0, 0);
    host_give(w.s.m, seat);
    assert_int_equal(config_row(w.s.m)->unknown_seats, 0);
    assert_int_equal(host_row(w.s.m, 0)->whole, 0xF);
    model_commit(w.s.m);
    assert_true(world_valid(&w));
    world_close(&w);
}

/* Script, then what host 0 is like. */
static const struct {
    const char *why, *script;
    unsigned gpus, healthy, whole;
    int64_t cpu_free_milli;
} put_row[] = {
    {"a new host is up and healthy", "hosts 1 gpus=4 cpu=9", 4, 0xF, 0xF, 9},
    {"one that grows", "hosts 1 gpus=2 cpu=9; host 0 gpus=4 cpu=11", 4, 0xF, 0xF, 11},
    {"one that shrinks", "hosts 1 gpus=4 cpu=9; host 0 gpus=2 cpu=9", 2, 0x3, 0x3, 9},
    {"what failed stays failed", "hosts 1 gpus=4 cpu=9; device 0 1 down; host 0 gpus=4 cpu=9", 4,
     0xD, 0xD, 9},
    {"what was cut off and failed comes back healthy",
     "hosts 1 gpus=4 cpu=9; device 0 3 down; host 0 gpus=2 cpu=9; host 0 gpus=4 cpu=9", 4, 0xF, 0xF,
     9},
    {"a held device that fails", "hosts 1 gpus=2 cpu=9; ask gpus=2 cpu=1; step; device 0 0 down", 2,
     0x2, 0, 8},
    {"and works again: it is still held",
     "hosts 1 gpus=2 cpu=9; ask gpus=2 cpu=1; step; device 0 0 down; device 0 0 up", 2, 0x3, 0, 8},
    {"it fails, then its holder ends",
     "hosts 1 gpus=2 cpu=9; ask gpus=2 cpu=1; step; device 0 0 down; end 0", 2, 0x2, 0x2, 9},
    {"seats stay, even beyond the new capacity",
     "hosts 1 gpus=2 cpu=9; ask gpus=2 cpu=8; step; host 0 gpus=2 cpu=3", 2, 0x3, 0, -5},
    {"a host that is gone", "hosts 1 gpus=2 cpu=9; gone 0", 0, 0, 0, 0},
    {"a number that comes again is a new host",
     "hosts 1 gpus=2 cpu=9; device 0 1 down; gone 0; host 0 gpus=3 "
     "cpu=1",
     3, 0x7, 0x7, 1},
    {"no devices at all", "hosts 1 gpus=0 cpu=3", 0, 0, 0, 3},
    {"sixteen devices", "hosts 1 gpus=16 cpu=3", 16, 0xFFFF, 0xFFFF, 3},
};

static void test_put(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(put_row); n++) {
        const struct host *h;

        world_open(&w, NULL);
        world_say(&w, put_row[n].script);
        h = host_row(w.s.m, 0);
        CHECK_INT(put_row[n].why, h->gpus, put_row[n].gpus);
        CHECK_INT(put_row[n].why, h->healthy, put_row[n].healthy);
        CHECK_INT(put_row[n].why, h->whole, put_row[n].whole);
        CHECK_INT(put_row[n].why, h->cpu_free_milli, put_row[n].cpu_free_milli);
        world_close(&w);
    }
}

/* Hosts alike share one kind; any difference makes another. */
static void test_kinds(void **state)
{
    static const char *const other[] = {
        "gpus=3",         "gpus=2 cpu=1",      "gpus=2 mem=1",    "gpus=2 pods=1",
        "gpus=2 extra=1", "gpus=2 extra1=1",   "gpus=2 gpumem=1", "gpus=2 model=1",
        "gpus=2 class=1", "gpus=2 shape=flat",
    };

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 3 gpus=2 l0=0; hosts 3 gpus=2 l0=1");
    assert_int_equal(model_count(w.s.m, TABLE_KIND), 1);
    for (unsigned n = 0; n < ROWS(other); n++) {
        char text[64] = "hosts 2 ";

        world_close(&w);
        world_open(&w, NULL);
        world_say(&w, "hosts 3 gpus=2");
        strncat(text, other[n], sizeof(text) - strlen(text) - 1);
        world_say(&w, text);
        CHECK_INT(other[n], model_count(w.s.m, TABLE_KIND), 2);
        CHECK_INT(other[n], host_row(w.s.m, 3)->kind, 1);
        CHECK_INT(other[n], host_row(w.s.m, 4)->kind, 1);
    }
    /* A host number far out makes the ones below it exist and be absent. */
    world_say(&w, "host 9 gpus=2");
    assert_int_equal(model_count(w.s.m, TABLE_HOST), 10);
    assert_int_equal(host_row(w.s.m, 7)->state, HOST_ABSENT);
    assert_int_equal(board_row(w.s.m, 7)->domain[0], ROW_NONE);
    world_close(&w);
}

static const struct {
    const char *why;
    int64_t leave_at_ns, now_ns, est_ns;
    bool stays;
} stays_row[] = {
    {"nothing announced", INT64_MAX, 5, -1, true},
    {"announced, and nobody knows how long", 100, 5, -1, false},
    {"done just in time", 100, 40, 60, true},
    {"a moment too long", 100, 40, 61, false},
    {"of no length", 100, 100, 0, true},
    {"gone already", 100, 101, 0, false},
};

static void test_stays(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(stays_row); n++)
        CHECK_INT(stays_row[n].why,
                  host_stays(&(struct host){.leave_at_ns = stays_row[n].leave_at_ns},
                             stays_row[n].now_ns, stays_row[n].est_ns),
                  stays_row[n].stays);
}

/* The check sees what is wrong. */
static void test_valid(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=4 gpumem=10; ask gpus=1; ask gpus=1 mib=3; step");
    assert_true(host_valid(w.s.m, 0));
#define SPOILT(change)                                                                             \
    do {                                                                                           \
        model_begin(w.s.m);                                                                        \
        struct host *h = model_edit(w.s.m, TABLE_HOST, 0);                                         \
        struct board *b = model_edit(w.s.m, TABLE_BOARD, 0);                                       \
                                                                                                   \
        (void)h;                                                                                   \
        (void)b;                                                                                   \
        change;                                                                                    \
        assert_false(host_valid(w.s.m, 0));                                                        \
        model_rollback(w.s.m);                                                                     \
        assert_true(host_valid(w.s.m, 0));                                                         \
    } while (0)
    SPOILT(h->cpu_free_milli--);
    SPOILT(h->mem_free_mib++);
    SPOILT(h->pods_free--);
    SPOILT(h->extra_free[1]--);
    SPOILT(h->unknown_gpus++);
    SPOILT(h->whole ^= 8);
    SPOILT(h->free_milli[3] = 999);
    SPOILT(b->share_milli[3] = 1);
    SPOILT(b->share_mib[3] = 1);
    SPOILT(b->sharers[3] = 1);
    SPOILT(b->mig_slots[3] = 1);
    SPOILT(h->state = HOST_ABSENT);
    SPOILT(((struct seat *)model_edit(w.s.m, TABLE_SEAT, h->seat_head))->host = 1);
#undef SPOILT
    world_close(&w);
}

static void test_misuse(void **state)
{
    (void)state;
    world_open(&w, NULL);
    world_say(
        &w,
        "mig 1 model=0 starts=7f slots=1 of=8; hosts 1 gpus=2; hosts 1 gpus=1 model=1; ask gpus=1; "
        "ask gpus=1 mig=1; step; ask pods=4 gpus=1 mig=1");
    model_begin(w.s.m);
    expect_assert_failure(host_remove(w.s.m, 0)); /* it has seats */
    expect_assert_failure(host_set_state(w.s.m, 0, HOST_ABSENT));
    expect_assert_failure(host_set_device(w.s.m, 0, 2, DEVICE_DOWN));
    expect_assert_failure(host_set_uuid(w.s.m, 0, 2, 1));
    take(2, 0, 0, 2, 3);
    expect_assert_failure(take(2, 1, 0, 2, 3)); /* slots in use */
    expect_assert_failure(take(2, 2, 1, 1, 0)); /* a model that cannot be cut so */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_share_rest), cmocka_unit_test(test_share_fits),
        cmocka_unit_test(test_mig_slot),   cmocka_unit_test(test_seats),
        cmocka_unit_test(test_unknown),    cmocka_unit_test(test_put),
        cmocka_unit_test(test_kinds),      cmocka_unit_test(test_stays),
        cmocka_unit_test(test_valid),      cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
