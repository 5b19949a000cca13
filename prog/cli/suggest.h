/* SPDX-License-Identifier: MIT */
/* cli/suggest - which word was meant by a misspelt one. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include <stddef.h>

enum { CLI_SUGGEST_WORD_MAX = 31 };

/* A running search for the nearest word; starts zeroed. */
struct cli_suggest {
    const char *best; /* NULL: nothing is near enough; not NUL-terminated */
    int best_len;
    size_t distance;
};

/*
 * Looks at one candidate, which is kept by pointer. Near is what two letters too many, too few,
 * replaced or swapped with a neighbour make, and what starts in the same way.
 */
void cli_suggest_try(struct cli_suggest *s, const char *word, const char *candidate, size_t len);

#endif
