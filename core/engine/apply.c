#include "core/engine/apply.h"

#include <string.h>

#include "core/engine/apply_parts.h"
#include "core/model/index.h"
#include "core/place/score.h"

#define LOSS_MAX   ((int64_t)1 << 40) /* micro-GPU */
#define WEIGHT_MAX ((int64_t)1 << 20) /* micro-GPU per milli-GPU */
#define FED_MAX    ((int64_t)1 << 20) /* a whole GPU per milli-core */

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
    note_freed(m);
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
    note_freed(m);
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
    note_freed(m);
    return true;
}

static bool apply_mix(struct model *m, const struct event_mix *e)
{
    struct mix *x;

    if (e->row >= e->rows || e->rows > MIX_ROWS_MAX || e->milli > MILLI_FULL ||
        e->gpus > GPUS_MAX || e->count > 1u << 24 ||
        !(e->cpu_milli >= 0 && e->cpu_milli <= ASK_MAX))
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
    note_freed(m);
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
        !is_capacity(e->cpu_milli) || !is_capacity(e->mem_mib) || !is_capacity(e->pods) ||
        e->gpu_mem_mib < 0 || e->gpu_mem_mib > INT32_MAX)
        return false;
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        if (!is_capacity(e->extra[x]))
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
    /* Room that was found by its labels may be in the wrong domain now. */
    if (host_exists(m, e->host) &&
        memcmp(board_row(m, e->host)->domain, e->domain, sizeof(e->domain)) != 0)
        job_lose_kept(m, e->host);
    host_put(m, e->host, &spec);
    note_freed(m);
    return true;
}

static bool apply_host_gone(struct model *m, const struct event_host_gone *e)
{
    if (!host_exists(m, e->host) || host_row(m, e->host)->seat_head != ROW_NONE)
        return false;
    if (job_lose_kept(m, e->host))
        note_freed(m); /* whose room it was is asked again */
    host_remove(m, e->host);
    return true;
}

static bool apply_host_state(struct model *m, const struct event_host_state *e)
{
    if (!host_exists(m, e->host) || e->state <= HOST_ABSENT || e->state > HOST_DOWN)
        return false;
    host_set_state(m, e->host, (enum host_state)e->state);
    note_freed(m);
    return true;
}

static bool apply_host_leave(struct model *m, const struct event_host_leave *e)
{
    if (!host_exists(m, e->host))
        return false;
    host_set_leave(m, e->host, e->leave_at_ns);
    note_freed(m);
    return true;
}

static bool apply_device(struct model *m, const struct event_device *e)
{
    if (!host_exists(m, e->host) || e->device >= host_row(m, e->host)->gpus ||
        e->state > DEVICE_DOWN)
        return false;
    host_set_device(m, e->host, e->device, (enum device_state)e->state);
    note_freed(m);
    return true;
}

static bool apply_uuid(struct model *m, const struct event_uuid *e)
{
    if (!host_exists(m, e->host) || e->device >= host_row(m, e->host)->gpus)
        return false;
    host_set_uuid(m, e->host, e->device, e->uuid);
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
