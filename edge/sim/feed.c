#include "edge/sim/feed.h"

#include <stdlib.h>
#include <string.h>

#include "edge/base/memory.h"

#define BUDGET_STEPS 200000u /* of one search: some milliseconds at worst */

uint8_t feed_scope(struct world_where where)
{
    switch ((enum world_scope)where.scope) {
    case SCOPE_ISLAND:
        return SCOPE_OF_PART + SHAPE_ISLAND;
    case SCOPE_NUMA:
        return SCOPE_OF_PART + SHAPE_NUMA;
    case SCOPE_PCIE:
        return SCOPE_OF_PART + SHAPE_PCIE;
    case SCOPE_NODE:
        return SCOPE_OF_HOST;
    case SCOPE_LEVEL:
        return (uint8_t)(SCOPE_OF_LEVEL + where.level);
    case SCOPE_NONE:
    case SCOPE_CLUSTER:
        break;
    }
    return SCOPE_OF_CLUSTER;
}

/* Jobs that may have room kept for them: one per set of models that has nothing to do with the
 * others; or many of the queue's first. */
static uint32_t feed_reserves(enum order order)
{
    return order == ORDER_EASY ? MODELS_MAX : order == ORDER_CONSERVATIVE ? RESERVES_MAX : 0;
}

const char *feed_scope_name(const struct world *w, unsigned scope)
{
    static const char *const below[] = {"island", "numa", "pcie", "node"};

    if (scope <= SCOPE_OF_HOST)
        return below[scope];
    if (scope - SCOPE_OF_LEVEL < w->level_count)
        return w->level[scope - SCOPE_OF_LEVEL].name;
    return "cluster";
}

static uint64_t scope_bits(const struct world_where *where, unsigned count)
{
    uint64_t bits = 0;

    for (unsigned n = 0; n < count; n++)
        bits |= (uint64_t)1 << feed_scope(where[n]);
    return bits;
}

static int64_t capacity(int64_t amount)
{
    return amount == WORLD_UNLIMITED ? UNLIMITED : amount;
}

static uint32_t pod_class(struct feed *f, int64_t at_ns, const struct world_podset *p)
{
    uint64_t models = mix_models(p);
    struct event e = {.at_ns = at_ns, .kind = EVENT_CLASS};

    for (uint32_t c = 0; c < f->class_count; c++)
        if (f->class_models[c] == models)
            return c;
    if (f->class_count == f->class_limit) {
        f->class_limit = f->class_limit * 2 + 16;
        f->class_models = memory_grow(f->class_models, f->class_limit * sizeof(*f->class_models));
    }
    f->class_models[f->class_count] = models;
    e.class.class_id = f->class_count++;
    e.class.models = models;
    memset(e.class.nodes, 0xFF, sizeof(e.class.nodes));
    driver_event(f->d, &e);
    return e.class.class_id;
}

static void send_podset(struct feed *f, int64_t at_ns, const struct world_podset *p,
                        uint32_t class_id)
{
    struct event e = {.at_ns = at_ns, .kind = EVENT_PODSET};

    e.podset = (struct event_podset){.cpu_milli = p->cpu_milli,
                                     .mem_mib = p->mem_mib,
                                     .required = scope_bits(p->required, p->required_count),
                                     .pods = p->pods,
                                     .pods_min = p->pods_min,
                                     .share_mib = (uint32_t)p->mem_share_mib,
                                     .profile = p->mig == WORLD_NONE ? ROW_NONE : p->mig,
                                     .class_id = class_id,
                                     .slice_pods = p->slice_pods,
                                     .milli = p->gpus && !p->mem_share_mib && p->mig == WORLD_NONE
                                                  ? (uint16_t)p->milli
                                                  : MILLI_FULL,
                                     .gpus = p->gpus,
                                     .slice_scope = feed_scope(p->slice_level),
                                     .way = p->way};
    driver_event(f->d, &e);
}

void feed_job(struct feed *f, int64_t at_ns, const struct world_job *job, uint32_t key)
{
    uint32_t class_id[PODSETS_MAX];
    struct event e = {.at_ns = at_ns, .kind = EVENT_JOB};

    for (uint32_t n = 0; n < job->podset_count && n < PODSETS_MAX; n++)
        class_id[n] = pod_class(f, at_ns, &job->podset[n]);
    e.job = (struct event_job){
        .submit_ns = job->submit_ns,
        .est_ns = job->est_ns,
        .required = scope_bits(job->required, job->required_count),
        .key = key,
        .team = job->team == WORLD_NONE ? ROW_NONE : job->team,
        .priority = job->priority,
        .flags = (uint8_t)((job->share_card ? JOB_SHARES_CARD : 0) |
                           (job->preemptible ? JOB_IS_PREEMPTIBLE : 0)),
        .podset_count = (uint8_t)job->podset_count,
        .restart_ns = job->restart_ns,
        .patience_ns = job->patience_ns,
        .profile = job->profile,
        .exclusive = job->exclusive.scope == SCOPE_NONE ? 0 : feed_scope(job->exclusive)};
    for (unsigned n = 0; n < job->preferred_count && n < 4; n++)
        e.job.preferred[e.job.preferred_count++] = feed_scope(job->preferred[n]);
    driver_event(f->d, &e);
    for (uint32_t n = 0; n < job->podset_count; n++)
        send_podset(f, at_ns, &job->podset[n], class_id[n]);
}

void feed_host(struct feed *f, int64_t at_ns, uint32_t node)
{
    const struct world_node *n = &f->w->node[node];
    struct event e = {.at_ns = at_ns, .kind = EVENT_HOST};

    e.host = (struct event_host){.host = node,
                                 .cpu_milli = capacity(n->cpu_milli),
                                 .mem_mib = capacity(n->mem_mib),
                                 .pods = capacity(n->pods),
                                 .gpu_mem_mib = n->gpu_mem_mib,
                                 .model = (uint8_t)n->model,
                                 .shape = n->shape == WORLD_NONE ? ROW_NONE : n->shape,
                                 .gpus = n->gpus};
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        e.host.extra[x] = UNLIMITED;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        e.host.domain[l] = l < f->w->level_count && n->domain[l] != WORLD_NONE
                               ? f->domain_first[l] + n->domain[l]
                               : ROW_NONE;
    driver_event(f->d, &e);
}

void feed_team(struct feed *f, int64_t at_ns, uint32_t team)
{
    const struct world_team *t = &f->w->team[team];
    struct event e = {.at_ns = at_ns, .kind = EVENT_TEAM};

    e.team = (struct event_team){.team = team,
                                 .parent = t->parent == WORLD_NONE ? ROW_NONE : t->parent,
                                 .weight_micro = t->weight_micro,
                                 .limit_milli = capacity(t->limit_gpu_milli)};
    driver_event(f->d, &e);
}

/* Devices that the world knows by name: an identity stays with the card when indices shift. */
static void send_identities(struct feed *f, uint32_t node)
{
    const struct world_node *n = &f->w->node[node];

    for (unsigned d = 0; n->device && d < n->gpus; d++) {
        struct event e = {.kind = EVENT_UUID};

        if (!n->device[d].uuid && !n->device[d].pci)
            continue;
        e.uuid = (struct event_uuid){node, (uint8_t)d, ++f->identities};
        driver_event(f->d, &e);
    }
}

/* Parents before their children: the core checks that a parent exists. */
static void send_teams(struct feed *f)
{
    uint32_t sent = 0;
    bool *done = memory_zeroed(f->w->team_count + 1);

    while (sent < f->w->team_count)
        for (uint32_t t = 0; t < f->w->team_count; t++) {
            uint32_t parent = f->w->team[t].parent;

            if (done[t] || (parent != WORLD_NONE && !done[parent]))
                continue;
            feed_team(f, 0, t);
            done[t] = true;
            sent++;
        }
    free(done);
}

/* The next larger level of the same chain, or WORLD_NONE. */
static uint32_t level_above(const struct world *w, uint32_t level)
{
    for (uint32_t l = 0; l < w->level_count; l++)
        if (w->level[l].chain == w->level[level].chain &&
            w->level[l].rank == w->level[level].rank + 1)
            return l;
    return WORLD_NONE;
}

static void send_levels(struct feed *f)
{
    const struct world *w = f->w;
    uint32_t next = 0;

    for (uint32_t l = 0; l < w->level_count; l++) {
        struct event e = {.kind = EVENT_LEVEL};

        e.level = (struct event_level){(uint8_t)l, w->level[l].chain, w->level[l].rank};
        driver_event(f->d, &e);
        f->domain_first[l] = next;
        next += w->level[l].domain_count;
    }
    for (uint32_t l = 0; l < w->level_count; l++) {
        uint32_t above = level_above(w, l);
        uint32_t *parent = memory_grow(NULL, (w->level[l].domain_count + 1) * sizeof(*parent));

        memset(parent, 0xFF, (w->level[l].domain_count + 1) * sizeof(*parent));
        for (uint32_t n = 0; n < w->node_count && above != WORLD_NONE; n++)
            if (w->node[n].domain[l] != WORLD_NONE && w->node[n].domain[above] != WORLD_NONE)
                parent[w->node[n].domain[l]] = f->domain_first[above] + w->node[n].domain[above];
        for (uint32_t d = 0; d < w->level[l].domain_count; d++) {
            struct event e = {.kind = EVENT_DOMAIN};

            e.domain = (struct event_domain){f->domain_first[l] + d, (uint8_t)l, parent[d]};
            driver_event(f->d, &e);
        }
        free(parent);
    }
}

static void send_shapes(struct feed *f)
{
    for (uint32_t s = 0; s < f->w->shape_count; s++) {
        const struct world_shape *x = &f->w->shape[s];
        struct event e = {.kind = EVENT_SHAPE};

        e.shape.shape = s;
        e.shape.gpus = x->gpus;
        e.shape.links_known = x->links_known;
        memset(e.shape.part, SHAPE_NO_PART, sizeof(e.shape.part));
        for (unsigned d = 0; d < x->gpus; d++) {
            e.shape.part[SHAPE_ISLAND * GPUS_MAX + d] = x->island_count ? x->island[d] : 0xFF;
            e.shape.part[SHAPE_NUMA * GPUS_MAX + d] = x->numa_count ? x->numa[d] : 0xFF;
            e.shape.part[SHAPE_PCIE * GPUS_MAX + d] = x->pcie_count ? x->pcie[d] : 0xFF;
            for (unsigned other = 0; other < x->gpus; other++)
                e.shape.link[d * GPUS_MAX + other] =
                    x->link[d][other] < UINT16_MAX ? (uint16_t)x->link[d][other] : UINT16_MAX;
        }
        for (unsigned p = 0; p < x->pcie_count; p++)
            e.shape.nics[p] = x->pcie_nics[p];
        driver_event(f->d, &e);
    }
    for (uint32_t g = 0; g < f->w->mig_count; g++)
        for (uint32_t p = 0; p < f->w->mig[g].profile_count; p++) {
            const struct world_profile *x = &f->w->mig[g].profile[p];
            struct event e = {.kind = EVENT_MIG};

            for (uint32_t name = 0; name < f->w->mig_name_count; name++)
                if (strcmp(f->w->mig_name[name], x->name) == 0)
                    e.mig.profile = name;
            e.mig.model = (uint8_t)f->w->mig[g].model;
            e.mig.starts = x->starts;
            e.mig.slots = x->slots;
            e.mig.device_slots = f->w->mig[g].slots;
            driver_event(f->d, &e);
        }
}

static void send_mix(struct feed *f)
{
    struct mix_table *t = mix_open(f->w);
    struct event e = {.kind = EVENT_BALANCE};

    e.balance = (struct event_balance){
        .short_q20 = t->balance.short_q20,
        .spare_q20 = t->balance.spare_q20,
        .starved_micro = t->balance.starved_micro,
        .short_micro = t->balance.short_micro,
        .spare_micro = t->balance.spare_micro,
        .roomy_micro = t->balance.roomy_micro,
    };
    driver_event(f->d, &e);
    for (uint32_t c = 0; c < t->class_count; c++) {
        const struct mix *x = &t->class[c];

        e = (struct event){.kind = EVENT_MIX};
        e.mix = (struct event_mix){.row = c,
                                   .rows = t->class_count,
                                   .cpu_milli = x->cpu_milli,
                                   .models = x->models,
                                   .count = x->count,
                                   .milli = (uint16_t)x->milli,
                                   .gpus = (uint8_t)x->gpus};
        driver_event(f->d, &e);
    }
    for (uint32_t m = 0; m < f->w->model_count; m++) {
        e = (struct event){.kind = EVENT_PRICE};
        e.price = (struct event_price){(uint8_t)m, t->scarce_micro[m]};
        driver_event(f->d, &e);
    }
    for (uint32_t row = 0; row < LOSS_ROWS; row += EVENT_LOSS_ROWS) {
        e = (struct event){.kind = EVENT_LOSS};
        e.loss.row = (uint16_t)row;
        for (uint32_t n = 0; n < EVENT_LOSS_ROWS; n++) {
            e.loss.waste_micro[n] = t->loss[row + n].waste_micro;
            e.loss.broken_micro[n] = t->loss[row + n].broken_micro;
            e.loss.starved_ppm[n] = t->loss[row + n].starved_ppm;
        }
        driver_event(f->d, &e);
    }
    mix_close(t);
}

static uint64_t gang_pods(const struct world_job *job)
{
    uint64_t pods = 0;

    for (uint32_t n = 0; n < job->podset_count; n++)
        pods += job->podset[n].pods;
    return pods;
}

int feed_open(struct feed *f, const struct world *w, struct driver *d,
              const struct feed_options *options, struct err *err)
{
    struct event e = {.kind = EVENT_CONFIG};

    *f = (struct feed){.w = w, .d = d};
    if (w->model_count > MODELS_MAX)
        return err_set(err, ERR_INPUT, "found %u GPU models, expected at most %u in this version",
                       w->model_count, MODELS_MAX);
    for (uint32_t j = 0; j < w->job_count; j++)
        if (w->job[j].podset_count > PODSETS_MAX)
            return err_set(err, ERR_INPUT,
                           "job %s: found %u podsets, expected at most %u in this version",
                           w->job[j].name, w->job[j].podset_count, PODSETS_MAX);
    for (uint32_t j = 0; j < w->job_count; j++)
        if (gang_pods(&w->job[j]) > GANG_PODS_MAX)
            return err_set(
                err, ERR_INPUT, "job %s: found %llu pods, expected at most %u in this version",
                w->job[j].name, (unsigned long long)gang_pods(&w->job[j]), GANG_PODS_MAX);
    e.config = (struct event_config){
        .order = (uint8_t)options->order,
        .scorer = (uint8_t)options->scorer,
        .drop_never = options->drop_never,
        .scan_all = options->scan_all,
        .budget_steps = options->budget_steps ? options->budget_steps : BUDGET_STEPS,
        .seed = options->seed,
        .reserves_max = feed_reserves(options->order),
        .patience_ns = options->patience_ns,
        .inherit_ns = options->inherit_ns,
        .breach_ns = options->breach_ns,
    };
    driver_event(d, &e);
    send_levels(f);
    send_shapes(f);
    send_teams(f);
    for (uint32_t n = 0; n < w->node_count; n++)
        feed_host(f, 0, n);
    for (uint32_t n = 0; n < w->node_count; n++)
        send_identities(f, n);
    send_mix(f);
    return 0;
}

void feed_close(struct feed *f)
{
    free(f->class_models);
    *f = (struct feed){.w = NULL};
}
