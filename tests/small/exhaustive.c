#include "tests/small/exhaustive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "tests/oracle/check.h"

/* Hosts are unordered pairs of these: what devices are joined, and whether CPU is scarce. Devices
 * of a host that are joined alike are interchangeable, so no other numbering of them is tried. */
static const struct kind_of_host {
    uint8_t island[3];
    uint8_t model;
    bool scarce;
} hosts[] = {
    {{0, 0, 0}, 0, false},
    {{0, 0, 1}, 0, false},
    {{255, 255, 255}, 0, true},
    {{0, 0, SHAPE_NO_PART}, 1, false},
};
#define HOSTS (sizeof(hosts) / sizeof(hosts[0]))

/* Jobs are sequences of these. */
static const struct ask {
    unsigned pods, pods_min, gpus, milli;
    uint64_t required;
    uint32_t slice_pods, class_id;
    bool share_card;
} asks[] = {
    {1, 1, 1, 1000, 0, 0, 0, true},
    {1, 1, 2, 1000, 0, 0, 0, true},
    {1, 1, 3, 1000, 0, 0, 0, true},
    {1, 1, 2, 1000, 1, 0, 0, true},
    {1, 1, 1, 600, 0, 0, 0, true},
    {1, 1, 1, 400, 0, 0, 1, true},
    {2, 2, 1, 1000, 1u << O_HOST, 0, 0, true},
    {2, 2, 1, 500, 0, 0, 0, false},
    {2, 1, 2, 1000, 0, 0, 0, true},
    {4, 2, 1, 1000, 0, 2, 0, true},
};
#define ASKS (sizeof(asks) / sizeof(asks[0]))
#define JOBS 4

struct walk {
    struct check c;
    struct tally tally;
    uint64_t worlds;
    uint8_t ask[JOBS];
};

static unsigned put_world(struct event *e, unsigned a, unsigned b)
{
    unsigned count = 0;

    e[count++] = (struct event){.kind = EVENT_CONFIG, .config = {.budget_steps = 100000}};
    for (uint32_t c = 0; c < 2; c++) {
        struct event *class = &e[count++];

        *class = (struct event){.kind = EVENT_CLASS, .class = {.class_id = c, .models = 3 - c}};
        memset(class->class.nodes, 0xFF, sizeof(class->class.nodes));
    }
    for (uint32_t h = 0; h < 2; h++) {
        const struct kind_of_host *k = &hosts[h ? b : a];
        struct event *shape = &e[count++], *host = &e[count++];

        *shape = (struct event){.kind = EVENT_SHAPE, .shape = {.shape = h, .gpus = 3}};
        memset(shape->shape.part, SHAPE_NO_PART, sizeof(shape->shape.part));
        memcpy(shape->shape.part, k->island, 3);
        *host = (struct event){.kind = EVENT_HOST,
                               .host = {.host = h,
                                        .cpu_milli = k->scarce ? 2000 : UNLIMITED,
                                        .mem_mib = UNLIMITED,
                                        .pods = UNLIMITED,
                                        .model = k->model,
                                        .shape = h,
                                        .gpus = 3}};
        memset(host->host.domain, 0xFF, sizeof(host->host.domain));
    }
    return count;
}

static void put_job(struct event *e, uint32_t key, const struct ask *a)
{
    e[0] = (struct event){.kind = EVENT_JOB,
                          .job = {.est_ns = -1,
                                  .key = key,
                                  .team = ROW_NONE,
                                  .flags = a->share_card ? JOB_SHARES_CARD : 0,
                                  .podset_count = 1}};
    e[1] = (struct event){.kind = EVENT_PODSET,
                          .podset = {.cpu_milli = 1000,
                                     .required = a->required,
                                     .pods = a->pods,
                                     .pods_min = a->pods_min,
                                     .profile = ROW_NONE,
                                     .class_id = a->class_id,
                                     .slice_pods = a->slice_pods,
                                     .slice_scope = O_HOST,
                                     .milli = (uint16_t)a->milli,
                                     .gpus = (uint8_t)a->gpus}};
}

struct kept {
    struct sched s;
    struct o_world w;
};

/* Back to a state that was kept: worlds share their beginnings. */
static void restore(struct check *c, const char *block, const struct kept *kept)
{
    memcpy(c->d.block, block, sched_bytes(&c->d.limits));
    c->d.s = kept->s;
    oracle_copy(&c->w, &kept->w);
}

/* Before the last job any of the first ones may have ended. */
static bool last_job(struct walk *w, const char *block, const struct kept *kept)
{
    struct event e[JOBS + 1];

    for (unsigned ended = 0; ended < 1u << (JOBS - 1); ended++)
        for (unsigned a = 0; a < ASKS; a++) {
            unsigned count = 0;

            w->ask[JOBS - 1] = (uint8_t)a;
            restore(&w->c, block, kept);
            for (uint32_t key = 0; key < JOBS - 1; key++)
                if (ended >> key & 1)
                    e[count++] = (struct event){.kind = EVENT_END, .end = {key}};
            put_job(e + count, JOBS - 1, &asks[a]);
            w->worlds++;
            if (!check_batch(&w->c, e, count + 2)) {
                printf("hosts and asks as printed, ended %#x: %s\n", ended, w->c.wrong);
                return false;
            }
        }
    return true;
}

static bool go_on(struct walk *w, unsigned job)
{
    static char blocks[JOBS][1u << 21];
    static struct kept kept[JOBS];
    struct event e[2];

    must(sched_bytes(&w->c.d.limits) <= sizeof(blocks[0]));
    memcpy(blocks[job], w->c.d.block, sched_bytes(&w->c.d.limits));
    kept[job].s = w->c.d.s;
    oracle_copy(&kept[job].w, &w->c.w);
    if (job == JOBS - 1)
        return last_job(w, blocks[job], &kept[job]);
    for (unsigned a = 0; a < ASKS; a++) {
        restore(&w->c, blocks[job], &kept[job]);
        w->ask[job] = (uint8_t)a;
        put_job(e, job, &asks[a]);
        if (!check_batch(&w->c, e, 2) || !go_on(w, job + 1)) {
            printf("  job %u: ask %u: %s\n", job, a, w->c.wrong);
            return false;
        }
    }
    return true;
}

int exhaustive_run(void)
{
    static struct walk w;
    struct event e[16];
    struct limits l = sched_limits_small();

    l.rows[TABLE_JOB] = l.rows[TABLE_PODSET] = 16;
    l.rows[TABLE_SEAT] = 64;
    limits_fix(&l);
    for (unsigned a = 0; a < HOSTS; a++)
        for (unsigned b = a; b < HOSTS; b++) {
            bool good;

            check_open(&w.c, &l, &w.tally);
            w.c.deep = true;
            good = check_batch(&w.c, e, put_world(e, a, b)) && go_on(&w, 0);
            check_close(&w.c);
            if (!good) {
                printf("hosts %u and %u\n", a, b);
                return 1;
            }
        }
    printf("exhaustive: %" PRIu64 " histories of 2 hosts, 3 devices each, 4 jobs; %" PRIu64
           " starts, %" PRIu64 " refusals, all right\n",
           w.worlds, w.tally.starts, w.tally.refusals);
    return 0;
}
