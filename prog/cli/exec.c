/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/local.h"
#include "cli/path.h"
#include "cli/remote.h"
#include "cli/report.h"
#include "cli/term.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "session/command.h"

enum { ROWS = 24, COLS = 80 };

/* What only makes sense together; NULL if all is well. */
static const char *find_conflict(const struct cli_args *args)
{
    if (args->background && !args->session)
        return "--background needs a session to run in: -s NAME";
    if (args->yield_ms && !args->session)
        return "--yield needs a session in which the command can go on: -s NAME";
    if (args->background && args->yield_ms)
        return "--background returns at once: --yield makes no sense with it";
    if (args->timeout_ms < 0 && !args->background && !args->pty)
        return "--timeout none is for --background and --pty only";
    if (args->json && args->plain)
        return "--plain is about streamed output: it makes no sense with --json";
    return NULL;
}

/* What was asked for, and on a terminal of ours its kind: a command's own is "dumb". */
static int collect_env(const struct cli_args *args, struct strv *env, struct err *err)
{
    const char *term = getenv("TERM");
    strv_init(env, COMMAND_ENV_MAX);
    int rc = 0;
    if (args->pty && term && *term && isatty(STDOUT_FILENO))
        rc = strv_pushf(env, "TERM=%s", term);
    if (rc == 0 && args->env.items)
        rc = strv_push_all(env, (const char *const *)args->env.items);
    return rc < 0 ? err_set(err, -rc, "environment of over %d bytes", COMMAND_ENV_MAX) : 0;
}

int cli_exec(const struct cli_args *args)
{
    const char *conflict = find_conflict(args);
    if (conflict)
        return cli_usage(args, "%s", conflict);

    auto_buf struct buf text = BUF_INIT(COMMAND_TEXT_MAX);
    auto_free char *cwd = NULL;
    struct err err;
    int rc = cli_text_get(args, &text, &err);
    if (rc == -ERR_INVALID)
        return cli_usage(args, "%s", err.text);
    auto_strv struct strv env = STRV_INIT(0);
    if (rc == 0)
        rc = collect_env(args, &env, &err);
    if (rc == 0 && args->cwd)
        rc = cli_path_resolve(args->cwd, &cwd, &err);
    if (rc < 0)
        return cli_fail(args, &err);

    struct command_spec spec = {
        .text = buf_cstr(&text),
        .text_len = text.len,
        .cwd = cwd,
        .env = (const char *const *)strv_items(&env),
        .stdin_open = args->from_stdin || args->pty,
        .background = args->background || args->pty, /* a terminal needs a process of its own */
        .pty = args->pty,
        .rows = ROWS,
        .cols = COLS,
        .timeout_ms = args->timeout_ms,
        .grace_ms = args->grace_ms,
    };
    if (spec.pty)
        (void)cli_term_size(&spec.rows, &spec.cols); /* else they stay as they are */
    if (command_spec_check(&spec, &err) < 0)
        return cli_fail(args, &err);
    return args->session ? cli_remote_exec(args, &spec) : cli_local_exec(args, &spec);
}
