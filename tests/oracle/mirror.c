#include "tests/oracle/mirror.h"

#include <string.h>

#include "core/base/must.h"
#include "core/model/index.h"

void mirror_init(struct o_world *w)
{
    memset(w, 0, sizeof(*w));
}

static void put_host(struct o_world *w, const struct event_host *e)
{
    must(e->host < O_HOSTS);

    struct o_host *o = &w->host[e->host];

    if (o->state == O_ABSENT) {
        o->state = O_UP;
        o->leave_at_ns = INT64_MAX;
        o->failed = 0;
    }
    o->cpu = e->cpu_milli;
    o->mem = e->mem_mib;
    o->pods = e->pods;
    o->gpu_mib = e->gpu_mem_mib;
    memcpy(o->extra, e->extra, sizeof(o->extra));
    memcpy(o->domain, e->domain, sizeof(o->domain));
    o->shape = e->shape;
    o->gpus = e->gpus;
    o->model = e->model;
    o->node_class = e->class_id;
    if (e->host >= w->hosts)
        w->hosts = e->host + 1;
}

static void put_shape(struct o_world *w, const struct event_shape *e)
{
    must(e->shape < O_SHAPES);

    struct o_shape *s = &w->shape[e->shape];

    s->known = true;
    s->gpus = e->gpus;
    memcpy(s->part, e->part, sizeof(s->part));
}

static void put_job(struct o_world *w, const struct event_job *e, const struct event *podset)
{
    struct o_job *j = NULL;

    if (oracle_job(w, e->key))
        return;
    for (unsigned n = 0; n < w->jobs && !j; n++)
        if (!w->job[n].live)
            j = &w->job[n];
    if (!j) {
        must(w->jobs < O_JOBS);
        j = &w->job[w->jobs++];
    }
    must(e->podset_count <= O_PODSETS);
    *j = (struct o_job){.live = true,
                        .key = e->key,
                        .team = e->team,
                        .order = w->jobs_seen++,
                        .priority = e->priority,
                        .submit_ns = e->submit_ns,
                        .est_ns = e->est_ns,
                        .required = e->required,
                        .share_card = e->flags & JOB_SHARES_CARD,
                        .podsets = e->podset_count};
    for (unsigned n = 0; n < j->podsets; n++) {
        const struct event_podset *p = &podset[n].podset;

        j->podset[n] = (struct o_podset){.cpu = p->cpu_milli,
                                         .mem = p->mem_mib,
                                         .extra = {p->extra[0], p->extra[1]},
                                         .required = p->required,
                                         .pods = p->pods,
                                         .pods_min = p->pods_min,
                                         .milli = p->milli,
                                         .mib = p->share_mib,
                                         .profile = p->profile,
                                         .class_id = p->class_id,
                                         .slice_pods = p->slice_pods,
                                         .slice_scope = p->slice_scope,
                                         .gpus = p->gpus};
    }
}

static void apply_to_job(struct o_world *w, const struct event *e)
{
    struct o_job *j;

    if (e->kind == EVENT_STOP && (j = oracle_job(w, e->stop.key))) {
        j->runs = false;
        j->seats = 0;
    }
    if (e->kind == EVENT_END && (j = oracle_job(w, e->end.key)))
        j->live = false;
    if (e->kind == EVENT_JOB_SET && (j = oracle_job(w, e->job_set.key))) {
        j->priority = e->job_set.priority;
        j->est_ns = e->job_set.est_ns;
    }
}

static bool host_there(const struct o_world *w, uint32_t host)
{
    return host < w->hosts && w->host[host].state != O_ABSENT;
}

static bool host_used(const struct o_world *w, uint32_t host)
{
    for (unsigned n = 0; n < w->jobs; n++)
        for (unsigned s = 0; s < w->job[n].seats && w->job[n].live; s++)
            if (w->job[n].seat[s].host == host)
                return true;
    return false;
}

static void apply_to_host(struct o_world *w, const struct event *e)
{
    struct o_host *o;

    switch ((unsigned)e->kind) {
    case EVENT_HOST_GONE:
        if (host_there(w, e->host_gone.host) && !host_used(w, e->host_gone.host))
            w->host[e->host_gone.host].state = O_ABSENT;
        break;
    case EVENT_HOST_STATE:
        if (host_there(w, e->host_state.host))
            w->host[e->host_state.host].state = (enum o_state)e->host_state.state;
        break;
    case EVENT_HOST_LEAVE:
        if (host_there(w, e->host_leave.host))
            w->host[e->host_leave.host].leave_at_ns = e->host_leave.leave_at_ns;
        break;
    case EVENT_DEVICE:
        if (!host_there(w, e->device.host) || e->device.device >= w->host[e->device.host].gpus)
            break;
        o = &w->host[e->device.host];
        o->failed &= (uint16_t) ~(1u << e->device.device);
        o->failed |= (uint16_t)((e->device.state == DEVICE_DOWN) << e->device.device);
        break;
    default:
        break;
    }
}

void mirror_apply(struct o_world *w, const struct event *e, const struct event *podset)
{
    if (e->at_ns > w->now_ns)
        w->now_ns = e->at_ns;
    switch ((unsigned)e->kind) {
    case EVENT_CONFIG:
        w->drop_never = e->config.drop_never;
        w->by_priority = e->config.order == 1;
        break;
    case EVENT_SHAPE:
        put_shape(w, &e->shape);
        break;
    case EVENT_MIG:
        must(w->migs < O_MIGS);
        w->mig[w->migs++] = (struct o_mig){.profile = e->mig.profile,
                                           .starts = e->mig.starts,
                                           .model = e->mig.model,
                                           .slots = e->mig.slots,
                                           .device_slots = e->mig.device_slots};
        break;
    case EVENT_CLASS:
        must(e->class.class_id < O_CLASSES);
        w->class[e->class.class_id].models = e->class.models;
        memcpy(w->class[e->class.class_id].nodes, e->class.nodes, sizeof(e->class.nodes));
        break;
    case EVENT_TEAM:
        must(e->team.team < O_TEAMS);
        w->team[e->team.team] =
            (struct o_team){.used = true, .parent = e->team.parent, .limit = e->team.limit_milli};
        break;
    case EVENT_HOST:
        put_host(w, &e->host);
        break;
    case EVENT_JOB:
        put_job(w, &e->job, podset);
        break;
    default:
        apply_to_host(w, e);
        apply_to_job(w, e);
        break;
    }
}

void mirror_start(struct o_job *j, const struct o_seat *seat, unsigned seats)
{
    must(seats <= O_PODS);
    memcpy(j->seat, seat, seats * sizeof(*seat));
    j->seats = seats;
    j->runs = true;
}

void mirror_drop(struct o_job *j)
{
    j->live = false;
}

unsigned mirror_broken(const struct o_world *w, uint32_t *ret_keys, unsigned limit)
{
    unsigned count = 0;

    for (unsigned n = 0; n < w->jobs && count < limit; n++) {
        const struct o_job *j = &w->job[n];
        bool broken = false;

        for (unsigned s = 0; s < j->seats; s++) {
            const struct o_host *o = &w->host[j->seat[s].host];

            broken |= o->state == O_DOWN || (o->failed & j->seat[s].devices);
        }
        if (j->live && j->runs && broken)
            ret_keys[count++] = j->key;
    }
    return count;
}

static uint32_t podset_place(const struct model *m, uint32_t job, uint32_t podset)
{
    uint32_t place = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != podset; p = podset_row(m, p)->next)
        place++;
    return place;
}

/* The job's seats as a model has them, newest first. */
static unsigned seats_of(const struct model *m, uint32_t row, struct o_seat *ret)
{
    unsigned count = 0;

    for (uint32_t s = job_row(m, row)->seat_head; s != ROW_NONE; s = seat_row(m, s)->next_of_job) {
        const struct seat *seat = seat_row(m, s);

        must(count < O_PODS);
        ret[count++] = (struct o_seat){.podset = podset_place(m, row, seat->podset),
                                       .pod = seat->pod,
                                       .host = seat->host,
                                       .devices = seat->devices,
                                       .slot = seat->slot};
    }
    return count;
}

void mirror_adopt(struct o_world *w, const struct model *m)
{
    for (unsigned n = 0; n < w->jobs; n++) {
        uint32_t row = w->job[n].live ? index_job_find(m, w->job[n].key) : ROW_NONE;

        if (row == ROW_NONE)
            continue;
        w->job[n].seats = seats_of(m, row, w->job[n].seat);
        w->job[n].runs = job_row(m, row)->state == JOB_RUNNING;
    }
}

static bool seats_equal(const struct o_job *j, const struct o_seat *seat, unsigned seats)
{
    unsigned found = 0;

    for (unsigned a = 0; a < j->seats; a++)
        for (unsigned b = 0; b < seats; b++)
            found += j->seat[a].pod == seat[b].pod && j->seat[a].podset == seat[b].podset &&
                     j->seat[a].host == seat[b].host && j->seat[a].devices == seat[b].devices &&
                     j->seat[a].slot == seat[b].slot;
    return found == seats && seats == j->seats;
}

bool mirror_equal(const struct o_world *w, const struct model *m)
{
    unsigned live = 0;

    for (unsigned n = 0; n < w->jobs; n++) {
        const struct o_job *j = &w->job[n];
        struct o_seat seat[O_PODS];
        uint32_t row;

        if (!j->live)
            continue;
        live++;
        row = index_job_find(m, j->key);
        if (row == ROW_NONE || j->runs != (job_row(m, row)->state == JOB_RUNNING) ||
            !seats_equal(j, seat, seats_of(m, row, seat)))
            return false;
    }
    return live == model_head(m, TABLE_JOB)->live;
}
