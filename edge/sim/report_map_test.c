/* What every device carries, moment by moment, and the text that the page's script reads. */
#include "edge/sim/report_map.h"

#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SECOND   1000000000LL
#define CELLS    8

/* n1 belongs to the first leaf of the first spine: its devices are cells 0 to 3, n0's are 4 to 7.
 */
static const char cluster[] =
    "{\"kind\":\"cluster\",\"format\":\"dovetail-cluster/2\",\"name\":\"c\",\"chains\":{"
    "\"network\":[\"leaf\",\"spine\"]}}\n"
    "{\"kind\":\"node\",\"node\":\"n1\",\"gpus\":4,\"domains\":{\"leaf\":\"x\",\"spine\":\"s\"}}\n"
    "{\"kind\":\"node\",\"node\":\"n0\",\"gpus\":4,\"domains\":{\"leaf\":\"y\",\"spine\":\"s\"}}\n";
static const char workload[] =
    "{\"kind\":\"workload\",\"format\":\"dovetail-workload/2\",\"name\":\"w\",\"seed\":1}\n"
    "{\"kind\":\"job\",\"job\":\"a\",\"submit_s\":0,\"pods\":2,\"gpus\":2,\"run_s\":9}\n"
    "{\"kind\":\"job\",\"job\":\"b\",\"submit_s\":0,\"gpus\":1,\"gpu_milli\":500,\"run_s\":9}\n"
    "{\"kind\":\"job\",\"job\":\"c\",\"submit_s\":0,\"gpus\":1,\"gpu_milli\":500,\"run_s\":9}\n"
    "{\"kind\":\"event\",\"t_s\":6,\"node\":\"n0\",\"gpu\":0,\"state\":\"down\"}\n"
    "{\"kind\":\"event\",\"t_s\":7,\"node\":\"n1\",\"state\":\"drain\"}\n"
    "{\"kind\":\"event\",\"t_s\":8,\"job\":\"a\",\"state\":\"cancel\"}\n"
    "{\"kind\":\"event\",\"t_s\":9,\"node\":\"n1\",\"state\":\"up\"}\n";

static void read_world(struct world *w)
{
    struct memfile f;
    struct err err = {""};

    memfile_open(&f);
    world_init(w);
    memfile_set(&f, cluster, strlen(cluster));
    if (read_cluster(w, f.path, &err))
        fail_msg("%s", err.text);
    memfile_set(&f, workload, strlen(workload));
    if (read_workload(w, f.path, &err))
        fail_msg("%s", err.text);
    memfile_close(&f);
}

#define A       2u /* job 0 */
#define B       3u
#define C       4u
#define BOTH    MAP_SEVERAL
#define DOWN(v) (MAP_FAILED << 30 | (v))
#define DRY(v)  ((uint32_t)MAP_DRAINED << 30 | (v))

static const struct record_pod gang[] = {{.pod = 0, .node = 0, .devices = 0x3},
                                         {.pod = 1, .node = 1, .devices = 0x3}};
static const struct record_pod third = {.pod = 2, .node = 0, .devices = 0x8};
static const struct record_pod share = {.pod = 0, .node = 1, .devices = 0x8};

static const struct step {
    struct record r;
    uint32_t cell[CELLS]; /* after it */
    const char *why;
} steps[] = {
    {{.kind = RECORD_SUBMIT}, {0}, "a submit moves nobody"},
    {{.kind = RECORD_START, .pod_count = 2, .pods = gang}, {A, A, 0, 0, A, A}, "a gang sits down"},
    {{.kind = RECORD_GROW, .pod_count = 1, .pods = &third}, {A, A, 0, A, A, A}, "and grows"},
    {{.kind = RECORD_SHRINK, .by = WORLD_NONE, .pod_count = 1, .pods = &gang[0]},
     {0, 0, 0, A, A, A},
     "a shrink names pods, the first one left"},
    {{.kind = RECORD_START, .job = 1, .pod_count = 1, .pods = &share},
     {0, 0, 0, A, A, A, 0, B},
     "a share has the device while it is alone"},
    {{.kind = RECORD_START, .job = 2, .pod_count = 1, .pods = &share},
     {0, 0, 0, A, A, A, 0, BOTH},
     "two jobs on one device are several"},
    {{.kind = RECORD_FINISH, .job = 1}, {0, 0, 0, A, A, A, 0, C}, "the other one is left"},
    {{.kind = RECORD_EVENT, .event = 0},
     {0, 0, 0, A, DOWN(A), A, 0, C},
     "a device fails under its job"},
    {{.kind = RECORD_FAIL}, {0, 0, 0, 0, DOWN(0), 0, 0, C}, "which then stops"},
    {{.kind = RECORD_START, .pod_count = 1, .pods = &gang[0]},
     {A, A, 0, 0, DOWN(0), 0, 0, C},
     "and starts elsewhere"},
    {{.kind = RECORD_EVENT, .event = 1},
     {DRY(A), DRY(A), DRY(0), DRY(0), DOWN(0), 0, 0, C},
     "a host is drained with its jobs on it"},
    {{.kind = RECORD_MOVE, .pod_count = 1, .pods = &third},
     {DRY(0), DRY(0), DRY(0), DRY(A), DOWN(0), 0, 0, C},
     "a move is a stop and a start"},
    {{.kind = RECORD_EVENT, .event = 2},
     {DRY(0), DRY(0), DRY(0), DRY(0), DOWN(0), 0, 0, C},
     "a cancel ends the job at once"},
    {{.kind = RECORD_EVENT, .event = 3}, {0, 0, 0, 0, DOWN(0), 0, 0, C}, "the host is back"},
    {{.kind = RECORD_PREEMPT, .job = 2}, {0, 0, 0, 0, DOWN(0)}, "a preempted job leaves"},
};

static struct map *run(struct world *w)
{
    struct map *m = map_open(w);

    for (size_t i = 0; i < COUNT(steps); i++) {
        struct record r = steps[i].r;

        r.t_ns = (int64_t)i * SECOND;
        map_take(m, &r);
    }
    return m;
}

static void cells_follow_the_records(void **state)
{
    struct world w;
    struct map *m, *copy;
    uint32_t cell[CELLS] = {0};
    size_t next = 0;

    (void)state;
    read_world(&w);
    m = run(&w);
    copy = map_copy(m);
    map_close(m);
    world_free(&w); /* a copy has all that it needs */
    assert_int_equal(copy->cell_count, CELLS);
    assert_string_equal(map_text(copy, copy->host[0].name), "n1");
    assert_string_equal(map_text(copy, copy->domain[copy->host[1].domain].name), "y");
    assert_string_equal(map_text(copy, copy->job[2].name), "c");
    for (size_t i = 0; i < COUNT(steps); i++) {
        map_at(copy, cell, &next, (int64_t)i * SECOND);
        for (unsigned c = 0; c < CELLS; c++)
            if (cell[c] != steps[i].cell[c])
                fail_msg("%s: cell %u is %x, not %x", steps[i].why, c, cell[c], steps[i].cell[c]);
    }
    map_close(copy);
}

static uint32_t number(const char **at)
{
    static const char letter[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint32_t value = 0, digit;
    unsigned shift = 0;

    do {
        digit = (uint32_t)(strchr(letter, *(*at)++) - letter);
        value |= (digit & 31) << shift;
        shift += 5;
    } while (digit & 32);
    return value;
}

/* As the script reads it, written from the description alone. */
static void read_moment(const char **at, uint32_t *cell, uint32_t *highest)
{
    uint32_t place = 0;

    while (**at && **at != ',') {
        uint32_t from = place + number(at), count = number(at) + 1, value = number(at);
        uint32_t index = value / 3, who = index;

        if (index > 1)
            who = 2 + (index % 2 ? *highest + (index - 1) / 2 : *highest - (index - 2) / 2);
        if (who > 1 && who - 2 > *highest)
            *highest = who - 2;
        for (place = from; place < from + count; place++)
            cell[place] = value % 3 << 30 | who;
    }
    *at += **at == ',';
}

static void moments_can_be_read_back(void **state)
{
    static const uint32_t same[] = {0, 1, 2}, sparse[] = {40, 7, 900};
    static const uint32_t *const table[] = {same, sparse};
    int64_t t_ns[COUNT(steps)];
    struct world w;
    struct map *m;

    (void)state;
    read_world(&w);
    m = run(&w);
    for (size_t i = 0; i < COUNT(steps); i++)
        t_ns[i] = (int64_t)i * SECOND;
    for (size_t n = 0; n < COUNT(table); n++) {
        struct out text = {0};
        const char *at;
        uint32_t cell[CELLS] = {0}, highest = 0;

        map_encode(&text, m, t_ns, COUNT(steps), table[n]);
        at = text.bytes;
        for (size_t i = 0; i < COUNT(steps); i++) {
            read_moment(&at, cell, &highest);
            for (unsigned c = 0; c < CELLS; c++) {
                uint32_t want = steps[i].cell[c], who = MAP_WHO(want);

                if (who > 1)
                    want = MAP_STATE(want) << 30 | (2 + table[n][who - 2]);
                if (cell[c] != want)
                    fail_msg("%s: cell %u is read as %x, not %x", steps[i].why, c, cell[c], want);
            }
        }
        assert_int_equal(*at, '\0');
        out_free(&text);
    }
    map_close(m);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_follow_the_records),
        cmocka_unit_test(moments_can_be_read_back),
    };

    return cmocka_run_group_tests_name("report_map", tests, NULL, NULL);
}
