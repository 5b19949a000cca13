/* SPDX-License-Identifier: MIT */
#include "match/regex.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "lib/test.h"

static struct regex *compile(const char *pattern, unsigned flags)
{
    struct regex *re = NULL;
    struct err err = {0};
    if (regex_compile(pattern, flags, &re, &err) != 0)
        FAIL("%s", err.text);
    return re;
}

/* Checks where a pattern matches; start -1: nowhere. */
static void check(const char *pattern, unsigned flags, const char *text, int start, int end)
{
    auto_regex struct regex *re = compile(pattern, flags);
    size_t at = 77, behind = 77;
    int rc = regex_search(re, text, strlen(text), &at, &behind);
    CHECK_INT(rc, start >= 0);
    CHECK_INT(regex_search(re, text, strlen(text), NULL, NULL), rc);
    CHECK_INT(at, rc ? start : 77);
    CHECK_INT(behind, rc ? end : 77);
}

TEST(first_match)
{
    check("b+", 0, "abbbc bb", 1, 4);
    check("x", 0, "abc", -1, 0);
    check("", 0, "abc", 0, 0);
    check("$", 0, "abc", 3, 3);
    check("^$", 0, "", 0, 0);
    check("\\d+ (ms|s)", 0, "took 12 ms", 5, 10);
}

TEST(flags)
{
    check("HELLO", 0, "say hello", -1, 0);
    check("HELLO", REGEX_ICASE, "say hello", 4, 9);
    check("a.c", REGEX_LITERAL, "abc a.c", 4, 7);
    check("A.C", REGEX_LITERAL | REGEX_ICASE, "abc a.c", 4, 7);
    check("(", REGEX_LITERAL, "x(", 1, 2);
    check("a|ab", 0, "ab", 0, 1);
    check("a|ab", REGEX_LONGEST, "ab", 0, 2);
    check("^b$", 0, "a\nb\nc", -1, 0);
    check("^b$", REGEX_MULTILINE, "a\nb\nc", 2, 3);
    check("x|^b", REGEX_MULTILINE, "a\nb", 2, 3);
    check("^b", REGEX_MULTILINE | REGEX_LITERAL, "b ^b", 2, 4);
    check("a.b", 0, "a\nb", -1, 0);
    check("a.b", REGEX_DOTALL, "a\nb", 0, 3);
    check("a.b", 0,
          "a\xff"
          "b",
          -1, 0);
    check("a.b", REGEX_BYTES,
          "a\xff"
          "b",
          0, 3);
    check("a.b", 0,
          "a\xE2\x82\xAC"
          "b",
          0, 5);
    check("\xC3\x84", REGEX_ICASE, "\xC3\xA4", 0, 2);
}

TEST(nul_bytes_in_the_text)
{
    auto_regex struct regex *re = compile("b$", 0);
    size_t start;
    CHECK_INT(regex_search(re, "a\0b", 3, &start, NULL), 1);
    CHECK_INT(start, 2);
    CHECK_INT(regex_search(re, NULL, 0, &start, NULL), 0);
}

TEST(part_of_a_text_with_its_surroundings)
{
    auto_regex struct regex *begin = compile("^a", 0);
    auto_regex struct regex *end = compile("a$", 0);
    auto_regex struct regex *word = compile("\\ba", 0);
    struct regex_span span;
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){0, 3}, &span, 1), 1);
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){1, 3}, &span, 1), 0);
    CHECK_INT(regex_search_in(end, "aaa", 3, (struct regex_span){0, 2}, &span, 1), 0);
    CHECK_INT(regex_search_in(end, "aaa", 3, (struct regex_span){2, 3}, &span, 1), 1);
    CHECK_INT(span.start, 2);
    CHECK_INT(regex_search_in(word, "xa a", 4, (struct regex_span){1, 4}, &span, 1), 1);
    CHECK_INT(span.start, 3);
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){2, 1}, &span, 1), 0);
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){0, 4}, &span, 1), 0);
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){4, 4}, &span, 1), 0);
    CHECK_INT(regex_search_in(begin, "aaa", 3, (struct regex_span){0, 3}, NULL, 0), 1);
}

TEST(groups)
{
    auto_regex struct regex *re = compile("(a)|(b)(c?)", 0);
    struct regex_span spans[200];
    CHECK_INT(regex_groups(re), 3);
    CHECK(regex_size(re) > 3 && regex_size(re) < 50);
    CHECK_INT(regex_search_in(re, "xb", 2, (struct regex_span){0, 2}, spans, 200), 1);
    CHECK(spans[0].start == 1 && spans[0].end == 2);
    CHECK(spans[1].start == REGEX_UNSET && spans[1].end == REGEX_UNSET);
    CHECK(spans[2].start == 1 && spans[2].end == 2);
    CHECK(spans[3].start == 2 && spans[3].end == 2);
    CHECK(spans[4].start == REGEX_UNSET);
    CHECK_INT(regex_search_in(re, "b", 1, (struct regex_span){0, 1}, spans, 2), 1);
    CHECK(spans[1].start == REGEX_UNSET);
}

TEST(what_does_not_compile)
{
    static const char *const patterns[] = {"(",    ")",       "[",       "a**",    "*",
                                           "\\",   "(?<=a)b", "(a)\\1",  "a{2,1}", "[z-a]",

                                           "\xff", "\\8",     "a{1001}", "(?q)"};
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct regex *re = NULL;
        struct err err = {0};
        int rc = regex_compile(patterns[i], 0, &re, &err);
        if (rc != -ERR_SYNTAX)
            FAIL("'%s': %d", patterns[i], rc);
        CHECK(re == NULL && strlen(err.text) > 20);
    }
    struct err err;
    struct regex *re = NULL;
    CHECK_INT(regex_compile("a(b", 0, &re, &err), -ERR_SYNTAX);
    CHECK_STR(err.text, "regular expression 'a(b': missing ): a(b");
    CHECK_INT(regex_compile("a(b", 0, &re, NULL), -ERR_SYNTAX);
}

TEST(what_is_too_large)
{
    struct regex *re = NULL;
    struct err err = {0};
    CHECK_INT(regex_compile("((a{100}){100}){100}", 0, &re, &err), -ERR_SYNTAX);
    CHECK_INT(regex_compile("(\\pL{500}){2}", 0, &re, &err), -ERR_LIMIT);
    char *pattern = malloc(REGEX_PATTERN_MAX + 2);
    memset(pattern, 'a', REGEX_PATTERN_MAX + 1);
    pattern[REGEX_PATTERN_MAX + 1] = '\0';
    CHECK_INT(regex_compile(pattern, 0, &re, &err), -ERR_LIMIT);
    CHECK_STR(err.text, "the regular expression has 8193 bytes, at most 8192 are read");
    pattern[REGEX_PATTERN_MAX] = '\0';
    auto_regex struct regex *large = compile(pattern, 0);
    CHECK_INT(regex_search(large, pattern, REGEX_PATTERN_MAX, NULL, NULL), 1);
    memset(pattern, '(', REGEX_PATTERN_MAX);
    CHECK(regex_compile(pattern, 0, &re, &err) < 0);
    CHECK(re == NULL);
    free(pattern);
}

/* What takes exponential time where an engine backtracks. */
TEST_TIMEOUT(linear_time, 20)
{
    static const char *const patterns[] = {"(a|aa)+$", "(a*)*b",           "(a+)+$",
                                           "(x+x+)+y", "(.*)*(.*)*(.*)*=", "([a-z]+)*[0-9]"};
    enum { LEN = 200000 };
    char *text = malloc(LEN);
    memset(text, 'a', LEN);
    memset(text + LEN / 2, 'x', LEN / 2 - 1);
    text[LEN - 1] = '!';
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        auto_regex struct regex *re = compile(patterns[i], 0);
        CHECK_INT(regex_search(re, text, LEN, NULL, NULL), 0);
    }
    free(text);
}

TEST(free_accepts_null)
{
    regex_free(NULL);
}
