/* SPDX-License-Identifier: MIT */
#include "cli/report.h"
#include "cli/verbs.h"

int cli_version(const struct cli_args *args)
{
    if (args->json)
        cli_print("{\"version\":\"%s\"}\n", NACRE_VERSION);
    else
        cli_print("nacre %s\n", NACRE_VERSION);
    return cli_flush(args, CLI_OK);
}
