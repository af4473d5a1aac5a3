/* What becomes of jobs and their pods. */
#include "core/engine/apply_parts.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/place/view.h"

static bool amount(int64_t value)
{
    return value >= 0 && value <= ASK_MAX;
}

static bool podset_good(const struct model *m, const struct event_podset *p)
{
    /* Ways of one podset share its pods: where none was chosen yet the first names all of them. */
    if (p->way > 1 || (p->pods == 0 && !p->way) || (p->way && p->slice_pods))
        return false;
    if (p->pods > GANG_PODS_MAX || p->pods_min > p->pods || p->gpus > GPUS_MAX ||
        p->class_id >= model_count(m, TABLE_CLASS) || !amount(p->cpu_milli) ||
        !amount(p->mem_mib) || p->slice_pods > p->pods || p->slice_scope >= SCOPE_COUNT ||
        p->required >> SCOPE_COUNT || p->share_mib > INT32_MAX)
        return false;
    for (unsigned x = 0; x < EXTRAS_MAX; x++)
        if (!amount(p->extra[x]))
            return false;
    if (p->milli == 0 || p->milli > MILLI_FULL)
        return false;
    /* A part of a device is asked in one way; on several devices not by profile. */
    if (p->milli < MILLI_FULL || p->share_mib || p->profile != ROW_NONE)
        return p->gpus > 0 && (p->gpus == 1 || p->profile == ROW_NONE) &&
               (p->milli < MILLI_FULL) + (p->share_mib > 0) + (p->profile != ROW_NONE) == 1;
    return true;
}

bool apply_job(struct model *m, const struct event_job *e, struct wire_in *rest)
{
    struct job_spec spec; /* large: only the podsets that come are filled */
    bool good =
        e->podset_count > 0 && e->podset_count <= PODSETS_MAX && e->preferred_count <= 4 &&
        !(e->required >> SCOPE_COUNT) && e->est_ns >= -1 && e->est_ns <= UNLIMITED &&
        e->restart_ns >= 0 && e->restart_ns <= UNLIMITED && e->patience_ns >= -1 &&
        e->patience_ns <= UNLIMITED && e->profile < COMM_COUNT &&
        (e->exclusive == 0 || (e->exclusive >= SCOPE_OF_HOST && e->exclusive < SCOPE_OF_CLUSTER)) &&
        is_capacity(e->submit_ns) && index_job_find(m, e->key) == ROW_NONE;
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
    spec.flags = e->flags & (JOB_SHARES_CARD | JOB_IS_PREEMPTIBLE);
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
        good &=
            podset_good(m, p) && !(n == 0 && p->way) && !(p->way && spec.podset[n - 1].slice_pods);
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
                                              .slice_scope = p->slice_scope,
                                              .way = p->way};
        memcpy(spec.podset[n].extra, p->extra, sizeof(p->extra));
    }
    if (!good || pods > GANG_PODS_MAX || config_row(m)->waiting_pods + pods > PODS_WAITING_MAX)
        return false;
    if (least == 0)
        spec.podset[0].pods_min = 1; /* a gang of nothing is no gang */
    job_add(m, &spec);
    return true;
}

bool apply_job_set(struct model *m, const struct event_job_set *e)
{
    uint32_t id = index_job_find(m, e->key);

    if (id == ROW_NONE || e->est_ns < -1 || e->est_ns > UNLIMITED)
        return false;
    job_set(m, id, e->priority, e->est_ns);
    note_freed(m);
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

bool apply_seat(struct model *m, const struct event_seat *e)
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

bool apply_seated(struct model *m, const struct event_seated *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE || job_row(m, job)->state != JOB_WAITING ||
        job_row(m, job)->seat_head == ROW_NONE)
        return false;
    job_run(m, job);
    job_resized(m, job, 0); /* a list may tell of fewer pods than it must have */
    if (job_row(m, job)->breach_ns != INT64_MAX)
        note_freed(m);
    return true;
}

bool apply_confirm(struct model *m, const struct event_confirm *e)
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
    note_freed(m);
    return true;
}

bool apply_stop(struct model *m, const struct event_stop *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE || job_row(m, job)->seat_head == ROW_NONE || e->keeps_room > 1)
        return false;
    if (e->keeps_room && config_row(m)->inherit_ns > 0 && job_row(m, job)->state == JOB_RUNNING)
        job_stop_keeping(m, job, config_row(m)->now_ns + config_row(m)->inherit_ns);
    else
        job_stop(m, job);
    note_freed(m);
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
        job_resized(m, job, 0);
    note_freed(m);
    return true;
}

bool apply_pod_gone(struct model *m, const struct event_pod_gone *e)
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
    note_freed(m);
    return true;
}

bool apply_tick(struct model *m, const struct event_tick *e)
{
    if (e->wake > WAKE_BREACH)
        return false;
    note_freed(m);
    return true;
}

bool apply_end(struct model *m, const struct event_end *e)
{
    uint32_t job = index_job_find(m, e->key);

    if (job == ROW_NONE)
        return false;
    if (job_row(m, job)->seat_head != ROW_NONE || job_row(m, job)->hold_head != ROW_NONE)
        note_freed(m);
    job_remove(m, job);
    return true;
}
