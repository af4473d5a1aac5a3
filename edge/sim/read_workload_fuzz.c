/* A cluster, a form feed, a workload: both are read and stand on each other, or are refused. */
#include "edge/sim/read.h"
#include "tests/memfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
    if (!holds)
        abort();
}

static void check_cluster(const struct world *w)
{
    for (uint32_t n = 0; n < w->node_count; n++) {
        const struct world_node *node = &w->node[n];

        need(world_node_find(w, node->name) == n);
        need(node->model < w->model_count);
        need(node->shape == WORLD_NONE || w->shape[node->shape].gpus == node->gpus);
        for (uint32_t l = 0; l < WORLD_LEVELS_MAX; l++)
            need(node->domain[l] == WORLD_NONE ||
                 (l < w->level_count && node->domain[l] < w->level[l].domain_count));
    }
}

static void check_workload(const struct world *w)
{
    for (uint32_t j = 0; j < w->job_count; j++) {
        const struct world_job *job = &w->job[j];

        need(world_job_find(w, job->name) == j);
        need(job->podset_count > 0 && job->run_ns > 0);
        need(j == 0 || job->submit_ns >= w->job[j - 1].submit_ns);
        need(job->team == WORLD_NONE || job->team < w->team_count);
        for (uint32_t p = 0; p < job->podset_count; p++) {
            const struct world_podset *set = &job->podset[p];

            need(set->pods > 0 && set->pods_min <= set->pods && set->gpus <= WORLD_GPUS_MAX);
            need(set->milli == 1000 || set->gpus == 1);
        }
    }
    for (uint32_t e = 0; e < w->event_count; e++) {
        const uint32_t counts[] = {w->node_count, w->node_count, w->team_count, w->job_count};

        need(w->event[e].target < counts[w->event[e].kind]);
        need(e == 0 || w->event[e].at_ns >= w->event[e - 1].at_ns);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memfile file[2] = {{.fd = -1}, {.fd = -1}};
    const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
    size_t cut = feed ? (size_t)(feed - data) : size;
    struct world w;
    struct err err = {""};

    for (int f = 0; f < 2; f++)
        if (file[f].fd < 0)
            memfile_open(&file[f]);
    memfile_set(&file[0], data, cut);
    memfile_set(&file[1], feed ? feed + 1 : data, feed ? size - cut - 1 : 0);
    world_init(&w);
    int code = read_cluster(&w, file[0].path, &err);
    if (!code) {
        check_cluster(&w);
        code = read_workload(&w, file[1].path, &err);
    }
    if (!code)
        check_workload(&w);
    need(code == 0 || (w.node_count == 0 && strstr(err.text, "expected")));
    world_free(&w);
    return 0;
}
