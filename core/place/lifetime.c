#include "core/place/lifetime.h"

#include "core/base/bits.h"
#include "core/model/index.h"

#define STEP_NS    ((int64_t)3600 * 1000000000)
#define LEVEL_NONE LEVELS_MAX

unsigned lifetime_steps(int64_t drain_ns, int64_t end_ns)
{
    unsigned steps = 0;

    if (end_ns <= drain_ns)
        return 0;
    for (int64_t left = (end_ns - drain_ns) / STEP_NS + 1; left > 1; left >>= 1)
        steps++;
    return steps;
}

int64_t lifetime_drain_ns(const struct model *m, uint32_t host, int64_t now_ns)
{
    int64_t last = now_ns;

    for (uint32_t s = host_row(m, host)->seat_head; s != ROW_NONE;
         s = seat_row(m, s)->next_of_host) {
        const struct job *j = job_row(m, seat_row(m, s)->job);
        bool is_known = j->state == JOB_RUNNING && j->end_ns > config_row(m)->now_ns;
        int64_t end = is_known ? j->end_ns : INT64_MAX;

        last = end > last ? end : last;
    }
    return last;
}

/* A host that fits and what it is compared by; host ROW_NONE: none. */
struct choice {
    uint32_t host, steps, leaf_steps, leaf_unused, whole;
    int64_t cost;
};

static bool choice_before(const struct choice *a, const struct choice *b)
{
    if (b->host == ROW_NONE)
        return true;
    if (a->steps != b->steps)
        return a->steps < b->steps;
    if (a->leaf_steps != b->leaf_steps)
        return a->leaf_steps < b->leaf_steps;
    if (a->leaf_unused != b->leaf_unused)
        return a->leaf_unused < b->leaf_unused;
    if (a->whole != b->whole)
        return a->whole < b->whole;
    return a->cost != b->cost ? a->cost < b->cost : a->host < b->host;
}

struct hunt {
    struct view *v;
    const struct podset *p;
    uint64_t scopes;
    int64_t end_ns;
    struct choice best, second;
};

/* What all hosts of a leaf have in common. */
struct leaf {
    int64_t drain_ns;
    uint32_t unused;
};

static bool is_unused(const struct host *h)
{
    return h->gpus > 0 && h->whole == (uint16_t)bits_first(h->gpus) && h->seat_head == ROW_NONE;
}

static void look(struct hunt *h, uint32_t host, const struct leaf *leaf)
{
    const struct model *m = h->v->m;
    struct choice c = {.host = host, .leaf_unused = leaf->unused};
    struct spot s;

    h->v->steps++;
    if (!view_open(h->v, host, h->p) ||
        !score_confined(h->v, h->p, host, h->scopes, &s, SCORE_COST))
        return;
    c.steps = lifetime_steps(lifetime_drain_ns(m, host, h->v->at_ns), h->end_ns);
    c.leaf_steps = lifetime_steps(leaf->drain_ns, h->end_ns);
    c.whole = bits_count16(host_row(m, host)->whole);
    c.cost = s.cost;
    if (choice_before(&c, &h->best)) {
        h->second = h->best;
        h->best = c;
    } else if (choice_before(&c, &h->second)) {
        h->second = c;
    }
}

static void look_in_leaf(struct hunt *h, const uint32_t *host, uint32_t count)
{
    const struct model *m = h->v->m;
    struct leaf leaf = {h->v->at_ns, 0};

    for (uint32_t n = 0; n < count; n++) {
        int64_t drain = lifetime_drain_ns(m, host[n], h->v->at_ns);

        leaf.drain_ns = drain > leaf.drain_ns ? drain : leaf.drain_ns;
        leaf.unused += is_unused(host_row(m, host[n]));
    }
    for (uint32_t n = 0; n < count; n++)
        look(h, host[n], &leaf);
}

/* The smallest level of the first chain. */
static unsigned leaf_level(const struct model *m)
{
    unsigned best = LEVEL_NONE;

    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (level_row(m, l)->used && level_row(m, l)->chain == 0 &&
            (best == LEVEL_NONE || level_row(m, l)->rank < level_row(m, best)->rank))
            best = l;
    return best;
}

static void look_at_all(struct hunt *h)
{
    const struct model *m = h->v->m;
    unsigned level = leaf_level(m);

    for (uint32_t d = 0; level != LEVEL_NONE && d < model_count(m, TABLE_DOMAIN); d++) {
        uint32_t count = 0;
        const uint32_t *host;

        if (!domain_row(m, d)->used || domain_row(m, d)->level != level)
            continue;
        host = index_members(m, d, &count);
        look_in_leaf(h, host, count);
    }
    for (uint32_t host = 0; host < model_count(m, TABLE_HOST); host++)
        if (level == LEVEL_NONE || board_row(m, host)->domain[level] == ROW_NONE)
            look_in_leaf(h, &host, 1);
}

/* The devices of the host, and what spoke for it. */
static void fill(const struct hunt *h, const struct choice *c, struct spot *ret)
{
    static const char unit[] = "doublings of 1 h";

    *ret = (struct spot){.host = ROW_NONE};
    if (c->host == ROW_NONE || !score_confined(h->v, h->p, c->host, h->scopes, ret, SCORE_FULL))
        return;
    if (ret->term_count + 2 > TERMS_MAX)
        return;
    ret->term[ret->term_count++] = (struct term){LIFETIME_TERM, unit, c->steps};
    ret->term[ret->term_count++] = (struct term){"leaf kept busy longer", unit, c->leaf_steps};
}

bool lifetime_search(struct view *v, const struct podset *p, uint64_t scopes, struct spot *ret_best,
                     struct spot *ret_second)
{
    const struct job *j = job_row(v->m, v->job);
    struct hunt h = {v, p, scopes, 0, {.host = ROW_NONE}, {.host = ROW_NONE}};

    if (config_row(v->m)->scorer != SCORER_DOVETAIL || config_row(v->m)->reserves_max == 0 ||
        j->est_ns < 0 || j->est_ns > UNLIMITED - v->at_ns || p->gpus == 0 ||
        model_count(v->m, TABLE_HOST) > LIFETIME_HOSTS_MAX)
        return false;
    h.end_ns = v->at_ns + j->est_ns + (j->ran ? j->restart_ns : 0);
    look_at_all(&h);
    if (h.best.host == ROW_NONE)
        return false;
    fill(&h, &h.best, ret_best);
    fill(&h, &h.second, ret_second);
    return ret_best->host != ROW_NONE;
}
