/* topo_sound.h - any bytes as a topology: understood or refused in words, and sound either way
 *
 * For fuzzers and hostile rows. What was read is checked from outside: links are symmetric, parts
 * and parents are in range, depths follow from parents, hosts stand in domains that are there.
 *
 * Misuse  The first thing that is not so ends the program with abort(), after a line that says it.
 */
#ifndef TESTS_TOPO_SOUND_H
#define TESTS_TOPO_SOUND_H

#include <stddef.h>
#include <stdint.h>

#include "edge/topo/topo_parts.h"

typedef int topo_reader(struct topo *, const struct page *, struct err *);

/* reader NULL: the detector chooses. */
void topo_sound(const uint8_t *data, size_t size, topo_reader *reader);

#endif
