/* room_test.c - device sets that a pod may take on an imagined host, and taking them */
#include "core/place/room.h"

#include <stdio.h>

#include "core/base/bits.h"
#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* The sets for the last job's first podset on host 0, interchangeable ones once. */
static const struct {
    const char *why, *script;
    uint64_t parts;
    uint32_t dropped;
    const char *want;
} row[] = {
    {"devices alike: the lowest stand for all", "hosts 1 gpus=4; ask gpus=2", 0, 0, "3"},
    {"one in use", "hosts 1 gpus=4; ask gpus=1; step; ask gpus=2", 0, 0, "6"},
    {"islands told apart", "hosts 1 gpus=4 shape=pairs; ask gpus=1", SCOPE_BIT(SHAPE_ISLAND), 0,
     "1 4"},
    {"pairs of them", "hosts 1 gpus=4 shape=pairs; ask gpus=2", SCOPE_BIT(SHAPE_ISLAND), 0,
     "3 5 c"},
    {"islands not told apart", "hosts 1 gpus=4 shape=pairs; ask gpus=1", 0, 0, "1"},
    {"a share: the broken device and a whole one",
     "hosts 1 gpus=3; ask gpus=1 milli=500; seat 0 host=0 on=1; seated 0; ask gpus=1 milli=300", 0,
     0, "1 2"},
    {"a share too large for the broken device",
     "hosts 1 gpus=3; ask gpus=1 milli=800; seat 0 host=0 on=1; seated 0; ask gpus=1 milli=300", 0,
     0, "1"},
    {"failed devices are none", "hosts 1 gpus=3; device 0 0 down; ask gpus=1", 0, 0, "2"},
    {"failed devices, left out", "hosts 1 gpus=3; device 0 0 down; ask gpus=1", 0, LIMIT(HEALTH),
     "1"},
    {"what runs, left out", "hosts 1 gpus=2; ask gpus=2; step; ask gpus=1", 0, LIMIT(BUSY), "1"},
    {"too few", "hosts 1 gpus=2; ask gpus=1; step; ask gpus=2", 0, 0, ""},
    {"no devices asked", "hosts 1 gpus=2; ask cpu=1", 0, 0, ""},
    {"all sixteen", "hosts 1 gpus=16; ask gpus=16", 0, 0, "ffff"},
    {"the last of sixteen", "hosts 1 gpus=16; ask gpus=15; step; ask gpus=1", 0, 0, "8000"},
    {"a slice",
     "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=2; ask gpus=1 mig=3; step; ask gpus=1 "
     "mig=3",
     0, 0, "1 2"},
    {"a full device has no slot",
     "mig 3 model=0 starts=1 slots=4 of=8; hosts 1 gpus=2; ask gpus=1 mig=3; step; ask gpus=1 "
     "mig=3",
     0, 0, "2"},
    {"of unknown place: one less for shares",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=1 milli=5", 0, 0, "2"},
    {"of unknown place: too few whole ones",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=2", 0, 0, ""},
};

static void test_sets(void **state)
{
    char text[128];
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        const struct podset *p;
        struct view v;
        struct room r;
        size_t at = 0;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        p = world_podset(&w, w.keys - 1, 0);
        r = room_of(&v, 0, UINT16_MAX);
        *text = 0;
        for (uint16_t set = room_next(&v, &r, p, row[n].parts, 0); set;
             set = room_next(&v, &r, p, row[n].parts, set))
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%x", at ? " " : "", set);
        bad += check_text(row[n].why, text, row[n].want);
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

static const struct {
    const char *why, *host, *ask;
    uint32_t dropped;
    bool fits;
} count_row[] = {
    {"exactly", "cpu=5 mem=6 pods=1 extra=7 extra1=8", "cpu=5 mem=6 extra=7 extra1=8", 0, true},
    {"CPU", "cpu=5", "cpu=6", 0, false},
    {"CPU left out", "cpu=5", "cpu=6", LIMIT(CPU), true},
    {"memory", "mem=5", "mem=6", 0, false},
    {"memory left out", "mem=5", "mem=6", LIMIT(MEM), true},
    {"no pod more", "pods=0", "cpu=1", 0, false},
    {"no pod more, left out", "pods=0", "cpu=1", LIMIT(PODS), true},
    {"another resource", "extra1=5", "extra1=6", 0, false},
    {"another resource left out", "extra1=5", "extra1=6", LIMIT(EXTRA), true},
};

static void test_counts(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ROWS(count_row); n++) {
        char text[160];
        struct view v;
        struct room r;

        world_open(&w, NULL);
        snprintf(text, sizeof(text), "hosts 1 gpus=1 %s; ask %s", count_row[n].host,
                 count_row[n].ask);
        world_say(&w, text);
        v = world_view(&w, 0);
        v.dropped = count_row[n].dropped;
        r = room_of(&v, 0, UINT16_MAX);
        CHECK_INT(count_row[n].why, room_counts(&v, &r, world_podset(&w, 0, 0)), count_row[n].fits);
        world_close(&w);
    }
}

/* Pods of four kinds in and out again, in any order: the room is as it was. */
static void test_take_give(void **state)
{
    static const char *const ask[] = {"gpus=2 cpu=1 mem=2 extra=3", "gpus=1 milli=300",
                                      "gpus=1 mib=4", "gpus=1 mig=3", "cpu=4 extra1=1"};

    (void)state;
    for (unsigned n = 0; n < ROWS(ask); n++) {
        const struct podset *p;
        struct room r, before, twice;
        char text[256];
        struct view v;
        uint16_t set;
        uint8_t slot, next;

        world_open(&w, NULL);
        snprintf(text, sizeof(text),
                 "mig 3 model=0 starts=11 slots=4 of=8; hosts 1 gpus=4 cpu=9 mem=9 pods=9 extra=9 "
                 "extra1=9 gpumem=10; "
                 "ask %s",
                 ask[n]);
        world_say(&w, text);
        v = world_view(&w, 0);
        p = world_podset(&w, 0, 0);
        before = r = room_of(&v, 0, UINT16_MAX);
        set = room_next(&v, &r, p, 0, 0);
        assert_int_equal(set != 0, p->gpus != 0);
        slot = room_take(&v, &r, p, set);
        assert_int_equal(r.pods, 8);
        assert_int_equal(r.cpu_milli, 9 - p->cpu_milli);
        if (podset_is_share(p)) {
            assert_int_equal(r.gang_cards, set);
            twice = r;
            next = room_take(&v, &r, p, set);
            assert_int_equal(next, n == 3 ? 4 : 0);
            room_give(&v, &r, p, set, next, true);
            assert_memory_equal(&r, &twice, sizeof(r));
        }
        room_give(&v, &r, p, set, slot, false);
        assert_memory_equal(&r, &before, sizeof(r));
        world_close(&w);
    }
}

/* Pods of one gang on one card: only if they may. */
static void test_apart(void **state)
{
    (void)state;
    for (unsigned apart = 0; apart < 2; apart++) {
        const struct podset *p;
        struct view v;
        struct room r;
        uint16_t first;

        world_open(&w, NULL);
        world_say(&w, apart ? "hosts 1 gpus=2; ask pods=2 gpus=1 milli=300 apart"
                            : "hosts 1 gpus=2; ask pods=2 gpus=1 milli=300");
        v = world_view(&w, 0);
        p = world_podset(&w, 0, 0);
        r = room_of(&v, 0, UINT16_MAX);
        first = room_next(&v, &r, p, 0, 0);
        room_take(&v, &r, p, first);
        assert_int_equal(room_next(&v, &r, p, 0, 0), apart ? 2 : 1);
        world_close(&w);
    }
}

/* Every subset of a host of unlike devices that differs is found, none twice: against brute force.
 */
static void test_complete(void **state)
{
    (void)state;
    for (unsigned gpus = 1; gpus <= 4; gpus++) {
        char text[200];
        struct view v;
        struct room r;
        unsigned found = 0, want = 0, kinds_seen[625] = {0};

        world_open(&w, NULL);
        snprintf(text, sizeof(text), "hosts 1 gpus=8 shape=pairs; ask gpus=%u", gpus);
        world_say(&w, text);
        v = world_view(&w, 0);
        r = room_of(&v, 0, UINT16_MAX);
        for (uint16_t set = room_next(&v, &r, world_podset(&w, 0, 0), SCOPE_BIT(SHAPE_ISLAND), 0);
             set; set = room_next(&v, &r, world_podset(&w, 0, 0), SCOPE_BIT(SHAPE_ISLAND), set))
            found++;
        /* Two sets are alike if they take as many devices of each pair. */
        for (unsigned set = 0; set < 256; set++) {
            unsigned kind = 0;

            if (bits_count32(set) != gpus)
                continue;
            for (unsigned pair = 0; pair < 4; pair++)
                kind = kind * 5 + bits_count32(set >> 2 * pair & 3);
            want += kinds_seen[kind]++ == 0;
        }
        assert_int_equal(found, want);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),      cmocka_unit_test(test_counts),
        cmocka_unit_test(test_take_give), cmocka_unit_test(test_apart),
        cmocka_unit_test(test_complete),
    };

    return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
