/* SPDX-License-Identifier: MIT */
#include "cli/call.h"
#include "cli/list.h"
#include "cli/verbs.h"
#include "json/read.h"
#include "json/write.h"

static void ask(const struct cli_args *args, struct json_w *w, const void *ctx)
{
    (void)ctx;
    cli_put_text(w, "session", args->session);
    json_w_kbool(w, "all", args->all);
}

static int show(const struct cli_args *args, const struct json_node *result)
{
    (void)args;
    static const struct cli_list_column columns[] = {
        {"ID",      "id"         },
        {"SESSION", "sessionId"  },
        {"STATUS",  "status"     },
        {"EXIT",    "exitCode"   },
        {"PID",     "pid"        },
        {"MS",      "durationMs" },
        {"BYTES",   "outputBytes"},
        {"COMMAND", "command"    },
        {NULL,      NULL         },
    };
    cli_list_rows(json_get(result, "commands"), columns);
    return CLI_OK;
}

int cli_ps(const struct cli_args *args)
{
    return cli_call(args,
                    &(struct cli_call){.op = "ps", .ask = ask, .show = show, .member = "commands"});
}
