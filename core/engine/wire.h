/* wire.h - numbers to bytes and back: the encoding of events, decisions and snapshots
 *
 * Integers are written as varints, least significant seven bits first; signed ones fold the sign
 * into the lowest bit. The same bytes come out on every machine.
 *
 * Misuse  None: a reader that runs out of bytes or meets an overlong number turns bad and stays
 *         bad, and returns zeros; a writer without room turns full and stays full.
 */
#ifndef ENGINE_WIRE_H
#define ENGINE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wire_out {
    uint8_t *byte;
    size_t size, limit;
    bool full;
};

struct wire_in {
    const uint8_t *byte, *end;
    bool bad;
};

static inline void wire_put(struct wire_out *w, uint64_t value)
{
    do {
        uint8_t low = value & 0x7F;

        value >>= 7;
        if (w->size == w->limit) {
            w->full = true;
            return;
        }
        w->byte[w->size++] = value ? low | 0x80 : low;
    } while (value);
}

static inline void wire_put_signed(struct wire_out *w, int64_t value)
{
    wire_put(w, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static inline uint64_t wire_get(struct wire_in *r)
{
    uint64_t value = 0;

    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->byte == r->end || r->bad)
            break;

        uint8_t byte = *r->byte++;

        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->bad = true;
    return 0;
}

static inline int64_t wire_get_signed(struct wire_in *r)
{
    uint64_t value = wire_get(r);

    return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* A number that must fit into a field of so many bits. */
static inline uint64_t wire_get_bits(struct wire_in *r, unsigned bits)
{
    uint64_t value = wire_get(r);

    if (bits < 64 && value >> bits)
        r->bad = true;
    return r->bad ? 0 : value;
}

#endif
