#include "core/model/memo.h"

#include <string.h>

#include "core/base/hash.h"
#include "core/base/must.h"
#include "core/model/index.h"

struct slot {
    struct memo_key key;
    uint64_t hash;
    uint64_t seen;      /* changes that it knows of */
    uint64_t opened_at; /* 0: never */
};

struct fact {
    struct memo_key key;
    uint64_t epoch; /* when it was noted; 0: never */
    uint64_t yes;
};

struct memo_store {
    uint64_t changes, openings;
    uint64_t epoch; /* how often everything was forgotten, and one */
    uint64_t hosts_at, domains_at, facts_at;
    uint32_t hosts, domains; /* of one slot */
    uint32_t facts;          /* a power of two */
    uint32_t pad;
    struct slot slot[MEMO_SLOTS];
    uint32_t log[MEMO_LOG]; /* hosts that changed: number n stands at n % MEMO_LOG */
};

static uint64_t layout(struct memo_store *s, const struct limits *l)
{
    uint64_t end = (sizeof(*s) + 63) / 64 * 64;

    s->hosts = (l->rows[TABLE_HOST] + 31) / 32 * 32;
    s->domains = (l->rows[TABLE_DOMAIN] + 15) / 16 * 16;
    s->hosts_at = end;
    end += (uint64_t)MEMO_SLOTS * s->hosts * sizeof(uint16_t);
    s->domains_at = end;
    end += (uint64_t)MEMO_SLOTS * s->domains * sizeof(uint32_t);
    s->facts_at = end;
    s->facts = 16;
    while (s->facts < l->rows[TABLE_JOB] && s->facts < MEMO_FACTS_MAX)
        s->facts *= 2;
    return end + s->facts * sizeof(struct fact);
}

size_t memo_bytes(const struct limits *l)
{
    struct memo_store probe;

    return (size_t)layout(&probe, l);
}

void memo_init(struct memo_store *s, const struct limits *l)
{
    s->changes = s->openings = 0;
    s->epoch = 1;
    memset(s->slot, 0, sizeof(s->slot));
    (void)layout(s, l);
    memset((char *)s + s->facts_at, 0, s->facts * sizeof(struct fact));
}

void memo_forget(struct memo_store *s)
{
    s->changes += MEMO_LOG + 1;
    s->epoch++;
}

uint64_t memo_changes(const struct memo_store *s)
{
    return s->changes;
}

/* Where the answer stands if it stands anywhere. */
static struct fact *fact_of(struct memo_store *s, const struct memo_key *key)
{
    struct fact *facts = (struct fact *)(void *)((char *)s + s->facts_at);

    return &facts[hash_words(key->word, MEMO_KEY_WORDS, 0) & (s->facts - 1)];
}

bool memo_recall(const struct model *m, const struct memo_key *key, bool *ret_yes)
{
    struct memo_store *s = index_memo(m);
    const struct fact *fact = fact_of(s, key);

    if (fact->epoch != s->epoch || memcmp(&fact->key, key, sizeof(*key)) != 0)
        return false;
    *ret_yes = fact->yes;
    return true;
}

void memo_note(const struct model *m, const struct memo_key *key, bool yes)
{
    struct memo_store *s = index_memo(m);

    *fact_of(s, key) = (struct fact){.key = *key, .epoch = s->epoch, .yes = yes};
}

void memo_changed(struct memo_store *s, uint32_t host)
{
    s->log[s->changes++ % MEMO_LOG] = host;
}

static struct memo memo_of(struct memo_store *s, uint32_t n)
{
    char *block = (char *)s;

    return (struct memo){
        .host = (uint16_t *)(void *)(block + s->hosts_at) + (uint64_t)n * s->hosts,
        .domain = (uint32_t *)(void *)(block + s->domains_at) + (uint64_t)n * s->domains,
    };
}

static void forget_host(const struct model *m, const struct memo *memo, uint32_t host)
{
    const struct board *b = board_row(m, host);

    memo->host[host] = MEMO_HOST_UNKNOWN;
    for (unsigned l = 0; l < LEVELS_MAX; l++)
        if (b->domain[l] != ROW_NONE)
            memo->domain[b->domain[l]] = MEMO_DOMAIN_UNKNOWN;
}

/* The slot of the key, else the one that was opened longest ago. */
static uint32_t find(const struct memo_store *s, const struct memo_key *key, uint64_t hash)
{
    uint32_t oldest = 0;

    for (uint32_t n = 0; n < MEMO_SLOTS; n++) {
        const struct slot *slot = &s->slot[n];

        if (slot->opened_at && slot->hash == hash && memcmp(&slot->key, key, sizeof(*key)) == 0)
            return n;
        if (slot->opened_at < s->slot[oldest].opened_at)
            oldest = n;
    }
    return oldest;
}

struct memo memo_open(const struct model *m, const struct memo_key *key)
{
    struct memo_store *s = index_memo(m);
    uint64_t hash = hash_words(key->word, MEMO_KEY_WORDS, 0);
    uint32_t n = find(s, key, hash), last = ROW_NONE;
    struct slot *slot = &s->slot[n];
    struct memo memo = memo_of(s, n);
    bool same = slot->opened_at && slot->hash == hash && !memcmp(&slot->key, key, sizeof(*key));

    if (!same || s->changes - slot->seen > MEMO_LOG) {
        memset(memo.host, 0xFF, model_count(m, TABLE_HOST) * sizeof(memo.host[0]));
        memset(memo.domain, 0xFF, model_count(m, TABLE_DOMAIN) * sizeof(memo.domain[0]));
        slot->key = *key;
        slot->hash = hash;
    } else {
        for (; slot->seen < s->changes; slot->seen++) {
            uint32_t host = s->log[slot->seen % MEMO_LOG];

            if (host != last)
                forget_host(m, &memo, host);
            last = host;
        }
    }
    slot->seen = s->changes;
    slot->opened_at = ++s->openings;
    return memo;
}
