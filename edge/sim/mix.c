#include "edge/sim/mix.h"

#include <stdlib.h>
#include <string.h>

#include "core/engine/event.h"
#include "edge/base/memory.h"

/* The weights of the dovetail scorer, in thousandths, and a ratio in percent. They were chosen
 * once, on the openb lists with the seeds 42 to 46 (docs/decisions/), and hold for every mix. */
static const struct {
    int64_t waste_now, waste_later, broken, starved, short_cpu, spare_cpu, spare_pct;
    int64_t scarce, roomy;
} weight = {
    .waste_now = 2000,
    .waste_later = 1000,
    .broken = 150,
    .starved = 1000,
    .short_cpu = 1000,
    .spare_cpu = 500,
    .spare_pct = 110,
    .scarce = 1000,
    .roomy = 4,
};

#define PPM 1000000

/* The classes with their weights in ppm of all classes, for the sums below. */
struct sums {
    const struct mix_table *t;
    int64_t *ppm;
    int64_t asked;      /* ppm x milli-GPU */
    int64_t cpu;        /* ppm x milli-cores */
    int64_t cpu_of_gpu; /* the same, of classes with GPUs */
};

/* Part of a device with so many milli free that no next pod will use, and that no later one will:
 * the mean over what may come next of what is left in the end. */
static void waste_table(struct mix_table *t, const struct sums *s)
{
    int64_t size_ppm[MILLI_FULL + 1] = {0}, later[MILLI_FULL + 1] = {0}, total = 0, fits = 0;

    for (uint32_t c = 0; c < t->class_count; c++)
        if (t->class[c].gpus > 0) {
            size_ppm[t->class[c].milli] += s->ppm[c];
            total += s->ppm[c];
        }
    for (int64_t free = 0; free <= MILLI_FULL; free++) {
        int64_t sum = 0, now;

        fits += size_ppm[free];
        for (int64_t size = 1; size <= free; size++)
            sum += size_ppm[size] * later[free - size];
        later[free] = fits > 0 ? sum / fits : free * 1000;
        now = total > 0 ? free * 1000 * (total - fits) / total : 0;
        t->loss[free].waste_micro =
            (weight.waste_now * now + weight.waste_later * later[free]) / 1000;
    }
}

/* Devices left over by groups of k, weighted by the share of all GPUs asked in such groups. */
static void broken_table(struct mix_table *t, const struct sums *s)
{
    for (int64_t whole = 0; whole <= GPUS_MAX; whole++) {
        int64_t left_milli = 0;

        for (uint32_t c = 0; c < t->class_count && s->asked > 0; c++)
            if (t->class[c].gpus > 1)
                left_milli += s->ppm[c] * t->class[c].gpus * t->class[c].milli *
                              (whole % t->class[c].gpus) * 1000 / s->asked;
        t->loss[whole].broken_micro = weight.broken * left_milli;
    }
}

static void starved_table(struct mix_table *t, const struct sums *s)
{
    int64_t total = 0;

    for (uint32_t c = 0; c < t->class_count; c++)
        total += t->class[c].gpus > 0 ? s->ppm[c] : 0;
    for (int64_t step = 0; step < LOSS_ROWS; step++) {
        int64_t starved = 0;

        for (uint32_t c = 0; c < t->class_count; c++)
            if (t->class[c].gpus > 0 && t->class[c].cpu_milli > step * LOSS_CPU_STEP_MILLI)
                starved += s->ppm[c];
        t->loss[step].starved_ppm = total > 0 ? starved * PPM / total : 0;
    }
}

/* GPUs asked by pods that name their models, per GPU of these models, were all GPUs asked. */
static void price_table(struct mix_table *t, const struct sums *s, const int64_t *gpus)
{
    int64_t all = 0;

    for (unsigned m = 0; m < MODELS_MAX; m++)
        all += gpus[m];
    for (uint32_t c = 0; c < t->class_count; c++) {
        const struct mix *x = &t->class[c];
        int64_t named = 0, share_ppm;

        for (unsigned m = 0; m < MODELS_MAX; m++)
            named += (x->models >> m & 1) ? gpus[m] : 0;
        if (x->models == UINT64_MAX || x->gpus == 0 || named == 0)
            continue;
        share_ppm = s->ppm[c] * x->gpus * x->milli * 1000 / (s->asked / 1000 + 1);
        for (unsigned m = 0; m < MODELS_MAX; m++)
            if (x->models >> m & 1)
                t->scarce_micro[m] += weight.scarce * (share_ppm * all / named) / 1000;
    }
}

/* Milli-GPU that go with a milli-core, times 2^20. */
static int64_t fed_q20(int64_t asked, int64_t cpu, int64_t pct)
{
    int64_t cpu_per_gpu_milli = asked >= 1000 ? cpu / (asked / 1000) : 0;
    int64_t fed = cpu_per_gpu_milli > 0 ? ((int64_t)100000 << 20) / (cpu_per_gpu_milli * pct) : 0;

    return fed < (int64_t)1 << 20 ? fed : (int64_t)1 << 20;
}

/* ---- classes ---- */

uint64_t mix_models(const struct world_podset *p)
{
    uint64_t models = p->model_count ? 0 : UINT64_MAX;

    for (uint32_t n = 0; n < p->model_count; n++)
        models |= (uint64_t)1 << p->model[n];
    return models;
}

/* The share in milli as the mix sees it: what it takes of the first model that could hold it. */
static uint32_t milli_of(const struct world *w, const struct world_podset *p)
{
    int64_t milli = p->milli;

    if (p->gpus == 0)
        return 0;
    if (p->mig != WORLD_NONE) {
        milli = 0;
        for (uint32_t g = 0; g < w->mig_count && !milli; g++)
            for (uint32_t f = 0; f < w->mig[g].profile_count; f++)
                if (strcmp(w->mig[g].profile[f].name, w->mig_name[p->mig]) == 0)
                    milli = MILLI_FULL * w->mig[g].profile[f].slots / w->mig[g].slots;
    } else if (p->mem_share_mib) {
        milli = 0;
        for (uint32_t n = 0; n < w->node_count && !milli; n++)
            if (w->node[n].gpu_mem_mib >= p->mem_share_mib)
                milli = MILLI_FULL * p->mem_share_mib / w->node[n].gpu_mem_mib;
    }
    return milli < 1 ? 1 : milli > MILLI_FULL ? MILLI_FULL : (uint32_t)milli;
}

static bool same_class(const struct mix *a, const struct mix *b)
{
    return a->cpu_milli == b->cpu_milli && a->models == b->models && a->milli == b->milli &&
           a->gpus == b->gpus;
}

struct tally {
    struct mix *class;
    uint32_t *first;  /* first ask of the class */
    uint32_t *bucket; /* hash table of class numbers + 1 */
    uint32_t count, buckets;
    size_t limit;
    uint64_t rows;
};

static void tally_add(struct tally *t, const struct mix *x, uint32_t pods)
{
    uint64_t h = ((uint64_t)x->cpu_milli * 31 + x->milli) * 31 + x->gpus + x->models * 7;
    uint32_t at = (uint32_t)((h * 0x9e3779b97f4a7c15u) >> 32) & (t->buckets - 1);

    t->rows += pods;
    for (; t->bucket[at]; at = (at + 1) & (t->buckets - 1))
        if (same_class(&t->class[t->bucket[at] - 1], x)) {
            t->class[t->bucket[at] - 1].count += pods;
            return;
        }
    if (t->count == t->limit) {
        t->limit = t->limit * 2 + 64;
        t->class = memory_grow(t->class, t->limit * sizeof(*t->class));
    }
    t->class[t->count] = *x;
    t->class[t->count].count = pods;
    t->class[t->count].pad = t->count; /* the order of the list, for ties */
    t->bucket[at] = ++t->count;
}

static int by_count(const void *left, const void *right)
{
    const struct mix *a = left, *b = right;

    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return a->pad < b->pad ? -1 : 1;
}

static void count_classes(struct tally *t, const struct world *w)
{
    uint32_t asks = 0;

    for (uint32_t j = 0; j < w->job_count; j++)
        asks += w->job[j].podset_count;
    for (t->buckets = 16; t->buckets < 2 * (uint64_t)asks;)
        t->buckets *= 2;
    t->bucket = memory_zeroed(t->buckets * sizeof(*t->bucket));
    for (uint32_t j = 0; j < w->job_count; j++)
        for (uint32_t n = 0; n < w->job[j].podset_count; n++) {
            const struct world_podset *p = &w->job[j].podset[n];
            struct mix x = {.cpu_milli = p->cpu_milli,
                            .models = mix_models(p),
                            .milli = milli_of(w, p),
                            .gpus = p->gpus};

            tally_add(t, &x, p->pods);
        }
}

/* The most popular classes, until they cover 95 % of the pods. */
static void keep_popular(struct mix_table *t, struct tally *tally)
{
    uint64_t covered = 0;

    if (!tally->class)
        return;
    qsort(tally->class, tally->count, sizeof(*tally->class), by_count);
    while (t->class_count < tally->count && covered * 100 < tally->rows * 95)
        covered += tally->class[t->class_count++].count;
    t->class = tally->class;
    for (uint32_t c = 0; c < t->class_count; c++) {
        t->class[c].pad = 0;
        if (t->class[c].count > 1u << 24)
            t->class[c].count = 1u << 24;
    }
}

struct mix_table *mix_open(const struct world *w)
{
    struct mix_table *t = memory_zeroed(sizeof(*t));
    struct tally tally = {.count = 0};
    struct sums s = {.t = t};
    int64_t gpus[MODELS_MAX] = {0}, total = 0;

    count_classes(&tally, w);
    free(tally.bucket);
    keep_popular(t, &tally);
    s.ppm = memory_zeroed((t->class_count + 1) * sizeof(*s.ppm));
    for (uint32_t c = 0; c < t->class_count; c++)
        total += t->class[c].count;
    for (uint32_t c = 0; c < t->class_count; c++) {
        s.ppm[c] = PPM * (int64_t)t->class[c].count / total;
        s.asked += s.ppm[c] * t->class[c].gpus * t->class[c].milli;
        s.cpu += s.ppm[c] * t->class[c].cpu_milli;
        s.cpu_of_gpu += t->class[c].gpus > 0 ? s.ppm[c] * t->class[c].cpu_milli : 0;
    }
    for (uint32_t n = 0; n < w->node_count; n++)
        if (w->node[n].model < MODELS_MAX)
            gpus[w->node[n].model] += w->node[n].gpus;
    t->balance = (struct balance){.short_q20 = fed_q20(s.asked, s.cpu_of_gpu, 100),
                                  .spare_q20 = fed_q20(s.asked, s.cpu, weight.spare_pct),
                                  .starved_micro = weight.starved,
                                  .short_micro = weight.short_cpu,
                                  .spare_micro = weight.spare_cpu,
                                  .roomy_micro = weight.roomy};
    waste_table(t, &s);
    broken_table(t, &s);
    starved_table(t, &s);
    price_table(t, &s, gpus);
    free(s.ppm);
    return t;
}

void mix_close(struct mix_table *t)
{
    free(t->class);
    free(t);
}
