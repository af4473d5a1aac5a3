/* Sentences that the terminal, the paragraph and JSON share. */
#include "edge/audit/report_parts.h"

#include "core/model/reason.h"
#include "edge/base/text.h"

#include <stdlib.h>
#include <string.h>

const char *report_name(const struct report *r, uint32_t name, char *out)
{
    const char *text = facts_name(r->f, name);

    return text_shown(out, SHOWN_BYTES, text, strlen(text));
}

const char *report_model(const struct report *r, uint32_t model, char *out)
{
    const struct facts_model *m = &r->f->model[model];

    return report_name(r, m->product ? m->product : m->resource, out);
}

void report_age(struct out *out, int64_t seconds)
{
    if (seconds < 0)
        out_add(out, "unknown");
    else if (seconds < 120)
        out_format(out, "%lld s", (long long)seconds);
    else if (seconds < 7200)
        out_format(out, "%lld min", (long long)(seconds / 60));
    else if (seconds < 172800)
        out_format(out, "%lld h", (long long)(seconds / 3600));
    else
        out_format(out, "%lld d", (long long)(seconds / 86400));
}

void report_share(struct out *out, int64_t part, int64_t all)
{
    if (all <= 0) {
        out_add(out, "-");
        return;
    }
    out_decimal(out, (part * 1000 + all / 2) / all, 1);
    out_add(out, " %");
}

static const char *const sentences[] = {
#define REPORT_SENTENCE(name, code, kind, cures, en, zh) en,
    REASON_MAP(REPORT_SENTENCE)};

/* Puts the numbers into the words of reason.h. */
static void fill(const struct report *r, const struct figures_waiting *w, struct out *out)
{
    for (const char *at = sentences[w->code]; *at;) {
        if (*at != '{') {
            out_char(out, *at++);
            continue;
        }
        if (strncmp(at, "{gpus}", 6) == 0)
            out_decimal(out, w->ask_milli, 3);
        else if (strncmp(at, "{free}", 6) == 0)
            out_decimal(out, w->free_milli, 3);
        else if (strncmp(at, "{best}", 6) == 0)
            out_integer(out, w->best_pods);
        else if (strncmp(at, "{pods}", 6) == 0)
            out_integer(out, w->pods_least);
        else
            out_add(out, books_scope(r->b, w->scope));
        at = strchr(at, '}') + 1;
    }
}

static void binding(const struct figures_waiting *w, struct out *out)
{
    static const char *const words[] = {
#define REPORT_LIMIT(NAME, text) text,
        LIMIT_MAP(REPORT_LIMIT)};
    const char *before = "; in the way: ";

    for (unsigned l = 0; l < BINDING_LIMITS; l++)
        if (w->binding >> l & 1) {
            out_format(out, "%s%s", before, words[l]);
            before = ", ";
        }
}

void report_why(const struct report *r, const struct figures_waiting *w, struct out *out)
{
    char shown[SHOWN_BYTES];

    if (w->gate) {
        out_format(out, "held by the scheduling gate %s", report_name(r, w->gate, shown));
        return;
    }
    if (w->claims) {
        out_add(out, "it asks for devices by resource claims, which this report does not read");
        return;
    }
    if (w->blind) {
        out_add(out, "the dump has no nodes");
        if (w->message)
            out_format(out, "; its scheduler says: %s", report_name(r, w->message, shown));
        return;
    }
    if (w->by_class) {
        out_add(out, "it would fit but for taints or node selectors");
        return;
    }
    if (!w->fits) {
        fill(r, w, out);
        binding(w, out);
        return;
    }
    out_add(out, "it would fit as the dump stands");
    if (w->affine)
        out_add(out, "; its pod affinity is not read here");
    if (w->message)
        out_format(out, "; its scheduler says: %s", report_name(r, w->message, shown));
}
