/* shape.h - the inside of a host: links between devices, and the partitions they form
 *
 * Identical machines share one shape, so a million GPUs cost little. Island (joined by NVLink, xGMI
 * or the like), NUMA node and PCIe switch are independent partitions of the device indices, beside
 * the link matrix and the NICs of each switch. NVSwitch boards, cube meshes, bridge pairs and plain
 * PCIe are data here, never code paths.
 *
 * Units   link is the bandwidth of a pair in GB/s where the source gives it, else its number of
 *         links: only ratios inside one shape matter. 0: none known.
 * Order   A part's number is free, but equal numbers mean one part; a switch's is below
 *         SHAPE_GPUS_MAX, since nics is indexed by it. SHAPE_NO_PART: the device is in no part, or
 *         the layout is unknown: it then belongs to no domain of that level.
 * Misuse  Asking about a device that the shape does not have stops the program.
 */
#ifndef MODEL_SHAPE_H
#define MODEL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#define SHAPE_GPUS_MAX 16
#define SHAPE_NO_PART  0xFFu

/* The partitions below the host, in the order of their tightness as most machines have it. */
enum shape_part { SHAPE_ISLAND, SHAPE_NUMA, SHAPE_PCIE, SHAPE_PART_COUNT };

struct shape {
    uint8_t gpus;
    uint8_t links_known; /* 1: link says all there is to know about pairs; 0: it is not read */
    uint8_t part[SHAPE_PART_COUNT][SHAPE_GPUS_MAX];
    uint8_t nics[SHAPE_GPUS_MAX]; /* by PCIe switch number */
    uint16_t link[SHAPE_GPUS_MAX][SHAPE_GPUS_MAX];
};

/* The devices that share device's part, itself included; 0 where it is in none. */
uint16_t shape_part_mask(const struct shape *s, enum shape_part part, unsigned device);

/* True if one part contains every device of the mask (an empty mask: true). */
bool shape_part_contains(const struct shape *s, enum shape_part part, uint16_t devices);

/* True if the matrix is symmetric with an empty diagonal, switch numbers fit nics, and what lies
 * beyond gpus is SHAPE_NO_PART and 0. */
bool shape_valid(const struct shape *s);

#endif
