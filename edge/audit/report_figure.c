/* Figures by name, for those who want a run to fail when one goes beyond a bound. */
#include "edge/audit/report_parts.h"

#include <stdlib.h>
#include <string.h>

#define PPM 1e6

static bool of_shape(const struct report *r, const char *name, double *ret)
{
    bool stranded = strncmp(name, "stranded", strlen("stranded")) == 0;
    const char *number = name + strlen(stranded ? "stranded" : "startable");
    char *end;
    unsigned long gpus;

    if (!stranded && strncmp(name, "startable", strlen("startable")) != 0)
        return false;
    gpus = strtoul(number, &end, 10);
    if (*number < '0' || *number > '9' || *end)
        return false;
    for (size_t n = 0; n < r->g->shape_count; n++) {
        const struct figures_shape *s = &r->g->shape[n];

        if (s->gpus != gpus || s->asked_by)
            continue;
        *ret = !stranded             ? (double)s->startable
               : s->stranded_ppm < 0 ? 0
                                     : (double)s->stranded_ppm / PPM;
        return true;
    }
    return false;
}

bool report_figure(const struct report *r, const char *name, double *ret_value)
{
    const struct figures *g = r->g;
    uint32_t jobs = 0, hits = 0, odd = 0;

    for (unsigned s = 0; s < SIZES; s++) {
        jobs += g->hits[s].jobs;
        hits += g->hits[s].hits;
    }
    for (unsigned o = 0; o < ODD_COUNT; o++)
        odd += r->f->odd[o].count;

    const struct {
        const char *name;
        double value;
    } figure[] = {
        {"gpus", g->sum.all},
        {"free", g->sum.free},
        {"held", g->sum.held},
        {"unhealthy", g->sum.unhealthy},
        {"cordoned", g->sum.cordoned},
        {"not_ready", g->sum.not_ready},
        {"allocated", g->sum.all ? (double)g->sum.held / g->sum.all : 0},
        {"waiting", (double)g->waiting_count},
        {"waiting_gpus", g->waiting_gpus},
        {"waiting_never", g->waiting_by[FIT_NEVER]},
        {"waiting_shortage", g->waiting_by[FIT_SHORTAGE]},
        {"waiting_fragmentation", g->waiting_by[FIT_FRAGMENTED]},
        {"hit", jobs ? (double)hits / jobs : 1},
        {"odd", odd},
    };

    for (size_t n = 0; n < sizeof(figure) / sizeof(figure[0]); n++)
        if (strcmp(name, figure[n].name) == 0) {
            *ret_value = figure[n].value;
            return true;
        }
    return of_shape(r, name, ret_value);
}
