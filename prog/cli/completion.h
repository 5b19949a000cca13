/* SPDX-License-Identifier: MIT */
/* cli/completion - completion scripts, made from the table of verbs. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

struct buf;
struct cli_verb;

/* Appends the script for "bash", "zsh" or "fish"; -ERR_INVALID for another, -ERR_LIMIT. */
int cli_completion_write(const struct cli_verb *verbs, const char *shell, struct buf *out);

#endif
