/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/call.h"
#include "cli/end.h"
#include "cli/link.h"
#include "cli/report.h"
#include "cli/term.h"
#include "cli/verbs.h"
#include "client/client.h"
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
    const char *id;
    struct cli_link link;
    uint32_t input_channel, wait_channel, result_channel; /* 0: not open */
    bool caught_up;
    bool detached;
};

static struct json_w *begin(const char *op, void *ctx)
{
    struct attachment *a = ctx;
    struct json_w *w = client_begin(a->link.client, op);
    json_w_kstr(w, "id", a->id);
    return w;
}

static void read_log(struct attachment *a, bool follow)
{
    struct json_w *w = begin("logs", a);
    json_w_kuint(w, "cursor", a->link.cursor);
    json_w_kbool(w, "follow", follow);
    cli_link_send(&a->link, &a->link.output_channel);
}

static int give_input(const void *p, size_t n, struct err *err, void *ctx)
{
    struct attachment *a = ctx;
    if (!a->input_channel)
        return 0; /* it takes none; only the key to detach counts */
    return client_input(a->link.client, a->input_channel, p, n, err);
}

/* The end of our input is not the end of the command's: others may attach, or use `input`. */
static int end_input(struct err *err, void *ctx)
{
    (void)err;
    (void)ctx;
    return 0;
}

static void detach(void *ctx)
{
    struct attachment *a = ctx;
    a->detached = true;
    cli_link_end(&a->link, CLI_OK);
}

static void take_result(struct attachment *a, const struct client_message *m)
{
    if (m->channel == a->wait_channel) {
        a->caught_up = true;
        read_log(a, false);
    } else if (m->channel == a->link.output_channel && a->caught_up) {
        (void)begin("result", a);
        cli_link_send(&a->link, &a->result_channel);
    } else if (m->channel == a->result_channel) {
        struct cli_end end = cli_end_of_result(m->node);
        cli_end_note(a->link.args, &end);
        cli_link_end(&a->link, cli_end_status(&end, a->link.live.signo));
    }
}

static void on_message(const struct client_message *m, void *ctx)
{
    struct attachment *a = ctx;
    if (m->what == CLIENT_RESULT)
        take_result(a, m);
    else if (m->what == CLIENT_ERROR && m->channel == a->input_channel)
        a->input_channel = 0;
    else if (m->what == CLIENT_ERROR &&
             (m->channel == a->link.output_channel || m->channel == a->wait_channel ||
              m->channel == a->result_channel))
        cli_link_fail(&a->link, -m->code, m->text);
}

static const struct cli_link_calls calls = {.begin = begin,
                                            .input = give_input,
                                            .input_end = end_input,
                                            .detach = detach,
                                            .message = on_message};

/* Whether the command is there, and whether it has a terminal. */
static int look_it_up(struct attachment *a, bool *ret_is_pty, struct err *err)
{
    auto_arena struct arena arena;
    arena_init(&arena, CLI_ANSWER_MAX);
    const struct json_node *result;
    (void)begin("result", a);
    int rc = client_call(a->link.client, &arena, CLIENT_WAIT, &result, err);
    if (rc < 0)
        return rc;
    (void)client_begin(a->link.client, "ps");
    rc = client_call(a->link.client, &arena, CLIENT_WAIT, &result, err);
    JSON_FOREACH(row, json_get(result, "commands"))
    {
        const char *id = json_cstr(json_get(row, "id"));
        if (id && strcmp(id, a->id) == 0)
            (void)json_bool(json_get(row, "pty"), ret_is_pty);
    }
    return rc;
}

static void ask(struct attachment *a, bool is_pty)
{
    read_log(a, true);
    json_w_kbool(begin("input", a), "stream", true);
    cli_link_send(&a->link, &a->input_channel);
    struct json_w *w = begin("wait", a);
    json_w_kstr(w, "until", "exit");
    json_w_kint(w, "timeoutMs", long_ms);
    cli_link_send(&a->link, &a->wait_channel);
    uint16_t rows, cols;
    if (!is_pty || !cli_term_size(&rows, &cols))
        return;
    w = begin("resize", a);
    json_w_kuint(w, "rows", rows);
    json_w_kuint(w, "cols", cols);
    cli_link_send(&a->link, NULL);
}

static int run(struct attachment *a)
{
    struct cli_live_options options = {.input = true};
    struct err err;
    int rc = cli_link_connect(&a->link, &err);
    if (rc == 0)
        rc = look_it_up(a, &options.pty, &err);
    if (rc == 0)
        rc = cli_link_open(&a->link, &options, &calls, a, &err);
    if (rc < 0)
        return cli_fail(a->link.args, &err);
    ask(a, options.pty);
    int status = cli_link_run(&a->link);
    if (a->detached) {
        cli_term_restore();
        cli_note(a->link.args, "detached; 'nacre attach %s' comes back", a->id);
    }
    return status;
}

int cli_attach(const struct cli_args *args)
{
    struct attachment a = {.id = args->operands[0], .link = {.args = args}};
    int status = run(&a);
    cli_link_done(&a.link);
    return status;
}
