/* SPDX-License-Identifier: MIT */
/*
 * cli/link - a command that runs in the daemon, linked with this program's own streams.
 *
 * What exec -s and attach have in common: the connection, the loop, output and input, and the end
 * of the program. Each of them sends its requests and takes the answers.
 */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cli/cli.h"
#include "cli/feed.h"
#include "cli/live.h"

struct client;
struct client_message;
struct json_w;

struct cli_link_calls {
    /* Begins a request about the command: op and who is meant. */
    struct json_w *(*begin)(const char *op, void *ctx);
    /* See cli/live.h. */
    int (*input)(const void *p, size_t n, struct err *err, void *ctx);
    int (*input_end)(struct err *err, void *ctx);
    void (*detach)(void *ctx); /* may be NULL */
    /* An answer or event; output and the loss of the connection are seen to. */
    void (*message)(const struct client_message *m, void *ctx);
};

struct cli_link {
    const struct cli_args *args;
    struct client *client;
    struct ev *ev;
    struct cli_feed feed;
    struct cli_live live;
    const struct cli_link_calls *calls;
    void *ctx;
    uint32_t output_channel; /* output on others is not shown */
    uint64_t cursor;         /* behind the last byte that was shown */
    bool over;
    int status;     /* when it is over and err is not set */
    struct err err; /* what went wrong */
};

/* Connects. *l is zeroed but for args; cli_link_done() is due in any case. */
int cli_link_connect(struct cli_link *l, struct err *err);

/* Starts the loop's part, before or after requests were sent. */
int cli_link_open(struct cli_link *l, const struct cli_live_options *options,
                  const struct cli_link_calls *calls, void *ctx, struct err *err);

/* Ends a request; when that fails, the link is over. ret_channel may be NULL. */
void cli_link_send(struct cli_link *l, uint32_t *ret_channel);

/* It is over: with a result, or without one. The first one counts. */
void cli_link_end(struct cli_link *l, int status);
void cli_link_fail(struct cli_link *l, int code, const char *text);

/* Runs until it is over and all output is written; returns the exit status. */
int cli_link_run(struct cli_link *l);

/* Disconnects. If the reader of standard output has gone, this does not return. */
void cli_link_done(struct cli_link *l);

#endif
