/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include <string.h>

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to add, drop, replace or swap with their neighbour (both of at most the maximum). */
static size_t distance_of(const char *a, size_t len_a, const char *b, size_t len_b)
{
    /* Three rows of the table of all prefixes: a swap looks two rows back. */
    size_t rows[3][SUGGEST_WORD_MAX + 1];
    for (size_t j = 0; j <= len_b; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= len_a; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *above2 = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= len_b; j++) {
            size_t cost = a[i - 1] != b[j - 1];
            row[j] = min_of(above[j - 1] + cost, min_of(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = min_of(row[j], above2[j - 2] + 1);
        }
    }
    return rows[len_a % 3][len_b];
}

void suggest_try(struct suggest *s, const char *word, const char *candidate, size_t len)
{
    size_t word_len = strlen(word);
    if (word_len > SUGGEST_WORD_MAX || len > SUGGEST_WORD_MAX)
        return;
    size_t distance = distance_of(word, word_len, candidate, len);
    /* The beginning of a word is as good as one slip ("sess" for "session"). */
    if (word_len >= 3 && word_len <= len && strncmp(word, candidate, word_len) == 0)
        distance = min_of(distance, 1);
    if (distance > 2 || distance * 2 > word_len)
        return;
    if (!s->best || distance < s->distance) {
        s->best = candidate;
        s->best_len = (int)len;
        s->distance = distance;
    }
}
