/* pick_test.c - which devices a pod gets on every kind of machine
 *
 * The rows argue for the order of weights; then every row of every machine is compared with brute
 * force that shares no code with the choice: it weighs each set of the asked size from scratch, in
 * the words of pick.h, and compares number by number.
 */
#include "core/place/pick.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/base/bits.h"
#include "core/base/prng.h"
#include "core/place/pick_machines.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* ---- rows ----------------------------------------------------------------------------------- */

/* Devices as hexadecimal digits: held by others, out of service, allowed ("": all), chosen. */
static const struct {
    const char *why, *machine, *held, *failed, *within;
    unsigned gpus;
    const char *want;
} row[] = {
    /* Pairs: the issue's own words. */
    {"a pod of one takes the pair that is broken already", "bridge8", "2", "", "", 1, "3"},
    {"a pod of two takes a whole pair, not two halves", "bridge8", "02", "", "", 2, "45"},
    {"two halves serve a pod of two only if no pair is whole", "bridge4", "02", "", "", 2, "13"},
    {"a pod of four takes two whole pairs of one NUMA node", "bridge8", "0", "", "", 4, "4567"},
    {"a pod of three on whole pairs opens the fewest NUMA nodes", "bridge8", "", "", "", 3, "012"},
    {"a pod of three takes a pair and the half that is left", "bridge8", "6", "", "", 3, "457"},
    {"two bridges across sockets beat one bridge and three in a row", "bridge8", "37", "", "", 4,
     "0145"},
    {"bridges across sockets: the link counts before the node", "bridge8-across", "", "", "", 2,
     "04"},
    {"one of a pair across sockets is held: its mate goes first", "bridge8-across", "5", "", "", 1,
     "1"},
    {"the mate of a failed device can never be a pair again: it goes first", "bridge8", "0", "6",
     "", 1, "7"},
    {"sixteen cards in pairs: the broken pair is found at the end", "bridge16", "f", "", "", 1,
     "e"},
    {"sixteen cards in pairs: four whole pairs of one node", "bridge16", "0", "", "", 8,
     "89abcdef"},
    {"POWER9: the pair on one socket", "p9-4", "1", "", "", 2, "23"},
    {"POWER9: the socket in use serves the single", "p9-4", "3", "", "", 1, "2"},
    {"POWER9 with six: three of one socket", "p9-6", "0", "", "", 3, "345"},
    {"POWER9 with six: the socket in use has two left", "p9-6", "5", "", "", 2, "34"},

    /* One island: the NUMA node and the switch decide. */
    {"a free board fills from the front", "hgx8", "", "", "", 1, "0"},
    {"the second pod of one shares the switch that is open", "hgx8", "0", "", "", 1, "1"},
    {"a pod of two takes one switch", "hgx8", "0", "", "", 2, "23"},
    {"a pod of two stays on the NUMA node that is open", "hgx8", "45", "", "", 2, "67"},
    {"a pod of four takes one NUMA node", "hgx8", "0", "", "", 4, "4567"},
    {"a pod of four over both nodes touches the fewest switches", "hgx8", "06", "", "", 4, "2345"},
    {"a pod of all takes all", "hgx8", "", "", "", 8, "01234567"},
    {"one failed: seven is all there is", "hgx8", "", "5", "", 7, "0123467"},
    {"one failed: a pod of eight gets none", "hgx8", "", "5", "", 8, ""},
    {"a failed device opens its switch for the pod of one", "hgx8", "", "5", "", 1, "4"},
    {"no NUMA, no switches known: the lowest mask", "hgx8-bare", "13", "", "", 3, "024"},
    {"a switch each: the open NUMA node", "hgx8-rail", "6", "", "", 2, "45"},
    {"equal otherwise: the NICs stay for those who need them", "hgx8-near-nics", "", "", "", 2,
     "45"},
    {"the one switch without a NIC serves the single", "hgx8-one-bare", "", "", "", 1, "5"},
    {"the lone device of a NUMA node breaks nothing", "hgx8-snc4", "", "", "", 1, "3"},
    {"three of one node before a mix", "hgx8-snc4", "0", "", "", 3, "456"},
    {"NUMA nodes of two: a pod of two takes one", "dgx-a100", "0", "", "", 2, "23"},
    {"HCCS without link counts: the island counts as linked", "ascend8", "0", "", "", 2, "23"},
    {"xGMI board: four of one node", "mi300x", "7", "", "", 4, "0123"},
    {"four fully linked: two of one node", "a100-4", "0", "", "", 2, "23"},
    {"a node per device: the lowest mask", "h100-4", "1", "", "", 2, "02"},
    {"a tray of four: the node that is open", "gb200-tray", "0", "", "", 1, "1"},
    {"sixteen switched: eight of one socket", "dgx2", "0", "", "", 8, "89abcdef"},
    {"sixteen switched: the open switch serves the single", "dgx2", "d", "", "", 1, "c"},

    /* Meshes: the links differ. */
    {"cube mesh: a quad, and it leaves the other one", "dgx1", "", "", "", 4, "0123"},
    {"cube mesh: the other quad", "dgx1", "0", "", "", 4, "4567"},
    {"cube mesh: a double link of one switch, and it leaves a quad", "dgx1", "", "", "", 2, "23"},
    {"cube mesh: two of the quad in use, not two that break the other", "dgx1", "12", "", "", 2,
     "03"},
    {"cube mesh: a single spares the whole quad", "dgx1", "6", "", "", 1, "7"},
    {"cube mesh, other numbers: a quad", "dgx1-hybrid", "5", "", "", 4, "0123"},
    {"cube mesh, other numbers: a double link inside a quad", "dgx1-hugectr", "", "", "", 2, "02"},
    {"cube mesh, flat VM: the whole quad", "dgx1-vm", "2", "", "", 4, "4567"},
    {"cube mesh, interleaved quads", "ndv2", "4", "", "", 4, "0123"},
    {"half a mesh: the double link", "v100-4", "", "", "", 2, "12"},
    {"half a mesh: the strongest three", "v100-4", "", "", "", 3, "023"},
    {"a ring of four: neighbours", "mi-ring4", "1", "", "", 2, "02"},
    {"uneven mesh: the package that leaves most links", "mi250-8", "0", "", "", 2, "45"},
    {"uneven mesh: two packages with the double link between", "mi250-8", "7", "", "", 4, "0145"},
    {"six links of seven: four that are all linked", "mi-8-six", "", "", "", 4, "0123"},
    {"two meshes: a quad of the mesh in use", "two-dgx1", "89ab", "", "", 4, "cdef"},

    /* Islands of unequal state and size. */
    {"two islands: the one in use serves the small pod", "metax8", "4", "", "", 1, "5"},
    {"two islands: three are left in one", "metax8", "04", "", "", 3, "123"},
    {"two islands: five is a whole one and a guest", "metax8", "", "", "", 5, "01234"},
    {"two hives: four of one switch in the hive in use", "two-hives16", "8", "", "", 4, "cdef"},
    {"one bridge and one single: the single is used first", "one-bridge-one-single", "", "", "", 1,
     "2"},
    {"one bridge and one single: the pair stays together", "one-bridge-one-single", "", "", "", 2,
     "01"},
    {"the smallest island that suffices: a single", "quad-pair-singles", "", "", "", 1, "6"},
    {"the smallest island that suffices: the pair", "quad-pair-singles", "", "", "", 2, "45"},
    {"an island that is broken already before a whole one", "quad-pair-singles", "0", "", "", 2,
     "12"},

    /* PCIe only. */
    {"PCIe: two of one switch", "pcie8", "0", "", "", 2, "23"},
    {"PCIe: the switch in use serves the single", "pcie8", "2", "", "", 1, "3"},
    {"PCIe: the NUMA node in use before the whole one", "pcie8", "45", "", "", 2, "67"},
    {"PCIe: four of one NUMA node", "pcie8", "1", "", "", 4, "4567"},
    {"PCIe: three of the node in use", "pcie8", "7", "", "", 3, "456"},
    {"two switches of four: the one in use", "p40-8", "5", "", "", 2, "46"},
    {"no links, NUMA alone: the node in use", "rtx4090-8", "6", "", "", 1, "4"},
    {"six and two: the small node serves the pair", "pcie8-6-2", "", "", "", 2, "67"},
    {"six and two: six of one node", "pcie8-6-2", "", "", "", 6, "012345"},
    {"six and two: a single breaks no known switch", "pcie8-6-2", "7", "", "", 1, "6"},
    {"three, one and four: the lone one first", "pcie8-3-1-4", "", "", "", 1, "3"},
    {"three, one and four: three", "pcie8-3-1-4", "", "", "", 3, "012"},
    {"three, one and four: four", "pcie8-3-1-4", "", "", "", 4, "4567"},
    {"four on one socket: the lowest", "k80-4", "0", "", "", 2, "12"},
    {"three cards, one alone: the two together", "pcie3-1-2", "", "", "", 2, "12"},
    {"three cards, one alone: the lone one", "pcie3-1-2", "", "", "", 1, "0"},
    {"five cards: one switch", "pcie5-1-4", "1", "", "", 2, "34"},
    {"five cards: the lone one serves the single", "pcie5-1-4", "", "", "", 1, "0"},
    {"six cards: the NICs' switch is spared", "pcie6", "", "", "", 1, "2"},
    {"ten cards: five of one switch", "pcie10", "2", "", "", 5, "56789"},
    {"ten cards: six is five and a guest", "pcie10", "", "", "", 6, "012345"},
    {"sixteen cards: eight of one node", "pcie16", "3", "", "", 8, "89abcdef"},
    {"sixteen cards: the switch in use", "pcie16", "c", "", "", 3, "def"},
    {"numbers that alternate between sockets", "interleaved8", "0", "", "", 2, "26"},

    /* Asks with walls, and hosts that say nothing. */
    {"only the allowed domain counts", "hgx8", "", "", "4567", 2, "45"},
    {"what lies outside the domain still counts as left over", "bridge8", "2", "", "0134", 1, "3"},
    {"fewer allowed than asked: none", "hgx8", "4", "", "4567", 4, ""},
    {"nothing known: the lowest mask", "unknown8", "1", "", "", 3, "023"},
    {"one device", "unknown1", "", "", "", 1, "0"},
    {"more than the host has: none", "unknown1", "", "", "", 16, ""},
    {"more than any host has: none", "hgx8", "", "", "", 4000000000u, ""},
};

static void test_rows(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ROWS(row); r++) {
        struct shape s = pick_machine(row[r].machine);
        uint16_t all = (uint16_t)bits_first(s.gpus);
        uint16_t healthy = all & (uint16_t)~pick_set(row[r].failed);
        uint16_t within = row[r].within[0] ? pick_set(row[r].within) : UINT16_MAX;
        uint16_t got = pick_whole(&s, row[r].gpus, healthy,
                                  healthy & (uint16_t)~pick_set(row[r].held), within);

        if (got != pick_set(row[r].want))
            print_error("row %u (%s on %s): found 0x%x\n", r, row[r].why, row[r].machine, got);
        assert_int_equal(got, pick_set(row[r].want));
    }
}

/* ---- brute force ---------------------------------------------------------------------------- */

enum { WEIGHTS = 19 };

/* A host and what is asked of it; group: the largest linked group within every mask. */
struct world {
    struct shape s;
    uint16_t healthy, free;
    uint8_t *group;
};

static uint8_t group_of_all[1u << SHAPE_GPUS_MAX];

static long link_of(const struct shape *s, unsigned a, unsigned b)
{
    if (s->links_known)
        return s->link[a][b];
    return s->part[SHAPE_ISLAND][a] != SHAPE_NO_PART &&
           s->part[SHAPE_ISLAND][a] == s->part[SHAPE_ISLAND][b];
}

static void world_init(struct world *w, const struct shape *s)
{
    w->s = *s;
    w->group = group_of_all;
    w->group[0] = 0;
    for (uint32_t m = 1; m < 1u << s->gpus; m++) {
        unsigned top = 0;
        uint32_t linked = 0;

        for (unsigned i = 0; i < s->gpus; i++)
            if (bits_has(m, i))
                top = i;
        for (unsigned i = 0; i < top; i++)
            if (bits_has(m, i) && link_of(s, top, i) > 0)
                linked |= 1u << i;
        uint8_t without = w->group[m & ~(1u << top)], with = (uint8_t)(w->group[linked] + 1);

        w->group[m] = with > without ? with : without;
    }
}

static int shares(const struct shape *s, enum shape_part part, unsigned a, unsigned b)
{
    return s->part[part][a] != SHAPE_NO_PART && s->part[part][a] == s->part[part][b];
}

static void weigh_pairs(const struct world *w, uint16_t set, long *own)
{
    long sum = 0, weakest = -1, by[4] = {0};

    for (unsigned a = 0; a < w->s.gpus; a++)
        for (unsigned b = 0; b < a; b++) {
            if (!bits_has(set, a) || !bits_has(set, b))
                continue;
            long link = link_of(&w->s, a, b);

            sum += link;
            weakest = weakest < 0 || link < weakest ? link : weakest;
            if (shares(&w->s, SHAPE_ISLAND, a, b))
                by[0]++;
            else if (shares(&w->s, SHAPE_PCIE, a, b))
                by[1]++;
            else if (shares(&w->s, SHAPE_NUMA, a, b))
                by[2]++;
            else
                by[3]++;
        }
    own[0] = by[3] ? 0 : by[2] ? 1 : by[1] ? 2 : 3;
    own[1] = sum;
    own[2] = weakest;
    own[3] = -by[3];
    own[4] = -by[2];
    own[5] = -by[1];
}

struct touched {
    long parts, whole, free, healthy, nics;
};

static struct touched touch(const struct world *w, enum shape_part part, uint16_t set)
{
    struct touched t = {0};

    for (unsigned a = 0; a < w->s.gpus; a++) {
        unsigned peers = 1u << a, first = a;

        if (!bits_has(set, a))
            continue;
        for (unsigned b = 0; b < w->s.gpus; b++)
            if (shares(&w->s, part, a, b)) {
                peers |= 1u << b;
                if (bits_has(set, b) && b < first)
                    first = b;
            }
        if (first != a)
            continue;
        long free = bits_count16((uint16_t)(peers & w->free));
        long healthy = bits_count16((uint16_t)(peers & w->healthy));

        t.parts++;
        t.whole += free == healthy && healthy > 1;
        t.free += free;
        t.healthy += healthy;
        if (part == SHAPE_PCIE && w->s.part[part][a] != SHAPE_NO_PART)
            t.nics += w->s.nics[w->s.part[part][a]];
    }
    return t;
}

static void weigh(const struct world *w, uint16_t set, long *weight)
{
    struct touched islands = touch(w, SHAPE_ISLAND, set), numas = touch(w, SHAPE_NUMA, set);
    struct touched switches = touch(w, SHAPE_PCIE, set);
    uint16_t left = w->free & (uint16_t)~set;
    long left_own[6];

    weigh_pairs(w, set, weight);
    weigh_pairs(w, left, left_own);
    weight[6] = -islands.whole;
    weight[7] = -islands.free;
    weight[8] = -islands.healthy;
    weight[9] = w->group[left];
    weight[10] = left_own[1];
    weight[11] = -numas.parts;
    weight[12] = -switches.parts;
    weight[13] = -numas.whole;
    weight[14] = -switches.whole;
    weight[15] = -numas.free;
    weight[16] = -switches.free;
    weight[17] = -switches.nics;
    weight[18] = -(long)set;
}

static uint16_t brute(const struct world *w, unsigned gpus, uint16_t pool)
{
    uint16_t best = 0;
    long most[WEIGHTS], weight[WEIGHTS];

    for (uint32_t m = (uint32_t)bits_first(gpus); m <= bits_first(w->s.gpus);
         m = bits_next_subset(m)) {
        unsigned at = 0;

        if (m & ~(uint32_t)pool)
            continue;
        weigh(w, (uint16_t)m, weight);
        while (best && at < WEIGHTS - 1 && weight[at] == most[at])
            at++;
        if (best && weight[at] < most[at])
            continue;
        best = (uint16_t)m;
        memcpy(most, weight, sizeof(most));
    }
    return best;
}

static void compare(struct world *w, unsigned gpus, uint16_t within, const char *name)
{
    uint16_t want = brute(w, gpus, w->free & within);
    uint16_t got = pick_whole(&w->s, gpus, w->healthy, w->free, within);

    if (got != want)
        print_error("%s: %u of free 0x%x, healthy 0x%x, within 0x%x: found 0x%x, brute 0x%x\n",
                    name, gpus, w->free, w->healthy, within, got, want);
    assert_int_equal(got, want);
}

/* Up to 8 devices: every set of free devices and every ask, all healthy, then at random some of the
 * rest failed and some walls. */
static void test_exhaustive(void **state)
{
    struct prng p;

    (void)state;
    prng_init(&p, 1);
    for (unsigned i = 0; i < PICK_MACHINES; i++) {
        struct shape s = pick_machine_shape(pick_machines[i].text);
        struct world w;

        if (s.gpus > 8)
            continue;
        world_init(&w, &s);
        for (uint32_t free = 0; free < 1u << s.gpus; free++)
            for (unsigned gpus = 1; gpus <= s.gpus; gpus++) {
                uint16_t all = (uint16_t)bits_first(s.gpus);

                w.free = (uint16_t)free;
                w.healthy = all;
                compare(&w, gpus, UINT16_MAX, pick_machines[i].name);
                w.healthy = w.free | (uint16_t)(prng_next(&p) & all);
                compare(&w, gpus, UINT16_MAX, pick_machines[i].name);
                compare(&w, gpus, (uint16_t)prng_next(&p), pick_machines[i].name);
            }
    }
}

/* Each device with a chance of 1 - 0.5^draws. */
static uint16_t random_mask(struct prng *p, unsigned draws)
{
    uint64_t mask = 0;

    while (draws-- > 0)
        mask |= prng_next(p);
    return (uint16_t)mask;
}

static void sample(struct world *w, struct prng *p, const char *name)
{
    w->healthy = (uint16_t)bits_first(w->s.gpus);
    if (prng_below(p, 3) == 0)
        w->healthy &= random_mask(p, 3);
    w->free = w->healthy;
    if (prng_below(p, 3) != 0)
        w->free &= random_mask(p, 2);
    uint16_t within = prng_below(p, 4) ? UINT16_MAX : random_mask(p, 2);

    compare(w, (unsigned)prng_range(p, 1, w->s.gpus), within, name);
}

static void test_sampled(void **state)
{
    struct prng p;

    (void)state;
    prng_init(&p, 2);
    for (unsigned i = 0; i < PICK_MACHINES; i++) {
        struct shape s = pick_machine_shape(pick_machines[i].text);
        struct world w;

        if (s.gpus <= 8)
            continue;
        world_init(&w, &s);
        for (unsigned n = 0; n < (s.gpus > 10 ? 60u : 600u); n++)
            sample(&w, &p, pick_machines[i].name);
    }
}

/* Shapes that nobody builds: parts that cross each other, uneven and one-sided links. */
static struct shape random_shape(struct prng *p, unsigned gpus_max)
{
    struct shape s = {.gpus = (uint8_t)prng_range(p, 1, gpus_max)};
    unsigned link_max = (unsigned)(uint16_t[]){0, 1, 2, 5, UINT16_MAX}[prng_below(p, 5)];
    uint64_t sparse = prng_range(p, 1, 4);

    memset(s.part, SHAPE_NO_PART, sizeof(s.part));
    for (unsigned part = 0; part < SHAPE_PART_COUNT; part++) {
        uint64_t parts = prng_range(p, 1, 4);

        for (unsigned i = 0; i < s.gpus; i++)
            if (prng_below(p, 8) != 0)
                s.part[part][i] = (uint8_t)prng_below(p, parts);
    }
    for (unsigned i = 0; i < SHAPE_GPUS_MAX; i++)
        s.nics[i] = (uint8_t)(prng_below(p, 2) ? prng_below(p, 3) : 255);
    if (prng_below(p, 3) == 0)
        pick_join_islands(&s, link_max);
    else
        for (unsigned a = 1; a < s.gpus; a++)
            for (unsigned b = 0; b < a; b++)
                if (prng_below(p, sparse) == 0)
                    pick_join(&s, a, b, (unsigned)prng_below(p, link_max + 1));
    if (prng_below(p, 4) == 0)
        s.links_known = 0;
    return s;
}

static void test_random_shapes(void **state)
{
    struct prng p;

    (void)state;
    prng_init(&p, 3);
    for (unsigned i = 0; i < 1500; i++) {
        struct shape s = random_shape(&p, i % 100 == 0 ? 12 : 8);
        struct world w;

        assert_true(shape_valid(&s));
        world_init(&w, &s);
        for (unsigned n = 0; n < 40; n++)
            sample(&w, &p, "random shape");
    }
}

/* ---- worth ---------------------------------------------------------------------------------- */

static const struct {
    const char *why, *machine, *held, *failed, *set;
    struct pick_worth want;
} worth_row[] = {
    {"a quad of the mesh", "dgx1", "", "", "0123", {9, 1, 1, 1, 1, 2}},
    {"opposite corners have no link", "dgx1", "1", "", "05", {0, 0, 1, 0, 2, 2}},
    {"a single has no pair", "hgx8", "", "", "3", {0, 0, 1, 1, 1, 1}},
    {"a pair and a half: two whole islands opened", "bridge8", "", "", "012", {12, 0, 2, 2, 1, 3}},
    {"the half was broken before", "bridge8", "3", "", "012", {12, 0, 2, 1, 1, 3}},
    {"the mate of a failed device is no whole island", "bridge8", "", "3", "2", {0, 0, 1, 0, 1, 1}},
    {"links unknown: islands count by 1", "metax8", "", "", "01245", {4, 0, 2, 2, 1, 5}},
    {"devices in no part count one each", "unknown8", "", "", "012", {0, 0, 3, 0, 3, 3}},
    {"nothing is worth nothing", "hgx8", "", "", "", {0, 0, 0, 0, 0, 0}},
};

static void test_worth(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ROWS(worth_row); r++) {
        struct shape s = pick_machine(worth_row[r].machine);
        uint16_t healthy = (uint16_t)bits_first(s.gpus) & (uint16_t)~pick_set(worth_row[r].failed);
        uint16_t free = healthy & (uint16_t)~pick_set(worth_row[r].held);
        struct pick_worth got = pick_worth(&s, healthy, free, pick_set(worth_row[r].set));
        struct pick_worth want = worth_row[r].want;

        if (memcmp(&got, &want, sizeof(got)) != 0)
            print_error("row %u: %s\n", r, worth_row[r].why);
        assert_int_equal(got.link_sum, want.link_sum);
        assert_int_equal(got.link_min, want.link_min);
        assert_int_equal(got.islands, want.islands);
        assert_int_equal(got.islands_broken, want.islands_broken);
        assert_int_equal(got.numas, want.numas);
        assert_int_equal(got.switches, want.switches);
    }
}

/* Part numbers are names: other numbers, same answers. */
static void test_part_numbers(void **state)
{
    struct shape s = pick_machine("dgx-a100"), t = s;
    static const uint8_t numa[] = {3, 1, 7, 5}, island = 200;

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        t.part[SHAPE_NUMA][i] = numa[s.part[SHAPE_NUMA][i]];
        t.part[SHAPE_ISLAND][i] = island;
        t.part[SHAPE_PCIE][i] = (uint8_t)(15 - s.part[SHAPE_PCIE][i]);
    }
    memset(t.nics, 2, sizeof(t.nics));
    for (uint32_t free = 0; free <= 255; free++)
        for (unsigned gpus = 1; gpus <= 8; gpus++)
            assert_int_equal(pick_whole(&s, gpus, 255, (uint16_t)free, 255),
                             pick_whole(&t, gpus, 255, (uint16_t)free, 255));
}

static void test_misuse(void **state)
{
    struct shape s = pick_machine("bridge4");

    (void)state;
    expect_assert_failure(pick_whole(&s, 0, 15, 15, 15));
    expect_assert_failure(pick_whole(&s, 1, 0xFFFF, 0x1F, 15)); /* a device it does not have */
    expect_assert_failure(pick_whole(&s, 1, 7, 15, 15));        /* a failed one is not free */
    expect_assert_failure((void)pick_worth(&s, 15, 15, 16).islands);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),    cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_sampled), cmocka_unit_test(test_random_shapes),
        cmocka_unit_test(test_worth),   cmocka_unit_test(test_part_numbers),
        cmocka_unit_test(test_misuse),
    };

    return cmocka_run_group_tests_name("pick", tests, NULL, NULL);
}
