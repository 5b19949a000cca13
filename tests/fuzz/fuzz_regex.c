/* SPDX-License-Identifier: MIT */
/*
 * First byte: flags; second: size of the pieces a stream is fed in; then the pattern, a
 * newline, and the text. A hit that the line matcher reports must be one that the
 * expression finds in that line as well.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "fuzz.h"
#include "match/regex.h"
#include "match/scan.h"

enum { PATTERN_MAX = 200, TEXT_MAX = 4000 };

static void require(bool truth)
{
    if (!truth)
        abort();
}

static void check_regex(const char *pattern, unsigned flags, const char *text, size_t len)
{
    auto_regex struct regex *re = NULL;
    struct err err = {0};
    int rc = regex_compile(pattern, flags, &re, &err);
    require((rc == 0) == (re != NULL) && (rc == 0) == (err.code == 0));
    if (!re)
        return;
    size_t start = 0, end = 0;
    rc = regex_search(re, text, len, &start, &end);
    require(rc == 0 || rc == 1);
    require(regex_search(re, text, len, NULL, NULL) == rc);
    require(rc == 0 || (start <= end && end <= len));

    struct regex_span spans[8];
    if (rc == 1 && regex_search_in(re, text, len, (struct regex_span){start, len}, spans, 8) == 1)
        require(spans[0].start == start);
}

static void check_hit(const struct scan_options *options, const struct scan_hit *hit, size_t len)
{
    require(hit->start <= hit->end && hit->end <= hit->len && hit->len <= SCAN_WINDOW_MIN);
    require(hit->offset + (hit->end - hit->start) <= len);
    require(!memchr(hit->line, '\n', hit->len));
    if (!options->is_regex && !options->icase)
        require(hit->end - hit->start == strlen(options->pattern) &&
                memcmp(hit->line + hit->start, options->pattern, hit->end - hit->start) == 0);
}

/* All hits of a stream in pieces of this size: their number, and the place of the first. */
static int scan_all(const struct scan_options *options, const char *text, size_t len, size_t piece,
                    uint64_t *ret_first)
{
    AUTO(scan_free) struct scan *scan = NULL;
    if (scan_new(options, &scan, NULL) < 0)
        return 0;
    struct scan_hit hit;
    int n = 0;
    for (size_t at = 0; at < len;) {
        size_t used, part = len - at < piece ? len - at : piece;
        int rc = scan_feed(scan, text + at, part, &hit, &used);
        require((rc == 0 && used == part) || (rc == 1 && used <= part));
        at += used;
        if (rc == 0)
            continue;
        check_hit(options, &hit, len);
        if (n++ == 0)
            *ret_first = hit.offset;
    }
    if (scan_partial(scan, &hit) == 1) {
        check_hit(options, &hit, len);
        if (n++ == 0)
            *ret_first = hit.offset;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > TEXT_MAX)
        return 0;
    const char *pattern_at = (const char *)data + 2;
    const char *newline = memchr(pattern_at, '\n', size - 2);
    if (!newline || newline - pattern_at > PATTERN_MAX)
        return 0;
    auto_free char *pattern = xstrndup(pattern_at, (size_t)(newline - pattern_at));
    const char *text = newline + 1;
    size_t len = size - (size_t)(text - (const char *)data);

    check_regex(pattern, data[0], text, len);
    struct scan_options options = {.pattern = pattern,
                                   .is_regex = data[0] & 1,
                                   .icase = data[0] & 2,
                                   .window = SCAN_WINDOW_MIN};
    uint64_t first = 0, first_again = 0;
    int n = scan_all(&options, text, len, len ? len : 1, &first);
    int n_again = scan_all(&options, text, len, data[1] % 80 + 1, &first_again);
    require(n == n_again && first == first_again);
    return 0;
}
