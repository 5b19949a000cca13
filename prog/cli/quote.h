/* SPDX-License-Identifier: MIT */
/* cli/quote - words as a shell reads them. */
#ifndef CLI_QUOTE_H
#define CLI_QUOTE_H

#include <stddef.h>

struct buf;

/*
 * Appends the n words, blanks between, each quoted so that a POSIX shell takes it as one word
 * and as it stands: no expansion, no alias, no assignment, no reserved word. -ERR_LIMIT.
 */
int cli_quote_words(const char *const *words, size_t n, struct buf *out);

#endif
