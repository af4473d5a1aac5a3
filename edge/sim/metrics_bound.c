/* Percentiles, and the machine that no cluster can beat. */
#include "edge/base/memory.h"
#include "edge/sim/metrics_parts.h"

#include <stdlib.h>

void sample_add(struct sample *s, int64_t value)
{
    s->value = out_grow(s->value, s->count, &s->limit, sizeof(*s->value));
    s->value[s->count++] = value;
    s->sum += value;
}

void sample_free(struct sample *s)
{
    free(s->value);
    *s = (struct sample){0};
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

int64_t sample_rank(struct sample *s, unsigned pct)
{
    size_t rank = (s->count * pct + 99) / 100;

    if (s->count == 0)
        return 0;
    qsort(s->value, s->count, sizeof(*s->value), by_value);
    return s->value[rank > 0 ? rank - 1 : 0];
}

int64_t sample_max(const struct sample *s)
{
    int64_t max = 0;

    for (size_t i = 0; i < s->count; i++)
        max = s->value[i] > max ? s->value[i] : max;
    return max;
}

struct heap {
    struct ideal_job *row;
    size_t count;
};

static void sink_row(struct heap *h, size_t at)
{
    struct ideal_job row = h->row[at];

    for (size_t down; (down = at * 2 + 1) < h->count; at = down) {
        if (down + 1 < h->count && h->row[down + 1].work < h->row[down].work)
            down++;
        if (h->row[down].work >= row.work)
            break;
        h->row[at] = h->row[down];
    }
    h->row[at] = row;
}

static void push(struct heap *h, struct ideal_job row)
{
    size_t at = h->count++;

    for (; at > 0 && h->row[(at - 1) / 2].work > row.work; at = (at - 1) / 2)
        h->row[at] = h->row[(at - 1) / 2];
    h->row[at] = row;
}

/* Time is scaled by the machine's speed, so that a unit of it does a unit of work, exactly. */
struct ideal ideal_machine(const struct ideal_job *job, size_t count, int64_t machine_nano)
{
    struct heap h = {.row = memory_zeroed(sizeof(*h.row) * (count + 1))};
    struct ideal ideal = {0};
    wide now = 0;
    size_t next = 0;

    while (next < count || h.count > 0) {
        wide arrives =
            next < count ? (wide)(job[next].submit_ns - job[0].submit_ns) * machine_nano : now;

        if (next < count && (arrives <= now || h.count == 0)) {
            now = arrives > now ? arrives : now;
            push(&h, job[next++]);
            continue;
        }
        struct ideal_job *first = &h.row[0];
        if (next < count && now + first->work > arrives) {
            first->work -= arrives - now;
            now = arrives;
            continue; /* less is left of it: it stays on top */
        }
        now += first->work;
        ideal.jct_sum_over += now - (wide)(first->submit_ns - job[0].submit_ns) * machine_nano;
        ideal.last_over = now;
        h.row[0] = h.row[--h.count];
        sink_row(&h, 0);
    }
    free(h.row);
    return ideal;
}
