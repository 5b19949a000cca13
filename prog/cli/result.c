/* SPDX-License-Identifier: MIT */
#include "cli/call.h"
#include "cli/list.h"
#include "cli/verbs.h"

static void ask(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    (void)ctx;
    cli_put_text(w, "id", args->operands[0]);
}

/* The output is for `nacre logs`; what it comes to is said here. */
static int show(const struct cli_args *args, const struct json_node *result)
{
    (void)args;
    static const char *const skip[] = {"output", "stdout", "stderr", "encoding", NULL};
    cli_list_fields(result, skip);
    return CLI_OK;
}

int cli_result(const struct cli_args *args)
{
    return cli_call(args, &(struct cli_call){.op = "result", .ask = ask, .show = show});
}
