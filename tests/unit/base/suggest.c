/* SPDX-License-Identifier: MIT */
#include "base/suggest.h"

#include <string.h>

#include "lib/test.h"

static const char *const known[] = {"exec", "session", "result", "serve", "version", "timeout"};

/* The known word that is meant, or NULL. */
static const char *suggest(const char *word)
{
    struct suggest s = {0};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        suggest_try(&s, word, known[i], strlen(known[i]));
    return s.best;
}

TEST(one_or_two_slips_are_seen_through)
{
    CHECK_STR(suggest("exce"), "exec");
    CHECK_STR(suggest("exc"), "exec");
    CHECK_STR(suggest("exxec"), "exec");
    CHECK_STR(suggest("sessoin"), "session");
    CHECK_STR(suggest("sesion"), "session");
    CHECK_STR(suggest("tiemotu"), "timeout");
    CHECK_STR(suggest("sevre"), "serve");
}

TEST(a_beginning_is_enough)
{
    CHECK_STR(suggest("sess"), "session");
    CHECK_STR(suggest("ver"), "version");
}

TEST(what_is_far_is_not_suggested)
{
    CHECK_STR(suggest("frobnicate"), NULL);
    CHECK_STR(suggest(""), NULL);
    CHECK_STR(suggest("x"), NULL);
    CHECK_STR(suggest("abcd"), NULL);
    CHECK_STR(suggest("a-word-that-is-longer-than-any-table-would-hold"), NULL);
}

TEST(only_the_given_length_of_a_candidate_counts)
{
    struct suggest s = {0};
    suggest_try(&s, "sesion", "session open", strlen("session"));
    CHECK_MEM(s.best, (size_t)s.best_len, "session", 7);
}
