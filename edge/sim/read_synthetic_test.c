/* A cluster in one line of text. */
#include "edge/sim/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void each_number_is_per_parent(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    world_init(&w);
    assert_int_equal(read_synthetic(&w, "spine:2 leaf:3 host:4 numa:2 island:2 gpu:2", &err), 0);
    assert_int_equal(w.node_count, 24);
    assert_int_equal(w.chain_count, 1);
    assert_string_equal(w.level[0].name, "leaf");
    assert_int_equal(w.level[0].domain_count, 6);
    assert_int_equal(w.level[1].domain_count, 2);
    assert_int_equal(w.level[1].rank, 1);
    assert_string_equal(w.node[4].name, "n4");
    assert_string_equal(w.level[0].domain[w.node[23].domain[0]], "leaf5");
    assert_string_equal(w.level[1].domain[w.node[11].domain[1]], "spine0");
    assert_string_equal(w.level[1].domain[w.node[12].domain[1]], "spine1");
    assert_int_equal(w.node[0].gpus, 8);
    assert_int_equal(w.shape_count, 1);
    assert_int_equal(w.shape[0].island_count, 4);
    assert_int_equal(w.shape[0].numa_count, 2);
    assert_int_equal(w.shape[0].island[3], 1);
    assert_int_equal(w.shape[0].numa[3], 0);
    assert_int_equal(w.shape[0].pcie_count, 0);
    assert_int_equal(w.shape[0].island[8], 0xFF);
    world_free(&w);
}

static void overrides_and_a_second_cluster(void **state)
{
    struct world w;
    struct err err = {""};

    (void)state;
    world_init(&w);
    assert_int_equal(
        read_synthetic(&w,
                       "spine:1 leaf:2 host:2[model=H100 cpu=192000 mem=2097152 pods=110] "
                       "gpu:8[gpu_mem=81559], leaf:1 host:3 gpu:4, host:1",
                       &err),
        0);
    assert_int_equal(w.node_count, 8);
    assert_string_equal(w.model[w.node[3].model], "H100");
    assert_int_equal(w.node[3].cpu_milli, 192000);
    assert_int_equal(w.node[3].pods, 110);
    assert_int_equal(w.node[3].gpu_mem_mib, 81559);
    assert_int_equal(w.node[3].shape, WORLD_NONE);
    assert_string_equal(w.model[w.node[4].model], "");
    assert_int_equal(w.node[4].cpu_milli, WORLD_UNLIMITED);
    assert_int_equal(w.node[4].gpus, 4);
    assert_string_equal(w.level[0].domain[w.node[4].domain[0]], "leaf2");
    assert_int_equal(w.node[4].domain[1], WORLD_NONE);
    assert_int_equal(w.node[7].gpus, 0);
    assert_int_equal(w.node[7].domain[0], WORLD_NONE);
    world_free(&w);
}

static void wrong_texts_are_named(void **state)
{
    static const struct {
        const char *why, *text, *said;
    } row[] = {
        {"nothing", "", "found \"the end\" at character 1, expected a host level"},
        {"no host", "leaf:2", "found \"the end\" at character 7, expected a host level"},
        {"no number", "host:", "found \"the end\" at character 6, expected a whole number"},
        {"a word", "host:two", "found \"two\" at character 6"},
        {"none", "host:0", "found \"0\" at character 6, expected a whole number from 1"},
        {"negative", "host:-1", "found \"-1\" at character 6"},
        {"huge", "host:99999999999999999999", "at character 6"},
        {"half", "host:1.5", "found \"1.5\" at character 6"},
        {"too many hosts", "leaf:4000000 host:4000000", "found more than 4194304 hosts"},
        {"too many levels above", "a:1 b:1 c:1 d:1 e:1 f:1 g:1 h:1 i:1 j:1 k:1 l:1 m:1 host:1",
         "expected at most 12 levels"},
        {"too many devices", "host:1 gpu:17", "found \"17\" at character 12"},
        {"too many devices together", "host:1 island:4 gpu:8", "found 32 of gpu in one host"},
        {"devices before the host", "gpu:8 host:1", "expected host before"},
        {"a level inside a host", "host:1 leaf:2", "expected island, numa, pcie or gpu"},
        {"a level twice", "leaf:1 leaf:2 host:1",
         "found \"leaf:2\" at character 8, expected every"},
        {"gpu twice", "host:1 gpu:1 gpu:1", "expected every level once"},
        {"an island below a gpu", "host:1 gpu:1 island:2", "expected nothing inside a gpu"},
        {"islands of nothing", "host:1 island:2", "expected gpu inside"},
        {"a reserved name", "node:1 host:1", "found \"node:1\" at character 1, expected host"},
        {"no colon", "host", "expected a colon"},
        {"an unknown override", "host:1[ram=5]", "found \"ram=5\" at character 8, expected one of"},
        {"an override without a value", "host:1[cpu=]", "found \"]\" at character 12"},
        {"an override without an end", "host:1[cpu=5", "expected a level such as"},
        {"a model without a name", "host:1[model=]", "expected the name of a model"},
        {"a model with a control character", "host:1[model=a\x1b]", "expected the name of a model"},
        {"a model that is not UTF-8", "host:1[model=\xff]", "found bytes that are not UTF-8"},
        {"a stray sign", "host:1 ]", "found \"]\" at character 8"},
        {"a comma at the end", "host:1,", "found \"the end\" at character 8"},
        {"a later level", "leaf:1 host:1, rack:1 host:1",
         "found level \"rack\" in a later cluster"},
        {"levels in another order", "spine:1 leaf:1 host:1, leaf:1 spine:1 host:1",
         "found level \"spine\" in a later cluster"},
        {"not UTF-8", "host:1\xFF", "not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct world w;
        struct err err = {""};

        world_init(&w);
        if (read_synthetic(&w, row[i].text, &err) != ERR_INPUT)
            fail_msg("%s: not refused", row[i].why);
        if (!strstr(err.text, row[i].said) || strncmp(err.text, "--synthetic:1: found ", 21) != 0)
            fail_msg("%s: %s", row[i].why, err.text);
        assert_int_equal(w.node_count, 0);
        world_free(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_is_per_parent),
        cmocka_unit_test(overrides_and_a_second_cluster),
        cmocka_unit_test(wrong_texts_are_named),
    };

    return cmocka_run_group_tests_name("read_synthetic", tests, NULL, NULL);
}
