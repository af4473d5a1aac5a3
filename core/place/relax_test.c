/* relax_test.c - proofs of a no without a search
 *
 * A row's hosts make the rooms; the gang is the last job of the text. The language is that of
 * tests/kit/world.h. What the proof does not settle is left to the search: false is no promise.
 */
#include "core/place/relax.h"

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Two leaves of two hosts of four devices. */
#define LEAVES "hosts 2 gpus=4 l0=0; hosts 2 gpus=4 l0=1; "

static const struct {
    const char *why, *script;
    uint32_t dropped;
    bool full, hopeless;
} row[] = {
    {"both fit, each into a leaf of its own",
     LEAVES "ask pods=2 gpus=4 in=l0 + pods=2 gpus=4 in=l0", 0, false, false},
    {"three sets that each need a leaf: two leaves are too few",
     LEAVES "ask pods=2 gpus=4 in=l0 + pods=2 gpus=4 in=l0 + pods=2 gpus=3 in=l0", 0, false, true},
    {"a small one shares a leaf with a large one if the devices suffice",
     LEAVES "ask pods=2 gpus=4 in=l0 + pods=1 gpus=4 in=l0 + pods=2 gpus=2 in=l0", 0, false, false},
    {"and does not if they do not",
     LEAVES "ask pods=2 gpus=4 in=l0 + pods=1 gpus=4 in=l0 + pods=3 gpus=2 in=l0", 0, false, true},
    {"a set that no leaf holds alone", LEAVES "ask pods=3 gpus=4 in=l0 + pods=1 gpus=1", 0, false,
     true},
    {"the same with the levels left out", LEAVES "ask pods=3 gpus=4 in=l0 + pods=1 gpus=1",
     LIMIT(TOPOLOGY), false, false},
    {"more devices than there are in all", LEAVES "ask pods=3 gpus=4 + pods=5 gpus=1", 0, false,
     true},
    {"the minimum of an elastic set is what counts",
     LEAVES "ask pods=4 min=2 gpus=4 in=l0 + pods=1 gpus=1", 0, false, false},
    {"its full size does not fit", LEAVES "ask pods=4 min=2 gpus=4 in=l0 + pods=1 gpus=1", 0, true,
     true},
    {"a set of none takes no domain", LEAVES "ask pods=9 min=0 gpus=4 in=l0 + pods=1 gpus=1", 0,
     false, false},
    {"the domain of a set of none changes nothing for the others",
     LEAVES "ask pods=3 gpus=4 in=l0 + pods=9 min=0 gpus=1 in=l0", 0, false, true},
    {"hosts as domains: two sets of one host each",
     LEAVES "ask pods=2 gpus=2 in=host + pods=4 gpus=1 in=host", 0, false, false},
    {"hosts without the level are no domain of it",
     "hosts 4 gpus=4; hosts 1 gpus=4 l0=0; ask pods=2 gpus=4 in=l0 + pods=1 gpus=1", 0, false,
     true},
    {"shares are not counted in whole devices",
     LEAVES "ask pods=8 gpus=1 milli=500 in=l0 + pods=2 gpus=4 in=l0", 0, false, false},
    {"CPU alone may rule a leaf out",
     "hosts 2 gpus=4 cpu=4 l0=0; ask pods=2 gpus=1 cpu=4 in=l0 + pods=1 gpus=1 cpu=5 in=l0", 0,
     false, true},
};

static void test_proofs(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        struct room room[8];
        static struct world w;
        struct view v;
        uint32_t count = 0;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        for (uint32_t h = 0; h < w.hosts; h++)
            room[count++] = room_of(&v, h, UINT16_MAX);
        CHECK_INT(row[n].why, relax_hopeless(&v, room, count, row[n].full), row[n].hopeless);
        world_close(&w);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_proofs)};

    return cmocka_run_group_tests_name("relax", tests, NULL, NULL);
}
