/* census_test.c - counts that are remembered are those of a look at every host, whatever happens */
#include "core/place/census.h"

#include <stdio.h>

#include "core/base/must.h"
#include "core/base/prng.h"
#include "core/model/host.h"
#include "core/place/equal.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

static struct world w;

/* Asks whose counts are watched: key n is row n. They never start: nobody has so much room. */
static const char *const ask[] = {
    "pods=9000 gpus=1 cpu=2",         "pods=9000 gpus=2 mem=3",
    "pods=9000 cpu=1 mem=1",          "pods=9000 gpus=1 milli=300",
    "pods=9000 gpus=1 mib=3",         "pods=9000 gpus=1 milli=300 apart",
    "pods=9000 gpus=1 cpu=2 class=1", "pods=9000 gpus=1 mig=3",
    "pods=9000 gpus=1 slice=2@l0",    "pods=9000 gpus=1 need=l1",
    "pods=9000 gpus=1 cpu=2 est=50",
};

/* Every host, and every region of each level and pair of levels. */
static void check_counts(void)
{
    static const uint64_t scopes[] = {0, SCOPE_BIT(SCOPE_OF_LEVEL), SCOPE_BIT(SCOPE_OF_LEVEL + 1),
                                      SCOPE_BIT(SCOPE_OF_LEVEL) | SCOPE_BIT(SCOPE_OF_LEVEL + 1)};

    for (uint32_t key = 0; key < ROWS(ask); key++) {
        const struct podset *p = world_podset(&w, key, 0);
        struct view v = world_view(&w, key);

        for (unsigned s = 0; s < ROWS(scopes); s++) {
            struct census t = census_of(&v, p);
            struct region r;

            region_start(&r, scopes[s]);
            while (region_next(&v, &r))
                CHECK_INT(ask[key], census_region(&t, &r, UINT64_MAX),
                          equal_in_region(&v, &r, p, UINT64_MAX));
        }
        for (uint32_t h = 0; h < model_count(w.s.m, TABLE_HOST); h++) {
            struct census t = census_of(&v, p);

            CHECK_INT(ask[key], census_host(&t, h), equal_on_host(&v, h, p, UINT16_MAX));
        }
    }
}

static const char *const happening[] = {
    "ask gpus=1 cpu=1",
    "ask gpus=2 mem=2",
    "ask gpus=1 milli=250",
    "ask gpus=1 mib=2",
    "ask gpus=1 mig=3",
    "ask pods=3 gpus=1 need=l0",
    "end A",
    "stop A",
    "state A drain",
    "state A up",
    "state A down",
    "device A 1 down",
    "device A 1 up",
    "host A gpus=4 cpu=9 mem=9 gpumem=8 l0=1 l1=5",
    "host A gpus=2 cpu=9 model=1 l0=2",
    "gone A",
    "hosts 1 gpus=4 cpu=4 mem=8 gpumem=8 l0=2 l1=5",
    "leave A 100",
    "leave A 30",
    "leave A 9223372036854775807",
    "at 40",
    "class 1 models=2",
    "class 1 models=3",
    "ask gpus=1; seat LAST host=A on=-; seated LAST",
};

/* A text by lot; A stands for a host or a key, LAST for the key of the job that is asked for. */
static void draw(struct prng *p, char *ret, size_t size)
{
    const char *text = happening[prng_below(p, ROWS(happening))];
    bool of_keys = text[0] == 'e' || (text[0] == 's' && text[1] == 't' && text[2] == 'o');
    uint32_t first = of_keys ? (uint32_t)ROWS(ask) : 0, count = of_keys ? w.keys - first : 12;
    size_t at = 0;

    while (*text) {
        if (strncmp(text, "LAST", 4) == 0) {
            at += (size_t)snprintf(ret + at, size - at, "%u", w.keys);
            text += 4;
        } else if (*text == 'A') {
            at += (size_t)snprintf(ret + at, size - at, "%u",
                                   first + (uint32_t)prng_below(p, count ? count : 1));
            text++;
        } else {
            at += (size_t)snprintf(ret + at, size - at, "%c", *text++);
        }
    }
}

static void test_history(void **state)
{
    char text[128];
    struct prng p;

    (void)state;
    prng_init(&p, 3);
    for (unsigned round = 0; round < 2; round++) {
        world_open(&w, NULL);
        world_say(&w, "mig 3 model=0 starts=11 slots=4 of=8; hosts 4 gpus=4 cpu=8 mem=9 gpumem=8 "
                      "l0=0 l1=4; hosts 4 gpus=4 cpu=8 mem=9 gpumem=8 l0=1 l1=4; hosts 4 gpus=2 "
                      "cpu=8 mem=9 model=1");
        for (unsigned n = 0; n < ROWS(ask); n++) {
            snprintf(text, sizeof(text), "ask %s", ask[n]);
            world_say(&w, text);
        }
        for (unsigned n = 0; n < 150; n++) {
            draw(&p, text, sizeof(text));
            world_say(&w, text);
            if (prng_below(&p, 2))
                world_say(&w, "step");
            index_settle(w.s.m);
            w.said_length = 0;
            check_counts();
        }
        world_close(&w);
    }
}

/* Inside a transaction, and after it was taken back. */
static void test_rollback(void **state)
{
    struct prng p;

    (void)state;
    prng_init(&p, 4);
    world_open(&w, NULL);
    world_say(&w, "mig 3 model=0 starts=11 slots=4 of=8; hosts 6 gpus=4 cpu=8 mem=9 l0=0 l1=2; "
                  "hosts 6 gpus=4 cpu=8 mem=9 l0=1 l1=2");
    for (unsigned n = 0; n < ROWS(ask); n++) {
        char text[128];

        snprintf(text, sizeof(text), "ask %s", ask[n]);
        world_say(&w, text);
    }
    for (unsigned n = 0; n < 100; n++) {
        uint32_t job = index_job_find(w.s.m, 0);

        model_begin(w.s.m);
        for (unsigned seat = 0; seat < 3; seat++) {
            uint32_t host = (uint32_t)prng_below(&p, 12);

            if (host_row(w.s.m, host)->whole)
                host_take(w.s.m, host, job, job_row(w.s.m, job)->podset_head, seat,
                          (uint16_t)(host_row(w.s.m, host)->whole & -host_row(w.s.m, host)->whole),
                          0, GRADE_PLANNED);
            check_counts();
        }
        model_rollback(w.s.m);
        if (n % 2)
            check_counts();
    }
    world_close(&w);
}

/* It does remember: a second count looks at no host, and at one after that one has changed. */
static void test_spares(void **state)
{
    static const struct {
        const char *why, *ask;
        bool remembers;
    } row[] = {
        {"equal pods", "ask pods=9 gpus=4", true},
        {"a pod alone is none of it", "ask gpus=8", false},
        {"slices", "ask pods=90 gpus=1 slice=2@host", false},
    };

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++) {
        uint64_t looks[3];
        struct region r;
        struct view v;

        world_open(&w, NULL);
        world_say(&w, "hosts 8 gpus=4 l0=0");
        world_say(&w, row[n].ask);
        index_settle(w.s.m);
        for (unsigned i = 0; i < 3; i++) {
            struct census t;

            if (i == 2)
                world_say(&w, "state 5 drain");
            v = world_view(&w, 0);
            t = census_of(&v, world_podset(&w, 0, 0));
            region_start(&r, SCOPE_BIT(SCOPE_OF_LEVEL));
            assert_true(region_next(&v, &r));
            v.steps = 0;
            (void)census_region(&t, &r, UINT64_MAX);
            looks[i] = v.steps;
        }
        CHECK_INT(row[n].why, looks[0], 8);
        CHECK_INT(row[n].why, looks[1], row[n].remembers ? 0 : 8);
        CHECK_INT(row[n].why, looks[2], row[n].remembers ? 1 : 8);
        world_close(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_history),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_spares),
    };

    return cmocka_run_group_tests_name("census", tests, NULL, NULL);
}
