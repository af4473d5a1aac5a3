/* Two leaves of two nodes: what a start and a refusal say of where a gang sits or does not.
 *
 *   leaf l0: n0 n1     leaf l1: n2 n3
 */
#include "edge/sim/words.h"

#include "core/place/lifetime.h"
#include "edge/sim/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const char *leaf_name[] = {"l0", "l1"};
static struct world_node node[] = {
    {.name = "n0", .domain = {0}},
    {.name = "n1", .domain = {0}},
    {.name = "n2", .domain = {1}},
    {.name = "n3", .domain = {WORLD_NONE}}, /* nobody knows its leaf */
};
static struct world world = {.cluster_name = "c",
                             .level_count = 1,
                             .level[0] = {.name = "leaf", .domain_count = 2, .domain = leaf_name},
                             .node_count = 4,
                             .node = node};

static void starts_name_the_smallest_domain(void **state)
{
    static const struct {
        const char *why;
        uint32_t node[2], pods;
        const char *text, *level, *domain;
    } row[] = {
        {"both on one node", {1, 1}, 2, "2 pods together in one node", "node", "n1"},
        {"one pod alone", {1, 0}, 1, "1 pod in one node", "node", "n1"},
        {"both in one leaf", {0, 1}, 2, "2 pods together in one leaf", "leaf", "l0"},
        {"across: that is no togetherness",
         {1, 2},
         2,
         "2 pods, not in one domain of any level",
         "cluster",
         "c"},
        {"a node outside of every leaf is with nobody",
         {3, 2},
         2,
         "2 pods, not in one domain of any level",
         "cluster",
         "c"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct words words = {{0}, {0}};
        struct record_pod pods[2] = {{.pod = 0, .node = row[i].node[0]},
                                     {.pod = 1, .node = row[i].node[1]}};
        struct decision d = {.kind = DECISION_START,
                             .plan = {.best = {.host = ROW_NONE}, .second = {.host = ROW_NONE}}};
        struct record r = {.kind = RECORD_START, .pods = pods, .pod_count = row[i].pods};

        words_start(&words, &world, &d, &r);
        if (strcmp(r.reason.text, row[i].text) || strcmp(r.reason.domain_level, row[i].level) ||
            strcmp(r.reason.domain, row[i].domain))
            fail_msg("%s: %s; %s %s", row[i].why, r.reason.text, r.reason.domain_level,
                     r.reason.domain);
        words_free(&words);
    }
}

static void single_pods_say_what_decided(void **state)
{
    static const struct {
        const char *why, *term, *text;
        uint32_t second;
    } row[] = {
        {"cost", "waste", "least cost of all hosts that hold it", 1},
        {"lifetimes stand before cost", LIFETIME_TERM,
         "it keeps its host and leaf busy for least time beyond the others there; then least cost",
         1},
        {"no choice", LIFETIME_TERM, "the only host that holds it", ROW_NONE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct words words = {{0}, {0}};
        struct record_pod pod = {.pod = 0, .node = 2};
        struct spot best = {.host = 2, .term_count = 1, .term = {{row[i].term, "unit", 3}}};
        struct spot second = {.host = row[i].second, .term_count = 1};
        struct decision d = {.kind = DECISION_START, .plan = {.best = best, .second = second}};
        struct record r = {.kind = RECORD_START, .pods = &pod, .pod_count = 1};

        words_start(&words, &world, &d, &r);
        if (strcmp(r.reason.text, row[i].text) || r.reason.term_count != 1 ||
            r.reason.term[0].value != 3)
            fail_msg("%s: %s", row[i].why, r.reason.text);
        words_free(&words);
    }
}

static void refusals_fill_their_sentences(void **state)
{
    static const struct {
        const char *why;
        struct refusal refusal;
        const char *text, *cure;
        enum record_fits fits;
    } row[] = {
        {"numbers are filled in",
         {.code = WHY_SHORTAGE, .fits = VERDICT_NO, .ask_milli = 16000, .free_milli = 1500},
         "16 GPUs asked, 1.5 of allowed models are free",
         "something that runs ends, or hosts",
         RECORD_FITS_NO},
        {"room that is kept for another",
         {.code = WHY_RESERVED, .fits = VERDICT_FITS},
         "there is room, but it is kept for a job that stands before it and would be delayed",
         "or the job asks for less",
         RECORD_FITS_YES},
        {"the level that a patient job waits for",
         {.code = WHY_PATIENCE, .fits = VERDICT_FITS, .scope = SCOPE_OF_LEVEL},
         "there is room, but not in one leaf: it waits for a better place as long as it may",
         "something that runs ends",
         RECORD_FITS_YES},
        {"the level that a job wants for itself",
         {.code = WHY_EXCLUSIVE, .fits = VERDICT_FITS, .scope = SCOPE_OF_LEVEL},
         "there is room, but only in a leaf that another job has, or wants, for itself",
         "something that runs ends",
         RECORD_FITS_YES},
        {"a job that is kept out by others does not know by which level",
         {.code = WHY_EXCLUSIVE, .fits = VERDICT_FITS, .scope = SCOPE_OF_CLUSTER},
         "there is room, but only in a domain that another job has, or wants, for itself",
         "something that runs ends",
         RECORD_FITS_YES},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(row); i++) {
        struct words words = {{0}, {0}};
        struct decision d = {.kind = DECISION_REFUSE, .refusal = row[i].refusal};
        struct record r = {.kind = RECORD_REFUSE};

        words_refusal(&words, &world, &d, &r);
        if (strcmp(r.reason.text, row[i].text) || !strstr(r.reason.cure, row[i].cure) ||
            r.fits != row[i].fits)
            fail_msg("%s: %s; %s", row[i].why, r.reason.text, r.reason.cure);
        words_free(&words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_name_the_smallest_domain),
        cmocka_unit_test(single_pods_say_what_decided),
        cmocka_unit_test(refusals_fill_their_sentences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
