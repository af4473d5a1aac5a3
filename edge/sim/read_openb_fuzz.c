/* Three tables between form feeds: nodes, pods, arrivals. */
#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[200];
static struct memfile file[3];
static const char *const names[] = {"openb_node_list_gpu_node.csv", "openb_pod_list_x.csv",
                                    "arrival-order/x.csv"};

static void leave(void)
{
    char path[300];

    for (int f = 0; f < 3; f++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[f]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof(path), "%s/arrival-order", folder);
    (void)rmdir(path);
    (void)rmdir(folder);
}

/* A folder of links to files in memory, made once. */
static void enter(void)
{
    const char *base = getenv("TMPDIR");
    char path[300];

    (void)snprintf(folder, sizeof(folder), "%s/fuzz-XXXXXX", base && *base ? base : P_tmpdir);
    if (!mkdtemp(folder))
        abort();
    (void)atexit(leave);
    (void)snprintf(path, sizeof(path), "%s/arrival-order", folder);
    if (mkdir(path, 0700))
        abort();
    for (int f = 0; f < 3; f++) {
        memfile_open(&file[f]);
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[f]);
        if (symlink(file[f].path, path))
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *at = data, *end = data + size;
    struct world w;
    struct err err = {""};

    if (!folder[0])
        enter();
    for (int f = 0; f < 3; f++) {
        const uint8_t *feed = at < end ? memchr(at, '\f', (size_t)(end - at)) : NULL;
        const uint8_t *stop = feed ? feed : end;

        memfile_set(&file[f], at, (size_t)(stop - at));
        at = feed ? feed + 1 : end;
    }
    world_init(&w);
    if (read_openb(&w, folder, "x", &err) == 0) {
        for (uint32_t s = 0; s < w.openb->seed_count; s++)
            for (uint32_t k = 0; k < w.openb->arrival_count[s]; k++)
                if (w.openb->arrival[s][k] >= w.job_count)
                    abort();
    } else if (!strstr(err.text, "expected") || w.node_count) {
        abort();
    }
    world_free(&w);
    return 0;
}
