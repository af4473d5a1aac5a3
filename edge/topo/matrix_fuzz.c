/* Any bytes as a matrix of links, or as the tables of rocm-smi where the first byte is a #. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool rocm = size > 0 && data[0] == '#';

    topo_sound(data, size, rocm ? topo_read_rocm : topo_read_matrix);
    return 0;
}
