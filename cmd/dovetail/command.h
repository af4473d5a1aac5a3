/* command.h - the subcommands of dovetail, each one main() of its own
 *
 * Errors  The exit code: 0 fine, 1 an expectation or check failed, 2 bad input or usage, 3 trouble
 *         outside. A command prints its error once, on standard error.
 */
#ifndef CMD_DOVETAIL_COMMAND_H
#define CMD_DOVETAIL_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "edge/base/err.h"
#include "edge/base/out.h"

int command_audit(int argc, char **argv);
int command_simulate(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_docs(int argc, char **argv);

/* What --help prints; docs/reference/flags.md is made of it. */
void command_simulate_help(FILE *to);

/* "dovetail: TEXT" on standard error; returns code. */
int command_fail(int code, const struct err *err);
/* The same for usage, with a hint at --help; returns ERR_INPUT. */
int command_usage(const char *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes the text to standard output; ERR_TROUBLE if that fails. */
int command_print(const struct out *text);
/* Ends what went to stdout; ERR_TROUBLE, and said, if not all of it arrived. */
int command_flush(void);

/* True once Ctrl-C or a request to end came: finish what is at hand and stop. A second Ctrl-C ends
 * the program at once. */
bool command_stopped(void);
void command_watch_signals(void);

#endif
