/* SPDX-License-Identifier: MIT */
/* base/suggest - which word was meant by a misspelt one. */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

enum { SUGGEST_WORD_MAX = 31 };

/* A running search for the nearest word; starts zeroed. */
struct suggest {
    const char *best; /* NULL: nothing is near enough; not NUL-terminated */
    int best_len;
    size_t distance;
};

/*
 * Looks at one candidate, which is kept by pointer. Near is what two letters too many, too few,
 * replaced or swapped with a neighbour make, and what starts in the same way.
 */
void suggest_try(struct suggest *s, const char *word, const char *candidate, size_t len);

#endif
