/* SPDX-License-Identifier: MIT */
/* cli/local - one command in this process: a runtime and a session that end with it. */
#ifndef CLI_LOCAL_H
#define CLI_LOCAL_H

#include "cli/cli.h"

struct command_spec;

/* Runs it, streams or prints its result; returns the exit status of the program. */
int cli_local_exec(const struct cli_args *args, const struct command_spec *spec);

#endif
