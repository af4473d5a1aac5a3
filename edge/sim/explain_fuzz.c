/* Any bytes as a decision log: a story, or an error that says something, in both forms. */
#include "edge/sim/explain.h"

#include "tests/memfile.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const char *path, const char *job, enum explain_form form)
{
    struct out out = {0};
    struct err err = {""};
    int result = explain(path, job, form, &out, &err);

    if (result ? err.text[0] == '\0' : out.length == 0 || strlen(out.bytes) != out.length)
        abort();
    out_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct memfile file = {.fd = -1};

    if (file.fd < 0)
        memfile_open(&file);
    memfile_set(&file, data, size);
    ask(file.path, "a", EXPLAIN_TEXT);
    ask(file.path, "a", EXPLAIN_JSON);
    ask(file.path, "0:a", EXPLAIN_TEXT);
    return 0;
}
