/* rules_test.c - each baseline on the cases that its own project published
 *
 * A case names its source. The language is that of tests/kit/world.h.
 */
#include "core/place/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/must.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Hosts by free GPUs, pods of one GPU (or as asked); want: pods per host, in id order. */
struct row {
    const char *why, *policy, *script, *want;
};

/* The decisions as pods per host; a refusal as it stands. */
static const char *counts_of(struct world *w, const char *said)
{
    static char text[256];
    uint32_t pods[64] = {0};
    size_t at = 0;

    if (said[0] != '+')
        return said;
    said = strrchr(said, '+'); /* the last one */
    for (const char *s = strchr(said, ' '); s && s[1] != '+' && s[1] != '-'; s = strchr(s + 1, ' '))
        pods[strtoul(s + 1, NULL, 10)]++;
    for (uint32_t h = 0; h < w->hosts; h++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u", h ? " " : "", pods[h]);
    return text;
}

static int check(const struct row *r)
{
    static char script[2048];
    struct world w;
    int wrong;

    snprintf(script, sizeof(script), "config scorer=%s; %s; step", r->policy, r->script);
    world_open(&w, NULL);
    wrong = check_text(r->why, counts_of(&w, world_say(&w, script)), r->want);
    world_close(&w);
    return wrong;
}

#define FITS_3321 "hosts 2 gpus=3 l0=0; hosts 1 gpus=2 l0=0; hosts 1 gpus=1 l0=0; ask pods=7 gpus=1"

static const struct row kueue_row[] = {
    {"KEP-2724, BestFit: hosts fit 3, 3, 2 and 1, seven are asked: 3 + 3 + 1", "kueue-like",
     FITS_3321 " need=l0", "3 3 0 1"},
    {"KEP-2724, LeastFreeCapacity: 1 + 2 + 3 + 1 of 3", "kueue-like", FITS_3321, "3 1 2 1"},
    {"the same by the setting that uses it for all", "kueue-like-least-free", FITS_3321 " need=l0",
     "3 1 2 1"},
    {"KEP-2724, Balanced placement: two domains of ten, twelve asked, greedy", "kueue-like",
     "hosts 2 gpus=10 l0=0; ask pods=12 gpus=1 prefer=l0", "10 2"},
    {"and balanced", "kueue-like-balanced", "hosts 2 gpus=10 l0=0; ask pods=12 gpus=1 prefer=l0",
     "6 6"},
    {"KEP-2724, Balanced placement, table: [[15], [15]] and 25", "kueue-like-balanced",
     "hosts 1 gpus=15 l0=0 l1=9; hosts 1 gpus=15 l0=1 l1=9; ask pods=25 gpus=1 prefer=l0", "13 12"},
    {"[[15, 13, 10]] and 23: the smallest is left out", "kueue-like-balanced",
     "hosts 1 gpus=15 l0=0 l1=9; hosts 1 gpus=13 l0=0 l1=9; hosts 1 gpus=10 l0=0 l1=9; ask pods=23 "
     "gpus=1 prefer=l0",
     "12 11 0"},
    {"[[20, 10], [15, 15]] and 22: the rack whose hosts get more at least", "kueue-like-balanced",
     "hosts 1 gpus=0 cpu=20 l0=0 l1=9; hosts 1 gpus=0 cpu=10 l0=0 l1=9; hosts 2 gpus=0 cpu=15 l0=1 "
     "l1=9; ask pods=22 cpu=1 prefer=l0",
     "0 0 11 11"},
    {"[[20, 10], [15, 15]] and 20: one host", "kueue-like-balanced",
     "hosts 1 gpus=0 cpu=20 l0=0 l1=9; hosts 1 gpus=0 cpu=10 l0=0 l1=9; hosts 2 gpus=0 cpu=15 l0=1 "
     "l1=9; ask pods=20 cpu=1 prefer=l0",
     "20 0 0 0"},
    {"[[10, 5], [5, 5, 5]] and 15: equal room, the more even rack", "kueue-like-balanced",
     "hosts 1 gpus=10 l0=0 l1=9; hosts 1 gpus=5 l0=0 l1=9; hosts 3 gpus=5 l0=1 l1=9; ask pods=15 "
     "gpus=1 prefer=l0",
     "0 0 5 5 5"},
    {"[[15], [15]] and [[15, 15]], 25: the block where one rack does", "kueue-like-balanced",
     "hosts 1 gpus=15 l0=0 l1=8; hosts 1 gpus=15 l0=1 l1=8; hosts 2 gpus=15 l0=2 l1=9; ask pods=25 "
     "gpus=1 prefer=l0",
     "0 0 13 12"},
    {"[[15], [15], [15, 15]] and 25 in slices of five per host", "kueue-like-balanced",
     "hosts 1 gpus=15 l0=0 l1=9; hosts 1 gpus=15 l0=1 l1=9; hosts 2 gpus=15 l0=2 l1=9; ask pods=25 "
     "gpus=1 slice=5@host prefer=l0",
     "0 0 15 10"},
    {"KEP-2724, multi-layer: 64 pods, 32 per block, 16 per rack", "kueue-like",
     "hosts 4 gpus=4 l0=0 l1=8; hosts 3 gpus=4 l0=1 l1=8; hosts 4 gpus=4 l0=2 l1=8; hosts 4 gpus=4 "
     "l0=3 l1=9; hosts 4 gpus=4 l0=4 l1=9; ask pods=32 gpus=1 in=l1 slice=16@l0 + pods=32 "
     "gpus=1 in=l1 slice=16@l0",
     "4 4 4 4 0 0 0 4 4 4 4 4 4 4 4 4 4 4 4"},
    {"required: of two racks that hold all the one with the least room over", "kueue-like",
     "hosts 2 gpus=4 l0=0; hosts 2 gpus=3 l0=1; ask pods=5 gpus=1 need=l0", "0 0 3 2"},
    {"preferred: upwards until one domain holds all", "kueue-like",
     "hosts 2 gpus=2 l0=0 l1=8; hosts 2 gpus=2 l0=1 l1=8; hosts 1 gpus=3 l0=2 l1=9; ask pods=6 "
     "gpus=1 prefer=l0",
     "2 2 2 0 0"},
    {"no domain holds all: the largest first, the last one as tight as can be", "kueue-like",
     "hosts 1 gpus=4 l0=0; hosts 1 gpus=3 l0=1; hosts 1 gpus=2 l0=2; ask pods=6 gpus=1 prefer=l0",
     "4 0 2"},
    {"slices of a rack: whole ones only", "kueue-like",
     "hosts 1 gpus=3 l0=0 l1=9; hosts 1 gpus=4 l0=1 l1=9; ask pods=6 gpus=1 need=l1 slice=2@l0",
     "2 4"},
    {"beside a required level the climb ends there", "kueue-like",
     "hosts 2 gpus=1 l0=0 l1=8; hosts 1 gpus=1 l0=1 l1=8; hosts 1 gpus=3 l0=2 l1=9; ask pods=3 "
     "gpus=1 prefer=l0 need=l1",
     "0 0 0 3"},
    {"what it has no word for is placed by our search: levels of two chains", "kueue-like",
     "hosts 1 gpus=2 l0=0 l1=5; hosts 2 gpus=1 l0=0 l1=6; level 1 1 0; ask pods=2 gpus=1 "
     "need=l0,l1",
     "2 0 0"},
    {"hosts outside the tree are not for it, but better than a wrong no", "kueue-like",
     "hosts 1 gpus=1 l0=0; hosts 1 gpus=1; ask pods=2 gpus=1", "1 1"},
};

static const struct row kai_row[] = {
    {"docs/topology: zones of five and six, three pods, zone required and rack preferred: 2 + 1",
     "kai-like",
     "hosts 1 gpus=2 l0=0 l1=8; hosts 1 gpus=2 l0=1 l1=8; hosts 1 gpus=1 l0=2 l1=8; hosts 1 gpus=2 "
     "l0=3 l1=9; hosts 1 gpus=2 l0=4 l1=9; hosts 1 gpus=2 l0=5 l1=9; ask pods=3 gpus=1 need=l1 "
     "prefer=l0",
     "1 2 0 0 0 0"},
    {"the lowest level first: a rack that holds all, in the zone that is filled most", "kai-like",
     "hosts 1 gpus=2 l0=0 l1=8; hosts 1 gpus=4 l0=1 l1=8; hosts 1 gpus=3 l0=2 l1=9; ask pods=3 "
     "gpus=1 prefer=l0",
     "0 0 3"},
    {"required alone: the domain that the gang fills most, packed from its fullest host",
     "kai-like",
     "hosts 1 gpus=4 l0=0; hosts 1 gpus=3 l0=1; hosts 1 gpus=2 l0=1; ask pods=4 gpus=1 need=l0",
     "4 0 0"},
    {"no level asked: the fullest hosts of all", "kai-like",
     "hosts 1 gpus=4; hosts 1 gpus=2; hosts 1 gpus=1; ask pods=4 gpus=1", "1 2 1"},
    {"spread: pod by pod to the host that is free most", "kai-like-spread",
     "hosts 1 gpus=4; hosts 1 gpus=4; hosts 1 gpus=2; ask gpus=2; step; ask pods=3 gpus=1",
     "0 2 1"},
    {"spread inside the domain that is chosen", "kai-like-spread",
     "hosts 2 gpus=4 l0=0; hosts 2 gpus=2 l0=1; ask pods=4 gpus=1 need=l0", "0 0 2 2"},
    {"slices are no word of its own", "kai-like",
     "hosts 2 gpus=3 l0=0; ask pods=4 gpus=1 slice=2@host", "2 2"},
};

static void kueue_gives_its_published_answers(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(kueue_row); n++)
        wrong += check(&kueue_row[n]);
    assert_int_equal(wrong, 0);
}

static void kai_gives_its_published_answers(void **state)
{
    int wrong = 0;

    (void)state;
    for (size_t n = 0; n < ROWS(kai_row); n++)
        wrong += check(&kai_row[n]);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kueue_gives_its_published_answers),
        cmocka_unit_test(kai_gives_its_published_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
