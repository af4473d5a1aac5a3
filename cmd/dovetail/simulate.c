#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/dovetail/batch.h"
#include "cmd/dovetail/checks.h"
#include "cmd/dovetail/command.h"
#include "core/place/score.h"
#include "edge/base/memory.h"
#include "edge/sim/read.h"

#define LIST_MAX       64
#define PATIENCE_MAX_S 1000000000 /* 31 years */
#define PATIENCE_AUTO  UINT64_MAX /* nobody said: see patience_of() */
#define PATIENCE_OWN_S 3600       /* measured: docs/decisions/2026-11-lifetime.md */

struct options {
    const char *openb, *cluster, *workload, *synthetic, *worlds, *out, *baseline, *bounds;
    const char *list[LIST_MAX];
    unsigned list_count;
    enum scorer_id policy[SCORER_COUNT];
    unsigned policy_count;
    uint64_t seed[LIST_MAX];
    unsigned seed_count;
    enum order order;
    uint32_t budget_steps;
    uint64_t patience_s;
    unsigned workers;
    bool scenario, json, quiet, scan_all;
    bool decides; /* one of the options under `How to decide` was given */
};

static const char usage[] =
    "usage: dovetail simulate --openb DIR [--list L,..] [--seeds A-B|A,B,..] [OPTION]...\n"
    "       dovetail simulate --cluster FILE|--synthetic TEXT --workload FILE [OPTION]...\n"
    "       dovetail simulate --scenario FILE...\n"
    "       dovetail simulate --worlds FILE\n\n"
    "Runs the real scheduler core against a workload and prints its figures.\n\n"
    "What to run\n"
    "  --openb DIR        the openb tables; files may be gzipped\n"
    "  --list L[,L]..     lists of --openb [default]\n"
    "  --seeds A-B        arrival orders of --openb; also A,B,C [all of the file]\n"
    "  --cluster FILE     a cluster, one JSON object per line (docs/reference/formats.md)\n"
    "  --synthetic TEXT   a cluster in one line: \"spine:2 leaf:16 host:8 island:2 gpu:4\"\n"
    "  --workload FILE    teams, jobs and events, one JSON object per line\n"
    "  --scenario FILE..  YAML scenarios (docs/reference/scenario.md): are all expectations met?\n"
    "  --worlds FILE      small worlds, one per line; each is run\n\n"
    "How to decide\n"
    "  --policy P[,Q]..   scorers to compare [dovetail]; `all` for every one:\n"
    "                     ";

static const char usage_rest[] =
    "\n"
    "  --order ORDER      fifo, priority, or with backfill easy, conservative [priority]\n"
    "  --patience S       seconds that a gang waits for a domain that it prefers [3600 for "
    "dovetail\n"
    "                     with backfill, else 0]\n"
    "  --budget STEPS     of one search, before it answers `not proven` [200000]\n"
    "  --scan-all         score every host instead of those that the index proposes\n\n"
    "What to write\n"
    "  --out DIR          per run NAME.log, NAME.log.us and NAME.journal; summary.json, "
    "report.html\n"
    "  --json             the summary on standard output instead of the table\n"
    "  --baseline P       policy of the difference column [fgd for openb, else best-fit]\n"
    "  --bounds FILE      list,arrived_pct,bound_pct,method [DIR of --openb/bounds.csv]\n"
    "  --jobs N           runs at a time [all processors]; the figures do not depend on it\n"
    "  --quiet            no progress\n\n"
    "Exit: 0 fine, 1 an expectation or check failed, 2 bad input or usage, 3 disk or memory.\n";

void command_simulate_help(FILE *to)
{
    fputs(usage, to);
    for (unsigned n = 0; n < SCORER_COUNT; n++)
        fprintf(to, "%s%s",
                n == 0       ? ""
                : n % 4 == 0 ? ",\n                     "
                             : ", ",
                scorer_get(n)->name);
    fputs(usage_rest, to);
}

static bool policy_find(const char *name, enum scorer_id *ret)
{
    for (unsigned n = 0; n < SCORER_COUNT; n++)
        if (strcmp(scorer_get(n)->name, name) == 0) {
            *ret = (enum scorer_id)n;
            return true;
        }
    return false;
}

static int take_policies(struct options *o, char *text)
{
    o->policy_count = 0;
    for (char *rest = NULL, *name = strtok_r(text, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest)) {
        enum scorer_id id;
        bool twice = false;

        if (strcmp(name, "all") == 0) {
            for (o->policy_count = 0; o->policy_count < SCORER_COUNT; o->policy_count++)
                o->policy[o->policy_count] = (enum scorer_id)o->policy_count;
            return 0;
        }
        if (!policy_find(name, &id))
            return command_usage("simulate", "--policy: found `%s`, expected one of the scorers",
                                 name);
        for (unsigned n = 0; n < o->policy_count; n++)
            twice |= o->policy[n] == id;
        if (!twice)
            o->policy[o->policy_count++] = id;
    }
    return o->policy_count ? 0 : command_usage("simulate", "--policy: found no name");
}

/* What is named twice runs once: two runs of one name would write one file. */
static int take_lists(struct options *o, char *text)
{
    o->list_count = 0;
    for (char *rest = NULL, *name = strtok_r(text, ",", &rest); name;
         name = strtok_r(NULL, ",", &rest)) {
        bool twice = false;

        for (unsigned n = 0; n < o->list_count; n++)
            twice |= strcmp(o->list[n], name) == 0;
        if (!twice && o->list_count == LIST_MAX)
            return command_usage("simulate", "--list: found more than %d names, expected fewer",
                                 LIST_MAX);
        if (!twice)
            o->list[o->list_count++] = name;
    }
    return o->list_count ? 0 : command_usage("simulate", "--list: found no name");
}

static bool number(const char *text, uint64_t max, uint64_t *ret)
{
    char *end;
    unsigned long long value;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    value = strtoull(text, &end, 10);
    *ret = value;
    return errno == 0 && *end == '\0' && value <= max;
}

/* `A` or `A-B`. */
static bool seed_range(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *dash = strchr(text, '-');
    char first[24];
    size_t length = dash ? (size_t)(dash - text) : strlen(text);

    if (length >= sizeof(first))
        return false;
    memcpy(first, text, length);
    first[length] = '\0';
    if (!number(first, UINT32_MAX, ret_first))
        return false;
    *ret_last = *ret_first;
    return !dash || (number(dash + 1, UINT32_MAX, ret_last) && *ret_first <= *ret_last);
}

/* Each runs once, as with lists. */
static int take_seeds(struct options *o, char *text)
{
    o->seed_count = 0;
    for (char *rest = NULL, *part = strtok_r(text, ",", &rest); part;
         part = strtok_r(NULL, ",", &rest)) {
        uint64_t seed, last;

        if (!seed_range(part, &seed, &last))
            return command_usage("simulate",
                                 "--seeds: found `%s`, expected a number or A-B with A "
                                 "not above B",
                                 part);
        for (; seed <= last; seed++) {
            bool twice = false;

            for (unsigned n = 0; n < o->seed_count; n++)
                twice |= o->seed[n] == seed;
            if (!twice && o->seed_count == LIST_MAX)
                return command_usage("simulate", "--seeds: found more than %d, expected fewer",
                                     LIST_MAX);
            if (!twice)
                o->seed[o->seed_count++] = seed;
        }
    }
    return o->seed_count ? 0 : command_usage("simulate", "--seeds: found no number");
}

/* 0, or an exit code with the message printed. */
static int take_order(struct options *o, const char *text)
{
    static const char *const names[ORDER_COUNT] = {"fifo", "priority", "easy", "conservative"};

    for (unsigned n = 0; n < ORDER_COUNT; n++)
        if (strcmp(text, names[n]) == 0) {
            o->order = (enum order)n;
            return 0;
        }
    return command_usage(
        "simulate", "--order: found `%s`, expected fifo, priority, easy or conservative", text);
}

enum {
    OPT_OPENB = 256,
    OPT_LIST,
    OPT_SEEDS,
    OPT_CLUSTER,
    OPT_SYNTHETIC,
    OPT_WORKLOAD,
    OPT_SCENARIO,
    OPT_WORLDS,
    OPT_POLICY,
    OPT_ORDER,
    OPT_BUDGET,
    OPT_PATIENCE,
    OPT_SCAN_ALL,
    OPT_OUT,
    OPT_JSON,
    OPT_BASELINE,
    OPT_BOUNDS,
    OPT_JOBS,
    OPT_QUIET
};

static const struct option long_options[] = {
    {"openb", required_argument, NULL, OPT_OPENB},
    {"list", required_argument, NULL, OPT_LIST},
    {"seeds", required_argument, NULL, OPT_SEEDS},
    {"cluster", required_argument, NULL, OPT_CLUSTER},
    {"synthetic", required_argument, NULL, OPT_SYNTHETIC},
    {"workload", required_argument, NULL, OPT_WORKLOAD},
    {"scenario", no_argument, NULL, OPT_SCENARIO},
    {"worlds", required_argument, NULL, OPT_WORLDS},
    {"policy", required_argument, NULL, OPT_POLICY},
    {"order", required_argument, NULL, OPT_ORDER},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"patience", required_argument, NULL, OPT_PATIENCE},
    {"scan-all", no_argument, NULL, OPT_SCAN_ALL},
    {"out", required_argument, NULL, OPT_OUT},
    {"json", no_argument, NULL, OPT_JSON},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"bounds", required_argument, NULL, OPT_BOUNDS},
    {"jobs", required_argument, NULL, OPT_JOBS},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int take_number(const char *option, const char *text, uint64_t max, uint64_t *ret)
{
    if (number(text, max, ret) && *ret > 0)
        return 0;
    return command_usage("simulate", "%s: found `%s`, expected a number from 1 to %llu", option,
                         text, (unsigned long long)max);
}

static int take_one(struct options *o, int option)
{
    uint64_t value = 0;
    int code = 0;

    o->decides |= option == OPT_POLICY || option == OPT_ORDER || option == OPT_BUDGET ||
                  option == OPT_PATIENCE || option == OPT_SCAN_ALL;
    switch (option) {
    case OPT_LIST:
        return take_lists(o, optarg);
    case OPT_SEEDS:
        return take_seeds(o, optarg);
    case OPT_POLICY:
        return take_policies(o, optarg);
    case OPT_ORDER:
        return take_order(o, optarg);
    case OPT_BUDGET:
        code = take_number("--budget", optarg, UINT32_MAX, &value);
        o->budget_steps = (uint32_t)value;
        return code;
    case OPT_PATIENCE:
        if (!number(optarg, PATIENCE_MAX_S, &o->patience_s))
            return command_usage("simulate", "--patience: found `%s`, expected seconds", optarg);
        return 0;
    case OPT_JOBS:
        code = take_number("--jobs", optarg, 1024, &value);
        o->workers = (unsigned)value;
        return code;
    case OPT_OPENB:
        o->openb = optarg;
        return 0;
    case OPT_CLUSTER:
        o->cluster = optarg;
        return 0;
    case OPT_SYNTHETIC:
        o->synthetic = optarg;
        return 0;
    case OPT_WORKLOAD:
        o->workload = optarg;
        return 0;
    case OPT_SCENARIO:
        o->scenario = true;
        return 0;
    case OPT_WORLDS:
        o->worlds = optarg;
        return 0;
    case OPT_SCAN_ALL:
        o->scan_all = true;
        return 0;
    case OPT_OUT:
        o->out = optarg;
        return 0;
    case OPT_JSON:
        o->json = true;
        return 0;
    case OPT_BASELINE:
        o->baseline = optarg;
        return 0;
    case OPT_BOUNDS:
        o->bounds = optarg;
        return 0;
    case OPT_QUIET:
        o->quiet = true;
        return 0;
    default:
        return command_usage("simulate", "unknown or incomplete option");
    }
}

static int check_options(const struct options *o, int rest)
{
    unsigned sources = (unsigned)(o->openb != NULL) + (unsigned)(o->cluster || o->synthetic) +
                       (unsigned)o->scenario + (unsigned)(o->worlds != NULL);
    enum scorer_id id;

    if (sources != 1 || (o->cluster && o->synthetic))
        return command_usage("simulate", "expected exactly one of --openb, --cluster or "
                                         "--synthetic, --scenario, --worlds");
    if ((o->cluster || o->synthetic) != (o->workload != NULL))
        return command_usage("simulate", "--cluster or --synthetic and --workload go together");
    if (!o->openb && (o->list_count || o->seed_count))
        return command_usage("simulate", "--list and --seeds go with --openb");
    if (rest > 0 && !o->scenario)
        return command_usage("simulate", "found an argument beside the options");
    if (rest == 0 && o->scenario)
        return command_usage("simulate", "--scenario: expected one file or more");
    if (o->scenario && (o->out || o->json || o->baseline || o->bounds || o->decides))
        return command_usage("simulate", "--scenario: the file says how to decide, and nothing is "
                                         "written; leave the other options out");
    if (o->worlds && (o->baseline || o->bounds))
        return command_usage("simulate", "--baseline and --bounds do not go with --worlds");
    if (o->baseline && !policy_find(o->baseline, &id))
        return command_usage("simulate", "--baseline: found `%s`, expected a scorer", o->baseline);
    return 0;
}

/* ---- the worlds to run ---- */

struct plan_of_runs {
    struct world *world;
    struct batch_run *run;
    uint32_t world_count, run_count;
    size_t run_limit;
};

/* Waiting pays where others may use the room meanwhile, and is part of our own policy only. */
static uint64_t patience_of(const struct options *o, enum scorer_id policy)
{
    bool backfills = o->order == ORDER_EASY || o->order == ORDER_CONSERVATIVE;

    if (o->patience_s != PATIENCE_AUTO)
        return o->patience_s;
    return policy == SCORER_DOVETAIL && backfills ? PATIENCE_OWN_S : 0;
}

static void add_runs(struct plan_of_runs *p, const struct options *o, const struct world *w,
                     uint32_t arrivals, uint64_t seed)
{
    for (unsigned n = 0; n < o->policy_count; n++) {
        p->run = out_grow(p->run, p->run_count, &p->run_limit, sizeof(*p->run));
        p->run[p->run_count++] = (struct batch_run){
            .w = w,
            .arrivals = arrivals,
            .feed = {.scorer = o->policy[n],
                     .order = o->order,
                     .seed = seed,
                     .budget_steps = o->budget_steps,
                     .patience_ns = (int64_t)patience_of(o, o->policy[n]) * 1000000000,
                     .drop_never = !w->openb,
                     .scan_all = o->scan_all}};
    }
}

static int add_seeds(struct plan_of_runs *p, const struct options *o, const struct world *w,
                     const char *list, struct err *err)
{
    const struct world_openb *x = w->openb;

    for (uint32_t s = 0; s < x->seed_count && o->seed_count == 0; s++)
        add_runs(p, o, w, s, x->seed[s]);
    for (unsigned n = 0; n < o->seed_count; n++) {
        uint32_t s = 0;

        while (s < x->seed_count && x->seed[s] != o->seed[n])
            s++;
        if (s == x->seed_count)
            return err_set(err, ERR_INPUT,
                           "list %s: found no arrival order of seed %llu, expected one of %u to %u",
                           list, (unsigned long long)o->seed[n], x->seed[0],
                           x->seed[x->seed_count - 1]);
        add_runs(p, o, w, s, o->seed[n]);
    }
    return 0;
}

static int read_worlds_of(struct plan_of_runs *p, const struct options *o, struct err *err)
{
    unsigned worlds = o->openb ? o->list_count : 1;
    int code = 0;

    p->world = memory_zeroed(worlds * sizeof(*p->world));
    for (unsigned n = 0; n < worlds && !code; n++) {
        struct world *w = &p->world[p->world_count++];

        world_init(w);
        if (o->openb) {
            code = read_openb(w, o->openb, o->list[n], err);
            code = code ? code : add_seeds(p, o, w, o->list[n], err);
            continue;
        }
        code = o->cluster ? read_cluster(w, o->cluster, err) : read_synthetic(w, o->synthetic, err);
        code = code ? code : read_workload(w, o->workload, err);
        if (!code)
            add_runs(p, o, w, WORLD_NONE, w->seed < 0 ? 0 : (uint64_t)w->seed);
    }
    return code;
}

/* Sums of an earlier run would outlive the logs they sum up: they go first. */
static int make_folder(const char *path, struct err *err)
{
    static const char *const sum[] = {"summary.json", "report.html"};
    struct out name = {NULL, 0, 0};
    struct stat s;

    if (mkdir(path, 0777) != 0 && !(errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode)))
        return err_set(err, ERR_TROUBLE, "%s: cannot make the folder: %s", path, strerror(errno));
    for (size_t n = 0; n < sizeof(sum) / sizeof(sum[0]); n++) {
        out_clear(&name);
        out_format(&name, "%s/%s", path, sum[n]);
        (void)unlink(name.bytes);
    }
    out_free(&name);
    return 0;
}

/* ---- results ---- */

static int show(const struct options *o, struct summary *s, struct report *r, struct err *err)
{
    const char *baseline = o->baseline ? o->baseline : o->openb ? "fgd" : "best-fit";
    struct summary_look look = summary_look(STDOUT_FILENO, baseline);
    struct out text = {NULL, 0, 0};
    int code = 0, printed;

    /* The files first: a closed pipe must not cost them. */
    if (o->out && !(code = summary_save(s, o->out, DOVETAIL_VERSION, err))) {
        out_format(&text, "%s/report.html", o->out);
        code = report_save(r, s, baseline, text.bytes, err);
        out_clear(&text);
    }
    if (code)
        (void)command_fail(code, err);
    if (o->json)
        summary_json(s, DOVETAIL_VERSION, &text);
    else
        summary_table(s, &look, &text);
    printed = text.length ? command_print(&text) : 0;
    out_free(&text);
    return code ? code : printed;
}

static int read_bounds(const struct options *o, struct summary *s, struct err *err)
{
    struct out path = {NULL, 0, 0};
    int code = 0;

    if (o->bounds && access(o->bounds, F_OK) != 0)
        return err_set(err, ERR_INPUT, "%s: found no such file, expected one with bounds",
                       o->bounds);
    if (o->bounds || o->openb) {
        out_add(&path, o->bounds ? o->bounds : o->openb);
        out_add(&path, o->bounds ? "" : "/bounds.csv");
        code = summary_bounds(s, path.bytes, err);
        out_free(&path);
    }
    return code;
}

static int compare(const struct options *o)
{
    struct plan_of_runs plan = {.world_count = 0};
    struct summary *s = summary_open();
    struct report *r = report_open(DOVETAIL_VERSION);
    struct batch_options b = {o->out, o->workers, o->quiet};
    struct err err;
    uint32_t done = 0;
    int code = read_worlds_of(&plan, o, &err);

    code = code ? code : read_bounds(o, s, &err);
    if (!code && o->out)
        code = make_folder(o->out, &err);
    if (code) {
        (void)command_fail(code, &err);
    } else {
        code = batch_run_all(plan.run, plan.run_count, &b, s, r, &done, &err);
        if (code)
            (void)command_fail(code, &err);
        if (done > 0) {
            int shown = show(o, s, r, &err);

            code = code ? code : shown;
        }
        if (command_stopped()) {
            fprintf(stderr, "dovetail: stopped; %u of %u runs are complete and kept\n", done,
                    plan.run_count);
            code = 130;
        }
    }
    for (uint32_t n = 0; n < plan.world_count; n++)
        world_free(&plan.world[n]);
    free(plan.world);
    free(plan.run);
    summary_close(s);
    report_close(r);
    return code;
}

static int run_worlds(const struct options *o)
{
    struct worlds_options w = {.path = o->worlds,
                               .out = o->out,
                               .policy = o->policy,
                               .policy_count = o->policy_count,
                               .order = o->order,
                               .budget_steps = o->budget_steps,
                               .scan_all = o->scan_all,
                               .json = o->json};
    struct err err;
    int code = o->out ? make_folder(o->out, &err) : 0;

    return code ? command_fail(code, &err) : check_worlds(&w);
}

int command_simulate(int argc, char **argv)
{
    struct options o = {.policy = {SCORER_DOVETAIL},
                        .policy_count = 1,
                        .order = ORDER_PRIORITY,
                        .patience_s = PATIENCE_AUTO,
                        .list = {"default"}};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int option, code;

    o.workers = processors > 0 ? (unsigned)processors : 1;
    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        if (option == 'h') {
            command_simulate_help(stdout);
            return command_flush();
        }
        if ((code = take_one(&o, option)))
            return code;
    }
    if ((code = check_options(&o, argc - optind)))
        return code;
    if (o.openb && o.list_count == 0)
        o.list_count = 1;
    command_watch_signals();
    if (o.scenario)
        return check_scenarios(argc - optind, argv + optind);
    if (o.worlds)
        return run_worlds(&o);
    return compare(&o);
}
