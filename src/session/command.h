/* SPDX-License-Identifier: MIT */
/*
 * session/command - one text run in a session: its request, its life, its result.
 *
 * A command is either foreground (runs in the session's own shell, changes its
 * state, one at a time) or background (a process of its own that starts from a
 * copy of the session's state; any number at a time).
 *
 *   queued -> running -> exited | signaled | timed_out | cancelled | session_lost
 *   queued -> denied | spawn_failed | cancelled
 *
 * The last state is final and is set exactly once. Output may still arrive after
 * it, from background children that hold the command's descriptors: it goes to
 * the command's log, never to its result.
 */
#ifndef SESSION_COMMAND_H
#define SESSION_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"
#include "base/strv.h"
#include "ev/ev.h"

struct capture_log;
struct err;
struct session;

enum {
    COMMAND_ID_MAX = 32,
    COMMAND_TEXT_MAX = 1024 * 1024,   /* bytes; the declared maximum of promise 1 */
    COMMAND_TIMEOUT_DEFAULT = 120000, /* ms */
    COMMAND_TIMEOUT_MAX = 120000,     /* ms */
    COMMAND_ENV_MAX = 1024 * 1024,
    COMMAND_BACKGROUND_MAX = 24 * 3600 * 1000, /* ms; the default age of a background command */
    COMMAND_GRACE_DEFAULT = 1000,              /* ms between INT, TERM and KILL */
};

enum command_state {
    COMMAND_QUEUED,
    COMMAND_NEEDS_APPROVAL,
    COMMAND_RUNNING,
    COMMAND_EXITED,
    COMMAND_SIGNALED,
    COMMAND_TIMED_OUT,
    COMMAND_CANCELLED,
    COMMAND_DENIED,
    COMMAND_SESSION_LOST,
    COMMAND_SPAWN_FAILED,
};

/* The name on the wire ("timed_out"). */
const char *command_state_name(enum command_state state);
/* The state of that name, -1 if there is none. */
int command_state_find(const char *name);
bool command_state_is_final(enum command_state state);

/* What is asked for. All pointers are borrowed for the call that takes the spec. */
struct command_spec {
    const char *text; /* bytes; need not be NUL-terminated */
    size_t text_len;
    const char *cwd;        /* for this command only; NULL: the session's */
    const char *const *env; /* NULL-terminated "K=V" for this command only; may be NULL */
    const char *stdin_data; /* given at the start; may be NULL */
    size_t stdin_len;
    bool stdin_open; /* more input follows: command_input() until its end */
    bool background;
    bool pty; /* background only: all three streams are one terminal */
    uint16_t rows, cols;
    int64_t timeout_ms; /* 0: the default; -1: none (background only) */
    int64_t grace_ms;   /* 0: the default */
};

struct command_usage {
    int64_t user_us;      /* -1: not known */
    int64_t system_us;    /* -1: not known */
    int64_t maxrss_bytes; /* -1: not known */
    int64_t processes;    /* processes started, -1: not known */
};

struct command {
    char id[COMMAND_ID_MAX];
    struct session *session; /* NULL once the session is gone */
    enum command_state state;
    bool background;
    bool pty;
    bool stdin_open;
    uint16_t rows, cols;

    char *text;
    size_t text_len;
    char *cwd;       /* requested, can be NULL */
    struct strv env; /* requested */
    char *stdin_data;
    size_t stdin_len;

    int64_t timeout_ms; /* -1: none */
    int64_t grace_ms;
    bool timeout_clamped; /* asked for more than the maximum */

    struct capture_log *log;
    int64_t queued_ms;             /* wall clock */
    int64_t started_ms;            /* wall clock, 0 before */
    uint64_t started_ns, ended_ns; /* monotonic */

    /* The result; valid in a final state. */
    int exit_code;
    int signal; /* 0: none */
    bool timed_out, killed, session_restored;
    const char *limit; /* static text or NULL */
    char *why;         /* one line for people, can be NULL */
    bool needs_input;  /* with why: it was waiting for input */
    char *result_cwd;  /* the session's directory afterwards, can be NULL */
    pid_t pid;         /* background: the process; 0: not known */
    pid_t *survivors;
    uint64_t *survivor_starts; /* clock ticks after boot; with the pid they name a process */
    size_t n_survivors;
    struct command_usage usage;
    uint64_t audit_index;

    /*
     * Who wants to know. on_final comes once. on_output comes after it as well, when survivors
     * write; on_quiet comes once, when the command is final and nobody can write any more.
     */
    void (*on_output)(struct command *c, int stream, const void *p, size_t n, void *ctx);
    void (*on_final)(struct command *c, void *ctx);
    void (*on_quiet)(struct command *c, void *ctx);
    void *ctx;
    bool quiet; /* on_quiet was called */

    struct list link; /* session.queue or session.background */
    int refs;
    int open_tails;       /* pipes that survivors still hold */
    size_t stdin_pending; /* bytes of input that wait for the command to read; bounded */
    /* Set while a stop is under way, see session/stop.c. */
    int stop_stage;                /* enum session_stop_stage */
    enum command_state stop_state; /* the final state a stop leads to */
    struct ev_timer timer;         /* time limit, then the ladder's */
    void *kind_data;               /* of the session's kind, e.g. its channels */
};

/* Checks a spec: ERR_INVALID naming the field and what was expected, ERR_LIMIT. */
int command_spec_check(const struct command_spec *spec, struct err *err);

/* Copies a checked spec into a new command with one reference. */
struct command *command_new(const struct command_spec *spec);
struct command *command_ref(struct command *c);
void command_unref(struct command *c);

/* For kinds and the session: what happens to a command. */
void command_started(struct command *c);
void command_output(struct command *c, int stream, const void *p, size_t n);
/* Sets the final state and tells on_final; a second call is ignored. */
void command_finish(struct command *c, enum command_state state, int exit_code, int signal);
/* No descriptor of the command is held by anyone any more. */
void command_quiet(struct command *c);

#endif
