/* SPDX-License-Identifier: MIT */
#include "cli/end.h"

#include "cli/report.h"
#include "json/read.h"

struct cli_end cli_end_of_command(const struct command *c)
{
    return (struct cli_end){
        .state = c->state,
        .exit_code = c->exit_code,
        .why = c->why,
        .limit = c->limit,
        .timeout_ms = c->timeout_ms,
        .timeout_clamped = c->timeout_clamped,
    };
}

struct cli_end cli_end_of_result(const struct json_node *result)
{
    const char *status = json_cstr(json_get(result, "status"));
    int state = status ? command_state_find(status) : -1;
    int64_t code = CLI_FAILED;
    (void)json_i64(json_get(result, "exitCode"), &code); /* null until it has ended */
    int64_t timeout_ms = 0;
    bool clamped = false;
    (void)json_i64(json_get(result, "timeoutMs"), &timeout_ms);
    (void)json_bool(json_get(result, "timeoutClamped"), &clamped);
    const struct json_node *why = json_get(result, "why");
    return (struct cli_end){
        .state = state < 0 ? COMMAND_RUNNING : (enum command_state)state,
        .exit_code = (int)code,
        .why = json_cstr(json_type(why) == JSON_OBJECT ? json_get(why, "summary") : why),
        .limit = json_cstr(json_get(result, "limit")),
        .timeout_ms = timeout_ms,
        .timeout_clamped = clamped,
    };
}

int cli_end_status(const struct cli_end *end, int signo)
{
    switch (end->state) {
    case COMMAND_EXITED:
    case COMMAND_SIGNALED:
        return end->exit_code;
    case COMMAND_TIMED_OUT:
        return CLI_TIMED_OUT;
    case COMMAND_CANCELLED:
        return signo ? CLI_SIGNALED + signo : end->exit_code;
    case COMMAND_DENIED:
        return CLI_DENIED;
    case COMMAND_SESSION_LOST:
    case COMMAND_SPAWN_FAILED:
        return CLI_FAILED;
    case COMMAND_QUEUED:
    case COMMAND_NEEDS_APPROVAL:
    case COMMAND_RUNNING:
        break;
    }
    return CLI_OK; /* it goes on */
}

void cli_end_note(const struct cli_args *args, const struct cli_end *end)
{
    const char *why = end->why ? end->why : "";
    const char *colon = end->why ? ": " : "";
    switch (end->state) {
    case COMMAND_TIMED_OUT:
        cli_note(args, "time ran out after %g s, the command was stopped%s%s",
                 (double)end->timeout_ms / 1000, colon, why);
        if (end->timeout_clamped)
            cli_note(args,
                     "more is not to be had in the foreground; --background has no such limit");
        return;
    case COMMAND_DENIED:
        cli_note(args, "the command was refused%s%s", colon, why);
        return;
    case COMMAND_SESSION_LOST:
        cli_note(args, "the session's shell was lost while the command ran%s%s", colon, why);
        return;
    case COMMAND_SPAWN_FAILED:
        cli_note(args, "the command could not be started%s%s", colon, why);
        return;
    case COMMAND_CANCELLED:
    case COMMAND_EXITED:
    case COMMAND_SIGNALED:
        if (end->limit)
            cli_note(args, "a limit was reached: %s", end->limit);
        return;
    case COMMAND_QUEUED:
    case COMMAND_NEEDS_APPROVAL:
    case COMMAND_RUNNING:
        return;
    }
}
