#include "core/place/rules/rules.h"

#include "core/place/score.h"

uint32_t rules_spread(struct view *v, const struct podset *p, uint32_t pods,
                      const struct portion **ret)
{
    spread_rule *spread = scorer_get(config_row(v->m)->scorer)->spread;
    union {
        const struct model *in;
        struct model *out;
    } door = {.in = v->m};
    struct portion *portion =
        (struct portion *)(void *)((char *)door.out + v->m->scratch_at); /* no fact */

    *ret = portion;
    return spread ? spread(v, p, pods, portion) : 0;
}

bool rules_in_one(const struct model *m, const struct portion *portion, uint32_t count,
                  unsigned scope)
{
    for (uint32_t n = 0; n < count; n++) {
        const struct board *first = board_row(m, portion[0].host);
        const struct board *b = board_row(m, portion[n].host);
        unsigned level = scope - SCOPE_OF_LEVEL;

        if (scope == SCOPE_OF_HOST
                ? n > 0
                : b->domain[level] == ROW_NONE || b->domain[level] != first->domain[level])
            return false;
    }
    return true;
}

unsigned rules_scope(const struct view *v, const struct portion *portion, uint32_t count)
{
    if (rules_in_one(v->m, portion, count, SCOPE_OF_HOST))
        return SCOPE_OF_HOST;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (level_row(v->m, l)->used && level_row(v->m, l)->chain == 0 &&
            rules_in_one(v->m, portion, count, SCOPE_OF_LEVEL + l))
            return SCOPE_OF_LEVEL + l;
    return SCOPE_OF_CLUSTER;
}

bool rules_wish_met(const struct view *v, const struct portion *portion, uint32_t count)
{
    const struct job *j = job_row(v->m, v->job);

    if (j->preferred_count == 0 || j->preferred[0] == SCOPE_OF_CLUSTER)
        return true;
    return j->preferred[0] >= SCOPE_OF_HOST && rules_in_one(v->m, portion, count, j->preferred[0]);
}
