#include "edge/topo/matrix.h"

#include "edge/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Both halves of the matrix must say the same. */
static void join_halves(struct matrix *m)
{
    topo_links_make(m->t, m->h);
    for (uint32_t a = 0; a < m->count; a++)
        for (uint32_t b = a + 1; b < m->count; b++) {
            struct topo_link here = m->raw[(size_t)a * m->count + b];
            struct topo_link there = m->raw[(size_t)b * m->count + a];

            if (here.path == TOPO_PATH_UNKNOWN && !here.p2p)
                here = there;
            else if (there.path != TOPO_PATH_UNKNOWN &&
                     (here.path != there.path || here.links != there.links)) {
                topo_remark(m->t, m->h->device[b].line,
                            "%s and %s contradict each other about their link: it is unknown",
                            SHOWN(m->h->device[a].name), SHOWN(m->h->device[b].name));
                here.path = TOPO_PATH_UNKNOWN;
                here.links = 0;
                m->h->complete = false;
            }
            m->any_link = m->any_link || topo_path_joins(here.path);
            topo_link_set(m->h, a, b, here);
        }
}

/* A device whose row was cut is on the node of those it reaches without leaving a node. */
static void numa_by_paths(struct matrix *m)
{
    uint32_t *todo = memory_zeroed((m->count + (size_t)1) * sizeof(*todo));
    int32_t *node = memory_zeroed((m->count + (size_t)1) * sizeof(*node));
    uint32_t count = 0;

    for (uint32_t d = 0; d < m->count; d++) {
        node[d] = m->h->device[d].numa;
        if (node[d] != TOPO_NONE)
            todo[count++] = d;
    }
    for (uint32_t at = 0; at < count; at++)
        for (uint32_t d = 0; d < m->count; d++) {
            enum topo_path path = topo_link(m->h, todo[at], d)->path;

            if (node[d] != TOPO_NONE || path < TOPO_PATH_PIX || path > TOPO_PATH_NODE)
                continue;
            node[d] = node[todo[at]];
            todo[count++] = d;
        }
    for (uint32_t d = 0; d < m->count; d++) {
        struct topo_device *device = &m->h->device[d];

        if (!device->cut || device->kind == TOPO_DEVICE_NIC || device->numa != TOPO_NONE ||
            node[d] == TOPO_NONE)
            continue;
        device->numa = node[d];
        device->numa_by_paths = true;
        topo_remark(m->t, device->line, "NUMA node of %s follows from its paths, its row is cut",
                    SHOWN(device->name));
    }
    free(node);
    free(todo);
}

/* Where rows are missing and the text ends with a row, its last value may be half of one. */
static void distrust_last(struct matrix *m)
{
    bool missing = false;

    for (uint32_t d = 0; d < m->count; d++)
        missing = missing || !m->row_seen[d];
    for (uint32_t d = 0; d < m->count && missing && m->columns; d++) {
        struct topo_device *device = &m->h->device[d];

        if (device->kind == TOPO_DEVICE_NIC || device->line != m->last_line || device->cut)
            continue;
        device->cut = true;
        device->cpus = NULL;
        device->numa = device->memory_numa = TOPO_NONE;
        topo_remark(m->t, device->line,
                    "the text ends in the row of %s: its values are not trusted",
                    SHOWN(device->name));
    }
}

void matrix_finish(struct matrix *m)
{
    struct topo_host *h = m->h;
    uint32_t missing = 0, nics_missing = 0;

    distrust_last(m);

    for (uint32_t d = 0; d < m->count; d++) {
        bool nic = h->device[d].kind == TOPO_DEVICE_NIC;

        h->device[d].cut = h->device[d].cut || !m->row_seen[d];
        missing += !nic && h->device[d].cut;
        nics_missing += nic && !m->row_seen[d];
    }
    h->complete = h->complete && missing == 0 && nics_missing == 0;
    if (missing)
        topo_remark(m->t, h->line, "rows of devices that are cut or missing: %u", missing);
    if (nics_missing)
        topo_remark(m->t, h->line, "rows of NICs that are missing: %u", nics_missing);
    if (m->p2p) {
        h->abilities = true;
        topo_remark(m->t, h->line,
                    "a table of peer-to-peer abilities (topo -p2p) shows no links; "
                    "nvidia-smi topo -m does");
        join_halves(m);
        topo_host_sort(m->t, h, NULL);
        return;
    }
    join_halves(m);
    h->links_known = m->any_link || !m->legend || m->legend_links;
    if (!h->links_known) {
        topo_remark(m->t, h->line,
                    "the PCIe view (topo -mp) hides links; nvidia-smi topo -m "
                    "shows them");
    } else if (!m->any_link && !m->legend) {
        topo_remark(m->t, h->line,
                    "there is no legend: topo -mp, which hides links, would look "
                    "the same");
    }
    numa_by_paths(m);
    topo_bridges_find(m->t, h);
    topo_islands_find(m->t, h);
    topo_host_sort(m->t, h, NULL);
}

void matrix_join_abilities(struct topo *t)
{
    struct topo_host *last = &t->host[t->host_count - 1], *h = last - 1;

    if (t->host_count < 2 || !last->abilities || h->abilities || !h->link || !last->link ||
        h->gpu_count != last->gpu_count)
        return;
    for (uint32_t d = 0; d < h->gpu_count; d++)
        if (strcmp(h->device[d].name, last->device[d].name) != 0)
            return;
    for (uint32_t a = 0; a < h->gpu_count; a++)
        for (uint32_t b = 0; b < a; b++) {
            struct topo_link link = *topo_link(h, a, b);

            link.p2p = topo_link(last, a, b)->p2p;
            topo_link_set(h, a, b, link);
        }
    t->host_count--;
}

void matrix_name_kind(struct topo *t)
{
    bool links = false, abilities = false;

    for (size_t h = 0; h < t->host_count; h++) {
        links = links || t->host[h].links_known;
        abilities = abilities || t->host[h].abilities;
    }
    if (!links && t->kind == TOPO_MATRIX)
        t->kind = abilities ? TOPO_P2P : TOPO_MATRIX_MP;
}
