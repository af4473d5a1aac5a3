/* quantity.h - Kubernetes quantities as integers
 *
 * "4", "100m", "1.5", "5e3", "1E", "16Gi", "12u": a decimal number and one of the suffixes that the
 * API knows. The API rounds up to the smallest unit that it keeps, and so does this. "1E" is exa,
 * "1E3" is an exponent.
 *
 * Units   The value times 10^decimals (3: milli), rounded up, cut to what int64 / 4 holds.
 * Errors  false: no quantity, or a negative one; *ret_value is then untouched.
 */
#ifndef EDGE_AUDIT_QUANTITY_H
#define EDGE_AUDIT_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUANTITY_MAX (INT64_MAX / 4)

bool quantity_read(const char *text, unsigned decimals, int64_t *ret_value);

/* Bytes as MiB, rounded up: what a pod asks; down: what a node has. */
bool quantity_mib(const char *text, bool up, int64_t *ret_mib);

#endif
