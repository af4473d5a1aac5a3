/* The jobs of a run that is over: waits and topology hits by size, and how many domains each gang
 * of several pods touched. What a job's figures are is the metrics' business; this adds them up. */
#include "edge/base/memory.h"
#include "edge/sim/report_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t found_wait_edge_ns(unsigned k)
{
    return (int64_t)(1e9 * pow(2, k / 2.0));
}

const char *found_span_name(unsigned span)
{
    static const char *const name[FOUND_SPANS] = {"1",   "2",    "3",     "4",  "5-6",
                                                  "7-8", "9-16", "17-32", "33+"};

    return name[span];
}

const char *found_extra_name(unsigned extra)
{
    static const char *const name[FOUND_EXTRA] = {"0",   "1",   "2",    "3",  "4",
                                                  "5-6", "7-8", "9-16", "17+"};

    return name[extra];
}

static unsigned span_row(uint32_t domains)
{
    static const uint32_t most[FOUND_SPANS - 1] = {1, 2, 3, 4, 6, 8, 16, 32};
    unsigned row = 0;

    while (row < FOUND_SPANS - 1 && domains > most[row])
        row++;
    return row;
}

static unsigned extra_column(uint32_t domains)
{
    static const uint32_t most[FOUND_EXTRA - 1] = {0, 1, 2, 3, 4, 6, 8, 16};
    unsigned column = 0;

    while (column < FOUND_EXTRA - 1 && domains > most[column])
        column++;
    return column;
}

int found_level(const struct world *w, unsigned chain)
{
    for (uint8_t l = 0; l < w->level_count; l++)
        if (w->level[l].chain == chain && w->level[l].rank == 0)
            return l;
    return -1;
}

static int larger_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x < *y) - (*x > *y);
}

/* GPUs of the level's domains, most first; hosts in no domain count as one each. */
static uint64_t *domain_gpus(const struct world *w, uint8_t level, size_t *ret_count)
{
    size_t count = w->level[level].domain_count;
    uint64_t *gpus = memory_zeroed(sizeof(*gpus) * (count + w->node_count + 1));

    for (uint32_t n = 0; n < w->node_count; n++) {
        uint32_t d = w->node[n].domain[level];

        if (d == WORLD_NONE)
            gpus[count++] = w->node[n].gpus;
        else
            gpus[d] += w->node[n].gpus;
    }
    qsort(gpus, count, sizeof(*gpus), larger_first);
    *ret_count = count;
    return gpus;
}

/* The fewest domains whose GPUs are enough: a bound that holds for every gang. */
static uint32_t fewest_by_gpus(const uint64_t *gpus, size_t count, double asked)
{
    uint32_t domains = 1;
    double sum = count > 0 ? (double)gpus[0] : 0;

    while (sum < asked && domains < count)
        sum += (double)gpus[domains++];
    return domains;
}

/* Keeps the widest, then the largest; equal ones in the order of the workload. */
static void keep_worst(struct found_span *s, const struct found_worst *job)
{
    uint32_t at = s->worst_count;

    while (at > 0) {
        const struct found_worst *other = &s->worst[at - 1];
        uint32_t more = job->spans - job->fewest, other_more = other->spans - other->fewest;

        if (more < other_more || (more == other_more && job->gpu_h <= other->gpu_h))
            break;
        at--;
    }
    if (at == FOUND_WORST)
        return;
    if (s->worst_count < FOUND_WORST)
        s->worst_count++;
    memmove(&s->worst[at + 1], &s->worst[at], (s->worst_count - at - 1) * sizeof(*job));
    s->worst[at] = *job;
}

static void count_span(struct found_span *s, const struct world_job *job,
                       const struct metrics_job *j, const struct found_seat *seat, unsigned chain,
                       uint32_t fewest)
{
    struct found_worst worst = {.pods = seat->pods,
                                .spans = seat->spans[chain],
                                .fewest = fewest,
                                .gpus = j->gpus,
                                .gpu_h = j->gpu_h};

    if (fewest > worst.spans)
        worst.fewest = worst.spans;
    s->jobs++;
    s->fewest += worst.spans == worst.fewest;
    s->count[span_row(worst.fewest)][extra_column(worst.spans - worst.fewest)]++;
    snprintf(worst.name, sizeof(worst.name), "%.40s", job->name);
    if (worst.spans > worst.fewest)
        keep_worst(s, &worst);
}

static void count_spans(struct series_found *f, const struct world *w, const struct metrics *m,
                        const struct found_seat *seat, unsigned chain)
{
    struct found_span *s = &f->span[chain];
    int level = found_level(w, chain);
    size_t count;
    uint64_t *gpus;

    if (level < 0)
        return;
    snprintf(s->level, sizeof(s->level), "%.31s", w->level[level].name);
    gpus = domain_gpus(w, (uint8_t)level, &count);
    for (uint32_t i = 0; i < w->job_count; i++) {
        struct metrics_job j;
        uint32_t fewest;

        if (seat[i].pods == 0 || !metrics_job(m, i, &j))
            continue;
        fewest = fewest_by_gpus(gpus, count, j.gpus);
        if (chain == 0 && j.fewest_groups > 0)
            fewest = j.fewest_groups;
        count_span(s, &w->job[i], &j, &seat[i], chain, fewest);
    }
    free(gpus);
}

static void count_wait(struct found_wait *wait, int64_t wait_ns)
{
    unsigned k = FOUND_WAITS;

    wait->jobs++;
    while (k > 0 && wait_ns <= found_wait_edge_ns(k - 1))
        wait->within[--k]++;
}

void found_jobs(struct series_found *f, const struct world *w, const struct metrics *m,
                const struct found_seat *seat)
{
    for (uint32_t i = 0; i < w->job_count; i++) {
        struct metrics_job j;
        struct found_hit *hit;

        if (!metrics_job(m, i, &j) || !j.finished)
            continue;
        if (j.asks_gpus)
            count_wait(&f->wait[j.size], j.wait_ns);
        if (!j.wants)
            continue;
        hit = &f->hit[j.size];
        hit->wanted++;
        hit->hit += j.hit;
        hit->gpu_h += j.gpu_h;
        hit->hit_gpu_h += j.hit_gpu_h;
    }
    for (unsigned c = 0; c < FOUND_CHAINS; c++)
        count_spans(f, w, m, seat, c);
}
