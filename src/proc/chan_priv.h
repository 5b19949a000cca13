/* SPDX-License-Identifier: MIT */
/*
 * proc/chan_priv - the runtime's end of a socket to nacre-spawn, in the loop.
 *
 * Sends at once, and keeps what the socket cannot take until it can. Receives
 * through callbacks.
 */
#ifndef PROC_CHAN_PRIV_H
#define PROC_CHAN_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "ev/ev.h"

struct sandbox_msg;

/* Returns false if the channel was closed (and maybe its memory freed) in it. */
typedef bool (*chan_msg_fn)(void *ctx, const struct sandbox_msg *msg);

struct chan {
    int sock; /* -1 when closed */
    struct ev_fd io;
    struct list queue; /* chan_item.link */
    chan_msg_fn on_msg;
    ev_fn on_end; /* the other side is gone; to be closed in it */
    void *ctx;
};

/* Takes sock. On failure (-errno) it was closed. */
int chan_open(struct chan *chan, struct ev *ev, int sock, chan_msg_fn on_msg, ev_fn on_end,
              void *ctx);

/*
 * Sends, or queues with copies of the descriptors. -errno if one is none, or means have run out;
 * that the other side is gone is not an error, on_end tells it.
 */
int chan_send(struct chan *chan, struct sandbox_msg *msg, const int *fds, size_t n_fds);

/* Closes and drops what is queued. A channel that is closed, or zeroed with sock -1, is left alone.
 */
void chan_close(struct chan *chan);

#endif
