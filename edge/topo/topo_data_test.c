/* Files as people published them, each against its right reading (tests/topologies/readings.txt).
 * They lie where DOVETAIL_DATA=DIR has a folder topologies; not all of them may be copied. Ends
 * with a table: file, reading, right or wrong. */
#include "edge/base/lines.h"
#include "edge/base/memory.h"
#include "edge/topo/topo.h"
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ROWS_MAX    200u
#define ROWS_WANTED 128u

struct row {
    char *file, *why, *reads, *remark;
};

static struct row rows[ROWS_MAX];
static unsigned row_count;

static char *copy(const char *text)
{
    char *to = memory_grow(NULL, strlen(text) + 1);

    memcpy(to, text, strlen(text) + 1);
    return to;
}

/* "  why ..." into the row it belongs to. */
static void read_line(const char *line)
{
    struct row *now = row_count ? &rows[row_count - 1] : NULL;

    if (line[0] == '#' || line[0] == '\0')
        return;
    if (line[0] != ' ') {
        assert_true(row_count < ROWS_MAX);
        rows[row_count++].file = copy(line);
    } else if (now && strncmp(line, "  why ", 6) == 0) {
        now->why = copy(line + 6);
    } else if (now && strncmp(line, "  reads ", 8) == 0) {
        now->reads = copy(line + 8);
    } else if (now && strncmp(line, "  remark ", 9) == 0) {
        now->remark = copy(line + 9);
    } else {
        fail_msg("no line of a row: %s", line);
    }
}

static int read_rows(void **state)
{
    struct lines *lines;
    struct err err = {""};
    char *text;
    size_t length;
    uint32_t number;

    (void)state;
    if (lines_open(&lines, "tests/topologies/readings.txt", &err)) {
        print_message("%s\n", err.text);
        return -1;
    }
    while (lines_next(lines, &text, &length, &number, &err) > 0)
        read_line(text);
    lines_close(lines);
    return 0;
}

static int free_rows(void **state)
{
    (void)state;
    for (unsigned r = 0; r < row_count; r++) {
        free(rows[r].file);
        free(rows[r].why);
        free(rows[r].reads);
        free(rows[r].remark);
    }
    return 0;
}

/* Where the file lies; false: it is not here. */
static bool find_file(const char *file, char *ret_path, size_t room)
{
    const char *data = getenv("DOVETAIL_DATA");

    if (!data || !*data)
        return false;
    (void)snprintf(ret_path, room, "%s/topologies/%s", data, file);
    return access(ret_path, R_OK) == 0;
}

/* "" if the file reads as the row says, else what differs. */
static const char *wrong(const struct row *r, const char *path, char *reading, size_t room)
{
    struct topo *t;
    struct err err = {""};
    struct out out = {0};
    const char *what = "";

    if (topo_open(&t, path, &err)) {
        (void)snprintf(reading, room, "%s", err.text);
        return "refused";
    }
    topo_text(t, &out);
    (void)snprintf(reading, room, "%s", out.bytes);
    if (strcmp(out.bytes, r->reads) != 0)
        what = "another reading";
    else if (strcmp(r->remark, "-") != 0 && !topo_has_remark(t, r->remark))
        what = "no such remark";
    out_free(&out);
    topo_close(t);
    return what;
}

static void every_file_reads_right(void **state)
{
    static char reading[16384];
    unsigned right = 0, missing = 0;
    char path[4096];

    (void)state;
    assert_int_equal(row_count, ROWS_WANTED);
    print_message("%-5s %-58s %s\n", "", "file", "reading");
    for (unsigned r = 0; r < row_count; r++) {
        assert_non_null(rows[r].why);
        assert_non_null(rows[r].reads);
        assert_non_null(rows[r].remark);
        if (!find_file(rows[r].file, path, sizeof(path))) {
            missing++;
            continue;
        }
        const char *what = wrong(&rows[r], path, reading, sizeof(reading));

        right += *what == '\0';
        print_message("%-5s %-58s %.100s\n", *what ? "WRONG" : "right", rows[r].file, reading);
        if (*what)
            print_message("      %s (%s)\n      is  %s\n      not %s\n      remark: %s\n", what,
                          rows[r].why, reading, rows[r].reads, rows[r].remark);
    }
    print_message("%u right, %u wrong, %u missing of %u\n", right, row_count - missing - right,
                  missing, row_count);
    if (missing)
        print_message("SKIP: %u files of topologies are not read: DOVETAIL_DATA names no folder "
                      "that has them\n",
                      missing);
    assert_int_equal(right + missing, row_count);
}

/* ---- what statements do not say */

static struct topo *open_file(const char *file)
{
    char path[4096];
    struct topo *t;
    struct err err = {""};

    if (!find_file(file, path, sizeof(path))) {
        print_message("SKIP: %s is not here\n", file);
        skip();
    }
    if (topo_open(&t, path, &err))
        fail_msg("%s", err.text);
    return t;
}

static void rails_pair_each_gpu_with_its_nic(void **state)
{
    struct topo *t = open_file("topo-matrix/h20-8-nvswitch-8nics-rail.txt");
    const struct topo_host *h = &t->host[0];

    (void)state;
    for (uint32_t g = 0; g < h->gpu_count; g++) {
        char name[16];

        /* The legend is shifted by one: NIC0 is mlx5_1. */
        (void)snprintf(name, sizeof(name), "mlx5_%u", g + 1);
        assert_string_equal(h->device[h->gpu_count + g].alias, name);
        for (uint32_t n = 0; n < h->nic_count; n++)
            assert_int_equal(topo_link(h, g, h->gpu_count + n)->path == TOPO_PATH_PIX, n == g);
    }
    topo_close(t);
}

static void a_cut_list_of_cpus_is_not_kept(void **state)
{
    static const struct {
        const char *file;
        uint32_t device;
    } row[] = {
        {"topo-matrix/h100-8-odd-even-cpus-truncated.txt", 5},
        {"topo-matrix/h100nvl-8-bridge-pairs-last-row-cut.txt", 7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
        struct topo *t = open_file(row[i].file);

        assert_null(t->host[0].device[row[i].device].cpus);
        assert_true(t->host[0].device[row[i].device].cut);
        assert_false(t->host[0].complete);
        topo_close(t);
    }
}

static void a_device_out_of_service_is_missing(void **state)
{
    static const int32_t left[] = {0, 2, 3};
    struct topo *t = open_file("slurm/nodename-exceptions.gres.conf");

    (void)state;
    assert_string_equal(t->host[3].name, "tux3");
    for (uint32_t d = 0; d < 3; d++)
        assert_int_equal(t->host[3].device[d].index, left[d]);
    topo_close(t);
}

static void names_agree_with_cables(void **state)
{
    struct topo *t = open_file("ibnetdiscover/ndr-switches-part.out");
    const struct topo_fabric *f = &t->fabric[0];

    (void)state;
    for (uint32_t d = 0; d < f->domain_count; d++) {
        const char *level = f->level[f->domain[d].level];

        assert_non_null(
            strstr(f->domain[d].name, strcmp(level, "leaf") == 0 ? "IBLEAF" : "IBSPINE"));
    }
    topo_close(t);
}

static void every_gpu_has_its_own_root(void **state)
{
    struct topo *t = open_file("k8s/resourceslices-h100-2nodes.yaml");

    (void)state;
    for (size_t h = 0; h < t->host_count; h++)
        for (uint32_t a = 0; a < t->host[h].gpu_count; a++) {
            assert_non_null(t->host[h].device[a].uuid);
            for (uint32_t b = 0; b < a; b++)
                assert_string_not_equal(t->host[h].device[a].pcie_root,
                                        t->host[h].device[b].pcie_root);
        }
    topo_close(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_reads_right),
        cmocka_unit_test(rails_pair_each_gpu_with_its_nic),
        cmocka_unit_test(a_cut_list_of_cpus_is_not_kept),
        cmocka_unit_test(a_device_out_of_service_is_missing),
        cmocka_unit_test(names_agree_with_cables),
        cmocka_unit_test(every_gpu_has_its_own_root),
    };

    return cmocka_run_group_tests(tests, read_rows, free_rows);
}
