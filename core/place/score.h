/* score.h - where a single pod goes: the scorers, and the search that asks them
 *
 * A scorer looks at one host that fits and says which devices it would take there and what that
 * costs. The search takes the least cost; equal costs go by the scorer's tie rule and then to the
 * lowest id. Scorers are compiled in, one small file each in scorers/: a new one is a file, a line
 * in SCORER_MAP, and it is in the command line, the documentation and the tests.
 *
 * Units   cost has the unit that the scorer states; lower is better. Terms are its named parts.
 */
#ifndef PLACE_SCORE_H
#define PLACE_SCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/model/index.h"
#include "core/place/rules/rules.h"
#include "core/place/view.h"

#define TERMS_MAX 6

struct term {
    const char *name, *unit; /* static texts */
    int64_t value;
};

/* What a scorer is asked: the pod, on a host that has room for it. */
struct score_ask {
    const struct view *view;
    const struct podset *podset;
    int64_t milli; /* on each device that the pod takes, on this host's kind */
    uint32_t host;
    uint16_t within; /* devices that it may take */
};

/* A place for one pod. */
struct spot {
    int64_t cost;
    uint64_t tie;
    uint32_t host; /* ROW_NONE: none */
    uint16_t devices;
    uint8_t slot;
    uint8_t term_count;
    struct term term[TERMS_MAX];
};

/* A search compares costs first; only the winner needs its devices chosen well, and its terms. */
enum score_detail { SCORE_COST, SCORE_FULL };

/* Hosts that look alike: what a bin of the index knows of them. */
struct score_bin {
    const struct model *m;
    const struct podset *podset;
    int64_t milli;          /* as in score_ask */
    uint32_t kind;          /* one of the hosts' kinds: they share model, CPU and devices */
    uint32_t whole;         /* devices wholly free */
    uint32_t broken_max;    /* largest free share on a broken device, upper end of its step */
    int64_t cpu_free_milli; /* middle of its step */
    int64_t *share_growth;  /* the scorer's memory for this ask, by step of broken_max; INT64_MIN:
                             * not computed yet */
};

struct scorer {
    const char *name, *idea, *helps_when, *hurts_when;
    /* Fills devices and cost; with SCORE_FULL the terms too, and then the devices are those to
     * take. False: no devices after all. */
    bool (*place)(const struct score_ask *a, struct spot *ret_spot, enum score_detail detail);
    /* About what the cheapest host of the bin costs, rather less than more; NULL: the scorer wants
     * every host looked at. */
    int64_t (*guess)(const struct score_bin *b);
    bool ties_by_seed;   /* equal costs by a permutation of the hosts drawn from the seed */
    spread_rule *spread; /* how it spreads equal pods of a gang; NULL: as the search does */
};

/* X(NAME, symbol): the symbol is defined in scorers/<name>.c. The first is the default. */
#define SCORER_MAP(X)                                                                              \
    X(DOVETAIL, scorer_dovetail)                                                                   \
    X(FGD, scorer_fgd)                                                                             \
    X(BEST_FIT, scorer_best_fit)                                                                   \
    X(FIRST_FIT, scorer_first_fit)                                                                 \
    X(RANDOM, scorer_random)                                                                       \
    X(DOT_PRODUCT, scorer_dot_product)                                                             \
    X(GPU_PACKING, scorer_gpu_packing)                                                             \
    X(GPU_CLUSTERING, scorer_gpu_clustering)                                                       \
    X(KUBE_DEFAULT, scorer_kube_default)                                                           \
    X(KUBE_BINPACK, scorer_kube_binpack)                                                           \
    X(KUEUE_LIKE, scorer_kueue_like)                                                               \
    X(KUEUE_LIKE_LEAST_FREE, scorer_kueue_like_least_free)                                         \
    X(KUEUE_LIKE_BALANCED, scorer_kueue_like_balanced)                                             \
    X(KAI_LIKE, scorer_kai_like)                                                                   \
    X(KAI_LIKE_SPREAD, scorer_kai_like_spread)

#define SCORER_ENUM(name, symbol) SCORER_##name,
enum scorer_id { SCORER_MAP(SCORER_ENUM) SCORER_COUNT };
#define SCORER_DECLARE(name, symbol) extern const struct scorer symbol;
SCORER_MAP(SCORER_DECLARE)

const struct scorer *scorer_get(unsigned id);

/* The best spot for one pod on one host within a set of devices, or false. */
bool score_host(const struct view *v, const struct podset *p, uint32_t host, uint16_t within,
                struct spot *ret_spot, enum score_detail detail);

/* The same on devices that lie in one part of every partition named in scopes. */
bool score_confined(const struct view *v, const struct podset *p, uint32_t host, uint64_t scopes,
                    struct spot *ret_spot, enum score_detail detail);

/* Hosts that a search proposed by the index looks at, at most. */
#define SCORE_LOOKS_MAX 96

/* The best spot in the cluster for a pod alone in its gang, and the best on another host. scopes:
 * levels that it must lie in; above the host that its host has such a domain is all they ask. */
enum verdict score_search(struct view *v, const struct podset *p, uint64_t scopes,
                          struct spot *ret_best, struct spot *ret_second);

/* Device choices that several scorers share. */
uint16_t score_share_least(const struct score_ask *a);  /* least sufficient device(s) */
uint16_t score_whole_lowest(const struct score_ask *a); /* lowest free indices */
uint16_t score_whole_linked(const struct score_ask *a); /* by links and what stays whole */
/* Devices of the host on which a share of the podset fits now. */
uint16_t score_share_devices(const struct score_ask *a);
/* First legal slot for a MIG profile on the device that the spot names. */
uint8_t score_slot(const struct score_ask *a, uint16_t devices);

/* The devices for a pod as the published baselines choose them. */
uint16_t score_devices_plain(const struct score_ask *a);
/* GPUs of the host that are free, in milli. */
uint32_t score_free_milli(const struct host *h);
/* CPU within what a formula can multiply: 268,000 cores, the most that any scorer tells apart. */
int64_t score_cpu(int64_t cpu_milli);

#endif
