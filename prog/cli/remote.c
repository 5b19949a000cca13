/* SPDX-License-Identifier: MIT */
#include "cli/remote.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/own.h"
#include "cli/call.h"
#include "cli/end.h"
#include "cli/link.h"
#include "cli/path.h"
#include "cli/report.h"
#include "client/client.h"
#include "json/read.h"
#include "json/write.h"
#include "session/command.h"
#include "wire/field.h"

struct remote {
    const struct cli_args *args;
    struct cli_link link;
    uint32_t channel; /* of the exec */
    char id[COMMAND_ID_MAX];
    bool streams; /* output comes live */
};

/* The id may not be known yet when the command is to be stopped. */
static struct json_w *begin(const char *op, void *ctx)
{
    struct remote *r = ctx;
    struct json_w *w = client_begin(r->link.client, op);
    json_w_kuint(w, "channel", r->channel);
    return w;
}

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct remote *r = ctx;
    return client_input(r->link.client, r->channel, p, n, err);
}

static int end_input(struct err *err, void *ctx)
{
    struct remote *r = ctx;
    return client_input_end(r->link.client, r->channel, err);
}

/* ---- what the daemon says ---- */

static void take_id(struct remote *r, const struct json_node *object)
{
    const char *id = json_cstr(json_get(object, "id"));
    if (id)
        (void)snprintf(r->id, sizeof(r->id), "%s", id);
}

static void say_how_to_go_on(const struct remote *r)
{
    cli_note(r->args, "the command goes on as %s", r->id);
    cli_note(r->args, "'nacre wait %s' waits for its end, 'nacre logs -f %s' shows the rest,",
             r->id, r->id);
    cli_note(r->args, "'nacre kill %s' stops it", r->id);
}

/* The answer: the command has ended, or goes on without us. */
static void take_result(struct remote *r, const struct json_node *result)
{
    take_id(r, result);
    struct cli_end end = cli_end_of_result(result);
    cli_link_end(&r->link, cli_end_status(&end, r->link.live.signo));
    if (r->args->json) {
        cli_print_json(result);
    } else if (command_state_is_final(end.state)) {
        if (!cli_live_write_error(&r->link.live))
            cli_end_note(r->args, &end);
    } else if (r->args->background) {
        cli_print("%s\n", r->id);
    } else {
        say_how_to_go_on(r);
    }
}

static void on_message(const struct client_message *m, void *ctx)
{
    struct remote *r = ctx;
    if (m->channel != r->channel)
        return; /* an answer to "stop" or "resize" */
    if (m->what == CLIENT_RESULT)
        take_result(r, m->node);
    else if (m->what == CLIENT_ERROR)
        cli_link_fail(&r->link, -m->code, m->text);
    else if (m->what == CLIENT_EVENT && strcmp(m->name, "started") == 0)
        take_id(r, m->node);
}

static const struct cli_link_calls calls = {
    .begin = begin, .input = give_input, .input_end = end_input, .message = on_message};

/* ---- the steps ---- */

static int ask(struct remote *r, const struct command_spec *spec, struct err *err)
{
    /* A new session starts where we are, not where the daemon is; if that is gone, there. */
    auto_free char *here = NULL;
    (void)cli_path_resolve(NULL, &here, NULL);
    struct json_w *w = client_begin(r->link.client, "exec");
    wire_field_put(w, "text", spec->text, spec->text_len);
    json_w_kstr(w, "session", r->args->session);
    wire_field_put_cstr(w, "startCwd", here);
    cli_put_text(w, "kind", r->args->kind);
    wire_field_put_cstr(w, "cwd", spec->cwd);
    wire_field_put_env(w, spec->env);
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
    int rc = client_send(r->link.client, &r->channel, err);
    r->link.output_channel = r->channel;
    return rc;
}

static int run(struct remote *r, const struct command_spec *spec)
{
    const struct cli_live_options options = {
        .input = spec->stdin_open && !r->args->background,
        .pty = spec->pty && r->streams,
        .plain = r->args->plain,
    };
    struct err err;
    int rc = cli_link_connect(&r->link, &err);
    if (rc == 0)
        rc = ask(r, spec, &err);
    if (rc == 0)
        rc = cli_link_open(&r->link, &options, &calls, r, &err);
    if (rc < 0)
        return cli_fail(r->args, &err);
    int status = cli_link_run(&r->link);
    if (r->link.err.code && r->id[0])
        cli_note(r->args, "'nacre result %s' may still know how it ended", r->id);
    return status;
}

int cli_remote_exec(const struct cli_args *args, const struct command_spec *spec)
{
    struct remote r = {
        .args = args, .link = {.args = args}, .streams = !args->json && !args->background};
    int status = run(&r, spec);
    cli_link_done(&r.link);
    return status;
}
