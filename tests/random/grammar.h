/* SPDX-License-Identifier: MIT */
/*
 * grammar - texts that are hard on a shell, made from a seed.
 *
 * A text is one to six pieces, each perhaps wrapped (in a subshell, a function, a
 * loop ...), joined by an operator, and now and then damaged at a random byte.
 */
#ifndef TESTS_RANDOM_GRAMMAR_H
#define TESTS_RANDOM_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* What a text does that a judge must know. */
enum {
    /* Names that a probe would use mean something else from now on. */
    GRAMMAR_REDEFINES = 1 << 0,
    /* What it prints, or how it ends, is decided by who is faster. */
    GRAMMAR_RACES = 1 << 1,
    /* The same on stderr only. */
    GRAMMAR_RACES_ERR = 1 << 2,
    /* What an interactive bash does in another way, as its manual says. */
    GRAMMAR_INTERACTIVE = 1 << 3,
    /* A session goes on where bash -c ends: traps on EXIT and RETURN, `return` itself. */
    GRAMMAR_END = 1 << 4,
    /* Where the text stands can be seen: LINENO, BASH_SOURCE, `caller`. */
    GRAMMAR_PLACE = 1 << 5,
    /* It may well run until it is stopped. */
    GRAMMAR_ENDLESS = 1 << 6,
    /* A trap runs, and prints, at commands of others too. */
    GRAMMAR_TRAPS = 1 << 7,
    /* A limit binds what the session itself has to write, too. */
    GRAMMAR_LIMITS = 1 << 8,
    /* It takes from the session's own lines what they need, for good. */
    GRAMMAR_LOSES = 1 << 9,
    /* A byte was changed: the other flags are of the text before. */
    GRAMMAR_DAMAGED = 1 << 10,
};

struct grammar {
    uint64_t state; /* of the random numbers */
};

struct grammar_text {
    struct buf bytes;
    unsigned flags;
    bool has_nul; /* to be refused */
};

void grammar_init(struct grammar *g, uint64_t seed);
/* A number below n. */
unsigned grammar_below(struct grammar *g, unsigned n);
void grammar_next(struct grammar *g, struct grammar_text *ret);
void grammar_text_done(struct grammar_text *t);

#endif
