/* SPDX-License-Identifier: MIT */
/*
 * bare - the floors: the least that any program must do to use a bash.
 *
 * One bash on pipes, told what to do on its standard input, answering on descriptor
 * 3. No nonce, no state, no time limit, nobody else's processes: what nacre adds to
 * this is what it is for, and what it may cost.
 */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stddef.h>
#include <sys/types.h>

struct bare {
    pid_t pid;
    int in;       /* to bash's standard input */
    int answer;   /* from its descriptor 3 */
    int out, err; /* what commands print, through FIFOs */
    char dir[64];
};

/* Starts a bash; it has answered a first time on return. */
void bare_open(struct bare *b);
void bare_close(struct bare *b);

/* `:`, and an answer. */
void bare_colon(struct bare *b);

/* `:` as a group with three redirections; its $? and both streams are read. */
void bare_group(struct bare *b);

/* `. file` with the same redirections. */
void bare_source(struct bare *b, const char *file);

/* Starts a bash that answers once, and ends it: microseconds until the answer was there. */
double bare_start_us(void);

/* Runs a program to its end with /dev/null for all streams: microseconds. argv[0] is a path. */
double bare_run_us(const char *const argv[]);

#endif
