/* The end of a test program whose module under test broke its own promise. Weak, so that a test
 * which provokes a must() may bring its own handler. */
#include "core/base/must.h"

#include <stdio.h>
#include <stdlib.h>

__attribute__((weak)) _Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr, "%s:%d: must hold: %s\n", file, line, expr);
    abort();
}
