/* explain, replay and docs: commands that read what a run left behind, or what the program knows */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/dovetail/command.h"
#include "core/place/profile.h"
#include "core/place/score.h"
#include "edge/sim/explain.h"
#include "edge/sim/journal.h"
#include "edge/sim/metrics.h"
#include "edge/sim/words.h"

static const char explain_usage[] =
    "usage: dovetail explain [-o text|json] LOG JOB\n\n"
    "Tells the story of one job from a decision log alone: why it was placed where it was, with\n"
    "the score beside the runner-up's, or why it was refused, with the limits that bind and what\n"
    "would change it; by when it was promised a start; what it was lent, and gave back. For openb\n"
    "logs the pod's name is enough where it arrived once.\n";

int command_explain(int argc, char **argv)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    enum explain_form form = EXPLAIN_TEXT;
    struct out text = {NULL, 0, 0};
    struct err err;
    int option, code;

    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(explain_usage, stdout);
            return command_flush();
        }
        if (option != 'o' || (strcmp(optarg, "json") != 0 && strcmp(optarg, "text") != 0))
            return command_usage("explain", "expected -o text or -o json");
        form = strcmp(optarg, "json") == 0 ? EXPLAIN_JSON : EXPLAIN_TEXT;
    }
    if (argc - optind != 2)
        return command_usage("explain", "expected a log and a job");
    if (!*argv[optind + 1])
        return command_usage("explain", "found an empty name, expected a job");
    code = explain(argv[optind], argv[optind + 1], form, &text, &err);
    code = code ? command_fail(code, &err) : command_print(&text);
    out_free(&text);
    return code;
}

static const char replay_usage[] =
    "usage: dovetail replay [--until N] JOURNAL\n\n"
    "Runs a journal again and compares every decision and the digest after every batch.\n\n"
    "  --until N   stop after N batches\n";

int command_replay(int argc, char **argv)
{
    static const struct option options[] = {{"until", required_argument, NULL, 'u'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    uint64_t until = 0, batches, events;
    struct err err;
    int option, code, flushed;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        char *end = NULL;

        if (option == 'h') {
            fputs(replay_usage, stdout);
            return command_flush();
        }
        if (option == 'u')
            until = strtoull(optarg, &end, 10);
        if (option != 'u' || *optarg < '0' || *optarg > '9' || *end || until == 0)
            return command_usage("replay", "expected --until and a number of batches");
    }
    if (argc - optind != 1)
        return command_usage("replay", "expected one journal");
    code = journal_replay(argv[optind], until, &batches, &events, &err);
    if (code)
        (void)command_fail(code, &err);
    if (!code || batches > 0)
        printf("%llu batches with %llu events: decisions and digests are equal%s\n",
               (unsigned long long)batches, (unsigned long long)events, code ? " up to there" : "");
    flushed = command_flush();
    return code ? code : flushed;
}

static const char gang_rules[] =
    "\n## Gangs\n\n"
    "A scorer ranks hosts for one pod. Gangs of equal pods are placed by a rule:\n\n"
    "- `dovetail`: from the level that the gang prefers upwards to the first of which one domain "
    "holds it; the domain with the least room over, of equal ones the one whose larger domains "
    "have "
    "the least; in it the fewest domains and hosts, the largest first and the last one the "
    "smallest "
    "that does. A pod that opens a host does so in the domain with the fewest free ones, so that "
    "domains which still hold a large gang stay whole.\n"
    "- `kueue-like`, `-least-free`, `-balanced`: Kueue's topology-aware scheduling as KEP-2724 "
    "says "
    "it, with its settings as separate names. `kai-like`, `-spread`: KAI-Scheduler's topology "
    "plugin "
    "and node placement. Each reproduces the cases that its project published "
    "(`core/place/rules/rules_test.c` names them).\n"
    "- All others: the least domain that the gang prefers, else the fewest hosts, anywhere.\n\n"
    "All of them share the order of the queue, backfill, kept room and estimates. The baselines "
    "get "
    "more than their origins have: what their rule has no word for is placed by our own search "
    "instead of refused. That is: levels of two chains at once, islands, hosts outside a level, "
    "elastic gangs below their full size, slices for `kai-like`, and gangs of pods that differ. "
    "Their "
    "origins try such pods one after the other, or count the largest for all, and do not go back. "
    "Beside a required level a preferred one is tried first, which Kueue cannot be told. Single "
    "pods "
    "go where least free capacity or packing says, whatever level they prefer.\n";

static void profiles_table(FILE *out)
{
    fprintf(out, "\n## Profiles\n\nA job may say how its ranks talk (`profile`). Where it prefers "
                 "levels itself, that is what counts; where it names none, `dovetail` looks for it "
                 "whole in these, and then across. No gain is assumed that nobody measured.\n\n"
                 "| profile | tried in turn | helps when | hurts when | stands on |\n"
                 "|--|--|--|--|--|\n");
    for (unsigned n = 0; n < COMM_COUNT; n++) {
        const struct profile *p = profile_get(n);

        fprintf(out, "| `%s` | %s | %s | %s | %s |\n", p->name, p->does, p->helps_when,
                p->hurts_when, p->source);
    }
}

static void policies_page(FILE *out)
{
    fprintf(out, "# Policies\n\nThe scorers that `--policy` names. Generated from "
                 "`core/place/scorers/` by `make docs`.\n\n"
                 "| name | idea | helps when | hurts when |\n|--|--|--|--|\n");
    for (unsigned n = 0; n < SCORER_COUNT; n++)
        fprintf(out, "| `%s` | %s | %s | %s |\n", scorer_get(n)->name, scorer_get(n)->idea,
                scorer_get(n)->helps_when, scorer_get(n)->hurts_when);
    fputs(gang_rules, out);
    profiles_table(out);
}

static void flags_page(FILE *out)
{
    fprintf(out, "# Commands and flags\n\nWhat `--help` prints. Generated by `make docs`.\n\n"
                 "## dovetail simulate\n\n```\n");
    command_simulate_help(out);
    fprintf(out, "```\n\n## dovetail explain\n\n```\n%s```\n\n## dovetail replay\n\n```\n%s```\n",
            explain_usage, replay_usage);
}

static int write_page(const char *folder, const char *name, void (*write)(FILE *out))
{
    struct out path = {NULL, 0, 0};
    struct err err;
    FILE *file;
    int code = 0;

    out_format(&path, "%s/%s", folder, name);
    file = fopen(path.bytes, "w");
    if (file) {
        write(file);
        code = ferror(file);
        code = fclose(file) || code;
    }
    if (!file || code)
        code = command_fail(ERR_TROUBLE,
                            (err_set(&err, ERR_TROUBLE, "%s: cannot write it", path.bytes), &err));
    out_free(&path);
    return code;
}

int command_docs(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(FILE *out);
    } page[] = {{"reasons.md", words_reference},
                {"metrics.md", metrics_reference},
                {"policies.md", policies_page},
                {"flags.md", flags_page}};

    if (argc != 2 || argv[1][0] == '-') {
        fputs("usage: dovetail docs FOLDER\n\nWrites the generated reference pages into FOLDER.\n",
              argc == 2 && strcmp(argv[1], "--help") == 0 ? stdout : stderr);
        return argc == 2 && strcmp(argv[1], "--help") == 0 ? 0 : ERR_INPUT;
    }
    for (size_t n = 0; n < sizeof(page) / sizeof(page[0]); n++) {
        int code = write_page(argv[1], page[n].name, page[n].write);

        if (code)
            return code;
    }
    return 0;
}
