/* Any text as a cluster of one line. Large clusters are well, but slow to make, and skipped. */
#include "edge/sim/read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of all numbers of the text: more than the hosts that it makes. */
static uint64_t product(const char *c)
{
    uint64_t all = 1;

    while (*c) {
        uint64_t number = 0;

        for (; *c >= '0' && *c <= '9' && number < 1000000; c++)
            number = number * 10 + (uint64_t)(*c - '0');
        if (number > 1)
            all *= number;
        if (all > 1000000)
            return all;
        c += *c != '\0';
    }
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    struct world w;
    struct err err = {""};

    if (size >= sizeof(text))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (product(text) > 100000)
        return 0;
    world_init(&w);
    if (read_synthetic(&w, text, &err)) {
        if (!strstr(err.text, "expected") || w.node_count)
            abort();
    } else if (w.node_count == 0 || world_node_find(&w, "n0") != 0) {
        abort();
    }
    world_free(&w);
    return 0;
}
