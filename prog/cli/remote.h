/* SPDX-License-Identifier: MIT */
/* cli/remote - one command in a session of the daemon. */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "cli/cli.h"

struct command_spec;

/* Runs it, streams or prints its result; returns the exit status of the program. */
int cli_remote_exec(const struct cli_args *args, const struct command_spec *spec);

#endif
