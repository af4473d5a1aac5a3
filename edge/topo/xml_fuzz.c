/* Any bytes as XML of NCCL or hwloc. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    topo_sound(data, size, topo_read_xml);
    return 0;
}
