/* Two bridged pairs, the second behind one switch, and a fifth card in no part:
 *
 *     island  0-1  2-3            link 12 inside each
 *     numa    0 1 2 | 3
 *     pcie          2 3           number 15, two NICs
 */
#include "core/model/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/must.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define NONE        SHAPE_NO_PART

static struct shape five(void)
{
    static const uint8_t part[SHAPE_PART_COUNT][5] = {
        [SHAPE_ISLAND] = {7, 7, 0, 0, NONE},
        [SHAPE_NUMA] = {3, 3, 3, 254, NONE},
        [SHAPE_PCIE] = {NONE, NONE, 15, 15, NONE},
    };
    struct shape s = {.gpus = 5, .links_known = 1};

    memset(s.part, NONE, sizeof(s.part));
    for (unsigned p = 0; p < SHAPE_PART_COUNT; p++)
        memcpy(s.part[p], part[p], sizeof(part[p]));
    s.nics[15] = 2;
    s.link[0][1] = s.link[1][0] = 12;
    s.link[2][3] = s.link[3][2] = 12;
    return s;
}

static const struct {
    const char *why;
    enum shape_part part;
    unsigned device;
    uint16_t mask;
} mask_row[] = {
    {"a pair, by a number of its own", SHAPE_ISLAND, 0, 0x03},
    {"the same from its mate", SHAPE_ISLAND, 1, 0x03},
    {"number 0 is a part like any other", SHAPE_ISLAND, 2, 0x0C},
    {"in no part: nothing, not even itself", SHAPE_ISLAND, 4, 0},
    {"a node that cuts through a pair", SHAPE_NUMA, 2, 0x07},
    {"the largest number, alone", SHAPE_NUMA, 3, 0x08},
    {"other devices in no part do not join", SHAPE_PCIE, 0, 0},
    {"the last switch", SHAPE_PCIE, 3, 0x0C},
};

static void test_mask(void **state)
{
    struct shape s = five();

    (void)state;
    for (unsigned r = 0; r < ROWS(mask_row); r++) {
        uint16_t got = shape_part_mask(&s, mask_row[r].part, mask_row[r].device);

        if (got != mask_row[r].mask)
            print_error("row %u: %s\n", r, mask_row[r].why);
        assert_int_equal(got, mask_row[r].mask);
    }
}

/* Every pair of numbers in every two of sixteen places. */
static void test_mask_numbers(void **state)
{
    struct shape s = {.gpus = SHAPE_GPUS_MAX};

    (void)state;
    for (unsigned a = 0; a < NONE; a++)
        for (unsigned b = 0; b <= NONE; b++) {
            unsigned i = a % SHAPE_GPUS_MAX, j = (i + 1 + b % 15) % SHAPE_GPUS_MAX;
            unsigned want = 1u << i | (a == b ? 1u << j : 0);

            memset(s.part[SHAPE_NUMA], (uint8_t)(a ^ 0x80u) == NONE ? 1 : (uint8_t)(a ^ 0x80u),
                   SHAPE_GPUS_MAX);
            s.part[SHAPE_NUMA][i] = (uint8_t)a;
            s.part[SHAPE_NUMA][j] = (uint8_t)b;
            assert_int_equal(shape_part_mask(&s, SHAPE_NUMA, i) & (1u << i | 1u << j), want);
            if (a != 1 && b != a)
                assert_int_equal(shape_part_mask(&s, SHAPE_NUMA, i), want);
        }
}

static const struct {
    const char *why;
    enum shape_part part;
    uint16_t devices;
    bool contains;
} contains_row[] = {
    {"no device: always", SHAPE_ISLAND, 0, true},
    {"a whole part", SHAPE_ISLAND, 0x0C, true},
    {"some of a part", SHAPE_NUMA, 0x05, true},
    {"two parts", SHAPE_ISLAND, 0x06, false},
    {"one that is in no part is not contained, even alone", SHAPE_ISLAND, 0x10, false},
    {"a part and one that is in none", SHAPE_NUMA, 0x11, false},
    {"both in no part: no domain holds them", SHAPE_PCIE, 0x03, false},
};

static void test_contains(void **state)
{
    struct shape s = five();

    (void)state;
    for (unsigned r = 0; r < ROWS(contains_row); r++) {
        bool got = shape_part_contains(&s, contains_row[r].part, contains_row[r].devices);

        if (got != contains_row[r].contains)
            print_error("row %u: %s\n", r, contains_row[r].why);
        assert_int_equal(got, contains_row[r].contains);
    }
}

static void test_valid(void **state)
{
    struct shape good = five(), s;

    (void)state;
    assert_true(shape_valid(&good));
    s = (struct shape){0};
    memset(s.part, NONE, sizeof(s.part));
    assert_true(shape_valid(&s)); /* a host without devices */

#define SPOILT(change)                                                                             \
    do {                                                                                           \
        s = good;                                                                                  \
        change;                                                                                    \
        assert_false(shape_valid(&s));                                                             \
    } while (0)
    SPOILT(s.gpus = 17);                     /* more than there is room for */
    SPOILT(s.links_known = 2);               /* neither yes nor no */
    SPOILT(s.link[0][1] = 11);               /* one direction differs */
    SPOILT(s.link[3][3] = 1);                /* a link to itself */
    SPOILT(s.link[5][2] = 1);                /* beyond gpus, one direction */
    SPOILT(s.link[5][2] = s.link[2][5] = 1); /* beyond gpus, both */
    SPOILT(s.link[9][9] = 1);                /* beyond gpus, to itself */
    SPOILT(s.part[SHAPE_ISLAND][5] = 0);     /* a part with a device that is not there */
    SPOILT(s.part[SHAPE_PCIE][15] = 3);      /* the same at the end */
    SPOILT(s.part[SHAPE_PCIE][0] = 16);      /* a switch that nics has no place for */
    SPOILT(s.part[SHAPE_PCIE][4] = 0xFE);    /* the same */
#undef SPOILT
}

static void test_misuse(void **state)
{
    struct shape s = five();

    (void)state;
    expect_assert_failure(shape_part_mask(&s, SHAPE_ISLAND, 5));
    expect_assert_failure(shape_part_mask(&s, SHAPE_PART_COUNT, 0));
    expect_assert_failure(shape_part_contains(&s, SHAPE_NUMA, 0x20));
    expect_assert_failure(shape_part_contains(&s, SHAPE_PART_COUNT, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mask),     cmocka_unit_test(test_mask_numbers),
        cmocka_unit_test(test_contains), cmocka_unit_test(test_valid),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
