/* SPDX-License-Identifier: MIT */
/*
 * control - the runtime's face on a Unix socket (wire/proto.h says what is spoken).
 *
 * Only processes of this user or of root are let in. A client may send anything: what
 * makes no sense is answered with an error, or the connection is closed; the runtime
 * and other clients do not notice. One loop, one thread.
 */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

struct control;
struct err;
struct ev;
struct rt;

struct control_options {
    const char *path;               /* of the socket; its directory is made if missing, 0700 */
    const char *version;            /* of the program, for hello */
    const char *state_dir;          /* for status; can be NULL */
    const char *notice;             /* for status: what people should know; can be NULL */
    size_t queue_max;               /* output that waits for a reader; 0: WIRE_QUEUE_MAX */
    void (*on_shutdown)(void *ctx); /* a client asked for the end */
    void *ctx;
};

/*
 * Listens. A socket that is there already is replaced: the caller holds whatever says that
 * it is the only daemon. -ERR_DENIED when others may write the directory.
 */
int control_open(struct ev *ev, struct rt *rt, const struct control_options *options,
                 struct control **ret_control, struct err *err);

/* Tells waiting clients, closes all and removes the socket; before rt_free(). NULL is fine. */
void control_free(struct control *control);

/* Neither a client is connected nor a command runs. */
bool control_is_idle(struct control *control);

/* listen.c: a listening socket, or a negative code. Never half-made: it appears under its
 * name when clients can connect. */
int control_listen(const char *path, struct err *err);

#endif
