#include "core/place/profile.h"

#include "core/base/must.h"
#include "core/model/index.h"

#define STEP_TIMES                                                                                 \
    "step times of data-parallel jobs (AdaptDL OSDI'21 and Sia SOSP'23 artifacts): 8 GPUs as 4 + " \
    "4 on InfiniBand take x0.92 to x1.02 of those packed; 4 GPUs on Ethernet x1.23 to x2.83 as 2 " \
    "+ 2, x1.03 to x1.77 as 1 + 1 + 1 + 1"

const struct profile *profile_get(unsigned profile)
{
    static const struct profile table[COMM_COUNT] = {
        [COMM_OF_NONE] =
            {"none", "one host, else one domain of the first chain, the smallest that holds it",
             "nothing is known: few hosts are opened, and traffic that nobody told of "
             "stays near",
             "ranks do not talk: they take a large hole where small rests would do",
             "no gain is assumed"},
        [COMM_OF_ALLREDUCE] = {"allreduce", "the same: fewest hosts, then one leaf",
                               "links between hosts are slow", "links are fast: there is no gain",
                               STEP_TIMES},
        [COMM_OF_PIPELINE] =
            {"pipeline",
             "the same; ranks are numbered along the tree, so that neighbours are "
             "nearest",
             "only neighbours talk", "stages talk across, too",
             "Arnold (arXiv 2509.15940): groups placed by spread, +10.6 % end to end "
             "on 9,600 GPUs"},
        [COMM_OF_EXPERT] =
            {"expert",
             "one island, one host, then the domains of all chains by size, so that "
             "a supernode comes before a leaf that crosses it",
             "all ranks talk to all, inside a step",
             "the gang is larger than any supernode: it waits for nothing, but opens "
             "one",
             "link rates: 900 GB/s to 50 GB/s per H100 inside and outside a host, "
             "1,800 to 50 per GB200 inside and outside a rack"},
    };

    must(profile < COMM_COUNT);
    return &table[profile];
}

/* Hosts of the level, times 2^16, per domain. */
static uint64_t hosts_per_domain(const struct model *m, unsigned level)
{
    uint64_t hosts = 0, domains = 0;

    for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++) {
        uint32_t count = 0;

        if (!domain_row(m, d)->used || domain_row(m, d)->level != level)
            continue;
        index_members(m, d, &count);
        hosts += count;
        domains += count > 0;
    }
    return domains ? (hosts << 16) / domains : UINT64_MAX;
}

unsigned profile_ladder(const struct model *m, unsigned profile, uint8_t *ret_scope)
{
    uint64_t size[PROFILE_SCOPES_MAX] = {0};
    bool expert = profile == COMM_OF_EXPERT;
    unsigned count = 0, first;

    if (expert)
        ret_scope[count++] = SCOPE_OF_PART + SHAPE_ISLAND;
    ret_scope[count++] = SCOPE_OF_HOST;
    first = count;
    for (unsigned l = 0; l < LEVELS_MAX; l++) {
        uint64_t hosts = expert && level_row(m, l)->used ? hosts_per_domain(m, l) : 0;
        unsigned at = count;

        if (!level_row(m, l)->used || (!expert && level_row(m, l)->chain != 0))
            continue;
        for (; at > first && size[at - 1] > hosts; at--) {
            size[at] = size[at - 1];
            ret_scope[at] = ret_scope[at - 1];
        }
        size[at] = hosts;
        ret_scope[at] = (uint8_t)(SCOPE_OF_LEVEL + l);
        count++;
    }
    return count;
}
