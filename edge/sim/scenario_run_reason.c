/* Why a job waits, asked now, and what a scenario says of it. */
#include "edge/sim/scenario_run_parts.h"

#include <inttypes.h>
#include <string.h>

#include "core/model/index.h"
#include "core/place/gang.h"

#define MICRO 1000000ll

bool play_reason_now(struct play *p, uint32_t job, struct record *ret_record)
{
    struct model *m = p->driver.sched.m;
    const struct play_job *j = &p->job[job];
    uint32_t id = j->key == WORLD_NONE ? ROW_NONE : index_job_find(m, j->key);
    struct decision d = {.kind = DECISION_REFUSE};
    struct view v;

    *ret_record = play_blank(RECORD_REFUSE, job);
    if (id == ROW_NONE || !job_row(m, id)->told.known)
        return false;
    if (j->told.known &&
        (job_row(m, id)->told.fits == VERDICT_FITS || job_row(m, id)->state == JOB_RUNNING)) {
        ret_record->fits = (enum record_fits)j->told.fits;
        ret_record->reason.code = j->told.code;
        ret_record->reason.text = j->told.text.bytes;
        if (ret_record->fits == RECORD_FITS_YES)
            ret_record->reason.binding = 0;
        return true;
    }
    if (job_row(m, id)->state != JOB_WAITING)
        return false;
    v = view_of(m, id);
    d.refusal = explain_refusal(m, id, gang_fits(&v));
    if (job_row(m, id)->told.known) /* the code that the scheduler told */
        d.refusal.code = (enum reason_code)job_row(m, id)->told.code;
    words_refusal(&p->words, p->w, &d, ret_record);
    return true;
}

bool play_waits(const struct play *p, uint32_t job)
{
    return p->job[job].live.state == LIVE_WAITING || play_is_below(p, job);
}

static bool has_binding(const struct record *r, const struct tree *list)
{
    static const char *const names[] = {
#define BINDING_NAME(name, text) text,
        RECORD_BINDING_MAP(BINDING_NAME)};

    if (r->reason.binding < 0)
        return false;
    if (list->count == 0)
        return r->reason.binding == 0;
    for (const struct tree *t = list->child; t; t = t->next)
        for (unsigned b = 0; b < sizeof(names) / sizeof(names[0]); b++)
            if (strcmp(names[b], t->text) == 0 && !(r->reason.binding >> b & 1))
                return false;
    return true;
}

static void reason_text(struct out *out, const struct record *r)
{
    static const char *const fits[] = {"false", "true", "null"};
    static const char *const names[] = {
#define BINDING_TEXT(name, text) text,
        RECORD_BINDING_MAP(BINDING_TEXT)};

    out_format(out, "{fits: %s, code: %s", fits[r->fits], r->reason.code);
    if (r->reason.binding >= 0) {
        bool first = true;

        out_add(out, ", binding: [");
        for (unsigned b = 0; b < sizeof(names) / sizeof(names[0]); b++)
            if (r->reason.binding >> b & 1) {
                out_add(out, first ? "" : ", ");
                out_add(out, names[b]);
                first = false;
            }
        out_char(out, ']');
    }
    if (r->reason.free_gpu_milli >= 0) {
        out_add(out, ", free_gpus: ");
        out_decimal(out, r->reason.free_gpu_milli, 3);
    }
    if (r->reason.best_pods >= 0)
        out_format(out, ", best_pods: %" PRId64, r->reason.best_pods);
    out_format(out, ", text: %s}", r->reason.text ? r->reason.text : "");
}

static bool fits_is(const struct tree *fits, enum record_fits found)
{
    return fits->kind == TREE_NULL ? found == RECORD_FITS_UNPROVEN
                                   : found == (fits->truth ? RECORD_FITS_YES : RECORD_FITS_NO);
}

static bool reason_is(const struct tree *t, const struct record *r)
{
    const struct tree *fits = tree_find(t, "fits"), *code = reader_get(t, "code");
    const struct tree *text = reader_get(t, "text"), *binding = reader_get(t, "binding");
    const struct tree *free_gpus = reader_get(t, "free_gpus"), *best = reader_get(t, "best_pods");

    if (fits && !fits_is(fits, r->fits))
        return false;
    if (code && strcmp(code->text, r->reason.code) != 0)
        return false;
    if (text && (!r->reason.text || !strstr(r->reason.text, text->text)))
        return false;
    if (binding && !has_binding(r, binding))
        return false;
    if (free_gpus && (r->reason.free_gpu_milli < 0 ||
                      !play_amount(free_gpus, r->reason.free_gpu_milli * 1000, 0)))
        return false;
    return !best || (r->reason.best_pods >= 0 && play_amount(best, r->reason.best_pods * MICRO, 0));
}

bool play_expect_reason(struct play *p, const struct tree *t)
{
    uint32_t job = play_job_of(p, t);
    struct record r;
    bool fine = play_waits(p, job), reason = fine && play_reason_now(p, job, &r);

    if (fine && t->kind == TREE_MAP && t->count > 0)
        fine = reason && reason_is(t, &r);
    if (fine)
        return true;
    out_clear(&p->found);
    if (reason)
        reason_text(&p->found, &r);
    else
        play_describe(p, job, &p->found);
    return play_missed_in(p, "waiting", t);
}
