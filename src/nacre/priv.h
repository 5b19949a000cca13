/* SPDX-License-Identifier: MIT */
/*
 * nacre/priv - what the sources of the installed library share.
 *
 * A struct nacre is embedded (nacre/embedded.c) or connected (nacre/connected.c);
 * struct nacre_ops is what differs. Everything else is written once, above it.
 *
 * Handles hold a reference to their struct nacre. nacre_close() takes its ops away:
 * a late call fails, and no more.
 */
#ifndef NACRE_PRIV_H
#define NACRE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/list.h"
#include "nacre/nacre.h"
#include "session/command.h"
#include "session/session.h"

struct buf;
struct err;
struct json_node;
struct nacre_ops;

struct nacre {
    const struct nacre_ops *ops; /* NULL once closed */
    int refs;
    bool in_turn;         /* callbacks may be running: a call that waits is refused */
    struct list commands; /* nacre_command.link */
};

struct nacre_session {
    struct nacre *nacre;
    char id[SESSION_ID_MAX];
};

struct nacre_command {
    struct nacre *nacre;
    char id[COMMAND_ID_MAX];
    char session_id[SESSION_ID_MAX]; /* "" if it was found by its id */
    nacre_output_fn on_output;
    nacre_result_fn on_result;
    void *ctx;
    uint32_t channel;             /* connected: of its exec, 0: over, or never one */
    bool has_input;               /* connected: the channel takes input frames */
    int error;                    /* connected: why it was refused (a code), or 0 */
    struct nacre_result *fetched; /* connected: on its way to who asked for it */
    bool attached;                /* the runtime calls back for it */
    bool has_end;                 /* result is the last word */
    struct nacre_result *result;  /* at the end, or when the call yielded; else NULL */
    unsigned calls;               /* callbacks and waits of it that are running */
    bool doomed;                  /* freed meanwhile: goes when they have returned */
    struct list link;             /* nacre.commands */
};

/* The texts and numbers of one stream. */
struct result_stream {
    const char *text; /* never NULL */
    size_t len;
    uint64_t bytes, omitted;
};

struct nacre_result {
    int refs;
    struct nacre *nacre; /* where to ask for the JSON text */
    char id[COMMAND_ID_MAX];
    char session_id[SESSION_ID_MAX];
    enum nacre_status status;
    int exit_code, signal;
    unsigned flags;
    pid_t pid;
    struct result_stream streams[3]; /* by enum nacre_stream */
    const char *cwd, *limit, *why;   /* can be NULL */
    int64_t started_ms;
    double duration_ms;
    int64_t user_us, system_us, maxrss; /* -1: not known */
    const pid_t *survivors;
    size_t n_survivors;
    char *json;         /* NULL until asked for */
    struct arena arena; /* texts of a result that was read from JSON; else they lie behind */
};

/*
 * All functions get checked arguments and an option struct of this version. Those that wait are
 * called outside a turn only.
 */
struct nacre_ops {
    /* Ends everything; what is left of the struct needs only free(). */
    void (*close)(struct nacre *n);
    int (*poll_fd)(const struct nacre *n);
    int (*poll_timeout)(const struct nacre *n);
    int (*dispatch)(struct nacre *n, struct err *err);

    int (*session_open)(struct nacre *n, const struct nacre_session_options *options, char *ret_id,
                        struct err *err);
    int (*session_close)(struct nacre *n, const char *id, struct err *err); /* waits */
    int (*session_reset)(struct nacre *n, const char *id, struct err *err);
    int (*session_fork)(struct nacre *n, const char *id, const char *new_id, char *ret_id,
                        struct err *err);
    int (*session_snapshot)(struct nacre *n, const char *id, const char *name, struct err *err);
    int (*session_restore)(struct nacre *n, const char *id, const char *name, struct err *err);
    int (*session_export)(struct nacre *n, const char *id, struct buf *ret, struct err *err);
    int (*session_import)(struct nacre *n, const char *file, size_t len, const char *new_id,
                          char *ret_id, struct err *err);
    int (*session_show)(struct nacre *n, const char *id, struct buf *ret_json, struct err *err);
    int (*session_list)(struct nacre *n, struct buf *ret_json, struct err *err);

    /* Starts; events go to c, which gets its id. */
    int (*start)(struct nacre_session *s, const struct command_spec *spec, int64_t yield_ms,
                 struct nacre_command *c, struct err *err);
    /* Waits until the start is known to be good, and the id is there; NULL: at once. */
    int (*confirm)(struct nacre_command *c, struct err *err);
    /* Waits until c->result is there. */
    int (*run)(struct nacre_command *c, struct err *err);
    /* c is going: nobody calls back for it any more. */
    void (*detach)(struct nacre_command *c);
    /* Checks that a command with the id of c exists. */
    int (*find)(struct nacre_command *c, struct err *err);
    int (*list)(struct nacre *n, const char *session_id, bool all, struct buf *ret_json,
                struct err *err);
    int (*input)(struct nacre_command *c, const void *data, size_t len, struct err *err);
    int (*input_end)(struct nacre_command *c, struct err *err);
    int (*resize)(struct nacre_command *c, uint16_t rows, uint16_t cols, struct err *err);
    int (*signal)(struct nacre_command *c, int signal, struct err *err);
    int (*stop)(struct nacre_command *c, struct err *err);
    int (*wait)(struct nacre_command *c, int64_t timeout_ms, struct err *err); /* for the end */
    int (*wait_log)(struct nacre_command *c, const char *pattern, bool is_regex, int64_t timeout_ms,
                    char **ret_line, struct err *err);
    int (*wait_port)(struct nacre_command *c, const char *host, uint16_t port, int64_t timeout_ms,
                     struct err *err);
    int (*result)(struct nacre_command *c, struct nacre_result **ret_result, struct err *err);
    /* The whole object of a command as JSON. */
    int (*json)(struct nacre *n, const char *id, struct buf *ret_json, struct err *err);
    /* Fills log->cursor, bytes, lost, ended. */
    int (*log)(struct nacre_command *c, struct nacre_log *log, struct err *err);
};

enum {
    NACRE_JSON_MAX = 64 * 1024 * 1024,
    NACRE_WAIT_MS = 60000, /* for a port or a line when "any time" is asked for */
};

/* ---- runtime.c ---- */

void nacre_init(struct nacre *n, const struct nacre_ops *ops);
struct nacre *nacre_ref(struct nacre *n);
void nacre_unref(struct nacre *n);

/* Whether a call can be made: -ERR_CLOSED; and if it waits, -ERR_BUSY while a callback runs. */
int nacre_check(const struct nacre *n, bool waits, struct err *err);

/*
 * Copies an option struct of the caller's version, which starts with its size, over the zeroed one
 * of ours; NULL leaves ours zeroed. -ERR_INVALID, -ERR_UNSUPPORTED (sets what we do not know).
 */
int nacre_take_options(const void *theirs, void *ours, size_t size, struct err *err);

/* ---- error.c ---- */

/* Returns rc; if it is a failure the caller gets err as an object, unless ret_error is NULL. */
int nacre_error_give(int rc, const struct err *err, struct nacre_error **ret_error);

/* ---- command.c ---- */

void nacre_command_init(struct nacre_command *c, struct nacre *n);
void nacre_command_done(struct nacre_command *c);
/* What the runtime tells: bytes, and a result, which is taken. */
void nacre_command_output(struct nacre_command *c, int stream, const void *p, size_t len);
void nacre_command_ended(struct nacre_command *c, struct nacre_result *result_take);

/* ---- result.c ---- */

/* A result with all that a command holds now. */
struct nacre_result *nacre_result_of_command(struct nacre *n, const char *session_id,
                                             const struct command *c);
struct nacre_result *nacre_result_ref(struct nacre_result *result);
/* A result from its JSON object, of which nothing is kept. */
int nacre_result_of_node(struct nacre *n, const struct json_node *root,
                         struct nacre_result **ret_result, struct err *err);
int nacre_result_of_json(struct nacre *n, const char *json, size_t len,
                         struct nacre_result **ret_result, struct err *err);
/* What there is to say of a command that was refused after its start had been reported. */
struct nacre_result *nacre_result_of_error(struct nacre *n, const char *session_id, int code,
                                           const char *text);

#endif
