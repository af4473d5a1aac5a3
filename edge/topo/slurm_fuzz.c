/* Any bytes as topology.conf, or as gres.conf where the first byte is a #. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool gres = size > 0 && data[0] == '#';

    topo_sound(data, size, gres ? topo_read_gres : topo_read_slurm);
    return 0;
}
