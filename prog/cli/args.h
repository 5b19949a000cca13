/* SPDX-License-Identifier: MIT */
/*
 * cli/args - from a command line to struct cli_args, by the table of verbs.
 *
 * Options stand anywhere before "--", as "--name value", "--name=value", "-n value" or
 * "-nvalue"; flags of one letter may share a dash. What follows "--" is operands only.
 */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include "cli/cli.h"

struct err;

/*
 * Reads argv (without the program's name). -ERR_INVALID with what is wrong and what was
 * expected; ret->verb is then set if it was found. Release with cli_args_done().
 */
int cli_args_parse(const struct cli_verb *verbs, char **argv, struct cli_args *ret,
                   struct err *err);

void cli_args_done(struct cli_args *args);

/* The verb of that name, "session open" being one name; NULL. */
const struct cli_verb *cli_verb_find(const struct cli_verb *verbs, const char *name);

/* Whether a verb's name starts with that word and a blank. */
bool cli_verb_is_group(const struct cli_verb *verbs, const char *word);

#endif
