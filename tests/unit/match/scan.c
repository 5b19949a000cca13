/* SPDX-License-Identifier: MIT */
#include "match/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "lib/test.h"

static struct scan *new_scan(const char *pattern, bool is_regex, size_t window)
{
    struct scan_options options = {.pattern = pattern, .is_regex = is_regex, .window = window};
    struct scan *scan = NULL;
    struct err err = {0};
    if (scan_new(&options, &scan, &err) != 0)
        FAIL("%s", err.text);
    return scan;
}

/* Copies a word without its NUL. */
static void put(char *at, const char *word)
{
    while (*word)
        *at++ = *word++;
}

/* Feeds in pieces of this size until something matches: 1, or 0 at the end of the stream. */
static int run(struct scan *scan, const char *text, size_t len, size_t piece, struct scan_hit *hit,
               size_t *ret_used)
{
    size_t at = 0;
    while (at < len) {
        size_t n = len - at < piece ? len - at : piece;
        /* a copy of just that size, gone after the call: the hit must not depend on it */
        char *copy = xmalloc(n);
        memcpy(copy, text + at, n);
        size_t used = 0;
        int rc = scan_feed(scan, copy, n, hit, &used);
        static char line[4096];
        if (rc == 1) {
            CHECK(hit->len < sizeof(line));
            memcpy(line, hit->line, hit->len);
            line[hit->len] = '\0';
            hit->line = line;
        }
        free(copy);
        at += used;
        if (rc) {
            *ret_used = at;
            return rc;
        }
        CHECK_INT(used, n);
    }
    *ret_used = at;
    return scan_partial(scan, hit);
}

struct want {
    const char *pattern;
    const char *text;
    const char *line; /* NULL: no match */
    size_t start, end;
    uint64_t offset;
    bool is_regex, is_partial;
};

static const struct want wants[] = {
    {"ready",          "one\ntwo\nserver ready now\nmore\n", "server ready now", 7, 12, 15, false, false},
    {"ready",          "ready\n",                            "ready",            0, 5,  0,  false, false},
    {"ready",          "one\nrea\ndy\n",                     NULL,               0, 0,  0,  false, false},
    {"ready",          "one\n> ready",                       "> ready",          2, 7,  6,  false, true },
    {"READY",          "one\nready\n",                       NULL,               0, 0,  0,  false, false},
    {"a.c",            "abc\na.c\n",                         "a.c",              0, 3,  4,  false, false},
    {"^two$",          "one\ntwo\nthree\n",                  "two",              0, 3,  4,  true,  false},
    {"^two$",          "one\r\ntwo\r\nthree\r\n",            "two",              0, 3,  5,  true,  false},
    {"^two$",          "one\ntwo\r",                         "two",              0, 3,  4,  true,  true },
    {"^$",             "x\n\ny\n",                           "",                 0, 0,  2,  true,  false},
    {"^$",             "x\r\n\r\ny\n",                       "",                 0, 0,  3,  true,  false},
    {"^$",             "x\ny\n",                             NULL,               0, 0,  0,  true,  false},
    {"\\$ $",          "make\ndone\nuser$ ",                 "user$ ",           4, 6,  14, true,  true },
    {"on port (\\d+)", "x\non port 8080\n",                  "on port 8080",     0, 12, 2,  true,  false},
    {"a\\nb",          "a\nb\n",                             NULL,               0, 0,  0,  true,  false},
    {"\r",             "a\r\nb\rc\n",                        "b\rc",             1, 2,  4,  false, false},
    {"x",              "",                                   NULL,               0, 0,  0,  false, false},
    {"x",              "\n\n\n",                             NULL,               0, 0,  0,  false, false},
};

TEST(every_case_in_pieces_of_every_size)
{
    for (size_t i = 0; i < sizeof(wants) / sizeof(wants[0]); i++) {
        const struct want *want = &wants[i];
        size_t len = strlen(want->text);
        for (size_t piece = 1; piece <= len + 1; piece++) {
            AUTO(scan_free) struct scan *scan = new_scan(want->pattern, want->is_regex, 0);
            struct scan_hit hit;
            size_t used;
            int rc = run(scan, want->text, len, piece, &hit, &used);
            CHECK_INT(rc, want->line != NULL);
            if (rc != 1)
                continue;
            CHECK_MEM(hit.line, hit.len, want->line, strlen(want->line));
            CHECK_INT(hit.start, want->start);
            CHECK_INT(hit.end, want->end);
            CHECK_INT(hit.offset, want->offset);
            CHECK_INT(hit.is_partial, want->is_partial);
        }
    }
}

TEST(goes_on_behind_a_hit)
{
    static const char text[] = "a1\nb\na2\nc\na3";
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        AUTO(scan_free) struct scan *scan = new_scan("a", false, 0);
        struct scan_hit hit;
        size_t at = 0, used, len = strlen(text);
        static const uint64_t offsets[] = {0, 5, 10};
        for (int i = 0; i < 3; i++) {
            CHECK_INT(run(scan, text + at, len - at, piece, &hit, &used), 1);
            at += used;
            CHECK_INT(hit.offset, offsets[i]);
            CHECK_INT(hit.line[1], '1' + i);
        }
        CHECK_INT(at, len);
        CHECK_INT(scan_partial(scan, &hit), 0);
    }
}

TEST(partial_line_is_reported_once)
{
    AUTO(scan_free) struct scan *scan = new_scan("name", false, 0);
    struct scan_hit hit;
    CHECK_INT(scan_partial(scan, &hit), 0);
    CHECK_INT(scan_feed(scan, "user na", 7, &hit, NULL), 0);
    CHECK_INT(scan_partial(scan, &hit), 0);
    CHECK_INT(scan_feed(scan, "me: ", 4, &hit, NULL), 0);
    CHECK_INT(scan_partial(scan, &hit), 1);
    CHECK(hit.is_partial);
    CHECK_MEM(hit.line, hit.len, "user name: ", 11);
    CHECK_INT(scan_partial(scan, &hit), 0);
    CHECK_INT(scan_feed(scan, "bob\n", 4, &hit, NULL), 0);
    CHECK_INT(scan_feed(scan, "name 2\n", 7, &hit, NULL), 1);
    CHECK_INT(hit.offset, 15);
}

TEST(case_is_ignored_on_request)
{
    struct scan_options options = {.pattern = "ReAdY.", .icase = true};
    AUTO(scan_free) struct scan *scan = NULL;
    struct scan_hit hit;
    CHECK_INT(scan_new(&options, &scan, NULL), 0);
    CHECK_INT(scan_feed(scan, "ready!\nREADY.\n", 14, &hit, NULL), 1);
    CHECK_INT(hit.offset, 7);
}

enum { WINDOW = 64, LONG = 300 };

/* A line far longer than the window, with the word at one place, in pieces of many sizes. */
static void check_long_line(size_t at, bool is_regex)
{
    char text[LONG + 1];
    memset(text, '.', LONG);
    put(text + at, "ready");
    text[LONG] = '\n';
    for (size_t piece = 1; piece < sizeof(text) * 2; piece = piece * 3 + 1) {
        AUTO(scan_free) struct scan *scan = new_scan("ready", is_regex, WINDOW);
        struct scan_hit hit;
        size_t used;
        CHECK_INT(run(scan, text, sizeof(text), piece, &hit, &used), 1);
        CHECK_INT(hit.offset, at);
        CHECK_MEM(hit.line + hit.start, hit.end - hit.start, "ready", 5);
        CHECK(hit.len <= WINDOW);
    }
}

TEST(long_lines_by_windows)
{
    for (size_t at = 0; at + 5 <= LONG; at++) {
        check_long_line(at, false);
        check_long_line(at, true);
    }
}

TEST(match_of_half_a_window_is_found_anywhere)
{
    enum { HALF = WINDOW / 2 };
    char text[LONG], word[HALF + 1];
    for (int i = 0; i < HALF; i++)
        word[i] = (char)('A' + i);
    word[HALF] = '\0';
    for (size_t at = 0; at + HALF <= LONG; at++) {
        memset(text, '.', sizeof(text));
        memcpy(text + at, word, HALF);
        AUTO(scan_free) struct scan *scan = new_scan(word, false, WINDOW);
        struct scan_hit hit;
        size_t used;
        CHECK_INT(run(scan, text, sizeof(text), 7, &hit, &used), 1);
        CHECK_INT(hit.offset, at);
    }
}

TEST(ends_of_a_long_line_are_its_own)
{
    enum { LEN = 1000 };
    char text[LEN + 3];
    memset(text, 'a', LEN);
    put(text + LEN, "z\nb");
    static const struct {
        const char *pattern;
        bool found;
    } cases[] = {
        {"^a",     true },
        {"^az$",   false},
        {"[^a]^a", false},
        {"a$",     false},
        {"aa$",    false},
        {"az$",    true },
        {"^a+z$",  false}, /* longer than the window */
        {"\\baa",  true },
        {"a\\b",   false},
        {"z\\b",   true },
        {"\\bz",   false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (size_t piece = 1; piece < 2 * sizeof(text); piece = piece * 2 + 1) {
            AUTO(scan_free) struct scan *scan = new_scan(cases[i].pattern, true, 64);
            struct scan_hit hit;
            size_t used;
            if (run(scan, text, sizeof(text), piece, &hit, &used) != cases[i].found)
                FAIL("%s in pieces of %zu", cases[i].pattern, piece);
        }
    }
}

TEST(rest_of_a_long_line_is_dropped_after_a_hit)
{
    char text[1000];
    memset(text, 'x', sizeof(text));
    put(text + 500, "\nx\n");
    for (size_t piece = 1; piece < 1000; piece = piece * 2 + 1) {
        AUTO(scan_free) struct scan *scan = new_scan("x", false, 64);
        struct scan_hit hit;
        size_t used, at = 0;
        static const uint64_t offsets[] = {0, 501, 503};
        for (int i = 0; i < 3; i++) {
            CHECK_INT(run(scan, text + at, sizeof(text) - at, piece, &hit, &used), 1);
            CHECK_INT(hit.offset, offsets[i]);
            at += used;
        }
    }
}

TEST(reset_starts_a_new_stream)
{
    AUTO(scan_free) struct scan *scan = new_scan("ab", false, 64);
    struct scan_hit hit;
    char many[500];
    memset(many, '.', sizeof(many));
    CHECK_INT(scan_feed(scan, many, sizeof(many), &hit, NULL), 0);
    CHECK_INT(scan_feed(scan, "a", 1, &hit, NULL), 0);
    scan_reset(scan);
    CHECK_INT(scan_feed(scan, "b\nab\n", 5, &hit, NULL), 1);
    CHECK_INT(hit.offset, 2);
}

TEST(hit_in_the_fed_bytes_needs_no_copy)
{
    static const char text[] = "one\nready\n";
    AUTO(scan_free) struct scan *scan = new_scan("ready", false, 0);
    struct scan_hit hit;
    size_t used;
    CHECK_INT(scan_feed(scan, text, strlen(text), &hit, &used), 1);
    CHECK(hit.line == text + 4);
    CHECK_INT(used, 10);
    CHECK_INT(scan_feed(scan, NULL, 0, &hit, &used), 0);
}

TEST(options_that_cannot_work)
{
    char long_text[100];
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    static const struct {
        struct scan_options options;
        int rc;
    } cases[] = {
        {{.pattern = ""},                    -ERR_INVALID},
        {{.pattern = "", .is_regex = true},  -ERR_INVALID},
        {{.pattern = "a\nb"},                -ERR_INVALID},
        {{.pattern = "a", .window = 10},     -ERR_INVALID},
        {{.pattern = "(", .is_regex = true}, -ERR_SYNTAX },
    };
    struct scan *scan = NULL;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct err err = {0};
        CHECK_INT(scan_new(&cases[i].options, &scan, &err), cases[i].rc);
        CHECK(err.text[0] && !scan);
    }
    struct scan_options options = {.pattern = long_text, .window = 64};
    CHECK_INT(scan_new(&options, &scan, NULL), -ERR_LIMIT);

    char longest[SCAN_PATTERN_MAX + 2];
    memset(longest, 'x', sizeof(longest));
    longest[SCAN_PATTERN_MAX + 1] = '\0';
    options = (struct scan_options){.pattern = longest};
    CHECK_INT(scan_new(&options, &scan, NULL), -ERR_LIMIT);
    longest[SCAN_PATTERN_MAX] = '\0';
    CHECK_INT(scan_new(&options, &scan, NULL), 0);
    scan_free(scan);
    scan_free(NULL);
}
