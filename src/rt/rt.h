/* SPDX-License-Identifier: MIT */
/*
 * rt - the runtime: sessions, policy and record in one place, and the only gate.
 *
 * decide (policy) -> record -> run (session) -> record. Faces (control socket,
 * HTTP, MCP, workflows) reach sessions through these functions and through
 * nothing else: the modules of the faces may not include session's own calls. The types of
 * session/command.h are part of this interface (what is asked for, what there is to see of a
 * command); its functions are not.
 *
 * Sessions and commands are named by id strings; pointers handed out by rt_find_...
 * are good until the loop runs again. One loop, one thread.
 */
#ifndef RT_RT_H
#define RT_RT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/command.h"

struct buf;
struct err;
struct ev;
struct json_w;
struct rt;
struct session_kind;

/* Who asks; copied. */
struct rt_caller {
    const char *tenant; /* NULL: "default" */
    const char *origin; /* "cli", "library", "http" ... */
};

enum rt_decision { RT_ALLOW, RT_DENY, RT_ASK };

/* Decides on every command. The default allows all. */
struct rt_policy {
    enum rt_decision (*decide)(const struct rt_caller *caller, const char *session_id,
                               const struct command_spec *spec, struct err *reason, void *ctx);
    void *ctx;
};

/*
 * Records what happens, a kind each: "request" (let in, about to run), "result", "denied" (by the
 * policy) and "refused" (let in, but nothing ran: a full queue). A request that cannot be recorded
 * is refused.
 */
struct rt_record {
    int (*append)(const char *kind, const struct rt_caller *caller, const struct command *c,
                  uint64_t *ret_index, struct err *err, void *ctx);
    void *ctx;
};

/* Keeps results and sessions beyond the life of the process; see store/store.h. */
struct rt_store { /* all NULL: none */
    int (*put_session)(const char *id, const char *json, size_t json_len, const char *state,
                       size_t state_len, struct err *err, void *ctx);
    int (*del_session)(const char *id, struct err *err, void *ctx);
    int (*put_command)(const char *id, const char *session_id, const char *json, size_t len,
                       struct err *err, void *ctx);
    int (*get_command)(const char *id, struct buf *json, struct err *err, void *ctx);
    /* Calls each for all stored sessions (state may be NULL). */
    int (*each_session)(void (*each)(const char *id, const char *json, size_t json_len,
                                     const char *state, size_t state_len, void *arg),
                        void *arg, struct err *err, void *ctx);
    void *ctx;
};

struct rt_options {
    /* NULL-terminated; the first is the default. Borrowed, array and kinds: they outlive rt. */
    const struct session_kind *const *kinds;
    struct rt_policy policy;                    /* zeroed: allow all */
    struct rt_record record;                    /* zeroed: keep none */
    struct rt_store store;                      /* zeroed: memory only */
    const char *run_dir;                        /* existing and private, for short-lived files */
    const char *state_dir;                      /* spill files; NULL: memory only */
    int64_t timeout_default_ms, timeout_max_ms; /* 0: from the environment or 120 s */
    int64_t session_idle_ms;                    /* idle sessions are closed; 0: one day; -1 never */
    size_t keep_results;                        /* finished commands kept in memory; 0: 1,000 */
    /*
     * Bytes of output in files, of all commands together (0: 2 GiB). The oldest finished commands
     * lose their files first; a running one for which there is no room goes on as it does beyond
     * its own limit, and its result says so (`limit`).
     */
    uint64_t spill_max;
};

int rt_new(struct ev *ev, const struct rt_options *options, struct rt **ret_rt, struct err *err);
/* Ends all sessions and waits until nothing of them is left. */
void rt_free(struct rt *rt);

/* ---- sessions ---- */

struct rt_session_spec {
    const char *id;   /* NULL: one is made */
    const char *kind; /* NULL: the default kind */
    const char *cwd;
    const char *const *env;
    const char *state; /* start from this saved state; may be NULL */
    size_t state_len;
    bool may_exist;    /* get-or-create instead of ERR_EXISTS */
    bool temporary;    /* never stored */
    bool must_restore; /* the state is read to its end, or there is no session */
};

/*
 * ret_id (SESSION_ID_MAX bytes) gets the id. ERR_EXISTS, ERR_INVALID, ERR_LIMIT; ERR_CLOSED while
 * one of that name is closing, also with may_exist.
 */
int rt_session_open(struct rt *rt, const struct rt_caller *caller,
                    const struct rt_session_spec *spec, char *ret_id, struct err *err);
/* cb (may be NULL) is called once, when nothing of the session is left or by rt_free(). */
int rt_session_close(struct rt *rt, const char *id, void (*cb)(void *ctx), void *ctx,
                     struct err *err);
/* A new shell with default state under the same id; running commands are killed. */
int rt_session_reset(struct rt *rt, const char *id, struct err *err);
/* A second session from a copy of the state of the first. */
int rt_session_fork(struct rt *rt, const struct rt_caller *caller, const char *id,
                    const char *new_id, char *ret_id, struct err *err);
/* Named snapshots of a session's state, kept with the session. */
int rt_session_snapshot(struct rt *rt, const char *id, const char *name, struct err *err);
int rt_session_restore(struct rt *rt, const char *id, const char *name, struct err *err);
/* A session file (JSON, documented in docs/session-file.md) that opens anywhere. */
int rt_session_export(struct rt *rt, const char *id, struct buf *out, struct err *err);

/* What becomes of an import: the session is up with its state, or (err) there is none. */
typedef void (*rt_import_fn)(void *ctx, const struct err *err);

struct rt_import {
    const char *file;
    size_t len;
    const char *new_id; /* NULL: the id in the file */
    rt_import_fn cb;    /* called once, from the loop; may be NULL */
    void *ctx;
};

/*
 * Opens a session from a file. The state in it is code, and may be bad: a session whose shell does
 * not come to the end of it in time is gone again. cb is not called if this fails.
 */
int rt_session_import(struct rt *rt, const struct rt_caller *caller, const struct rt_import *import,
                      char *ret_id, struct err *err);
bool rt_session_exists(struct rt *rt, const char *id);
/* Writes one JSON object / an array of them. */
int rt_session_show(struct rt *rt, const char *id, struct json_w *w, struct err *err);
void rt_session_list(struct rt *rt, struct json_w *w);

/* ---- commands ---- */

struct rt_command_events {
    /* Live output, in order of arrival; stream is CAPTURE_STDOUT or CAPTURE_STDERR. */
    void (*on_output)(const char *id, int stream, const void *p, size_t n, void *ctx);
    /* The command ended, or yield_ms passed (running is true: it goes on). */
    void (*on_result)(const char *id, bool running, void *ctx);
    void *ctx;
};

struct rt_exec {
    const char *session_id; /* must exist */
    struct command_spec spec;
    int64_t yield_ms; /* 0: wait for the end */
    struct rt_command_events events;
};

/*
 * The gate. ret_id (COMMAND_ID_MAX bytes) gets the command's id. An error means that
 * nothing ran; ERR_DENIED, ERR_BUSY, ERR_NOT_FOUND, ERR_INVALID, ERR_LIMIT.
 */
int rt_exec(struct rt *rt, const struct rt_caller *caller, const struct rt_exec *exec, char *ret_id,
            struct err *err);
/* The caller has gone: no more events for it; the command itself goes on. */
void rt_detach(struct rt *rt, const char *id);

int rt_input(struct rt *rt, const char *id, const void *p, size_t n, struct err *err);
int rt_input_end(struct rt *rt, const char *id, struct err *err);
int rt_resize(struct rt *rt, const char *id, uint16_t rows, uint16_t cols, struct err *err);
int rt_signal(struct rt *rt, const char *id, int signal, struct err *err);
/* By the ladder; survivors of a finished command are killed. */
int rt_stop(struct rt *rt, const char *id, struct err *err);

/* Writes the result object of design.md (also of a running command, and of stored ones). */
int rt_result(struct rt *rt, const char *id, struct json_w *w, struct err *err);
/*
 * NULL if there is none. One of which only the result is stored is made anew: it has ended, and its
 * log is that of its files, or what the result shows.
 */
const struct command *rt_find_command(struct rt *rt, const char *id);
/* Its status as in the result object, and whether that is final. */
const char *rt_status_name(const struct command *c);
bool rt_has_ended(const struct command *c);
/* All of a session (NULL: of all), newest last; finished ones too if asked for. */
void rt_command_list(struct rt *rt, const char *session_id, bool all, struct json_w *w);

/* ---- logs and waits ---- */

/*
 * What rt_follow() reports: bytes, each once and in order, a gap in the place of those that are no
 * longer held, then once `end` (the command is final and its log is read).
 */
struct rt_follow_events {
    void (*on_bytes)(const char *id, int stream, uint64_t cursor, const void *p, size_t n,
                     void *ctx);
    void (*on_gap)(const char *id, uint64_t from, uint64_t to, void *ctx); /* can be NULL */
    void (*on_end)(const char *id, uint64_t cursor, void *ctx);
    void *ctx;
};
struct rt_follower;
/*
 * Reads the log from a cursor (0: the start) and, with follow, goes on until the command has
 * ended and no survivor writes to it. Bytes that are there come before the call returns.
 * rt_follow_pause() holds a slow reader back; nothing is lost but what the log itself drops.
 */
int rt_follow(struct rt *rt, const char *id, uint64_t cursor, bool follow,
              const struct rt_follow_events *events, struct rt_follower **ret_f, struct err *err);
void rt_follow_pause(struct rt_follower *f, bool paused);
void rt_follow_free(struct rt_follower *f);

enum rt_wait_what { RT_WAIT_EXIT, RT_WAIT_LOG, RT_WAIT_PORT };
enum rt_wait_end { RT_WAIT_MET, RT_WAIT_TIMEOUT, RT_WAIT_EXITED /* before it was met */ };
struct rt_wait {
    const char *id;
    enum rt_wait_what what;
    const char *pattern; /* RT_WAIT_LOG */
    bool is_regex;
    const char *host; /* RT_WAIT_PORT; NULL: 127.0.0.1 */
    uint16_t port;
    int64_t timeout_ms; /* 0: 60 s */
    /* line: what matched (RT_WAIT_LOG), else NULL. */
    void (*cb)(enum rt_wait_end end, const char *line, size_t len, void *ctx);
    void *ctx;
};
struct rt_waiter;
int rt_wait(struct rt *rt, const struct rt_wait *wait, struct rt_waiter **ret_w, struct err *err);
/* The caller has gone; cb is not called any more. */
void rt_wait_cancel(struct rt_waiter *w);

#endif
