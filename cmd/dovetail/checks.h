/* checks.h - runs that answer yes or no: scenarios and files of small worlds */
#ifndef CMD_DOVETAIL_CHECKS_H
#define CMD_DOVETAIL_CHECKS_H

#include "core/place/score.h"

struct worlds_options {
    const char *path, *out; /* out: folder for logs, journals and summary.json, or NULL */
    const enum scorer_id *policy;
    unsigned policy_count;
    enum order order;
    uint32_t budget_steps; /* 0: as usual */
    bool scan_all, json;
};

int check_scenarios(int count, char **path);
int check_worlds(const struct worlds_options *o);

#endif
