/* SPDX-License-Identifier: MIT */
#include "match/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "match/regex.h"

struct scan {
    struct regex *re; /* NULL: text is looked for as it is */
    char *text;
    size_t text_len;
    size_t window;
    struct buf line;   /* what is kept of the line that has not ended */
    uint64_t offset;   /* of the first byte kept in the stream */
    bool is_cut;       /* bytes of the line before the kept ones are gone */
    bool was_reported; /* the line has matched: its rest is dropped */
};

/* How much of a full window goes on into the next: half, and one byte before that for '^'. */
static size_t overlap(const struct scan *scan)
{
    return scan->window / 2 + 1;
}

/* Looks within a part of text: 1 and where, 0, or -ENOMEM. */
static int search(const struct scan *scan, const char *text, size_t len, struct regex_span within,
                  struct regex_span *ret)
{
    if (scan->re)
        return regex_search_in(scan->re, text, len, within, ret, 1);
    if (within.start > within.end)
        return 0;
    const char *found =
        memmem(text + within.start, within.end - within.start, scan->text, scan->text_len);
    if (!found)
        return 0;
    ret->start = (size_t)(found - text);
    ret->end = ret->start + scan->text_len;
    return 1;
}

/* Where a line is looked at, and what lies around that. */
struct view {
    const char *line;
    size_t len;
    uint64_t offset;
    bool is_cut;  /* the first byte is there for what comes before the rest, as in '^' */
    bool is_full; /* the line goes on: the last byte is there for what comes after */
    bool has_end;
};

static int try_view(const struct scan *scan, struct view view, struct scan_hit *ret)
{
    if (!view.is_full && view.len && view.line[view.len - 1] == '\r')
        view.len--;
    struct regex_span within = {.start = view.is_cut, .end = view.len - view.is_full};
    struct regex_span found;
    int rc = search(scan, view.line, view.len, within, &found);
    if (rc != 1)
        return rc;
    *ret = (struct scan_hit){
        .line = view.line,
        .len = view.len,
        .start = found.start,
        .end = found.end,
        .offset = view.offset + found.start,
        .is_partial = !view.has_end,
    };
    return 1;
}

/* What is kept of the current line. */
static struct view kept_view(struct scan *scan)
{
    return (struct view){.line = buf_cstr(&scan->line),
                         .len = scan->line.len,
                         .offset = scan->offset,
                         .is_cut = scan->is_cut};
}

/* Forgets the line, of which the stream went on for len bytes more than is kept. */
static void next_line(struct scan *scan, size_t len)
{
    scan->offset += scan->line.len + len;
    buf_clear(&scan->line);
    scan->is_cut = false;
    scan->was_reported = false;
}

/* A full window of a line that is known to go on: looks at it, then makes room. */
static int leave_window(struct scan *scan, struct scan_hit *ret_hit)
{
    struct view view = kept_view(scan);
    view.is_full = true;
    int rc = try_view(scan, view, ret_hit);
    if (rc != 0)
        return rc;
    size_t gone = scan->window - overlap(scan);
    buf_consume(&scan->line, gone);
    scan->offset += gone;
    scan->is_cut = true;
    return 0;
}

/* Adds a piece of a line without its end. */
static int add_piece(struct scan *scan, const char *data, size_t len, struct scan_hit *ret_hit,
                     size_t *ret_used)
{
    size_t used = 0;
    int rc = 0;
    while (used < len && rc == 0) {
        if (scan->line.len == scan->window) {
            rc = leave_window(scan, ret_hit);
            continue;
        }
        size_t room = scan->window - scan->line.len;
        size_t n = len - used < room ? len - used : room;
        rc = buf_append(&scan->line, data + used, n);
        if (rc == 0)
            used += n;
    }
    *ret_used = used;
    return rc;
}

/* The rest of a line that has its end in data; where possible without a copy. */
static int end_line(struct scan *scan, const char *data, size_t len, struct scan_hit *ret_hit)
{
    struct view view;
    if (scan->line.len == 0 && len <= scan->window) {
        view = (struct view){.line = data, .len = len, .offset = scan->offset};
        next_line(scan, len + 1);
    } else {
        view = kept_view(scan);
        next_line(scan, 1);
    }
    view.has_end = true;
    return try_view(scan, view, ret_hit);
}

/* Takes in one line or what there is of it. */
static int feed_line(struct scan *scan, const char *data, size_t len, struct scan_hit *ret_hit,
                     size_t *ret_used)
{
    const char *newline = memchr(data, '\n', len);
    size_t n = newline ? (size_t)(newline - data) : len;
    size_t used = 0;
    int rc = 0;

    if (scan->was_reported) {
        scan->offset += scan->line.len + n;
        buf_clear(&scan->line);
        used = n;
    } else if (scan->line.len || !newline || n > scan->window) {
        rc = add_piece(scan, data, n, ret_hit, &used);
    }
    *ret_used = used;
    if (rc < 0)
        return rc;
    if (rc == 1) {
        scan->was_reported = true;
        return rc;
    }
    if (!newline)
        return 0;

    *ret_used = n + 1;
    if (scan->was_reported) {
        next_line(scan, 1);
        return 0;
    }
    return end_line(scan, data, n, ret_hit);
}

int scan_feed(struct scan *scan, const char *data, size_t len, struct scan_hit *ret_hit,
              size_t *ret_used)
{
    size_t used = 0;
    int rc = 0;
    while (used < len && rc == 0) {
        size_t n;
        rc = feed_line(scan, data + used, len - used, ret_hit, &n);
        used += n;
    }
    if (ret_used)
        *ret_used = used;
    return rc;
}

int scan_partial(struct scan *scan, struct scan_hit *ret_hit)
{
    if (scan->was_reported || scan->line.len == 0)
        return 0;
    int rc = try_view(scan, kept_view(scan), ret_hit);
    if (rc == 1)
        scan->was_reported = true;
    return rc;
}

static int check_options(const struct scan_options *options, size_t window, struct err *err)
{
    size_t len = strlen(options->pattern);
    if (len == 0)
        return err_set(err, ERR_INVALID, "the pattern is empty");
    if (window < SCAN_WINDOW_MIN)
        return err_set(err, ERR_INVALID, "a window of %zu bytes, at least %d are needed", window,
                       SCAN_WINDOW_MIN);
    if (len > SCAN_PATTERN_MAX)
        return err_set(err, ERR_LIMIT, "the pattern has %zu bytes, at most %d are taken", len,
                       SCAN_PATTERN_MAX);
    if (options->is_regex)
        return 0;
    if (strchr(options->pattern, '\n'))
        return err_set(err, ERR_INVALID, "the pattern holds a newline, but lines are looked at");
    if (len > window / 2)
        return err_set(err, ERR_LIMIT, "the pattern has %zu bytes, more than half a window of %zu",
                       len, window);
    return 0;
}

/* The expression, if one is needed at all. */
static int compile(const struct scan_options *options, struct regex **ret, struct err *err)
{
    if (!options->is_regex && !options->icase)
        return 0;
    unsigned flags = 0;
    if (!options->is_regex)
        flags |= REGEX_LITERAL;
    if (options->icase)
        flags |= REGEX_ICASE;
    auto_regex struct regex *re = NULL;
    int rc = regex_compile(options->pattern, flags, &re, err);
    if (rc < 0)
        return rc;
    if (regex_size(re) > SCAN_REGEX_MAX)
        return err_set(err, ERR_LIMIT, "the regular expression '%.200s' is too large to watch for",
                       options->pattern);
    *ret = take_ptr(re);
    return 0;
}

int scan_new(const struct scan_options *options, struct scan **ret, struct err *err)
{
    size_t window = options->window ? options->window : SCAN_WINDOW_DEFAULT;
    int rc = check_options(options, window, err);
    if (rc < 0)
        return rc;

    struct regex *re = NULL;
    rc = compile(options, &re, err);
    if (rc < 0)
        return rc;
    struct scan *scan = xnew(struct scan);
    scan->re = re;
    scan->text = xstrdup(options->pattern);
    scan->text_len = strlen(options->pattern);
    scan->window = window;
    buf_init(&scan->line, window);
    *ret = scan;
    return 0;
}

void scan_reset(struct scan *scan)
{
    next_line(scan, 0);
    scan->offset = 0;
}

void scan_free(struct scan *scan)
{
    if (!scan)
        return;
    regex_free(scan->re);
    free(scan->text);
    buf_done(&scan->line);
    free(scan);
}
