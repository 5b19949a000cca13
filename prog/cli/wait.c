/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/call.h"
#include "cli/end.h"
#include "cli/report.h"
#include "cli/verbs.h"
#include "client/client.h"
#include "json/read.h"
#include "json/write.h"
#include "wire/field.h"

static void ask(const struct cli_args *args, struct json_w *w)
{
    json_w_kstr(w, "id", args->operands[0]);
    json_w_kstr(w, "until", args->port ? "port" : args->log || args->log_regex ? "log" : "exit");
    wire_field_put_cstr(w, "pattern", args->log_regex ? args->log_regex : args->log);
    if (args->log_regex)
        json_w_kbool(w, "regex", true);
    cli_put_number(w, "port", args->port);
    cli_put_number(w, "timeoutMs", args->timeout_ms);
}

/* How the command ended: its exit status. */
static int command_status(const struct cli_args *args, struct client *client, struct arena *arena)
{
    const struct json_node *result;
    struct err err;
    json_w_kstr(client_begin(client, "result"), "id", args->operands[0]);
    if (client_call(client, arena, CLIENT_WAIT, &result, &err) < 0)
        return cli_fail(args, &err);
    struct cli_end end = cli_end_of_result(result);
    if (!args->json)
        cli_end_note(args, &end);
    return cli_end_status(&end, 0);
}

static int status_of(const struct cli_args *args, const char *end)
{
    if (strcmp(end, "met") == 0)
        return CLI_OK;
    if (strcmp(end, "timeout") == 0) {
        cli_note(args, "time ran out; the command goes on");
        return CLI_TIMED_OUT;
    }
    cli_note(args, "the command ended before that; see 'nacre result %s'", args->operands[0]);
    return CLI_UNMET;
}

static int wait_with(const struct cli_args *args, struct client *client, struct arena *arena)
{
    const struct json_node *result;
    struct err err;
    ask(args, client_begin(client, "wait"));
    if (client_call(client, arena, CLIENT_WAIT, &result, &err) < 0)
        return cli_fail(args, &err);
    const char *end = json_cstr(json_get(result, "end"));
    const char *line = json_cstr(json_get(result, "line"));
    int status = status_of(args, end ? end : "");
    if (args->json)
        cli_print_json(result);
    else if (line)
        cli_print("%s\n", line);
    bool for_end = !args->port && !args->log && !args->log_regex;
    if (for_end && status == CLI_OK)
        status = command_status(args, client, arena);
    return cli_flush(args, status);
}

int cli_wait(const struct cli_args *args)
{
    if ((args->port != 0) + (args->log != NULL) + (args->log_regex != NULL) > 1)
        return cli_usage(args,
                         "it waits for one of --log, --log-regex and --port, not for several");
    AUTO(client_free) struct client *client = NULL;
    auto_arena struct arena arena;
    arena_init(&arena, CLI_ANSWER_MAX);
    struct err err;
    if (cli_connect(&client, &err) < 0)
        return cli_fail(args, &err);
    return wait_with(args, client, &arena);
}
