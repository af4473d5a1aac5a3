#include "core/place/explain.h"

#include "core/base/bits.h"
#include "core/model/index.h"
#include "core/model/job.h"
#include "core/place/choose.h"
#include "core/place/gang.h"

/* True if no pod of the job minds the limit: the question without it is the one that was refused.
 */
static bool is_idle(const struct model *m, uint32_t job, uint32_t limit)
{
    const struct job *j = job_row(m, job);
    bool idle = limit == LIMIT(UNKNOWN) ? config_row(m)->unknown_seats == 0
                                        : limit != LIMIT(TOPOLOGY) || j->required == 0;

    for (uint32_t id = j->podset_head; id != ROW_NONE && idle; id = podset_row(m, id)->next) {
        const struct podset *p = podset_row(m, id);

        if (limit == LIMIT(CPU))
            idle = p->cpu_milli == 0;
        else if (limit == LIMIT(MEM))
            idle = p->mem_mib == 0;
        else if (limit == LIMIT(EXTRA))
            idle = p->extra[0] == 0 && p->extra[1] == 0;
        else if (limit == LIMIT(TOPOLOGY))
            idle = p->required == 0 && p->slice_pods == 0 &&
                   (!podset_is_share(p) || (j->flags & JOB_SHARES_CARD));
        else if (limit != LIMIT(UNKNOWN))
            idle = false;
    }
    return idle;
}

/* Would the refused gang fit without these limits? */
static enum verdict without(const struct model *m, uint32_t job, uint32_t dropped)
{
    struct view v = view_of(m, job);

    if (is_idle(m, job, dropped))
        return VERDICT_NO;
    v.dropped = dropped;
    v.beside = true;
    return gang_fits(&v);
}

static bool fits_without(const struct model *m, uint32_t job, uint32_t dropped)
{
    return without(m, job, dropped) == VERDICT_FITS;
}

/* The questions without one limit, each asked once. */
struct singles {
    const struct model *m;
    uint32_t job;
    uint32_t asked; /* LIMIT() bits */
    enum verdict verdict[LIMIT_COUNT];
};

static enum verdict without_one(struct singles *s, unsigned limit_bit)
{
    if (!(s->asked >> limit_bit & 1))
        s->verdict[limit_bit] = without(s->m, s->job, 1u << limit_bit);
    s->asked |= 1u << limit_bit;
    return s->verdict[limit_bit];
}

static uint64_t allowed_models(const struct model *m, uint32_t job)
{
    uint64_t models = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next)
        if (podset_row(m, p)->gpus)
            models |= class_row(m, podset_row(m, p)->class_id)->models;
    return models;
}

static int64_t free_milli(const struct model *m, uint32_t job)
{
    uint64_t models = allowed_models(m, job);
    int64_t sum = 0;

    for (uint32_t c = index_cell_first(m, ROW_NONE); c != ROW_NONE; c = index_cell(m, c)->next)
        if (models >> index_cell(m, c)->model & 1)
            sum += (int64_t)index_cell(m, c)->free_milli;
    return sum;
}

static int64_t least_milli(const struct model *m, const struct view *v, uint32_t job)
{
    int64_t sum = 0;

    for (uint32_t p = job_row(m, job)->podset_head; p != ROW_NONE; p = podset_row(m, p)->next) {
        const struct podset *s = podset_row(m, p);
        int64_t one = (int64_t)s->milli * s->gpus;

        sum += one * podset_least(v, s);
    }
    return sum;
}

static enum reason_code never_code(const struct model *m, uint32_t job)
{
    uint32_t empty = LIMIT(BUSY) | LIMIT(HEALTH) | LIMIT(UNKNOWN);

    if (fits_without(m, job, empty | LIMIT(TOPOLOGY)))
        return WHY_NEVER_TOPOLOGY;
    if (fits_without(m, job, empty | LIMIT(MODEL)) || fits_without(m, job, empty | LIMIT(CLASS)))
        return WHY_NEVER_MODEL;
    return WHY_NEVER_SIZE;
}

static enum reason_code code_of(struct singles *s, enum verdict verdict)
{
    static const struct {
        enum limit_bit limit;
        enum reason_code code;
    } order[] = {
        {LIMIT_BIT_HEALTH, WHY_HEALTH}, {LIMIT_BIT_CPU, WHY_CPU},     {LIMIT_BIT_MEM, WHY_MEM},
        {LIMIT_BIT_PODS, WHY_PODS},     {LIMIT_BIT_EXTRA, WHY_EXTRA},
    };
    const struct model *m = s->m;
    struct view v = view_of(m, s->job);

    if (verdict == VERDICT_UNPROVEN)
        return config_row(m)->unknown_seats && without_one(s, LIMIT_BIT_UNKNOWN) == VERDICT_FITS
                   ? WHY_UNKNOWN
                   : WHY_UNPROVEN;
    if (without(m, s->job, LIMIT(BUSY) | LIMIT(HEALTH) | LIMIT(UNKNOWN)) == VERDICT_NO)
        return never_code(m, s->job);
    for (unsigned n = 0; n < sizeof(order) / sizeof(order[0]); n++)
        if (without_one(s, order[n].limit) == VERDICT_FITS)
            return order[n].code;
    return free_milli(m, s->job) < least_milli(m, &v, s->job) ? WHY_SHORTAGE : WHY_SCATTERED;
}

enum reason_code explain_code(const struct model *m, uint32_t job, enum verdict verdict)
{
    struct singles s = {.m = m, .job = job};

    return code_of(&s, verdict);
}

static void find_binding(struct singles *s, struct refusal *r)
{
    r->binding_known = true;
    for (unsigned l = 0; l < BINDING_LIMITS; l++) {
        enum verdict verdict = without_one(s, l);

        if (verdict == VERDICT_FITS)
            r->binding |= 1u << l;
        r->binding_known &= verdict != VERDICT_UNPROVEN;
    }
}

struct refusal explain_refusal(const struct model *m, uint32_t job, enum verdict verdict)
{
    const struct job *j = job_row(m, job);
    const struct podset *p = podset_row(m, j->podset_head);
    struct view v = view_of(m, job);
    struct singles s = {.m = m, .job = job};
    struct refusal r = {.code = code_of(&s, verdict), .fits = verdict};
    uint64_t required = view_required(&v, p);

    v.beside = true;
    r.never = r.code <= WHY_NEVER_SIZE;
    r.pods = podset_least(&v, p);
    r.ask_milli = least_milli(m, &v, job);
    r.free_milli = free_milli(m, job);
    r.free_known = config_row(m)->inexact_podsets == 0 && allowed_models(m, job) != 0;
    r.scope = required ? bits_low(required) : SCOPE_OF_CLUSTER;
    if (verdict == VERDICT_NO)
        find_binding(&s, &r);
    r.best_known = j->podsets == 1 && bits_count64(required) <= 1 && p->slice_pods == 0 &&
                   config_row(m)->unknown_seats == 0;
    if (j->podsets == 1)
        r.best_pods = choose_most(&v, p);
    return r;
}
