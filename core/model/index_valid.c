#include "core/model/index.h"
#include "core/model/model.h"

/* Hosts that something new may start on; the index counts no others. */
static bool serves(const struct model *m, uint32_t host)
{
    return host_row(m, host)->state == HOST_UP;
}

static uint32_t whole_of(const struct model *m, uint32_t host)
{
    return index_bin(m, host_row(m, host)) / (BIN_SHARE_STEPS * BIN_CPU_STEPS);
}

static uint32_t milli_of(const struct host *h)
{
    uint32_t sum = 0;

    for (unsigned d = 0; d < h->gpus; d++)
        sum += h->free_milli[d];
    return sum > h->unknown_gpus * MILLI_FULL ? sum - h->unknown_gpus * MILLI_FULL : 0;
}

/* The breed's slots are its hosts in id order. Returns how many of them serve, or ROW_NONE. */
static bool of_breed(const struct model *m, uint32_t host, uint32_t breed)
{
    const struct kind *a = kind_row(m, host_row(m, host)->kind);
    const struct kind *b = kind_row(m, index_breed(m, breed)->kind);

    return a->model == b->model && a->gpus == b->gpus && a->cpu_milli == b->cpu_milli;
}

static uint32_t slots_served(const struct model *m, uint32_t breed)
{
    uint32_t slot = 0, served = 0;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
        if (host_row(m, h)->state == HOST_ABSENT || !of_breed(m, h, breed))
            continue;
        if (slot == index_breed(m, breed)->slot_count || index_slot_host(m, breed, slot) != h)
            return ROW_NONE;
        served += serves(m, h);
        slot++;
    }
    return slot == index_breed(m, breed)->slot_count ? served : ROW_NONE;
}

static bool bins_valid(const struct model *m, uint32_t breed)
{
    const struct breed_bins *k = index_breed(m, breed);
    uint32_t served = slots_served(m, breed), found = 0;

    if (served == ROW_NONE)
        return false;
    for (uint32_t bin = 0; bin < BINS; bin++) {
        uint32_t slot = index_bin_next(m, breed, bin, 0);

        if ((k->filled[bin / 64] >> bin % 64 & 1) != (slot != ROW_NONE))
            return false;
        for (; slot != ROW_NONE; slot = index_bin_next(m, breed, bin, slot + 1)) {
            uint32_t host = index_slot_host(m, breed, slot);

            if (!serves(m, host) || index_bin(m, host_row(m, host)) != bin)
                return false;
            found++;
        }
    }
    return found == served;
}

static bool in_domain(const struct model *m, uint32_t host, uint32_t domain)
{
    if (domain == ROW_NONE)
        return true;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (board_row(m, host)->domain[l] == domain)
            return true;
    return false;
}

static bool cell_valid(const struct model *m, uint32_t domain, const struct cell *c)
{
    struct cell sum = {.hosts = 0};

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
        if (!serves(m, h) || !in_domain(m, h, domain) ||
            kind_row(m, host_row(m, h)->kind)->model != c->model)
            continue;
        sum.hosts++;
        sum.by_whole[whole_of(m, h)]++;
        sum.free_milli += milli_of(host_row(m, h));
    }
    for (unsigned w = 0; w <= GPUS_MAX; w++)
        if (sum.by_whole[w] != c->by_whole[w])
            return false;
    return sum.hosts == c->hosts && sum.free_milli == c->free_milli && c->domain == domain;
}

/* Every host that serves stands in exactly one cell of the domain, and every cell is right. */
static bool cells_valid(const struct model *m, uint32_t domain)
{
    uint64_t models = 0;

    for (uint32_t c = index_cell_first(m, domain); c != ROW_NONE; c = index_cell(m, c)->next) {
        if (models >> index_cell(m, c)->model & 1 || !cell_valid(m, domain, index_cell(m, c)))
            return false;
        models |= (uint64_t)1 << index_cell(m, c)->model;
    }
    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (serves(m, h) && in_domain(m, h, domain) &&
            !(models >> kind_row(m, host_row(m, h)->kind)->model & 1))
            return false;
    return true;
}

static bool sum_valid(const struct model *m, uint32_t domain)
{
    struct domain_sum sum = {0};

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
        const struct host *r = host_row(m, h);

        if (r->state == HOST_ABSENT || !in_domain(m, h, domain))
            continue;
        sum.whole += serves(m, h) ? whole_of(m, h) : 0;
        sum.devices += r->gpus;
        sum.ailing +=
            r->state != HOST_UP || r->healthy != (1u << r->gpus) - 1 ? (uint32_t)r->gpus : 0;
    }
    return sum.whole == index_sum(m, domain)->whole &&
           sum.devices == index_sum(m, domain)->devices &&
           sum.ailing == index_sum(m, domain)->ailing;
}

static bool kind_valid(const struct model *m, uint32_t kind)
{
    const struct cell *c = index_kind(m, kind);
    uint64_t free_milli = 0;
    uint32_t hosts = 0, whole = 0, whole_counted = 0;

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++)
        if (serves(m, h) && host_row(m, h)->kind == kind) {
            hosts++;
            whole += whole_of(m, h);
            free_milli += milli_of(host_row(m, h));
        }
    for (uint32_t w = 0; w <= GPUS_MAX; w++)
        whole_counted += w * c->by_whole[w];
    return hosts == c->hosts && whole == whole_counted && free_milli == c->free_milli;
}

static bool ailing_valid(const struct model *m)
{
    uint32_t next = index_ailing_next(m, 0);

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
        const struct host *r = host_row(m, h);
        bool ails =
            r->state != HOST_ABSENT && (r->state != HOST_UP || r->healthy != (1u << r->gpus) - 1);

        if (ails != (next == h))
            return false;
        if (ails)
            next = index_ailing_next(m, h + 1);
    }
    return next == ROW_NONE;
}

static bool members_valid(const struct model *m, uint32_t domain)
{
    uint32_t count = 0, n = 0;
    const uint32_t *member = index_members(m, domain, &count);

    for (uint32_t h = 0; h < model_count(m, TABLE_HOST); h++) {
        if (host_row(m, h)->state == HOST_ABSENT || !in_domain(m, h, domain))
            continue;
        if (n == count || member[n++] != h)
            return false;
    }
    return n == count;
}

static bool queue_valid(const struct model *m)
{
    uint32_t count = 0, waits = 0;
    const uint32_t *job = index_waiting(m, &count);

    for (uint32_t n = 0; n < count; n++)
        if (job_row(m, job[n])->state != JOB_WAITING ||
            (n > 0 && !index_job_before(m, job[n - 1], job[n])))
            return false;
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++) {
        if (job_row(m, j)->state == JOB_FREE)
            continue;
        waits += job_row(m, j)->state == JOB_WAITING;
        if (index_job_find(m, job_row(m, j)->key) != j)
            return false;
    }
    return waits == count;
}

bool index_valid(const struct model *m)
{
    for (uint32_t k = 0; k < index_breeds(m); k++)
        if (!bins_valid(m, k))
            return false;
    for (uint32_t k = 0; k < model_count(m, TABLE_KIND); k++)
        if (!kind_valid(m, k))
            return false;
    if (!ailing_valid(m))
        return false;
    for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++)
        if (!cells_valid(m, d) || !members_valid(m, d) || !sum_valid(m, d))
            return false;
    return cells_valid(m, ROW_NONE) && sum_valid(m, ROW_NONE) && queue_valid(m);
}
