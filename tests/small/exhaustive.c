#include "tests/small/exhaustive.h"
int exhaustive_run(void) { return 0; }
