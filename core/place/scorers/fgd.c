/* fgd - least growth of fragmentation against the task mix
 *
 * Weng et al., "Beware of Fragmentation" (USENIX ATC'23). The published results come from an
 * integer score, floor(100 x sigmoid(-growth in GPUs)); it is reproduced by the 99 growths at which
 * it changes, so that no exponential is computed here. Equal scores go by a permutation of the
 * hosts drawn from the seed.
 *
 * Helps when  many sizes of shares compete and the mix is known
 * Hurts when  the rest of two equal growths differs in what it costs later: it does not look ahead
 */
#include "core/base/bits.h"
#include "core/place/frag.h"
#include "core/place/score.h"

/* Growth in micro-GPUs at and below which the score is at least n: 1e6 x ln(100 / n - 1), n from 1
 * to 99, rounded down. tools/sigmoid.py prints the table. */
static const int32_t growth_max[99] = {
    4595119,  3891820,  3476098,  3178053,  2944438,  2751535,  2586689,  2442347,  2313634,
    2197224,  2090741,  1992430,  1900958,  1815289,  1734601,  1658228,  1585627,  1516347,
    1450010,  1386294,  1324925,  1265666,  1208311,  1152679,  1098612,  1045968,  994622,
    944461,   895384,   847297,   800119,   753771,   708185,   663294,   619039,   575364,
    532216,   489548,   447312,   405465,   363965,   322773,   281851,   241162,   200670,
    160342,   120144,   80042,    40005,    0,        -40006,   -80043,   -120145,  -160343,
    -200671,  -241163,  -281852,  -322774,  -363966,  -405466,  -447313,  -489549,  -532217,
    -575365,  -619040,  -663295,  -708186,  -753772,  -800120,  -847298,  -895385,  -944462,
    -994623,  -1045969, -1098613, -1152680, -1208312, -1265667, -1324926, -1386295, -1450011,
    -1516348, -1585628, -1658229, -1734602, -1815290, -1900959, -1992431, -2090742, -2197225,
    -2313635, -2442348, -2586690, -2751536, -2944439, -3178054, -3476099, -3891821, -4595120,
};

static int64_t points(int64_t growth_micro)
{
    int64_t low = 0, high = 99; /* points lie in low..high */

    while (low < high) {
        int64_t mid = (low + high + 1) / 2;

        if (growth_micro <= growth_max[mid - 1])
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

static int64_t growth_micro(const struct score_ask *a, const struct frag_host *before,
                            int64_t frag_before, uint16_t devices)
{
    const struct model *m = a->view->m;
    struct frag_host after = frag_after(before, a->podset, a->milli, devices);
    int64_t total = config_row(m)->mix_total;

    return total ? (frag_of(m, &after) - frag_before) * 1000 / total : 0;
}

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    const struct model *m = a->view->m;
    struct frag_host before = frag_host(m, host_row(m, a->host));
    int64_t frag_before = frag_of(m, &before), best = 0;
    uint16_t set;

    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    best = growth_micro(a, &before, frag_before, s->devices);
    set = a->podset->gpus == 1 && podset_is_share(a->podset) ? score_share_devices(a) : 0;
    for (; set; set = (uint16_t)bits_drop_low(set)) {
        uint16_t device = (uint16_t)(1u << bits_low(set));
        int64_t growth = growth_micro(a, &before, frag_before, device);

        if (growth < best) {
            best = growth;
            s->devices = device;
        }
    }
    s->cost = -points(best);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"fragmentation growth", "micro-GPU", best};
        s->term[1] = (struct term){"score", "points", -s->cost};
        s->term_count = 2;
    }
    return true;
}

const struct scorer scorer_fgd = {
    .name = "fgd",
    .idea = "least growth of fragmentation against the task mix",
    .helps_when = "many sizes of shares compete and the mix is known",
    .hurts_when = "the rest of two equal growths differs in what it costs later",
    .place = place,
    .ties_by_seed = true,
};
