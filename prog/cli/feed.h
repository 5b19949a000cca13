/* SPDX-License-Identifier: MIT */
/*
 * cli/feed - the daemon's messages, given one by one by the event loop.
 *
 * The client keeps messages that arrive while it writes, so its descriptor alone does not tell
 * that there are some: after each call on the client cli_feed_poke() is due.
 */
#ifndef CLI_FEED_H
#define CLI_FEED_H

#include <stdbool.h>

#include "base/err.h"
#include "ev/ev.h"

struct client;
struct client_message;

struct cli_feed {
    struct ev *ev;
    struct client *client;
    struct ev_fd watch;
    struct ev_timer turn;
    bool paused;
    bool lost; /* the connection is gone, err says why; told by on_message(NULL) */
    struct err err;
    /* May call anything but cli_feed_done(). */
    void (*on_message)(const struct client_message *m, void *ctx);
    void *ctx;
};

/* The client stays the caller's. */
int cli_feed_init(struct cli_feed *f, struct ev *ev, struct client *client, struct err *err);

/* Looks for messages in the next turn. */
void cli_feed_poke(struct cli_feed *f);

/* No messages until it goes on. */
void cli_feed_pause(struct cli_feed *f, bool paused);

void cli_feed_done(struct cli_feed *f);

#endif
