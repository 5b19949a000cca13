/* SPDX-License-Identifier: MIT */
/*
 * session - a named place where commands run one after another and keep state.
 *
 * This is the user's side; session/kind.h is the implementer's. Foreground
 * commands queue here (bounded) and run one at a time. The ladder that stops a
 * command (INT, grace, TERM, grace, KILL) lives here as well, so that every kind
 * stops in the same way.
 *
 * One loop, one thread: everything is called and calls back in the loop's thread.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/strv.h"
#include "session/command.h"

struct capture_budget;
struct err;
struct ev;
struct ev_timer;
struct buf;
struct session_kind;

enum {
    SESSION_ID_MAX = 65, /* with the NUL; base/path.h says which bytes */
    SESSION_QUEUE_MAX = 64,
    SESSION_BACKGROUND_MAX = 256,
};

struct session_spec {
    const char *id;         /* a safe name, see path_is_safe_name() */
    const char *cwd;        /* NULL: the directory of the program */
    const char *const *env; /* added to the allow-listed environment; may be NULL */
    const char *state;      /* a saved state to start from; may be NULL */
    size_t state_len;
    bool must_restore;   /* the first shell reads that state to its end, or the session is lost */
    const char *run_dir; /* where the kind may put short-lived files (FIFOs) */
    int spill_dir;       /* directory for large output, borrowed; -1: memory only */
    struct capture_budget *spill_budget;        /* borrowed; can be NULL */
    size_t queue_max;                           /* 0: SESSION_QUEUE_MAX */
    int64_t timeout_default_ms, timeout_max_ms; /* 0: COMMAND_TIMEOUT_... */
};

struct session_events {
    /* The kind failed to open, or the shell was lost and could not be restored. */
    void (*on_lost)(struct session *s, const struct err *err, void *ctx);
    /* A new saved state is there (session_state()). */
    void (*on_state)(struct session *s, void *ctx);
    /* All commands are done and nothing is left running; s may be freed in it. */
    void (*on_closed)(struct session *s, void *ctx);
    /* The first shell has read the state of spec.must_restore. May be NULL. */
    void (*on_restored)(struct session *s, void *ctx);
    void *ctx;
};

struct session {
    char id[SESSION_ID_MAX];
    const struct session_kind *kind;
    struct ev *ev;
    char *cwd; /* as last reported; where a new shell starts */
    struct strv env;
    char *run_dir;
    int spill_dir; /* borrowed; -1: none */
    struct capture_budget *spill_budget;
    const char *const *isolation; /* active layers, NULL-terminated; NULL: none */
    int64_t timeout_default_ms, timeout_max_ms;
    struct list queue; /* command.link; waiting foreground commands */
    size_t n_queued, queue_max;
    struct command *current; /* the foreground command that runs, or NULL */
    struct list background;  /* command.link */
    size_t n_background;
    char *state; /* the last saved state, can be NULL */
    size_t state_len;
    bool must_restore; /* its first shell has not read its state yet, and has to */
    bool ready;        /* the kind takes the next foreground command */
    bool closing;
    uint64_t last_used_ns; /* monotonic, for the idle limit */
    struct session_events events;
    void *kind_data;
};

/* Opens a session; it takes commands at once (they wait until the kind is ready). */
int session_open(struct ev *ev, const struct session_kind *kind, const struct session_spec *spec,
                 const struct session_events *events, struct session **ret_s, struct err *err);

/*
 * Runs c, which gains a reference: in its turn if foreground, at once if background. ERR_BUSY when
 * the queue is full, ERR_CLOSED when the session is closing.
 */
int session_submit(struct session *s, struct command *c, struct err *err);

/* Bytes for the standard input of c. ERR_EXITED (with its end in the text), ERR_CLOSED. */
int session_input(struct command *c, const void *p, size_t n, struct err *err);
int session_input_end(struct command *c, struct err *err);
int session_resize(struct command *c, uint16_t rows, uint16_t cols, struct err *err);
/* One signal to all processes of c (and to its shell if that runs it). */
int session_signal(struct command *c, int signal, struct err *err);

/*
 * Stops c by the ladder and lets it end in the given state (COMMAND_CANCELLED,
 * COMMAND_TIMED_OUT). A queued command ends at once. Stopping twice goes on with
 * the next step of the ladder at once.
 */
int session_stop(struct command *c, enum command_state end, struct err *err);
/* What c is doing if it runs, see session_kind.why; NULL when nothing can be said. */
char *session_why(struct command *c, bool *ret_needs_input);
/* Kills the processes that outlived c; the number of those killed. */
int session_kill_survivors(struct command *c, struct err *err);

/* The last saved state (borrowed), or NULL when none was taken yet. */
const char *session_state(const struct session *s, size_t *ret_len);
/* Replaces the state of an idle session; ERR_BUSY when a command runs. */
int session_restore(struct session *s, const char *state, size_t len, struct err *err);

/* Ends everything of s; on_closed follows. */
void session_close(struct session *s);
/* Nothing more is started or told; session_free() follows when s is not in a call any more. */
void session_discard(struct session *s);
/* Frees s at once, killing what is left. Not from within a callback of s or its commands. */
void session_free(struct session *s);

#endif
