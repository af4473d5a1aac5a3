/* explain_test.c - every reason, the limits that bind, and the numbers beside them */
#include "core/place/explain.h"

#include "core/base/must.h"
#include "core/model/reason.h"
#include "tests/kit/check.h"
#include "tests/kit/world.h"

void must_fail(const char *expr, const char *file, int line)
{
    mock_assert(0, expr, file, line);
    abort();
}

/* Limits that bind: b busy, h health, c cpu, m mem, p pods, M model, t topology; "?": not known. */
static const struct row {
    const char *why, *script;
    enum reason_code code;
    const char *binding;
    int64_t free_milli; /* -1: not claimed */
    int64_t best_pods;  /* -1: not claimed */
    uint32_t pods, scope;
    int64_t ask_milli;
} row[] = {
    {"no host", "ask gpus=1; step", WHY_NEVER_SIZE, "", 0, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"more devices than any host has", "hosts 2 gpus=4; ask gpus=5; step", WHY_NEVER_SIZE, "", 8000,
     0, 1, SCOPE_OF_CLUSTER, 5000},
    {"more than the whole cluster has", "hosts 2 gpus=4; ask pods=9 gpus=1; step", WHY_NEVER_SIZE,
     "", 8000, 8, 9, SCOPE_OF_CLUSTER, 9000},
    {"CPU that no host has", "hosts 2 gpus=4 cpu=5; ask gpus=1 cpu=6; step", WHY_NEVER_SIZE, "c",
     8000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"a model that nobody has", "hosts 1 gpus=4; ask gpus=1 class=2; step", WHY_NEVER_MODEL, "M", 0,
     0, 1, SCOPE_OF_CLUSTER, 1000},
    {"a model of which there is too little",
     "hosts 1 gpus=4; hosts 1 gpus=1 model=1; ask gpus=2 class=2; step", WHY_NEVER_MODEL, "M", 1000,
     0, 1, SCOPE_OF_CLUSTER, 2000},
    {"a class of nodes that nobody is in",
     "class 3 models=1 nodes=2; hosts 1 gpus=4; ask gpus=1 class=3; step", WHY_NEVER_MODEL, "",
     4000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"no leaf is large enough",
     "hosts 2 gpus=2 l0=0; hosts 1 gpus=2 l0=1; ask pods=5 gpus=1 need=l0; step",
     WHY_NEVER_TOPOLOGY, "t", 6000, 4, 5, SCOPE_OF_LEVEL, 5000},
    {"nobody has the label", "hosts 2 gpus=2; ask pods=2 gpus=1 need=l4; step", WHY_NEVER_TOPOLOGY,
     "t", 4000, 0, 2, SCOPE_OF_LEVEL + 4, 2000},
    {"all in use", "hosts 1 gpus=2; ask gpus=2; step; ask gpus=1; step", WHY_SHORTAGE, "b", 0, 0, 1,
     SCOPE_OF_CLUSTER, 1000},
    {"some are free, too few", "hosts 1 gpus=3; ask gpus=2; step; ask pods=2 gpus=1; step",
     WHY_SHORTAGE, "b", 1000, 1, 2, SCOPE_OF_CLUSTER, 2000},
    {"free of another model do not count",
     "hosts 1 gpus=2; hosts 1 gpus=8 model=1; ask gpus=2 class=1; step; ask gpus=1 class=1; step",
     WHY_SHORTAGE, "bM", 0, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"eight free on four hosts, none together",
     "hosts 4 gpus=4; ask pods=4 gpus=2; seat 0 pod=0 host=0 on=01; seat 0 pod=1 host=1 on=01; "
     "seat 0 pod=2 host=2 on=01; seat 0 pod=3 host=3 on=01; seated 0; ask gpus=4; step",
     WHY_SCATTERED, "b", 8000, 0, 1, SCOPE_OF_CLUSTER, 4000},
    {"scattered over hosts",
     "hosts 2 gpus=2; ask gpus=1; seat 0 host=0 on=0; seated 0; ask gpus=1; seat 1 host=1 on=0; "
     "seated 1; "
     "ask gpus=2; step",
     WHY_SCATTERED, "b", 2000, 0, 1, SCOPE_OF_CLUSTER, 2000},
    {"scattered over leaves",
     "hosts 2 gpus=1 l0=0; hosts 2 gpus=1 l0=1; ask gpus=1; seat 0 host=0 on=0; seated 0; ask "
     "gpus=1; seat "
     "1 host=2 on=0; seated 1; ask pods=2 gpus=1 need=l0; step",
     WHY_SCATTERED, "bt", 2000, 1, 2, SCOPE_OF_LEVEL, 2000},
    {"a share: enough in all, on no card",
     "hosts 1 gpus=2; ask pods=2 gpus=1 milli=600 apart; step; ask gpus=1 milli=500; step",
     WHY_SCATTERED, "b", 800, 0, 1, SCOPE_OF_CLUSTER, 500},
    {"CPU beside free GPUs", "hosts 1 gpus=4 cpu=8; ask gpus=1 cpu=8; step; ask gpus=1 cpu=1; step",
     WHY_CPU, "bc", 3000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"memory beside free GPUs",
     "hosts 1 gpus=4 mem=8; ask gpus=1 mem=8; step; ask gpus=1 mem=1; step", WHY_MEM, "bm", 3000, 0,
     1, SCOPE_OF_CLUSTER, 1000},
    {"the pod limit of the host", "hosts 1 gpus=4 pods=1; ask gpus=1; step; ask gpus=1; step",
     WHY_PODS, "bp", 3000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"another resource",
     "hosts 1 gpus=4 extra=1; ask gpus=1 extra=1; step; ask gpus=1 extra=1; step", WHY_EXTRA, "b",
     3000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"the second other resource",
     "hosts 1 gpus=4 extra1=1; ask gpus=1 extra1=1; step; ask gpus=1 extra1=1; step", WHY_EXTRA,
     "b", 3000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"CPU and memory both: neither alone helps, what runs does",
     "hosts 1 gpus=4 cpu=8 mem=8; ask gpus=1 cpu=8 mem=8; step; ask gpus=1 cpu=1 mem=1; step",
     WHY_SCATTERED, "b", 3000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"a failed device", "hosts 1 gpus=2; device 0 1 down; ask gpus=2; step", WHY_HEALTH, "h", 1000,
     0, 1, SCOPE_OF_CLUSTER, 2000},
    {"a drained host", "hosts 1 gpus=2; state 0 drain; ask gpus=1; step", WHY_HEALTH, "h", 0, 0, 1,
     SCOPE_OF_CLUSTER, 1000},
    {"a host that leaves, still in service", "hosts 1 gpus=2; leave 0 9; ask gpus=1; step",
     WHY_HEALTH, "h", 2000, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"a failed device that somebody still holds",
     "hosts 1 gpus=2; ask gpus=1; seat 0 host=0 on=0; seated 0; device 0 0 down; ask gpus=2; step",
     WHY_SHORTAGE, "", 1000, 0, 1, SCOPE_OF_CLUSTER, 2000},
    {"health and what runs: both alone help",
     "hosts 2 gpus=1; ask gpus=1; seat 0 host=0 on=0; seated 0; state 1 down; ask gpus=1; step",
     WHY_HEALTH, "bh", 0, 0, 1, SCOPE_OF_CLUSTER, 1000},
    {"two podsets: no best is claimed",
     "hosts 1 gpus=4; ask gpus=3; step; ask gpus=1 + gpus=2; step", WHY_SHORTAGE, "b", 1000, -1, 1,
     SCOPE_OF_CLUSTER, 3000},
    {"slices: no best is claimed",
     "hosts 1 gpus=4; ask gpus=3; step; ask pods=2 gpus=1 slice=2@host; step", WHY_SHORTAGE, "b",
     1000, -1, 2, SCOPE_OF_CLUSTER, 2000},
    {"two required levels: no best is claimed",
     "hosts 1 gpus=2 l0=0 l1=1; ask gpus=1; step; ask pods=2 gpus=1 need=l0,l1; step", WHY_SHORTAGE,
     "b", 1000, -1, 2, SCOPE_OF_LEVEL, 2000},
    {"memory shares about: no free figure is claimed",
     "hosts 1 gpus=1 gpumem=1000; ask gpus=1 mib=1; step; ask gpus=1; step", WHY_SHORTAGE, "b", -1,
     0, 1, SCOPE_OF_CLUSTER, 1000},
    {"no GPUs asked: no free figure is claimed", "hosts 1 gpus=1 cpu=5; ask cpu=6; step",
     WHY_NEVER_SIZE, "c", -1, 0, 1, SCOPE_OF_CLUSTER, 0},
    {"an elastic gang asks for its minimum",
     "hosts 1 gpus=4; ask gpus=3; step; ask pods=8 min=2 gpus=1; step", WHY_SHORTAGE, "b", 1000, 1,
     2, SCOPE_OF_CLUSTER, 2000},
    {"the budget runs out",
     "config budget=1; hosts 2 gpus=3; hosts 2 gpus=2; ask pods=2 gpus=1 + pods=4 gpus=2; step",
     WHY_UNPROVEN, "?", 10000, -1, 2, SCOPE_OF_CLUSTER, 10000},
    {"which pair is free nobody knows, for unlike pods",
     "hosts 1 gpus=4 shape=pairs; ask gpus=1; seat 0 host=0 on=-; seated 0; ask gpus=2 in=island + "
     "cpu=1; "
     "step",
     WHY_UNKNOWN, "?", 3000, -1, 1, SCOPE_OF_PART + SHAPE_ISLAND, 2000},
};

static struct world w;

static void binding_text(const struct refusal *r, char *ret)
{
    static const char letter[BINDING_LIMITS + 1] = "bhcmpMt";
    unsigned n = 0;

    if (!r->binding_known)
        ret[n++] = '?';
    for (unsigned l = 0; l < BINDING_LIMITS && r->binding_known; l++)
        if (r->binding >> l & 1)
            ret[n++] = letter[l];
    ret[n] = 0;
}

static void check(const struct row *r)
{
    char binding[BINDING_LIMITS + 2];
    const struct refusal *got;
    const struct decision *d;

    world_open(&w, NULL);
    world_say(&w, r->script);
    CHECK_INT(r->why, w.s.decision_count > 0, true);
    d = &w.s.decision[w.s.decision_count - 1];
    CHECK_INT(r->why, d->kind, DECISION_REFUSE);
    got = &d->refusal;
    CHECK_INT(r->why, got->code, r->code);
    binding_text(got, binding);
    if (check_text(r->why, binding, r->binding))
        fail();
    CHECK_INT(r->why, got->never, r->code <= WHY_NEVER_SIZE);
    CHECK_INT(r->why, got->fits,
              r->code == WHY_UNPROVEN || r->code == WHY_UNKNOWN ? VERDICT_UNPROVEN : VERDICT_NO);
    CHECK_INT(r->why, got->free_known ? got->free_milli : -1, r->free_milli);
    CHECK_INT(r->why, got->best_known ? (int64_t)got->best_pods : -1, r->best_pods);
    CHECK_INT(r->why, got->pods, r->pods);
    CHECK_INT(r->why, got->scope, r->scope);
    CHECK_INT(r->why, got->ask_milli, r->ask_milli);
    /* The code alone is the same answer. */
    CHECK_INT(r->why, explain_code(w.s.m, world_view(&w, d->key).job, got->fits), r->code);
    world_close(&w);
}

/* A test per row, so that one that fails hides no other. */
static void test_row(void **state)
{
    check((const struct row *)*state);
}

/* Each code of the place floor has a row above; quota and the rest are the engine's. */
static void test_all_codes(void **state)
{
    unsigned seen = 0, engine = 1u << WHY_QUOTA | 1u << WHY_NEVER_QUOTA | 1u << WHY_RESERVED |
                                1u << WHY_PATIENCE | 1u << WHY_MEMBER | 1u << WHY_EXCLUSIVE;

    (void)state;
    for (unsigned n = 0; n < ROWS(row); n++)
        seen |= 1u << row[n].code;
    assert_int_equal(seen | engine, (1u << REASON_COUNT) - 1);
}

/* Codes of the table differ, and each says what would cure it. */
static void test_reason_table(void **state)
{
    static const struct {
        const char *code;
        enum reason_kind kind;
        int cures;
    } table[] = {
#define REASON_ROW(name, code, kind, cures, en, zh) {code, kind, cures},
        REASON_MAP(REASON_ROW)};

    (void)state;
    assert_int_equal(ROWS(table), REASON_COUNT);
    for (unsigned a = 0; a < REASON_COUNT; a++) {
        assert_int_not_equal(table[a].cures, CURE_NONE);
        assert_int_equal(table[a].kind == REASON_NEVER, strncmp(table[a].code, "never_", 6) == 0);
        for (unsigned b = 0; b < a; b++)
            assert_string_not_equal(table[a].code, table[b].code);
    }
}

int main(void)
{
    static struct CMUnitTest tests[ROWS(row) + 2] = {
        cmocka_unit_test(test_all_codes),
        cmocka_unit_test(test_reason_table),
    };
    static struct row copy[ROWS(row)];

    for (unsigned n = 0; n < ROWS(row); n++) {
        copy[n] = row[n];
        tests[n + 2] = (struct CMUnitTest){
            .name = row[n].why, .test_func = test_row, .initial_state = &copy[n]};
    }
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
