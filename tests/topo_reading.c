#include "tests/topo_reading.h"

#include "edge/topo/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned failed;

bool topo_has_remark(const struct topo *t, const char *part)
{
    for (size_t r = 0; r < t->remark_count; r++)
        if (strstr(t->remark[r].text, part))
            return true;
    return false;
}

void topo_row_reads(const char *why, const char *text, const char *reading, const char *remark)
{
    struct topo *t;
    struct err err = {""};
    struct out out = {0};

    if (topo_open_text(&t, "F", text, strlen(text), &err)) {
        print_message("%s\n   is refused: %s\n", why, err.text);
        failed++;
        return;
    }
    topo_text(t, &out);
    if (strcmp(out.bytes, reading) != 0) {
        print_message("%s\n   is  %s\n   not %s\n", why, out.bytes, reading);
        failed++;
    }
    if (remark && (*remark ? !topo_has_remark(t, remark) : t->remark_count > 0)) {
        print_message("%s\n   has not the remark: %s\n", why, *remark ? remark : "(none)");
        for (size_t r = 0; r < t->remark_count; r++)
            print_message("   but: %s\n", t->remark[r].text);
        failed++;
    }
    out_free(&out);
    topo_close(t);
}

void topo_row_fails(const char *why, const char *text, const char *error)
{
    struct topo *t;
    struct err err = {""};

    if (topo_open_text(&t, "F", text, strlen(text), &err) == ERR_NONE) {
        print_message("%s\n   is read\n", why);
        failed++;
        topo_close(t);
    } else if (strcmp(err.text, error) != 0) {
        print_message("%s\n   says %s\n   not  %s\n", why, err.text, error);
        failed++;
    }
}

void topo_rows_done(void)
{
    unsigned rows = failed;

    failed = 0;
    if (rows)
        fail_msg("%u rows failed", rows);
}
