/* SPDX-License-Identifier: MIT */
#include "cli/remote.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/end.h"
#include "cli/feed.h"
#include "cli/live.h"
#include "cli/path.h"
#include "cli/report.h"
#include "client/client.h"
#include "ev/ev.h"
#include "json/read.h"
#include "json/write.h"
#include "session/command.h"
#include "wire/field.h"

struct remote {
    const struct cli_args *args;
    const struct command_spec *spec;
    struct ev *ev;
    struct client *client;
    struct cli_feed feed;
    struct cli_live live;
    uint32_t channel; /* of the exec */
    char id[COMMAND_ID_MAX];
    bool streams; /* output comes live */
    bool over;
    int status;
    struct err err; /* set: it did not work */
};

static void fail(struct remote *r, const struct err *err)
{
    if (!r->over)
        r->err = *err;
    r->over = true;
}

/* ---- what the command needs from us ---- */

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct remote *r = ctx;
    int rc = client_input(r->client, r->channel, p, n, err);
    cli_feed_poke(&r->feed);
    return rc;
}

static int end_input(struct err *err, void *ctx)
{
    struct remote *r = ctx;
    int rc = client_input_end(r->client, r->channel, err);
    cli_feed_poke(&r->feed);
    return rc;
}

/* A request whose answer does not matter. Should it fail, the connection is lost: the feed tells.
 */
static struct json_w *begin(struct remote *r, const char *op)
{
    struct json_w *w = client_begin(r->client, op);
    json_w_kuint(w, "channel", r->channel);
    return w;
}

static void send(struct remote *r)
{
    (void)client_send(r->client, NULL, NULL);
    cli_feed_poke(&r->feed);
}

static void resize(uint16_t rows, uint16_t cols, void *ctx)
{
    struct json_w *w = begin(ctx, "resize");
    json_w_kuint(w, "rows", rows);
    json_w_kuint(w, "cols", cols);
    send(ctx);
}

static void stop(bool at_once, void *ctx)
{
    (void)begin(ctx, "stop");
    send(ctx);
    if (!at_once)
        return;
    (void)begin(ctx, "stop"); /* the first went one rung up, to TERM; this one goes on to KILL */
    send(ctx);
}

static void on_room(void *ctx)
{
    struct remote *r = ctx;
    cli_feed_pause(&r->feed, false);
}

static const struct cli_live_calls calls = {
    .input = give_input, .input_end = end_input, .resize = resize, .stop = stop, .room = on_room};

/* ---- what the daemon says ---- */

static void say_how_to_go_on(const struct remote *r)
{
    cli_note(r->args, "the command goes on as %s", r->id);
    cli_note(r->args, "'nacre wait %s' waits for its end, 'nacre logs -f %s' shows the rest,",
             r->id, r->id);
    cli_note(r->args, "'nacre kill %s' stops it", r->id);
}

static void take_id(struct remote *r, const struct json_node *object)
{
    const char *id = json_cstr(json_get(object, "id"));
    if (id)
        (void)snprintf(r->id, sizeof(r->id), "%s", id);
}

/* The answer: the command has ended, or goes on without us. */
static void take_result(struct remote *r, const struct json_node *result)
{
    take_id(r, result);
    struct cli_end end = cli_end_of_result(result);
    r->status = cli_end_status(&end, r->live.signo);
    r->over = true;
    if (r->args->json) {
        cli_print_json(result);
    } else if (command_state_is_final(end.state)) {
        if (!cli_live_write_error(&r->live))
            cli_end_note(r->args, &end);
    } else if (r->args->background) {
        cli_print("%s\n", r->id);
    } else {
        say_how_to_go_on(r);
    }
}

static void take_output(struct remote *r, const struct client_message *m)
{
    cli_live_output(&r->live, m->stream, m->data, m->len);
    if (cli_live_is_full(&r->live))
        cli_feed_pause(&r->feed, true); /* the daemon keeps what comes meanwhile */
}

static void on_message(const struct client_message *m, void *ctx)
{
    struct remote *r = ctx;
    if (!m) {
        fail(r, &r->feed.err);
        return;
    }
    bool ours = m->channel == r->channel;
    switch (m->what) {
    case CLIENT_OUTPUT:
        if (ours)
            take_output(r, m);
        return;
    case CLIENT_GAP:
        cli_note(r->args, "%llu bytes of output came too fast to be kept",
                 (unsigned long long)(m->to - m->from));
        return;
    case CLIENT_RESULT:
        if (ours)
            take_result(r, m->node);
        return;
    case CLIENT_ERROR:
        if (ours) {
            struct err err;
            (void)err_set(&err, -m->code, "%s", m->text);
            fail(r, &err);
        }
        return;
    case CLIENT_EVENT:
        if (ours && strcmp(m->name, "started") == 0)
            take_id(r, m->node);
        return;
    case CLIENT_ROOM: /* input that waits tries again by itself */
        return;
    }
}

/* ---- the steps ---- */

static int ask_for_command(struct remote *r, struct err *err)
{
    const struct command_spec *spec = r->spec;
    /* A new session starts where we are, not where the daemon is; if that is gone, there. */
    auto_free char *here = NULL;
    (void)cli_path_resolve(NULL, &here, NULL);
    struct json_w *w = client_begin(r->client, "exec");
    wire_field_put(w, "text", spec->text, spec->text_len);
    json_w_kstr(w, "session", r->args->session);
    cli_put_text(w, "startCwd", here);
    cli_put_text(w, "kind", r->args->kind);
    cli_put_text(w, "cwd", spec->cwd);
    cli_put_env(w, spec->env);
    cli_put_number(w, "timeoutMs", spec->timeout_ms);
    cli_put_number(w, "graceMs", spec->grace_ms);
    cli_put_number(w, "yieldMs", r->args->yield_ms);
    json_w_kbool(w, "stdinOpen", spec->stdin_open);
    json_w_kbool(w, "background", spec->background);
    json_w_kbool(w, "wait", !r->args->background); /* a terminal's command is in the background */
    json_w_kbool(w, "stream", r->streams);
    if (spec->pty) {
        json_w_kbool(w, "pty", true);
        json_w_kuint(w, "rows", spec->rows);
        json_w_kuint(w, "cols", spec->cols);
    }
    return client_send(r->client, &r->channel, err);
}

static int start(struct remote *r, struct err *err)
{
    int rc = cli_connect(&r->client, err);
    if (rc == 0)
        rc = ask_for_command(r, err);
    if (rc < 0)
        return rc;
    r->ev = ev_new();
    if (!r->ev)
        return err_set(err, EMFILE, "make an event loop");
    struct cli_live_options options = {
        .input = r->spec->stdin_open && !r->args->background,
        .pty = r->spec->pty && r->streams,
        .plain = r->args->plain,
    };
    rc = cli_live_init(&r->live, r->ev, &options, &calls, r, err);
    if (rc < 0)
        return rc;
    r->feed.on_message = on_message;
    r->feed.ctx = r;
    return cli_feed_init(&r->feed, r->ev, r->client, err);
}

static int run(struct remote *r)
{
    struct err err;
    if (start(r, &err) < 0)
        return cli_fail(r->args, &err);
    cli_live_start(&r->live);
    while (!r->over)
        (void)ev_run_once(r->ev, true);
    cli_live_finish(&r->live);
    if (r->err.code) {
        int status = cli_fail(r->args, &r->err);
        if (r->id[0])
            cli_note(r->args, "'nacre result %s' may still know how it ended", r->id);
        return status;
    }
    int error = cli_live_write_error(&r->live);
    if (error && error != EPIPE) {
        (void)err_set(&err, error, "write to standard output");
        return cli_fail(r->args, &err);
    }
    return cli_flush(r->args, r->status);
}

int cli_remote_exec(const struct cli_args *args, const struct command_spec *spec)
{
    struct remote r = {.args = args, .spec = spec, .streams = !args->json && !args->background};
    int status = run(&r);
    bool broken = r.live.ev && cli_live_write_error(&r.live) == EPIPE;
    cli_live_done(&r.live);
    cli_feed_done(&r.feed);
    client_free(r.client);
    ev_free(r.ev);
    if (broken)
        cli_broken_pipe();
    return status;
}
