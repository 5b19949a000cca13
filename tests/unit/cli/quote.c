/* SPDX-License-Identifier: MIT */
#include "cli/quote.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "lib/test.h"

static void quotes(const char *const *words, size_t n, const char *expected)
{
    auto_buf struct buf out = BUF_INIT(4096);
    CHECK_INT(cli_quote_words(words, n, &out), 0);
    CHECK_STR(buf_cstr(&out), expected);
}

#define QUOTES(expected, ...)                                                                      \
    do {                                                                                           \
        const char *words_[] = {__VA_ARGS__};                                                      \
        quotes(words_, sizeof(words_) / sizeof(words_[0]), expected);                              \
    } while (0)

TEST(plain_words_stay)
{
    QUOTES("'ls' -l /tmp/a.txt --sort=size", "ls", "-l", "/tmp/a.txt", "--sort=size");
}

TEST(what_a_shell_would_read_is_quoted)
{
    QUOTES("'ls' 'a b' '$HOME' '`id`' '*' '~' ';' ''", "ls", "a b", "$HOME", "`id`", "*", "~", ";",
           "");
    QUOTES("'echo' 'it'\\''s' ''\\'''\\'''", "echo", "it's", "''");
    QUOTES("'echo' 'a\nb' '\\' '\"' '!x' '#' '{a,b}'", "echo", "a\nb", "\\", "\"", "!x", "#",
           "{a,b}");
}

/* As the first word these would be an assignment, an alias, a reserved word. */
TEST(the_first_word_is_always_a_command)
{
    QUOTES("'A=b'", "A=b");
    QUOTES("'if' x", "if", "x");
    QUOTES("''", "");
}

TEST(what_does_not_fit_is_refused)
{
    auto_buf struct buf out = BUF_INIT(8);
    const char *words[] = {"echo", "hello"};
    CHECK_INT(cli_quote_words(words, 2, &out), -ERR_LIMIT);
}
