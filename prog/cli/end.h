/* SPDX-License-Identifier: MIT */
/* cli/end - how a command ended, as an exit status and, where that says too little, a line. */
#ifndef CLI_END_H
#define CLI_END_H

#include "cli/cli.h"
#include "session/command.h"

struct json_node;

struct cli_end {
    enum command_state state;
    int exit_code;
    const char *why;   /* can be NULL */
    const char *limit; /* can be NULL */
    int64_t timeout_ms;
    bool timeout_clamped; /* more was asked for */
};

struct cli_end cli_end_of_command(const struct command *c);

/* Of a result object; a state that is not known counts as running. */
struct cli_end cli_end_of_result(const struct json_node *result);

/*
 * The exit status of a program whose command ended so: the command's own, or what the state says.
 * signo is the signal that made this program stop the command, or 0.
 */
int cli_end_status(const struct cli_end *end, int signo);

/* A line on standard error for an end that the command's own output cannot explain. */
void cli_end_note(const struct cli_args *args, const struct cli_end *end);

#endif
