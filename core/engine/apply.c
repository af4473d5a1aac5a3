#include "core/engine/apply.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/place/mixed.h"
#include "core/place/score.h"

#define LOSS_MAX   ((int64_t)1 << 40) /* micro-GPU */
#define WEIGHT_MAX ((int64_t)1 << 20) /* micro-GPU per milli-GPU */
#define FED_MAX    ((int64_t)1 << 20) /* a whole GPU per milli-core */
#define ASK_MAX    ((int64_t)1 << 40) /* of any ask: sums of a million pods stay in range */

static bool capacity(int64_t value)
{
    return value >= 0 && value <= UNLIMITED;
}

static bool amount(int64_t value)
{
    return value >= 0 && value <= ASK_MAX;
}

/* Room may have been made, or facts may have changed in the jobs' favour: ask everybody again. */
static void freed(struct model *m)
{
    config_edit(m)->freed_count++;
}

static bool host_exists(const struct model *m, uint32_t host)
{
    return host < model_count(m, TABLE_HOST) && host_row(m, host)->state != HOST_ABSENT;
}

static bool apply_config(struct model *m, const struct event_config *e)
{
    struct config *c;

    if (e->order >= ORDER_COUNT || e->scorer >= SCORER_COUNT || e->drop_never > 1 ||
        e->scan_all > 1 || e->reserves_max > RESERVES_MAX || e->patience_ns < 0 ||
        e->patience_ns > UNLIMITED || e->inherit_ns < 0 || e->inherit_ns > UNLIMITED ||
        e->breach_ns < 0 || e->breach_ns > UNLIMITED)
        return false;
    c = config_edit(m);
    c->reserves_max = e->reserves_max;
    c->patience_ns = e->patience_ns;
    c->inherit_ns = e->inherit_ns;
    c->breach_ns = e->breach_ns;
    c->order = e->order;
    c->scorer = e->scorer;
    c->drop_never = e->drop_never;
    c->scan_all = e->scan_all;
    c->budget_steps = e->budget_steps;
    c->seed = e->seed;
    freed(m);
    index_requeue(m);
    return true;
}

static bool apply_level(struct model *m, const struct event_level *e)
{
    if (e->level >= LEVELS_MAX)
        return false;
    model_reach(m, TABLE_LEVEL, e->level);
    *(struct level *)model_edit(m, TABLE_LEVEL, e->level) =
        (struct level){.used = 1, .chain = e->chain, .rank = e->rank};
    return true;
}

static bool apply_domain(struct model *m, const struct event_domain *e)
{
    if (e->level >= LEVELS_MAX || e->domain >= EDGE_IDS_MAX ||
        (e->parent != ROW_NONE && e->parent >= EDGE_IDS_MAX))
        return false;
    if (e->domain < model_count(m, TABLE_DOMAIN) && domain_row(m, e->domain)->used &&
        domain_row(m, e->domain)->level != e->level)
        return false; /* hosts may stand in it */
    model_reach(m, TABLE_DOMAIN, e->domain);
    *(struct domain *)model_edit(m, TABLE_DOMAIN, e->domain) =
        (struct domain){.used = 1, .level = e->level, .parent = e->parent};
    index_stale(m);
    return true;
}

static bool apply_shape(struct model *m, const struct event_shape *e)
{
    struct shape_row row = {.used = 1};

    if (e->gpus > GPUS_MAX || e->shape >= EDGE_IDS_MAX)
        return false;
    if (e->shape < model_count(m, TABLE_SHAPE) && shape_row(m, e->shape)->used &&
        shape_row(m, e->shape)->shape.gpus != e->gpus)
        return false; /* hosts may have it */
    row.shape.gpus = e->gpus;
    row.shape.links_known = e->links_known;
    memcpy(row.shape.part, e->part, sizeof(row.shape.part));
    memcpy(row.shape.nics, e->nics, sizeof(row.shape.nics));
    memcpy(row.shape.link, e->link, sizeof(row.shape.link));
    if (!shape_valid(&row.shape))
        return false;
    model_reach(m, TABLE_SHAPE, e->shape);
    memcpy(model_edit(m, TABLE_SHAPE, e->shape), &row, sizeof(row));
    freed(m);
    return true;
}

static bool apply_mig(struct model *m, const struct event_mig *e)
{
    uint32_t id;

    if (e->model >= MODELS_MAX || e->slots == 0 || e->device_slots > 32 ||
        e->slots > e->device_slots || host_mig(m, e->profile, e->model))
        return false;
    id = model_add(m, TABLE_MIG);
    *(struct mig *)model_edit(m, TABLE_MIG, id) = (struct mig){.profile = e->profile,
                                                               .model = e->model,
                                                               .starts = e->starts,
                                                               .slots = e->slots,
                                                               .device_slots = e->device_slots};
    return true;
}

static bool apply_class(struct model *m, const struct event_class *e)
{
    struct class_row *c;

    if (e->class_id >= EDGE_IDS_MAX)
        return false;
    model_reach(m, TABLE_CLASS, e->class_id);
    c = model_edit(m, TABLE_CLASS, e->class_id);
    c->models = e->models;
    memcpy(c->nodes, e->nodes, sizeof(c->nodes));
    freed(m);
    return true;
}

static bool apply_mix(struct model *m, const struct event_mix *e)
{
    struct mix *x;

    if (e->row >= e->rows || e->rows > MIX_ROWS_MAX || e->milli > MILLI_FULL ||
        e->gpus > GPUS_MAX || e->count > 1u << 24 || !amount(e->cpu_milli))
        return false;
    model_reach(m, TABLE_MIX, e->rows - 1);
    x = model_edit(m, TABLE_MIX, e->row);
    config_edit(m)->mix_total += e->count - x->count;
    *x = (struct mix){.cpu_milli = e->cpu_milli,
                      .models = e->models,
                      .count = e->count,
                      .milli = e->milli,
                      .gpus = e->gpus};
    return true;
}

static bool apply_price(struct model *m, const struct event_price *e)
{
    struct price *p;

    if (e->model >= MODELS_MAX || e->scarce_micro > LOSS_MAX || e->scarce_micro < -LOSS_MAX)
        return false;
    model_reach(m, TABLE_PRICE, e->model);
    p = model_edit(m, TABLE_PRICE, e->model);
    p->scarce_micro = e->scarce_micro;
    return true;
}

static bool apply_loss(struct model *m, const struct event_loss *e)
{
    for (unsigned n = 0; n < EVENT_LOSS_ROWS; n++)
        if (e->waste_micro[n] > LOSS_MAX || e->waste_micro[n] < -LOSS_MAX ||
            e->broken_micro[n] > LOSS_MAX || e->broken_micro[n] < -LOSS_MAX ||
            e->starved_ppm[n] < 0 || e->starved_ppm[n] > 1000000)
            return false;
    if (e->row + EVENT_LOSS_ROWS > LOSS_ROWS)
        return false;
    model_reach(m, TABLE_LOSS, LOSS_ROWS - 1);
    for (unsigned n = 0; n < EVENT_LOSS_ROWS; n++)
        *(struct loss *)model_edit(m, TABLE_LOSS, e->row + n) =
            (struct loss){e->waste_micro[n], e->broken_micro[n], e->starved_ppm[n]};
    return true;
}

static bool apply_balance(struct model *m, const struct event_balance *e)
{
    struct balance b = {.short_q20 = e->short_q20,
                        .spare_q20 = e->spare_q20,
                        .starved_micro = e->starved_micro,
                        .short_micro = e->short_micro,
                        .spare_micro = e->spare_micro,
                        .roomy_micro = e->roomy_micro};

    /* Bounds that keep every product of the scorer inside 63 bits. */
    if (b.short_q20 < 0 || b.short_q20 > FED_MAX || b.spare_q20 < 0 || b.spare_q20 > FED_MAX ||
        b.starved_micro < 0 || b.starved_micro > WEIGHT_MAX || b.short_micro < 0 ||
        b.short_micro > WEIGHT_MAX || b.spare_micro < 0 || b.spare_micro > WEIGHT_MAX ||
        b.roomy_micro < 0 || b.roomy_micro > WEIGHT_MAX)
        return false;
    model_reach(m, TABLE_BALANCE, 0);
    *(struct balance *)model_edit(m, TABLE_BALANCE, 0) = b;
    return true;
}

static bool apply_team(struct model *m, const struct event_team *e)
{
    if (e->team >= EDGE_IDS_MAX || e->limit_milli < 0)
        return false;
    for (uint32_t t = e->parent; t != ROW_NONE; t = team_row(m, t)->parent)
        if (t == e->team || t >= model_count(m, TABLE_TEAM) || !team_row(m, t)->used)
            return false;
    team_put(m, e->team, e->parent, e->weight_micro, e->limit_milli);
    freed(m);
    return true;
}

static bool apply_host(struct model *m, const struct event_host *e)
{
    struct host_spec spec = {.cpu_milli = e->cpu_milli,
                             .mem_mib = e->mem_mib,
                             .pods = e->pods,
                             .gpu_mem_mib = e->gpu_mem_mib,
                             .class_id = e->class_id,
                             .model = e->model,
                             .shape = e->shape,
                             .gpus = e->gpus};

    memcpy(spec.extra, e->extra, sizeof(spec.extra));
    memcpy(spec.domain, e->domain, sizeof(spec.domain));
    if (e->host >= EDGE_IDS_MAX || e->gpus > GPUS_MAX || e->model >= MODELS_MAX ||
        !capacity(e->cpu_milli) || !capacity(e->mem_mib) || !capacity(e->pods) ||
        e->gpu_mem_mib < 0 || e->gpu_mem_mib > INT32_MAX)
        return false;
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        if (!capacity(e->extra[x]))
            return false;
    if (e->shape != ROW_NONE &&
        (e->shape >= model_count(m, TABLE_SHAPE) || shape_row(m, e->shape)->shape.gpus != e->gpus))
        return false;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (e->domain[l] != ROW_NONE &&
            (e->domain[l] >= model_count(m, TABLE_DOMAIN) || !domain_row(m, e->domain[l])->used ||
             domain_row(m, e->domain[l])->level != l))
            return false;
    if (host_exists(m, e->host))
        for (uint32_t s = host_row(m, e->host)->seat_head; s != ROW_NONE;
             s = seat_row(m, s)->next_of_host)
            if (seat_row(m, s)->devices >> e->gpus ||
                (podset_row(m, seat_row(m, s)->podset)->profile != ROW_NONE &&
                 kind_row(m, host_row(m, e->host)->kind)->model != e->model))
                return false; /* what runs would sit on devices that are no more */
    host_put(m, e->host, &spec);
    freed(m);
    return true;
}

static bool apply_host_gone(struct model *m, const struct event_host_gone *e)
{
    if (!host_exists(m, e->host) || host_row(m, e->host)->seat_head != ROW_NONE)
        return false;
    host_remove(m, e->host);
    return true;
}

static bool apply_host_state(struct model *m, const struct event_host_state *e)
{
    if (!host_exists(m, e->host) || e->state <= HOST_ABSENT || e->state > HOST_DOWN)
        return false;
    host_set_state(m, e->host, (enum host_state)e->state);
    freed(m);
    return true;
}

static bool apply_host_leave(struct model *m, const struct event_host_leave *e)
{
    if (!host_exists(m, e->host))
        return false;
    host_set_leave(m, e->host, e->leave_at_ns);
    freed(m);
    return true;
}

static bool apply_device(struct model *m, const struct event_device *e)
{
    if (!host_exists(m, e->host) || e->device >= host_row(m, e->host)->gpus ||
        e->state > DEVICE_DOWN)
        return false;
    host_set_device(m, e->host, e->device, (enum device_state)e->state);
    freed(m);
    return true;
}

static bool apply_uuid(struct model *m, const struct event_uuid *e)
{
    if (!host_exists(m, e->host) || e->device >= host_row(m, e->host)->gpus)
        return false;
    host_set_uuid(m, e->host, e->device, e->uuid);
    return true;
}

static bool podset_good(const struct model *m, const struct event_podset *p)
{
    if (p->pods == 0 || p->pods > GANG_PODS_MAX || p->pods_min > p->pods || p->gpus > GPUS_MAX ||
        p->class_id >= model_count(m, TABLE_CLASS) || !amount(p->cpu_milli) ||
        !amount(p->mem_mib) || p->slice_pods > p->pods || p->slice_scope >= SCOPE_COUNT ||
        p->required >> SCOPE_COUNT || p->share_mib > INT32_MAX)
        return false;
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        if (!amount(p->extra[x]))
            return false;
    if (p->milli == 0 || p->milli > MILLI_FULL)
        return false;
    /* A part of a device is asked in one way, and by pods of one device. */
    if (p->milli < MILLI_FULL || p->share_mib || p->profile != ROW_NONE)
        return p->gpus == 1 &&
               (p->milli < MILLI_FULL) + (p->share_mib > 0) + (p->profile != ROW_NONE) == 1;
    return true;
}

static bool apply_job(struct model *m, const struct event_job *e, struct wire_in *rest)
{
    struct job_spec spec; /* large: only the podsets that come are filled */
    bool good = e->podset_count > 0 && e->podset_count <= PODSETS_MAX && e->preferred_count <= 4 &&
                !(e->required >> SCOPE_COUNT) && e->est_ns >= -1 && e->est_ns <= UNLIMITED &&
                e->restart_ns >= 0 && e->restart_ns <= UNLIMITED && e->patience_ns >= -1 &&
                e->patience_ns <= UNLIMITED && e->profile < COMM_COUNT &&
                (e->exclusive == 0 ||
                 (e->exclusive >= SCOPE_OF_HOST && e->exclusive < SCOPE_OF_CLUSTER)) &&
                capacity(e->submit_ns) && index_job_find(m, e->key) == ROW_NONE;
    uint64_t pods = 0, least = 0;

    good &=
        e->team == ROW_NONE || (e->team < model_count(m, TABLE_TEAM) && team_row(m, e->team)->used);
    spec.submit_ns = e->submit_ns;
    spec.est_ns = e->est_ns;
    spec.restart_ns = e->restart_ns;
    spec.patience_ns = e->patience_ns;
    spec.profile = e->profile;
    spec.exclusive = e->exclusive;
    spec.required = e->required;
    spec.key = e->key;
    spec.team = e->team;
    spec.priority = e->priority;
    spec.flags = e->flags;
    spec.preferred_count = e->preferred_count;
    spec.podset_count = e->podset_count;
    memcpy(spec.preferred, e->preferred, sizeof(spec.preferred));
    for (unsigned n = 0; n < spec.preferred_count && good; n++)
        good = spec.preferred[n] < SCOPE_COUNT;
    for (unsigned n = 0; n < e->podset_count; n++) {
        struct wire_in before = *rest;
        struct event next;
        const struct event_podset *p = &next.podset;

        if (!event_get(rest, &next) || next.kind != EVENT_PODSET || n >= PODSETS_MAX) {
            *rest = before; /* what came instead is an event of its own */
            return false;
        }
        good &= podset_good(m, p);
        pods += p->pods;
        least += p->pods_min;
        spec.podset[n] = (struct podset_spec){.cpu_milli = p->cpu_milli,
                                              .mem_mib = p->mem_mib,
                                              .required = p->required,
                                              .pods = p->pods,
                                              .pods_min = p->pods_min,
                                              .share_mib = p->share_mib,
                                              .profile = p->profile,
                                              .class_id = p->class_id,
                                              .slice_pods = p->slice_pods,
                                              .milli = p->milli,
                                              .gpus = p->gpus,
                                              .slice_scope = p->slice_scope};
        memcpy(spec.podset[n].extra, p->extra, sizeof(p->extra));
    }
    if (!good || pods > GANG_PODS_MAX || config_row(m)->waiting_pods + pods > PODS_WAITING_MAX)
        return false;
    if (least == 0)
        spec.podset[0].pods_min = 1; /* a gang of nothing is no gang */
    job_add(m, &spec);
    return true;
}

static bool apply_job_set(struct model *m, const struct event_job_set *e)
{
    uint32_t id = index_job_find(m, e->key);
    struct job *j;

    if (id == ROW_NONE || e->est_ns < -1 || e->est_ns > UNLIMITED)
        return false;
    j = model_edit(m, TABLE_JOB, id);
    j->priority = e->priority;
    j->est_ns = e->est_ns;
    index_sync_job(m, id);
    freed(m);
    return true;
}

/* A seat that somebody else chose: it must be possible, or the books would break. */
static bool seat_possible(const struct model *m, const struct podset *p, uint32_t host,
                          uint16_t devices, uint8_t slot)
{
    const struct host *h = host_row(m, host);
    const struct board *b = board_row(m, host);

    if (devices == 0)
        return p->gpus == 0 || (!podset_is_share(p) && h->unknown_gpus + p->gpus <= h->gpus);
    if (bits_count16(devices) != p->gpus || devices >> h->gpus)
        return false;
    for (uint16_t d = devices; d; d = (uint16_t)bits_drop_low(d)) {
        unsigned device = bits_low(d);

        if (p->profile != ROW_NONE) {
            const struct mig *g = host_mig(m, p->profile, kind_row(m, h->kind)->model);

            if (!g || slot + g->slots > g->device_slots || b->share_milli[device] ||
                b->share_mib[device] ||
                (b->mig_slots[device] & (uint32_t)bits_first(g->slots) << slot))
                return false;
        } else if (b->mig_slots[device] || b->share_milli[device] + p->milli > MILLI_FULL * 2 ||
                   (!podset_is_share(p) && b->sharers[device])) {
            return false;
        } else if (podset_is_share(p) && !host_share_room(m, host, device, p)) {
            return false;
        }
    }
    return true;
}

static uint32_t nth_podset(const struct model *m, uint32_t job, uint32_t n)
{
    uint32_t p = job_row(m, job)->podset_head;

    while (p != ROW_NONE && n-- > 0)
        p = podset_row(m, p)->next;
    return p;
}

/* Is this one of the podset's numbers, counted through the gang? */
static bool in_podset(const struct model *m, uint32_t job, uint32_t podset, uint32_t pod)
{
    uint32_t first = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != podset; p = podset_row(m, p)->next)
        first += podset_row(m, p)->pods;
    return pod >= first && pod - first < podset_row(m, podset)->pods;
}

static bool apply_seat(struct model *m, const struct event_seat *e)
{
    uint32_t job = index_job_find(m, e->key), podset;

    if (job == ROW_NONE || job_row(m, job)->state != JOB_WAITING || !host_exists(m, e->host) ||
        e->pod >= job_row(m, job)->pods)
        return false;
    podset = nth_podset(m, job, e->podset);
    if (podset == ROW_NONE || !in_podset(m, job, podset, e->pod) ||
        !seat_possible(m, podset_row(m, podset), e->host, e->devices, e->slot))
        return false;
    for (uint32_t s = job_row(m, job)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job)
        if (seat_row(m, s)->pod == e->pod)
            return false;
    host_take(m, e->host, job, podset, e->pod, e->devices, e->slot,
              e->devices || podset_row(m, podset)->gpus == 0 ? GRADE_KNOWN : GRADE_UNKNOWN);
    return true;
}

static bool apply_seated(struct model *m, const struct event_seated *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE || job_row(m, job)->state != JOB_WAITING ||
        job_row(m, job)->seat_head == ROW_NONE)
        return false;
    job_run(m, job);
    job_resized(m, job); /* a list may tell of fewer pods than it must have */
    return true;
}

static bool apply_confirm(struct model *m, const struct event_confirm *e)
{
    uint32_t job = index_job_find(m, e->key), seat;
    const struct seat *s;
    bool possible;

    if (job == ROW_NONE)
        return false;
    seat = job_row(m, job)->seat_head;
    while (seat != ROW_NONE && seat_row(m, seat)->pod != e->pod)
        seat = seat_row(m, seat)->next_of_job;
    if (seat == ROW_NONE)
        return false;
    s = seat_row(m, seat);
    if (e->devices == 0 && podset_row(m, s->podset)->gpus > 0)
        return false; /* that is no place */
    model_begin(m);
    host_lift(m, seat);
    possible = seat_possible(m, podset_row(m, s->podset), s->host, e->devices, s->slot);
    if (!possible) {
        model_rollback(m);
        return false;
    }
    host_confirm(m, seat, e->devices);
    model_commit(m);
    freed(m);
    return true;
}

static bool apply_stop(struct model *m, const struct event_stop *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE || job_row(m, job)->seat_head == ROW_NONE || e->keeps_room > 1)
        return false;
    if (e->keeps_room && config_row(m)->inherit_ns > 0 && job_row(m, job)->state == JOB_RUNNING)
        job_stop_keeping(m, job, config_row(m)->now_ns + config_row(m)->inherit_ns);
    else
        job_stop(m, job);
    freed(m);
    return true;
}

/* The pod's podset, or ROW_NONE. */
static uint32_t podset_of_pod(const struct model *m, uint32_t job, uint32_t pod)
{
    uint32_t p = job_row(m, job)->podset_head;

    while (p != ROW_NONE && !in_podset(m, job, p, pod))
        p = podset_row(m, p)->next;
    return p;
}

/* A pod that has no seat: a list tells that it is done, or somebody made it anew. */
static bool pod_without_seat(struct model *m, uint32_t job, uint32_t pod, enum fate fate)
{
    uint32_t podset = podset_of_pod(m, job, pod);
    bool listed = job_pod_done(m, job, pod);

    if (podset == ROW_NONE || (fate == POD_WAITS && !listed) ||
        (fate != POD_WAITS && job_row(m, job)->done_pods + 1u >= job_row(m, job)->pods + listed))
        return false; /* the end of all pods is the job's */
    job_pod_fate(m, job, podset, pod, fate);
    if (job_row(m, job)->state == JOB_RUNNING)
        job_resized(m, job);
    freed(m);
    return true;
}

static bool apply_pod_gone(struct model *m, const struct event_pod_gone *e)
{
    uint32_t job = index_job_find(m, e->key), seat;

    if (job == ROW_NONE || e->done >= FATE_COUNT)
        return false;
    seat = job_row(m, job)->seat_head;
    while (seat != ROW_NONE && seat_row(m, seat)->pod != e->pod)
        seat = seat_row(m, seat)->next_of_job;
    if (seat == ROW_NONE)
        return pod_without_seat(m, job, e->pod, (enum fate)e->done);
    /* The last pod's end is the run's: the edge tells it as such. */
    if (job_row(m, job)->state != JOB_RUNNING ||
        seat_row(m, job_row(m, job)->seat_head)->next_of_job == ROW_NONE)
        return false;
    job_pod_gone(m, job, seat, (enum fate)e->done);
    freed(m);
    return true;
}

static bool apply_tick(struct model *m, const struct event_tick *e)
{
    if (e->wake > WAKE_BREACH)
        return false;
    freed(m);
    return true;
}

static bool apply_end(struct model *m, const struct event_end *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE)
        return false;
    if (job_row(m, job)->seat_head != ROW_NONE || job_row(m, job)->hold_head != ROW_NONE)
        freed(m);
    job_remove(m, job);
    return true;
}

static bool apply_kind(struct model *m, const struct event *e, struct wire_in *rest)
{
    switch (e->kind) {
    case EVENT_JOB:
        return apply_job(m, &e->job, rest);
#define APPLY_CASE(KIND, name)                                                                     \
    case EVENT_##KIND:                                                                             \
        return apply_##name(m, &e->name);
        APPLY_CASE(CONFIG, config)
        APPLY_CASE(LEVEL, level)
        APPLY_CASE(DOMAIN, domain)
        APPLY_CASE(SHAPE, shape)
        APPLY_CASE(MIG, mig)
        APPLY_CASE(CLASS, class)
        APPLY_CASE(MIX, mix)
        APPLY_CASE(PRICE, price)
        APPLY_CASE(LOSS, loss)
        APPLY_CASE(BALANCE, balance)
        APPLY_CASE(TEAM, team)
        APPLY_CASE(HOST, host)
        APPLY_CASE(HOST_GONE, host_gone)
        APPLY_CASE(HOST_STATE, host_state)
        APPLY_CASE(HOST_LEAVE, host_leave)
        APPLY_CASE(DEVICE, device)
        APPLY_CASE(UUID, uuid)
        APPLY_CASE(JOB_SET, job_set)
        APPLY_CASE(SEAT, seat)
        APPLY_CASE(SEATED, seated)
        APPLY_CASE(CONFIRM, confirm)
        APPLY_CASE(STOP, stop)
        APPLY_CASE(POD_GONE, pod_gone)
        APPLY_CASE(END, end)
        APPLY_CASE(TICK, tick)
    case EVENT_PODSET: /* without a job before it */
    case EVENT_COUNT:
        return false;
    }
    return false;
}

bool apply_event(struct model *m, const struct event *e, struct wire_in *rest)
{
    struct config *c;
    bool done;

    model_begin(m);
    c = config_edit(m);
    c->event_count++;
    if (e->at_ns > c->now_ns)
        c->now_ns = e->at_ns;
    done = apply_kind(m, e, rest);
    if (!done)
        config_edit(m)->ignored_count++;
    model_commit(m);
    return done;
}
