/* pick_view_test.c - the parts that the choice of devices does not show one by one: the largest
 * linked group of what is left, twins, and classes that could be swapped */
#include "core/place/pick_view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/bits.h"
#include "core/base/prng.h"
#include "core/place/pick_machines.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static struct pick_view view;

static void look(const struct shape *s, uint16_t free)
{
    pick_view_init(&view, s, (uint16_t)bits_first(s->gpus), free);
}

static int all_linked(const struct shape *s, uint16_t set)
{
    for (unsigned a = 0; a < s->gpus; a++)
        for (unsigned b = 0; b < a; b++)
            if (bits_has(set, a) && bits_has(set, b) && pick_view_link(s, a, b) == 0)
                return 0;
    return 1;
}

static unsigned group_slowly(const struct shape *s, uint16_t left)
{
    unsigned largest = 0;

    for (uint32_t m = 0; m <= left; m++)
        if ((m & ~(uint32_t)left) == 0 && bits_count16((uint16_t)m) > largest &&
            all_linked(s, (uint16_t)m))
            largest = bits_count16((uint16_t)m);
    return largest;
}

static void test_group(void **state)
{
    static const char *const machine[] = {"dgx1",     "mi-8-six", "mi200-8",  "bridge8",
                                          "pcie8",    "metax8",   "cube16",   "hgx8",
                                          "two-dgx1", "unknown8", "pcie5-1-4"};
    struct prng p;

    (void)state;
    prng_init(&p, 11);
    for (unsigned i = 0; i < ROWS(machine); i++) {
        struct shape s = pick_machine(machine[i]);

        for (unsigned n = 0; n < 12; n++) {
            uint16_t free = (uint16_t)(prng_next(&p) & bits_first(s.gpus));

            look(&s, free);
            if (view.even)
                continue; /* what is left is one group, and nobody asks */
            for (unsigned k = 0; k < 4; k++) {
                uint16_t left = free & (uint16_t)prng_next(&p);

                assert_int_equal(pick_view_group(&view, left), group_slowly(&s, left));
            }
        }
    }
}

/* The list is as short as it can be: no group lies inside another. */
static void test_groups_apart(void **state)
{
    static const char *const machine[] = {"two-dgx1", "cube16"};
    struct prng p;

    (void)state;
    prng_init(&p, 12);
    for (unsigned n = 0; n < 40; n++) {
        struct shape s = pick_machine(machine[n % 2]);

        look(&s, (uint16_t)prng_next(&p) | 7);
        (void)pick_view_group(&view, view.free);
        for (unsigned i = 0; i < view.groups; i++)
            for (unsigned j = 0; j < view.groups; j++)
                assert_true(i == j || (view.group[i] & ~view.group[j]) != 0);
    }
}

/* 0-1-2, 3-4-5, 6-7-8, 9-a-b and c-d-e-f unlinked, all else linked: no graph of 16 has more groups.
 */
static void test_most_groups(void **state)
{
    struct shape s = pick_machine_shape("16");

    (void)state;
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < a; b++)
            if ((a < 12 ? a / 3 : 4) != (b < 12 ? b / 3 : 4))
                pick_join(&s, a, b, 1);
    look(&s, UINT16_MAX);
    assert_int_equal(pick_view_group(&view, UINT16_MAX), 5);
    assert_int_equal(view.groups, PICK_GROUPS_MAX);
    assert_int_equal(pick_view_group(&view, 0x0FFF), 4);
    assert_int_equal(pick_view_group(&view, 0xF000), 1);
    assert_int_equal(pick_view_group(&view, 0), 0);
}

static const struct {
    const char *why, *machine, *free;
    unsigned device;
    const char *twins;
} twin_row[] = {
    {"both of a switch", "hgx8", "01234567", 4, "45"},
    {"the mate is held", "hgx8", "0123567", 5, "5"},
    {"nothing known tells them apart", "unknown8", "0246", 2, "0246"},
    {"cube mesh: every device has other neighbours", "dgx1", "01234567", 0, "0"},
    {"cube mesh: alike as far as what is free goes", "dgx1", "015", 1, "1"},
    {"opposite devices of a square of links", "mi-ring4", "0123", 0, "03"},
    {"a pair whose bridge is the only link", "bridge8", "01234567", 6, "67"},
    {"the lone card is no twin of a bridged one", "one-bridge-one-single", "012", 2, "2"},
};

static void test_twins(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ROWS(twin_row); r++) {
        struct shape s = pick_machine(twin_row[r].machine);

        look(&s, pick_set(twin_row[r].free));
        uint16_t got = pick_view_twins(&view, twin_row[r].device, view.free);

        if (got != pick_set(twin_row[r].twins))
            print_error("row %u: %s\n", r, twin_row[r].why);
        assert_int_equal(got, pick_set(twin_row[r].twins));
    }
}

static const struct {
    const char *why, *machine, *free, *a, *b;
    bool alike;
} alike_row[] = {
    {"two switches of one node", "hgx8", "01234567", "01", "23", true},
    {"the nodes differ, and neither is one class", "hgx8", "01234567", "01", "45", false},
    {"a node each, whole and equal", "a100-4", "0123", "01", "23", true},
    {"one switch has a device held", "hgx8", "0124567", "01", "2", false},
    {"one of each switch held", "hgx8", "0124567", "2", "2", true},
    {"one has NICs and one has none", "hgx8-near-nics", "01234567", "23", "45", false},
    {"bridges of one node", "bridge8", "01234567", "01", "23", true},
    {"sixteen in a mesh: a corner and its neighbour", "cube16", "0123456789abcdef", "0", "1",
     false},
};

static void test_alike(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ROWS(alike_row); r++) {
        struct shape s = pick_machine(alike_row[r].machine);

        look(&s, pick_set(alike_row[r].free));
        bool got = pick_view_alike(&view, pick_set(alike_row[r].a), pick_set(alike_row[r].b));

        if (got != alike_row[r].alike)
            print_error("row %u: %s\n", r, alike_row[r].why);
        assert_int_equal(got, alike_row[r].alike);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_group),       cmocka_unit_test(test_groups_apart),
        cmocka_unit_test(test_most_groups), cmocka_unit_test(test_twins),
        cmocka_unit_test(test_alike),
    };

    return cmocka_run_group_tests_name("pick_view", tests, NULL, NULL);
}
