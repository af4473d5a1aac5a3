#include "core/place/frag.h"

#include <string.h>

struct frag_host frag_host(const struct model *m, const struct host *h)
{
    struct frag_host f = {
        .cpu_free_milli = h->cpu_free_milli, .model = kind_row(m, h->kind)->model, .gpus = h->gpus};

    memcpy(f.free_milli, h->free_milli, sizeof(f.free_milli));
    return f;
}

struct frag_host frag_after(const struct frag_host *before, const struct podset *p, int64_t milli,
                            uint16_t devices)
{
    struct frag_host f = *before;

    f.cpu_free_milli -= p->cpu_milli;
    for (unsigned d = 0; d < f.gpus; d++)
        if (devices >> d & 1)
            f.free_milli[d] = f.free_milli[d] > milli ? (uint16_t)(f.free_milli[d] - milli) : 0;
    return f;
}

/* The host's free GPU in the order that the classes ask of it. */
struct free_sum {
    uint32_t all, whole_count, broken_count, broken_max;
    uint16_t broken[GPUS_MAX];
};

static struct free_sum sum_of(const struct frag_host *h)
{
    struct free_sum s = {0};

    for (unsigned d = 0; d < h->gpus; d++) {
        uint16_t free = h->free_milli[d];

        s.all += free;
        if (free == MILLI_FULL) {
            s.whole_count++;
        } else if (free) {
            s.broken[s.broken_count++] = free;
            s.broken_max = free > s.broken_max ? free : s.broken_max;
        }
    }
    return s;
}

/* Free milli that a runnable class cannot use: what lies on devices smaller than its ask. */
static uint32_t too_small(const struct free_sum *s, uint32_t ask)
{
    uint32_t sum = 0;

    for (uint32_t n = 0; n < s->broken_count; n++)
        sum += s->broken[n] < ask ? s->broken[n] : 0;
    return sum;
}

int64_t frag_of(const struct model *m, const struct frag_host *h)
{
    struct free_sum s = sum_of(h);
    uint32_t classes = model_count(m, TABLE_MIX);
    int64_t sum = 0;

    if (s.all == 0)
        return 0;
    for (uint32_t c = 0; c < classes; c++) {
        const struct mix *x = mix_row(m, c);
        bool runs = x->gpus > 0 && (x->models >> h->model & 1) &&
                    x->cpu_milli <= h->cpu_free_milli &&
                    (x->milli < MILLI_FULL ? s.whole_count > 0 || s.broken_max >= x->milli
                                           : s.whole_count >= x->gpus);

        sum += (int64_t)x->count * (runs ? too_small(&s, x->milli) : s.all);
    }
    return sum;
}
