/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/call.h"
#include "cli/end.h"
#include "cli/feed.h"
#include "cli/live.h"
#include "cli/report.h"
#include "cli/term.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "ev/ev.h"
#include "json/read.h"
#include "json/write.h"

/* As long as a command may take; the wait for its end has no other limit. */
static const int64_t long_ms = INT64_C(10) * 365 * 86400 * 1000;

/*
 * following -> catching up (the command has ended: what its log still holds) -> asking for its
 * result -> over. The log is not followed to its own end, since something that the command left
 * behind may write to it for ever.
 */
struct attachment {
    const struct cli_args *args;
    const char *id;
    struct ev *ev;
    struct client *client;
    struct cli_feed feed;
    struct cli_live live;
    uint32_t log_channel, input_channel, wait_channel, result_channel;
    uint64_t cursor; /* of the next byte to show */
    bool is_pty;
    bool caught_up;
    bool detached;
    bool over;
    int status;
    struct err err;
};

static void fail(struct attachment *a, int code, const char *text)
{
    if (!a->over)
        (void)err_set(&a->err, code, "%s", text);
    a->over = true;
}

/* ---- requests ---- */

static struct json_w *begin(struct attachment *a, const char *op)
{
    struct json_w *w = client_begin(a->client, op);
    json_w_kstr(w, "id", a->id);
    return w;
}

static void send(struct attachment *a, uint32_t *ret_channel)
{
    struct err err;
    if (client_send(a->client, ret_channel, &err) < 0)
        fail(a, err.code, err.text);
    cli_feed_poke(&a->feed);
}

static void read_log(struct attachment *a, bool follow)
{
    struct json_w *w = begin(a, "logs");
    json_w_kuint(w, "cursor", a->cursor);
    json_w_kbool(w, "follow", follow);
    send(a, &a->log_channel);
}

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct attachment *a = ctx;
    if (!a->input_channel)
        return 0; /* it takes none; only the key to detach counts */
    int rc = client_input(a->client, a->input_channel, p, n, err);
    cli_feed_poke(&a->feed);
    return rc;
}

/* The end of our input is not the end of the command's: others may attach, or use `input`. */
static int end_input(struct err *err, void *ctx)
{
    (void)err;
    (void)ctx;
    return 0;
}

static void resize(uint16_t rows, uint16_t cols, void *ctx)
{
    struct json_w *w = begin(ctx, "resize");
    json_w_kuint(w, "rows", rows);
    json_w_kuint(w, "cols", cols);
    send(ctx, NULL);
}

static void stop(bool at_once, void *ctx)
{
    for (int n = at_once ? 2 : 1; n > 0; n--) { /* the second goes on to KILL */
        (void)begin(ctx, "stop");
        send(ctx, NULL);
    }
}

static void detach(void *ctx)
{
    struct attachment *a = ctx;
    a->detached = true;
    a->over = true;
}

static void on_room(void *ctx)
{
    struct attachment *a = ctx;
    cli_feed_pause(&a->feed, false);
}

static const struct cli_live_calls calls = {.input = give_input,
                                            .input_end = end_input,
                                            .resize = resize,
                                            .stop = stop,
                                            .detach = detach,
                                            .room = on_room};

/* ---- answers ---- */

static void take_output(struct attachment *a, const struct client_message *m)
{
    if (m->channel != a->log_channel)
        return; /* of the log that was followed until the command ended */
    a->cursor = m->cursor + m->len;
    cli_live_output(&a->live, m->stream, m->data, m->len);
    if (cli_live_is_full(&a->live))
        cli_feed_pause(&a->feed, true);
}

static void take_result(struct attachment *a, const struct client_message *m)
{
    if (m->channel == a->wait_channel) {
        a->wait_channel = 0;
        a->caught_up = true;
        read_log(a, false);
    } else if (m->channel == a->log_channel && a->caught_up) {
        (void)begin(a, "result");
        send(a, &a->result_channel);
    } else if (a->result_channel && m->channel == a->result_channel) {
        struct cli_end end = cli_end_of_result(m->node);
        a->status = cli_end_status(&end, a->live.signo);
        cli_end_note(a->args, &end);
        a->over = true;
    }
}

static void on_message(const struct client_message *m, void *ctx)
{
    struct attachment *a = ctx;
    if (!m) {
        fail(a, a->feed.err.code, a->feed.err.text);
        return;
    }
    switch (m->what) {
    case CLIENT_OUTPUT:
        take_output(a, m);
        return;
    case CLIENT_GAP:
        cli_note(a->args, "%llu bytes are no longer held", (unsigned long long)(m->to - m->from));
        return;
    case CLIENT_RESULT:
        take_result(a, m);
        return;
    case CLIENT_ERROR:
        if (m->channel == a->input_channel)
            a->input_channel = 0;
        else if (m->channel == a->log_channel || m->channel == a->wait_channel ||
                 m->channel == a->result_channel)
            fail(a, -m->code, m->text);
        return;
    case CLIENT_ROOM:
    case CLIENT_EVENT:
        return;
    }
}

/* ---- the steps ---- */

/* Whether the command is there, and whether it has a terminal. */
static int look_it_up(struct attachment *a, struct err *err)
{
    auto_arena struct arena arena;
    arena_init(&arena, CLI_ANSWER_MAX);
    const struct json_node *result;
    (void)begin(a, "result");
    int rc = client_call(a->client, &arena, CLIENT_WAIT, &result, err);
    if (rc < 0)
        return rc;
    (void)client_begin(a->client, "ps");
    rc = client_call(a->client, &arena, CLIENT_WAIT, &result, err);
    JSON_FOREACH(row, json_get(result, "commands"))
    {
        const char *id = json_cstr(json_get(row, "id"));
        if (id && strcmp(id, a->id) == 0)
            (void)json_bool(json_get(row, "pty"), &a->is_pty);
    }
    return rc;
}

static int start(struct attachment *a, struct err *err)
{
    int rc = cli_connect(&a->client, err);
    if (rc == 0)
        rc = look_it_up(a, err);
    if (rc < 0)
        return rc;
    a->ev = ev_new();
    if (!a->ev)
        return err_set(err, EMFILE, "make an event loop");
    struct cli_live_options options = {.input = true, .pty = a->is_pty};
    rc = cli_live_init(&a->live, a->ev, &options, &calls, a, err);
    if (rc < 0)
        return rc;
    a->feed.on_message = on_message;
    a->feed.ctx = a;
    rc = cli_feed_init(&a->feed, a->ev, a->client, err);
    if (rc < 0)
        return rc;
    read_log(a, true);
    json_w_kbool(begin(a, "input"), "stream", true);
    send(a, &a->input_channel);
    struct json_w *w = begin(a, "wait");
    json_w_kstr(w, "until", "exit");
    json_w_kint(w, "timeoutMs", long_ms);
    send(a, &a->wait_channel);
    uint16_t rows, cols;
    if (a->is_pty && cli_term_size(&rows, &cols))
        resize(rows, cols, a);
    return 0;
}

static int run(struct attachment *a)
{
    struct err err;
    if (start(a, &err) < 0)
        return cli_fail(a->args, &err);
    cli_live_start(&a->live);
    while (!a->over)
        (void)ev_run_once(a->ev, true);
    cli_live_finish(&a->live);
    if (a->err.code)
        return cli_fail(a->args, &a->err);
    if (!a->detached)
        return a->status;
    cli_term_restore();
    cli_note(a->args, "detached; 'nacre attach %s' comes back", a->id);
    return CLI_OK;
}

int cli_attach(const struct cli_args *args)
{
    struct attachment a = {.args = args, .id = args->operands[0]};
    int status = run(&a);
    bool broken = a.live.ev && cli_live_write_error(&a.live) == EPIPE;
    cli_live_done(&a.live);
    cli_feed_done(&a.feed);
    client_free(a.client);
    ev_free(a.ev);
    if (broken)
        cli_broken_pipe();
    return status;
}
