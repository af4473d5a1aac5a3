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
    for (unsigned n = 0; n < w->jobs; n++)
        w->job[n].outranked |= w->job[n].priority < e->priority;
    *j = (struct o_job){.live = true,
                        .key = e->key,
                        .team = e->team,
                        .order = w->jobs_seen++,
                        .priority = e->priority,
                        .submit_ns = e->submit_ns,
                        .est_ns = e->est_ns,
                        .patience_ns = e->patience_ns,
                        .restart_ns = e->restart_ns,
                        .required = e->required,
                        .wishes = e->preferred_count,
                        .chance_ns = O_NEVER,
                        .end_ns = O_NEVER,
                        .breach_ns = O_NEVER,
                        .submitted_at = w->number,
                        .share_card = e->flags & JOB_SHARES_CARD,
                        .podsets = e->podset_count};
    memcpy(j->wish, e->preferred, sizeof(j->wish));
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

/* ---- runs ---- */

/* How long the whole estimate takes at the size that the run has, rounded up. */
static int64_t est_at_size(const struct o_job *j)
{
    int64_t asked = oracle_ask_milli(j, false), held = oracle_held_milli(j);
    __extension__ __int128 est = j->est_ns;

    if (asked == 0) {
        for (uint32_t s = 0; s < j->podsets; s++)
            asked += j->podset[s].pods;
        held = j->seats;
    }
    if (held <= 0 || held >= asked)
        return j->est_ns;
    return (int64_t)((est * asked + held - 1) / held);
}

static bool is_broken(const struct o_job *j)
{
    for (uint32_t s = 0; s < j->podsets; s++)
        if (oracle_seats(j, s) + oracle_of_set(j, s, j->done) < j->podset[s].pods_min)
            return true;
    return false;
}

static void resized(const struct o_world *w, struct o_job *j, int64_t before)
{
    int64_t from = w->now_ns > j->start_ns ? w->now_ns : j->start_ns;
    __extension__ __int128 left = j->end_ns > from ? j->end_ns - from : 0;

    j->vague |= oracle_inexact(j);
    if (is_broken(j) && j->breach_ns == O_NEVER)
        j->breach_ns = w->now_ns + w->breach_ns;
    else if (!is_broken(j))
        j->breach_ns = O_NEVER;
    if (j->end_ns != O_NEVER && before > 0)
        j->end_ns = from + (int64_t)((left * est_at_size(j) + before - 1) / before);
}

bool mirror_shrink(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                   unsigned seats)
{
    int64_t before = est_at_size(j);
    unsigned found = 0;

    for (unsigned n = 0; n < seats; n++)
        for (unsigned s = 0; s < j->seats; s++)
            if (j->seat[s].pod == seat[n].pod) {
                j->seat[s] = j->seat[--j->seats];
                found++;
                break;
            }
    resized(w, j, before);
    return found == seats;
}

void mirror_grow(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                 unsigned seats)
{
    int64_t before = est_at_size(j);

    must(j->seats + seats <= O_PODS);
    memcpy(j->seat + j->seats, seat, seats * sizeof(*seat));
    j->seats += seats;
    resized(w, j, before);
}

void mirror_stop(struct o_job *j)
{
    j->runs = false;
    j->seats = 0;
    j->away = 0;
    j->chance_ns = O_NEVER;
    j->breach_ns = O_NEVER;
}

static void set_fate(struct o_job *j, uint32_t pod, unsigned fate)
{
    uint32_t bit = (uint32_t)1 << pod;

    j->done &= ~bit;
    j->away &= ~bit;
    j->done |= fate == POD_DONE ? bit : 0;
    j->away |= fate == POD_AWAY ? bit : 0;
}

static void pod_gone(struct o_world *w, struct o_job *j, const struct event_pod_gone *e)
{
    unsigned pods = 0, listed = 0;
    int64_t end_ns = j->end_ns;
    bool seated = false;

    for (uint32_t s = 0; s < j->podsets; s++) {
        pods += j->podset[s].pods;
        listed += oracle_of_set(j, s, j->done | j->away);
    }
    for (unsigned s = 0; s < j->seats; s++)
        seated |= j->seat[s].pod == e->pod;
    if (e->done >= FATE_COUNT || e->pod >= pods)
        return;
    if (seated) {
        if (!j->runs || j->seats < 2)
            return;
        set_fate(j, e->pod, e->done);
        mirror_shrink(w, j, &(struct o_seat){.pod = e->pod}, 1);
        if (e->done == POD_DONE)
            j->end_ns = end_ns; /* the others have no more work than before */
        return;
    }

    bool known = (j->done | j->away) >> e->pod & 1;

    if ((e->done == POD_WAITS && !known) || (e->done != POD_WAITS && listed + 1 >= pods + known))
        return; /* the end of all pods is the job's */
    set_fate(j, e->pod, e->done);
    if (j->runs)
        resized(w, j, est_at_size(j));
}

/* A run is over: its next incarnation makes all its pods anew. */
static void stop(const struct o_world *w, struct o_job *j, bool keeps_room)
{
    if (j->seats == 0)
        return;
    if (keeps_room && w->inherit_ns > 0 && j->runs)
        j->done = 0;
    j->promised = j->promised && !(keeps_room && w->inherit_ns > 0 && j->runs);
    mirror_stop(j);
}

/* Facts that may break a promise. */
static bool is_excuse(const struct event *e)
{
    switch ((unsigned)e->kind) {
    case EVENT_JOB:
    case EVENT_PODSET:
    case EVENT_END:
    case EVENT_TICK:
        return false;
    default:
        return true;
    }
}

static void apply_to_job(struct o_world *w, const struct event *e)
{
    struct o_job *j;

    if (e->kind == EVENT_STOP && (j = oracle_job(w, e->stop.key)))
        stop(w, j, e->stop.keeps_room);
    if (e->kind == EVENT_POD_GONE && (j = oracle_job(w, e->pod_gone.key)))
        pod_gone(w, j, &e->pod_gone);
    if (e->kind == EVENT_END && (j = oracle_job(w, e->end.key))) {
        if (j->runs && (j->end_ns == O_NEVER || j->end_ns < w->now_ns))
            w->excused = w->number; /* it ran without an estimate, or beyond it */
        j->live = false;
    }
    if (e->kind == EVENT_JOB_SET && (j = oracle_job(w, e->job_set.key))) {
        j->priority = e->job_set.priority;
        j->est_ns = e->job_set.est_ns;
        j->vague |= j->runs && oracle_inexact(j);
        if (j->runs)
            j->end_ns = j->est_ns < 0 ? O_NEVER : j->start_ns + est_at_size(j);
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
    w->number++;
    if (is_excuse(e))
        w->excused = w->number;
    switch ((unsigned)e->kind) {
    case EVENT_CONFIG:
        w->drop_never = e->config.drop_never;
        w->by_priority = e->config.order != ORDER_FIFO;
        w->patience_ns = e->config.patience_ns;
        w->inherit_ns = e->config.inherit_ns;
        w->breach_ns = e->config.breach_ns;
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

static bool is_full(const struct o_job *j)
{
    unsigned pods = 0;

    for (uint32_t s = 0; s < j->podsets; s++)
        pods += j->podset[s].pods;
    return j->seats == pods;
}

void mirror_start(const struct o_world *w, struct o_job *j, const struct o_seat *seat,
                  unsigned seats)
{
    must(seats <= O_PODS);
    memcpy(j->seat, seat, seats * sizeof(*seat));
    j->seats = seats;
    j->runs = true;
    j->start_ns = w->now_ns + (j->ran ? j->restart_ns : 0);
    j->end_ns = j->est_ns < 0 ? O_NEVER : j->start_ns + est_at_size(j);
    j->vague = oracle_inexact(j) && !is_full(j);
    j->ran = true;
    j->breach_ns = O_NEVER;
    j->chance_ns = O_NEVER;
    j->keep = O_KEEP_NONE;
    j->rooms = 0;
    j->promised = false;
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
        w->job[n].ran = job_row(m, row)->ran;
        w->job[n].start_ns = job_row(m, row)->start_ns;
        w->job[n].end_ns = job_row(m, row)->end_ns;
        w->job[n].breach_ns = job_row(m, row)->breach_ns;
    }
}

static unsigned rooms_of(const struct model *m, uint32_t row, struct o_seat *ret)
{
    unsigned count = 0;

    for (uint32_t h = job_row(m, row)->hold_head; h != ROW_NONE; h = hold_row(m, h)->next) {
        const struct hold *x = hold_row(m, h);

        must(count < O_PODS);
        ret[count++] = (struct o_seat){.podset = podset_place(m, row, x->podset),
                                       .pod = x->pod,
                                       .host = x->host,
                                       .devices = x->devices,
                                       .slot = x->slot};
    }
    return count;
}

void mirror_adopt_rooms(struct o_world *w, const struct model *m)
{
    for (unsigned n = 0; n < w->jobs; n++) {
        struct o_job *j = &w->job[n];
        uint32_t row = j->live ? index_job_find(m, j->key) : ROW_NONE;

        if (row == ROW_NONE)
            continue;
        j->keep = (enum o_keep)job_row(m, row)->keep;
        j->room_ns = job_row(m, row)->reserve_ns;
        j->rooms = rooms_of(m, row, j->room);
        if (j->vague)
            j->end_ns = job_row(m, row)->end_ns;
        j->vague = false;
    }
}

static bool seats_equal(const struct o_seat *one, unsigned ones, const struct o_seat *seat,
                        unsigned seats)
{
    unsigned found = 0;

    for (unsigned a = 0; a < ones; a++)
        for (unsigned b = 0; b < seats; b++)
            found += one[a].pod == seat[b].pod && one[a].podset == seat[b].podset &&
                     one[a].host == seat[b].host && one[a].devices == seat[b].devices &&
                     one[a].slot == seat[b].slot;
    return found == seats && seats == ones;
}

bool mirror_room_equal(const struct o_job *j, const struct model *m)
{
    uint32_t row = index_job_find(m, j->key);
    struct o_seat room[O_PODS];

    return row != ROW_NONE && (enum o_keep)job_row(m, row)->keep == j->keep &&
           (j->keep == O_KEEP_NONE || job_row(m, row)->reserve_ns == j->room_ns) &&
           seats_equal(j->room, j->rooms, room, rooms_of(m, row, room));
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
            !seats_equal(j->seat, j->seats, seat, seats_of(m, row, seat)) ||
            (j->runs && !j->vague && j->end_ns != job_row(m, row)->end_ns) ||
            (j->runs && j->breach_ns != job_row(m, row)->breach_ns))
            return false;
    }
    return live == model_head(m, TABLE_JOB)->live;
}
