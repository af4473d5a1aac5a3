/* dovetail - the program for people and scheduler: finds the subcommand and hands over */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/dovetail/command.h"
#include "core/base/must.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *text;
} command_table[] = {
    {"audit", command_audit, "measure a cluster from a dump of its objects, and say what to do"},
    {"simulate", command_simulate, "run the scheduler against a recorded or generated workload"},
    {"explain", command_explain, "why a job was placed where it was, or refused, from its log"},
    {"replay", command_replay, "run a journal again and compare every decision and digest"},
    {"docs", command_docs, "write the generated reference pages"},
};
#define COMMANDS (sizeof(command_table) / sizeof(command_table[0]))

_Noreturn void must_fail(const char *expr, const char *file, int line)
{
    fprintf(stderr,
            "dovetail: a bug, stopped before it could do harm: %s:%d: %s\n"
            "dovetail: please report it with the command line and the inputs\n",
            file, line, expr);
    abort();
}

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    if (stopped)
        _exit(128 + number);
    stopped = 1;
}

void command_watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool command_stopped(void)
{
    return stopped != 0;
}

int command_fail(int code, const struct err *err)
{
    fprintf(stderr, "dovetail: %s\n", err->text);
    return code;
}

int command_usage(const char *command, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "dovetail %s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry `dovetail %s --help`.\n", command);
    return ERR_INPUT;
}

int command_print(const struct out *text)
{
    struct out_file file;
    struct err err;
    int code = out_file_open(&file, "-", false, &err);

    if (!code) {
        (void)out_file_write(&file, text->bytes, text->length);
        code = out_file_close(&file, &err);
    }
    return code ? command_fail(code, &err) : 0;
}

int command_flush(void)
{
    struct err err;

    if (fflush(stdout) == 0)
        return 0;
    return command_fail(err_set(&err, ERR_TROUBLE, "standard output: %s", strerror(errno)), &err);
}

static void help(FILE *to)
{
    fprintf(to,
            "dovetail %s - a topology-aware GPU scheduler for Kubernetes\n\n"
            "usage: dovetail COMMAND [OPTION]...\n\n",
            DOVETAIL_VERSION);
    for (size_t n = 0; n < COMMANDS; n++)
        fprintf(to, "  %-10s %s\n", command_table[n].name, command_table[n].text);
    fprintf(to, "  %-10s %s\n\n`dovetail COMMAND --help` says more.\n", "version",
            "print the version");
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write(), told like any other */
    for (size_t n = 0; n < COMMANDS; n++)
        if (strcmp(name, command_table[n].name) == 0)
            return command_table[n].run(argc - 1, argv + 1);
    if (strcmp(name, "version") == 0 || strcmp(name, "--version") == 0) {
        printf("dovetail %s\n", DOVETAIL_VERSION);
        return command_flush();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        help(stdout);
        return command_flush();
    }
    if (*name)
        fprintf(stderr, "dovetail: no command is called `%s`\n\n", name);
    help(stderr);
    return ERR_INPUT;
}
