/* SPDX-License-Identifier: MIT */
#include "cli/link.h"

#include <errno.h>

#include "cli/call.h"
#include "cli/report.h"
#include "client/client.h"
#include "ev/ev.h"
#include "json/write.h"

/* ---- what the command needs from us ---- */

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct cli_link *l = ctx;
    int rc = l->calls->input(p, n, err, l->ctx);
    cli_feed_poke(&l->feed);
    return rc;
}

static int end_input(struct err *err, void *ctx)
{
    struct cli_link *l = ctx;
    int rc = l->calls->input_end(err, l->ctx);
    cli_feed_poke(&l->feed);
    return rc;
}

static void resize(uint16_t rows, uint16_t cols, void *ctx)
{
    struct cli_link *l = ctx;
    struct json_w *w = l->calls->begin("resize", l->ctx);
    json_w_kuint(w, "rows", rows);
    json_w_kuint(w, "cols", cols);
    cli_link_send(l, NULL);
}

static void stop(bool at_once, void *ctx)
{
    struct cli_link *l = ctx;
    for (int n = at_once ? 2 : 1; n > 0; n--) { /* the second goes on from TERM to KILL */
        (void)l->calls->begin("stop", l->ctx);
        cli_link_send(l, NULL);
    }
}

static void detach(void *ctx)
{
    struct cli_link *l = ctx;
    l->calls->detach(l->ctx);
}

static void on_room(void *ctx)
{
    struct cli_link *l = ctx;
    cli_feed_pause(&l->feed, false);
}

static const struct cli_live_calls live_calls = {
    .input = give_input, .input_end = end_input, .resize = resize, .stop = stop, .room = on_room};
static const struct cli_live_calls live_calls_with_key = {.input = give_input,
                                                          .input_end = end_input,
                                                          .resize = resize,
                                                          .stop = stop,
                                                          .room = on_room,
                                                          .detach = detach};

/* ---- what the daemon says ---- */

static void show_output(struct cli_link *l, const struct client_message *m)
{
    if (m->channel != l->output_channel)
        return;
    l->cursor = m->cursor + m->len;
    cli_live_output(&l->live, m->stream, m->data, m->len);
    if (cli_live_is_full(&l->live))
        cli_feed_pause(&l->feed, true); /* the daemon keeps what comes meanwhile */
}

static void on_message(const struct client_message *m, void *ctx)
{
    struct cli_link *l = ctx;
    if (!m)
        cli_link_fail(l, l->feed.err.code, l->feed.err.text);
    else if (m->what == CLIENT_OUTPUT)
        show_output(l, m);
    else if (m->what == CLIENT_GAP)
        cli_note(l->args, "%llu bytes of output came too fast to be kept",
                 (unsigned long long)(m->to - m->from));
    else
        l->calls->message(m, l->ctx);
}

/* ---- life ---- */

int cli_link_connect(struct cli_link *l, struct err *err)
{
    return cli_connect(&l->client, err);
}

int cli_link_open(struct cli_link *l, const struct cli_live_options *options,
                  const struct cli_link_calls *calls, void *ctx, struct err *err)
{
    l->calls = calls;
    l->ctx = ctx;
    l->ev = ev_new();
    if (!l->ev)
        return err_set(err, EMFILE, "make an event loop");
    int rc = cli_live_init(&l->live, l->ev, options,
                           calls->detach ? &live_calls_with_key : &live_calls, l, err);
    if (rc < 0)
        return rc;
    l->feed.on_message = on_message;
    l->feed.ctx = l;
    return cli_feed_init(&l->feed, l->ev, l->client, err);
}

void cli_link_send(struct cli_link *l, uint32_t *ret_channel)
{
    struct err err;
    if (client_send(l->client, ret_channel, &err) < 0)
        cli_link_fail(l, err.code, err.text);
    cli_feed_poke(&l->feed);
}

void cli_link_end(struct cli_link *l, int status)
{
    if (!l->over)
        l->status = status;
    l->over = true;
}

void cli_link_fail(struct cli_link *l, int code, const char *text)
{
    if (!l->over)
        (void)err_set(&l->err, code, "%s", text);
    l->over = true;
}

int cli_link_run(struct cli_link *l)
{
    cli_live_start(&l->live);
    while (!l->over)
        (void)ev_run_once(l->ev, true);
    cli_live_finish(&l->live);
    int error = cli_live_write_error(&l->live);
    if (!l->err.code && error && error != EPIPE)
        (void)err_set(&l->err, error, "write to standard output");
    return l->err.code ? cli_fail(l->args, &l->err) : cli_flush(l->args, l->status);
}

void cli_link_done(struct cli_link *l)
{
    bool broken = l->live.ev && cli_live_write_error(&l->live) == EPIPE;
    cli_live_done(&l->live);
    cli_feed_done(&l->feed);
    client_free(l->client);
    ev_free(l->ev);
    if (broken)
        cli_broken_pipe();
}
