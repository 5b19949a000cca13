/* SPDX-License-Identifier: MIT */
#include "cli/call.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "cli/report.h"
#include "client/client.h"
#include "json/read.h"
#include "json/write.h"

int cli_connect(struct client **ret, struct err *err)
{
    const struct client_options options = {.name = "nacre " NACRE_VERSION};
    return client_connect(&options, ret, err);
}

void cli_print_json(const struct json_node *node)
{
    auto_buf struct buf text = BUF_INIT(CLI_ANSWER_MAX);
    struct json_w w;
    json_w_init(&w, &text);
    json_w_node(&w, node);
    cli_print_bytes(text.data, text.len);
    cli_print("\n");
}

void cli_put_text(struct json_w *w, const char *key, const char *text)
{
    if (text)
        json_w_kstr(w, key, text);
}

void cli_put_number(struct json_w *w, const char *key, int64_t value)
{
    if (value)
        json_w_kint(w, key, value);
}

int cli_call(const struct cli_args *args, const struct cli_call *call)
{
    AUTO(client_free) struct client *client = NULL;
    auto_arena struct arena arena;
    arena_init(&arena, CLI_ANSWER_MAX);
    struct err err;
    if (cli_connect(&client, &err) < 0)
        return cli_fail(args, &err);
    struct json_w *w = client_begin(client, call->op);
    if (call->ask)
        call->ask(args, w, call->ctx);
    const struct json_node *result = NULL;
    int64_t timeout = call->timeout_ms ? call->timeout_ms : CLIENT_WAIT;
    if (client_call(client, &arena, timeout, &result, &err) < 0)
        return cli_fail(args, &err);
    int status = CLI_OK;
    if (args->json)
        cli_print_json(call->member ? json_get(result, call->member) : result);
    else if (call->show)
        status = call->show(args, result);
    return cli_flush(args, status);
}
