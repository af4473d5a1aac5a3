/* Any bytes as YAML or JSON: objects, models of fabrics, topology.yaml, HiveD. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    topo_sound(data, size, topo_read_trees);
    return 0;
}
