/* prng.h - the same random numbers on every machine
 *
 * xoshiro256** (Blackman and Vigna, 2018), its state filled by splitmix64, so that seeds 1, 2, 3
 * give unrelated streams and no seed gives the all-zero state. Shuffles, workloads and random
 * policies draw from it; nothing here is fit for secrets.
 *
 * Owner   The caller holds the state; equal seeds and equal calls give equal numbers for ever,
 * since recorded runs are repeated from their seed. Misuse  An empty range stops the program.
 */
#ifndef BASE_PRNG_H
#define BASE_PRNG_H

#include <stdint.h>

#include "core/base/must.h"

struct prng {
    uint64_t word[4];
};

/* One step of splitmix64: also a cheap mixer of counters into seeds. */
static inline uint64_t prng_mix(uint64_t *counter)
{
    uint64_t z = *counter += 0x9E3779B97F4A7C15u;

    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline void prng_init(struct prng *p, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++)
        p->word[i] = prng_mix(&seed);
}

static inline uint64_t prng_turn(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static inline uint64_t prng_next(struct prng *p)
{
    uint64_t *w = p->word;
    uint64_t out = prng_turn(w[1] * 5, 7) * 9;
    uint64_t carry = w[1] << 17;

    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= carry;
    w[3] = prng_turn(w[3], 45);
    return out;
}

/* Uniform in 0..count-1, exactly: numbers from the incomplete last round of count are drawn anew.
 */
static inline uint64_t prng_below(struct prng *p, uint64_t count)
{
    must(count > 0);
    uint64_t uneven = (0 - count) % count;
    uint64_t x = prng_next(p);

    while (x < uneven)
        x = prng_next(p);
    return x % count;
}

/* Uniform in low..high, both included. */
static inline uint64_t prng_range(struct prng *p, uint64_t low, uint64_t high)
{
    must(low <= high);
    if (high - low == UINT64_MAX)
        return prng_next(p);
    return low + prng_below(p, high - low + 1);
}

#endif
