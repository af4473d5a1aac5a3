#include "core/model/shape.h"

#include "core/base/bits.h"
#include "core/base/must.h"

/* Which of 8 bytes equal number, the byte at bytes[i] as bit i: the host's inside is looked at for
 * every choice of devices, so all bytes are compared at once. */
static unsigned equal_bytes(const uint8_t *bytes, uint8_t number)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Fu;
    uint64_t word = (uint64_t)bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 |
                    (uint64_t)bytes[3] << 24 | (uint64_t)bytes[4] << 32 | (uint64_t)bytes[5] << 40 |
                    (uint64_t)bytes[6] << 48 | (uint64_t)bytes[7] << 56;

    word ^= number * 0x0101010101010101u;
    uint64_t zero = ~(((word & low7) + low7) | word | low7); /* 0x80 where the byte is 0 */

    return (unsigned)(((zero >> 7) * 0x0102040810204080u) >> 56);
}

uint16_t shape_part_mask(const struct shape *s, enum shape_part part, unsigned device)
{
    must(part < SHAPE_PART_COUNT);
    must(device < s->gpus);
    const uint8_t *row = s->part[part];
    uint8_t number = row[device];

    if (number == SHAPE_NO_PART)
        return 0;
    unsigned mask = equal_bytes(row, number);

    if (s->gpus > 8)
        mask |= equal_bytes(row + 8, number) << 8;
    return (uint16_t)mask;
}

bool shape_part_contains(const struct shape *s, enum shape_part part, uint16_t devices)
{
    must(part < SHAPE_PART_COUNT);
    must(devices >> s->gpus == 0);

    return devices == 0 || (devices & ~shape_part_mask(s, part, bits_low(devices))) == 0;
}

static bool parts_valid(const struct shape *s)
{
    for (unsigned part = 0; part < SHAPE_PART_COUNT; part++)
        for (unsigned i = s->gpus; i < SHAPE_GPUS_MAX; i++)
            if (s->part[part][i] != SHAPE_NO_PART)
                return false;
    for (unsigned i = 0; i < s->gpus; i++) {
        uint8_t number = s->part[SHAPE_PCIE][i];

        if (number != SHAPE_NO_PART && number >= SHAPE_GPUS_MAX)
            return false;
    }
    return true;
}

static bool links_valid(const struct shape *s)
{
    for (unsigned i = 0; i < SHAPE_GPUS_MAX; i++) {
        if (s->link[i][i] != 0)
            return false;
        for (unsigned j = 0; j < i; j++) {
            if (s->link[i][j] != s->link[j][i])
                return false;
            if (i >= s->gpus && s->link[i][j] != 0)
                return false;
        }
    }
    return true;
}

bool shape_valid(const struct shape *s)
{
    if (s->gpus > SHAPE_GPUS_MAX || s->links_known > 1)
        return false;
    return parts_valid(s) && links_valid(s);
}
