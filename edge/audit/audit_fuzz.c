/* Any bytes as a dump: a report or a sentence, never anything else; the books take every fact. */
#include "edge/audit/report.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void report(struct facts *f)
{
    struct books b;
    struct figures g;
    struct out out = {NULL, 0, 0};
    struct err err;

    if (books_open(&b, f, &err) != 0)
        abort(); /* the core refused a fact */
    figures_open(&g, &b, 1764547200);

    struct report r = {.f = f, .b = &b, .g = &g};

    if (g.sum.all != g.sum.held + g.sum.free + g.sum.unhealthy + g.sum.not_ready + g.sum.cordoned)
        abort();
    report_text(&r, &out);
    report_json(&r, &out);
    out_free(&out);
    figures_close(&g);
    books_close(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facts f;
    struct stream s = {.object = facts_object, .context = &f};
    struct err err = {""};
    int code;

    facts_open(&f);
    code = stream_bytes(&s, "F", (const char *)data, size, &err);
    if (code && !err.text[0])
        abort();
    if (!code && facts_settle(&f, NULL, &err) == 0)
        report(&f);
    facts_close(&f);
    return 0;
}
