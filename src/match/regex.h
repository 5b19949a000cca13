/* SPDX-License-Identifier: MIT */
/*
 * match/regex - regular expressions in linear time (RE2's syntax).
 *
 * A compiled expression is at most 8 MiB and never backtracks. A search takes time in
 * proportion to the text; at worst, where its states do not fit the memory, in proportion
 * to the text times regex_size(). '^' and '$' are the ends of the text unless
 * REGEX_MULTILINE is set. Text need not be valid UTF-8; REGEX_BYTES matches byte by byte.
 *
 * A compiled expression may be used by several threads at a time.
 */
#ifndef MATCH_REGEX_H
#define MATCH_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/own.h"

struct err;
struct regex;

enum regex_flag {
    REGEX_ICASE = 1 << 0,     /* letters match without regard to case */
    REGEX_LITERAL = 1 << 1,   /* the pattern is plain text */
    REGEX_LONGEST = 1 << 2,   /* leftmost-longest, as POSIX; else leftmost-first, as Perl */
    REGEX_MULTILINE = 1 << 3, /* '^' and '$' at line ends too; '.' never matches a newline */
    REGEX_DOTALL = 1 << 4,    /* '.' matches a newline too */
    REGEX_BYTES = 1 << 5      /* Latin-1: each byte is a character */
};

enum { REGEX_MEMORY_MAX = 8 * 1024 * 1024, REGEX_PATTERN_MAX = 8 * 1024, REGEX_GROUPS_MAX = 100 };

/* Where a group matched, as offsets into the text; {REGEX_UNSET, REGEX_UNSET} if it did not. */
struct regex_span {
    size_t start, end;
};

#define REGEX_UNSET ((size_t)-1)

/*
 * Compiles; flags are of enum regex_flag. -ERR_SYNTAX with what is wrong, or
 * -ERR_LIMIT if the expression is too large. *ret is set on success only.
 */
int regex_compile(const char *pattern, unsigned flags, struct regex **ret, struct err *err);

/* Number of capturing groups, without the whole match. */
unsigned regex_groups(const struct regex *re);

/* Steps of the compiled program: what a byte of text costs at worst. */
unsigned regex_size(const struct regex *re);

/*
 * Looks for the first match: 1 and its ends (either may be NULL), 0 if there is none,
 * or -ENOMEM.
 */
int regex_search(const struct regex *re, const char *text, size_t len, size_t *ret_start,
                 size_t *ret_end);

/*
 * The same within a part of the text, whose surroundings count for '^', '$' and \b,
 * and with groups: spans[0] is the whole match, spans[i] group i (n_spans may be 0).
 */
int regex_search_in(const struct regex *re, const char *text, size_t len, struct regex_span within,
                    struct regex_span *spans, size_t n_spans);

/* Frees re, which may be NULL. */
void regex_free(struct regex *re);

DEFINE_AUTO(struct regex *, regex_free)
#define auto_regex AUTO(regex_free)

#endif
