#include "tests/kit/world.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/engine/apply.h"
#include "core/model/host.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "tests/kit/world_text.h"

void world_grow(struct world *w, const struct limits *l)
{
    size_t bytes = (sched_bytes(l) + 63) / 64 * 64;
    void *block = aligned_alloc(64, bytes);

    must(block != NULL);
    memset(block, 0xA5, bytes);
    if (w->block)
        sched_move(&w->s, block, l);
    else
        sched_init(&w->s, block, l);
    free(w->block);
    w->block = block;
    w->limits = *l;
}

void world_open(struct world *w, const struct limits *limits)
{
    struct limits l = limits ? *limits : sched_limits_small();

    memset(w, 0, sizeof(*w));
    w->out = (struct wire_out){.byte = w->bytes, .limit = sizeof(w->bytes)};
    w->config = (struct event_config){.budget_steps = 20000};
    world_grow(w, &l);
    world_say(w,
              "class 0 models=ffffffffffffffff nodes=ffffffffffffffff; "
              "class 1 models=1 nodes=ffffffffffffffff; class 2 models=2 nodes=ffffffffffffffff");
}

void world_close(struct world *w)
{
    free(w->block);
    w->block = NULL;
}

void world_tell(struct world *w, const struct event *e)
{
    event_put(&w->out, e);
    must(!w->out.full);
}

bool world_valid(const struct world *w)
{
    const struct model *m = w->s.m;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (!host_valid(m, h))
            return false;
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        if (!job_valid(m, j))
            return false;
    return index_valid(m) && model_digest(w->s.m) == model_digest_anew(m);
}

static void make_room(struct world *w)
{
    struct limits l;

    while (sched_short(&w->s, w->bytes, w->out.size, &l)) {
        uint64_t digest = sched_digest(&w->s);

        world_grow(w, &l);
        must(sched_digest(&w->s) == digest);
        w->moves++;
    }
}

void world_settle(struct world *w)
{
    struct wire_in in;
    struct event e;

    make_room(w);
    in = (struct wire_in){.byte = w->bytes, .end = w->bytes + w->out.size};
    while (event_get(&in, &e))
        apply_event(w->s.m, &e, &in);
    index_settle(w->s.m);
    w->out.size = 0;
    must(world_valid(w));
}

bool world_step(struct world *w)
{
    size_t size = w->out.size;
    bool more;

    make_room(w);
    w->out.size = 0;
    more = sched_step(&w->s, w->bytes, size);
    must(world_valid(w));
    return more;
}

struct view world_view(const struct world *w, uint32_t key)
{
    uint32_t job = index_job_find(w->s.m, key);

    must(job != ROW_NONE);
    return view_of(w->s.m, job);
}

const struct podset *world_podset(const struct world *w, uint32_t key, unsigned n)
{
    uint32_t p = job_row(w->s.m, index_job_find(w->s.m, key))->podset_head;

    for (; n > 0; n--)
        p = podset_row(w->s.m, p)->next;
    return podset_row(w->s.m, p);
}

const char *world_say(struct world *w, const char *text)
{
    world_run_text(w, text);
    world_settle(w);
    return w->said;
}

const char *world_once(const char *text)
{
    static struct world w;

    world_open(&w, NULL);
    world_say(&w, text);
    world_close(&w);
    return w.said;
}
