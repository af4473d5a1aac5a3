/* kueue-like - how Kueue's topology-aware scheduling would place, in its published settings
 *
 * Gangs of equal pods go by core/place/rules/kueue.c and balanced.c. A pod alone goes to the host
 * that holds the fewest more of its kind, which is what least free capacity and best fit both come
 * to on hosts. Kueue counts and leaves the devices to the kubelet: the least sufficient for a
 * share, the lowest free ones for whole GPUs. Its single pods are not drawn to a domain that they
 * prefer.
 *
 * Helps when  gangs name the level that they prefer: domains are filled from the largest, the last
 *             one exactly
 * Hurts when  gangs name no level: hosts are filled from the smallest rest, across any distance
 */
#include "core/place/score.h"

static bool place(const struct score_ask *a, struct spot *s, enum score_detail detail)
{
    s->devices = score_devices_plain(a);
    if (a->podset->gpus && !s->devices)
        return false;
    s->cost = view_pods(a->view, a->host, a->podset, a->within);
    if (detail == SCORE_FULL) {
        s->term[0] = (struct term){"free capacity", "pods like it", s->cost};
        s->term_count = 1;
    }
    return true;
}

const struct scorer scorer_kueue_like = {
    .name = "kueue-like",
    .idea = "Kueue's topology-aware scheduling: best fit for gangs that name a level, least free "
            "capacity for others",
    .helps_when = "gangs name the level that they prefer",
    .hurts_when = "gangs name none: small rests of hosts are filled across any distance",
    .place = place,
    .spread = rule_kueue_like,
};

const struct scorer scorer_kueue_like_least_free = {
    .name = "kueue-like-least-free",
    .idea = "the same with least free capacity for all gangs",
    .helps_when = "small gangs come among large ones: large domains stay free",
    .hurts_when = "a gang needs several domains: it gets the smallest and so the most of them",
    .place = place,
    .spread = rule_kueue_like_least_free,
};

const struct scorer scorer_kueue_like_balanced = {
    .name = "kueue-like-balanced",
    .idea = "the same with balanced placement for preferred levels",
    .helps_when = "all ranks talk to all: equal parts share the links between domains best",
    .hurts_when = "rests matter: two half-filled hosts are left where one full one would do",
    .place = place,
    .spread = rule_kueue_like_balanced,
};
