/* region_test.c - each region once, in order, and the hosts in it */
#include "core/place/region.h"

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

static struct world w;

#define CROSS                                                                                      \
    "hosts 1 gpus=4 l0=0 l1=4; hosts 1 gpus=4 l0=0 l1=5; hosts 1 gpus=4 l0=1 l1=4; hosts 1 "       \
    "gpus=4 l0=0 "                                                                                 \
    "l1=4; hosts 1 gpus=4 l0=1; hosts 1 gpus=4"

/* Regions by their hosts; devices after a colon where they are fewer than all. */
static const struct {
    const char *why, *hosts;
    uint64_t scopes;
    const char *want;
} row[] = {
    {"nothing named: everything, once", "hosts 3 gpus=1", 0, "[0 1 2]"},
    {"no host at all", "", 0, "[]"},
    {"no domain at all", "hosts 3 gpus=1", SCOPE_BIT(SCOPE_OF_LEVEL), ""},
    {"the cluster", "hosts 2 gpus=1", SCOPE_BIT(SCOPE_OF_CLUSTER), "[0 1]"},
    {"one level: its domains, by id", CROSS, SCOPE_BIT(SCOPE_OF_LEVEL), "[0 1 3] [2 4]"},
    {"another level", CROSS, SCOPE_BIT(SCOPE_OF_LEVEL + 1), "[0 2 3] [1]"},
    {"two levels: where they meet, and never empty", CROSS,
     SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_LEVEL + 1), "[0 3] [1] [2]"},
    {"a level that no host has", CROSS, SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_LEVEL + 7),
     ""},
    {"hosts", "hosts 3 gpus=1; gone 1", SCOPE_BIT(SCOPE_OF_HOST), "[0] [2]"},
    {"hosts with a label", CROSS, SCOPE_BIT(SCOPE_OF_HOST) | SCOPE_BIT(SCOPE_OF_LEVEL + 1),
     "[0] [1] [2] [3]"},
    {"islands", "hosts 1 gpus=4 shape=pairs; hosts 1 gpus=2 shape=lone; hosts 1 gpus=2",
     SCOPE_BIT(SHAPE_ISLAND), "[0:3] [0:c] [1:1] [1:2]"},
    {"islands of hosts with a label", "hosts 1 gpus=4 shape=pairs; hosts 1 gpus=2 shape=flat l0=0",
     SCOPE_BIT(SHAPE_ISLAND) | SCOPE_BIT(SCOPE_OF_LEVEL), "[1:3]"},
    {"a host that is gone is in no domain", "hosts 3 gpus=1 l0=0; gone 1",
     SCOPE_BIT(SCOPE_OF_LEVEL), "[0 2]"},
    {"a domain without hosts is no region", "hosts 1 gpus=1 l0=0; hosts 1 gpus=1 l0=1; gone 0",
     SCOPE_BIT(SCOPE_OF_LEVEL), "[1]"},
};

/* least: only domains that may hold so many pods of the ask; 0: all. */
static void walk(uint64_t scopes, uint64_t least, char *ret, size_t size)
{
    struct view v = world_view(&w, 0);
    struct bound bound = bound_of(&v, world_podset(&w, 0, 0));
    struct region r;
    size_t n = 0;

    *ret = 0;
    region_start(&r, scopes);
    r.bound = least ? &bound : NULL;
    r.least = least;
    while (region_next(&v, &r)) {
        uint32_t at = 0;
        const char *before = "";

        n += (size_t)snprintf(ret + n, size - n, "%s[", n ? " " : "");
        for (uint32_t h = region_host(&v, &r, &at); h != ROW_NONE; h = region_host(&v, &r, &at)) {
            n += (size_t)snprintf(ret + n, size - n, "%s%u", before, h);
            before = " ";
        }
        if (scopes & SCOPE_PARTS)
            n += (size_t)snprintf(ret + n, size - n, ":%x", r.within);
        n += (size_t)snprintf(ret + n, size - n, "]");
    }
    assert_false(region_next(&v, &r));
}

static void test_walk(void **state)
{
    char text[256];
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        world_open(&w, NULL);
        world_say(&w, row[n].hosts);
        world_say(&w, "ask gpus=1");
        walk(row[n].scopes, 0, text, sizeof(text));
        bad += check_text(row[n].why, text, row[n].want);
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

/* Domains that cannot hold what is wanted are passed over, by the first level. */
static void test_bound(void **state)
{
    static const struct {
        uint64_t scopes, least;
        const char *want;
    } bound_row[] = {
        {SCOPE_BIT(SCOPE_OF_LEVEL), 2, "[0 1] [2] [3 4 5]"},
        {SCOPE_BIT(SCOPE_OF_LEVEL), 3, "[0 1] [3 4 5]"},
        {SCOPE_BIT(SCOPE_OF_LEVEL), 5, "[3 4 5]"},
        {SCOPE_BIT(SCOPE_OF_LEVEL), 8, ""},
        {SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_LEVEL + 1), 5, "[3] [4 5]"},
        {SCOPE_BIT(SCOPE_OF_LEVEL + 1), 5, "[0 1 2 3] [4 5]"},
        {0, 99, "[0 1 2 3 4 5]"},
    };
    char text[256];

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 2 gpus=2 l0=0 l1=3; hosts 1 gpus=2 l0=1 l1=3; hosts 1 gpus=2 l0=2 l1=3; "
                  "hosts 2 gpus=2 l0=2 l1=4; ask gpus=1; host 4 gpus=3 l0=2 l1=4");
    index_settle(w.s.m);
    for (unsigned n = 0; n < ROWS(bound_row); n++) {
        walk(bound_row[n].scopes, bound_row[n].least, text, sizeof(text));
        assert_int_equal(check_text("bound", text, bound_row[n].want), 0);
    }
    world_close(&w);
}

static void test_at_host(void **state)
{
    struct region r;
    uint32_t at = 0;
    struct view v;

    (void)state;
    world_open(&w, NULL);
    world_say(&w, "hosts 3 gpus=3; ask gpus=1");
    v = world_view(&w, 0);
    region_at_host(&v, &r, SCOPE_BIT(SCOPE_OF_HOST), 1);
    assert_int_equal(region_host(&v, &r, &at), 1);
    assert_int_equal(region_host(&v, &r, &at), ROW_NONE);
    assert_int_equal(r.within, 7);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_walk), cmocka_unit_test(test_bound),
                                       cmocka_unit_test(test_at_host)};

    return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
