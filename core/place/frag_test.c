/* frag_test.c - the published measure of fragmentation, computed by hand */
#include "core/place/frag.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* Free milli per device; milli-GPU times the classes' counts. */
static const struct {
    const char *why, *mix;
    struct frag_host host;
    int64_t frag;
} row[] = {
    {"no mix", "", {.gpus = 2, .free_milli = {1000, 1000}}, 0},
    {"nothing free", "mix 0 of=1 gpus=1 count=1", {.gpus = 2}, 0},
    {"the class can use all",
     "mix 0 of=1 gpus=1 count=1",
     {.gpus = 2, .free_milli = {1000, 1000}},
     0},
    {"a broken device is lost for whole ones",
     "mix 0 of=1 gpus=1 count=1",
     {.gpus = 2, .free_milli = {1000, 400}},
     400},
    {"no whole device: all is lost",
     "mix 0 of=1 gpus=1 count=1",
     {.gpus = 2, .free_milli = {600, 400}},
     1000},
    {"two asked, one there: all is lost",
     "mix 0 of=1 gpus=2 count=1",
     {.gpus = 2, .free_milli = {1000, 400}},
     1400},
    {"shares: what is smaller than the ask is lost",
     "mix 0 of=1 gpus=1 milli=500 count=1",
     {.gpus = 3, .free_milli = {1000, 500, 499}},
     499},
    {"shares: the broken device alone will do",
     "mix 0 of=1 gpus=1 milli=500 count=1",
     {.gpus = 2, .free_milli = {500, 100}},
     100},
    {"shares: no device is large enough",
     "mix 0 of=1 gpus=1 milli=500 count=1",
     {.gpus = 2, .free_milli = {499, 499}},
     998},
    {"too little CPU: all is lost",
     "mix 0 of=1 gpus=1 cpu=5 count=1",
     {.gpus = 1, .cpu_free_milli = 4, .free_milli = {1000}},
     1000},
    {"CPU, exactly",
     "mix 0 of=1 gpus=1 cpu=5 count=1",
     {.gpus = 1, .cpu_free_milli = 5, .free_milli = {1000}},
     0},
    {"another model: all is lost",
     "mix 0 of=1 gpus=1 models=2 count=1",
     {.gpus = 1, .free_milli = {700}},
     700},
    {"the right model",
     "mix 0 of=1 gpus=1 models=2 count=1",
     {.gpus = 1, .model = 1, .free_milli = {1000}},
     0},
    {"a class without GPUs counts all that is free",
     "mix 0 of=1 gpus=0 count=1",
     {.gpus = 2, .free_milli = {1000, 300}},
     1300},
    {"classes by their counts",
     "mix 0 of=2 gpus=1 count=3; mix 1 of=2 gpus=2 count=2",
     {.gpus = 2, .free_milli = {1000, 400}},
     3 * 400 + 2 * 1400},
    {"a class that nobody is of",
     "mix 0 of=1 gpus=8 count=0",
     {.gpus = 1, .free_milli = {1000}},
     0},
    {"devices beyond the host's do not count",
     "mix 0 of=1 gpus=2 count=1",
     {.gpus = 1, .free_milli = {300, 1000}},
     300},
};

static void test_frag(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        world_open(&w, NULL);
        world_say(&w, row[n].mix);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        CHECK_INT(row[n].why, frag_of(w.s.m, &row[n].host), row[n].frag);
        world_close(&w);
    }
}

static void test_host(void **state)
{
    struct frag_host f;

    (void)state;
    world_open(&w, NULL);
    world_say(&w,
              "hosts 1 gpus=3 cpu=9 model=5; ask gpus=1 milli=300 cpu=2; step; device 0 2 down");
    f = frag_host(w.s.m, host_row(w.s.m, 0));
    assert_int_equal(f.gpus, 3);
    assert_int_equal(f.model, 5);
    assert_int_equal(f.cpu_free_milli, 7);
    assert_int_equal(f.free_milli[0], 700);
    assert_int_equal(f.free_milli[1], 1000);
    assert_int_equal(f.free_milli[2], 0);
    world_close(&w);
}

static const struct {
    const char *why;
    int64_t milli;
    uint16_t devices;
    unsigned left[2];
} after_row[] = {
    {"a share", 300, 1, {300, 1000}}, {"whole", 1000, 2, {600, 0}},
    {"two", 500, 3, {100, 500}},      {"more than is there leaves nothing", 700, 1, {0, 1000}},
    {"no device", 0, 0, {600, 1000}},
};

static void test_after(void **state)
{
    static const struct frag_host before = {
        .gpus = 2, .cpu_free_milli = 9, .free_milli = {600, 1000}};
    static const struct podset p = {.cpu_milli = 4};

    (void)state;
    for (unsigned n = 0; n < ROWS(after_row); n++) {
        struct frag_host f = frag_after(&before, &p, after_row[n].milli, after_row[n].devices);

        CHECK_INT(after_row[n].why, f.cpu_free_milli, 5);
        CHECK_INT(after_row[n].why, f.free_milli[0], after_row[n].left[0]);
        CHECK_INT(after_row[n].why, f.free_milli[1], after_row[n].left[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frag),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_after),
    };

    return cmocka_run_group_tests_name("frag", tests, NULL, NULL);
}
