#include "edge/audit/quantity.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

#define WIDE_MAX  ((wide)1 << 100)
#define MIB_SHIFT 20

/* mantissa x 10^tens x 2^twos */
struct quantity {
    wide mantissa;
    int tens;
    unsigned twos;
};

static bool digits(const char **at, struct quantity *q, int tens_each, bool *some)
{
    for (; **at >= '0' && **at <= '9'; ++*at) {
        *some = true;
        if (q->mantissa < WIDE_MAX / 1000) {
            q->mantissa = q->mantissa * 10 + (unsigned)(**at - '0');
            q->tens += tens_each;
        } else if (tens_each == 0) {
            q->tens++;
        }
    }
    return *some;
}

static bool suffix(const char *s, struct quantity *q)
{
    static const struct {
        const char *text;
        int tens;
        unsigned twos;
    } known[] = {{"", 0, 0},    {"n", -9, 0},  {"u", -6, 0},  {"m", -3, 0},  {"k", 3, 0},
                 {"K", 3, 0},   {"M", 6, 0},   {"G", 9, 0},   {"T", 12, 0},  {"P", 15, 0},
                 {"E", 18, 0},  {"Ki", 0, 10}, {"Mi", 0, 20}, {"Gi", 0, 30}, {"Ti", 0, 40},
                 {"Pi", 0, 50}, {"Ei", 0, 60}};

    for (size_t n = 0; n < sizeof(known) / sizeof(known[0]); n++)
        if (strcmp(s, known[n].text) == 0) {
            q->tens += known[n].tens;
            q->twos = known[n].twos;
            return true;
        }
    if (*s == 'e' || *s == 'E') {
        char *end;
        long tens = strtol(s + 1, &end, 10);

        if (s[1] == '\0' || s[1] == ' ' || *end || tens > 40 || tens < -40)
            return false;
        q->tens += (int)tens;
        return true;
    }
    return false;
}

static bool parse(const char *text, struct quantity *q)
{
    bool some = false;

    *q = (struct quantity){0};
    if (*text == '+')
        text++;
    (void)digits(&text, q, 0, &some);
    if (*text == '.') {
        text++;
        (void)digits(&text, q, -1, &some);
    }
    return some && suffix(text, q);
}

/* Divides by 10^-tens and 2^down at once, so that it is rounded once. */
static int64_t value(struct quantity q, unsigned down, bool up)
{
    wide divisor = (wide)1 << down, rest;

    for (unsigned n = 0; n < q.twos && q.mantissa < WIDE_MAX; n++)
        q.mantissa *= 2;
    for (; q.tens > 0 && q.mantissa && q.mantissa < WIDE_MAX; q.tens--)
        q.mantissa *= 10;
    for (; q.tens < 0 && divisor < WIDE_MAX; q.tens++)
        divisor *= 10;
    rest = q.mantissa % divisor;
    q.mantissa /= divisor;
    if (rest && up)
        q.mantissa++;
    return q.mantissa > QUANTITY_MAX ? QUANTITY_MAX : (int64_t)q.mantissa;
}

bool quantity_read(const char *text, unsigned decimals, int64_t *ret_value)
{
    struct quantity q;

    if (!parse(text, &q))
        return false;
    q.tens += (int)decimals;
    *ret_value = value(q, 0, true);
    return true;
}

bool quantity_mib(const char *text, bool up, int64_t *ret_mib)
{
    struct quantity q;

    if (!parse(text, &q))
        return false;
    *ret_mib = value(q, MIB_SHIFT, up);
    return true;
}
