/* XML is whole and bounded, or refused with the line. */
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct fail_row {
    const char *why, *text, *error;
};

static const struct fail_row broken_xml_is_refused_rows[] = {
    {"cut inside an element",
     "<system>\n"
     "<cpu>\n"
     "<pci busid=\"a\"/>\n",
     "F:4: found the end of the text inside <cpu> of line 2, expected all of it"},
    {"cut inside a tag",
     "<system>\n"
     "<cpu numaid",
     "F:2: found the end of the text inside <system> of line 1, expected all of it"},
    {"ends cross",
     "<system>\n"
     "<cpu></system>",
     "F:2: found broken XML (mismatched tag), expected whole XML"},
    {"another root", "<config/>",
     "F:1: found <config>, expected <system> of NCCL or <topology> of hwloc"},
    {"a page of a proxy",
     "<!DOCTYPE html>\n"
     "<html><body>502</body></html>",
     "F:1: found a page of HTML, expected a topology: a server answered with an error "
     "or a login page"},
    {"a page with a declaration in front",
     "<?xml version=\"1.0\"?>\n"
     "<html><body/></html>",
     "F:2: found a page of HTML, expected a description of a machine"},
    {"entities can blow up",
     "<!DOCTYPE a [<!ENTITY b \"cccccccc\">]>\n"
     "<system>&b;</system>",
     "F:1: found declarations inside the document type, expected a description of a "
     "machine"},
    {"nesting can exhaust a stack",
     "<system><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
     "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a"
     "><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><"
     "a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
     "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a"
     "><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><"
     "a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
     "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a"
     "><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><"
     "a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>"
     "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a"
     "><a><a><a><a><a><a><a><a><a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
     "</a></a></a></a></a></a></a></system>",
     "F:1: found elements nested deeper than 256, expected a description of a machine"},
    {"a control character",
     "<system>\n"
     "<cpu a=\"&#1;\"/></system>",
     "F:2: found broken XML (reference to invalid character number), expected whole "
     "XML"},
    {"an external entity is never loaded",
     "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]>\n"
     "<system>&b;</system>",
     "F:1: found declarations inside the document type, expected a description of a "
     "machine"},
};

static void broken_xml_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(broken_xml_is_refused_rows); i++) {
        const struct fail_row *r = &broken_xml_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_xml_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
