/* SPDX-License-Identifier: MIT */
/* cli/usage - help texts, made from the table of verbs. */
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

struct buf;
struct cli_args;
struct cli_verb;

/* All verbs, or those of one group ("session"), one line each. */
void cli_usage_list(const struct cli_verb *verbs, const char *group, struct buf *out);

/* One verb with its options. */
void cli_usage_verb(const struct cli_verb *verb, struct buf *out);

/* Prints the help for what args name and returns the exit status: a verb, a group, or all. */
int cli_usage_show(const struct cli_args *args, const struct cli_verb *verbs);

#endif
