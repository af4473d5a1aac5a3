/* Any bytes of any format: the detector chooses. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    topo_sound(data, size, NULL);
    return 0;
}
