/* SPDX-License-Identifier: MIT */
/*
 * match/scan - finds the first line of a stream that matches, chunk by chunk.
 *
 * A line ends in "\n" or "\r\n", which are not part of it. A line longer than the
 * window is looked at window by window, each with the second half of the one before,
 * so that a match of up to half a window is not missed; '^' and '$' still mean the
 * ends of the whole line.
 *
 * Not thread-safe.
 */
#ifndef MATCH_SCAN_H
#define MATCH_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct err;
struct scan;

enum {
    SCAN_WINDOW_DEFAULT = 64 * 1024,
    SCAN_WINDOW_MIN = 64,
    SCAN_PATTERN_MAX = 1024, /* bytes */
    SCAN_REGEX_MAX = 2000    /* regex_size(): a stream must not be able to stop its reader */
};

struct scan_options {
    const char *pattern;
    bool is_regex; /* else plain text, which may not hold a newline */
    bool icase;
    size_t window; /* bytes of a line kept; 0 = the default */
};

struct scan_hit {
    const char *line;  /* the line, or the window of it that matched; until the next call */
    size_t len;        /* bytes of it */
    size_t start, end; /* the match, as offsets into line */
    uint64_t offset;   /* of the match's first byte in the stream */
    bool is_partial;   /* the line had no end yet */
};

/* Compiles the pattern. As regex_compile(), and -ERR_INVALID for options that cannot work. */
int scan_new(const struct scan_options *options, struct scan **ret, struct err *err);

/*
 * Takes bytes in: 1 and *ret_hit if a line is complete (or has left the window) and
 * matches, else 0. *ret_used (may be NULL) says how many bytes were taken; after a hit
 * that can be fewer than len, and feeding the rest goes on with the next line. Or -ENOMEM.
 */
int scan_feed(struct scan *scan, const char *data, size_t len, struct scan_hit *ret_hit,
              size_t *ret_used);

/*
 * Tries the line that has not ended yet, such as a prompt; the stream may go on after
 * it. Also the call for the end of the stream. 1 or 0, or -ENOMEM. A line that
 * matched in this way is not reported again when it ends.
 */
int scan_partial(struct scan *scan, struct scan_hit *ret_hit);

/* Forgets what was taken in, keeps the pattern. */
void scan_reset(struct scan *scan);

/* Frees scan, which may be NULL. */
void scan_free(struct scan *scan);

DEFINE_AUTO(struct scan *, scan_free)

#endif
