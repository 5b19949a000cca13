/* SPDX-License-Identifier: MIT */
/* cli/call - verbs that are one question to the daemon and its answer. */
#ifndef CLI_CALL_H
#define CLI_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

struct client;
struct err;
struct json_node;
struct json_w;

enum { CLI_ANSWER_MAX = 128 * 1024 * 1024 }; /* bytes of an answer's tree */

/* Connects to the daemon, starting it if need be. */
int cli_connect(struct client **ret, struct err *err);

struct cli_call {
    const char *op;
    int64_t timeout_ms; /* 0: as long as it takes */
    /* Writes the fields of the request; may be NULL. */
    void (*ask)(const struct cli_args *args, struct json_w *w, const void *ctx);
    const void *ctx;
    /* Shows the answer for people and returns the exit status; NULL: nothing to show. */
    int (*show)(const struct cli_args *args, const struct json_node *result);
    const char *member; /* of the result that --json prints; NULL: all of it */
};

/* Asks, and shows the answer, with --json as JSON; returns the exit status. */
int cli_call(const struct cli_args *args, const struct cli_call *call);

/* Prints a value as one line. */
void cli_print_json(const struct json_node *node);

/* Fields that are written by many verbs; NULL is left out. */
void cli_put_text(struct json_w *w, const char *key, const char *text);
void cli_put_number(struct json_w *w, const char *key, int64_t value); /* 0 is left out */

#endif
