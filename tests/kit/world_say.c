#include "tests/kit/world_text.h"

#include <stdio.h>
#include <string.h>

#include "core/base/bits.h"
#include "core/base/must.h"

static void add(struct world *w, const char *text)
{
    size_t length = strlen(text);

    must(w->said_length + length < sizeof(w->said));
    memcpy(w->said + w->said_length, text, length + 1);
    w->said_length += length;
}

static void add_number(struct world *w, const char *before, uint32_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%s%u", before, value);
    add(w, text);
}

static void write_seat(struct world *w, const struct decision *d, const struct decision_seat *t)
{
    static const char digit[] = "0123456789abcdef";
    const struct model *m = w->s.m;
    uint32_t s = 0;

    add_number(w, " ", t->host);
    add(w, ":");
    for (uint16_t set = t->devices; set; set = (uint16_t)bits_drop_low(set))
        add(w, (const char[2]){digit[bits_low(set)], 0});
    if (!t->devices)
        add(w, "-");
    for (s = 0; s < model_count(m, TABLE_SEAT); s++)
        if (seat_row(m, s)->host == t->host && seat_row(m, s)->pod == t->pod &&
            seat_row(m, s)->devices == t->devices &&
            seat_row(m, s)->job < model_count(m, TABLE_JOB) && /* a dropped row is another thing */
            job_row(m, seat_row(m, s)->job)->key == d->key &&
            podset_row(m, seat_row(m, s)->podset)->profile != ROW_NONE) {
            add_number(w, "/", t->slot);
            return;
        }
}

static void write_refusal(struct world *w, const struct decision *d)
{
    static const char *const code[REASON_COUNT] = {
#define CODE_TEXT(name, text, kind, cures, en, zh) text,
        REASON_MAP(CODE_TEXT)};
    static const char *const limit[LIMIT_COUNT] = {
#define LIMIT_TEXT(name, text) text,
        LIMIT_MAP(LIMIT_TEXT)};
    const char *before = "(";

    add_number(w, "-", d->key);
    add(w, " ");
    add(w, code[d->refusal.code]);
    if (!d->refusal.binding_known)
        add(w, "(?)");
    for (unsigned l = 0; l < LIMIT_COUNT && d->refusal.binding_known; l++)
        if (d->refusal.binding >> l & 1) {
            add(w, before);
            add(w, limit[l]);
            before = " ";
        }
    if (*before == ' ')
        add(w, ")");
    if (d->final)
        add(w, "!");
}

void world_write_decisions(struct world *w)
{
    static const char *const mark[] = {
        [DECISION_START] = "+",
        [DECISION_PROMISE] = "~",
        [DECISION_GROW] = "^",
        [DECISION_SHRINK] = "v",
    };

    for (uint32_t n = 0; n < w->s.decision_count; n++) {
        const struct decision *d = &w->s.decision[n];

        if (w->said_length && w->said[w->said_length - 1] != '|')
            add(w, " ");
        if (d->kind == DECISION_REFUSE) {
            write_refusal(w, d);
            continue;
        }
        if (d->kind == DECISION_BREAK) {
            add_number(w, "!", d->key);
            continue;
        }
        add_number(w, mark[d->kind], d->key);
        if (d->kind == DECISION_PROMISE)
            add_number(w, "@", (uint32_t)(d->by_ns / 1000000000));
        if (d->kind == DECISION_SHRINK && d->by != ROW_NONE)
            add_number(w, "<", d->by);
        for (uint32_t s = 0; s < d->seat_count; s++)
            write_seat(w, d, &w->s.seat[d->seat_first + s]);
    }
}
