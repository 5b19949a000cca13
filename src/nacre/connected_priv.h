/* SPDX-License-Identifier: MIT */
/*
 * nacre/connected_priv - a runtime that is a connection to the daemon.
 *
 * A call that waits takes messages until its own answer is there, and serves all
 * others meanwhile. Within a callback nothing can be waited for: requests made there
 * are sent, and their answers dropped.
 */
#ifndef NACRE_CONNECTED_PRIV_H
#define NACRE_CONNECTED_PRIV_H

#include "base/buf.h"
#include "client/client.h"
#include "nacre/priv.h"

struct answer;
struct json_w;

struct connected {
    struct nacre base;
    struct client *client;
    struct answer *awaited; /* what the present call waits for, or NULL */
    bool unseen;            /* messages may be here that the socket does not tell of */
    struct buf bytes;       /* output on its way to a callback */
};

/* What a call waits for: the answer on a channel. The functions may be NULL. */
struct answer {
    uint32_t channel;
    bool done;
    int rc;
    struct err *err;
    /* Reads the result, which is valid during the call. */
    int (*on_result)(const struct json_node *node, void *ctx, struct err *err);
    /* Output and gaps of that channel. */
    void (*on_message)(const struct client_message *m, void *ctx);
    void *ctx;
};

struct connected *nacre_connected_of(const struct nacre *n);

/* Milliseconds left until a point of the monotonic clock; -1 for the deadline -1. */
int64_t nacre_connected_left(int64_t deadline_ns);
int64_t nacre_connected_deadline(int64_t timeout_ms);

/* One message, or none in time. Serves whom it concerns. Fails when the connection is lost. */
int nacre_connected_turn(struct connected *e, int64_t timeout_ms, struct err *err);

/*
 * Sends what was begun and waits for the answer; in a callback it only sends. a (may be NULL)
 * says what to do with the answer.
 */
int nacre_connected_call(struct connected *e, struct answer *a, struct err *err);

/* The operations on commands, in connected_command.c. */
int nacre_connected_start(struct nacre_session *s, const struct command_spec *spec,
                          int64_t yield_ms, struct nacre_command *c, struct err *err);
int nacre_connected_confirm(struct nacre_command *c, struct err *err);
int nacre_connected_run(struct nacre_command *c, struct err *err);
void nacre_connected_detach(struct nacre_command *c);
int nacre_connected_find(struct nacre_command *c, struct err *err);
int nacre_connected_list(struct nacre *n, const char *session_id, bool all, struct buf *ret_json,
                         struct err *err);
int nacre_connected_input(struct nacre_command *c, const void *data, size_t len, struct err *err);
int nacre_connected_input_end(struct nacre_command *c, struct err *err);
int nacre_connected_resize(struct nacre_command *c, uint16_t rows, uint16_t cols, struct err *err);
int nacre_connected_signal(struct nacre_command *c, int signal, struct err *err);
int nacre_connected_stop(struct nacre_command *c, struct err *err);
int nacre_connected_wait(struct nacre_command *c, int64_t timeout_ms, struct err *err);
int nacre_connected_wait_log(struct nacre_command *c, const char *pattern, bool is_regex,
                             int64_t timeout_ms, char **ret_line, struct err *err);
int nacre_connected_wait_port(struct nacre_command *c, const char *host, uint16_t port,
                              int64_t timeout_ms, struct err *err);
int nacre_connected_result(struct nacre_command *c, struct nacre_result **ret_result,
                           struct err *err);
int nacre_connected_json(struct nacre *n, const char *id, struct buf *ret_json, struct err *err);
int nacre_connected_log(struct nacre_command *c, struct nacre_log *log, struct err *err);

/* What a message says of a command's exec. */
void nacre_connected_told(struct nacre_command *c, const struct client_message *m);

/* Writes an answer as JSON into a struct buf. */
int nacre_connected_take_json(const struct json_node *node, void *ctx, struct err *err);

#endif
