/* SPDX-License-Identifier: MIT */
/* client/priv - what the files of client share. */
#ifndef CLIENT_PRIV_H
#define CLIENT_PRIV_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "client/client.h"
#include "json/write.h"
#include "wire/frame.h"

/* A frame that came while something else was waited for. */
struct client_kept {
    struct list link; /* client.kept */
    struct wire_frame frame;
    char data[];
};

/* What is known of the input of a channel. */
struct client_input {
    struct list link; /* client.inputs */
    uint32_t channel;
    uint64_t sent, taken;
};

struct client {
    int fd; /* -1: the connection is gone */
    int64_t timeout_ms;
    uint32_t next_channel;
    struct wire_decoder in;
    struct buf out; /* frames to be sent; between begin and send the last one is open */
    size_t start;   /* of the open one */
    struct json_w w;
    bool begun;
    struct list kept;          /* client_kept.link */
    size_t n_kept;             /* bytes there */
    struct client_kept *given; /* the one that the last message points into, or NULL */
    struct list inputs;        /* client_input.link */
    struct arena arena;        /* of the last message */
    char *version;
    int64_t pid;
};

/* connect.c: the connected socket, starting a daemon if need be. */
int client_open_socket(const struct client_options *options, const char *path, int64_t deadline,
                       struct err *err);
/* One attempt, no start; checks whom the socket belongs to. -ERR_CLOSED: nobody listens. */
int client_try_connect(const char *path, int64_t deadline, struct err *err);

/* start.c: makes a daemon listen at path; other starters wait. */
int client_start_daemon(const struct client_options *options, const char *path, int64_t deadline,
                        struct err *err);

/* Milliseconds until the deadline (monotonic ns; negative: none) for poll(2). */
int client_poll_ms(int64_t deadline);
int64_t client_deadline(int64_t timeout_ms);

/* client.c */
/* Writes all of out; reads what arrives meanwhile. */
int client_flush(struct client *c, struct err *err);
/* The next frame: 1, or 0 when the deadline has passed. */
int client_next_frame(struct client *c, int64_t deadline, struct wire_frame *ret, struct err *err);
void client_disconnect(struct client *c);

/* input.c */
struct client_input *client_input_find(const struct client *c, uint32_t channel);
void client_input_forget(struct client *c, uint32_t channel);

/* message.c: whether the frame is the last of its channel is seen from its content. */
int client_read_message(struct client *c, const struct wire_frame *frame, struct arena *arena,
                        struct client_message *ret, struct err *err);

#endif
