#include "core/model/host.h"

#include <string.h>

#include "core/base/must.h"
#include "core/model/index.h"

static uint32_t kind_of(struct model *m, const struct host_spec *spec)
{
    struct kind want = {.cpu_milli = spec->cpu_milli,
                        .mem_mib = spec->mem_mib,
                        .pods = spec->pods,
                        .gpu_mem_mib = spec->gpu_mem_mib,
                        .model = spec->model,
                        .class_id = spec->class_id,
                        .shape = spec->shape,
                        .gpus = spec->gpus};
    uint32_t kinds = model_count(m, TABLE_KIND);

    memcpy(want.extra, spec->extra, sizeof(want.extra));
    for (uint32_t k = kinds; k-- > 0;) /* the newest first: hosts come in rows of one kind */
        if (memcmp(kind_row(m, k), &want, sizeof(want)) == 0)
            return k;

    uint32_t id = model_add(m, TABLE_KIND);

    memcpy(model_edit(m, TABLE_KIND, id), &want, sizeof(want));
    return id;
}

/* What is left of a device, rounded down to a milli. */
static uint16_t device_free(const struct kind *k, const struct host *h, const struct board *b,
                            unsigned d)
{
    int64_t mib = k->gpu_mem_mib;
    int64_t rest = MILLI_FULL - b->share_milli[d];

    if (!(h->healthy >> d & 1) || b->mig_slots[d])
        return 0;
    if (b->share_mib[d] && mib <= 0)
        return 0; /* its size was taken back while shares of it are held */
    if (b->share_mib[d])
        rest = (mib * rest - (int64_t)MILLI_FULL * b->share_mib[d]) / mib;
    return rest > 0 ? (uint16_t)rest : 0;
}

static void device_refresh(const struct kind *k, struct host *h, const struct board *b, unsigned d)
{
    uint16_t bit = (uint16_t)(1u << d);
    bool whole = (h->healthy & bit) && b->sharers[d] == 0;

    h->free_milli[d] = device_free(k, h, b, d);
    h->whole = whole ? h->whole | bit : h->whole & (uint16_t)~bit;
}

static void seat_count(struct model *m, struct host *h, const struct seat *s, int sign)
{
    const struct podset *ask = podset_row(m, s->podset);

    h->cpu_free_milli -= sign * ask->cpu_milli;
    h->mem_free_mib -= sign * ask->mem_mib;
    h->pods_free -= sign;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        h->extra_free[e] -= sign * ask->extra[e];
    if (s->grade == GRADE_UNKNOWN)
        h->unknown_gpus = (uint8_t)(h->unknown_gpus + sign * ask->gpus);
}

static void unknown_count(struct model *m, const struct seat *s, uint32_t one)
{
    if (s->grade == GRADE_UNKNOWN)
        config_edit(m)->unknown_seats += one;
}

void host_put(struct model *m, uint32_t host, const struct host_spec *spec)
{
    must(spec->gpus <= GPUS_MAX && spec->model < MODELS_MAX && spec->class_id < CLASSES_MAX);

    uint32_t before = model_count(m, TABLE_HOST);

    model_reach(m, TABLE_HOST, host);
    model_reach(m, TABLE_BOARD, host);
    for (uint32_t n = before; n < model_count(m, TABLE_HOST); n++) {
        memset(((struct board *)model_edit(m, TABLE_BOARD, n))->domain, 0xFF, sizeof(spec->domain));
        ((struct host *)model_edit(m, TABLE_HOST, n))->seat_head = ROW_NONE;
    }

    struct host *h = model_edit(m, TABLE_HOST, host);
    struct board *b = model_edit(m, TABLE_BOARD, host);
    uint32_t kind = kind_of(m, spec);
    const struct kind *k = kind_row(m, kind);

    if (h->state == HOST_ABSENT) {
        h->state = HOST_UP;
        h->seat_head = ROW_NONE;
        h->leave_at_ns = INT64_MAX;
    }
    for (unsigned d = h->gpus; d < spec->gpus; d++)
        h->healthy |= (uint16_t)(1u << d);
    h->healthy &= (uint16_t)((1u << spec->gpus) - 1);
    h->gpus = (uint8_t)spec->gpus;
    h->kind = kind;
    memcpy(b->domain, spec->domain, sizeof(b->domain));
    h->cpu_free_milli = spec->cpu_milli;
    h->mem_free_mib = spec->mem_mib;
    h->pods_free = spec->pods;
    memcpy(h->extra_free, spec->extra, sizeof(h->extra_free));
    h->unknown_gpus = 0;
    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host)
        seat_count(m, h, seat_row(m, s), 1);
    for (unsigned d = 0; d < GPUS_MAX; d++)
        device_refresh(k, h, b, d);
    index_stale(m);
}

void host_remove(struct model *m, uint32_t host)
{
    struct host *h = model_edit(m, TABLE_HOST, host);
    struct board *b = model_edit(m, TABLE_BOARD, host);

    must(h->seat_head == ROW_NONE);
    config_edit(m)->leaving_hosts -= h->leave_at_ns != INT64_MAX;
    memset(h, 0, sizeof(*h));
    h->seat_head = ROW_NONE; /* who walks the seats of a host that is gone finds none */
    memset(b, 0, sizeof(*b));
    memset(b->domain, 0xFF, sizeof(b->domain));
    index_stale(m);
}

void host_set_state(struct model *m, uint32_t host, enum host_state state)
{
    struct host *h = model_edit(m, TABLE_HOST, host);

    must(h->state != HOST_ABSENT && state != HOST_ABSENT);
    h->state = (uint8_t)state;
    index_sync_host(m, host);
}

void host_set_leave(struct model *m, uint32_t host, int64_t leave_at_ns)
{
    struct host *h = model_edit(m, TABLE_HOST, host);

    config_edit(m)->leaving_hosts +=
        (uint32_t)(leave_at_ns != INT64_MAX) - (uint32_t)(h->leave_at_ns != INT64_MAX);
    h->leave_at_ns = leave_at_ns;
}

void host_set_device(struct model *m, uint32_t host, unsigned device, enum device_state state)
{
    struct host *h = model_edit(m, TABLE_HOST, host);
    uint16_t bit = (uint16_t)(1u << device);

    must(device < h->gpus);
    h->healthy = state == DEVICE_UP ? h->healthy | bit : h->healthy & (uint16_t)~bit;
    device_refresh(kind_row(m, h->kind), h, board_row(m, host), device);
    index_sync_host(m, host);
}

void host_set_uuid(struct model *m, uint32_t host, unsigned device, uint32_t uuid)
{
    struct board *b = model_edit(m, TABLE_BOARD, host);

    must(device < host_row(m, host)->gpus);
    b->uuid[device] = uuid;
}

const struct mig *host_mig(const struct model *m, uint32_t profile, uint32_t model)
{
    for (uint32_t g = 0; g < model_count(m, TABLE_MIG); g++)
        if (mig_row(m, g)->profile == profile && mig_row(m, g)->model == model)
            return mig_row(m, g);
    return 0;
}

int host_mig_slot(const struct mig *mig, uint32_t used)
{
    uint32_t run = mig->slots >= 32 ? UINT32_MAX : (1u << mig->slots) - 1;

    for (int slot = 0; slot + (int)mig->slots <= (int)mig->device_slots; slot++)
        if ((mig->starts >> slot & 1) && !(used & run << slot))
            return slot;
    return -1;
}

/* Puts the seat's hold on its devices, or takes it off. */
static void devices_hold(struct model *m, const struct seat *s, int sign)
{
    struct host *h = model_edit(m, TABLE_HOST, s->host);
    struct board *b = model_edit(m, TABLE_BOARD, s->host);
    const struct podset *ask = podset_row(m, s->podset);
    const struct kind *k = kind_row(m, h->kind);

    for (unsigned d = 0; d < GPUS_MAX; d++) {
        if (!(s->devices >> d & 1))
            continue;
        must(sign > 0 || b->sharers[d] > 0);
        b->sharers[d] = (uint8_t)(b->sharers[d] + sign);
        if (ask->profile != ROW_NONE) {
            const struct mig *g = host_mig(m, ask->profile, k->model);

            must(g != 0);
            uint32_t run = (uint32_t)(((uint64_t)1 << g->slots) - 1) << s->slot;

            must(sign > 0 ? !(b->mig_slots[d] & run) : (b->mig_slots[d] & run) == run);
            b->mig_slots[d] ^= run;
        } else if (ask->share_mib) {
            b->share_mib[d] = (uint32_t)(b->share_mib[d] + sign * (int64_t)ask->share_mib);
        } else {
            b->share_milli[d] = (uint16_t)(b->share_milli[d] + sign * ask->milli);
        }
        device_refresh(k, h, b, d);
    }
}

uint32_t host_take(struct model *m, uint32_t host, uint32_t job, uint32_t podset, uint32_t pod,
                   uint16_t devices, uint8_t slot, enum grade grade)
{
    uint32_t id = model_add(m, TABLE_SEAT);
    struct seat *s = model_edit(m, TABLE_SEAT, id);
    struct host *h = model_edit(m, TABLE_HOST, host);
    struct job *j = model_edit(m, TABLE_JOB, job);

    *s = (struct seat){.job = job,
                       .podset = podset,
                       .host = host,
                       .pod = pod,
                       .next_of_job = j->seat_head,
                       .next_of_host = h->seat_head,
                       .prev_of_host = ROW_NONE,
                       .devices = devices,
                       .slot = slot,
                       .grade = (uint8_t)grade};
    if (h->seat_head != ROW_NONE)
        ((struct seat *)model_edit(m, TABLE_SEAT, h->seat_head))->prev_of_host = id;
    h->seat_head = id;
    j->seat_head = id;
    seat_count(m, h, s, 1);
    unknown_count(m, s, 1);
    devices_hold(m, s, 1);
    index_sync_host(m, host);
    return id;
}

static void unlink_from_host(struct model *m, uint32_t seat)
{
    const struct seat *s = seat_row(m, seat);

    if (s->next_of_host != ROW_NONE)
        ((struct seat *)model_edit(m, TABLE_SEAT, s->next_of_host))->prev_of_host = s->prev_of_host;
    if (s->prev_of_host != ROW_NONE)
        ((struct seat *)model_edit(m, TABLE_SEAT, s->prev_of_host))->next_of_host = s->next_of_host;
    else
        ((struct host *)model_edit(m, TABLE_HOST, s->host))->seat_head = s->next_of_host;
}

static void unlink_from_job(struct model *m, uint32_t seat)
{
    const struct seat *s = seat_row(m, seat);
    uint32_t before = job_row(m, s->job)->seat_head;

    if (before == seat) {
        ((struct job *)model_edit(m, TABLE_JOB, s->job))->seat_head = s->next_of_job;
        return;
    }
    while (seat_row(m, before)->next_of_job != seat) {
        before = seat_row(m, before)->next_of_job;
        must(before != ROW_NONE);
    }
    ((struct seat *)model_edit(m, TABLE_SEAT, before))->next_of_job = s->next_of_job;
}

void host_give(struct model *m, uint32_t seat)
{
    const struct seat *s = seat_row(m, seat);
    uint32_t host = s->host;

    devices_hold(m, s, -1);
    seat_count(m, model_edit(m, TABLE_HOST, host), s, -1);
    unknown_count(m, s, UINT32_MAX);
    unlink_from_host(m, seat);
    unlink_from_job(m, seat);
    model_drop(m, TABLE_SEAT, seat);
    index_sync_host(m, host);
}

void host_lift(struct model *m, uint32_t seat)
{
    const struct seat *s = seat_row(m, seat);

    seat_count(m, model_edit(m, TABLE_HOST, s->host), s, -1);
    unknown_count(m, s, UINT32_MAX);
    devices_hold(m, s, -1);
}

void host_vacate(struct model *m, uint32_t seat)
{
    host_lift(m, seat);
    index_sync_host(m, seat_row(m, seat)->host);
}

/* A device that is held counts as out of service: nobody finds it. */
static void hold_toggle(struct model *m, uint32_t hold, int sign)
{
    struct hold *x = model_edit(m, TABLE_HOLD, hold);
    struct host *h = model_edit(m, TABLE_HOST, x->host);

    must(x->in_force == (sign < 0));
    x->in_force = sign > 0;
    h->cpu_free_milli -= sign * x->took_cpu_milli;
    h->mem_free_mib -= sign * x->took_mem_mib;
    h->pods_free -= sign * x->took_pods;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        h->extra_free[e] -= sign * x->took_extra[e];
    must(sign < 0 || (h->healthy & x->took_devices) == x->took_devices);
    h->healthy ^= x->took_devices;
    for (unsigned d = 0; d < h->gpus; d++)
        if (x->took_devices >> d & 1)
            device_refresh(kind_row(m, h->kind), h, board_row(m, x->host), d);
    index_sync_host(m, x->host);
}

void host_hold(struct model *m, uint32_t hold)
{
    hold_toggle(m, hold, 1);
}

void host_unhold(struct model *m, uint32_t hold)
{
    hold_toggle(m, hold, -1);
}

void host_confirm(struct model *m, uint32_t seat, uint16_t devices)
{
    struct seat *s = model_edit(m, TABLE_SEAT, seat);
    struct host *h = model_edit(m, TABLE_HOST, s->host);

    s->devices = devices;
    s->grade = GRADE_KNOWN;
    seat_count(m, h, s, 1);
    devices_hold(m, s, 1);
    index_sync_host(m, s->host);
}

bool host_share_room(const struct model *m, uint32_t host, unsigned device,
                     const struct podset *ask)
{
    const struct host *h = host_row(m, host);
    const struct board *b = board_row(m, host);
    int64_t mib = kind_row(m, h->kind)->gpu_mem_mib;
    int64_t milli = b->share_milli[device] + (ask->share_mib ? 0 : ask->milli);
    int64_t held = (int64_t)b->share_mib[device] + ask->share_mib;

    if (b->mig_slots[device])
        return false;
    if (held == 0)
        return milli <= MILLI_FULL;
    return mib > 0 && milli * mib + MILLI_FULL * held <= MILLI_FULL * mib;
}

bool host_share_fits(const struct model *m, uint32_t host, unsigned device,
                     const struct podset *ask)
{
    return (host_row(m, host)->healthy >> device & 1) && host_share_room(m, host, device, ask);
}

bool host_valid(const struct model *m, uint32_t host)
{
    const struct host *h = host_row(m, host);
    const struct board *b = board_row(m, host);
    const struct kind *k = kind_row(m, h->kind);
    struct host sum = *h;
    uint32_t milli[GPUS_MAX] = {0}, mib[GPUS_MAX] = {0}, sharers[GPUS_MAX] = {0};

    if (h->state == HOST_ABSENT)
        return h->seat_head == ROW_NONE && h->gpus == 0;
    sum.cpu_free_milli = k->cpu_milli;
    sum.mem_free_mib = k->mem_mib;
    sum.pods_free = k->pods;
    sum.unknown_gpus = 0;
    memcpy(sum.extra_free, k->extra, sizeof(sum.extra_free));
    for (uint32_t s = h->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_host) {
        const struct seat *seat = seat_row(m, s);
        const struct podset *ask = podset_row(m, seat->podset);

        if (seat->host != host)
            return false;
        sum.cpu_free_milli -= ask->cpu_milli;
        sum.mem_free_mib -= ask->mem_mib;
        sum.pods_free--;
        for (unsigned e = 0; e < EXTRAS_MAX; e++)
            sum.extra_free[e] -= ask->extra[e];
        sum.unknown_gpus =
            (uint8_t)(sum.unknown_gpus + (seat->grade == GRADE_UNKNOWN ? ask->gpus : 0));
        for (unsigned d = 0; d < GPUS_MAX; d++)
            if (seat->devices >> d & 1) {
                sharers[d]++;
                mib[d] += ask->share_mib;
                milli[d] += ask->profile == ROW_NONE && !ask->share_mib ? ask->milli : 0;
            }
    }
    for (unsigned d = 0; d < GPUS_MAX; d++) {
        if (b->sharers[d] != sharers[d] || b->share_mib[d] != mib[d] ||
            b->share_milli[d] != milli[d])
            return false;
        if (milli[d] > MILLI_FULL || h->free_milli[d] != device_free(k, h, b, d))
            return false;
        if ((h->whole >> d & 1) != ((h->healthy >> d & 1) && sharers[d] == 0))
            return false;
    }
    return memcmp(&sum, h, sizeof(sum)) == 0;
}
