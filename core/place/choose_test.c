/* choose_test.c - every answer is that of a look at every host: in rows, and by lot */
#include "core/place/choose.h"

#include <stdio.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/place/equal.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w, scan;

/* ---- the fewest hosts ---- */

/* By the definition: the host that holds all the rest with the least room over, else the one that
 * holds most, again and again; equal ones by the lowest id. */
static uint32_t fewest_plain(const struct share *share, uint32_t count, uint32_t pods,
                             uint32_t *ret_pods)
{
    uint32_t used = 0;

    memset(ret_pods, 0, count * sizeof(*ret_pods));
    for (uint32_t rest = pods; rest > 0; used++) {
        uint32_t best = count;

        for (uint32_t n = 0; n < count; n++) {
            bool all = share[n].pods >= rest, best_all = best < count && share[best].pods >= rest;

            if (ret_pods[n] == 0 && (best == count || (all != best_all ? all
                                                       : all ? share[n].pods < share[best].pods
                                                             : share[n].pods > share[best].pods)))
                best = n;
        }
        ret_pods[best] = share[best].pods < rest ? share[best].pods : rest;
        rest -= ret_pods[best];
    }
    return used;
}

static void check_fewest(const struct share *share, uint32_t count, uint32_t pods)
{
    struct share got[64];
    uint32_t want[64], used, at = 0;

    memcpy(got, share, count * sizeof(*share));
    used = choose_fewest(got, count, pods);
    assert_int_equal(used, fewest_plain(share, count, pods, want));
    for (uint32_t n = 0; n < count; n++)
        if (want[n]) {
            assert_int_equal(got[at].host, share[n].host);
            assert_int_equal(got[at++].pods, want[n]);
        }
    assert_int_equal(at, used);
}

static void test_fewest(void **state)
{
    static const struct share unlimited[] = {{3, 7}, {5, UINT32_MAX}, {8, UINT32_MAX}, {9, 7}};
    struct prng p;

    (void)state;
    for (uint32_t pods = 0; pods < 20; pods++)
        check_fewest(unlimited, 4, pods);
    check_fewest(unlimited, 4, UINT32_MAX);
    prng_init(&p, 5);
    for (unsigned round = 0; round < 20000; round++) {
        struct share share[64];
        uint32_t count = 1 + (uint32_t)prng_below(&p, 12), most = 1 + (uint32_t)prng_below(&p, 9);
        uint32_t sum = 0;

        for (uint32_t n = 0; n < count; n++) {
            share[n] = (struct share){3 * n + 1, 1 + (uint32_t)prng_below(&p, most)};
            sum += share[n].pods;
        }
        check_fewest(share, count, (uint32_t)prng_below(&p, sum + 1));
    }
}

/* ---- does it fit ---- */

/* Of the last job: whether its minimum fits somewhere; most pods of one region. */
static const struct {
    const char *why, *script;
    uint32_t dropped, most;
    bool fits;
} row[] = {
    {"one host", "hosts 1 gpus=8; ask pods=4 gpus=2", 0, 4, true},
    {"one too few", "hosts 1 gpus=8; ask pods=5 gpus=2", 0, 4, false},
    {"most is cut to what is asked", "hosts 9 gpus=8; ask pods=5 gpus=2", 0, 5, true},
    {"elastic", "hosts 1 gpus=4; ask pods=5 min=2 gpus=2", 0, 2, true},
    {"over leaves: not together",
     "hosts 1 gpus=2 l0=0; hosts 1 gpus=3 l0=1; ask pods=4 gpus=1 need=l0", 0, 3, false},
    {"over leaves, left out", "hosts 1 gpus=2 l0=0; hosts 1 gpus=3 l0=1; ask pods=4 gpus=1 need=l0",
     LIMIT(TOPOLOGY), 4, true},
    {"on one host", "hosts 1 gpus=2; hosts 1 gpus=3; ask pods=3 gpus=1 need=host", 0, 3, true},
    {"no host is so large, a look at the kinds tells",
     "hosts 2 gpus=3; ask pods=4 gpus=1 need=host", 0, 3, false},
    {"in one island", "hosts 1 gpus=8 shape=quads; ask pods=3 gpus=2 need=island", 0, 2, false},
    {"slices of a leaf inside a spine",
     "hosts 2 gpus=1 l0=0 l1=8; hosts 2 gpus=1 l0=1 l1=9; ask pods=4 gpus=1 slice=2@l0 need=l1", 0,
     2, false},
    {"another model left out", "hosts 1 gpus=8 model=1; hosts 1 gpus=1; ask pods=2 gpus=1 class=1",
     LIMIT(MODEL), 2, true},
    {"a drained host left out", "hosts 2 gpus=1; state 0 drain; ask pods=2 gpus=1", LIMIT(HEALTH),
     2, true},
    {"a drained host of a leaf left out",
     "hosts 2 gpus=1 l0=0; state 0 drain; ask pods=2 gpus=1 need=l0", LIMIT(HEALTH), 2, true},
    {"in use left out", "hosts 1 gpus=2; ask gpus=1; step; ask pods=2 gpus=1", LIMIT(BUSY), 2,
     true},
    {"no GPUs: CPU only", "hosts 2 gpus=0 cpu=3; ask pods=3 cpu=2", 0, 2, false},
};

static void test_fits(void **state)
{
    int bad = 0;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        const struct podset *p;
        uint32_t most;
        struct view v;
        bool fits;

        world_open(&w, NULL);
        world_say(&w, row[n].script);
        CHECK_INT(row[n].why, config_row(w.s.m)->ignored_count, 0);
        index_settle(w.s.m);
        p = world_podset(&w, w.keys - 1, 0);
        v = world_view(&w, w.keys - 1);
        v.dropped = row[n].dropped;
        most = choose_most(&v, p);
        fits = choose_fits(&v, p);
        if (most != row[n].most || fits != row[n].fits) {
            print_error("row: %s: most %u, fits %d\n", row[n].why, most, fits);
            bad++;
        }
        world_close(&w);
    }
    assert_int_equal(bad, 0);
}

/* ---- by lot ---- */

static const char *const happening[] = {
    "ask pods=A gpus=1",
    "ask pods=A gpus=2 cpu=B",
    "ask pods=A gpus=4 need=l0",
    "ask pods=A gpus=2 need=l0 prefer=host",
    "ask pods=A gpus=1 need=l1",
    "ask pods=A gpus=1 need=host",
    "ask pods=A gpus=1 need=l0,l1",
    "ask pods=A gpus=1 prefer=l0,host",
    "ask pods=A gpus=2 need=island",
    "ask pods=A min=2 gpus=1 need=l0 mem=B",
    "ask pods=A min=1 gpus=2",
    "ask pods=A cpu=B need=l0",
    "ask pods=A cpu=1 mem=2",
    "ask pods=A gpus=1 milli=300 need=l1",
    "ask pods=A gpus=1 milli=400 apart",
    "ask pods=A gpus=1 mib=3 need=l0",
    "ask pods=A gpus=1 mig=3 need=l0",
    "ask pods=A min=2 gpus=1 slice=2@l0 need=l1",
    "ask pods=A min=2 gpus=1 slice=2@host",
    "ask pods=A gpus=2 class=1 need=l0",
    "ask pods=A gpus=1 class=2",
    "ask gpus=B",
    "end K",
    "end K",
    "end K",
    "stop K",
    "state H drain",
    "state H up",
    "state H up",
    "device H 1 down",
    "device H 1 up",
    "host H gpus=8 cpu=9 mem=9 gpumem=8 shape=quads l0=1 l1=5",
    "host H gpus=4 cpu=9 model=1 l0=2 l1=6",
    "gone H",
    "leave H 100",
    "leave H 9223372036854775807",
    "class 1 models=2",
    "class 1 models=1",
    "config order=priority",
};

/* A: 2 to 9; B: 1 to 4; K: a key; H: a host. */
static void draw(struct prng *p, char *ret, size_t size)
{
    const char *text = happening[prng_below(p, ROWS(happening))];
    size_t at = 0;

    for (; *text; text++) {
        uint64_t a = prng_below(p, 8) + 2, b = prng_below(p, 4) + 1, h = prng_below(p, 14);
        uint64_t k = prng_below(p, w.keys + 1u);
        char c = *text;

        if (c == 'A' || c == 'B' || c == 'K' || c == 'H')
            at += (size_t)snprintf(ret + at, size - at, "%u",
                                   (unsigned)(c == 'A'   ? a
                                              : c == 'B' ? b
                                              : c == 'K' ? k
                                                         : h));
        else
            at += (size_t)snprintf(ret + at, size - at, "%c", c);
    }
}

static void say_both(const char *text)
{
    world_say(&w, text);
    world_say(&scan, text);
}

/* The region with the least room over by a look at each; where none holds the pods, the first of
 * those that hold the most, if that is least or more. Told by its first host, or ROW_NONE. */
static uint32_t tightest_plain(struct view *v, const struct podset *p, uint64_t scopes,
                               uint32_t pods, uint32_t least, uint64_t *ret_room)
{
    uint64_t room_best = 0;
    struct region r, best;

    region_start(&r, scopes);
    while (region_next(v, &r)) {
        uint64_t room = equal_in_region(v, &r, p, UINT64_MAX);

        if (room_best >= pods ? room >= pods && room < room_best : room > room_best) {
            room_best = room;
            best = r;
        }
    }
    *ret_room = room_best;
    return room_best && room_best >= least ? region_host(v, &best, (uint32_t[]){0}) : ROW_NONE;
}

static void check_tightest(struct prng *p, uint32_t key)
{
    static const uint64_t wishes[] = {
        0,
        SCOPE_BIT(SCOPE_OF_HOST),
        SCOPE_BIT(SCOPE_OF_LEVEL),
        SCOPE_BIT(SCOPE_OF_LEVEL + 1),
        SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_HOST),
        SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_LEVEL + 1),
        SCOPE_BIT(SHAPE_ISLAND),
    };
    const struct podset *set = world_podset(&w, key, 0);
    struct view v = world_view(&w, key);
    uint32_t pods = 1 + (uint32_t)prng_below(p, 12), least = 1 + (uint32_t)prng_below(p, pods);

    for (unsigned n = 0; n < ROWS(wishes); n++) {
        uint64_t scopes = view_required(&v, set) | wishes[n], room, most;
        uint32_t want = tightest_plain(&v, set, scopes, pods, least, &room);
        struct census t = census_of(&v, set);
        struct region r;

        assert_int_equal(choose_tightest(&t, scopes, pods, least, &r, &most), room >= pods);
        if (want == ROW_NONE) {
            assert_in_range(most, 0, least - 1);
            continue;
        }
        assert_int_equal(region_host(&v, &r, (uint32_t[]){0}), want);
        if (room < pods)
            assert_int_equal(most, room);
    }
}

/* Questions that drop limits, of every job that waits. */
static void check_questions(struct prng *p)
{
    static const uint32_t empty = LIMIT(BUSY) | LIMIT(HEALTH) | LIMIT(UNKNOWN);
    uint32_t count;
    const uint32_t *waiting = index_waiting(w.s.m, &count);

    for (uint32_t n = 0; n < count; n++) {
        uint32_t key = job_row(w.s.m, waiting[n])->key;
        const struct podset *one = world_podset(&w, key, 0), *two = world_podset(&scan, key, 0);
        struct view v = world_view(&w, key), u = world_view(&scan, key);
        uint32_t lot = (uint32_t)prng_below(p, 4);

        v.dropped = lot == 0   ? 0
                    : lot == 1 ? 1u << prng_below(p, LIMIT_COUNT)
                    : lot == 2 ? empty | 1u << prng_below(p, LIMIT_COUNT)
                               : (uint32_t)prng_below(p, 1u << LIMIT_COUNT);
        u.dropped = v.dropped;
        assert_int_equal(choose_fits(&v, one), choose_fits(&u, two));
        assert_int_equal(choose_most(&v, one), choose_most(&u, two));
        if (n < 3)
            check_tightest(p, key);
    }
}

/* Two worlds hear the same; one asks the index, the other looks at every host. They decide the
 * same, refuse with the same words, and answer every question alike. */
static void test_scan(void **state)
{
    char text[160];
    struct prng p;

    (void)state;
    prng_init(&p, 17);
    for (unsigned round = 0; round < 12; round++) {
        world_open(&w, NULL);
        world_open(&scan, NULL);
        world_say(&scan, "config scan");
        say_both("mig 3 model=0 starts=11 slots=4 of=8; level 0 0 0; level 1 0 1; hosts 4 gpus=8 "
                 "cpu=9 mem=9 gpumem=8 shape=quads l0=0 l1=5; hosts 5 gpus=8 cpu=16 mem=32 "
                 "gpumem=8 shape=pairs l0=1 l1=5; hosts 3 gpus=4 cpu=9 mem=9 model=1 l0=2 l1=6; "
                 "hosts 2 gpus=4 cpu=8 mem=9 gpumem=8");
        for (unsigned n = 0; n < 120; n++) {
            draw(&p, text, sizeof(text));
            if (text[0] == 'c' && text[1] == 'o') { /* each stays what it is */
                world_say(&w, text);
                world_say(&scan, "config order=priority scan");
            } else {
                say_both(text);
            }
            if (prng_below(&p, 3)) {
                say_both("step");
                assert_int_equal(check_text(text, w.said, scan.said), 0);
                w.said_length = scan.said_length = 0;
                w.said[0] = scan.said[0] = 0;
            }
            index_settle(w.s.m);
            index_settle(scan.s.m);
            check_questions(&p);
        }
        world_close(&w);
        world_close(&scan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fewest),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_scan),
    };

    return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
