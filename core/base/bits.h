/* bits.h - small sets as bits of one word
 *
 * Device sets of a host, words of a larger map: set algebra is the language's own & | ~, so only
 * what C lacks stands here. Counting uses no table and no library call, because the plain x86-64
 * target has no instruction for it and a call would cost more than the sum.
 *
 * Order   Bit i is member i; walks go upwards: for (m = set; m != 0; m = bits_drop_low(m)).
 * Misuse  bits_low() of an empty set and bits_next_subset() past the last one stop the program.
 */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/must.h"

static inline unsigned bits_count64(uint64_t set)
{
    set -= (set >> 1) & 0x5555555555555555u;
    set = (set & 0x3333333333333333u) + ((set >> 2) & 0x3333333333333333u);
    set = (set + (set >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (unsigned)((set * 0x0101010101010101u) >> 56);
}

static inline unsigned bits_count32(uint32_t set)
{
    set -= (set >> 1) & 0x55555555u;
    set = (set & 0x33333333u) + ((set >> 2) & 0x33333333u);
    set = (set + (set >> 4)) & 0x0F0F0F0Fu;
    return (set * 0x01010101u) >> 24;
}

static inline unsigned bits_count16(uint16_t set)
{
    return bits_count32(set);
}

/* True if member, below 64, is in the set. */
static inline bool bits_has(uint64_t set, unsigned member)
{
    return (set >> member & 1u) != 0;
}

/* The lowest member. */
static inline unsigned bits_low(uint64_t set)
{
    must(set != 0);
    return (unsigned)__builtin_ctzll(set);
}

/* The set without its lowest member; empty stays empty. */
static inline uint64_t bits_drop_low(uint64_t set)
{
    return set & (set - 1);
}

/* The members 0..count-1. */
static inline uint64_t bits_first(unsigned count)
{
    must(count <= 64);
    return count == 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1;
}

/* The next larger number with as many bits: from bits_first(k) on it visits every k-subset in
 * rising order. The caller stops once a bit leaves its universe. */
static inline uint32_t bits_next_subset(uint32_t set)
{
    must(set != 0);
    uint32_t low = set & (~set + 1);
    uint32_t ripple = set + low;

    must(ripple != 0);
    return ripple | (((set ^ ripple) / low) >> 2);
}

#endif
