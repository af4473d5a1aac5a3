#include "tests/kit/world_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/job.h"
#include "core/place/score.h"
#include "tests/kit/world_words.h"

static void tell(struct world *w, struct event e)
{
    e.at_ns = w->at_ns;
    world_tell(w, &e);
}

/* ---- facts of the cluster ---- */

static void shape_fill(struct event_shape *e, const char *name, unsigned gpus)
{
    unsigned size = words_is(name, "pairs")   ? 2
                    : words_is(name, "quads") ? 4
                    : words_is(name, "lone")  ? 1
                                              : gpus;

    memset(e->part, SHAPE_NO_PART, sizeof(e->part));
    e->gpus = (uint8_t)gpus;
    if (words_is(name, "void"))
        return;
    e->links_known = 1;
    for (unsigned d = 0; d < gpus; d++) {
        e->part[SHAPE_ISLAND * GPUS_MAX + d] = (uint8_t)(d / size);
        e->part[SHAPE_NUMA * GPUS_MAX + d] = d >= (gpus + 1) / 2;
        e->part[SHAPE_PCIE * GPUS_MAX + d] = (uint8_t)(d / 2);
        for (unsigned o = 0; o < gpus; o++)
            e->link[d * GPUS_MAX + o] = d != o && d / size == o / size ? 10 : 0;
    }
}

static uint32_t shape_id(struct world *w, const char *name, unsigned gpus)
{
    struct event e = {.kind = EVENT_SHAPE};
    char full[24];

    snprintf(full, sizeof(full), "%s%u", name, gpus);
    for (uint32_t s = 0; s < w->shapes; s++)
        if (words_is(w->shape[s], full))
            return s;
    must(w->shapes < 8);
    memcpy(w->shape[w->shapes], full, sizeof(full));
    e.shape.shape = w->shapes;
    shape_fill(&e.shape, name, gpus);
    tell(w, e);
    return w->shapes++;
}

/* A domain that a host names exists from then on, and so does its level. */
static void domain_known(struct world *w, unsigned level, uint32_t domain)
{
    tell(w, (struct event){.kind = EVENT_LEVEL, .level = {.level = (uint8_t)level}});
    tell(w,
         (struct event){.kind = EVENT_DOMAIN,
                        .domain = {.domain = domain, .level = (uint8_t)level, .parent = ROW_NONE}});
}

static void host_word(struct world *w, const char *word, struct event_host *h, char *ret_shape)
{
    int64_t value;

    if (words_take(word, "cpu", &h->cpu_milli) || words_take(word, "mem", &h->mem_mib) ||
        words_take(word, "pods", &h->pods) || words_take(word, "extra", &h->extra[0]) ||
        words_take(word, "extra1", &h->extra[1]) || words_take(word, "gpumem", &h->gpu_mem_mib))
        return;
    if (words_take(word, "gpus", &value))
        h->gpus = (uint8_t)value;
    else if (words_take(word, "model", &value))
        h->model = (uint8_t)value;
    else if (words_take(word, "class", &value))
        h->class_id = (uint8_t)value;
    else if (words_value(word, "shape"))
        snprintf(ret_shape, 16, "%s", words_value(word, "shape"));
    else {
        const char *equals = strchr(word, '=');
        unsigned level;

        must(word[0] == 'l' && equals != NULL);
        level = (unsigned)strtoul(word + 1, NULL, 10);
        must(level < LEVELS_MAX);
        h->domain[level] = (uint32_t)words_number(equals + 1, 10);
        domain_known(w, level, h->domain[level]);
    }
}

static void say_hosts(struct world *w, struct words *t, bool one)
{
    uint32_t n = words_subject(t), first = one ? n : w->hosts, count = one ? 1 : n;
    struct event e = {.kind = EVENT_HOST};
    struct event_host *h = &e.host;
    char shape[16] = "";

    h->cpu_milli = h->mem_mib = h->pods = h->extra[0] = h->extra[1] = UNLIMITED;
    memset(h->domain, 0xFF, sizeof(h->domain));
    while (words_more(t))
        host_word(w, t->word, h, shape);
    h->shape = *shape ? shape_id(w, shape, h->gpus) : ROW_NONE;
    for (uint32_t i = 0; i < count; i++) {
        h->host = first + i;
        tell(w, e);
    }
    if (first + count > w->hosts)
        w->hosts = first + count;
}

static void config_order(struct event_config *c, const char *name)
{
    static const char *const names[ORDER_COUNT] = {"fifo", "priority", "easy", "conservative"};

    c->order = 0;
    while (!words_is(names[c->order], name))
        c->order++;
    c->reserves_max = c->order == ORDER_EASY           ? MODELS_MAX
                      : c->order == ORDER_CONSERVATIVE ? RESERVES_MAX
                                                       : 0;
}

static void say_config(struct world *w, struct words *t)
{
    struct event_config *c = &w->config;

    while (words_more(t)) {
        int64_t value;
        const char *name = words_value(t->word, "scorer");

        if (name) {
            c->scorer = 0;
            while (!words_is(scorer_get(c->scorer)->name, name))
                c->scorer++;
        } else if (words_value(t->word, "order")) {
            config_order(c, words_value(t->word, "order"));
        } else if (words_take(t->word, "patience", &c->patience_ns) ||
                   words_take(t->word, "inherit", &c->inherit_ns) ||
                   words_take(t->word, "breach", &c->breach_ns)) {
            continue;
        } else if (words_take(t->word, "budget", &value)) {
            c->budget_steps = (uint32_t)value;
        } else if (words_take(t->word, "seed", &value)) {
            c->seed = (uint64_t)value;
        } else {
            must(words_is(t->word, "drop") || words_is(t->word, "scan"));
            c->drop_never |= words_is(t->word, "drop");
            c->scan_all |= words_is(t->word, "scan");
        }
    }
    tell(w, (struct event){.kind = EVENT_CONFIG, .config = *c});
}

static void say_class(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_CLASS, .class = {.class_id = words_subject(t)}};

    while (words_more(t))
        if (words_value(t->word, "models")) {
            e.class.models = words_hex(words_value(t->word, "models"));
        } else {
            must(words_value(t->word, "nodes") != NULL);
            e.class.nodes[0] = words_hex(words_value(t->word, "nodes"));
        }
    tell(w, e);
}

static void say_team(struct world *w, struct words *t)
{
    struct event e = {
        .kind = EVENT_TEAM,
        .team = {.team = words_subject(t), .parent = ROW_NONE, .limit_milli = UNLIMITED}};
    int64_t value;

    while (words_more(t))
        if (words_take(t->word, "parent", &value)) {
            e.team.parent = (uint32_t)value;
        } else {
            must(words_take(t->word, "limit", &e.team.limit_milli));
        }
    tell(w, e);
}

static void say_mig(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_MIG, .mig = {.profile = words_subject(t)}};
    int64_t value;

    while (words_more(t))
        if (words_value(t->word, "starts")) {
            e.mig.starts = (uint32_t)words_hex(words_value(t->word, "starts"));
        } else if (words_take(t->word, "slots", &value)) {
            e.mig.slots = (uint8_t)value;
        } else if (words_take(t->word, "of", &value)) {
            e.mig.device_slots = (uint8_t)value;
        } else {
            must(words_take(t->word, "model", &value));
            e.mig.model = (uint8_t)value;
        }
    tell(w, e);
}

static void say_mix(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_MIX,
                      .mix = {.row = words_subject(t), .models = UINT64_MAX, .milli = MILLI_FULL}};
    int64_t value;

    while (words_more(t))
        if (words_value(t->word, "models"))
            e.mix.models = words_hex(words_value(t->word, "models"));
        else if (words_take(t->word, "cpu", &e.mix.cpu_milli))
            continue;
        else if (words_take(t->word, "of", &value))
            e.mix.rows = (uint32_t)value;
        else if (words_take(t->word, "count", &value))
            e.mix.count = (uint32_t)value;
        else if (words_take(t->word, "milli", &value))
            e.mix.milli = (uint16_t)value;
        else {
            must(words_take(t->word, "gpus", &value));
            e.mix.gpus = (uint8_t)value;
        }
    tell(w, e);
}

/* ---- jobs ---- */

static bool job_word(const char *word, struct event_job *j)
{
    int64_t value;

    if (words_take(word, "est", &j->est_ns) || words_take(word, "submit", &j->submit_ns) ||
        words_take(word, "restart", &j->restart_ns) ||
        words_take(word, "patience", &j->patience_ns))
        return true;
    if (words_take(word, "profile", &value)) {
        j->profile = (uint8_t)value;
        return true;
    }
    if (words_value(word, "exclusive")) {
        words_scopes(words_value(word, "exclusive"), &j->exclusive);
        return true;
    }
    if (words_take(word, "team", &value))
        j->team = (uint32_t)value;
    else if (words_take(word, "prio", &value))
        j->priority = (int32_t)value;
    else if (words_is(word, "apart"))
        j->flags &= (uint8_t)~JOB_SHARES_CARD;
    else if (words_value(word, "need"))
        j->required = words_scope_bits(words_value(word, "need"));
    else if (words_value(word, "prefer"))
        j->preferred_count = (uint8_t)words_scopes(words_value(word, "prefer"), j->preferred);
    else
        return false;
    return true;
}

static void podset_word(const char *word, struct event_podset *p)
{
    int64_t value;

    if (words_take(word, "cpu", &p->cpu_milli) || words_take(word, "mem", &p->mem_mib) ||
        words_take(word, "extra", &p->extra[0]) || words_take(word, "extra1", &p->extra[1]))
        return;
    if (words_take(word, "pods", &value))
        p->pods = p->pods_min = (uint32_t)value;
    else if (words_take(word, "min", &value))
        p->pods_min = (uint32_t)value;
    else if (words_take(word, "gpus", &value))
        p->gpus = (uint8_t)value;
    else if (words_take(word, "milli", &value))
        p->milli = (uint16_t)value;
    else if (words_take(word, "mib", &value))
        p->share_mib = (uint32_t)value;
    else if (words_take(word, "mig", &value))
        p->profile = (uint32_t)value;
    else if (words_take(word, "class", &value))
        p->class_id = (uint32_t)value;
    else if (words_is(word, "way")) {
        p->way = 1;
        p->pods = p->pods_min = 0;
    } else if (words_value(word, "in"))
        p->required = words_scope_bits(words_value(word, "in"));
    else {
        must(words_take(word, "slice", &value));
        p->slice_pods = (uint32_t)value;
        p->slice_scope = (uint8_t)words_scope(strchr(word, '@') + 1);
    }
}

static void say_ask(struct world *w, struct words *t)
{
    static const struct event fresh = {
        .kind = EVENT_PODSET,
        .podset = {.pods = 1, .pods_min = 1, .milli = MILLI_FULL, .profile = ROW_NONE}};
    struct event job = {.kind = EVENT_JOB,
                        .job = {.key = w->keys++,
                                .team = ROW_NONE,
                                .est_ns = -1,
                                .submit_ns = w->at_ns,
                                .flags = JOB_SHARES_CARD,
                                .podset_count = 1}};
    struct event set[PODSETS_MAX + 1] = {fresh};

    while (words_more(t)) {
        if (words_is(t->word, "+")) {
            must(job.job.podset_count <= PODSETS_MAX);
            set[job.job.podset_count++] = fresh;
        } else if (!job_word(t->word, &job.job)) {
            podset_word(t->word, &set[job.job.podset_count - 1].podset);
        }
    }
    tell(w, job);
    for (unsigned n = 0; n < job.job.podset_count; n++)
        tell(w, set[n]);
}

static void say_seat(struct world *w, struct words *t, enum event_kind kind)
{
    uint32_t key = words_subject(t), pod = 0;
    struct event e = {.kind = kind};
    uint16_t on = 0;
    int64_t value;

    if (kind == EVENT_SEAT)
        e.seat.key = key;
    else
        e.confirm.key = key;
    while (words_more(t))
        if (words_value(t->word, "on")) {
            on = words_devices(words_value(t->word, "on"));
        } else if (words_take(t->word, "pod", &value)) {
            pod = (uint32_t)value;
        } else if (words_take(t->word, "podset", &value)) {
            e.seat.podset = (uint32_t)value;
        } else if (words_take(t->word, "slot", &value)) {
            e.seat.slot = (uint8_t)value;
        } else {
            must(words_take(t->word, "host", &value));
            e.seat.host = (uint32_t)value;
        }
    if (kind == EVENT_SEAT) {
        e.seat.pod = pod;
        e.seat.devices = on;
    } else {
        e.confirm.pod = pod;
        e.confirm.devices = on;
    }
    tell(w, e);
}

static void say_set(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_JOB_SET, .job_set = {.key = words_subject(t), .est_ns = -1}};
    int64_t value;

    while (words_more(t))
        if (words_take(t->word, "prio", &value)) {
            e.job_set.priority = (int32_t)value;
        } else {
            must(words_take(t->word, "est", &e.job_set.est_ns));
        }
    tell(w, e);
}

/* ---- commands of a fixed number of words ---- */

static uint8_t state_of(struct words *t)
{
    static const char *const state[] = {"absent", "up", "drain", "down", "odd"};
    uint8_t n = 0;

    must(words_more(t));
    while (!words_is(state[n], t->word))
        must(++n < 5);
    return n;
}

static struct event plain(const struct world *w, struct words *t, const char *verb)
{
    struct event e = {.kind = EVENT_COUNT};
    uint32_t first = words_subject(t);

    (void)w;
    if (words_is(verb, "state"))
        e = (struct event){.kind = EVENT_HOST_STATE, .host_state = {first, state_of(t)}};
    else if (words_is(verb, "gone"))
        e = (struct event){.kind = EVENT_HOST_GONE, .host_gone = {first}};
    else if (words_is(verb, "leave"))
        e = (struct event){.kind = EVENT_HOST_LEAVE,
                           .host_leave = {first, words_more(t) ? words_number(t->word, 10) : 0}};
    else if (words_is(verb, "device")) {
        uint8_t device = (uint8_t)words_subject(t), state = state_of(t);

        e = (struct event){.kind = EVENT_DEVICE,
                           .device = {first, device,
                                      state == HOST_UP     ? DEVICE_UP
                                      : state == HOST_DOWN ? DEVICE_DOWN
                                                           : 2}};
    } else if (words_is(verb, "uuid")) {
        uint8_t device = (uint8_t)words_subject(t);

        e = (struct event){.kind = EVENT_UUID, .uuid = {first, device, words_subject(t)}};
    } else if (words_is(verb, "lose") || words_is(verb, "done") || words_is(verb, "away"))
        e = (struct event){.kind = EVENT_POD_GONE,
                           .pod_gone = {first, words_subject(t),
                                        words_is(verb, "lose")   ? POD_WAITS
                                        : words_is(verb, "done") ? POD_DONE
                                                                 : POD_AWAY}};
    else if (words_is(verb, "restart"))
        e = (struct event){.kind = EVENT_STOP, .stop = {first, 1}};
    else if (words_is(verb, "seated"))
        e = (struct event){.kind = EVENT_SEATED, .seated = {first}};
    else if (words_is(verb, "stop"))
        e = (struct event){.kind = EVENT_STOP, .stop = {first, 0}};
    else if (words_is(verb, "end"))
        e = (struct event){.kind = EVENT_END, .end = {first}};
    else if (words_is(verb, "level")) {
        uint8_t chain = (uint8_t)words_subject(t);

        e = (struct event){.kind = EVENT_LEVEL,
                           .level = {(uint8_t)first, chain, (uint8_t)words_subject(t)}};
    } else if (words_is(verb, "domain")) {
        uint8_t level = (uint8_t)words_subject(t);

        e = (struct event){.kind = EVENT_DOMAIN, .domain = {first, level, words_subject(t)}};
    } else if (words_is(verb, "price")) {
        e = (struct event){
            .kind = EVENT_PRICE,
            .price = {(uint8_t)first, words_more(t) ? words_number(t->word, 10) : 0}};
    }
    must(e.kind != EVENT_COUNT);
    return e;
}

/* One command whose verb has been read; false: it was a step or a word of time, nothing is left. */
static void run_command(struct world *w, struct words *t, const char *verb)
{
    if (words_is(verb, "hosts") || words_is(verb, "host"))
        say_hosts(w, t, words_is(verb, "host"));
    else if (words_is(verb, "ask"))
        say_ask(w, t);
    else if (words_is(verb, "config"))
        say_config(w, t);
    else if (words_is(verb, "class"))
        say_class(w, t);
    else if (words_is(verb, "team"))
        say_team(w, t);
    else if (words_is(verb, "mig"))
        say_mig(w, t);
    else if (words_is(verb, "mix"))
        say_mix(w, t);
    else if (words_is(verb, "seat"))
        say_seat(w, t, EVENT_SEAT);
    else if (words_is(verb, "confirm"))
        say_seat(w, t, EVENT_CONFIRM);
    else if (words_is(verb, "set"))
        say_set(w, t);
    else if (words_is(verb, "at"))
        w->at_ns = words_more(t) ? words_number(t->word, 10) : 0;
    else if (words_is(verb, "tick"))
        tell(w, (struct event){.kind = EVENT_TICK});
    else if (words_is(verb, "bare"))
        tell(w, (struct event){.kind = EVENT_PODSET});
    else
        tell(w, plain(w, t, verb));
}

static void say_step(struct world *w)
{
    bool more = true;

    if (w->said_length) {
        must(w->said_length + 1 < sizeof(w->said));
        w->said[w->said_length++] = '|';
        w->said[w->said_length] = 0;
    }
    while (more) {
        more = world_step(w);
        world_write_decisions(w);
    }
}

void world_run_text(struct world *w, const char *text)
{
    struct words t = {.at = text};

    while (words_next(&t)) {
        char verb[sizeof(t.word)];

        memcpy(verb, t.word, sizeof(verb));
        if (words_is(verb, ";"))
            continue;
        if (words_is(verb, "step"))
            say_step(w);
        else
            run_command(w, &t, verb);
        if (w->out.size > sizeof(w->bytes) / 2)
            world_settle(w);
    }
}
