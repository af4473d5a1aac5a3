#include "edge/sim/words.h"

#include <string.h>

#include "core/place/lifetime.h"
#include "edge/sim/feed.h"

struct reason_row {
    const char *code, *english, *chinese;
    enum reason_kind kind;
    unsigned cures;
};

static const struct reason_row reason_table[REASON_COUNT] = {
#define REASON_ROW(name, code, kind, cures, en, zh) {code, en, zh, kind, cures},
    REASON_MAP(REASON_ROW)};

static const struct {
    unsigned bit;
    const char *text;
} cure_table[] = {
    {CURE_FREED, "something that runs ends"},
    {CURE_GREW, "hosts or devices are added, repaired or released"},
    {CURE_QUOTA, "the team's limit rises, or the team gives GPUs back"},
    {CURE_ASK, "the job asks for less"},
};

void words_free(struct words *t)
{
    out_free(&t->text);
    out_free(&t->cure);
}

/* The level to speak of: a pod alone that names none needs one node. */
static unsigned level_of(const struct refusal *r)
{
    return r->scope == SCOPE_OF_CLUSTER && r->best_known && r->pods <= 1 ? SCOPE_OF_HOST : r->scope;
}

/* Which of the domains around a place is somebody's own is not told. */
static const char *level_name(const struct world *w, const struct refusal *r)
{
    return r->code == WHY_EXCLUSIVE && r->scope == SCOPE_OF_CLUSTER
               ? "domain"
               : feed_scope_name(w, level_of(r));
}

/* Copies the sentence and fills its {words} in. */
static void fill(struct out *t, const char *sentence, const struct world *w,
                 const struct refusal *r)
{
    while (*sentence) {
        const char *end = *sentence == '{' ? strchr(sentence, '}') : NULL;

        if (!end) {
            out_char(t, *sentence++);
            continue;
        }
        if (strncmp(sentence, "{gpus}", 6) == 0)
            out_decimal(t, r->ask_milli, 3);
        else if (strncmp(sentence, "{free}", 6) == 0)
            out_decimal(t, r->free_milli, 3);
        else if (strncmp(sentence, "{best}", 6) == 0)
            out_integer(t, r->best_pods);
        else if (strncmp(sentence, "{pods}", 6) == 0)
            out_integer(t, r->pods);
        else if (strncmp(sentence, "{level}", 7) == 0)
            out_add(t, level_name(w, r));
        sentence = end + 1;
    }
}

static void join_cures(struct out *t, unsigned cures)
{
    bool first = true;

    for (unsigned n = 0; n < sizeof(cure_table) / sizeof(cure_table[0]); n++)
        if (cures & cure_table[n].bit) {
            out_add(t, first ? "" : ", or ");
            out_add(t, cure_table[n].text);
            first = false;
        }
}

void words_refusal(struct words *t, const struct world *w, const struct decision *d,
                   struct record *r)
{
    const struct refusal *f = &d->refusal;
    const struct reason_row *row = &reason_table[f->code];

    out_clear(&t->text);
    out_clear(&t->cure);
    fill(&t->text, row->english, w, f);
    join_cures(&t->cure, row->cures);
    r->fits = f->fits == VERDICT_NO     ? RECORD_FITS_NO
              : f->fits == VERDICT_FITS ? RECORD_FITS_YES
                                        : RECORD_FITS_UNPROVEN;
    r->final = d->final;
    r->reason = (struct record_reason){.code = row->code,
                                       .text = t->text.bytes,
                                       .cure = t->cure.bytes,
                                       .free_gpu_milli = f->free_known ? f->free_milli : -1,
                                       .best_pods = f->best_known ? (int64_t)f->best_pods : -1,
                                       .binding = f->binding_known ? (int32_t)f->binding : -1,
                                       .runner_up_node = WORLD_NONE};
}

/* The smallest level that contains every pod, and its domain's name. */
static void name_domain(const struct world *w, struct record *r)
{
    struct record_reason *reason = &r->reason;

    reason->domain_level = "node";
    reason->domain = w->node[r->pods[0].node].name;
    for (uint32_t n = 1; n < r->pod_count; n++)
        if (r->pods[n].node != r->pods[0].node)
            reason->domain = NULL;
    for (uint32_t l = 0; l < w->level_count && !reason->domain; l++) {
        uint32_t domain = w->node[r->pods[0].node].domain[l];
        bool all = domain != WORLD_NONE;

        for (uint32_t n = 1; n < r->pod_count && all; n++)
            all = w->node[r->pods[n].node].domain[l] == domain;
        if (all) {
            reason->domain_level = w->level[l].name;
            reason->domain = w->level[l].domain[domain];
        }
    }
    if (!reason->domain) {
        reason->domain_level = "cluster";
        reason->domain = w->cluster_name ? w->cluster_name : "";
    }
}

static bool by_lifetime(const struct spot *spot)
{
    for (unsigned n = 0; n < spot->term_count; n++)
        if (strcmp(spot->term[n].name, LIFETIME_TERM) == 0)
            return true;
    return false;
}

void words_start(struct words *t, const struct world *w, const struct decision *d, struct record *r)
{
    const struct spot *best = &d->plan.best, *second = &d->plan.second;

    out_clear(&t->text);
    r->reason = (struct record_reason){.code = "placed",
                                       .free_gpu_milli = -1,
                                       .best_pods = -1,
                                       .binding = -1,
                                       .runner_up_node = WORLD_NONE};
    name_domain(w, r);
    if (best->host != ROW_NONE) {
        out_add(&t->text, second->host == ROW_NONE ? "the only host that holds it"
                          : by_lifetime(best)      ? "it keeps its host and leaf busy for least "
                                                     "time beyond the others there; then least cost"
                                                   : "least cost of all hosts that hold it");
        if (second->host != ROW_NONE)
            r->reason.runner_up_node = second->host;
        for (unsigned n = 0; n < best->term_count && n < RECORD_TERMS_MAX; n++)
            r->reason.term[r->reason.term_count++] =
                (struct record_term){best->term[n].name, best->term[n].unit, best->term[n].value,
                                     second->host != ROW_NONE ? second->term[n].value : 0};
    } else if (strcmp(r->reason.domain_level, "cluster") == 0) {
        out_format(&t->text, "%u pods, not in one domain of any level", r->pod_count);
    } else {
        out_format(&t->text, r->pod_count == 1 ? "%u pod in one %s" : "%u pods together in one %s",
                   r->pod_count, r->reason.domain_level);
    }
    r->reason.text = t->text.bytes;
}

void words_reference(FILE *out)
{
    static const char *const kinds[] = {"never", "not now", "policy", "not proven"};

    fprintf(out, "# Reasons\n\nWhy a job waits or was let go. Generated from "
                 "`core/model/reason.h` by `make docs`.\n\n"
                 "| code | kind | sentence | what would change it | 中文 |\n|--|--|--|--|--|\n");
    for (unsigned n = 0; n < REASON_COUNT; n++) {
        struct out cures = {NULL, 0, 0};

        join_cures(&cures, reason_table[n].cures);
        fprintf(out, "| `%s` | %s | %s | %s | %s |\n", reason_table[n].code,
                kinds[reason_table[n].kind], reason_table[n].english,
                cures.bytes ? cures.bytes : "", reason_table[n].chinese);
        out_free(&cures);
    }
}
