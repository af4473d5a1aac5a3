/* Records of switches: leaf and spine by their cables, hosts by the first word of what adapters
 * say. */
#include "tests/topo_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct read_row {
    const char *why, *text, *reading, *remark; /* as topo_row_reads() takes them */
};

struct fail_row {
    const char *why, *text, *error;
};

static const struct read_row fabrics_are_read_rows[] = {
    {"a leaf and a spine, each with its record",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[2]\t\"H-12\"[1](12) \t\t# \"n2 HCA-1\" lid 6 4xNDR\n"
     "[3]\t\"S-02\"[3]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "[4]\t\"S-02\"[4]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x02(02)\n"
     "Switch\t65 \"S-02\"\t\t# \"MF0;s1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[3]\t\"S-01\"[3]\t\t# \"MF0;l1:MQM9701/U1\" lid 2 4xNDR\n"
     "[4]\t\"S-01\"[4]\t\t# \"MF0;l1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n",
     "cables: 1 leaf, 1 spine, 2 cables between 1 pairs of switches; 2 hosts on 2 "
     "leaf ports",
     ""},
    {"the record of the spine is missing",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[3]\t\"S-02\"[3]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n",
     "cables: 1 leaf, 1 spine, 1 cables between 1 pairs of switches; 1 hosts on 1 "
     "leaf ports; incomplete",
     "have no record"},
    {"two leaves, no record of the spine between them",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[3]\t\"S-02\"[3]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x03(03)\n"
     "Switch\t65 \"S-03\"\t\t# \"l2\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-13\"[1](13) \t\t# \"n3 mlx5_0\" lid 6 4xNDR\n"
     "[5]\t\"S-02\"[5]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "[6]\t\"S-02\"[6]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n",
     "cables: 2 leaf, 1 spine, 3 cables between 2 pairs of switches; 2 hosts on 2 "
     "leaf ports; incomplete",
     "have no record"},
    {"records in the other order count the same",
     "vendid=0x2c9\n"
     "switchguid=0x02(02)\n"
     "Switch\t65 \"S-02\"\t\t# \"MF0;s1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[3]\t\"S-01\"[3]\t\t# \"MF0;l1:MQM9701/U1\" lid 2 4xNDR\n"
     "[4]\t\"S-01\"[4]\t\t# \"MF0;l1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[3]\t\"S-02\"[3]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "[4]\t\"S-02\"[4]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n",
     "cables: 1 leaf, 1 spine, 2 cables between 1 pairs of switches; 1 hosts on 1 "
     "leaf ports",
     ""},
    {"three tiers",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[3]\t\"S-02\"[3]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x02(02)\n"
     "Switch\t65 \"S-02\"\t\t# \"MF0;s1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[3]\t\"S-01\"[3]\t\t# \"MF0;l1:MQM9701/U1\" lid 2 4xNDR\n"
     "[4]\t\"S-03\"[4]\t\t# \"core\" lid 2 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x03(03)\n"
     "Switch\t65 \"S-03\"\t\t# \"core\" enhanced port 0 lid 7 lmc 0\n"
     "[4]\t\"S-02\"[4]\t\t# \"MF0;s1:MQM9701/U1\" lid 2 4xNDR\n"
     "\n",
     "cables: 1 leaf, 1 spine, 1 core, 2 cables between 2 pairs of switches; 1 hosts "
     "on 1 leaf ports",
     ""},
    {"two ports of one host; an adapter without a name; no host at all",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[2]\t\"H-12\"[1](12) \t\t# \"n1 mlx5_1\" lid 6 4xNDR\n"
     "[3]\t\"H-13\"[1](13) \t\t# \"MT4129 ConnectX7   Mellanox Technologies\" lid 6 "
     "4xNDR\n"
     "[4]\t\"H-14\"[1](14) \t\t# \"Mellanox Technologies Aggregation Node\" lid 6 "
     "4xNDR\n"
     "\n",
     "cables: 1 leaf, 0 cables between 0 pairs of switches; 1 hosts on 2 leaf ports; "
     "1 adapters without a host's name; 1 ports to no host",
     "do not name their host"},
    {"a second record is not counted twice",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "\n"
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "\n",
     "cables: 1 leaf, 0 cables between 0 pairs of switches; 1 hosts on 1 leaf ports",
     "a second record"},
    {"a line that is cut",
     "vendid=0x2c9\n"
     "switchguid=0x01(01)\n"
     "Switch\t65 \"S-01\"\t\t# \"MF0;l1:MQM9701/U1\" enhanced port 0 lid 7 lmc 0\n"
     "[1]\t\"H-11\"[1](11) \t\t# \"n1 mlx5_0\" lid 6 4xNDR\n"
     "[2]\t\"H-12\"[1](12) \t\t# \"n2 ml\n"
     "\n",
     "cables: 1 leaf, 0 cables between 0 pairs of switches; 1 hosts on 1 leaf ports; "
     "incomplete",
     "without its two names"},
};

static void fabrics_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fabrics_are_read_rows); i++) {
        const struct read_row *r = &fabrics_are_read_rows[i];

        topo_row_reads(r->why, r->text, r->reading, r->remark);
    }
    topo_rows_done();
}

static const struct fail_row what_is_no_fabric_is_refused_rows[] = {
    {"no switch", "vendid=0x2c9\n", "F: found no switch, expected the output of ibnetdiscover"},
};

static void what_is_no_fabric_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(what_is_no_fabric_is_refused_rows); i++) {
        const struct fail_row *r = &what_is_no_fabric_is_refused_rows[i];

        topo_row_fails(r->why, r->text, r->error);
    }
    topo_rows_done();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fabrics_are_read),
        cmocka_unit_test(what_is_no_fabric_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
