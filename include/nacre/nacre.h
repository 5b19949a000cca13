/* SPDX-License-Identifier: MIT */
/*
 * nacre - runs shell commands and says exactly how they ended.
 *
 *     struct nacre *n;
 *     struct nacre_session *s;
 *     struct nacre_result *r;
 *     nacre_open(NULL, &n, NULL);
 *     nacre_session_open(n, NULL, &s, NULL);
 *     nacre_exec(s, "cd /tmp && ls", NACRE_TEXT, NULL, &r, NULL);
 *     puts(nacre_result_output(r, NULL));
 *
 * A session is a real bash that lasts: directory, variables, functions and the like
 * stay from one command to the next, also when a command ends the shell itself. A
 * command has two streams, a real exit code or signal, and can be fed, watched and
 * stopped with all its processes. Commands of one session run one after another;
 * those started in the background run beside them.
 *
 * nacre_open() runs everything in this process, nacre_connect() in the daemon, whose
 * sessions outlive the program. All other functions work alike on both.
 *
 * Errors. Functions that return int give 0 (or a positive number where it says so),
 * or -code: an errno below 1000, else one of enum nacre_code. The last argument,
 * which may be NULL, gets an object that says more; free it with nacre_error_free().
 * It is set on failure only, and so are the other ret_... arguments on success only.
 * A command that fails is no error: its exit code is in the result.
 *
 * Ownership. What comes back through ret_... is the caller's and has a function that
 * frees it. Texts that functions return belong to the object they were asked of and
 * live as long. Arguments are borrowed for the call. Handles (session, command,
 * result) stay valid after nacre_close(); calls on them then fail with NACRE_ERR_CLOSED.
 *
 * Threads. One struct nacre, with all handles made from it, is used by one thread at
 * a time. Several of them may be used at once. No thread is started.
 *
 * Events. A call that waits also serves everything else of the same struct nacre.
 * Between such calls nothing is served: an embedded runtime reads no output and looks
 * at no time limit then. A program with a loop of its own polls nacre_poll_fd() and
 * calls nacre_dispatch(). Callbacks come from within calls of the library only. In a
 * callback handles may be freed and commands started, fed and stopped; a call that
 * would have to wait fails with NACRE_ERR_BUSY.
 *
 * Signals. SIGPIPE is set to be ignored if it was at its default. No other signal is
 * touched, and no child of the program is waited for but the library's own.
 *
 * Option structs start with their size, so that a program built for an older header
 * keeps working: {.size = sizeof(struct nacre_options)}, the rest zero. A NULL
 * pointer means all defaults.
 */
#ifndef NACRE_NACRE_H
#define NACRE_NACRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#    define NACRE_API __attribute__((visibility("default")))
#else
#    define NACRE_API
#endif

struct nacre;
struct nacre_session;
struct nacre_command;
struct nacre_result;
struct nacre_error;

/* As a length: the text ends at its NUL. */
#define NACRE_TEXT ((size_t)-1)

/* The version of the library ("1.2.3"), which may differ from that of this header. */
NACRE_API const char *nacre_version(void);

/* Frees texts that a function gave away (it says so). NULL is accepted. */
NACRE_API void nacre_free(void *text);

/* ---- errors ---- */

enum nacre_code {
    NACRE_ERR_SYNTAX = 1001, /* text that does not parse */
    NACRE_ERR_DENIED,        /* refused by policy */
    NACRE_ERR_LIMIT,         /* a declared limit was reached */
    NACRE_ERR_BUSY,          /* in use; may work later */
    NACRE_ERR_NOT_FOUND,     /* no such session, command, snapshot */
    NACRE_ERR_EXISTS,        /* the name is taken */
    NACRE_ERR_INVALID,       /* an argument that can never work */
    NACRE_ERR_TIMEOUT,       /* time ran out */
    NACRE_ERR_CLOSED,        /* the session, the runtime or the connection is closed */
    NACRE_ERR_LOST,          /* the session ended under the command */
    NACRE_ERR_SPAWN,         /* a program could not be started */
    NACRE_ERR_PROTOCOL,      /* the daemon said something out of order */
    NACRE_ERR_EXITED,        /* the command has ended already */
    NACRE_ERR_UNSUPPORTED,   /* this kernel, build or daemon cannot do it */
    NACRE_ERR_STORAGE,       /* a store could not be read or written */
    NACRE_ERR_INTERNAL,      /* a fault of nacre */
};

/* The code, positive; 0 for NULL. */
NACRE_API int nacre_error_code(const struct nacre_error *error);

/* Its name as in JSON: "not_found", "invalid_argument"; "internal" for errnos. */
NACRE_API const char *nacre_error_name(const struct nacre_error *error);

/* One line for people: what was being done and what is wrong with it. Never NULL. */
NACRE_API const char *nacre_error_message(const struct nacre_error *error);

NACRE_API void nacre_error_free(struct nacre_error *error);

/* ---- the runtime ---- */

struct nacre_options {
    size_t size;             /* sizeof(struct nacre_options) */
    const char *run_dir;     /* existing and private, for short-lived files; NULL: one is found */
    const char *state_dir;   /* existing; large outputs go there; NULL: they stay in memory, cut */
    int64_t timeout_ms;      /* of commands that name none; 0: 120,000 */
    int64_t timeout_max_ms;  /* longest that a command may ask for; 0: 120,000 */
    int64_t session_idle_ms; /* sessions unused for so long are closed; 0: one day; -1: never */
    size_t keep_results;     /* ended commands that can still be asked for; 0: 1,000 */
    size_t pool;             /* shells started ahead, so that sessions open sooner; 0: none */
};

/* Starts a runtime within this process. Its sessions end with it. NACRE_ERR_SPAWN,
 * NACRE_ERR_INVALID. */
NACRE_API int nacre_open(const struct nacre_options *options, struct nacre **ret_nacre,
                         struct nacre_error **ret_error);

/*
 * Connects to the daemon on this Unix socket. NULL: on the user's own, and the daemon is started
 * if it does not run. Sessions and background commands go on when the connection is closed.
 */
NACRE_API int nacre_connect(const char *socket, struct nacre **ret_nacre,
                            struct nacre_error **ret_error);

/*
 * Ends all sessions of an embedded runtime, with all their processes, and waits for that; closes
 * a connection. NULL is accepted.
 */
NACRE_API void nacre_close(struct nacre *nacre);

/*
 * For programs with an event loop: a descriptor that becomes readable when there is something to
 * do, and the milliseconds (-1: any time) after which nacre_dispatch() is to be called even if it
 * did not:
 *
 *     struct pollfd p = {.fd = nacre_poll_fd(n), .events = POLLIN};
 *     poll(&p, 1, nacre_poll_timeout(n));
 *     nacre_dispatch(n, NULL);
 *
 * Ask for the time again after every call of the library, just before you poll; the descriptor
 * stays the same until nacre_close(), and is the library's: poll it (epoll too), nothing else. It
 * may be readable with nothing to tell. After nacre_close() both are -1.
 */
NACRE_API int nacre_poll_fd(const struct nacre *nacre);
NACRE_API int nacre_poll_timeout(const struct nacre *nacre);

/* Does what can be done without waiting. NACRE_ERR_CLOSED when the connection is gone. */
NACRE_API int nacre_dispatch(struct nacre *nacre, struct nacre_error **ret_error);

/* ---- sessions ---- */

struct nacre_session_options {
    size_t size;            /* sizeof(struct nacre_session_options) */
    const char *id;         /* 1-64 of A-Z a-z 0-9 . _ - , no leading dot; NULL: one is made */
    const char *cwd;        /* absolute; NULL: that of this program (or of the daemon) */
    const char *const *env; /* "NAME=value"s up to a NULL, added to the default environment */
    bool may_exist;         /* a session of that id is taken as it is */
};

/*
 * Opens a session. It takes commands at once, which wait until its shell is up. NACRE_ERR_EXISTS,
 * NACRE_ERR_INVALID, NACRE_ERR_LIMIT.
 */
NACRE_API int nacre_session_open(struct nacre *nacre, const struct nacre_session_options *options,
                                 struct nacre_session **ret_session,
                                 struct nacre_error **ret_error);

/* A handle for a session that is there, say from an earlier connection. NACRE_ERR_NOT_FOUND. */
NACRE_API int nacre_session_find(struct nacre *nacre, const char *id,
                                 struct nacre_session **ret_session,
                                 struct nacre_error **ret_error);

/* The ids of all sessions, one allocation for nacre_free(); a NULL follows the last. */
NACRE_API int nacre_session_list(struct nacre *nacre, char ***ret_ids,
                                 struct nacre_error **ret_error);

NACRE_API const char *nacre_session_id(const struct nacre_session *session);

/* One JSON object about the session; for nacre_free(). */
NACRE_API int nacre_session_show(struct nacre_session *session, char **ret_json,
                                 struct nacre_error **ret_error);

/*
 * Ends the session with all its processes, background commands too, and waits until nothing of
 * it is left. The handle must still be freed.
 */
NACRE_API int nacre_session_close(struct nacre_session *session, struct nacre_error **ret_error);

/* Frees the handle only; the session goes on. NULL is accepted. */
NACRE_API void nacre_session_free(struct nacre_session *session);

/* A new shell with the state of the beginning, under the same id; what runs is killed. */
NACRE_API int nacre_session_reset(struct nacre_session *session, struct nacre_error **ret_error);

/*
 * A second session that starts from a copy of the state: directory, variables, functions,
 * aliases, options. Files are shared. new_id may be NULL.
 */
NACRE_API int nacre_session_fork(struct nacre_session *session, const char *new_id,
                                 struct nacre_session **ret_session,
                                 struct nacre_error **ret_error);

/*
 * Keeps the present state under a name, and goes back to it. Names are as ids. NACRE_ERR_NOT_FOUND;
 * NACRE_ERR_BUSY while a command runs.
 */
NACRE_API int nacre_session_snapshot(struct nacre_session *session, const char *name,
                                     struct nacre_error **ret_error);
NACRE_API int nacre_session_restore(struct nacre_session *session, const char *name,
                                    struct nacre_error **ret_error);

/*
 * The session as one file (JSON text) that can be opened elsewhere: what is copied is the state,
 * not files or processes. *ret_file is for nacre_free() and has a NUL behind its *ret_len bytes.
 */
NACRE_API int nacre_session_export(struct nacre_session *session, char **ret_file, size_t *ret_len,
                                   struct nacre_error **ret_error);

/*
 * Opens a session from such a file, and waits until its shell has read the state. new_id NULL: the
 * id in the file. NACRE_ERR_EXISTS, NACRE_ERR_SYNTAX; NACRE_ERR_INVALID for a file or a state that
 * makes no sense, NACRE_ERR_TIMEOUT for a state that takes over 10 s.
 */
NACRE_API int nacre_session_import(struct nacre *nacre, const char *file, size_t len,
                                   const char *new_id, struct nacre_session **ret_session,
                                   struct nacre_error **ret_error);

/* ---- running commands ---- */

/* Which bytes: a stream, or both in order of arrival. */
enum nacre_stream { NACRE_OUTPUT = 0, NACRE_STDOUT = 1, NACRE_STDERR = 2 };

/* Live output, as it arrives and cut anywhere. The bytes are valid during the call. */
typedef void (*nacre_output_fn)(void *ctx, enum nacre_stream stream, const char *bytes, size_t len);

/* A command has ended. The result is valid during the call. */
typedef void (*nacre_result_fn)(void *ctx, const struct nacre_result *result);

struct nacre_exec_options {
    size_t size;            /* sizeof(struct nacre_exec_options) */
    int64_t timeout_ms;     /* 0: the default; -1: none (background only) */
    int64_t grace_ms;       /* between INT, TERM and KILL when it is stopped; 0: 1,000 */
    const char *cwd;        /* for this command only; NULL: where the session is */
    const char *const *env; /* for this command only: "NAME=value"s up to a NULL */
    const void *stdin_data; /* standard input; NULL: empty */
    size_t stdin_len;       /* bytes */
    bool stdin_open;        /* more follows by nacre_command_input() */
    bool background;        /* a process of its own, from a copy of the session's state */
    bool pty;               /* its streams are one terminal; background only */
    uint16_t rows, cols;    /* of the terminal; 0: 24 by 80 */
    int64_t yield_ms; /* nacre_exec() returns after so long, with the command going on; 0: never */
    nacre_output_fn on_output; /* may be NULL */
    nacre_result_fn on_result; /* may be NULL; nacre_start() only */
    void *ctx;                 /* for both */
};

/*
 * Runs a text and waits for its end (or for yield_ms). The text may hold any bytes but NUL, up to
 * 1 MiB, and is run exactly as it is. len may be NACRE_TEXT. ret_result may be NULL. An error means
 * that nothing ran: NACRE_ERR_INVALID, NACRE_ERR_LIMIT, NACRE_ERR_DENIED, NACRE_ERR_BUSY (too many
 * wait), NACRE_ERR_CLOSED, NACRE_ERR_NOT_FOUND.
 */
NACRE_API int nacre_exec(struct nacre_session *session, const char *text, size_t len,
                         const struct nacre_exec_options *options, struct nacre_result **ret_result,
                         struct nacre_error **ret_error);

/* Starts a text and returns at once. on_output and on_result are called while the handle lives. */
NACRE_API int nacre_start(struct nacre_session *session, const char *text, size_t len,
                          const struct nacre_exec_options *options,
                          struct nacre_command **ret_command, struct nacre_error **ret_error);

/* A handle for a command by its id: of a result that was not final, or of another program. */
NACRE_API int nacre_command_find(struct nacre *nacre, const char *id,
                                 struct nacre_command **ret_command,
                                 struct nacre_error **ret_error);

/* A JSON array of the commands of a session (NULL: of all), with `all` the ended ones too. */
NACRE_API int nacre_command_list(struct nacre *nacre, const char *session_id, bool all,
                                 char **ret_json, struct nacre_error **ret_error);

/* Frees the handle only; the command goes on, and nobody is called any more. NULL is accepted. */
NACRE_API void nacre_command_free(struct nacre_command *command);

NACRE_API const char *nacre_command_id(const struct nacre_command *command);

/* Most that nacre_command_input() takes at once. */
enum { NACRE_INPUT_MAX = 1024 * 1024 };

/*
 * Bytes for its standard input, which was asked for with stdin_open or pty. They are queued: the
 * call does not wait. NACRE_ERR_BUSY if too much waits for the command to read it: nothing was
 * taken, try again later. NACRE_ERR_LIMIT above NACRE_INPUT_MAX, NACRE_ERR_INVALID if input was not
 * asked for, NACRE_ERR_EXITED.
 */
NACRE_API int nacre_command_input(struct nacre_command *command, const void *data, size_t len,
                                  struct nacre_error **ret_error);

/* Its standard input ends here. */
NACRE_API int nacre_command_input_end(struct nacre_command *command,
                                      struct nacre_error **ret_error);

/* The size of its terminal. */
NACRE_API int nacre_command_resize(struct nacre_command *command, uint16_t rows, uint16_t cols,
                                   struct nacre_error **ret_error);

/* Sends a signal to all its processes. NACRE_ERR_EXITED. */
NACRE_API int nacre_command_signal(struct nacre_command *command, int signal,
                                   struct nacre_error **ret_error);

/*
 * Stops it with all its processes: INT, then TERM, then KILL, with its grace between. Returns at
 * once; it ends as NACRE_STATUS_CANCELLED. Of an ended command it kills the survivors.
 */
NACRE_API int nacre_command_stop(struct nacre_command *command, struct nacre_error **ret_error);

/*
 * The waits below take milliseconds: -1 for any time (60 s where a port or a line is waited for),
 * 0 to look only. NACRE_ERR_TIMEOUT when it passes; the command is not touched.
 *
 * Waits for its end. ret_result may be NULL.
 */
NACRE_API int nacre_command_wait(struct nacre_command *command, int64_t timeout_ms,
                                 struct nacre_result **ret_result, struct nacre_error **ret_error);

/*
 * Waits until it has printed (now or earlier) a line that holds the pattern: plain text, or with
 * is_regex an RE2 expression. *ret_line (may be NULL) is the line, for nacre_free().
 * NACRE_ERR_EXITED if it ended without.
 */
NACRE_API int nacre_command_wait_log(struct nacre_command *command, const char *pattern,
                                     bool is_regex, int64_t timeout_ms, char **ret_line,
                                     struct nacre_error **ret_error);

/* Waits until something listens on a TCP port; host NULL: 127.0.0.1. NACRE_ERR_EXITED. */
NACRE_API int nacre_command_wait_port(struct nacre_command *command, const char *host,
                                      uint16_t port, int64_t timeout_ms,
                                      struct nacre_error **ret_error);

/* The result as it is now; of a command that runs, with what it has printed so far. */
NACRE_API int nacre_command_result(struct nacre_command *command, struct nacre_result **ret_result,
                                   struct nacre_error **ret_error);

/* What is to be read of a command's output, and what was read. */
struct nacre_log {
    size_t size;               /* sizeof(struct nacre_log) */
    uint64_t cursor;           /* where to read from, 0: the start; afterwards: where to go on */
    int64_t wait_ms;           /* if there is nothing yet, wait so long; -1: any time */
    nacre_output_fn on_output; /* gets the bytes, in order of arrival */
    void *ctx;
    uint64_t bytes; /* afterwards: how many it got */
    uint64_t lost;  /* afterwards: how many were passed over as they are no longer held */
    bool ended;     /* afterwards: nothing will follow */
};

/*
 * Reads what it has printed since a cursor. Reading on from the cursor left behind gives every byte
 * once. No error if there is nothing: bytes is 0 then.
 */
NACRE_API int nacre_command_log(struct nacre_command *command, struct nacre_log *log,
                                struct nacre_error **ret_error);

/* ---- results ---- */

enum nacre_status {
    NACRE_STATUS_QUEUED,         /* waits for its turn */
    NACRE_STATUS_NEEDS_APPROVAL, /* waits for a person */
    NACRE_STATUS_RUNNING,
    NACRE_STATUS_EXITED,   /* ended by itself; see the exit code */
    NACRE_STATUS_SIGNALED, /* ended by a signal */
    NACRE_STATUS_TIMED_OUT,
    NACRE_STATUS_CANCELLED,
    NACRE_STATUS_DENIED, /* by policy */
    NACRE_STATUS_SESSION_LOST,
    NACRE_STATUS_SPAWN_FAILED,
};

NACRE_API void nacre_result_free(struct nacre_result *result);

NACRE_API const char *nacre_result_id(const struct nacre_result *result);
NACRE_API const char *nacre_result_session_id(const struct nacre_result *result);
NACRE_API enum nacre_status nacre_result_status(const struct nacre_result *result);

/* "exited", "timed_out", ... */
NACRE_API const char *nacre_result_status_name(const struct nacre_result *result);

/* Whether it has not ended yet: the rest is what is known so far. */
NACRE_API bool nacre_result_running(const struct nacre_result *result);

/* As the shell has it: 128 + n for signal n, 124 for a timeout; -1 while it runs. */
NACRE_API int nacre_result_exit_code(const struct nacre_result *result);

/* The number of the signal that ended it; 0: none. */
NACRE_API int nacre_result_signal(const struct nacre_result *result);

/* The process of a background command; 0: none, or not known. */
NACRE_API pid_t nacre_result_pid(const struct nacre_result *result);

/*
 * What it printed; any bytes, with a NUL behind them. ret_len may be NULL. Of more than 64 KiB the
 * first and last are shown, with a line between that says how many were left out; read all of it
 * with nacre_command_log(). Never NULL.
 */
NACRE_API const char *nacre_result_output(const struct nacre_result *result, size_t *ret_len);
NACRE_API const char *nacre_result_stdout(const struct nacre_result *result, size_t *ret_len);
NACRE_API const char *nacre_result_stderr(const struct nacre_result *result, size_t *ret_len);

/* Bytes that it printed, and of these how many the texts above leave out. */
NACRE_API uint64_t nacre_result_bytes(const struct nacre_result *result, enum nacre_stream stream);
NACRE_API uint64_t nacre_result_omitted(const struct nacre_result *result,
                                        enum nacre_stream stream);

/* The session's directory afterwards; of a background command, its first. Can be NULL. */
NACRE_API const char *nacre_result_cwd(const struct nacre_result *result);

/* When it started, in ms since 1970, and how long it ran, in ms. */
NACRE_API int64_t nacre_result_started(const struct nacre_result *result);
NACRE_API double nacre_result_duration(const struct nacre_result *result);

enum nacre_flag {
    NACRE_FLAG_TIMED_OUT = 1 << 0,
    NACRE_FLAG_KILLED = 1 << 1,    /* stopped by us, and nothing of it is left */
    NACRE_FLAG_TRUNCATED = 1 << 2, /* the texts leave something out */
    NACRE_FLAG_RESTORED = 1 << 3,  /* it ran in a new shell with the session's state */
};

/* enum nacre_flag, or-ed. */
NACRE_API unsigned nacre_result_flags(const struct nacre_result *result);

/* What it used, in microseconds and bytes; -1: not known. */
NACRE_API int64_t nacre_result_user_us(const struct nacre_result *result);
NACRE_API int64_t nacre_result_system_us(const struct nacre_result *result);
NACRE_API int64_t nacre_result_maxrss(const struct nacre_result *result);

/* The limit that was reached ("memory", ...); NULL: none. */
NACRE_API const char *nacre_result_limit(const struct nacre_result *result);

/* Why it hung, was refused or could not be started, for people; NULL: nothing to say. */
NACRE_API const char *nacre_result_why(const struct nacre_result *result);

/* Processes that it left running; NULL if ret_n is 0. */
NACRE_API const pid_t *nacre_result_survivors(const struct nacre_result *result, size_t *ret_n);

/*
 * The whole object as JSON text. NULL when it can no longer be had: an embedded runtime was closed,
 * or has since forgotten the command (keep_results).
 */
NACRE_API const char *nacre_result_json(struct nacre_result *result);

#ifdef __cplusplus
}
#endif

#endif
