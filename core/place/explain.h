/* explain.h - why not: the code, the limits that bind, and the numbers
 *
 * A limit binds if, dropped alone, it would let the gang's minimum fit now. Each is asked by the
 * same search that refused. The claim is left out (binding_known false) where one of the answers is
 * not proven.
 */
#ifndef PLACE_EXPLAIN_H
#define PLACE_EXPLAIN_H

#include "core/model/reason.h"
#include "core/place/view.h"

#define BINDING_LIMITS 7 /* the limits that a refusal may name: busy .. topology */

struct refusal {
    enum reason_code code;
    enum verdict fits;
    bool never; /* the empty, healthy cluster could not hold it either */
    bool binding_known, free_known, best_known;
    uint32_t binding;     /* LIMIT() bits */
    int64_t free_milli;   /* free on hosts in service of allowed models */
    uint32_t best_pods;   /* most pods in one domain of the required level, cut to pods */
    uint32_t pods, scope; /* pods asked at least; the required scope */
    int64_t ask_milli;    /* GPUs of the minimum */
};

/* The verdict is what the search said: VERDICT_NO or VERDICT_UNPROVEN. */
struct refusal explain_refusal(const struct model *m, uint32_t job, enum verdict verdict);

/* The code alone, cheaply: enough to see whether the reason has changed. */
enum reason_code explain_code(const struct model *m, uint32_t job, enum verdict verdict);

#endif
