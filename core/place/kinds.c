#include "core/place/kinds.h"

#include "core/model/index.h"

/* Could an idle host of the kind hold a pod of the set? */
static bool kind_holds(const struct view *v, const struct kind *k, const struct podset *p)
{
    const struct class_row *c = class_row(v->m, p->class_id);
    bool holds = k->gpus >= p->gpus;

    holds &= !view_minds(v, LIMIT(MODEL)) || (c->models >> k->model & 1);
    holds &= !view_minds(v, LIMIT(CLASS)) || (c->nodes[k->class_id / 64] >> k->class_id % 64 & 1);
    holds &= !view_minds(v, LIMIT(CPU)) || k->cpu_milli >= p->cpu_milli;
    holds &= !view_minds(v, LIMIT(MEM)) || k->mem_mib >= p->mem_mib;
    holds &= !view_minds(v, LIMIT(PODS)) || k->pods >= 1;
    for (unsigned e = 0; e < EXTRAS_MAX; e++)
        holds &= !view_minds(v, LIMIT(EXTRA)) || k->extra[e] >= p->extra[e];
    return holds;
}

/* Do the hosts of the kind that are in service have the devices for one pod at all? */
static bool kind_has_room(const struct view *v, uint32_t kind, const struct podset *p)
{
    const struct cell *c = index_kind(v->m, kind);

    /* What unknown seats may hold does not count as free; without them it would. */
    if (!view_minds(v, LIMIT(BUSY)) || !view_minds(v, LIMIT(UNKNOWN)) || p->gpus == 0)
        return c->hosts > 0;
    if (podset_is_share(p))
        return p->share_mib || p->profile != ROW_NONE ? c->hosts > 0 : c->free_milli >= p->milli;
    for (unsigned f = p->gpus; f <= GPUS_MAX; f++)
        if (c->by_whole[f])
            return true;
    return false;
}

/* Pods of the set on the devices of one host of the kind: as many as some host has wholly free
 * now, or has at all. */
static uint32_t kind_on_devices(const struct view *v, uint32_t kind, const struct podset *p)
{
    const struct cell *c = index_kind(v->m, kind);
    uint32_t devices = kind_row(v->m, kind)->gpus;

    if (p->gpus == 0 || p->share_mib || p->profile != ROW_NONE)
        return UINT32_MAX;
    if (podset_is_share(p))
        return devices * (MILLI_FULL / p->milli);
    if (view_minds(v, LIMIT(BUSY)) && view_minds(v, LIMIT(HEALTH)) && view_minds(v, LIMIT(UNKNOWN)))
        while (devices > 0 && c->by_whole[devices] == 0)
            devices--;
    return devices / p->gpus;
}

uint32_t kinds_most(const struct view *v, const struct podset *p)
{
    uint32_t kinds = model_count(v->m, TABLE_KIND), most = 0;

    for (uint32_t id = 0; id < kinds; id++) {
        const struct kind *k = kind_row(v->m, id);
        uint32_t pods;

        if (!kind_holds(v, k, p))
            continue;
        pods = kind_on_devices(v, id, p);
        if (view_minds(v, LIMIT(CPU)))
            pods = view_times(k->cpu_milli, p->cpu_milli, pods);
        if (view_minds(v, LIMIT(MEM)))
            pods = view_times(k->mem_mib, p->mem_mib, pods);
        if (view_minds(v, LIMIT(PODS)))
            pods = view_times(k->pods, 1, pods);
        for (unsigned e = 0; e < EXTRAS_MAX && view_minds(v, LIMIT(EXTRA)); e++)
            pods = view_times(k->extra[e], p->extra[e], pods);
        most = pods > most ? pods : most;
    }
    return most;
}

bool kinds_serve(const struct view *v, const struct podset *p, const struct kind *breed)
{
    uint32_t kinds = model_count(v->m, TABLE_KIND);

    for (uint32_t id = 0; id < kinds; id++) {
        const struct kind *k = kind_row(v->m, id);

        if (breed && (k->model != breed->model || k->gpus != breed->gpus ||
                      k->cpu_milli != breed->cpu_milli))
            continue;
        if (kind_holds(v, k, p) && kind_has_room(v, id, p))
            return true;
    }
    return false;
}
