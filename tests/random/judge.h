/* SPDX-License-Identifier: MIT */
/* judge - whether a session and `bash -c` made the same of a text. */
#ifndef TESTS_RANDOM_JUDGE_H
#define TESTS_RANDOM_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct grammar_text;

/* Why there is nothing to compare for a text, NULL if there is. */
const char *judge_excuse(const struct grammar_text *t);
/* The same for standard error alone, by the text's flags (GRAMMAR_...). */
const char *judge_excuse_err(unsigned flags);

/* Whether bash could not read all of the text, by what it says. */
bool judge_is_syntax_error(const char *err, size_t len);

/* After a syntax error: why the codes may differ. */
const char *judge_excuse_code(int code, int reference);
/* After a syntax error: why one of them may have gone on with the next line. */
const char *judge_excuse_rest(int reference);
/* Whether standard output may hold messages of bash, since the text leads one into the other. */
bool judge_mixes(const char *text, size_t len);

/* Whether what it prints is a list of all variables or options. */
bool judge_lists_shell(const char *out, size_t len);
/* Whether numbers in what it prints may be those of processes. */
bool judge_shows_pids(const char *text, size_t len);
void judge_drop_numbers(struct buf *text);

/*
 * Makes messages of a session and of bash -c comparable: drops "bash: line 3: " and
 * "bash: DIR/command: line 3: ".
 */
void judge_strip_places(const char *text, size_t len, struct buf *out);
/* Puts `to`, of the same length, in place of `from`. */
void judge_rename(struct buf *text, const char *from, const char *to);

#endif
