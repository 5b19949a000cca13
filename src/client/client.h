/* SPDX-License-Identifier: MIT */
/*
 * client - the other end of the daemon's socket (wire/proto.h says what is spoken).
 *
 * Connecting starts a daemon if none runs; of many that try at once, one does. The
 * client trusts a socket only if its directory and the process behind it belong to
 * this user or to root.
 *
 * Calls block, up to the time they are given; a caller with a loop of its own polls
 * client_fd() and then takes messages with a time of 0 until there are none. While a
 * request is being written, what arrives is read and kept, so neither side can wait
 * for the other for ever.
 *
 * After -ERR_CLOSED, -ERR_PROTOCOL or -ERR_TIMEOUT from a write the connection is
 * gone. One thread. SIGPIPE does not matter here.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct arena;
struct buf;
struct client;
struct err;
struct json_node;
struct json_w;

enum { CLIENT_WAIT = -1, CLIENT_TIMEOUT_MS = 10000 };

struct client_options {
    const char *socket;    /* NULL: client_socket_path() */
    const char *name;      /* "nacre 0.1.0", for people; NULL: "client" */
    bool no_start;         /* -ERR_CLOSED when no daemon runs */
    const char *nacred;    /* the program to start; NULL: client_find_daemon() */
    const char *state_dir; /* of a daemon that is started; NULL: its default */
    int64_t idle_exit_s;   /* of a daemon that is started: ends when unused; 0: never */
    int64_t timeout_ms;    /* to connect and start, and for each write; 0: CLIENT_TIMEOUT_MS */
};

/* $NACRE_SOCKET, else nacred.sock in the run directory (base/rundir.h); replaces ret. */
int client_socket_path(struct buf *ret, struct err *err);

/* The daemon's program: $NACRED, beside this program, installed, in PATH; replaces ret. */
int client_find_daemon(struct buf *ret, struct err *err);

/* Connects and says hello. -ERR_DENIED for a socket that is not to be trusted. */
int client_connect(const struct client_options *options, struct client **ret_c, struct err *err);

/* Disconnects; commands go on. NULL is fine. */
void client_free(struct client *c);

/* What hello told. */
const char *client_daemon_version(const struct client *c);
int64_t client_daemon_pid(const struct client *c);

/* Readable when a message may be there. */
int client_fd(const struct client *c);

/* ---- requests ---- */

/*
 * Begins a request: its fields are written with the json_w that is returned, which belongs to
 * the client. One at a time; client_send() or client_call() ends it.
 */
struct json_w *client_begin(struct client *c, const char *op);

/* Sends what was begun; answers carry *ret_channel (may be NULL). */
int client_send(struct client *c, uint32_t *ret_channel, struct err *err);

/*
 * Sends what was begun and waits for its answer; messages of other channels are kept for
 * client_next(). *ret_result (may be NULL) lives in the arena, or until the next call on the
 * client if that is NULL. An error of the daemon is returned as its own code. timeout_ms:
 * CLIENT_WAIT or a time; -ERR_TIMEOUT.
 */
int client_call(struct client *c, struct arena *arena, int64_t timeout_ms,
                const struct json_node **ret_result, struct err *err);

/*
 * Input for the command of a channel. -ERR_BUSY if it has no room for all of it: nothing was
 * taken, there will be room when a CLIENT_ROOM message has come.
 */
int client_input(struct client *c, uint32_t channel, const void *p, size_t n, struct err *err);
int client_input_end(struct client *c, uint32_t channel, struct err *err);
/* Bytes that client_input() would take now. */
size_t client_input_room(const struct client *c, uint32_t channel);

/* ---- messages ---- */

enum client_what {
    CLIENT_OUTPUT, /* stream, cursor, data */
    CLIENT_GAP,    /* from, to: bytes that are lost */
    CLIENT_ROOM,   /* there is room for input again */
    CLIENT_EVENT,  /* name; node is the whole event */
    CLIENT_RESULT, /* node is the result; the channel is over */
    CLIENT_ERROR,  /* code (negative) and text; the channel is over */
};

struct client_message {
    enum client_what what;
    uint32_t channel;
    int stream; /* 1: stdout, 2: stderr */
    uint64_t cursor, from, to;
    const char *data; /* may be NULL if len is 0 */
    size_t len;
    const char *name;
    const struct json_node *node;
    int code;
    const char *text;
};

/*
 * The next message: 1, or 0 if none came in time. timeout_ms: 0 does not wait, CLIENT_WAIT has
 * no limit. All that the message points to is valid until the next call on the client.
 */
int client_next(struct client *c, int64_t timeout_ms, struct client_message *ret, struct err *err);

DEFINE_AUTO(struct client *, client_free)

#endif
