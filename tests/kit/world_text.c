#include "tests/kit/world_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/model/host.h"
#include "core/model/job.h"
#include "core/place/score.h"

/* The words of a text: ";" and "+" stand alone. */
struct words {
    const char *at;
    char word[64];
};

static bool next_word(struct words *t)
{
    size_t n = 0;

    while (*t->at == ' ' || *t->at == '\n')
        t->at++;
    while (t->at[n] && !strchr(" \n;", t->at[n]))
        n++;
    if (n == 0 && *t->at == ';')
        n = 1;
    must(n < sizeof(t->word));
    memcpy(t->word, t->at, n);
    t->word[n] = 0;
    t->at += n;
    return n > 0;
}

/* The next word of this command; false at its end. */
static bool next_of_command(struct words *t)
{
    return next_word(t) && t->word[0] != ';';
}

static bool is(const char *word, const char *text)
{
    return strcmp(word, text) == 0;
}

static int64_t number(const char *text, int base)
{
    char *end;
    long long value = strtoll(text, &end, base);

    must(end != text && (*end == 0 || *end == '@'));
    return value;
}

static uint64_t hex(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 16);

    must(end != text && *end == 0);
    return value;
}

/* The value if the word is NAME=value, else NULL. */
static const char *value_of(const char *word, const char *name)
{
    size_t n = strlen(name);

    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

static bool take(const char *word, const char *name, int64_t *ret_value)
{
    const char *value = value_of(word, name);

    if (value)
        *ret_value = number(value, 10);
    return value != NULL;
}

/* The next word as a number: what a command speaks of. */
static uint32_t subject(struct words *t)
{
    must(next_of_command(t));
    return (uint32_t)number(t->word, 10);
}

static uint16_t devices_of(const char *text)
{
    uint16_t set = 0;

    for (; *text && *text != '-'; text++) {
        char one[2] = {*text, 0};

        set |= (uint16_t)(1u << hex(one));
    }
    return set;
}

static unsigned scope_of(const char *name)
{
    static const char *const below[] = {"island", "numa", "pcie", "host"};

    for (unsigned s = 0; s < 4; s++)
        if (is(name, below[s]))
            return s;
    if (is(name, "cluster"))
        return SCOPE_OF_CLUSTER;
    must(name[0] == 'l');
    return SCOPE_OF_LEVEL + (unsigned)number(name + 1, 10);
}

/* A list a,b,c of scopes, in its order. */
static unsigned scopes_of(const char *text, uint8_t *ret_scopes)
{
    unsigned count = 0;

    while (*text) {
        char name[16] = {0};
        size_t n = strcspn(text, ",");

        must(n < sizeof(name) && count < 8);
        memcpy(name, text, n);
        ret_scopes[count++] = (uint8_t)scope_of(name);
        text += n + (text[n] == ',');
    }
    return count;
}

static uint64_t scope_bits(const char *text)
{
    uint8_t scopes[8];
    uint64_t bits = 0;

    for (unsigned n = scopes_of(text, scopes); n > 0; n--)
        bits |= SCOPE_BIT(scopes[n - 1]);
    return bits;
}

static void tell(struct world *w, struct event e)
{
    e.at_ns = w->at_ns;
    world_tell(w, &e);
}

/* ---- facts of the cluster ---- */

static void shape_fill(struct event_shape *e, const char *name, unsigned gpus)
{
    unsigned size = is(name, "pairs") ? 2 : is(name, "quads") ? 4 : is(name, "lone") ? 1 : gpus;

    memset(e->part, SHAPE_NO_PART, sizeof(e->part));
    e->gpus = (uint8_t)gpus;
    if (is(name, "void"))
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
        if (is(w->shape[s], full))
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

    if (take(word, "cpu", &h->cpu_milli) || take(word, "mem", &h->mem_mib) ||
        take(word, "pods", &h->pods) || take(word, "extra", &h->extra[0]) ||
        take(word, "extra1", &h->extra[1]) || take(word, "gpumem", &h->gpu_mem_mib))
        return;
    if (take(word, "gpus", &value))
        h->gpus = (uint8_t)value;
    else if (take(word, "model", &value))
        h->model = (uint8_t)value;
    else if (take(word, "class", &value))
        h->class_id = (uint8_t)value;
    else if (value_of(word, "shape"))
        snprintf(ret_shape, 16, "%s", value_of(word, "shape"));
    else {
        const char *equals = strchr(word, '=');
        unsigned level;

        must(word[0] == 'l' && equals != NULL);
        level = (unsigned)strtoul(word + 1, NULL, 10);
        must(level < LEVELS_MAX);
        h->domain[level] = (uint32_t)number(equals + 1, 10);
        domain_known(w, level, h->domain[level]);
    }
}

static void say_hosts(struct world *w, struct words *t, bool one)
{
    uint32_t n = subject(t), first = one ? n : w->hosts, count = one ? 1 : n;
    struct event e = {.kind = EVENT_HOST};
    struct event_host *h = &e.host;
    char shape[16] = "";

    h->cpu_milli = h->mem_mib = h->pods = h->extra[0] = h->extra[1] = UNLIMITED;
    memset(h->domain, 0xFF, sizeof(h->domain));
    while (next_of_command(t))
        host_word(w, t->word, h, shape);
    h->shape = *shape ? shape_id(w, shape, h->gpus) : ROW_NONE;
    for (uint32_t i = 0; i < count; i++) {
        h->host = first + i;
        tell(w, e);
    }
    if (first + count > w->hosts)
        w->hosts = first + count;
}

static void say_config(struct world *w, struct words *t)
{
    struct event_config *c = &w->config;

    while (next_of_command(t)) {
        int64_t value;
        const char *name = value_of(t->word, "scorer");

        if (name) {
            c->scorer = 0;
            while (!is(scorer_get(c->scorer)->name, name))
                c->scorer++;
        } else if (value_of(t->word, "order")) {
            c->order = is(value_of(t->word, "order"), "priority") ? ORDER_PRIORITY : ORDER_FIFO;
        } else if (take(t->word, "budget", &value)) {
            c->budget_steps = (uint32_t)value;
        } else if (take(t->word, "seed", &value)) {
            c->seed = (uint64_t)value;
        } else {
            must(is(t->word, "drop") || is(t->word, "scan"));
            c->drop_never |= is(t->word, "drop");
            c->scan_all |= is(t->word, "scan");
        }
    }
    tell(w, (struct event){.kind = EVENT_CONFIG, .config = *c});
}

static void say_class(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_CLASS, .class = {.class_id = subject(t)}};

    while (next_of_command(t))
        if (value_of(t->word, "models")) {
            e.class.models = hex(value_of(t->word, "models"));
        } else {
            must(value_of(t->word, "nodes") != NULL);
            e.class.nodes[0] = hex(value_of(t->word, "nodes"));
        }
    tell(w, e);
}

static void say_team(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_TEAM,
                      .team = {.team = subject(t), .parent = ROW_NONE, .limit_milli = UNLIMITED}};
    int64_t value;

    while (next_of_command(t))
        if (take(t->word, "parent", &value)) {
            e.team.parent = (uint32_t)value;
        } else {
            must(take(t->word, "limit", &e.team.limit_milli));
        }
    tell(w, e);
}

static void say_mig(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_MIG, .mig = {.profile = subject(t)}};
    int64_t value;

    while (next_of_command(t))
        if (value_of(t->word, "starts")) {
            e.mig.starts = (uint32_t)hex(value_of(t->word, "starts"));
        } else if (take(t->word, "slots", &value)) {
            e.mig.slots = (uint8_t)value;
        } else if (take(t->word, "of", &value)) {
            e.mig.device_slots = (uint8_t)value;
        } else {
            must(take(t->word, "model", &value));
            e.mig.model = (uint8_t)value;
        }
    tell(w, e);
}

static void say_mix(struct world *w, struct words *t)
{
    struct event e = {.kind = EVENT_MIX,
                      .mix = {.row = subject(t), .models = UINT64_MAX, .milli = MILLI_FULL}};
    int64_t value;

    while (next_of_command(t))
        if (value_of(t->word, "models"))
            e.mix.models = hex(value_of(t->word, "models"));
        else if (take(t->word, "cpu", &e.mix.cpu_milli))
            continue;
        else if (take(t->word, "of", &value))
            e.mix.rows = (uint32_t)value;
        else if (take(t->word, "count", &value))
            e.mix.count = (uint32_t)value;
        else if (take(t->word, "milli", &value))
            e.mix.milli = (uint16_t)value;
        else {
            must(take(t->word, "gpus", &value));
            e.mix.gpus = (uint8_t)value;
        }
    tell(w, e);
}

/* ---- jobs ---- */

static bool job_word(const char *word, struct event_job *j)
{
    int64_t value;

    if (take(word, "est", &j->est_ns) || take(word, "submit", &j->submit_ns))
        return true;
    if (take(word, "team", &value))
        j->team = (uint32_t)value;
    else if (take(word, "prio", &value))
        j->priority = (int32_t)value;
    else if (is(word, "apart"))
        j->flags &= (uint8_t)~JOB_SHARES_CARD;
    else if (value_of(word, "need"))
        j->required = scope_bits(value_of(word, "need"));
    else if (value_of(word, "prefer"))
        j->preferred_count = (uint8_t)scopes_of(value_of(word, "prefer"), j->preferred);
    else
        return false;
    return true;
}

static void podset_word(const char *word, struct event_podset *p)
{
    int64_t value;

    if (take(word, "cpu", &p->cpu_milli) || take(word, "mem", &p->mem_mib) ||
        take(word, "extra", &p->extra[0]) || take(word, "extra1", &p->extra[1]))
        return;
    if (take(word, "pods", &value))
        p->pods = p->pods_min = (uint32_t)value;
    else if (take(word, "min", &value))
        p->pods_min = (uint32_t)value;
    else if (take(word, "gpus", &value))
        p->gpus = (uint8_t)value;
    else if (take(word, "milli", &value))
        p->milli = (uint16_t)value;
    else if (take(word, "mib", &value))
        p->share_mib = (uint32_t)value;
    else if (take(word, "mig", &value))
        p->profile = (uint32_t)value;
    else if (take(word, "class", &value))
        p->class_id = (uint32_t)value;
    else if (value_of(word, "in"))
        p->required = scope_bits(value_of(word, "in"));
    else {
        must(take(word, "slice", &value));
        p->slice_pods = (uint32_t)value;
        p->slice_scope = (uint8_t)scope_of(strchr(word, '@') + 1);
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

    while (next_of_command(t)) {
        if (is(t->word, "+")) {
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
    uint32_t key = subject(t), pod = 0;
    struct event e = {.kind = kind};
    uint16_t on = 0;
    int64_t value;

    if (kind == EVENT_SEAT)
        e.seat.key = key;
    else
        e.confirm.key = key;
    while (next_of_command(t))
        if (value_of(t->word, "on")) {
            on = devices_of(value_of(t->word, "on"));
        } else if (take(t->word, "pod", &value)) {
            pod = (uint32_t)value;
        } else if (take(t->word, "podset", &value)) {
            e.seat.podset = (uint32_t)value;
        } else if (take(t->word, "slot", &value)) {
            e.seat.slot = (uint8_t)value;
        } else {
            must(take(t->word, "host", &value));
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
    struct event e = {.kind = EVENT_JOB_SET, .job_set = {.key = subject(t), .est_ns = -1}};
    int64_t value;

    while (next_of_command(t))
        if (take(t->word, "prio", &value)) {
            e.job_set.priority = (int32_t)value;
        } else {
            must(take(t->word, "est", &e.job_set.est_ns));
        }
    tell(w, e);
}

/* ---- commands of a fixed number of words ---- */

static uint8_t state_of(struct words *t)
{
    static const char *const state[] = {"absent", "up", "drain", "down", "odd"};
    uint8_t n = 0;

    must(next_of_command(t));
    while (!is(state[n], t->word))
        must(++n < 5);
    return n;
}

static struct event plain(const struct world *w, struct words *t, const char *verb)
{
    struct event e = {.kind = EVENT_COUNT};
    uint32_t first = subject(t);

    (void)w;
    if (is(verb, "state"))
        e = (struct event){.kind = EVENT_HOST_STATE, .host_state = {first, state_of(t)}};
    else if (is(verb, "gone"))
        e = (struct event){.kind = EVENT_HOST_GONE, .host_gone = {first}};
    else if (is(verb, "leave"))
        e = (struct event){.kind = EVENT_HOST_LEAVE,
                           .host_leave = {first, next_of_command(t) ? number(t->word, 10) : 0}};
    else if (is(verb, "device")) {
        uint8_t device = (uint8_t)subject(t), state = state_of(t);

        e = (struct event){.kind = EVENT_DEVICE,
                           .device = {first, device,
                                      state == HOST_UP     ? DEVICE_UP
                                      : state == HOST_DOWN ? DEVICE_DOWN
                                                           : 2}};
    } else if (is(verb, "uuid")) {
        uint8_t device = (uint8_t)subject(t);

        e = (struct event){.kind = EVENT_UUID, .uuid = {first, device, subject(t)}};
    } else if (is(verb, "seated"))
        e = (struct event){.kind = EVENT_SEATED, .seated = {first}};
    else if (is(verb, "stop"))
        e = (struct event){.kind = EVENT_STOP, .stop = {first}};
    else if (is(verb, "end"))
        e = (struct event){.kind = EVENT_END, .end = {first}};
    else if (is(verb, "level")) {
        uint8_t chain = (uint8_t)subject(t);

        e = (struct event){.kind = EVENT_LEVEL,
                           .level = {(uint8_t)first, chain, (uint8_t)subject(t)}};
    } else if (is(verb, "domain")) {
        uint8_t level = (uint8_t)subject(t);

        e = (struct event){.kind = EVENT_DOMAIN, .domain = {first, level, subject(t)}};
    } else if (is(verb, "price")) {
        e = (struct event){.kind = EVENT_PRICE,
                           .price = {(uint8_t)first, next_of_command(t) ? number(t->word, 10) : 0}};
    }
    must(e.kind != EVENT_COUNT);
    return e;
}

/* One command whose verb has been read; false: it was a step or a word of time, nothing is left. */
static void run_command(struct world *w, struct words *t, const char *verb)
{
    if (is(verb, "hosts") || is(verb, "host"))
        say_hosts(w, t, is(verb, "host"));
    else if (is(verb, "ask"))
        say_ask(w, t);
    else if (is(verb, "config"))
        say_config(w, t);
    else if (is(verb, "class"))
        say_class(w, t);
    else if (is(verb, "team"))
        say_team(w, t);
    else if (is(verb, "mig"))
        say_mig(w, t);
    else if (is(verb, "mix"))
        say_mix(w, t);
    else if (is(verb, "seat"))
        say_seat(w, t, EVENT_SEAT);
    else if (is(verb, "confirm"))
        say_seat(w, t, EVENT_CONFIRM);
    else if (is(verb, "set"))
        say_set(w, t);
    else if (is(verb, "at"))
        w->at_ns = subject(t);
    else if (is(verb, "bare"))
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

    while (next_word(&t)) {
        char verb[sizeof(t.word)];

        memcpy(verb, t.word, sizeof(verb));
        if (is(verb, ";"))
            continue;
        if (is(verb, "step"))
            say_step(w);
        else
            run_command(w, &t, verb);
        if (w->out.size > sizeof(w->bytes) / 2)
            world_settle(w);
    }
}
