/* event.h - the vocabulary of facts: what an edge may tell the core
 *
 * An event is a fact with its time. Edges intern names into numbers (hosts, levels, domains,
 * shapes, models, classes and teams are dense from 0; a job's key is never used twice) and encode
 * events into bytes; the journal holds exactly these bytes. What comes in is checked at the door:
 * an event that makes no sense changes nothing and is counted.
 *
 * Order   Time never falls; the core raises a smaller time to the last one.
 */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include "core/engine/wire.h"
#include "core/model/host.h"
#include "core/model/job.h"

#define EVENT_LOSS_ROWS 41 /* 1025 rows are 25 events */

/* Per kind: F(type, name) a field, A(type, name, count) an array. Types: u8 u16 u32 u64 i32 i64. */
/* The formatter moves the columns of such lists at every run. */
/* clang-format off */
#define EVENT_CONFIG_FIELDS(F, A)                                                                  \
    F(u8, order) F(u8, scorer) F(u8, drop_never) F(u8, scan_all) F(u32, budget_steps) F(u64, seed) \
    F(u32, reserves_max) F(i64, patience_ns) F(i64, inherit_ns) F(i64, breach_ns)
#define EVENT_LEVEL_FIELDS(F, A) F(u8, level) F(u8, chain) F(u8, rank)
#define EVENT_DOMAIN_FIELDS(F, A) F(u32, domain) F(u8, level) F(u32, parent)
#define EVENT_SHAPE_FIELDS(F, A)                                                                   \
    F(u32, shape) F(u8, gpus) F(u8, links_known) A(u8, part, SHAPE_PART_COUNT * GPUS_MAX)          \
    A(u8, nics, GPUS_MAX) A(u16, link, GPUS_MAX * GPUS_MAX)
#define EVENT_MIG_FIELDS(F, A)                                                                     \
    F(u32, profile) F(u8, model) F(u32, starts) F(u8, slots) F(u8, device_slots)
#define EVENT_CLASS_FIELDS(F, A) F(u32, class_id) F(u64, models) A(u64, nodes, CLASSES_MAX / 64)
#define EVENT_MIX_FIELDS(F, A)                                                                     \
    F(u32, row) F(u32, rows) F(i64, cpu_milli) F(u64, models) F(u32, count) F(u16, milli) F(u8, gpus)
#define EVENT_PRICE_FIELDS(F, A) F(u8, model) F(i64, scarce_micro)
#define EVENT_LOSS_FIELDS(F, A)                                                                    \
    F(u16, row) A(i64, waste_micro, EVENT_LOSS_ROWS) A(i64, broken_micro, EVENT_LOSS_ROWS)         \
    A(i64, starved_ppm, EVENT_LOSS_ROWS)
#define EVENT_BALANCE_FIELDS(F, A)                                                                 \
    F(i64, short_q20) F(i64, spare_q20) F(i64, starved_micro) F(i64, short_micro)                  \
    F(i64, spare_micro) F(i64, roomy_micro)
#define EVENT_TEAM_FIELDS(F, A)                                                                    \
    F(u32, team) F(u32, parent) F(i64, weight_micro) F(i64, limit_milli)
#define EVENT_HOST_FIELDS(F, A)                                                                    \
    F(u32, host) F(i64, cpu_milli) F(i64, mem_mib) F(i64, pods) A(i64, extra, EXTRAS_MAX)          \
    F(i64, gpu_mem_mib) F(u8, class_id) F(u8, model) F(u32, shape) F(u8, gpus)                     \
    A(u32, domain, LEVELS_MAX)
#define EVENT_HOST_GONE_FIELDS(F, A) F(u32, host)
#define EVENT_HOST_STATE_FIELDS(F, A) F(u32, host) F(u8, state)
#define EVENT_HOST_LEAVE_FIELDS(F, A) F(u32, host) F(i64, leave_at_ns)
#define EVENT_DEVICE_FIELDS(F, A) F(u32, host) F(u8, device) F(u8, state)
#define EVENT_UUID_FIELDS(F, A) F(u32, host) F(u8, device) F(u32, uuid)
#define EVENT_JOB_FIELDS(F, A)                                                                     \
    F(i64, submit_ns) F(i64, est_ns) F(u64, required) F(u32, key) F(u32, team) F(i32, priority)    \
    F(u8, flags) F(u8, preferred_count) A(u8, preferred, 4) F(u8, podset_count)                    \
    F(i64, restart_ns) F(i64, patience_ns) F(u8, profile) F(u8, exclusive)
#define EVENT_PODSET_FIELDS(F, A)                                                                  \
    F(i64, cpu_milli) F(i64, mem_mib) A(i64, extra, EXTRAS_MAX) F(u64, required) F(u32, pods)      \
    F(u32, pods_min) F(u32, share_mib) F(u32, profile) F(u32, class_id) F(u32, slice_pods)         \
    F(u16, milli) F(u8, gpus) F(u8, slice_scope) F(u8, way)
#define EVENT_JOB_SET_FIELDS(F, A) F(u32, key) F(i32, priority) F(i64, est_ns)
#define EVENT_SEAT_FIELDS(F, A)                                                                    \
    F(u32, key) F(u32, podset) F(u32, pod) F(u32, host) F(u16, devices) F(u8, slot)
#define EVENT_SEATED_FIELDS(F, A) F(u32, key)
#define EVENT_CONFIRM_FIELDS(F, A) F(u32, key) F(u32, pod) F(u16, devices)
#define EVENT_STOP_FIELDS(F, A) F(u32, key) F(u8, keeps_room)
#define EVENT_POD_GONE_FIELDS(F, A) F(u32, key) F(u32, pod) F(u8, done)
#define EVENT_END_FIELDS(F, A) F(u32, key)
#define EVENT_TICK_FIELDS(F, A) F(u8, wake)
/* clang-format on */

/* X(KIND, name, what): PODSET follows its JOB and is no event of its own. */
#define EVENT_MAP(X)                                                                               \
    X(CONFIG, config, "how to decide")                                                             \
    X(LEVEL, level, "a level of a chain")                                                          \
    X(DOMAIN, domain, "a part of a level")                                                         \
    X(SHAPE, shape, "the inside of a host")                                                        \
    X(MIG, mig, "a profile that a model can be cut into")                                          \
    X(CLASS, class, "hosts that a pod class may use")                                              \
    X(MIX, mix, "one class of the task mix, and how many classes there are")                       \
    X(PRICE, price, "what the mix makes of a model")                                               \
    X(LOSS, loss, "what the mix makes of free room, rows of a table")                              \
    X(BALANCE, balance, "how CPU and GPUs go together in the mix")                                 \
    X(TEAM, team, "a team and its limit")                                                          \
    X(HOST, host, "a host, new or changed")                                                        \
    X(HOST_GONE, host_gone, "a host was removed")                                                  \
    X(HOST_STATE, host_state, "a host is up, draining or down")                                    \
    X(HOST_LEAVE, host_leave, "a host will leave, or will not")                                    \
    X(DEVICE, device, "a device works or fails")                                                   \
    X(UUID, uuid, "the identity of a device")                                                      \
    X(JOB, job, "a job asks")                                                                      \
    X(PODSET, podset, "a podset of the job before")                                                \
    X(JOB_SET, job_set, "a job's priority or estimate changed")                                    \
    X(SEAT, seat, "a pod was seen on a host; devices 0: nobody knows which")                       \
    X(SEATED, seated, "all seats of the job are told: it runs")                                    \
    X(CONFIRM, confirm, "a pod was seen on these devices")                                         \
    X(STOP, stop, "a run ended before its time: the job waits again, or a new incarnation of it")  \
    X(POD_GONE, pod_gone,                                                                          \
      "a pod is no more: it waits anew, has done its work, or comes back later")                   \
    X(END, end, "the job is over")                                                                 \
    X(TICK, tick, "a time has come that the scheduler asked to be woken at")

#define EVENT_ENUM(KIND, name, what) EVENT_##KIND,
enum event_kind { EVENT_MAP(EVENT_ENUM) EVENT_COUNT };

typedef uint8_t event_u8;
typedef uint16_t event_u16;
typedef uint32_t event_u32;
typedef uint64_t event_u64;
typedef int32_t event_i32;
typedef int64_t event_i64;
#define EVENT_FIELD(type, name)        event_##type name;
#define EVENT_ARRAY(type, name, count) event_##type name[count];
#define EVENT_STRUCT(KIND, name, what)                                                             \
    struct event_##name {                                                                          \
        EVENT_##KIND##_FIELDS(EVENT_FIELD, EVENT_ARRAY)                                            \
    };
EVENT_MAP(EVENT_STRUCT)

struct event {
    int64_t at_ns;
    enum event_kind kind;
    union {
#define EVENT_MEMBER(KIND, name, what) struct event_##name name;
        EVENT_MAP(EVENT_MEMBER)
    };
};

/* Appends the event; the writer says if it was full. */
void event_put(struct wire_out *w, const struct event *e);
/* The next event; false at the end of the bytes or when they are bad (r->bad tells). */
bool event_get(struct wire_in *r, struct event *ret_event);

/* "job", "host_state", ...: for tools that print a journal. */
const char *event_name(enum event_kind kind);

#endif
