/* hash.h - mixing bytes into 64 bits, the same on every machine
 *
 * Not keyed and not for strangers' bytes: it serves digests and tables whose keys the core made.
 * The mixing steps are those of xxHash and MurmurHash3's finaliser (public domain ideas).
 *
 * Misuse  bytes must be a multiple of 8 and data aligned to 8: rows are.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ (x >> 33);
}

/* Four lanes, so that long rows are bound by memory and not by one chain of multiplications. */
static inline uint64_t hash_words(const uint64_t *word, size_t words, uint64_t seed)
{
    uint64_t lane[4] = {seed, seed ^ 0x9e3779b97f4a7c15u, seed + 0xc2b2ae3d27d4eb4fu, ~seed};
    size_t whole = words / 4 * 4;

    for (size_t w = 0; w < whole; w += 4)
        for (unsigned l = 0; l < 4; l++) {
            lane[l] = (lane[l] ^ word[w + l]) * 0x9fb21c651e98df25u;
            lane[l] ^= lane[l] >> 29;
        }
    for (size_t l = 0; l < words - whole; l++) {
        lane[l] = (lane[l] ^ word[whole + l]) * 0x9fb21c651e98df25u;
        lane[l] ^= lane[l] >> 29;
    }
    return hash_mix(lane[0] ^ hash_mix(lane[1] ^ hash_mix(lane[2] ^ hash_mix(lane[3] + words))));
}

#endif
