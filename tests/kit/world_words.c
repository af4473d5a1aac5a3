#include "tests/kit/world_words.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "core/place/view.h"

bool words_next(struct words *t)
{
    size_t n = 0;

    while (*t->at == ' ' || *t->at == '\n')
        t->at++;
    while (t->at[n] && !strchr(" \n;", t->at[n]))
        n++;
    if (n == 0 && *t->at == ';')
        n = 1;
    must(n < sizeof(t->word));
    memcpy(t->word, t->at, n);
    t->word[n] = 0;
    t->at += n;
    return n > 0;
}

bool words_more(struct words *t)
{
    return words_next(t) && t->word[0] != ';';
}

bool words_is(const char *word, const char *text)
{
    return strcmp(word, text) == 0;
}

int64_t words_number(const char *text, int base)
{
    char *end;
    long long value = strtoll(text, &end, base);

    must(end != text && (*end == 0 || *end == '@' || words_is(end, "s")));
    return *end == 's' ? value * 1000000000 : value;
}

uint64_t words_hex(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 16);

    must(end != text && *end == 0);
    return value;
}

const char *words_value(const char *word, const char *name)
{
    size_t n = strlen(name);

    return strncmp(word, name, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

bool words_take(const char *word, const char *name, int64_t *ret_value)
{
    const char *value = words_value(word, name);

    if (value)
        *ret_value = words_number(value, 10);
    return value != NULL;
}

uint32_t words_subject(struct words *t)
{
    must(words_more(t));
    return (uint32_t)words_number(t->word, 10);
}

uint16_t words_devices(const char *text)
{
    uint16_t set = 0;

    for (; *text && *text != '-'; text++) {
        char one[2] = {*text, 0};

        set |= (uint16_t)(1u << words_hex(one));
    }
    return set;
}

unsigned words_scope(const char *name)
{
    static const char *const below[] = {"island", "numa", "pcie", "host"};

    for (unsigned s = 0; s < 4; s++)
        if (words_is(name, below[s]))
            return s;
    if (words_is(name, "cluster"))
        return SCOPE_OF_CLUSTER;
    must(name[0] == 'l');
    return SCOPE_OF_LEVEL + (unsigned)words_number(name + 1, 10);
}

unsigned words_scopes(const char *text, uint8_t *ret_scopes)
{
    unsigned count = 0;

    while (*text) {
        char name[16] = {0};
        size_t n = strcspn(text, ",");

        must(n < sizeof(name) && count < 8);
        memcpy(name, text, n);
        ret_scopes[count++] = (uint8_t)words_scope(name);
        text += n + (text[n] == ',');
    }
    return count;
}

uint64_t words_scope_bits(const char *text)
{
    uint8_t scopes[8];
    uint64_t bits = 0;

    for (unsigned n = words_scopes(text, scopes); n > 0; n--)
        bits |= SCOPE_BIT(scopes[n - 1]);
    return bits;
}
