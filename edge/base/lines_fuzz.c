/* Any bytes as a file, gzipped or not: lines that add up, or an error. */
#include "edge/base/lines.h"
#include "tests/memfile.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memfile file = {.fd = -1};
    struct lines *l;
    struct err err = {""};
    char *text;
    size_t length;
    uint32_t number, last = 0;
    int more;

    if (file.fd < 0)
        memfile_open(&file);
    memfile_set(&file, data, size);
    if (lines_open(&l, file.path, &err))
        abort();
    while ((more = lines_next(l, &text, &length, &number, &err)) > 0)
        if (number != ++last || strlen(text) != length)
            abort();
    if (more < 0 && err.text[0] == '\0')
        abort();
    lines_close(l);
    return 0;
}
