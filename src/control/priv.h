/* SPDX-License-Identifier: MIT */
/*
 * control/priv - what the files of control share.
 *
 * A connection has channels, one per request that is not answered yet. A channel is
 * freed by its answer, or with its connection. Connections are freed by the loop, never
 * from within a call: whoever writes to one that has failed just goes on.
 */
#ifndef CONTROL_PRIV_H
#define CONTROL_PRIV_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/strv.h"
#include "control/control.h"
#include "ev/ev.h"
#include "json/write.h"
#include "rt/rt.h"
#include "wire/frame.h"
#include "wire/proto.h"

struct json_node;

/* What rt/rt.h calls SESSION_ID_MAX. */
enum { CONTROL_SESSION_ID_SIZE = 65 };

enum {
    CONTROL_CONNS_MAX = 1024,
    CONTROL_OUT_MAX = 64 * 1024 * 1024, /* a connection that lets so much pile up is closed */
    CONTROL_ARENA_MAX = 128 * 1024 * 1024,
};

struct control {
    struct ev *ev;
    struct rt *rt;
    struct control_options o;
    char *path, *version, *state_dir, *notice;
    int fd;
    struct ev_fd watch;
    struct ev_timer accept_again;
    struct list conns; /* conn.link */
    size_t n_conns;
    struct list runs;   /* control_run.link */
    struct arena arena; /* of the request that is being handled */
    int64_t started_ms;
    uint64_t started_ns;
};

struct conn {
    struct control *control;
    struct list link; /* control.conns */
    int fd;
    struct ev_fd watch;
    struct wire_decoder in;
    struct buf out;
    size_t out_at;        /* bytes of out that were sent */
    struct list channels; /* channel.link */
    size_t n_channels;
    bool said_hello;
    bool ending;            /* closes when out is sent */
    bool dead;              /* the loop will free it */
    bool full;              /* its followers are paused */
    size_t burst;           /* bytes of output since the last breath */
    struct ev_timer breath; /* lets others have their turn */
    bool flush_is_due;
    bool handling; /* requests; no second time from within */
};

/* An exec whose end somebody waits for: a channel, or the one-shot session to be closed. */
struct control_run {
    struct control *control;
    struct list link;        /* control.runs */
    struct channel *channel; /* NULL: answered, or the client has gone */
    char id[COMMAND_ID_MAX];
    char session[CONTROL_SESSION_ID_SIZE];
    bool one_shot;
    bool ended;          /* the command is final */
    uint64_t end_cursor; /* of its log then; a stream comes that far before the answer */
    struct ev_timer yield;
};

/* Output on its way to a channel. */
struct control_stream {
    struct rt_follower *follower; /* NULL: none */
    uint64_t cursor;              /* of the next byte */
    uint64_t left;                /* bytes that are still wanted */
    uint64_t target;              /* where a reader that does not follow stops */
    int filter;                   /* CAPTURE_OUTPUT: both */
    bool is_logs;                 /* its end is the answer */
    char id[COMMAND_ID_MAX];
};

/* Input on its way from a channel. */
struct control_input {
    struct channel *channel;
    char id[COMMAND_ID_MAX];
    struct buf held;   /* what the command had no room for */
    uint64_t received; /* bytes, all together */
    uint64_t told;     /* of these the client knows that they are taken */
    bool end;          /* nothing follows */
    bool closed;       /* the command takes no more: the rest is dropped */
    bool answers;      /* the channel is over when the input is */
    struct ev_timer again;
};

struct control_closer;

struct channel {
    struct conn *conn;
    struct list link; /* conn.channels */
    uint32_t id;
    struct control_run *run; /* can be NULL, as all below */
    struct control_input *input;
    struct control_stream *stream;
    struct rt_waiter *waiter;
    struct control_closer *closer; /* a session that is being closed or imported */
};

/* ---- requests ---- */

enum request_field {
    FIELD_PROTOCOL,
    FIELD_CLIENT,
    FIELD_SESSION,
    FIELD_NEW_SESSION,
    FIELD_NAME,
    FIELD_KIND,
    FIELD_CWD,
    FIELD_START_CWD,
    FIELD_ENV,
    FIELD_TEXT,
    FIELD_STDIN,
    FIELD_DATA,
    FIELD_STATE,
    FIELD_FILE,
    FIELD_CREATE,
    FIELD_BACKGROUND,
    FIELD_WAIT,
    FIELD_STDIN_OPEN,
    FIELD_PTY,
    FIELD_STREAM,
    FIELD_ALL,
    FIELD_FOLLOW,
    FIELD_END,
    FIELD_REGEX,
    FIELD_MAY_EXIST,
    FIELD_ROWS,
    FIELD_COLS,
    FIELD_PORT,
    FIELD_TIMEOUT,
    FIELD_GRACE,
    FIELD_YIELD,
    FIELD_CURSOR,
    FIELD_MAX,
    FIELD_ID,
    FIELD_CHANNEL,
    FIELD_SIGNAL,
    FIELD_UNTIL,
    FIELD_PATTERN,
    FIELD_HOST,
    FIELD_FILTER,
    N_FIELDS
};

#define FIELD_BIT(field) ((uint64_t)1 << (field))

struct request_bytes {
    const char *p; /* NULL: not given */
    size_t len;
};

struct request {
    const char *op;
    uint64_t given; /* bits of enum request_field */
    const char *client, *session, *new_session, *name, *kind, *cwd, *start_cwd;
    const char *id, *until, *pattern, *host, *filter;
    struct request_bytes text, stdin_data, data, state, file;
    const char *const *env; /* NULL-terminated; NULL: not given */
    bool create, background, wait, stdin_open, pty, stream, all, follow, end, regex, may_exist;
    int64_t protocol, rows, cols, port, timeout_ms, grace_ms, yield_ms, cursor, max, channel;
    int signal;
};

/* request.c: reads the fields that are allowed (bits); all pointers are into the arena. */
int request_read(const struct json_node *root, uint64_t allowed, uint64_t required,
                 struct arena *arena, struct request *ret, struct err *err);

/* A handler answers, now or later, or returns an error, which is answered for it. */
typedef int (*op_fn)(struct channel *ch, const struct request *req, struct err *err);

/* ops.c: handles one request of a new channel. */
void ops_handle(struct channel *ch, const struct wire_frame *frame);

int op_hello(struct channel *ch, const struct request *req, struct err *err);
int op_status(struct channel *ch, const struct request *req, struct err *err);
int op_shutdown(struct channel *ch, const struct request *req, struct err *err);
int op_detach(struct channel *ch, const struct request *req, struct err *err);
int op_exec(struct channel *ch, const struct request *req, struct err *err);
int op_input(struct channel *ch, const struct request *req, struct err *err);
int op_input_end(struct channel *ch, const struct request *req, struct err *err);
int op_resize(struct channel *ch, const struct request *req, struct err *err);
int op_signal(struct channel *ch, const struct request *req, struct err *err);
int op_stop(struct channel *ch, const struct request *req, struct err *err);
int op_result(struct channel *ch, const struct request *req, struct err *err);
int op_ps(struct channel *ch, const struct request *req, struct err *err);
int op_logs(struct channel *ch, const struct request *req, struct err *err);
int op_wait(struct channel *ch, const struct request *req, struct err *err);
int op_session_open(struct channel *ch, const struct request *req, struct err *err);
int op_session_list(struct channel *ch, const struct request *req, struct err *err);
int op_session_show(struct channel *ch, const struct request *req, struct err *err);
int op_session_close(struct channel *ch, const struct request *req, struct err *err);
int op_session_reset(struct channel *ch, const struct request *req, struct err *err);
int op_session_fork(struct channel *ch, const struct request *req, struct err *err);
int op_session_snapshot(struct channel *ch, const struct request *req, struct err *err);
int op_session_restore(struct channel *ch, const struct request *req, struct err *err);
int op_session_export(struct channel *ch, const struct request *req, struct err *err);
int op_session_import(struct channel *ch, const struct request *req, struct err *err);

extern const struct rt_caller control_caller;

/* ---- connections ---- */

/* Takes fd. */
void conn_new(struct control *control, int fd);
void conn_free(struct conn *conn);
/* Nothing more is read or written; the loop frees it. */
void conn_kill(struct conn *conn);
/* Closes it with an error on channel 0 once that is sent. */
void conn_refuse(struct conn *conn, const struct err *err);
/* Writes what is queued, as far as it goes now. */
void conn_flush(struct conn *conn);

/* output.c: puts frames into the queue, to be written at the end of the loop's turn. */
void conn_put_output(struct channel *ch, enum wire_type type, uint64_t cursor, const void *p,
                     size_t n);
/* Something was put into out by hand; rc of doing so. */
void conn_has_output(struct conn *conn, int rc);
size_t conn_queued(const struct conn *conn);
/* Drops what was sent. */
void conn_sent(struct conn *conn, size_t n);
/* Pauses or resumes the followers of its channels by how much is queued. */
void conn_balance(struct conn *conn);

/* ---- channels ---- */

struct channel *channel_new(struct conn *conn, uint32_t id);
struct channel *channel_find(const struct conn *conn, uint32_t id);
/* Lets go of all it waits for; commands go on. */
void channel_free(struct channel *ch);

/* answer.c. Answers free the channel. */
struct answer {
    struct channel *ch;
    size_t start;
    struct json_w w;
};
/* {"result": ...}: the caller writes one value between begin and end. */
struct json_w *answer_begin(struct answer *a, struct channel *ch);
void answer_end(struct answer *a);
/* Ends what was begun with an error instead. */
void answer_abort(struct answer *a, const struct err *err);
void answer_empty(struct channel *ch);
void answer_session(struct channel *ch, const char *id);
void answer_error(struct channel *ch, const struct err *err);
/* The result object of a command. */
void answer_result(struct channel *ch, const char *id);
/* Events: the caller writes more fields of the object between begin and end. */
struct json_w *event_begin(struct answer *a, struct channel *ch, const char *name);
void event_end(struct answer *a);

/* ---- what channels wait for ---- */

/* op_exec.c */
void run_free(struct control_run *run);
/* Answers if all that must come before has been sent. */
void run_check(struct control_run *run);
void run_leave(struct control_run *run);

/* stream.c: starts to send output; the channel has none yet. */
int stream_start(struct channel *ch, const char *id, const struct control_stream *stream,
                 struct err *err);
void stream_stop(struct channel *ch);
void stream_pause(struct channel *ch, bool paused);
/* op_logs.c */
void logs_finish(struct channel *ch);

/* input.c */
void input_start(struct channel *ch, const char *id, bool answers);
void input_take(struct channel *ch, const void *p, size_t n);
void input_take_end(struct channel *ch);
void input_stop(struct channel *ch);

/* op_session.c */
void closer_leave(struct control_closer *closer);

#endif
