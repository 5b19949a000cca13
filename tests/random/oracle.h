/* SPDX-License-Identifier: MIT */
/*
 * oracle - what `bash -c` makes of a text: the reference for sessions.
 *
 * A process of its own runs the texts, each in a new session and an empty
 * directory, so that it can work while the session under test does, and so that
 * all a text leaves running can be found and ended.
 */
#ifndef TESTS_RANDOM_ORACLE_H
#define TESTS_RANDOM_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct oracle;

enum { ORACLE_TEXT_MAX = 100 * 1024 }; /* execve(2) takes 128 KiB an argument */

struct oracle_answer {
    int code; /* 128+n for a signal */
    bool timed_out;
    struct buf out, err;
};

/* `dir` is made anew for each text; env is that of each bash. */
struct oracle *oracle_new(const char *dir, const char *const *env);
/* Begins with a text; oracle_take() waits for what came of it. */
void oracle_ask(struct oracle *o, const char *text, size_t len, int limit_ms);
void oracle_take(struct oracle *o, struct oracle_answer *ret);
void oracle_answer_done(struct oracle_answer *a);
void oracle_free(struct oracle *o);

#endif
