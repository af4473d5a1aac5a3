#include "core/model/index.h"

#include <string.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "core/model/index_parts.h"
#include "core/model/memo.h"

#define BIN_NONE 0xFFFFu

static uint64_t carve(uint64_t *end, uint64_t bytes)
{
    uint64_t start = *end;

    *end += (bytes + 63) / 64 * 64;
    return start;
}

static uint32_t map_size(uint32_t jobs)
{
    uint32_t size = 8;

    while (size < 2 * (uint64_t)jobs)
        size *= 2;
    return size;
}

static uint64_t layout(struct index *x, const struct limits *l)
{
    uint64_t end = 0, hosts = l->rows[TABLE_HOST], jobs = l->rows[TABLE_JOB];
    uint64_t domains = l->rows[TABLE_DOMAIN], kinds = l->rows[TABLE_KIND];

    carve(&end, sizeof(*x));
    x->cell_limit = l->cells;
    x->map_mask = map_size((uint32_t)jobs) - 1;
    x->marks_at = carve(&end, hosts * sizeof(struct host_mark));
    x->job_marks_at = carve(&end, jobs * sizeof(struct job_mark));
    x->kind_breeds_at = carve(&end, kinds * sizeof(uint32_t));
    x->breeds_at = carve(&end, kinds * sizeof(struct breed_bins));
    x->counts_at = carve(&end, kinds * BINS * sizeof(uint32_t));
    x->slots_at = carve(&end, hosts * sizeof(uint32_t));
    x->bits_limit = BINS * (hosts / 64 + kinds);
    x->bits_at = carve(&end, x->bits_limit * sizeof(uint64_t));
    x->cells_at = carve(&end, (uint64_t)l->cells * sizeof(struct cell));
    x->kind_cells_at = carve(&end, kinds * sizeof(struct cell));
    x->ailing_at = carve(&end, (hosts / 64 + 1) * sizeof(uint64_t));
    x->sums_at = carve(&end, (domains + 1) * sizeof(struct domain_sum));
    x->cell_first_at = carve(&end, (domains + 1) * sizeof(uint32_t));
    x->member_first_at = carve(&end, (domains + 1) * sizeof(uint32_t));
    x->members_at = carve(&end, hosts * LEVELS_MAX * sizeof(uint32_t));
    x->waiting_at = carve(&end, jobs * sizeof(uint32_t));
    x->map_at = carve(&end, ((uint64_t)x->map_mask + 1) * sizeof(uint32_t));
    x->note_mask = (jobs < ASK_NOTES_MAX ? map_size((uint32_t)jobs) / 2 : ASK_NOTES_MAX) - 1;
    x->notes_at = carve(&end, ((uint64_t)x->note_mask + 1) * sizeof(struct ask_note));
    x->memo_at = carve(&end, memo_bytes(l));
    return end;
}

size_t index_bytes(const struct limits *l)
{
    struct index probe;

    return (size_t)layout(&probe, l);
}

void index_init(struct model *m)
{
    struct index *x = index_of(m);

    memset(x, 0, sizeof(*x));
    layout(x, &m->limits);
    x->stale = 1;
    index_jobs_init(m);
    memo_init(index_memo(m), &m->limits);
}

struct memo_store *index_memo(const struct model *m)
{
    return (struct memo_store *)(void *)((char *)index_of(m) + index_of(m)->memo_at);
}

void index_stale(struct model *m)
{
    index_of(m)->stale = 1;
}

/* Hosts in service are those where something new may start. */
static bool host_serves(const struct host *h)
{
    return h->state == HOST_UP;
}

static uint32_t host_free_milli(const struct host *h)
{
    uint32_t sum = 0;

    for (unsigned d = 0; d < h->gpus; d++)
        sum += h->free_milli[d];
    /* Some of the free devices are held by seats that nobody can place. */
    return sum > h->unknown_gpus * MILLI_FULL ? sum - h->unknown_gpus * MILLI_FULL : 0;
}

/* CPU that goes with so many free devices if all devices of the host get the same. */
static int64_t cpu_fair(const struct kind *k, uint32_t whole)
{
    return k->gpus ? k->cpu_milli / k->gpus * (whole ? whole : 1) : k->cpu_milli;
}

static uint32_t cpu_step(const struct kind *k, const struct host *h, uint32_t whole)
{
    int64_t fair = cpu_fair(k, whole), cpu = h->cpu_free_milli;

    if (k->cpu_milli >= BIN_CPU_MAX || fair <= 0 || cpu >= 2 * fair)
        return BIN_CPU_STEPS - 1;
    return cpu <= 0 ? 0 : (uint32_t)(cpu * 4 / fair);
}

int64_t index_bin_cpu(const struct kind *k, uint32_t whole, uint32_t cpu_step)
{
    if (k->cpu_milli >= BIN_CPU_MAX)
        return UNLIMITED;
    return cpu_fair(k, whole) * (2 * cpu_step + 1) / 8;
}

uint32_t index_bin(const struct model *m, const struct host *h)
{
    uint32_t whole = bits_count16(h->whole), share = 0;

    for (unsigned d = 0; d < h->gpus; d++)
        if (!(h->whole >> d & 1) && h->free_milli[d] > share)
            share = h->free_milli[d];
    whole = whole > h->unknown_gpus ? whole - h->unknown_gpus : 0;
    return index_bin_of(whole, index_share_step(share), cpu_step(kind_row(m, h->kind), h, whole));
}

static struct cell *cell_find(const struct model *m, uint32_t domain, uint32_t model)
{
    uint32_t domains = m->limits.rows[TABLE_DOMAIN];
    uint32_t *first = &cell_firsts(m)[domain == ROW_NONE ? domains : domain];
    struct index *x = index_of(m);
    uint32_t c = *first;

    while (c != ROW_NONE && cell_table(m)[c].model != model)
        c = cell_table(m)[c].next;
    if (c == ROW_NONE) {
        must(x->cell_count < x->cell_limit);
        c = x->cell_count++;
        cell_table(m)[c] = (struct cell){.domain = domain, .model = model, .next = *first};
        *first = c;
    }
    return &cell_table(m)[c];
}

static void cell_count_host(struct cell *c, uint32_t whole, uint32_t free_milli, bool add)
{
    uint32_t one = add ? 1 : UINT32_MAX;

    must(add || (c->hosts > 0 && c->by_whole[whole] > 0 && c->free_milli >= free_milli));
    c->hosts += one;
    c->by_whole[whole] += one;
    c->free_milli += add ? free_milli : 0 - (uint64_t)free_milli;
}

static void mark_count(struct model *m, uint32_t host, bool add)
{
    const struct host_mark *mark = &host_marks(m)[host];
    const struct board *b = board_row(m, host);
    uint32_t model = kind_row(m, host_row(m, host)->kind)->model;
    uint32_t whole = add ? mark->whole : 0 - (uint32_t)mark->whole;

    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (b->domain[l] != ROW_NONE) {
            cell_count_host(cell_find(m, b->domain[l], model), mark->whole, mark->free_milli, add);
            domain_sums(m)[b->domain[l]].whole += whole;
        }
    domain_sums(m)[m->limits.rows[TABLE_DOMAIN]].whole += whole;
    cell_count_host(cell_find(m, ROW_NONE, model), mark->whole, mark->free_milli, add);
    cell_count_host(&kind_cells(m)[host_row(m, host)->kind], mark->whole, mark->free_milli, add);
}

static void bin_put(struct model *m, uint32_t breed, uint32_t bin, uint32_t slot, bool in)
{
    struct breed_bins *k = &breed_table(m)[breed];
    uint64_t *bits = bin_bits(m) + k->bits_at + (uint64_t)bin * k->words;
    uint32_t *count = &bin_counts(m)[(uint64_t)breed * BINS + bin];

    if (in) {
        bits[slot / 64] |= (uint64_t)1 << slot % 64;
        k->filled[bin / 64] |= (uint64_t)1 << bin % 64;
        ++*count;
        return;
    }
    must(*count > 0);
    bits[slot / 64] &= ~((uint64_t)1 << slot % 64);
    if (--*count == 0)
        k->filled[bin / 64] &= ~((uint64_t)1 << bin % 64);
}

static struct host_mark mark_of(const struct model *m, uint32_t host, uint32_t slot)
{
    const struct host *h = host_row(m, host);
    struct host_mark mark = {.slot = slot, .bin = BIN_NONE};

    if (host_serves(h)) {
        mark.bin = (uint16_t)index_bin(m, h);
        mark.whole = (uint8_t)(mark.bin / (BIN_SHARE_STEPS * BIN_CPU_STEPS));
        mark.free_milli = host_free_milli(h);
    }
    return mark;
}

static void mark_ailing(struct model *m, uint32_t host)
{
    uint64_t *word = &ailing_bits(m)[host / 64], bit = (uint64_t)1 << host % 64;
    bool ails = host_ails(host_row(m, host));
    uint32_t gpus = ails ? host_row(m, host)->gpus : 0 - (uint32_t)host_row(m, host)->gpus;

    if (ails == ((*word & bit) != 0))
        return;
    *word ^= bit;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (board_row(m, host)->domain[l] != ROW_NONE)
            domain_sums(m)[board_row(m, host)->domain[l]].ailing += gpus;
    domain_sums(m)[m->limits.rows[TABLE_DOMAIN]].ailing += gpus;
}

void index_sync_host(struct model *m, uint32_t host)
{
    struct host_mark *mark = &host_marks(m)[host], now;
    uint32_t breed;

    if (index_of(m)->stale)
        return;
    memo_changed(index_memo(m), host);
    breed = kind_breeds(m)[host_row(m, host)->kind];
    now = mark_of(m, host, mark->slot);
    mark_ailing(m, host);
    if (now.bin != mark->bin) {
        if (mark->bin != BIN_NONE)
            bin_put(m, breed, mark->bin, mark->slot, false);
        if (now.bin != BIN_NONE)
            bin_put(m, breed, now.bin, now.slot, true);
    }
    if (now.bin == mark->bin && now.free_milli == mark->free_milli)
        return;
    if (mark->bin != BIN_NONE)
        mark_count(m, host, false);
    *mark = now;
    if (mark->bin != BIN_NONE)
        mark_count(m, host, true);
}

static bool same_breed(const struct kind *a, const struct kind *b)
{
    return a->model == b->model && a->gpus == b->gpus && a->cpu_milli == b->cpu_milli;
}

static void rebuild_breeds(struct model *m)
{
    struct index *x = index_of(m);
    uint32_t kinds = model_count(m, TABLE_KIND);

    memset(breed_table(m), 0, (size_t)m->limits.rows[TABLE_KIND] * sizeof(struct breed_bins));
    x->breeds = 0;
    for (uint32_t k = 0; k < kinds; k++) {
        uint32_t breed = 0;

        while (breed < x->breeds &&
               !same_breed(kind_row(m, breed_table(m)[breed].kind), kind_row(m, k)))
            breed++;
        if (breed == x->breeds)
            breed_table(m)[x->breeds++].kind = k;
        kind_breeds(m)[k] = breed;
    }
}

/* Slots of a breed in id order, and room for its bit sets. */
static void rebuild_slots(struct model *m)
{
    struct index *x = index_of(m);
    uint32_t hosts = model_count(m, TABLE_HOST), slot = 0;
    uint64_t bits = 0;

    for (uint32_t h = 0; h < hosts; h++)
        if (host_row(m, h)->state != HOST_ABSENT)
            breed_table(m)[kind_breeds(m)[host_row(m, h)->kind]].slot_limit++;
    for (uint32_t b = 0; b < x->breeds; b++) {
        struct breed_bins *bins = &breed_table(m)[b];

        bins->slot_first = slot;
        bins->words = (bins->slot_limit + 63) / 64;
        bins->bits_at = bits;
        slot += bins->slot_limit;
        bits += (uint64_t)bins->words * BINS;
    }
    must(bits <= x->bits_limit);
    memset(bin_bits(m), 0, (size_t)bits * sizeof(uint64_t));
    memset(bin_counts(m), 0, (size_t)x->breeds * BINS * sizeof(uint32_t));
}

/* Devices by domain; the other sums come host by host. */
static void rebuild_sums(struct model *m)
{
    struct domain_sum *sum = domain_sums(m);
    uint32_t hosts = model_count(m, TABLE_HOST), domains = m->limits.rows[TABLE_DOMAIN];

    memset(sum, 0, ((size_t)domains + 1) * sizeof(*sum));
    for (uint32_t h = 0; h < hosts; h++)
        for (unsigned l = 0; l < LEVELS_MAX && host_row(m, h)->state != HOST_ABSENT; l++)
            if (board_row(m, h)->domain[l] != ROW_NONE)
                sum[board_row(m, h)->domain[l]].devices += host_row(m, h)->gpus;
    for (uint32_t h = 0; h < hosts; h++)
        sum[domains].devices += host_row(m, h)->gpus;
}

/* Counting sort of the hosts into their domains. */
static void rebuild_members(struct model *m)
{
    uint32_t domains = model_count(m, TABLE_DOMAIN), hosts = model_count(m, TABLE_HOST);
    uint32_t *first = member_firsts(m), sum = 0;

    memset(first, 0, ((size_t)m->limits.rows[TABLE_DOMAIN] + 1) * sizeof(uint32_t));
    for (uint32_t h = 0; h < hosts; h++)
        for (unsigned l = 0; l < LEVELS_MAX && host_row(m, h)->state != HOST_ABSENT; l++)
            if (board_row(m, h)->domain[l] != ROW_NONE)
                first[board_row(m, h)->domain[l] + 1]++;
    for (uint32_t d = 0; d <= domains; d++) {
        sum += first[d];
        first[d] = sum;
    }
    for (uint32_t h = hosts; h-- > 0;) /* from the end: first[d + 1] counts down to its start */
        for (unsigned l = 0; l < LEVELS_MAX && host_row(m, h)->state != HOST_ABSENT; l++)
            if (board_row(m, h)->domain[l] != ROW_NONE)
                member_table(m)[--first[board_row(m, h)->domain[l] + 1]] = h;
    for (uint32_t d = 0; d < domains; d++) /* now first[d + 1] is where d starts */
        first[d] = first[d + 1];
    first[domains] = sum;
}

void index_rebuild(struct model *m)
{
    struct index *x = index_of(m);
    uint32_t hosts = model_count(m, TABLE_HOST);

    rebuild_breeds(m);
    rebuild_slots(m);
    rebuild_members(m);
    rebuild_sums(m);
    memo_forget(index_memo(m));
    memset(ailing_bits(m), 0, (size_t)(x->sums_at - x->ailing_at));
    x->cell_count = 0;
    memset(cell_firsts(m), 0xFF, ((size_t)m->limits.rows[TABLE_DOMAIN] + 1) * sizeof(uint32_t));
    memset(kind_cells(m), 0, (size_t)(x->ailing_at - x->kind_cells_at));
    x->stale = 0;
    for (uint32_t h = 0; h < hosts; h++) {
        struct host_mark *mark = &host_marks(m)[h];

        *mark = (struct host_mark){.bin = BIN_NONE};
        if (host_row(m, h)->state == HOST_ABSENT)
            continue;

        uint32_t breed = kind_breeds(m)[host_row(m, h)->kind];
        struct breed_bins *k = &breed_table(m)[breed];

        slot_hosts(m)[k->slot_first + k->slot_count] = h;
        mark_ailing(m, h);
        *mark = mark_of(m, h, k->slot_count++);
        if (mark->bin == BIN_NONE)
            continue;
        bin_put(m, breed, mark->bin, mark->slot, true);
        mark_count(m, h, true);
    }
    for (uint32_t j = 0; j < model_count(m, TABLE_JOB); j++)
        index_sync_job(m, j);
}

void index_settle(struct model *m)
{
    if (index_of(m)->stale)
        index_rebuild(m);
}

uint32_t index_breeds(const struct model *m)
{
    return index_of(m)->breeds;
}

const struct breed_bins *index_breed(const struct model *m, uint32_t breed)
{
    return &breed_table(m)[breed];
}

uint32_t index_bin_next(const struct model *m, uint32_t breed, uint32_t bin, uint32_t slot)
{
    const struct breed_bins *k = &breed_table(m)[breed];
    const uint64_t *bits = bin_bits(m) + k->bits_at + (uint64_t)bin * k->words;

    for (uint32_t w = slot / 64; w < k->words; w++) {
        uint64_t word = bits[w];

        if (w == slot / 64)
            word &= UINT64_MAX << slot % 64;
        if (word)
            return w * 64 + (uint32_t)__builtin_ctzll(word);
    }
    return ROW_NONE;
}

uint32_t index_slot_host(const struct model *m, uint32_t breed, uint32_t slot)
{
    return slot_hosts(m)[breed_table(m)[breed].slot_first + slot];
}

uint32_t index_cell_first(const struct model *m, uint32_t domain)
{
    return cell_firsts(m)[domain == ROW_NONE ? m->limits.rows[TABLE_DOMAIN] : domain];
}

uint32_t index_cells(const struct model *m)
{
    return index_of(m)->cell_count;
}

const struct cell *index_cell(const struct model *m, uint32_t cell)
{
    return &cell_table(m)[cell];
}

const struct domain_sum *index_sum(const struct model *m, uint32_t domain)
{
    return &domain_sums(m)[domain == ROW_NONE ? m->limits.rows[TABLE_DOMAIN] : domain];
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

const struct level_most *index_level_most(const struct model *m, unsigned level)
{
    struct index *x = index_of(m);
    uint64_t now = memo_changes(index_memo(m)) + 1;

    if (x->most_at != now) {
        memset(x->most, 0, sizeof(x->most));
        for (uint32_t d = 0; d < model_count(m, TABLE_DOMAIN); d++) {
            const struct domain_sum *sum = &domain_sums(m)[d];
            struct level_most *most = &x->most[domain_row(m, d)->level];

            most->whole = larger(most->whole, sum->whole);
            most->devices = larger(most->devices, sum->devices);
            most->whole_ailing = larger(most->whole_ailing, sum->whole + sum->ailing);
        }
        x->most_at = now;
    }
    return &x->most[level];
}

const struct cell *index_kind(const struct model *m, uint32_t kind)
{
    return &kind_cells(m)[kind];
}

uint32_t index_ailing_next(const struct model *m, uint32_t host)
{
    for (uint32_t w = host / 64; w <= model_count(m, TABLE_HOST) / 64; host = ++w * 64)
        if (ailing_bits(m)[w] >> host % 64)
            return host + bits_low(ailing_bits(m)[w] >> host % 64);
    return ROW_NONE;
}

const uint32_t *index_members(const struct model *m, uint32_t domain, uint32_t *ret_count)
{
    const uint32_t *first = member_firsts(m);

    *ret_count = first[domain + 1] - first[domain];
    return member_table(m) + first[domain];
}
