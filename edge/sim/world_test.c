/* A world's tables grow, keep their rows, and find them by name. */
#include "edge/sim/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void rows_survive_growth(void **state)
{
    struct world w;
    char name[16];

    (void)state;
    world_init(&w);
    assert_int_equal(w.seed, -1);
    assert_int_equal(world_node_find(&w, "n0"), WORLD_NONE);
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        assert_int_equal(world_node_find(&w, name), WORLD_NONE);

        struct world_node *n = world_row(&w, &w.node, &w.node_count, sizeof(*n));
        assert_int_equal(n->cpu_milli, 0);
        n->name = world_string(&w, name, strlen(name));
        n->cpu_milli = i;
    }
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        assert_int_equal(world_node_find(&w, name), i);
        assert_int_equal(w.node[i].cpu_milli, i);
    }
    world_free(&w);
    world_free(&w);
}

static void names_are_apart_by_table(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    ((struct world_job *)world_row(&w, &w.job, &w.job_count, sizeof(*w.job)))->name = "x";
    ((struct world_team *)world_row(&w, &w.team, &w.team_count, sizeof(*w.team)))->name = "y";
    assert_int_equal(world_job_find(&w, "x"), 0);
    assert_int_equal(world_job_find(&w, "y"), WORLD_NONE);
    assert_int_equal(world_team_find(&w, "y"), 0);
    ((struct world_shape *)world_row(&w, &w.shape, &w.shape_count, sizeof(*w.shape)))->name = "z";
    assert_int_equal(world_shape_find(&w, "z"), 0);
    assert_int_equal(world_shape_find(&w, "x"), WORLD_NONE);
    assert_int_equal(world_model(&w, ""), 0);
    assert_int_equal(world_model(&w, "A100"), 1);
    assert_int_equal(world_model(&w, ""), 0);
    assert_int_equal(w.model_count, 2);
    assert_int_equal(world_mig_name(&w, "1g.5gb"), 0);
    assert_int_equal(world_mig_name(&w, "1g.5gb"), 0);
    w.level_count = 2;
    *(const char **)world_row(&w, &w.level[1].domain, &w.level[1].domain_count, sizeof(char *)) =
        "l";
    assert_int_equal(world_domain_find(&w, 0, "l"), WORLD_NONE);
    assert_int_equal(world_domain_find(&w, 1, "l"), 0);
    world_free(&w);
}

static void memory_is_zeroed_and_apart(void **state)
{
    struct world w;
    unsigned char *small, *large;

    (void)state;
    world_init(&w);
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 + 1) {
        small = world_alloc(&w, 7);
        large = world_alloc(&w, bytes);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(large[i], 0);
        memset(large, 0xFF, bytes);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(small[i], 0);
        memset(small, 0xEE, 7);
    }
    assert_string_equal(world_string(&w, "abcdef", 3), "abc");
    world_free(&w);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_survive_growth),
        cmocka_unit_test(names_are_apart_by_table),
        cmocka_unit_test(memory_is_zeroed_and_apart),
    };

    return cmocka_run_group_tests_name("world", tests, NULL, NULL);
}
