/* kube-default - what the default scheduler of Kubernetes does: spread by CPU and memory
 *
 * Helps when  pods without GPUs want quiet neighbours
 * Hurts when  GPUs: they are not scored, so every host is opened
 */
#include "core/place/score.h"

static int64_t used_ppm(int64_t capacity, int64_t left)
{
    /* Nobody asks a share of so much that it shows in a percent. */
    if (capacity >= (int64_t)1 << 42 || capacity <= 0 || left > capacity)
        return 0;
    return (left > -capacity ? capacity - left : 2 * capacity) * 1000000 / capacity;
}

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    const struct host *h = host_row(a->view->m, a->host);
    const struct kind *k = kind_row(a->view->m, h->kind);
    int64_t cpu = used_ppm(k->cpu_milli, h->cpu_free_milli - a->podset->cpu_milli);
    int64_t mem = used_ppm(k->mem_mib, h->mem_free_mib - a->podset->mem_mib);
    int64_t apart = cpu > mem ? cpu - mem : mem - cpu;

    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    /* LeastAllocated over two resources, and BalancedAllocation: the deviation of two is half
     * their difference. Both are whole points of 100, as upstream counts them. */
    s->cost = -((2000000 - cpu - mem) / 20000 + (2000000 - apart) / 20000);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"least allocated and balance", "points", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_kube_default = {
    .name = "kube-default",
    .idea = "what the default scheduler of Kubernetes does: spread by CPU and memory",
    .helps_when = "pods without GPUs want quiet neighbours",
    .hurts_when = "GPUs: they are not scored, so every host is opened",
    .place = place,
    .ties_by_seed = true,
};
