/* Any bytes as the text of lstopo, or as labels where the first byte is a #. */
#include "tests/topo_sound.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool labels = size > 0 && data[0] == '#';

    topo_sound(data, size, labels ? topo_read_labels : topo_read_lstopo);
    return 0;
}
