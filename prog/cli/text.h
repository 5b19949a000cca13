/* SPDX-License-Identifier: MIT */
/* cli/text - the text that exec is to run. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "cli/cli.h"

struct buf;
struct err;

/*
 * From the one word, the quoted words, the file or standard input: whichever args name, into
 * text (limit COMMAND_TEXT_MAX). -ERR_INVALID when they name none, or two.
 */
int cli_text_get(const struct cli_args *args, struct buf *text, struct err *err);

#endif
