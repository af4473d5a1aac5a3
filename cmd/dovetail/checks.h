/* checks.h - runs that answer yes or no: scenarios and files of small worlds */
#ifndef CMD_DOVETAIL_CHECKS_H
#define CMD_DOVETAIL_CHECKS_H

#include "core/place/score.h"

int check_scenarios(int count, char **path);
int check_worlds(const char *path, enum scorer_id scorer, enum order order);

#endif
