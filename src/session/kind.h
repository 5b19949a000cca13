/* SPDX-License-Identifier: MIT */
/*
 * session/kind - what a kind of session must do (the implementer's side).
 *
 * The session calls the kind; the kind answers by the session_kind_... and
 * command_... functions. A kind is given one foreground command at a time.
 */
#ifndef SESSION_KIND_H
#define SESSION_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct err;
struct session;

/* The rungs of the ladder, in order. */
enum session_stop_stage {
    SESSION_STOP_NONE,
    SESSION_STOP_INT,
    SESSION_STOP_TERM,
    SESSION_STOP_KILL,
    SESSION_STOP_LOST, /* even KILL brought no end: give the command up */
};

struct session_kind {
    const char *name; /* "bash" */
    void *engine;     /* what all sessions of the kind share; the kind's own */
    int (*open)(struct session *s, struct err *err);
    /* Runs c in the shell. command_started() and session_kind_done() follow. */
    int (*start)(struct session *s, struct command *c, struct err *err);
    /* Runs c as a process of its own from a copy of the state. */
    int (*start_background)(struct session *s, struct command *c, struct err *err);
    int (*input)(struct command *c, const void *p, size_t n, struct err *err);
    int (*input_end)(struct command *c, struct err *err);
    int (*resize)(struct command *c, uint16_t rows, uint16_t cols, struct err *err);
    int (*signal)(struct command *c, int signal, struct err *err);
    /* One rung of the ladder; the end is told by session_kind_done(). */
    void (*stop)(struct command *c, enum session_stop_stage stage);
    /*
     * What a running command is doing, in one line for people (malloc'd), or NULL. needs_input: a
     * process of it is blocked in reading from its terminal or from its standard input. The call
     * may be NULL.
     */
    char *(*why)(struct command *c, bool *ret_needs_input);
    /* Kills what outlived a finished command; returns how many. */
    int (*kill_survivors)(struct command *c, struct err *err);
    /* Drops what the kind keeps for c (its last reference is going). */
    void (*forget)(struct command *c);
    /* Replaces the shell of an idle session by one with this state. */
    int (*restore)(struct session *s, const char *state, size_t len, struct err *err);
    /* Ends all; session_kind_closed() follows. */
    void (*close)(struct session *s);
    /* Frees the kind's part at once. */
    void (*free)(struct session *s);
};

/* How a kind reports the end of a command. */
struct session_outcome {
    int exit_code;
    int signal;        /* 0: none */
    bool lost;         /* the shell vanished and the command has no exit code */
    bool spawn_failed; /* it never ran */
    bool killed;       /* the ladder ended it and nothing of it is left */
};

void session_kind_done(struct command *c, const struct session_outcome *outcome);
/*
 * The shell is ready for the next foreground command. While session.must_restore is set it has read
 * its state to the end, else the kind tells session_kind_lost(): no other state takes its place.
 */
void session_kind_ready(struct session *s);
/* The shell's directory and state as last seen; state may be NULL (unchanged). */
void session_kind_state(struct session *s, const char *state, size_t len);
void session_kind_cwd(struct session *s, const char *cwd);
void session_kind_lost(struct session *s, const struct err *err);
void session_kind_closed(struct session *s);

#endif
