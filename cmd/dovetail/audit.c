/* audit - measures a cluster from a dump of its objects, and says what stands in the way */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/dovetail/command.h"
#include "edge/audit/report.h"

static const char audit_usage[] =
    "usage: kubectl get nodes,pods -A -o json | dovetail audit -\n"
    "       dovetail audit [OPTION]... FILE|FOLDER|-...\n\n"
    "Reads a dump of a Kubernetes cluster and says how fragmented its GPUs are, for which jobs "
    "and\n"
    "why, whose pods sit on the fragments, and whether the jobs that wait lack cards or shape.\n"
    "Nothing is installed, sent or changed. JSON or YAML, plain or gzipped; JSON of any size.\n\n"
    "  --json                the same figures for programs (format dovetail-audit/1)\n"
    "  --levels KEYS         labels that name the levels above the host, small to large, parted "
    "by\n"
    "                        commas; several chains are parted by semicolons [found by "
    "themselves]\n"
    "  --gpu-resource NAME   count this extended resource as GPUs too; may be given several times\n"
    "  --fail-if 'FIGURE>N'  exit with 1 if the figure is above N ('<': below); may be given "
    "several\n"
    "                        times. Figures: stranded8, startable8 (or 1 2 4 16 64), gpus, held,\n"
    "                        free, allocated, unhealthy, cordoned, not_ready, waiting, "
    "waiting_gpus,\n"
    "                        waiting_never, waiting_shortage, waiting_fragmentation, hit, odd\n"
    "  --now TIME            ages as of then, in seconds since 1970 [now]\n"
    "  --colour WHEN         auto, always or never [auto: on a terminal]\n\n"
    "Exit codes: 0 a report was made, 1 a --fail-if is true, 2 the input or the usage is wrong,\n"
    "3 trouble with files or memory.\n";

#define CHECKS_MAX 32

struct wish {
    bool json, colour;
    const char *levels;
    const char *check[CHECKS_MAX];
    unsigned checks;
    int64_t now_s;
};

/* "stranded8>0.2": false: not such a thing, or no such figure. */
static bool check_read(const struct report *r, const char *text, double *ret_is, double *ret_bound,
                       char *ret_op)
{
    char name[64];
    size_t length = strcspn(text, "<>");
    char *end;

    *ret_op = text[length];
    if (length == 0 || length >= sizeof(name) || !*ret_op)
        return false;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    memcpy(name, text, length);
    name[length] = '\0';
    text = strpbrk(text, "<>") + 1;
    *ret_bound = strtod(text, &end);
    return end != text && !*end && report_figure(r, name, ret_is);
}

static int check_all(const struct wish *w, const struct report *r)
{
    int code = 0;

    for (unsigned n = 0; n < w->checks; n++) {
        double is, bound;
        char op;

        if (!check_read(r, w->check[n], &is, &bound, &op))
            return command_usage("audit",
                                 "--fail-if %s: no such figure in this report, or not "
                                 "FIGURE>NUMBER",
                                 w->check[n]);
        if (op == '>' ? is > bound : is < bound) {
            fprintf(stderr, "dovetail: %s: it is %g\n", w->check[n], is);
            code = ERR_CHECK;
        }
    }
    return code;
}

static int tell(const struct wish *w, struct facts *f, const struct stream *s)
{
    struct books b;
    struct figures g;
    struct out text = {NULL, 0, 0};
    struct err err;
    int code = books_open(&b, f, &err), checked;

    if (code) {
        books_close(&b);
        return command_fail(code, &err);
    }
    figures_open(&g, &b, w->now_s);

    struct report r = {.f = f, .b = &b, .g = &g, .s = s, .colour = w->colour};

    if (w->json)
        report_json(&r, &text);
    else
        report_text(&r, &text);
    code = command_print(&text);
    checked = check_all(w, &r);
    out_free(&text);
    figures_close(&g);
    books_close(&b);
    return code ? code : checked;
}

static int run(const struct wish *w, struct facts *f, char **path, int count)
{
    struct stream s = {.object = facts_object, .context = f};
    struct err err;
    int code = 0;

    for (int n = 0; n < count && !code; n++)
        code = stream_read(&s, path[n], &err);
    if (!code)
        code = facts_settle(f, w->levels, &err);
    if (code)
        return command_fail(code, &err);
    if (s.files == 0)
        return command_usage("audit", "no file ends in .json, .yaml or .yml there");
    if (f->node_count == 0 && f->pod_count == 0)
        return command_fail(err_set(&err, ERR_INPUT,
                                    "%u objects were read, and none of them is a node or a pod; "
                                    "expected the output of `kubectl get nodes,pods -A -o json`",
                                    f->other_kinds),
                            &err);
    return tell(w, f, &s);
}

static bool colour_of(const char *when, bool *ret)
{
    *ret = strcmp(when, "always") == 0 ||
           (strcmp(when, "auto") == 0 && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
    return *ret || strcmp(when, "auto") == 0 || strcmp(when, "never") == 0;
}

/* -1: go on; else the exit code. */
static int read_options(int argc, char **argv, struct wish *w, struct facts *f)
{
    static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                            {"levels", required_argument, NULL, 'l'},
                                            {"gpu-resource", required_argument, NULL, 'g'},
                                            {"fail-if", required_argument, NULL, 'f'},
                                            {"now", required_argument, NULL, 'n'},
                                            {"colour", required_argument, NULL, 'c'},
                                            {"color", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        char *end = NULL;

        if (option == 'h') {
            fputs(audit_usage, stdout);
            return command_flush();
        }
        if (option == 'j')
            w->json = true;
        else if (option == 'l')
            w->levels = optarg;
        else if (option == 'g' && facts_resource(f, optarg))
            continue;
        else if (option == 'f' && w->checks < CHECKS_MAX)
            w->check[w->checks++] = optarg;
        else if (option == 'n' && (w->now_s = strtoll(optarg, &end, 10)) >= 0 && *optarg && !*end)
            continue;
        else if (option == 'c' && colour_of(optarg, &w->colour))
            continue;
        else
            return command_usage("audit", "an option is unknown or its value makes no sense");
    }
    if (optind == argc)
        return command_usage("audit", "expected a file, a folder, or - for standard input");
    return -1;
}

int command_audit(int argc, char **argv)
{
    struct wish w = {.now_s = (int64_t)time(NULL)};
    struct facts f;
    int code;

    (void)colour_of("auto", &w.colour);
    facts_open(&f);
    code = read_options(argc, argv, &w, &f);
    if (code < 0)
        code = run(&w, &f, argv + optind, argc - optind);
    facts_close(&f);
    return code;
}
